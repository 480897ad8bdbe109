"""The package installed in a bare Debian without Python, used as a person would.

Run by `make package-test`, which builds the package and the same as a later version first. The story that ends with
removing it is in test_story.py.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.audit.formats import restore
from tests.package.bare_root import PERSON
from tests.package.console import STARTED, Console, until
from tests.package.given import HOME, PACKAGE, PORTABLE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.package.bare_root import BareRoot
    from tests.package.screen import Screen

EVERYWHERE = re.compile(
    r"(ld-linux-x86-64|lib(c|m|dl|pthread|rt|resolv|util|gcc_s|stdc\+\+|z|GL|EGL|OpenGL|GLX|GLdispatch|gbm|drm|X11"
    r"|X11-xcb|Xau|Xdmcp|xcb|wayland-client|fontconfig|freetype|expat|glib-2|gobject-2|gthread-2|gio-2|gmodule-2"
    r"|dbus-1|systemd|cap|gcrypt|gpg-error|lz4|lzma|zstd|pcre2?-?8?|ffi|mount|blkid|selinux|uuid|bz2"
    r"|brotli(dec|common)|png16|md|bsd))[-.0-9]*\.so\b"
)
"""Names of libraries that every desktop has: C and its compiler's, drivers, X, Wayland, fonts, GLib, D-Bus."""
pytestmark = pytest.mark.timeout(1200)
"""A bare system is made and apt works in it before a test begins."""
CODE = "import os\nprint('from', 'the package', sorted(os.environ)[0] != '')\n"


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


@pytest.mark.parametrize("user", ["root", "person"])
def test_a_program_uses_the_sandboxes_as_the_help_says(root: BareRoot, user: str) -> None:
    environment = {"PYTHONPATH": "/usr/lib/assent/app", "HOME": f"{HOME}/library" if user == "person" else "/root"}
    code = "from runner import execute; print(execute('print(6 * 7)').stdout)"
    done = root.run("/usr/lib/assent/python/bin/python3", "-c", code, user=user, environment=environment)
    assert done.stdout == "42\n\n"


WORK = """set -e
cd ~/project
id -u; ls *old; echo more >>old; echo new >new; ls ~; cat ~/.ssh/id 2>/dev/null || echo no key
touch /usr/written 2>/dev/null || echo read-only; cat /proc/net/route | wc -l
sh -c 'echo shell $(id -u); hostname; grep Seccomp: /proc/self/status; unshare -U true 2>/dev/null || echo no namespace'
"""


@pytest.mark.parametrize("user", ["root", "person"])
@pytest.mark.parametrize("command", ["try", "work"])
def test_work_is_contained_and_applied(root: BareRoot, user: str, command: str) -> None:
    """In a system with nothing but what the package itself asks for."""
    home = "/root" if user == "root" else HOME
    made = "rm -rf ~/project; mkdir -p ~/project ~/.ssh; echo old >~/project/old; echo secret >~/.ssh/id"
    root.run("sh", "-c", made, user=user)
    # Not on the command line, where it would be held: it looks for a key.
    root.run("sh", "-c", f"printf %s {shlex.quote(WORK)} >~/project/look.sh", user=user)
    start = f"cd ~/project && assent {command} --keep -- sh look.sh"
    done = root.run("sh", "-c", start, user=user)
    uid, *said = done.stdout.split("\n")
    expected = ["old", "project", "no key", "read-only", "1", f"shell {uid}"]
    assert uid == ("0" if user == "root" else PERSON)
    assert said[:6] == expected, done.stdout + done.stderr
    assert said[6] == ("assent-work" if command == "work" else "assent-try")
    assert said[7:9] == ["Seccomp:\t2", "no namespace"]
    folder = root.folder / home.lstrip("/") / "project"
    assert sorted(one.name for one in folder.iterdir()) == ["look.sh", "old"]
    listed = root.run("assent", "work", "list", user=user).stdout
    name = listed.split()[0]
    root.run("assent", "work", "apply", name, user=user)
    assert (folder / "old").read_text() == "old\nmore\n"
    assert (folder / "new").read_text() == "new\n"
    root.run("assent", "work", "undo", name, user=user)
    assert (folder / "old").read_text() == "old\n"
    root.run("assent", "work", "discard", name, "--yes", user=user)


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
    root: BareRoot, screen: Screen
) -> None:
    console = Console(root, screen, f"{HOME}/first")
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
        text = console.ask(console.add_agent("tester")[STARTED], code, f"{root.suite}-alone")
    finally:
        console.close()
    assert "[] [] True\n['ASSENT_RUN']" in text


def test_children_get_the_environment_of_the_person(root: BareRoot, screen: Screen) -> None:
    """Every process of the console has what it was started with, and nothing of ours."""
    home = f"{HOME}/second"
    console = Console(root, screen, home)
    login = root.folder / home.lstrip("/") / ".config/autostart/assent.desktop"
    try:
        until(login.exists)
        # Those of this root, as the machine may have others. Some end while they are looked at.
        look = "for p in /proc/[0-9]*; do [ $p/root -ef / ] && tr '\\0' '\\n' <$p/environ; done 2>/dev/null; true"
        listed = root.run("sh", "-c", look, environment={"LC_ALL": "C"}).stdout
    finally:
        console.close()
    assert 'Exec="/usr/bin/assent"\n' in login.read_text()
    subprocess.run(["desktop-file-validate", login], check=True)
    assert "MARK_OF_THE_PERSON=here" in listed
    names = {line.partition("=")[0] for line in listed.splitlines()}
    assert not [one for one in names if one.startswith(("LD_", "QT_", "QML", "PYTHON", "PYSIDE"))]


def test_every_library_is_found(root: BareRoot) -> None:
    files = "find /usr/lib/assent -name '*.so*' -type f; ls /usr/lib/assent/python/bin/*"
    done = root.run("sh", "-c", f"for f in $({files}); do ldd $f; done", check=False)
    assert "not found" not in done.stdout


def test_an_older_history_opens_and_a_newer_one_is_refused_in_words(root: BareRoot, screen: Screen) -> None:
    home = f"{HOME}/third"
    root.run("mkdir", "-p", f"{home}/.local/share/assent", user="person")
    ledger = root.folder / home.lstrip("/") / ".local/share/assent/ledger.sqlite3"
    restore(1, ledger)
    os.chown(ledger, 1000, 1000)
    console = Console(root, screen, home)
    try:
        answer = console.ask(console.add_agent("later")[STARTED], CODE, f"{root.suite}-older")
        assert "from the package" in answer
    finally:
        console.close()
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
