"""The package installed in a bare Debian without Python, used as a person would, upgraded and removed.

Run by `make package-test`, which builds the package and the same as a later version first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.system.places import DOOR
from tests.audit.formats import restore
from tests.package.bare_root import BareRoot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PACKAGE, LATER = (Path(name) for name in os.environ["ASSENT_PACKAGES"].split(":"))
"""The package, and the same of a later version."""
SUITES = os.environ.get("SUITES", "bookworm").split()
SHOTS = Path(os.environ.get("ASSENT_SHOTS", "build/package-test"))
HOME = "/home/person"
DESKTOP_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
"""What a desktop gives the programs that it starts."""
PORTABLE = Path(os.environ["ASSENT_PORTABLE"]).absolute()
"""The folder of the archive, unpacked."""
EVERYWHERE = re.compile(
    r"(ld-linux-x86-64|lib(c|m|dl|pthread|rt|resolv|util|gcc_s|stdc\+\+|z|GL|EGL|OpenGL|GLX|GLdispatch|gbm|drm|X11"
    r"|X11-xcb|Xau|Xdmcp|xcb|wayland-client|fontconfig|freetype|expat|glib-2|gobject-2|gthread-2|gio-2|gmodule-2"
    r"|dbus-1|systemd|cap|gcrypt|gpg-error|lz4|lzma|zstd|pcre2?-?8?|ffi|mount|blkid|selinux|uuid|bz2"
    r"|brotli(dec|common)|png16|md|bsd))[-.0-9]*\.so\b"
)
"""Names of libraries that every desktop has: C and its compiler's, drivers, X, Wayland, fonts, GLib, D-Bus."""
PATIENCE = 60.0
pytestmark = pytest.mark.timeout(1200)
"""A bare system is made and apt works in it before a test begins."""
CODE = "import os\nprint('from', 'the package', sorted(os.environ)[0] != '')\n"


@pytest.fixture(scope="module", params=SUITES)
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareRoot]:
    """A bare system with the package, which tests use and leave as it is."""
    root = fresh(request.param, tmp_path_factory)
    try:
        yield root
    finally:
        root.close()


def fresh(suite: str, folders: pytest.TempPathFactory) -> BareRoot:
    if os.geteuid() != 0:
        pytest.fail("bare systems can be made by root only: sudo make package-test")
    root = BareRoot(suite, folders.mktemp("bare") / suite)
    try:
        assert root.run("which", "python3", "node", "docker", "bwrap", check=False).stdout == ""
        root.apt("update")
        root.install(PACKAGE)
    except BaseException:
        root.close()
        raise
    return root


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A virtual screen that programs in the bare system may draw on; they reach it by its abstract socket."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-ac", "-noreset"]
    server = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as answer:
        name = f":{answer.readline().strip()}"
    yield name
    server.terminate()
    server.wait()


