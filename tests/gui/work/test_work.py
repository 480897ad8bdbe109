"""The page of work by mouse and keyboard: what is ticked, what is applied, what is let through."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.host_access.dialog import AllowDialog
from app.look.look import Theme
from app.parts.confirm import ConfirmDialog
from app.parts.text.differences import beside_each_other
from app.review.deliberate import DeliberateDialog
from app.work import terminals, words
from app.work.change_list import NOTHING_READ
from app.work.change_rows import ChangeTable, RowKind, table_of
from app.work.command_rows import rows_of
from app.work.held import HeldDialog
from app.work.project_hosts import ProjectHostsDialog
from app.work.starting import NO_FOLDER, StartDialog
from app.work.unified import lines_of
from runner.approval.deliberate import ApproveBy
from runner.approval.modes import Mode
from runner.approval.private_addresses import PrivateAddress
from runner.model.assessment import Level
from runner.model.difference import Side
from runner.model.errors import KnownError
from runner.model.events import ModeChanged, WorkMoved
from runner.model.network import NOT_LISTED, Contact, Destination
from runner.model.work import AsItGoes, HostSeen, WorkEnded, WorkSession, WorkUsage
from runner.work.added import MOST_READ, AddedFindings
from runner.work.in_force import PAUSED
from runner.work.project_hosts import ProjectHost
from runner.workspace import undo
from runner.workspace.apply import Applied
from runner.workspace.change import GitCommits, ProjectChange, ProjectChanges, digest
from runner.workspace.difference import LineDifference
from runner.workspace.progress import WriteProgress
from runner.workspace.undo import WayBack
from tests.gui.elapse import rest
from tests.gui.feed import finding
from tests.gui.scenes import work_scenes
from tests.gui.scenes.work_scenes import (
    FOUND,
    NAME,
    OBEYS,
    added,
    changed,
    command,
    deleted,
    file,
    folder,
    held,
    session,
)

if TYPE_CHECKING:
    from app.review.guard import ClickGuard
    from app.work.change_parts import PartsView
    from app.work.panel import WorkPanel
    from tests.gui.conftest import Desk

LEFT = Qt.MouseButton.LeftButton
SMALL = ProjectChanges((changed("a.py"), changed("b.py", 2), added("c.txt", 3), changed("package.json", 4, mark=OBEYS)))


class Bench:
    """The page with working copies on it; what the page asks by itself is answered."""

    def __init__(
        self,
        desk: Desk,
        *sessions: WorkSession,
        found: ProjectChanges = SMALL,
        findings: AddedFindings = NOTHING_READ,
    ) -> None:
        self.desk = desk
        self.found = found
        self.findings = findings
        desk.bridge.at_work = sessions or (session(at_work=False, ended=WorkEnded(time.time(), 0)),)
        desk.hear((WorkMoved(tuple(one.name for one in desk.bridge.at_work)),))
        desk.window.show_page("Work")
        page: Any = desk.window.page("Work")
        self.page: WorkPanel = page
        desk.qtbot.waitUntil(self.answered)

    def answered(self) -> bool:
        """Answer what is asked; return whether nothing is any more, and the list is there."""
        for name, value in (
            ("changes", self.found),
            ("lines", work_scenes.LINES),
            ("findings", self.findings),
            ("usage", WorkUsage(310 << 20, 1.0, 3)),
        ):
            while self.desk.bridge.waits(name):
                self.desk.bridge.give(name, value)
        QApplication.processEvents()
        known = self.page.changes._found is self.found
        return known and len(self.page.changes.model.table.rows) == len(table_of(self.found).rows)

    def read(self) -> bool:
        """Answer what is asked; return whether all that is added has been read."""
        return self.answered() and next(self.page.changes.model.unread(0, 0), None) is None

    def moves(self, found: ProjectChanges) -> None:
        """The changes are others now."""
        self.found = found
        self.desk.window.work.want_now(self.page.shown)
        self.desk.hear((WorkMoved((self.page.shown,)),))
        self.desk.window.work.want_now(self.page.shown)
        self.desk.qtbot.waitUntil(self.answered)

    def rested(self) -> None:
        self.desk.qtbot.waitUntil(lambda: rest(self.page.changes.guard, self.page.changes._rest))

    @property
    def ticked(self) -> set[str]:
        return {row.name for row in self.page.changes.model.chosen}

    @property
    def applied(self) -> list[tuple[Any, ...]]:
        return [call for call in self.desk.bridge.calls if call[0] == "apply"]

    @property
    def applying(self) -> bool:
        """Whether anything is applied or about to be."""
        return bool(self.applied) or self.page.changes.busy

    def key(self, key: Qt.Key, widget: Any = None) -> None:
        QTest.keyClick(widget or self.desk.window.frame, key)

    def click_tick(self, number: int) -> None:
        view = self.page.changes.view
        box = view.box(number)
        QTest.mouseClick(view.viewport(), LEFT, pos=box.center().toPoint())

    def dialog(self, kind: type[QDialog]) -> Any:
        found: list[QDialog] = []

        def there() -> bool:
            found[:] = [one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible()]
            if found:
                found[0].activateWindow()
            return bool(found) and found[0].isActiveWindow()

        self.desk.qtbot.waitUntil(there)
        return found[0]


@pytest.fixture
def bench(desk: Desk) -> Bench:
    return Bench(desk)


def passes(guard: ClickGuard) -> None:
    turn = -1
    while turn != guard._turn:
        turn = guard._turn
        for _ in range(3):
            QApplication.processEvents()
    guard._until = float("-inf")


# ---- the rows ----


def test_what_runs_later_conflicts_or_is_many_is_not_ticked_beforehand(desk: Desk) -> None:
    bench = Bench(desk, found=FOUND)
    assert bench.ticked == {"src/report.py", "tests/test_report.py", "README.md", "docs/how-to.md"}
    kinds = {row.name: row.kind for row in bench.page.changes.model.table.rows}
    assert kinds["package.json"] is RowKind.MARKED and kinds["notes/plan.md"] is RowKind.CONFLICT
    assert kinds["node_modules/"] is RowKind.MANY and kinds["build/"] is RowKind.MANY
    assert kinds["run/server.sock"] is RowKind.LEFT_OUT
    words = bench.page.changes.said.text()
    assert words.startswith("Two files run something later by themselves: look at them before you tick them.")
    for name in ("notes/plan.md", "run/server.sock"):
        number = [row.name for row in bench.page.changes.model.rows].index(name)
        bench.page.changes.view.setCurrentIndex(bench.page.changes.model.index(number, 0))
        bench.key(Qt.Key.Key_Space, bench.page.changes.view)
        assert name not in bench.ticked


def test_a_new_folder_comes_with_what_is_in_it_and_no_other_does() -> None:
    table = table_of(ProjectChanges((folder("x"), folder("x/y"), added("x/y/a"), folder("z"), added("z/b", 2))))
    assert [row.name for row in table.rows] == ["x/y/a", "z/b"]
    wanted = table.wanted(table.rows[:1])
    assert [one.path for one in wanted] == [b"x", b"x/y", b"x/y/a"]


def test_a_marked_file_in_a_folder_of_many_stands_by_itself() -> None:
    many = tuple(added(f"node_modules/p/{number}.js", number) for number in range(9))
    table = table_of(ProjectChanges((*many, added("node_modules/p/package.json", 99, mark=OBEYS))))
    assert [(row.name, row.kind) for row in table.rows] == [
        ("node_modules/", RowKind.MANY),
        ("node_modules/p/package.json", RowKind.MARKED),
    ]


def test_a_merged_one_is_its_own_kind_and_not_ticked_beforehand(desk: Desk) -> None:
    merged = changed("b.py", 2, mark="merged with your edit")
    bench = Bench(desk, found=ProjectChanges((changed("a.py"), merged)))
    assert [row.kind for row in bench.page.changes.model.rows] == [RowKind.ORDINARY, RowKind.MERGED]
    assert bench.ticked == {"a.py"}
    said = bench.page.changes.said
    only = "One was merged with your edits: look at it before you tick it."
    desk.qtbot.waitUntil(lambda: bench.answered() and said.text() == only)


def test_a_deleted_folder_with_a_conflict_in_it_is_not_folded() -> None:
    conflict = deleted("old/b", 2, conflict="It was changed in the project meanwhile.")
    table = table_of(ProjectChanges((folder("old", before=True), deleted("old/a"), conflict)))
    assert {row.name: row.can_tick for row in table.rows} == {"old/": True, "old/a": True, "old/b": False}


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a\u202egnp.exe".encode(), r"a\u202egnp.exe"),
        (b"two\nlines", r"two\nlines"),
        (b"a  b", "a  b"),
        (b"\xff.py", r"\xff.py"),
        ("x\u3164y".encode(), r"x\u3164y"),
    ],
)
def test_names_hide_nothing(path: bytes, shown: str) -> None:
    assert table_of(ProjectChanges((ProjectChange(path, None, file(1)),))).rows[0].name == shown


# ---- applying ----


def test_commits_are_one_row_that_says_what_they_are() -> None:
    made = GitCommits("trunk", ("Add a parser", "Fix it"))
    found = ProjectChanges((changed("a.py"), added(".git/logs/HEAD"), added(".git/objects/ab/c")), commits=made)
    table = table_of(found)
    (git,) = [row for row in table.rows if row.key == b".git"]
    assert (git.tag, len(git.changes)) == ("commits", 2)
    assert git.why.startswith("2 commits on branch trunk: “Add a parser”, “Fix it”.") and "not at all" in git.why
    assert table.number == len(found.changes), "one rule: what is counted is paths"


def test_a_new_folder_which_has_no_row_is_named_where_changes_are_counted(bench: Bench) -> None:
    changes = bench.page.changes
    changes.model.table = replace(changes.model.table, folders=(added("new"),))
    changes._show_state()
    assert changes.ticked.text() == "3 of 5 ticked, 1 folder"


def test_the_name_for_a_terminal_is_shown_and_copied(bench: Bench) -> None:
    card = bench.page.card
    assert card.name.text() == NAME and f"assent work apply {NAME}" in card.copy.toolTip()
    card.copy.click()
    assert QApplication.clipboard().text() == NAME


def test_apply_sends_exactly_what_is_ticked_with_its_digest(bench: Bench) -> None:
    assert bench.ticked == {"a.py", "b.py", "c.txt"} and bench.page.changes.apply.text() == "Apply 3 changes  A"
    bench.click_tick(1)
    assert bench.ticked == {"a.py", "c.txt"} and bench.page.changes.ticked.text() == "2 of 4 ticked"
    bench.rested()
    QTest.mouseClick(bench.page.changes.apply, LEFT)
    bench.desk.qtbot.waitUntil(lambda: bool(bench.applied))
    wanted = (SMALL.changes[0], SMALL.changes[2])
    assert bench.applied == [("apply", NAME, wanted, digest(wanted), {})]
    assert not bench.page.changes.apply.isEnabled() and bench.page.changes.progress.isVisible()
    bench.desk.give("apply", Applied(2, (b"late",)))
    words = bench.page.changes.said.text()
    assert words.startswith("Applied: 2 changes in ") and "Left alone" in words and words.endswith("late.")


def test_the_key_applies_alone_and_not_within_the_rest(bench: Bench) -> None:
    bench.page.changes.rearm()
    bench.key(Qt.Key.Key_A)
    assert not bench.applying, "the page has just come"
    bench.desk.window.deciding.keystrokes._typing._pause = 10
    bench.rested()
    bench.page.keystrokes._typing = type(bench.page.keystrokes._typing)()
    bench.key(Qt.Key.Key_A)
    bench.desk.qtbot.waitUntil(lambda: bool(bench.applied))
    assert len(bench.applied) == 1


def test_letters_in_the_search_field_are_letters_and_hidden_ticks_are_not_applied(bench: Bench) -> None:
    bench.rested()
    bench.key(Qt.Key.Key_Slash)
    field = bench.page.changes.field
    assert field.hasFocus()
    bench.key(Qt.Key.Key_A, field)
    assert field.text() == "a" and not bench.applying
    assert [row.name for row in bench.page.changes.model.rows] == ["a.py", "package.json"]
    assert not bench.page.changes.apply.isEnabled()
    assert bench.page.changes.said.text() == "2 ticked changes not shown by the search: clear it to apply."


def test_ticks_stay_for_what_is_the_same_and_go_for_what_is_not(bench: Bench) -> None:
    bench.click_tick(1)
    bench.click_tick(3)
    assert bench.ticked == {"a.py", "c.txt", "package.json"}
    first, second, third, fourth = SMALL.changes
    same = ProjectChanges((first, replace(second, after=file(77)), third, fourth, added("new.py", 9)))
    bench.moves(same)
    assert bench.ticked == {"a.py", "c.txt", "package.json", "new.py"}, "what was left out stays out"
    bench.moves(replace(same, changes=(first, second, third, replace(fourth, after=file(78)))))
    assert bench.ticked == {"a.py", "c.txt"}, "a marked one that is another now has to be looked at again"


def test_a_list_that_moved_says_so_and_shows_the_new_one(bench: Bench) -> None:
    bench.rested()
    QTest.mouseClick(bench.page.changes.apply, LEFT)
    bench.found = ProjectChanges((changed("a.py"), changed("b.py", 5)))
    bench.desk.qtbot.waitUntil(lambda: bool(bench.applied))
    bench.desk.bridge.fail("apply", KnownError("The changes are not those that were shown.", "Look at them again."))
    bench.desk.qtbot.waitUntil(bench.answered)
    bench.desk.qtbot.waitUntil(lambda: "as they are now" in bench.page.changes.said.text())
    assert bench.page.changes.said.text().startswith("Not applied: The changes are not those that were shown.")
    assert [row.name for row in bench.page.changes.model.rows] == ["a.py", "b.py"]


def test_a_list_that_changes_under_the_pointer_rests(bench: Bench) -> None:
    bench.rested()
    assert bench.page.changes.apply.isEnabled()
    bench.moves(ProjectChanges((*SMALL.changes, added("evil.py", 8))))
    QTest.mouseClick(bench.page.changes.apply, LEFT)
    bench.key(Qt.Key.Key_A)
    assert not bench.applying


@pytest.mark.parametrize("by", [ApproveBy.PIN, ApproveBy.WORD])
def test_a_pin_or_a_word_is_asked_for_before_anything_is_applied(bench: Bench, by: ApproveBy) -> None:
    bench.desk.bridge.approve_by = by
    bench.rested()
    QTest.mouseClick(bench.page.changes.apply, LEFT)
    dialog = bench.dialog(DeliberateDialog)
    assert dialog.proof is not None and not bench.applying
    proof = dialog.proof
    QTest.keyClicks(proof.field, "2580" if by is ApproveBy.PIN else proof._word)
    dialog.yes.click()
    bench.desk.qtbot.waitUntil(lambda: bool(bench.applied))
    assert bench.applied[0][5:] == (("2580",) if by is ApproveBy.PIN else ())


def test_only_the_mouse_applies_where_that_was_chosen(bench: Bench) -> None:
    bench.desk.bridge.approve_by = ApproveBy.MOUSE
    bench.page.changes.refresh()
    bench.rested()
    bench.page.keystrokes._typing = type(bench.page.keystrokes._typing)()
    bench.key(Qt.Key.Key_A)
    assert not bench.applying
    QTest.mouseClick(bench.page.changes.apply, LEFT)
    bench.desk.qtbot.waitUntil(lambda: bool(bench.applied))


def test_discarding_and_undoing_ask_first(desk: Desk) -> None:
    bench = Bench(desk, session(at_work=False, ended=WorkEnded(time.time(), 0), can_undo=True))
    bench.page.changes.discard.click()
    dialog = bench.dialog(ConfirmDialog)
    assert dialog.no.hasFocus() and "cannot be undone" in dialog.what
    dialog.reject()
    assert not [call for call in desk.bridge.calls if call[0] == "discard"]
    bench.page.changes.discard.click()
    bench.dialog(ConfirmDialog).yes.click()
    desk.give("discard", KnownError("It is gone."))
    assert bench.page.changes.said.text() == "Not discarded: It is gone."
    bench.page.changes.undo.click()
    desk.give("undo_plan", WayBack((changed("a.py"),), Path()))
    bench.dialog(DeliberateDialog).yes.click()
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("undo"))
    desk.give("undo", Applied(3))
    assert bench.page.changes.said.text().startswith("Taken back: 3 changes")


def test_undo_says_before_and_after_what_it_leaves_and_why(desk: Desk) -> None:
    bench = Bench(desk, session(at_work=False, ended=WorkEnded(time.time(), 0), can_undo=True))
    plan = WayBack((changed("a.py"),), Path(), ((b"mine.py", undo.CHANGED),))
    bench.page.changes.undo.click()
    desk.give("undo_plan", plan)
    dialog = bench.dialog(DeliberateDialog)
    assert "1 path stays as now, to be taken back later: mine.py: it was changed since." in dialog.what
    dialog.yes.click()
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("undo"))
    (asked,) = [call for call in desk.bridge.calls if call[0] == "undo"]
    assert asked[1:] == (NAME, digest(plan.changes)), "exactly what was shown"
    desk.give("undo", Applied(1))
    assert "mine.py: it was changed since" in bench.page.changes.said.text()
    bench.page.changes.undo.click()
    desk.give("undo_plan", WayBack((), Path(), plan.kept))
    assert "Nothing can be taken back. “mine.py”" in bench.page.changes.said.text()
    assert len([call for call in desk.bridge.calls if call[0] == "undo"]) == 1


def test_what_is_at_work_is_not_discarded_and_the_list_is_said_to_move(desk: Desk) -> None:
    bench = Bench(desk, session(), found=ProjectChanges((changed("a.py"),)))
    assert not bench.page.changes.discard.isEnabled()
    assert "may still change" in bench.page.changes.said.text()


# ---- what a change does ----


def test_lines_have_numbers_and_stand_beside_each_other() -> None:
    lines = lines_of(work_scenes.LINES.lines)
    assert (lines[0].side, lines[0].count) == (Side.FOLDED, 10)
    assert [(one.old, one.new) for one in lines[1:5]] == [(11, 11), (12, None), (None, 12), (None, 13)]
    old, new = beside_each_other(lines)
    assert len(old) == len(new)
    assert [(one.text.strip(), two.text.strip()) for one, two in zip(old, new, strict=True)][2][0].startswith("return")


def test_a_new_file_begins_at_its_first_line() -> None:
    lines = lines_of(("@@ -0,0 +1,2 @@", "+a", "+b"))
    assert [(one.side, one.new) for one in lines] == [(Side.ADDED, 1), (Side.ADDED, 2)]


def test_the_chosen_change_is_shown_both_ways_in_colors(bench: Bench) -> None:
    pane = bench.page.changes.pane
    bench.desk.qtbot.waitUntil(lambda: bench.answered() and pane.shown is pane.text)
    assert "def total(rows, region):" in pane.text.toPlainText()
    bench.desk.qtbot.waitUntil(lambda: bool(pane.text.document().findBlockByNumber(1).layout().formats()))
    pane.beside.click()
    assert pane.shown is pane.sides and pane.sides.new.toPlainText().count("+") == 5
    bench.page.changes.view.setCurrentIndex(bench.page.changes.model.index(1, 0))
    assert pane.nothing.isVisible(), "what was read before is gone at once"


def test_pictures_stand_beside_each_other_and_are_decoded_apart(desk: Desk) -> None:
    bench = Bench(desk, found=ProjectChanges((changed("logo.png"),)))
    pane = bench.page.changes.pane
    desk.bridge.calls.clear()
    pane.show_row("", None)
    number = bench.page.changes.model.rows[0]
    pane.show_row(NAME, number)
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("lines"))

    def asks_for_both() -> bool:
        while desk.bridge.waits("lines"):  # for the pane, and for the count in the row
            desk.bridge.give("lines", LineDifference(instead="not text: 1 bytes to 2 bytes"))
        return sum(name == "content" and not one.done() for name, one in desk.bridge.open) == 2

    desk.qtbot.waitUntil(asks_for_both)
    desk.bridge.give("content", picture(20))
    desk.bridge.give("content", picture(30))
    desk.qtbot.waitUntil(lambda: all(view.isVisible() for view in pane.pictures.views))
    assert [one.text() for one in pane.pictures.said] == ["20 \u00d7 20 pixels", "30 \u00d7 30 pixels"]


def picture(side: int) -> bytes:
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice
    from PySide6.QtGui import QImage

    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImage(side, side, QImage.Format.Format_RGB32).save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(QByteArray(buffer.data()).data())


def test_the_page_opens_with_the_program_whose_command_waits(desk: Desk) -> None:
    bench = Bench(desk, session(), session("other-2", started_at=1.0, held=(held(),)))
    assert bench.page.shown == "other-2"
    desk.window.show_page("Queue")
    desk.window.pages.show_work(NAME)
    assert bench.page.shown == NAME, "what was asked for comes first"


def test_the_focus_stays_on_the_page_when_a_host_was_allowed(desk: Desk) -> None:
    bench = Bench(desk, session())
    (row,) = bench.page.card.questions.refused
    row.allow.setFocus()
    assert desk.window.window().focusWidget() is row.allow
    desk.bridge.at_work = (session(contacts=()),)
    desk.hear((WorkMoved((NAME,)),))
    assert not row.isVisible() and desk.window.window().focusWidget() is bench.page.list.view


def test_after_an_undo_of_a_part_not_all_is_said_to_be_applied() -> None:
    over = session(at_work=False, ended=WorkEnded(time.time(), 0), can_undo=True)
    assert words.APPLIED in words.headline(over)
    part = words.headline(replace(over, undone_in_part=True))
    assert words.APPLIED_IN_PART in part and words.APPLIED not in part


# ---- what waits ----


def test_a_refused_host_is_allowed_by_a_deliberate_press(desk: Desk) -> None:
    bench = Bench(desk, session())
    assert desk.window.work.count() == 0, "it has been seen"
    (row,) = bench.page.card.questions.refused
    assert row.guard._turn > 1, "what appears begins its rest"
    clock = row.guard._clock
    row.guard._clock = lambda: row.guard._until - 0.001  # whatever the machine does meanwhile
    QTest.mouseClick(row.allow, LEFT)
    assert not opened(desk), "it has just appeared"
    row.guard._clock = clock
    passes(row.guard)
    QTest.mouseClick(row.allow, LEFT)
    assert opened(desk) == [("open_host", NAME, "api.example.com", 443, False, "")]
    desk.give("open_host", PrivateAddress(Destination("api.example.com", 443), "10.0.0.7"))
    dialog = bench.dialog(AllowDialog)
    assert "10.0.0.7" in dialog.yes.text()
    passes(dialog.guard)
    dialog._rested()
    QTest.mouseClick(dialog.yes, LEFT)
    assert opened(desk)[1:] == [("open_host", NAME, "api.example.com", 443, False, "10.0.0.7")]
    desk.give("open_host", None)
    assert row.became.text() == "allowed for this session" and not row.allow.isVisible()


def test_for_the_project_is_asked_first(desk: Desk) -> None:
    bench = Bench(desk, session())
    (row,) = bench.page.card.questions.refused
    passes(row.guard)
    QTest.mouseClick(row.always, LEFT)
    dialog = bench.dialog(AllowDialog)
    assert not opened(desk) and "later sessions" in dialog.accessibleDescription()
    passes(dialog.guard)
    dialog._rested()
    QTest.mouseClick(dialog.yes, LEFT)
    assert opened(desk) == [("open_host", NAME, "api.example.com", 443, True, "")]


def test_what_is_always_allowed_is_listed_and_taken_back(desk: Desk) -> None:
    bench = Bench(desk, session())
    bench.page.always.click()
    dialog = bench.dialog(ProjectHostsDialog)
    first, second = (ProjectHost("/home/me/x", 1, 2, name, 443, at=1.0) for name in ("one.example", "two.example"))
    desk.give("hosts", (first, second))
    assert [row.place.text() for row in dialog.rows] == ["two.example:443", "one.example:443"]
    dialog.rows[1].forget.click()
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("forget_host"))
    assert ("forget_host", first) in desk.bridge.calls
    desk.give("forget_host", None)
    desk.give("hosts", ())
    assert not dialog.rows and "No host is always allowed" in dialog.message.text()
    dialog.reject()


def opened(desk: Desk) -> list[tuple[Any, ...]]:
    return [call for call in desk.bridge.calls if call[0] == "open_host"]


def test_a_host_that_is_tried_again_keeps_its_row(desk: Desk) -> None:
    one, two = (HostSeen(1.0, Contact(name, 443, False, NOT_LISTED)) for name in ("one.example", "two.example"))
    bench = Bench(desk, session(contacts=(one, two)))
    again = replace(one, contact=replace(one.contact, times=2))
    desk.bridge.at_work = (session(contacts=(two, again)),)
    desk.hear((WorkMoved((NAME,)),))
    places = [row.place.text() for row in bench.page.card.questions.refused]
    assert places == ["one.example:443", "two.example:443"]


def test_a_held_command_is_shown_whole_and_critical_is_held(desk: Desk) -> None:
    bench = Bench(desk, session(held=(held(),)))
    assert desk.window.navigation._buttons["Work"]._count == 1
    (row,) = bench.page.card.questions.held
    row.run.click()
    dialog = bench.dialog(HeldDialog)
    assert dialog.no.hasFocus() and dialog.code._listing.lines == [held().text]
    desk.qtbot.waitUntil(lambda: rest(dialog.guard, dialog._rest) and dialog.run.isEnabled())
    QTest.mouseClick(dialog.run, LEFT)
    for key in (Qt.Key.Key_A, Qt.Key.Key_Space):
        QTest.keyClick(dialog.code, key)
    assert not answers(desk), "CRITICAL is not run by a click or a key"
    QTest.mousePress(dialog.run, LEFT)
    desk.qtbot.waitUntil(lambda: bool(answers(desk)))
    QTest.mouseRelease(dialog.run, LEFT)
    assert answers(desk) == [("answer", NAME, 62, True, "")]


def test_the_reason_of_a_held_command_has_the_room_that_a_short_command_leaves(desk: Desk) -> None:
    desk.window.resize(960, 600)
    why = "Deletes keys, credentials or start-up files."
    bench = Bench(desk, session(held=(replace(held(), text="rm -rf ~/.ssh", reasons=(why,)),)))
    (row,) = bench.page.card.questions.held
    _lay_out(row)
    assert row.why.text() == f"CRITICAL {why}" == row.why._shown()
    long = replace(held(), text="echo " + "x" * 2000, reasons=(why,))
    row.show_command(session(), long)
    _lay_out(row)
    assert row.text.width() > row.why.width() > row.width() // 5, "neither takes the room of the other"


def _lay_out(row: QWidget) -> None:
    """Have the parts of a row take the room that they are given next."""
    layout = row.layout()
    assert layout is not None
    layout.activate()


def test_a_held_command_says_that_the_policy_wants_a_stronger_sandbox(desk: Desk) -> None:
    bench = Bench(desk, session(held=(held(),), at_work=True))
    bench.page.card.questions.held[0].run.click()
    assert held().sandbox in bench.dialog(HeldDialog).reasons.text()


def test_a_program_of_a_paused_agent_says_that_nothing_is_run(desk: Desk) -> None:
    bench = Bench(desk, session(at_work=True, agent="claude-code", refused=PAUSED))
    assert bench.page.card.refused.text() == f"claude-code: {PAUSED}" and bench.page.card.refused.isVisible()
    assert "commands refused" in bench.page.list.model.rows[0].spoken
    desk.bridge.at_work = (session(at_work=True, agent="claude-code"),)
    desk.hear((WorkMoved((NAME,)),))
    assert not bench.page.card.refused.isVisible()


def test_a_held_command_is_refused_with_a_reason(desk: Desk) -> None:
    bench = Bench(desk, session(held=(held(),)))
    bench.page.card.questions.held[0].run.click()
    dialog = bench.dialog(HeldDialog)
    dialog.reason.setText("Not to a stranger.")
    desk.qtbot.waitUntil(lambda: rest(dialog.guard, dialog._rest) and dialog.refuse.isEnabled())
    QTest.mouseClick(dialog.refuse, LEFT)
    assert answers(desk) == [("answer", NAME, 62, False, "Not to a stranger.")]
    desk.give("answer", KnownError("It is no longer at work."))
    assert "no longer at work" in dialog.sentence.text()


def test_a_long_command_is_run_only_when_all_of_it_was_on_screen(desk: Desk) -> None:
    long = replace(held(), text="\n".join(f"echo {number}" for number in range(400)), level="HIGH")
    bench = Bench(desk, session(held=(long,)))
    bench.page.card.questions.held[0].run.click()
    dialog = bench.dialog(HeldDialog)
    desk.qtbot.waitUntil(lambda: rest(dialog.guard, dialog._rest) and dialog.refuse.isEnabled())
    assert not dialog.run.isEnabled() and "Scroll to the end" in dialog.sentence.text()
    QTest.mouseClick(dialog.run, LEFT)
    assert not answers(desk)


def test_what_came_of_something_does_not_hide_what_is_to_be_known_of_a_later_list(desk: Desk) -> None:
    bench = Bench(desk)
    card = bench.page.changes
    card._tell("Taken back.", "ok")
    bench.moves(ProjectChanges(SMALL.changes[1:]))
    assert card.said.text() == "Taken back."
    bench.moves(SMALL)
    assert card.said.text().startswith("One file runs something later by itself")


def test_what_no_longer_waits_is_not_answered(desk: Desk) -> None:
    bench = Bench(desk, session(held=(held(),)))
    bench.page.card.questions.held[0].run.click()
    dialog = bench.dialog(HeldDialog)
    desk.qtbot.waitUntil(lambda: rest(dialog.guard, dialog._rest) and dialog.refuse.isEnabled())
    desk.bridge.at_work = (session(held=(replace(held(), text="rm -rf ~"),)),)
    desk.hear((WorkMoved((NAME,)),))
    assert not dialog.refuse.isEnabled() and "no longer waits" in dialog.sentence.text()
    dialog._answer(run=True, pin="")
    assert not answers(desk)


def answers(desk: Desk) -> list[tuple[Any, ...]]:
    return [call for call in desk.bridge.calls if call[0] == "answer"]


# ---- the list, commands, ports ----


def test_only_plain_reading_commands_are_folded() -> None:
    texts = ("ls -l", "cat a.txt", "grep x y", "cat a > b", "ls; rm -r x", "head f", "tail $(rm x)")
    one = session(contacts=(), opened=(), command_count=len(texts))
    commands = tuple(command(number, text, float(number)) for number, text in enumerate(texts, 1))
    rows = rows_of(replace(one, commands=commands))
    assert [(row.text, row.note) for row in rows] == [
        ("ls, cat, grep", "3 times"),
        *((text, "") for text in texts[3:]),
    ]
    worse = tuple(replace(each, level="MEDIUM") for each in commands[:3])
    assert len(rows_of(replace(one, commands=worse, command_count=3))) == 3
    opened_rows = rows_of(replace(one, commands=commands), frozenset({1}))
    assert [row.text for row in opened_rows] == list(texts)


def test_a_port_is_carried_and_opened_on_a_click_only(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtGui import QDesktopServices

    seen: list[str] = []

    def open_url(url: QUrl) -> bool:
        seen.append(url.toString())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    bench = Bench(desk, session(ports=((5173, ""),)))
    view, model = bench.page.list.view, bench.page.list.model
    delegate: Any = view.itemDelegate()
    place = delegate.port_of(QRectF(view.visualRect(model.index(0, 0))), model.rows[0])
    QTest.mouseClick(view.viewport(), LEFT, pos=place.topLeft().toPoint() - QPoint(20, 0))
    assert not [call for call in desk.bridge.calls if call[0] == "carry"]
    QTest.mouseClick(view.viewport(), LEFT, pos=QPointF(place.center()).toPoint())
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("carry"))
    assert [call for call in desk.bridge.calls if call[0] == "carry"] == [("carry", NAME, 5173)]
    desk.give("carry", "127.66.1.2:5173")
    assert seen == ["http://127.66.1.2:5173/"]


def test_arrows_go_through_working_copies_and_the_chosen_one_stays(desk: Desk) -> None:
    bench = Bench(desk, session(), *work_scenes.others())
    assert bench.page.shown == NAME
    bench.page.list.view.setFocus()
    bench.key(Qt.Key.Key_Down, bench.page.list.view)
    assert bench.page.shown == "website-9f8e7d"
    desk.bridge.at_work = desk.bridge.at_work[::-1]
    desk.hear((WorkMoved((NAME,)),))
    assert bench.page.shown == "website-9f8e7d" == bench.page.list.current
    assert desk.window.toolbar.state.text().startswith("2 at work")
    desk.bridge.at_work = ()
    desk.hear((WorkMoved((NAME,)),))
    assert bench.page._empty.isVisible() and not bench.page._split.isVisible()


def test_ten_thousand_changes_are_rows_of_a_model(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    gone_through, real = [], ChangeTable.wanted
    monkeypatch.setattr(ChangeTable, "wanted", lambda self, ticked: gone_through.append(1) or real(self, ticked))
    many = ProjectChanges(tuple(changed(f"src/file-{number:05}.py", number) for number in range(10_000)))
    bench = Bench(desk, found=many)
    model = bench.page.changes.model
    assert model.rowCount() == 10_000 and bench.page.changes.apply.text() == "Apply 10,000 changes  A"
    asked = [call for call in desk.bridge.asides if call[0] == "lines"]
    assert len(asked) < 100, "only what is on screen is counted"
    desk.qtbot.waitUntil(lambda: [call[0] for call in desk.bridge.asides].count("findings") == MOST_READ)
    assert len(gone_through) < MOST_READ / 2, "an answer that changes no words goes through no list"


def test_stop_all_ends_programs_at_work_too_and_says_so(desk: Desk) -> None:
    bench = Bench(desk, session())
    assert desk.window.toolbar.stop.isEnabled()
    desk.window.toolbar.stop.click()
    dialog = bench.dialog(ConfirmDialog)
    assert dialog.what == "1 program at work will be ended; the changes stay."
    dialog.yes.click()
    assert ("stop_all",) in desk.bridge.calls


def test_lockdown_says_before_it_ends_programs_at_work(desk: Desk) -> None:
    bench = Bench(desk, session())
    desk.window.overall.ask_lock()
    dialog = bench.dialog(ConfirmDialog)
    assert dialog.what.endswith("1 program at work will be ended; the changes stay.")


def test_deletions_are_said_before_they_are_applied(desk: Desk) -> None:
    bench = Bench(desk, found=ProjectChanges((changed("a.py"), deleted("b.py", 2), deleted("c.py", 3))))
    desk.qtbot.waitUntil(bench.read)
    assert bench.page.changes.said.text() == "2 ticked paths will be deleted from your folder."


# ---- notices ----


def test_where_a_command_ran_is_said() -> None:
    tried = WorkSession("project-1a2b3c", "/p", ("make", "test"), time.time(), sandbox="gVisor")
    end = "\N{RIGHT DOUBLE QUOTATION MARK}"
    assert f"make test{end} in gVisor. " in words.headline(tried)
    assert f"make test{end}. " in words.headline(replace(tried, sandbox=""))


def test_the_end_of_a_program_is_told_with_its_changes(desk: Desk) -> None:
    told: list[str] = []
    desk.window.work.ended.connect(lambda one: told.append(one.name))
    bench = Bench(desk, session())
    desk.bridge.at_work = (session(at_work=False, ended=WorkEnded(time.time(), 0)),)
    desk.hear((WorkMoved((NAME,)),))
    desk.window.work.want_now(NAME)
    desk.qtbot.waitUntil(lambda: bench.answered() and told == [NAME])


# ---- starting ----


def test_the_line_is_shown_for_a_project_and_nothing_starts_by_itself(desk: Desk, tmp_path: Any) -> None:
    desk.window.pages.ask_work()
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, StartDialog))
    assert dialog.message.text() == NO_FOLDER and not dialog.copy.isEnabled()
    project = tmp_path / "it's mine"
    project.mkdir()
    dialog.choose(str(project))
    assert dialog.line.text().startswith(f"cd '{tmp_path}/it'\"'\"'s mine' && ")
    assert " work " in dialog.line.text() and dialog.copy.isEnabled()
    dialog.choose("/etc")
    assert "not a project" in dialog.message.text() and not dialog.copy.isEnabled()
    dialog.reject()


def test_a_terminal_gets_the_command_as_words(tmp_path: Any) -> None:
    made = tmp_path / "xterm"
    made.write_text(f'#!/bin/sh\nshift\nSHELL=/bin/true exec "$@" > "{tmp_path}/out"\n')
    made.chmod(0o755)
    assert terminals.found({"PATH": str(tmp_path)}) == str(made)
    folder_there = tmp_path / "a; touch pwned"
    folder_there.mkdir()
    terminals.start(str(made), str(folder_there), ("/bin/echo", "$(id)"), {"PATH": "/usr/bin:/bin"})
    deadline = time.monotonic() + 30
    while not (tmp_path / "out").exists() or "ended" not in (tmp_path / "out").read_text():
        assert time.monotonic() < deadline
    assert (tmp_path / "out").read_text().startswith("$(id)\n")


# ---- parts of a change, and findings ----

TWO = LineDifference(("@@ -1 +1 @@", "-a", "+b", "@@ -20,2 +20,2 @@", " c", "-d", "+e"), 2, 2)


def two_parts(bench: Bench) -> PartsView:
    """Choose a change of two parts, and return the view with its lines."""
    view: PartsView = bench.page.changes.pane.text
    bench.desk.qtbot.waitUntil(lambda: bench.answered() and view.parts == 2)
    return view


@pytest.fixture
def parted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(work_scenes, "LINES", TWO)
    return Bench(desk)


def test_a_part_is_left_out_by_mouse_and_key_and_ticked_again(parted: Bench) -> None:
    view, model = two_parts(parted), parted.page.changes.model
    QTest.mouseClick(view.viewport(), LEFT, pos=view.box(2).center().toPoint())
    assert model.in_part == {b"a.py": frozenset({1})} and parted.ticked == {"a.py", "b.py", "c.txt"}
    assert parted.page.changes.apply.text() == "Apply 3 changes, 1 in part  A"
    index = model.index(0, 0)
    assert Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.PartiallyChecked
    assert index.data(Qt.ItemDataRole.AccessibleTextRole).startswith("1 of 2 parts ticked, a.py")
    view.setFocus()
    parted.key(Qt.Key.Key_P, view)
    parted.key(Qt.Key.Key_Space, view)
    assert "a.py" not in parted.ticked and not model.in_part, "nothing of it is left"
    parted.key(Qt.Key.Key_N, view)
    parted.key(Qt.Key.Key_Space, view)
    assert model.in_part == {b"a.py": frozenset({2})}
    parted.click_tick(0)
    assert not model.in_part and "a.py" in parted.ticked, "the tick of the row is for all of it"


def test_only_the_ticked_parts_are_applied_and_the_digest_is_of_them(parted: Bench) -> None:
    view = two_parts(parted)
    QTest.mouseClick(view.viewport(), LEFT, pos=view.box(1).center().toPoint())
    parted.rested()
    QTest.mouseClick(parted.page.changes.apply, LEFT)
    bridge = parted.desk.bridge
    parted.desk.qtbot.waitUntil(lambda: bridge.waits("part"))
    assert [call for call in bridge.calls if call[0] == "part"] == [("part", NAME, SMALL.changes[0], frozenset({2}))]
    part = replace(SMALL.changes[0], after=file(4711), text=b"part")
    bridge.give("part", part)
    parted.desk.qtbot.waitUntil(lambda: bool(parted.applied))
    wanted = (part, *SMALL.changes[1:3])
    assert parted.applied == [("apply", NAME, wanted, digest(wanted), {b"a.py": frozenset({2})})]


def test_of_a_change_that_is_another_now_no_part_stays_ticked(parted: Bench) -> None:
    view = two_parts(parted)
    QTest.mouseClick(view.viewport(), LEFT, pos=view.box(1).center().toPoint())
    first, *rest = SMALL.changes
    now = ProjectChanges((replace(first, after=file(88)), *rest))
    parted.moves(now)
    parted.desk.qtbot.waitUntil(lambda: parted.page.changes.model.table == table_of(now))
    assert parted.ticked == {"b.py", "c.txt"} and not parted.page.changes.model.in_part


def test_what_is_merged_or_one_part_has_no_parts(parted: Bench) -> None:
    two_parts(parted)
    pane = parted.page.changes.pane
    merged = changed("b.py", 2, mark="merged with your edit", merged="x")
    assert not table_of(ProjectChanges((merged,))).rows[0].has_parts
    parted.page.changes.view.setCurrentIndex(parted.page.changes.model.index(2, 0))
    parted.desk.qtbot.waitUntil(lambda: parted.answered() and bool(pane._lines))
    assert pane.parts == 0, "a new file is applied whole"


def found_at(line: int, level: Level = Level.CRITICAL) -> AddedFindings:
    return AddedFindings((finding(line, "Deletes <b>keys</b>.", level),))


def test_findings_stand_at_their_lines_in_the_row_and_in_words(desk: Desk) -> None:
    bench = Bench(desk, findings=found_at(12))
    changes = bench.page.changes
    desk.qtbot.waitUntil(lambda: bench.read() and bool(changes.pane._lines))
    text = changes.pane.text.toPlainText().splitlines()
    at = next(number for number, line in enumerate(text) if "chosen = (r for r" in line)
    assert text[at + 1].strip() == "\N{BLACK UP-POINTING TRIANGLE} Critical: Deletes <b>keys</b>."
    assert "1 finding in what it adds, up to CRITICAL" in changes.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "Three of the ticked have findings, up to CRITICAL." in changes.said.text()
    assert bench.ticked == {"a.py", "b.py", "c.txt"}, "findings inform; they tick and leave out nothing"
    assert not [call for call in desk.bridge.calls if call[0] == "findings"]


def test_a_finding_of_no_line_on_screen_stands_first_and_what_is_not_read_is_said(desk: Desk) -> None:
    bench = Bench(desk, findings=replace(found_at(400), not_read="It is too large.", skipped=True))
    changes = bench.page.changes
    desk.qtbot.waitUntil(lambda: bench.read() and bool(changes.pane._lines))
    assert "Critical: line 400: Deletes" in changes.pane.text.toPlainText().splitlines()[0]
    assert "Not read for findings: It is too large." in changes.pane.below.text()
    assert "not read for findings" in changes.said.text()


# ---- apply as it goes ----


def test_applying_as_it_goes_is_switched_on_after_asking_and_off_at_once(desk: Desk) -> None:
    bench = Bench(desk, session())
    goes = bench.page.changes.goes
    assert goes.button.isVisible() and not goes.said.isVisible()
    goes.button.click()
    dialog = bench.dialog(DeliberateDialog)
    assert "by itself" in dialog.what and "not read" in dialog.what
    dialog.reject()
    assert not [call for call in desk.bridge.calls if call[0] == "as_it_goes"]
    goes.button.click()
    bench.dialog(DeliberateDialog).yes.click()
    assert [call for call in desk.bridge.calls if call[0] == "as_it_goes"] == [("as_it_goes", NAME, True)]
    desk.give("as_it_goes", None)
    desk.bridge.at_work = (session(as_it_goes=AsItGoes(time.time(), True)),)
    desk.hear((WorkMoved((NAME,)),))
    assert goes.said.isVisible() and goes.said.text().startswith("Applies as it goes since ")
    row = bench.page.list.view.model().index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "applies as it goes" in row
    goes.button.click()
    assert desk.bridge.calls[-1] == ("as_it_goes", NAME, False)
    desk.bridge.fail("as_it_goes", KnownError("It does not answer."))
    desk.qtbot.waitUntil(lambda: bench.page.changes.said.text() == "Not switched: It does not answer.")
    desk.bridge.at_work = (session(as_it_goes=AsItGoes(time.time(), False, "The disk is full.")),)
    desk.hear((WorkMoved((NAME,)),))
    assert goes.said.text() == "No longer applies as it goes: The disk is full."


def test_what_has_ended_is_not_applied_as_it_goes(desk: Desk) -> None:
    goes = AsItGoes(time.time(), True)
    bench = Bench(desk, session(at_work=False, ended=WorkEnded(time.time(), 0), as_it_goes=goes))
    assert not bench.page.changes.goes.isVisible()


# ---- how far it is ----


def test_applying_says_how_far_it_is_and_is_cancelled_only_before_anything_is_written(bench: Bench) -> None:
    bench.rested()
    QTest.mouseClick(bench.page.changes.apply, LEFT)
    bench.desk.qtbot.waitUntil(lambda: bool(bench.applied))
    progress, bridge = bench.page.changes.progress, bench.desk.bridge
    bridge.progress[NAME] = WriteProgress(1, 3, 30_000_000, 90_000_000)
    progress.look()
    said = bench.page.changes.said
    assert (
        said.text()
        == "Applying 3 changes\N{HORIZONTAL ELLIPSIS} 1 of 3, 30 of 90 MB copied; nothing has been written yet."
    )
    assert progress.cancel.isVisible() and (progress.bar.value(), progress.bar.maximum()) == (30_000, 90_000)
    progress.cancel.click()
    assert ("cancel", NAME) in bridge.calls
    bridge.progress[NAME] = WriteProgress(2, 3, sure=True)
    progress.look()
    assert said.text().endswith(" 2 of 3 done.") and not progress.cancel.isVisible()
    bench.desk.give("apply", Applied(3))
    assert not progress.isVisible() and said.text().startswith("Applied: 3 changes")


def test_in_lockdown_nothing_can_be_applied_or_taken_back_and_the_page_says_why(desk: Desk) -> None:
    bench = Bench(desk, session(at_work=False, ended=WorkEnded(time.time(), 0), can_undo=True))
    bench.rested()
    desk.hear((ModeChanged(Mode.LOCKDOWN.value),))
    changes = bench.page.changes
    assert not changes.apply.isEnabled() and not changes.undo.isEnabled() and changes.discard.isEnabled()
    assert "lockdown" in changes.said.text() and "Guarded" in changes.said.text()
    QTest.mouseClick(changes.apply, LEFT)
    bench.key(Qt.Key.Key_A)
    assert not bench.applying
    desk.hear((ModeChanged(Mode.GUARDED.value),))
    assert changes.apply.isEnabled() and changes.undo.isEnabled() and "lockdown" not in changes.said.text()


def test_what_the_person_changed_meanwhile_is_seen_without_a_press(bench: Bench) -> None:
    first, *others = SMALL.changes
    bench.found = replace(SMALL, changes=(replace(first, conflict="It was changed in the project meanwhile."), *others))
    bench.desk.window.work._not_before.clear()
    QApplication.sendEvent(bench.page.window(), QEvent(QEvent.Type.WindowActivate))
    rows = bench.page.changes.model
    bench.desk.qtbot.waitUntil(lambda: bench.answered() and rows.rows[0].kind is RowKind.CONFLICT)


def test_a_merge_is_not_said_to_be_of_a_file_that_nobody_changed(desk: Desk) -> None:
    merged = changed("a.py", mark="merged with your edit", merged="c" * 64)
    bench = Bench(desk, found=ProjectChanges((merged, changed("b.py", 2))))
    pane = bench.page.changes.pane
    desk.qtbot.waitUntil(lambda: bench.answered() and pane.shown is pane.text)
    assert "nobody else had changed it" not in pane.below.text()
    bench.page.changes.view.setCurrentIndex(bench.page.changes.model.index(1, 0))
    desk.qtbot.waitUntil(lambda: bench.answered() and "nobody else had changed it" in pane.below.text())


def test_what_was_applied_to_the_last_is_not_called_nothing(desk: Desk) -> None:
    one = session(at_work=False, ended=WorkEnded(time.time(), 0), can_undo=True)
    bench = Bench(desk, one, found=ProjectChanges())
    assert ("nothing left", "accent_ink") in bench.page.list.model.rows[0].parts
    desk.qtbot.waitUntil(lambda: bench.page.changes.nothing._title.text() == "Nothing is left to apply")


def test_rows_that_are_left_unticked_are_named(desk: Desk) -> None:
    found = ProjectChanges((changed("a.py"), added(".git/index"), *(added(f"node_modules/{n}", n) for n in range(9))))
    bench = Bench(desk, found=found)
    said = bench.page.changes.said
    desk.qtbot.waitUntil(lambda: bench.answered() and "Not ticked: .git/, node_modules/." in said.text())


def test_what_a_folder_holds_is_written_in_the_colors_of_now(desk: Desk) -> None:
    look = desk.window.commands._look
    look.choose(Theme.LIGHT)
    bench = Bench(desk, found=ProjectChanges(tuple(added(f"node_modules/{number}", number) for number in range(9))))
    text = bench.page.changes.pane.text
    desk.qtbot.waitUntil(lambda: bench.answered() and "node_modules/0" in text.toPlainText())
    look.choose(Theme.DARK)

    def ink() -> str:
        return text.document().firstBlock().begin().fragment().charFormat().foreground().color().name()

    desk.qtbot.waitUntil(lambda: ink() == look.tokens.text.lower())
    look.choose(Theme.LIGHT)
