"""Apply as it goes, over real working copies: what is applied by itself, what never is, and when it stops."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import WHOLE, Capability, Finding, Level
from runner.model.errors import KnownError
from runner.work.added import AddedFindings, AddedText, not_read
from runner.work.as_it_goes import ApplyingAsItGoes, with_their_folders
from runner.workspace.change import ProjectChange
from runner.workspace.entry import TreeEntry, TreeKind
from runner.workspace.working_copy import WorkingCopy
from tests.patience import HANGS
from tests.workspace.trees import look, work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


class Bench:
    """A working copy whose changes are applied as it goes; a text with EVIL in it has a finding."""

    def __init__(self, folder: Path) -> None:
        project = folder / "project"
        project.mkdir()
        (project / "a.py").write_text("a = 1\n")
        (project / "b.py").write_text("b = 1\n")
        self.copy = WorkingCopy.make(folder / "copies", project, ("sh",))
        self.project = project
        self.applied: list[list[bytes]] = []
        self.told: list[tuple[bool, str]] = []
        self.why_closed = ""
        self.moved = threading.Event()
        self.fails = ""
        self.during: Callable[[], None] = lambda: None
        self.going = ApplyingAsItGoes(self.copy, self.read, self.apply, self.tell, lambda: self.why_closed, quiet=0.0)

    def read(self, text: AddedText) -> AddedFindings:
        if "UNREAD" in text.new:
            return not_read("It took too long.")
        level = Level.HIGH if "EVIL" in text.new else Level.MEDIUM
        return AddedFindings((Finding("x", level, Capability.FILES, WHOLE, "", "Does it."),))

    def apply(self, wanted: Sequence[ProjectChange], ended: Callable[[], str]) -> object:
        self.during()
        if why := self.fails or ended():
            self.moved.set()
            raise KnownError(why)
        done = self.copy.apply(wanted)
        self.applied.append([one.path for one in wanted])
        self.moved.set()
        return done

    def tell(self, on: bool, why: str) -> None:
        self.told.append((on, why))
        self.moved.set()

    def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            assert self.moved.wait(HANGS), "nothing happens"
            self.moved.clear()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.going.close()


def test_what_is_ordinary_is_applied_by_itself_and_nothing_else(bench: Bench) -> None:
    work(
        bench.copy,
        "echo 'a = 2' >a.py; echo EVIL >evil.py; echo UNREAD >unread.py; printf 'x\\0' >binary; echo x >Makefile;"
        " mkdir -p node_modules/p d/e; echo x >node_modules/p/i.js; echo x >d/e/f; echo EVIL >d/evil;"
        " echo 'b = 2' >b.py",
    )
    (bench.project / "b.py").write_text("b = 3\n")
    bench.going.switch(on=True)
    bench.until(lambda: bool(bench.applied))
    assert bench.applied == [[b"a.py", b"d", b"d/e", b"d/e/f"]] and bench.told == [(True, "")]
    assert set(look(bench.project)) == {b".", b"a.py", b"b.py", b"d", b"d/e", b"d/e/f"}
    assert (bench.project / "b.py").read_text() == "b = 3\n"


@pytest.mark.parametrize(
    "command",
    [
        "rm b.py",
        "rm b.py; ln -s a.py b.py",
        "rm b.py; mkdir b.py; echo x >b.py/x",
        "mkfifo b",
        "chmod 666 b.py",
        "umask 0; echo x >x.py",
        "ln -s a.py .envrc",
    ],
)
def test_what_loses_or_opens_something_is_left_to_a_person(bench: Bench, command: str) -> None:
    before = look(bench.project)
    work(bench.copy, f"{command}; echo n >n.py; chmod 644 n.py")
    bench.going.switch(on=True)
    bench.until(lambda: bool(bench.applied))
    assert bench.applied == [[b"n.py"]]
    after = look(bench.project)
    assert {path for path in after if after[path] != before.get(path)} - {b"."} == {b"n.py"} and b"b.py" in after


def test_a_folder_closed_to_everybody_does_not_hold_up_the_others(bench: Bench) -> None:
    bench.going._quiet = 1.5  # more than one look
    work(bench.copy, "mkdir d; echo x >d/x.py; chmod 000 d; echo n >n.py")
    bench.going.switch(on=True)
    bench.until(lambda: bool(bench.applied))
    assert b"n.py" in bench.applied[0]


def test_nothing_is_applied_while_it_is_off(bench: Bench) -> None:
    work(bench.copy, "echo 'a = 2' >a.py")
    bench.going.switch(on=False)
    bench.going.close()
    assert not bench.applied and not bench.told and (bench.project / "a.py").read_text() == "a = 1\n"


def test_each_time_can_be_taken_back_and_is_not_applied_again(bench: Bench) -> None:
    work(bench.copy, "echo 'a = 2' >a.py")
    bench.going.switch(on=True)
    bench.until(lambda: len(bench.applied) == 1)
    work(bench.copy, "echo n >n.py; echo 'b = 2' >b.py")
    bench.until(lambda: len(bench.applied) == 2)
    assert (bench.project / "b.py").read_text() == "b = 2\n" and (bench.project / "n.py").exists()
    bench.copy.undo()
    assert (bench.project / "b.py").read_text() == "b = 1\n" and (bench.project / "a.py").read_text() == "a = 2\n"
    assert bench.copy.can_undo, "that before it can be taken back too"
    bench.copy.undo()
    assert (bench.project / "a.py").read_text() == "a = 1\n" and not bench.copy.can_undo
    work(bench.copy, "echo m >m.py")
    bench.until(lambda: len(bench.applied) == 3)
    assert bench.applied[2] == [b"m.py"], "what was taken back is a person's to apply"


def test_off_holds_for_what_is_being_copied(bench: Bench) -> None:
    work(bench.copy, "echo 'a = 2' >a.py")
    bench.during = lambda: bench.going.switch(on=False)
    bench.going.switch(on=True)
    bench.until(lambda: len(bench.told) == 2)
    bench.going.close()
    assert bench.told == [(True, ""), (False, "")] and not bench.applied
    assert (bench.project / "a.py").read_text() == "a = 1\n"


def test_lockdown_switches_it_off_with_the_reason(bench: Bench) -> None:
    bench.why_closed = "Lockdown."
    work(bench.copy, "echo 'a = 2' >a.py")
    bench.going.switch(on=True)
    bench.until(lambda: len(bench.told) == 2)
    assert bench.told[1] == (False, "Lockdown.") and not bench.applied


def test_lockdown_in_the_middle_ends_what_is_being_copied(bench: Bench) -> None:
    def lock() -> None:
        bench.why_closed = "Lockdown."

    bench.during = lock
    work(bench.copy, "echo 'a = 2' >a.py")
    bench.going.switch(on=True)
    bench.until(lambda: len(bench.told) == 2)
    assert bench.told[1] == (False, "Lockdown.") and not bench.applied


def test_what_stays_impossible_switches_it_off_with_the_reason(bench: Bench) -> None:
    bench.fails = "The disk is full."
    work(bench.copy, "echo 'a = 2' >a.py")
    bench.going.switch(on=True)
    bench.until(lambda: len(bench.told) == 2)
    on, why = bench.told[1]
    assert not on and "The disk is full." in why and not bench.going.on


FILE, FOLDER = TreeEntry(TreeKind.FILE, 0o644), TreeEntry(TreeKind.FOLDER, 0o755)


def change(path: str, before: TreeEntry | None, after: TreeEntry | None) -> ProjectChange:
    return ProjectChange(path.encode(), before, after)


@pytest.mark.parametrize(
    ("found", "left", "wanted"),
    [
        ([change("d", None, FOLDER), change("d/a", None, FILE)], {"d/a"}, []),
        ([change("d", None, FOLDER)], set(), ["d"]),
        ([change("d", None, FOLDER), change("d/a", None, FILE), change("d/b", None, FILE)], {"d/b"}, ["d", "d/a"]),
        ([change("d", FOLDER, None), change("d/a", FILE, None)], {"d/a"}, []),
        ([change("d", FOLDER, FILE), change("d/a", FILE, None)], {"d/a"}, []),
        ([change("d", FILE, FOLDER), change("d/a", None, FILE)], {"d"}, []),
        ([change("d", FOLDER, None), change("d/a", FILE, None)], set(), ["d", "d/a"]),
    ],
)
def test_folders_are_applied_with_what_they_need(found: list[ProjectChange], left: set[str], wanted: list[str]) -> None:
    plain = [one for one in found if one.path.decode() not in left]
    assert [one.path.decode() for one in with_their_folders(found, plain)] == wanted