class Console:
    """The console of an installed package on a screen."""

    def __init__(self, root: BareRoot, display: str, home: str = HOME) -> None:
        self.root = root
        self.display = display
        self.environment = {"DISPLAY": display, "HOME": home, "ASSENT_PORT": "0", "MARK_OF_THE_PERSON": "here"}
        self.environment |= {"ASSENT_START_AT_LOGIN": "true", "PATH": DESKTOP_PATH}
        added = root.run("assent", "agents", "add", "tester", user="person", environment=self.environment).stdout
        self.token = next(line.strip() for line in added.splitlines() if line.strip().startswith("assent_"))
        self.process = subprocess.Popen(
            root.command("assent", user="person", environment=self.environment), cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until(self.window)
        door = root.folder / home.lstrip("/") / ".local/state/assent" / DOOR
        until(door.exists)

    def window(self) -> str:
        return self._hand()

    def _hand(self, *deeds: str) -> str:
        """Find the window, whatever number its title has, and do `deeds` to it."""
        command = ["xdotool", "search", "--onlyvisible", "--name", "Assent", *deeds]
        environment = {**os.environ, "DISPLAY": self.display}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout

    def press(self, key: str) -> None:
        """A real key. The window is given the focus first, as a window manager would do."""
        self._hand("windowfocus", "--sync", "key", key)

    def shot(self, name: str) -> None:
        """Keep a picture of the screen, for a person to look at."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        subprocess.run(["import", "-display", self.display, "-window", "root", SHOTS / f"{name}.png"], check=False)

    def ask(self, code: str, name: str) -> str:
        """Ask as an agent's client does, by the package's bridge, and approve with a real key; return the answer."""
        asked = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "code_execute", "arguments": {"language": "python", "code": code}}},
        ]  # fmt: skip
        # With HOME and PATH alone, as clients start it.
        environment = {"HOME": self.environment["HOME"], "ASSENT_TOKEN": self.token}
        bridge = subprocess.Popen(
            self.root.command("assent", "mcp", user="person", environment=environment), cwd="/",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert bridge.stdin is not None and bridge.stdout is not None
        bridge.stdin.write("".join(json.dumps(one) + "\n" for one in asked))
        bridge.stdin.flush()
        answers: list[dict[str, Any]] = []
        reader = threading.Thread(target=_read, args=(bridge.stdout, answers))
        reader.start()
        ends = time.monotonic() + PATIENCE
        pressed = False
        while reader.is_alive() and time.monotonic() < ends:
            reader.join(1.2)  # the keyboard has to be quiet for a second after a key that was ignored
            if reader.is_alive():
                if not pressed:
                    self.shot(f"{name}-asked")
                pressed = True
                self.press("a")
        bridge.kill()
        bridge.wait()
        reader.join()
        bridge.stdin.close()
        bridge.stdout.close()
        assert answers, "no answer"
        self.shot(f"{name}-answered")
        return "".join(part["text"] for part in answers[0]["result"]["content"])

    def faults(self) -> str:
        """What stands in the fault log."""
        return self._state("faults.log")

    def log(self) -> str:
        """What the console has logged."""
        return self._state("assent.log")

    def _state(self, name: str) -> str:
        file = self.root.folder / self.environment["HOME"].lstrip("/") / ".local/state/assent" / name
        return file.read_text() if file.exists() else ""

    def close(self) -> None:
        self.root.run("pkill", "-TERM", "-f", "start.py", check=False)
        self.root.run("sh", "-c", "for p in /proc/[0-9]*; do case $(tr '\\0' ' ' <$p/cmdline) in *start.py*)"
                      " kill ${p#/proc/};; esac; done", check=False)  # fmt: skip
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.process.kill()
        self.process.wait()


def _read(stream: Any, answers: list[dict[str, Any]]) -> None:
    for line in stream:
        answer = json.loads(line)
        if answer.get("id") == 2:
            answers.append(answer)
            return


def until(true: Callable[[], object]) -> None:
    """Wait for something that another process does."""
    ends = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < ends, "it did not come"
        time.sleep(0.1)


def test_it_says_its_version_and_its_files_are_as_packed(root: BareRoot) -> None:
    version = PACKAGE.name.split("_")[1]
    assert root.run("assent", "--version").stdout == f"assent {version}\n"
    root.run("assent", "self-test", check=False)
    assert root.run("dpkg", "--verify", "assent").stdout == ""


@pytest.mark.parametrize("user", ["root", "person"])
def test_self_test_without_python_node_and_docker(root: BareRoot, user: str) -> None:
    done = root.run("assent", "self-test", user=user)
    steps = {line[6:].partition(":")[0]: line[:4].strip() for line in done.stdout.splitlines()}
    assert "BAD" not in steps.values()
    for name in ("redaction", "keyring", "window", "highlighting", "gateway, through assent mcp", "history"):
        assert steps[name] == "ok", done.stdout
    assert steps["local sandbox, python"] == steps["local sandbox, shell"] == "ok", done.stdout
    assert steps["local sandbox, javascript"] == "skip"
    assert "Install Node.js 20" in done.stdout


def test_a_python_that_does_not_work_is_not_in_the_way(root: BareRoot) -> None:
    broken = root.folder / "usr/local/bin/python3"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    try:
        done = root.run("assent", "self-test")
    finally:
        broken.unlink()
    assert "ok    local sandbox, python" in done.stdout


def test_code_cannot_import_what_assent_carries_and_sees_nothing_of_its_environment(
    root: BareRoot, display: str
) -> None:
    home = f"{HOME}/first"
    root.run("mkdir", "-p", home, user="person")
    console = Console(root, display, home)
    try:
        code = (
            "import os, sys\n"
            "found = []\n"
            "for name in ('app', 'runner', 'PySide6', 'mcp'):\n"
            "    try:\n        __import__(name); found.append(name)\n"
            "    except ImportError: pass\n"
            "below = '/usr/lib/assent/app'\n"
            "print(found, os.listdir(below) if os.path.isdir(below) else [], sys.version_info[:2] >= (3, 11))\n"
            "print(sorted(n for n in os.environ if n.startswith(('QT', 'LD_', 'PYTHON', 'ASSENT', 'MARK'))))\n"
        )
        text = console.ask(code, "alone")
    finally:
        console.close()
    assert "[] [] True\n['ASSENT_RUN']" in text
    assert console.faults() == ""


def test_children_get_the_environment_of_the_person(root: BareRoot, display: str) -> None:
    """Every process of the console has what it was started with, and nothing of ours."""
    home = f"{HOME}/second"
    root.run("mkdir", "-p", home, user="person")
    console = Console(root, display, home)
    login = root.folder / home.lstrip("/") / ".config/autostart/assent.desktop"
    try:
        until(login.exists)
        # Some end while they are looked at.
        look = "for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ; done 2>/dev/null; true"
        listed = root.run("sh", "-c", look, environment={"LC_ALL": "C"}).stdout
    finally:
        console.close()
    assert 'Exec="/usr/bin/assent"\n' in login.read_text()
    subprocess.run(["desktop-file-validate", login], check=True)
    assert "MARK_OF_THE_PERSON=here" in listed
    names = {line.partition("=")[0] for line in listed.splitlines()}
    assert not [one for one in names if one.startswith(("LD_", "QT_", "QML", "PYTHON", "PYSIDE"))]


def test_an_upgrade_while_the_console_is_open(tmp_path_factory: pytest.TempPathFactory, display: str) -> None:
    root = fresh(SUITES[0], tmp_path_factory)
    try:
        console = Console(root, display)
        try:
            assert "from the package" in console.ask(CODE, "before")
            root.install(LATER)
            assert "from the package" in console.ask(CODE, "between")
            for page in "345678":
                console.press(f"ctrl+{page}")
                time.sleep(0.5)
            later = LATER.name.split("_")[1]
            until(lambda: f"Assent was updated to {later}." in console.log())
            console.press("ctrl+1")
            time.sleep(1)  # for the picture alone
            console.shot("updated")
            assert console.faults() == ""
        finally:
            console.close()
        assert root.run("assent", "--version").stdout == f"assent {later}\n"
        assert root.run("assent", "verify", user="person", check=False).returncode == 2  # no keyring holds the key here
    finally:
        root.close()


def test_removed_and_purged_it_leaves_only_what_is_the_persons(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = fresh(SUITES[0], tmp_path_factory)
    try:
        root.run("assent", "agents", "add", "tester", user="person")
        root.apt("purge", "assent")
        left = root.run("find", "/", "-xdev", "-iname", "*assent*", "-not", "-path", "/proc/*").stdout.splitlines()
        own = ("/home/person/", "/tmp/", "/var/lib/apt/", "/var/log/")
        assert not [path for path in left if not path.startswith(own)]
        assert any(path.startswith("/home/person/.config/assent") for path in left)
    finally:
        root.close()


def test_every_library_is_found(root: BareRoot) -> None:
    files = "find /usr/lib/assent -name '*.so*' -type f; ls /usr/lib/assent/python/bin/*"
    done = root.run("sh", "-c", f"for f in $({files}); do ldd $f; done", check=False)
    assert "not found" not in done.stdout


def test_with_node_all_three_languages_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    if "trixie" not in SUITES:
        pytest.skip('the Node.js of Debian 12 is too old: SUITES="bookworm trixie"')
    root = fresh("trixie", tmp_path_factory)
    try:
        root.apt("install", "nodejs")
        done = root.run("assent", "self-test", user="person")
    finally:
        root.close()
    for language in ("python", "javascript", "shell"):
        assert f"ok    local sandbox, {language}: " in done.stdout


def test_an_older_history_opens_and_a_newer_one_is_refused_in_words(root: BareRoot, display: str) -> None:
    home = f"{HOME}/third"
    root.run("mkdir", "-p", f"{home}/.local/share/assent", user="person")
    ledger = root.folder / home.lstrip("/") / ".local/share/assent/ledger.sqlite3"
    restore(1, ledger)
    os.chown(ledger, 1000, 1000)
    console = Console(root, display, home)
    try:
        assert "from the package" in console.ask(CODE, "older")
    finally:
        console.close()
    assert console.faults() == ""
    with contextlib.closing(sqlite3.connect(ledger)) as connection:
        connection.execute("PRAGMA user_version = 99")
    done = root.run("assent", "verify", user="person", environment={"HOME": home}, check=False)
    assert done.returncode == 1
    assert "was written by a newer Assent" in done.stdout + done.stderr


def test_the_archive_runs_from_any_folder(root: BareRoot) -> None:
    """Whose name has blanks."""
    place = root.folder / "opt/a folder of mine"
    shutil.copytree(PORTABLE, place, symlinks=True)
    try:
        done = root.run("/opt/a folder of mine/assent", "self-test", user="person")
        moved = root.run("/opt/a folder of mine/assent", "agents", "add", "x", user="person").stdout
    finally:
        shutil.rmtree(place)
    assert "ok    local sandbox, python" in done.stdout
    assert "ok    gateway, through assent mcp" in done.stdout
    assert "/opt/a folder of mine/assent" in moved, "clients start the one that was unpacked"


def test_the_archive_needs_nothing_that_not_every_desktop_has() -> None:
    files = [file for file in PORTABLE.rglob("*") if file.is_file() and _begins(file) == b"\x7fELF"]
    assert len(files) > 50
    listed = subprocess.run(["ldd", *files], capture_output=True, text=True, check=False).stdout
    assert "not found" not in listed
    outside = {line.split()[0] for line in listed.splitlines() if " => /" in line and str(PORTABLE) not in line}
    assert sorted(name for name in outside if not EVERYWHERE.match(name)) == []


def _begins(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(4)


def test_two_builds_are_the_same() -> None:
    again = PACKAGE.parent / "again" / PACKAGE.name
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(PACKAGE.read_bytes()).digest()
