"""The changes of one working copy: which are ticked, what the chosen one does, and applying, undoing, discarding."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QTimer, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import phrases
from app.link.background import Errands
from app.link.page_tasks import PageTasks
from app.parts.confirm import ConfirmDialog
from app.parts.empty import EmptyState
from app.parts.fold import Folding, Pages, keep_needed_height
from app.parts.plain import plain_label, say
from app.review.buttons import DecisionButton
from app.review.deliberate import DeliberateDialog
from app.review.guard import REST_SECONDS, ClickGuard
from app.review.moved_target import Steady
from app.work import words
from app.work.as_it_goes import AsItGoesSwitch
from app.work.change_list import ChangeView, TickedChanges
from app.work.change_pane import ChangePane
from app.work.change_rows import RUNS_LATER, ChangeTable, RowKind, table_of
from app.work.deed_progress import DeedProgress
from runner.approval.deliberate import ApproveBy
from runner.model.errors import KnownError
from runner.model.translation import numeral, plural, tr
from runner.system.tasks import in_daemon
from runner.work.added import not_read
from runner.workspace.change import How, digest

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Coroutine

    from PySide6.QtGui import QResizeEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.work_cards import WorkCards
    from app.work.change_rows import ChangeRow
    from runner.model.work import WorkSession
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChange, ProjectChanges
    from runner.workspace.undo import WayBack

READING = (tr("Looking at the changes"), tr("This takes a moment where there are many."))
NONE = (tr("Nothing has changed"), tr("What the program changes in its copy of the project is listed here."))
UNREAD = tr("The changes cannot be shown")
NOW = tr("The list shows the changes as they are now; your ticks stay where nothing has changed.")
UNDO_ASKS = tr("The files become again what they were before it was applied.")
DISCARD_ASKS = tr(
    "The working copy is removed with all its changes, and with the way back of what was applied from it. Your folder"
    " stays as it is. This cannot be undone."
)
AT_WORK = tr("Its program is still at work: wait for its end, or end it.")
MOST_NAMED = 3
"""Rows that are named in the sentence below."""
LOCKED = tr("Assent is in lockdown: nothing is written into projects. Choose Guarded to apply or undo.")
NOTHING_LEFT = (
    tr("Nothing is left to apply"),
    tr("What you applied is in your folder; Undo last apply takes it back."),
)
_REST_MS = round(REST_SECONDS * 1000) + 10
_NUMBERS = (
    tr("No"),
    tr("One"),
    tr("Two"),
    tr("Three"),
    tr("Four"),
    tr("Five"),
    tr("Six"),
    tr("Seven"),
    tr("Eight"),
    tr("Nine"),
)


class ChangesCard(QFrame):
    """Applies exactly what is ticked on screen. It follows the working copy; ticks stay where a row is the same."""

    def __init__(self, look: Look, cards: WorkCards, bridge: EngineLink, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._cards = cards
        self._bridge = bridge
        self._name = ""
        self._found: ProjectChanges | None = None
        self._begun = False
        """The list on screen is of the working copy that is shown."""
        self._chosen_key = b""
        self._busy = ""
        """What is being done, in words; '' where nothing is."""
        self._message: tuple[str, str] | None = None
        """What came of something, with its role; None where nothing did."""
        self._is_fresh = False
        """Whether the list has not become another one since that was said."""
        self._serial = 0
        self._counting = False
        self._finding = False
        self._refused = ""
        """Why the last Apply was refused, until the list was read again."""
        self._tasks = PageTasks("changes of work", self)
        self._errands = Errands("changes of work", self)
        self.guard = ClickGuard(self._can_be_answered)
        self.model = TickedChanges(self)
        self.view = ChangeView(look, self.model)
        self.pane = ChangePane(look, bridge)
        self.ticked = plain_label(role="small")
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Search  /"))
        self.field.setClearButtonEnabled(True)
        self.field.setAccessibleName(tr("Search the changes by name"))
        self.nothing = EmptyState(look, "file-code", *READING)
        self.said = plain_label(role="muted", wrap=True)
        self.said.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.progress = DeedProgress(look, bridge)
        self.goes = AsItGoesSwitch(look, bridge)
        self.discard = QPushButton(tr("Discard\N{HORIZONTAL ELLIPSIS}"))
        self.discard.setProperty("kind", "danger")
        self.undo = QPushButton(tr("Undo last apply\N{HORIZONTAL ELLIPSIS}"))
        self.apply = DecisionButton(tr("Apply"), self.guard)
        self.apply.setProperty("kind", "primary")
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._show_state)
        self._steady = Steady((self.apply,), self)
        self._lay_out()
        self._connect()

    # ---- what is shown ----

    def show_session(self, name: str) -> None:
        """Show the changes of another working copy."""
        if name == self._name:
            self.refresh()
            return
        self._name = name
        self._found = None
        self._begun = False
        self._chosen_key = b""
        self._refused = ""
        self._serial += 1
        self.field.clear()
        self.model.begin(ChangeTable())
        self.pane.show_row("", None)
        self._tell("")
        self.rearm()
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Take up the changes as they were read last."""
        session = self._session
        found = self._cards.changes(self._name)
        if found is None or session is None:
            problem = self._cards.problem(self._name) or (session.readable if session is not None else "")
            self.nothing.say(*((UNREAD, phrases.visible(problem)) if problem else READING))
            self._stack.setCurrentWidget(self.nothing)
        elif found is not self._found:
            self._found = found
            self._serial += 1
            self._errands.send(
                partial(table_of, found), partial(self._came, self._serial), partial(self._failed, self._serial)
            )
        self._show_state()

    def _came(self, serial: int, table: ChangeTable) -> None:
        if serial != self._serial:
            return
        if table.rows != self.model.table.rows or not self._begun:
            before = {row.key: row for row in self.model.chosen} if self._begun else None
            (self.model.take if self._begun else self.model.begin)(table)
            after = {row.key: row for row in self.model.chosen}
            if before is not None and before != after:
                # What would be applied is not what it was a moment ago.
                self.rearm()
            if not self._is_fresh:
                # What came of something then must not hide what is to be known of this list.
                self._message = None
            self._is_fresh = False
        if self._refused:
            self._tell(f"{self._refused} {NOW}", "bad")
            self._refused = ""
        self._begun = True
        session = self._session
        self.nothing.say(*(NOTHING_LEFT if session is not None and session.can_undo else NONE))
        self._stack.setCurrentWidget(self._page if table.rows else self.nothing)
        self._choose_again()
        self._show_state()

    def _failed(self, serial: int, error: Exception) -> None:
        if serial == self._serial:
            self.nothing.say(UNREAD, f"{type(error).__name__}: {error}")
            self._stack.setCurrentWidget(self.nothing)

    def _choose_again(self) -> None:
        """Choose the row that was chosen, or the first."""
        if not self.model.rows:
            self.pane.show_row("", None)
            return
        row = self.model.row_of(self._chosen_key)
        self.view.setCurrentIndex(self.model.index(max(0, row), 0))
        self._moved(self.view.currentIndex(), QModelIndex())

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, now: QModelIndex, _before: QModelIndex) -> None:
        if 0 <= now.row() < len(self.model.rows):
            row = self.model.rows[now.row()]
            self._chosen_key = row.key
            self.pane.show_row(self._name, row)
            self._show_parts()
            if (found := self.model.findings(row)) is not None:
                self.pane.show_findings(row, found)

    @Slot()
    def _show_parts(self) -> None:
        """Show which parts of the chosen change are ticked."""
        row = self.model.row_of(self._chosen_key)
        if row >= 0 and self.pane.parts:
            self.pane.show_ticks(self.model.parts(self.model.rows[row], self.pane.parts))

    @Slot(str)
    def _search(self, text: str) -> None:
        self.model.search(text.strip())
        self._choose_again()

    @Slot()
    def seek(self) -> None:
        """Go to the search field."""
        if self._page.isVisible():
            self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.field.selectAll()

    @Slot()
    def _count(self) -> None:
        """Count the lines of the rows on screen, one after the other."""
        if not self._counting and self.isVisible() and self.model.rows:
            self._counting = True
            self._tasks.start("count", self._count_shown())

        if not self._finding and self.isVisible() and self.model.rows:
            self._finding = True
            self._tasks.start("findings", self._find())

    async def _find(self) -> None:
        """Read what changes add, one after the other: the chosen one first, then those on screen, then the others."""
        try:
            while (due := self._next_to_read()) is not None:
                name = self._name
                try:
                    found = await self._bridge.work.findings(name, due.changes[0])
                except KnownError as error:
                    found = not_read(str(error))
                before = self._words_of_findings()
                if name == self._name and self.model.know_findings(due, found):
                    self.pane.show_findings(due, found)
                    # All else that is shown is of ticks and rows: of ten thousand that takes a tenth of a second.
                    if self._words_of_findings() != before:
                        self._show_state()
        finally:
            self._finding = False

    def _next_to_read(self) -> ChangeRow | None:
        row = self.model.row_of(self._chosen_key)
        unread = [*self.model.unread(row, row), None] if row >= 0 else [None]
        return unread[0] or next(self.model.unread(*self.view.on_screen()), None)

    async def _count_shown(self) -> None:
        try:
            while due := self.model.uncounted(*self.view.on_screen()):
                row, name = due[0], self._name
                try:
                    found = await self._bridge.work.lines(name, row.changes[0])
                    said = words.counted_lines(found)
                except KnownError:
                    said = ""
                if name == self._name:
                    self.model.know_count(row, said)
        finally:
            self._counting = False

    # ---- state ----

    @property
    def _session(self) -> WorkSession | None:
        return self._cards.session(self._name)

    @property
    def busy(self) -> bool:
        return bool(self._busy)

    @Slot()
    def rearm(self) -> None:
        """Let nothing be applied for a moment: what is on screen has changed."""
        self.guard.rearm()
        self._rest.start()
        self._show_state()

    def _can_be_answered(self) -> bool:
        self._steady.look()
        return self.isVisible() and self.isActiveWindow()

    @Slot()
    def _show_state(self) -> None:
        session = self._session
        chosen = self.model.chosen
        wanted, whole = len(self.model.table.wanted(chosen)), self.model.table.number
        counted = {"wanted": numeral(wanted), "whole": numeral(whole)}
        ticked = tr("{wanted} of {whole} ticked", **counted) if whole else ""
        if folders := len(self.model.table.folders):  # a new folder has no row
            ticked = plural(
                "{wanted} of {whole} ticked, {count} folder",
                "{wanted} of {whole} ticked, {count} folders",
                folders,
                **counted,
            )
        self.ticked.setText(ticked)
        things = plural("{count} change", "{count} changes", wanted)
        if in_part := len(self.model.in_part):
            things += tr(", {in_part} in part", in_part=numeral(in_part))
        text = tr("Apply {things}  A", things=things) if chosen else tr("Apply  A")
        self.apply.setText(text)
        self.apply.setAccessibleName(f"{text.removesuffix('  A')}, A")
        self.goes.show_session(session)
        free = not self._busy and session is not None
        hidden = self.model.hidden()
        self.apply.mouse_only = self._bridge.decisions.approve_by() is ApproveBy.MOUSE
        locked = self._cards.locked
        self.apply.setEnabled(free and bool(chosen) and not hidden and not self._rest.isActive() and not locked)
        self.undo.setVisible(session is not None and session.can_undo)
        self.undo.setEnabled(free and not locked)
        at_work = session is not None and session.at_work
        self.discard.setEnabled(free and not at_work)
        self.discard.setToolTip(AT_WORK if at_work else tr("Remove the working copy with its changes; asks first"))
        if not self._busy:
            self.progress.end()
        if self._busy:
            text, role = self._busy, "muted"
        elif locked:
            text, role = LOCKED, "warn"
        else:
            text, role = self._message or (self._words(), "muted")
        say(self.said, text, role)
        keep_needed_height(self)

    @Slot(str)
    def _show_progress(self, far: str) -> None:
        say(self.said, f"{self._busy} {far}", "muted")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        keep_needed_height(self)

    def _words(self) -> str:
        """Return what is to be known before anything is applied."""
        if hidden := self.model.hidden():
            return plural(
                "{count} ticked change not shown by the search: clear it to apply.",
                "{count} ticked changes not shown by the search: clear it to apply.",
                hidden,
            )
        rows = self.model.table.rows
        parts = []
        marked = [row for row in rows if row.kind is RowKind.MARKED]
        out = [row for row in marked if row.key not in self.model.ticked]
        if out:
            number = _number(len(out))
            if all(row.tag == RUNS_LATER for row in out):
                said = plural(
                    "{number} file runs something later by itself: look at it before you tick it.",
                    "{number} files run something later by themselves: look at them before you tick them.",
                    len(out),
                    number=number,
                )
            else:
                # A link that leads out, a part of a repository: what it is stands at each.
                said = plural(
                    "{number} change is marked: look at it before you tick it.",
                    "{number} changes are marked: look at them before you tick them.",
                    len(out),
                    number=number,
                )
            parts.append(said)
        elif marked:
            parts.append(
                plural(
                    "{number} of the ticked runs something later.",
                    "{number} of the ticked run something later.",
                    len(marked),
                    number=_number(len(marked)),
                )
            )
        parts += self._words_of_findings()
        merged = sum(row.kind is RowKind.MERGED and row.key not in self.model.ticked for row in rows)
        if merged:
            parts.append(
                plural(
                    "{number} was merged with your edits: look at it before you tick it.",
                    "{number} were merged with your edits: look at them before you tick them.",
                    merged,
                    number=_number(merged),
                )
            )
        left = [row.name for row in rows if row.kind is RowKind.MANY and row.key not in self.model.ticked]
        if left:
            parts.append(tr("Not ticked: {some}.", some=_some(left)))
        conflicts = sum(row.kind is RowKind.CONFLICT for row in rows)
        if conflicts:
            parts.append(
                plural(
                    "{number} was changed in your folder too, and cannot be applied.",
                    "{number} were changed in your folder too, and cannot be applied.",
                    conflicts,
                    number=_number(conflicts),
                )
            )
        gone = sum(one.how is How.DELETED for row in self.model.chosen for one in row.changes)
        if gone:
            parts.append(
                plural(
                    "{count} ticked path will be deleted from your folder.",
                    "{count} ticked paths will be deleted from your folder.",
                    gone,
                )
            )
        session = self._session
        if session is not None and session.at_work and len(parts) < 2:
            parts.append(words.MOVING)
        return " ".join(parts)

    def _words_of_findings(self) -> list[str]:
        """Return what was found in what the ticked changes add, and of how many nobody knows."""
        known = self.model.found_in_chosen()
        worst = [one.worst for one in known if one.worst is not None]
        single = sum(row.is_single for row in self.model.chosen)
        coming = len(known) < single and next(self.model.unread(0, 0), None) is not None
        missing = len(self.model.chosen) - sum(not one.skipped for one in known)
        parts = []
        if worst:
            parts.append(
                plural(
                    "{number} of the ticked has findings, up to {name}.",
                    "{number} of the ticked have findings, up to {name}.",
                    len(worst),
                    number=_number(len(worst)),
                    name=max(worst).name,
                )
            )
        if coming:
            parts.append(tr("What is added is still being read for findings."))
        elif missing:
            parts.append(
                plural(
                    "{number} was not read for findings.",
                    "{number} were not read for findings.",
                    missing,
                    number=_number(missing),
                )
            )
        return parts

    def _tell(self, text: str, role: str = "muted") -> None:
        """Say something in the place of what is to be known; '' says that again."""
        self._message = (text, role) if text else None
        self._is_fresh = True
        self._show_state()

    # ---- applying ----

    @Slot()
    def _apply(self) -> None:
        session, chosen = self._session, self.model.chosen
        if session is None or self._busy or not chosen or self.model.hidden():
            return
        wanted = self.model.table.wanted(chosen)
        in_part = {self.model.row(key).changes[0].path: parts for key, parts in self.model.in_part.items()}
        things = plural("{count} change", "{count} changes", len(wanted))
        by = self._bridge.decisions.approve_by()
        if by not in (ApproveBy.WORD, ApproveBy.PIN):
            self._send(session, wanted, in_part, things, "")
            return
        title = tr("Apply {things}?", things=things)
        what = tr("They are written into {project}, and can be undone.", project=words.home_path(session.project))
        DeliberateDialog(
            self.window(),
            title,
            what,
            tr("Apply"),
            lambda pin: self._send(session, wanted, in_part, things, pin),
            by,
            self._look,
        ).open()

    def _send(
        self,
        session: WorkSession,
        wanted: tuple[ProjectChange, ...],
        in_part: dict[bytes, frozenset[int]],
        things: str,
        pin: str,
    ) -> None:
        if self._busy:
            return

        async def work() -> Applied:
            exactly = []
            for one in wanted:
                parts = in_part.get(one.path)
                exactly.append(one if parts is None else await self._bridge.work.part(session.name, one, parts))
            asked = await in_daemon("digest", lambda: digest(exactly))
            return await self._bridge.work.apply(session.name, tuple(exactly), asked, in_part, pin=pin)

        self._do(tr("Applying {things}…", things=things), session, work(), tr("Applied"), tr("Not applied"), things)

    @Slot()
    def _ask_undo(self) -> None:
        session = self._session
        if session is None or self._busy:
            return
        self._busy = tr("Looking at what can be taken back\N{HORIZONTAL ELLIPSIS}")
        self._show_state()
        answer = self._bridge.work.undo_plan(session.name)

        async def wait() -> None:
            why = ""
            try:
                plan = await answer
                plan.require_some()
                wanted = await in_daemon("digest", lambda: digest(plan.changes))
            except KnownError as error:
                why = tr("Not taken back: {error}", error=phrases.visible(str(error)))
            finally:
                self._busy = ""
            if self._name != session.name:
                return
            self._tell(why, "bad")
            if not why:
                self._confirm_undo(session, plan, wanted)

        self._tasks.start("undo", wait())

    def _confirm_undo(self, session: WorkSession, plan: WayBack, wanted: str) -> None:
        """Ask, once it is known what would be taken back and what would be left."""

        def confirmed(pin: str) -> None:
            if self._busy:
                return
            answer = self._bridge.work.undo(session.name, wanted, pin=pin)
            self._do(
                tr("Taking back\N{HORIZONTAL ELLIPSIS}"),
                session,
                _awaited(answer),
                tr("Taken back"),
                tr("Not taken back"),
                left=words.left_by_undo(plan),
            )

        left = words.left_by_undo(plan)
        number = plural("{count} change", "{count} changes", len(plan.changes))
        title = tr("Take back {number}?", number=number) if left else tr("Take back what was applied last?")
        by = self._bridge.decisions.approve_by()
        DeliberateDialog(
            self.window(), title, f"{UNDO_ASKS} {left}".strip(), tr("Undo"), confirmed, by, self._look
        ).open()

    def _do(
        self,
        what: str,
        session: WorkSession,
        work: Coroutine[object, object, Applied],
        done: str,
        not_done: str,
        things: str = "",
        left: str = "",
    ) -> None:
        """Wait for what is written into the project, and say what came of it."""
        self._busy = what
        self._message = None
        self.progress.begin(session.name)
        self._show_state()

        async def wait() -> None:
            try:
                came = await work
            except KnownError as error:
                text, role = f"{not_done}: {phrases.visible(str(error))}", "bad"
                # What was refused may have been about a list that is not how things are any more.
                self._refused = text if self._name == session.name else ""
            else:
                text, role = words.written(came, session, done, things), "bad" if came.passed_over else "ok"
                text = f"{text} {left}".strip()
            finally:
                self._busy = ""
            if self._name == session.name:
                self._tell(text, role)
            self.rearm()
            self._cards.refresh({session.name})
            self._cards.want_now(session.name)

        self._tasks.start("write", wait())

    @Slot(str)
    def _not_switched(self, why: str) -> None:
        self._tell(why, "bad")

    # ---- discarding ----

    @Slot()
    def _ask_discard(self) -> None:
        session = self._session
        if session is None or self._busy:
            return
        number = len(self._found.changes) if self._found is not None else 0
        what = plural("{count} change", "{count} changes", number) if number else tr("the working copy")
        title = tr("Discard {what} of {title}?", what=what, title=words.title(session))
        ConfirmDialog(self.window(), title, DISCARD_ASKS, tr("Discard"), partial(self._discard, session)).open()

    def _discard(self, session: WorkSession, yes: bool) -> None:
        if not yes or self._busy:
            return
        self._busy = tr("Discarding\N{HORIZONTAL ELLIPSIS}")
        self.progress.begin(session.name)
        self._show_state()
        answer = self._bridge.work.discard(session.name)

        async def wait() -> None:
            text = ""
            try:
                await answer
            except KnownError as error:
                text = tr("Not discarded: {error}", error=phrases.visible(str(error)))
            finally:
                self._busy = ""
            if self._name == session.name:
                self._tell(text, "bad")
            self._cards.refresh({session.name})

        self._tasks.start("discard", wait())

    # ---- building ----

    def _connect(self) -> None:
        self.view.selectionModel().currentChanged.connect(self._moved)
        self.view.resting.connect(self._count)
        self.model.ticked_changed.connect(self._show_state)
        self.model.ticked_changed.connect(self._show_parts)
        self.pane.lines_shown.connect(self._show_parts)
        self.pane.part_toggled.connect(self.model.toggle_part)
        self.model.set_by_hand.connect(self._hush)
        self.field.textChanged.connect(self._search)
        self.field.returnPressed.connect(self.view.setFocus)
        self.apply.decided.connect(self._apply)
        self.undo.clicked.connect(self._ask_undo)
        self.discard.clicked.connect(self._ask_discard)
        self.progress.said.connect(self._show_progress)
        self.goes.failed.connect(self._not_switched)
        self._steady.moved.connect(self.guard.rearm)

    @Slot()
    def _hush(self) -> None:
        """Say again what is to be known, now that a person goes on."""
        self._tell("")

    def watch(self) -> None:
        """Watch where the button is, once all is in its window."""
        self._steady.watch()

    def close_errands(self) -> None:
        self._errands.close()
        self.pane.close_errands()

    def _lay_out(self) -> None:
        px = self._look.px
        self.setProperty("card", True)
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(plain_label(tr("Changes"), "title"))
        head.addWidget(self.ticked, 1)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(6))
        column.addLayout(head)
        column.addWidget(self.field)
        column.addWidget(self.view, 1)
        column.addWidget(self.goes)
        self.ticked.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._page = Folding(self._look, 460, (110, 120))
        self._page.addWidget(left)
        self._page.addWidget(self.pane)
        self._page.setStretchFactor(0, 2)
        self._page.setStretchFactor(1, 3)
        self._page.setSizes([px(320), px(520)])
        left.setMinimumWidth(px(200))
        self._stack = Pages()
        self.view.setMinimumHeight(px(64))
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self._page)
        for button in (self.discard, self.undo):
            button.setAutoDefault(False)
        texts = QVBoxLayout()
        texts.setSpacing(px(4))
        texts.addStretch()
        texts.addWidget(self.said)
        texts.addWidget(self.progress)
        texts.addStretch()
        foot = QHBoxLayout()
        foot.setSpacing(px(8))
        foot.addLayout(texts, 1)
        for part in (self.discard, self.undo, self.apply):
            foot.addWidget(part)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(px(14), px(10), px(14), px(10))
        whole.setSpacing(px(8))
        whole.addWidget(self._stack, 1)
        whole.addLayout(foot)


async def _awaited(answer: Future[Applied]) -> Applied:
    return await answer


def _some(names: list[str]) -> str:
    """Return the first of some names."""
    more = tr(" and {count} more", count=numeral(len(names) - MOST_NAMED)) if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else numeral(count)
