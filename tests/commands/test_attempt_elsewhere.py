"""`assent try --sandbox e2b`: what leaves this machine, what comes back, and what goes wrong on the way."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.commands import attempt_elsewhere, cli
from runner.sandbox.container import copying
from runner.sandbox.programs import script
from runner.sandbox.remote import processes
from runner.sandbox.remote.sandbox import E2BSandbox
from runner.system.places import Places
from runner.work import deed_log, lockdown
from runner.workspace import returning
from runner.workspace.working_copy import WorkingCopy, all_below
from tests.commands.test_attempt import Typing
from tests.e2b_server.server import KEY, Loopback
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the server on loopback has accounts only as root")
ROOT = Path(__file__).resolve().parents[2]
SECRET = "of-the-person-alone"


@pytest.fixture(scope="module")
def shared() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture
def server(shared: Loopback, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    shared.seen.clear()
    monkeypatch.setenv("E2B_API_KEY", KEY)
    monkeypatch.setenv("ASSENT_E2B_API_URL", shared.url)
    monkeypatch.setenv("ASSENT_E2B_SANDBOX_URL", shared.url)
    yield shared
    shared.mend()
    shared.most, shared.internet, shared.ahead = 1000, False, 0
    for id in list(shared.boxes):
        shared.kill(id)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("print(6 * 7)\n")
    (folder / ".env").write_text(SECRET)
    (folder / "src" / ".env").write_text(SECRET)
    (folder / ".gitignore").write_text("out/\n")
    (folder / "out").mkdir()
    (folder / "out" / "o").write_text(SECRET)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return folder


def tried(*words: str) -> int:
    return cli.main(["try", "--sandbox", "e2b", *words])


def copies() -> list[WorkingCopy]:
    return all_below(Places.standard().work)


def look(project: Path) -> dict[str, bytes]:
    return {str(one.relative_to(project)): one.read_bytes() for one in project.rglob("*") if one.is_file()}


def sent(server: Loopback) -> bytes:
    """All that arrived at the service, what was written to programs there in clear."""
    found = b""
    for one in server.seen:
        found += json.dumps([one.path, one.headers, one.body], default=str).encode()
        if one.path.endswith("SendInput"):
            found += base64.b64decode(one.body["input"]["stdin"])
    return found


def test_it_runs_there_and_its_changes_are_applied_and_undone_here(
    server: Loopback, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = look(project)
    code = tried(
        "--send", "--apply", "--", "sh", "-c",
        "python3 src/a.py; echo n >new; echo '#' >>src/a.py; mkdir out; echo n >out/n; echo x >.env; echo x >src/.env;"
        "ln -s / up; exit 3",
    )  # fmt: skip
    out, said = capfd.readouterr()
    assert (code, out) == (3, "42\n"), said
    assert not server.boxes
    after = look(project)
    assert after.pop("new") == b"n\n"
    assert after.pop("src/a.py") == b"print(6 * 7)\n#\n"
    assert after == {path: text for path, text in before.items() if path != "src/a.py"}, "the secret is as it was"
    assert not (project / "up").is_symlink(), "what leads out of the project needs a word of its own"
    (copy,) = copies()
    assert f"? src/.env  ! {returning.NOT_SENT}" in said
    assert copy.sandbox.startswith(
        f"E2B at {server.url[7:]}, promised by E2B: 2 files of the project, 18 B; 2 that may hold a secret stay here, "
    )
    assert copy.code == 3
    assert cli.main(["work", "undo", copy.name]) == 0
    assert look(project) == before


def test_what_leaves_is_said_and_nothing_else_does(
    server: Loopback, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MINE", "a 'b'")
    assert tried("--send", "--discard", "--env", "MINE", "printenv", "MINE") == 0
    out, said = capfd.readouterr()
    assert out == "a 'b'\n"
    assert f"{server.url[7:]} would get" in said
    assert "  2 files of the project, 18 B; 2 that may hold a secret stay here\n" in said
    assert "Stays here, as it may hold a secret, until you include it:" in said
    assert re.search(r" 19 B +\.env \(by its name\)\n", said) and re.search(r"\n +5 B +\.gitignore\n", said)
    assert "the command: printenv MINE\n" in said and "the variables MINE\n" in said
    assert "What stays behind as it may hold a secret is sent with --include PATH.\n" in said
    everything = sent(server)
    assert b"print(6 * 7)" in everything
    for never in (SECRET, os.uname().nodename, str(project), "[core]"):
        assert never.encode() not in everything, never
    assert tried("--send", "--discard", "--include", ".env", "cat", ".env") == 0
    assert capfd.readouterr().out == SECRET
    assert SECRET.encode() in sent(server)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("make",), "Nothing was sent: nobody can be asked here. Add --send."),
        (("--send", "--show", "/etc", "make"), "Another machine sees nothing but what is sent to it."),
        (("--send", "--include", "out/o", "make"), "out/o is none of the files that stay behind."),
        (("--send", "--env", "A B", "make"), "cannot be handed on as a variable of a shell"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_leaves(
    server: Loopback, project: Path, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert tried(*words) == 1
    assert said in capfd.readouterr().err
    assert not server.seen
    assert not copies()


def test_sending_is_for_e2b_alone(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["try", "--send", "true"]) == 1
    assert "--send and --include are for --sandbox e2b" in capfd.readouterr().err


def test_without_a_key_nothing_is_asked(
    server: Loopback, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("E2B_API_KEY")
    assert tried("--send", "true") == 1
    assert "There is no key for E2B" in capfd.readouterr().err
    assert not server.seen


def test_nothing_leaves_in_lockdown(
    server: Loopback, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sign, really = lockdown.LockdownSign(Places.standard()), attempt_elsewhere._tell

    def locked_meanwhile(*arguments: object) -> None:
        really(*arguments)  # type: ignore[arg-type]
        sign.show(up=True)

    monkeypatch.setattr(attempt_elsewhere, "_tell", locked_meanwhile)
    assert tried("--send", "true") == 1
    sign.show(up=False)
    assert lockdown.LOCKED in capfd.readouterr().err
    assert not server.seen


def test_a_person_is_asked_and_may_look_at_every_name_before(server: Loopback, project: Path) -> None:
    shell = Typing(project)
    try:
        shell.line(f"{sys.executable} -m app try --sandbox e2b --apply sh -c 'echo n >new'", attempt_elsewhere.QUESTION)
        assert not server.seen
        assert "src/a.py" in shell.line("l", attempt_elsewhere.QUESTION)
        assert "Nothing was sent." in shell.line("n", "shell> ")
        assert not server.seen
        shell.line(f"{sys.executable} -m app try --sandbox e2b --apply sh -c 'echo n >new'", attempt_elsewhere.QUESTION)
        assert "Applied: 1 change" in shell.line("s", "shell> ")
    finally:
        shell.close()
    assert (project / "new").read_text() == "n\n"
    assert not server.boxes


def test_a_host_is_reached_through_the_gate_of_this_machine_alone(
    server: Loopback, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = "import urllib.request as u; u.urlopen('http://other.example/')"
    assert tried("--send", "--discard", "--allow", "mine.example", "python3", "-c", program) == 1
    said = capfd.readouterr().err
    assert "and what these hosts answer, through this machine: mine.example" in said
    assert "assent try: It tried once to reach other.example" in said


# ---- what goes wrong there ----


def after_examination(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Do something once it is known what the sandboxes there are like, and before anything of the project leaves."""
    really = E2BSandbox.carried

    async def carried(*arguments: object, **named: object) -> object:
        do()
        return await really(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(E2BSandbox, "carried", carried)


@pytest.mark.parametrize(
    ("part", "kind", "late", "said"),
    [
        ("sandboxes", "401", False, "does not accept the key"),
        ("sandboxes", "401", True, "does not accept the key"),
        ("sandboxes", "429", False, "your quota at 127.0.0.1"),
        ("sandboxes", "429", True, "your quota at 127.0.0.1"),
        ("sandboxes", "500", True, "fails with 500"),
        ("sandboxes", "rubbish", True, "does not speak E2B's API"),
        ("Start", "429", True, "your quota at 127.0.0.1"),
        ("Start", "500", True, "fails with 500"),
        ("Start", "rubbish", True, "does not speak E2B's API"),
        ("SendInput", "500", True, "The sandbox did not take the files back."),
        ("SendInput", "429", True, "The sandbox did not take the files back."),
        ("SendInput", "rubbish", True, "The sandbox did not take the files back."),
    ],
)
def test_a_service_that_fails_is_said_in_a_sentence_and_nothing_is_lost(
    server: Loopback, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    part: str, kind: str, late: bool, said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(copying, "LAST_WORDS_SECONDS", 0.1)
    before = look(project)
    if late:
        after_examination(monkeypatch, lambda: server.fail(part, kind))
    else:
        server.fail(part, kind)
    assert tried("--send", "--apply", "sh", "-c", "echo n >new") == 1
    assert said in (told := capfd.readouterr().err), told
    assert "Traceback" not in told
    assert look(project) == before
    assert not copies()


@pytest.mark.parametrize("seconds", [-90_000, 90_000])
def test_the_clock_of_the_service_does_not_matter(server: Loopback, project: Path, seconds: int) -> None:
    server.ahead = seconds
    assert tried("--send", "--apply", "sh", "-c", "echo n >new") == 0
    assert (project / "new").read_text() == "n\n"
    assert not server.boxes


def test_a_service_that_never_answers_is_given_up(
    server: Loopback, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(copying, "PUT_BACK_SECONDS", 0.5)
    monkeypatch.setattr(processes, "INPUT_SECONDS", 0.5)
    after_examination(monkeypatch, lambda: server.fail("SendInput", "silent"))
    assert tried("--send", "--apply", "sh", "-c", "echo n >new") == 1
    assert "The sandbox did not take the files back." in capfd.readouterr().err
    assert not copies()
    assert not server.boxes


@pytest.mark.parametrize("how", ["gone", "cut"])
def test_a_sandbox_or_a_stream_that_is_lost_in_the_middle_leaves_the_project(
    server: Loopback, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], how: str
) -> None:
    before = look(project)
    really = attempt_elsewhere._Printed.news

    def lost(printed: object, transcript: object) -> None:
        really(printed, transcript)  # type: ignore[arg-type]
        if transcript.total and server.boxes:  # type: ignore[attr-defined]
            server.cut()
            if how == "gone":
                for id in list(server.boxes):
                    server.kill(id)

    monkeypatch.setattr(attempt_elsewhere._Printed, "news", lost)
    assert tried("--send", "--apply", "sh", "-c", f"echo n >new; echo begun; sleep {HANGS}") == 1
    noted = "".join(one.read_text() for one in (Places.standard().work / deed_log.FOLDER).rglob("*") if one.is_file())
    assert f"E2B at {server.url[7:]}, promised by E2B: 2 files of the project" in noted, (
        "that they left is in the history"
    )
    said = capfd.readouterr().err
    assert "What it changed there is lost: the sandbox does not answer any more. The folder stays as it was." in said
    assert look(project) == before
    assert not copies()
    assert not server.boxes


def test_a_sandbox_that_could_not_be_removed_is_named(
    server: Loopback, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It went on, and cost, without a word."""
    fetched = copying.copy

    async def and_then_it_fails(*given: object) -> object:
        found = await fetched(*given)  # type: ignore[arg-type]
        server.fail("sandboxes", "500")
        return found

    monkeypatch.setattr(copying, "copy", and_then_it_fails)
    assert tried("--send", "--apply", "sh", "-c", "echo n >new") == 0
    assert (project / "new").read_text() == "n\n", "what came back is worth no less for that"
    assert "did not answer when the sandbox was to be removed: it ends by itself within 5" in capfd.readouterr().err


def test_ctrl_c_ends_it_there_and_its_changes_come_back(
    server: Loopback, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    really = attempt_elsewhere._Printed.news

    def pressed(printed: object, transcript: object) -> None:
        really(printed, transcript)  # type: ignore[arg-type]
        if transcript.total:  # type: ignore[attr-defined]
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(attempt_elsewhere._Printed, "news", pressed)
    assert tried("--send", "--apply", "sh", "-c", f"echo n >new; echo begun; sleep {HANGS}") > 0
    said = capfd.readouterr().err
    assert attempt_elsewhere.INTERRUPTED in said and "+ new" in said and "Kept as" in said
    assert not (project / "new").exists(), "nothing of what was ended is applied unasked"
    assert not server.boxes


def test_a_console_that_is_killed_leaves_nothing_there_and_nothing_half_here(server: Loopback, project: Path) -> None:
    before = look(project)
    words = [sys.executable, "-m", "app", "try", "--sandbox", "e2b", "--send", "--apply", "sh", "-c"]
    words.append(f"echo n >new; echo begun; sleep {HANGS}")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as console:
        assert console.stdout is not None
        assert console.stdout.readline() == b"begun\n"
        console.kill()
    assert look(project) == before
    (copy,) = copies()
    assert not copy.changes().changes
    # A process beside it removes what would go on, and cost; nobody has to start Assent for that.
    assert server.emptied(HANGS)
    noted = "".join(one.read_text() for one in (Places.standard().work / deed_log.FOLDER).rglob("*") if one.is_file())
    assert '"work-sent"' in noted and '"src/a.py"' in noted and f"E2B at {server.url[7:]}" in noted


def test_what_nobody_removed_at_once_is_found_by_the_next(
    server: Loopback, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sys.executable, "-c", LEAVES, "try", "--sandbox", "e2b", "--send", "--apply", "sh", "-c"]
    words.append(f"echo begun; sleep {HANGS}")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as console:
        assert console.stdout is not None
        assert console.stdout.readline() == b"begun\n"
        console.kill()
    assert len(server.boxes) == 1, "it goes on, and costs"
    assert tried("--send", "--discard", "true") == 0
    assert not server.boxes, "found by its metadata"


LEAVES = """
import contextlib, sys
from runner.commands import attempt_elsewhere, cli
attempt_elsewhere.removed_after_kill = lambda _service: contextlib.nullcontext()
sys.exit(cli.main(sys.argv[1:]))
"""


# ---- a service that lies about what came back ----


def archive(*entries: tuple[str, bytes, bytes | str], size: int | None = None) -> bytes:
    """Return an archive of (name, kind, content or target), as GNU tar has it; `size` is said of each file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as made:
        for name, kind, content in entries:
            info = tarfile.TarInfo(name)
            info.type = kind
            if isinstance(content, str):
                info.linkname = content
                made.addfile(info)
            else:
                info.size = len(content)
                made.addfile(info, io.BytesIO(content))
    raw = bytearray(out.getvalue())
    if size is not None:
        raw[124:136] = b"%011o\0" % size
        raw[148:156] = b"%06o\0 " % (sum(raw[:148]) + 8 * 32 + sum(raw[156:512]))
    return bytes(raw)


FILE, FOLDER, LINK, DEVICE, HARD = b"0", b"5", b"2", b"3", b"1"
LIES = {
    "a path with ..": archive(("../../out", FILE, b"x")),
    "a path with .. inside": archive(("src", FOLDER, ""), ("src/../../out", FILE, b"x")),
    "an absolute path": archive(("/tmp/out", FILE, b"x")),
    "through a link of its own": archive(("up", LINK, ".."), ("up/out", FILE, b"x")),
    "a link and a file of one name": archive(("up", LINK, "/etc"), ("up", FILE, b"x")),
    "a hard link": archive(("passwd", HARD, "/etc/passwd")),
    "ten gigabytes": archive(("big", FILE, b"x"), size=8 << 30),
    "half a stream": archive(("new", FILE, b"x" * 4096))[:2048],
    "no archive": b"<html>" * 1000,
    "nothing at all": b"",
    "a name without end": archive(("x" * 5000, FILE, b"x")),
    "folders without end": archive(*(("/".join("d" * depth), FOLDER, "") for depth in range(1, 60))),
}


def lying(monkeypatch: pytest.MonkeyPatch, folder: Path, data: bytes) -> None:
    """Have the sandbox hand out `data` in place of its workspace."""
    file = folder / "lie"
    file.write_bytes(data)
    # The server's sandboxes see the folder of this program's temporary files no more than any other: the text has it.
    text = base64.b64encode(data).decode() if len(data) < 60_000 else ""
    head = f"[[ $1 == out ]] && {{ base64 -d <<<'{text}'; exit 0; }}\n" if text or not data else HUGE
    monkeypatch.setattr(copying, "script", lambda name: head + script(name) if name == "copying.sh" else script(name))


HUGE = "[[ $1 == out ]] && { while :; do head -c 1000000 /dev/zero; done; }\n"


@pytest.mark.parametrize("lie", list(LIES))
def test_what_no_workspace_could_be_is_not_taken_in(
    server: Loopback, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str], lie: str,
) -> None:  # fmt: skip
    before = look(tmp_path)
    lying(monkeypatch, tmp_path.parent, LIES[lie])
    assert tried("--send", "--apply", "true") == 1
    said = capfd.readouterr().err
    assert "What it changed there is lost: " in said and "The folder stays as it was." in said
    assert {path: text for path, text in look(tmp_path).items() if "assent-home" not in path} == before
    assert not Path("/tmp/out").exists()
    assert not copies()
    assert not server.boxes


def test_a_stream_without_end_is_cut(
    server: Loopback, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(copying.archive, "LONGEST_ARCHIVE", 1 << 20)
    lying(monkeypatch, tmp_path.parent, b"x" * 60_000)
    assert tried("--send", "--apply", "true") == 1
    assert "its files are larger than 64 MB" in capfd.readouterr().err
    assert not copies()
    assert not server.boxes


def test_of_a_workspace_only_files_folders_and_links_come_back(
    server: Loopback, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before = look(project)
    data = archive(
        (".gitignore", FILE, b"out/\n"), ("src", FOLDER, ""), ("src/a.py", FILE, b"print(6 * 7)\n"),
        ("sda", DEVICE, ""), ("etc", LINK, "/etc"), (".git", FOLDER, ""), (".git/config", FILE, b"[core]fsmonitor=x"),
        (".env", FILE, b"theirs"), ("new", FILE, b"n"),
    )  # fmt: skip
    lying(monkeypatch, tmp_path.parent, data)
    assert tried("--send", "--apply", "true") == 0
    assert look(project) == {**before, "new": b"n"}
    assert not (project / "etc").is_symlink() and not (project / "sda").exists()
    said = capfd.readouterr().err
    assert "? .git  ! was not sent" in said and "? .env  ! was not sent" in said
