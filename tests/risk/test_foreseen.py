"""What an assessment foresaw, held against what was done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner.model.behaviour import A_NAME, NOT_REPORTED, Behaviour, Deed, DeedKind
from runner.model.file_changes import ChangedFile, ChangeKind, FileChanges, FileKind
from runner.model.network import NOT_LISTED, Contact
from runner.model.request import Language, NetworkMode, Request, Tool
from runner.model.result import CapturedFile, Outcome, Result
from runner.risk.assess import assess
from runner.risk.explain.foreseen import NONE_GONE, NOT_COMPLETE, Came, outcomes, with_removal, with_unforeseen
from runner.risk.explain.foreseen import NOT_REPORTED as NOT_SAID
from runner.sandbox.behaviour import MOST, BehaviourBook

SHELL = "git status | wc -l\nrm -rf build/\necho x > out.txt\nchmod +x out.txt\ncurl https://files.example/\n"


def request(code: str = SHELL, language: Language = Language.SHELL) -> Request:
    return Request("", "agent", Tool.CODE_EXECUTE, 0.0, language, code)


def program(name: str, problem: str = "", **more: int) -> Deed:
    return Deed(DeedKind.PROGRAM, f"{name} x", name=name, failed=bool(problem), problem=problem, **more)


def asked(host: str) -> Deed:
    return Deed(DeedKind.CONNECTION, f"{host}:80", name=host)


def run(*deeds: Deed, contacts: tuple[Contact, ...] = (), **more: object) -> Result:
    observed = replace(Behaviour(deeds), **more)  # type: ignore[arg-type]
    files = (CapturedFile("out.txt", 2, "0" * 64),)
    return Result(Outcome.OK, "", "", 0, 0.1, observed=observed, contacts=contacts, files=files)


def unforeseen(result: Result, asked_for: Request | None = None) -> tuple[str, ...]:
    one = asked_for or request()
    observed = with_unforeseen(result, one, assess(one)).observed
    assert observed is not None
    return observed.unforeseen


@pytest.mark.parametrize(
    ("deeds", "named"),
    [
        ([program("git"), program("wc"), program("rm"), program("dash"), program("curl")], ()),
        ([program("nc.openbsd")], ("started nc.openbsd",)),
        ([program("git"), program("git-remote-https")], ("started git-remote-https",)),
        ([asked("files.example"), asked("127.0.0.1"), asked("::1")], ()),
        ([asked("10.1.2.3"), asked("10.1.2.3")], ("asked for 10.1.2.3",)),
        ([asked("127.evil.example"), asked("localhost.evil.example")], None),
        ([Deed(DeedKind.CONNECTION, A_NAME)], ()),
    ],
)
def test_what_no_act_named_was_not_foreseen(deeds: list[Deed], named: tuple[str, ...] | None) -> None:
    if named is None:
        named = tuple(one.claim for one in deeds)
    assert unforeseen(run(*deeds)) == named


def test_code_that_starts_nothing_foresees_not_even_a_shell() -> None:
    quiet = request("print(1)", Language.PYTHON)
    assert unforeseen(run(program("dash")), quiet) == ("started dash",)
    assert unforeseen(run(Deed(DeedKind.CONNECTION, A_NAME)), quiet) == ("asked for a host",)
    other = request("import subprocess\nsubprocess.run(['python3', 'x.py'])", Language.PYTHON)
    assert unforeseen(run(program("python3.13")), other) == ()


@pytest.mark.parametrize(
    ("code", "foreseen"),
    [
        ("git status", False),
        ("PATH=.:$PATH git status", False),
        ("/usr/bin/git status", False),
        ("/usr/local/bin/git status", False),
        ("/bin/git status", False),
        ("./git status", True),
        ("../usr/bin/git status", True),
        ("venv/bin/git status", True),
        ("~/bin/git status", True),
        ("/usr/bin/git status; tools/git status", True),
    ],
)
def test_a_file_of_the_run_s_own_is_foreseen_only_by_its_path(code: str, foreseen: bool) -> None:
    own = program("./git")
    assert unforeseen(run(own), request(code)) == (() if foreseen else ("started ./git",))
    assert unforeseen(run(program("git")), request(code)) == ()


def test_a_program_worked_out_at_run_time_was_foreseen_as_one() -> None:
    one = request("import subprocess, sys\nsubprocess.run([sys.argv[1]])", Language.PYTHON)
    assert unforeseen(run(program("anything")), one) == ()


def test_what_is_not_completely_known_is_never_taken_for_quiet() -> None:
    for more in ({"lost": 1}, {"left_out": 1}, {"gap": "It broke off."}):
        assert unforeseen(run(**more)) == (NOT_COMPLETE,)
    assert unforeseen(run(absent=NOT_REPORTED)) == ()


def test_more_written_files_than_are_listed_are_nothing_unforeseen() -> None:
    book = BehaviourBook()
    for number in range(MOST[DeedKind.FILE] + 20):
        book.add(DeedKind.FILE, f"out/{number}.txt")
    many = book.behaviour()
    assert many.files_left_out and many.left_out == many.files_left_out and not many.complete
    assert unforeseen(Result(Outcome.OK, "", "", 0, 0.1, observed=many)) == ()
    assert unforeseen(run(left_out=5, files_left_out=4)) == (NOT_COMPLETE,)


def test_a_host_that_the_gate_saw_counts_as_well() -> None:
    seen = Contact("evil.example", 443, False, NOT_LISTED)
    assert unforeseen(run(contacts=(seen,), absent=NOT_REPORTED)) == ("asked for evil.example",)
    allowed = replace(request(), network=NetworkMode.DOMAINS, domains=("*.example",))
    assert unforeseen(run(contacts=(seen,)), allowed) == ()


def test_many_are_counted() -> None:
    found = unforeseen(run(*(program(f"p{n}a") for n in range(30))))
    assert len(found) == 11
    assert found[-1] == "20 more"


def said(result: Result, changes: FileChanges | None = None, one: Request | None = None) -> dict[str, tuple[Came, str]]:
    one = one or request()
    return {
        f"{each.act.verb.value} {each.act.place}": (each.came, each.words)
        for each in outcomes(result, assess(one), one, changes)
    }


def changed(*paths: str, what: FileKind = FileKind.FILE, more: int = 0) -> FileChanges:
    gone = tuple(ChangedFile(path, ChangeKind.REMOVED, what, 1) for path in paths)
    return FileChanges((ChangedFile("out.txt", ChangeKind.ADDED), *gone), added=1, removed=len(gone) + more)


def test_each_act_gets_what_came_of_it() -> None:
    rights = Deed(DeedKind.RIGHTS, "fchmodat 755")
    found = said(run(program("git", "exit 128"), rights, asked("files.example")))
    assert found["starts git"] == (Came.FAILED, "tried: exit 128")
    assert found["writes out.txt"] == (Came.DONE, "written, 2 bytes")
    assert found["changes rights out.txt"] == (Came.DONE, "changed")
    assert found["fetches files.example"] == (Came.FAILED, "tried, and there is no network")
    assert found["deletes build"][0] is Came.UNKNOWN


def test_what_is_not_told_is_not_taken_for_not_done() -> None:
    assert said(run())["starts git"] == (Came.NOT_DONE, "not started")
    for more in ({"absent": NOT_REPORTED}, {"lost": 1}):
        assert said(run(**more))["starts git"][0] is Came.UNKNOWN
        assert said(run(**more))["fetches files.example"][0] is Came.UNKNOWN


def test_what_the_gate_says_of_a_host_is_said() -> None:
    contact = Contact("files.example", 443, False, NOT_LISTED, times=3)
    assert said(run(contacts=(contact,)))["fetches files.example"] == (Came.FAILED, "refused 3 times")
    contact = replace(contact, allowed=True, sent=10, received=2000)
    assert said(run(contacts=(contact,)))["fetches files.example"][0] is Came.DONE


@pytest.mark.parametrize(
    ("code", "changes", "came", "words"),
    [
        ("rm -rf build/", changed(*(f"build/{n}" for n in range(14))), Came.DONE, "14 files removed"),
        ("rm -rf build/", changed("build/a/b", "builder", "x/build/c"), Came.DONE, "1 file removed"),
        ("rm -rf build/", changed("build", what=FileKind.FOLDER), Came.DONE, "1 file, folder or link removed"),
        ("rm -rf build/", changed("build/a", more=5), Came.DONE, "at least 1 file removed"),
        ("rm -rf build/", changed(), Came.NOT_DONE, NONE_GONE),
        ("rm -rf build/", changed("a", "b"), Came.UNKNOWN, "2 removed in all"),
        ("rm -rf build/", FileChanges(unknown="too large"), Came.UNKNOWN, NOT_SAID),
        ("rm -f *.log", changed("a.log", "b.log", ".c.log", "sub/d.log"), Came.DONE, "2 files removed"),
        ("rm -rf ./*", changed("a", "b/c"), Came.DONE, "2 files removed"),
        ("rm -rf $1", changed("a", "b/c"), Came.DONE, "2 files removed in all"),
        ("rm -rf $1", changed(), Came.UNKNOWN, NONE_GONE),
        ("rm -rf /tmp/x", changed("x"), Came.UNKNOWN, NOT_SAID),
        ("rm -rf ../workspace/x", changed("x"), Came.DONE, "1 file removed"),
        ("rm -rf ~/x", changed("x"), Came.UNKNOWN, NOT_SAID),
    ],
)
def test_a_deletion_gets_what_is_gone_from_the_workspace(
    code: str, changes: FileChanges, came: Came, words: str
) -> None:
    ((_, found),) = [one for one in said(run(), changes, request(code)).items() if one[0].startswith("deletes")]
    assert found == (came, words)


@pytest.mark.parametrize(
    ("code", "changes", "words"),
    [
        ("print(1)", changed("a", "b/c"), ("removed 2 files",)),
        ("print(1)", changed("a", more=1), ("removed 2 files",)),
        ("print(1)", changed("a", what=FileKind.FOLDER), ("removed 1 file, folder or link",)),
        ("print(1)", changed(), ()),
        ("print(1)", FileChanges(unknown="too large"), ()),
        ("import os\nos.remove('a')", changed("a"), ()),
        ("import os\nos.remove('a')", changed("a", "b"), ("removed 1 file",)),
        ("import os\nos.remove('a')", changed("a", "b", more=1), ("removed at least 1 file",)),
        ("import os, sys\nos.remove(sys.argv[1])", changed("a", "b"), ()),
        ("import os\nos.rename('a', 'b')", changed("a"), ()),
        ("import subprocess\nsubprocess.run(['make', 'clean'])", changed("a"), ()),
    ],
)
def test_what_is_gone_that_no_act_named_was_not_foreseen(
    code: str, changes: FileChanges, words: tuple[str, ...]
) -> None:
    observed = with_removal(Behaviour(), assess(request(code, Language.PYTHON)), changes)
    assert observed is not None
    assert observed.unforeseen == words


def test_files_that_are_gone_are_named_where_nothing_else_was_reported() -> None:
    assessment = assess(request("print(1)", Language.PYTHON))
    assert with_removal(None, assessment, changed()) is None
    assert with_removal(None, assessment, changed("a")) == Behaviour(
        absent=NOT_REPORTED, unforeseen=("removed 1 file",)
    )
