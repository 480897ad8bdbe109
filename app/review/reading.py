"""The parts of a request in tabs, the short ones under its code, which ends were on screen, and the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractScrollArea, QVBoxLayout, QWidget

from app import phrases
from app.packages.view import PlanView
from app.parts.empty import EmptyState
from app.parts.fold import Pages, reveal_end
from app.parts.tabs import WholeTabs
from app.parts.text.code import CodeView
from app.review.changes import ChangesView
from app.review.editor import CodeEditor
from app.review.sent_files import SentFilesView
from app.review.short_parts import ShortParts
from app.state import trials
from app.state.rehearsals import OUTCOME
from runner.model.request import CODE as CODE_PART
from runner.model.request import PACKAGES, SENT, Part
from runner.model.tool_facts import FACTS
from runner.model.translation import plural, tr, translated
from runner.risk.tools.writes import language_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QResizeEvent

    from app.files.panel import FilesView
    from app.look.look import Look
    from app.review.under_review import UnderReview
    from app.state.cards import Card
    from runner.model.rehearsal import Rehearsal
    from runner.model.result import CapturedFile
    from runner.model.tried import Tried

CODE, CHANGES = 0, 1
DETAILS = tr("Details")
"""Name of the last tab, and what its data is: it is no part of the request."""
FILES = tr("Files")
"""Data of the tab with the files that a rehearsal created."""
UNSEEN = tr("(end not seen)")
FOLDED = tr("the folded picture")
"""Stands among the parts of a request while what is said in place of its characters has not been on the screen."""


class ReadingPane(QWidget):
    """Code, changes, variables, input and packages of what is under review; its details where they have no column."""

    seen = Signal()
    """The end of a part has come on the screen."""

    def __init__(self, look: Look, under_review: UnderReview, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._under_review = under_review
        self._files: FilesView | None = None
        self._read_file: Callable[[CapturedFile], bytes] | None = None
        self._seen: set[Part] = set()
        """Variables and input whose end has been on the screen."""
        self.tabs = WholeTabs(self)
        self.tabs.setAccessibleName(tr("Parts of the request"))
        self.code = CodeView(look)
        self.codeless = EmptyState(look, "folder", "", "")
        self.codeless.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.changes = ChangesView(look)
        self.extra = CodeView(look)
        self.extra.setAccessibleName(tr("Variables or input"))
        self.plan = PlanView(look)
        self.sent = SentFilesView(look)
        self.short = ShortParts(look)
        self.editor = CodeEditor(look)
        self._place = Pages(self)
        self._parts = Pages(self._place)
        self.details = QWidget()
        """The place of the details, filled by whoever owns them."""
        place = QVBoxLayout(self.details)
        place.setContentsMargins(0, 0, 0, 0)
        self._detailed = True
        for view in (self.code, self.codeless, self.changes, self.extra, self.plan, self.sent, self.details):
            self._parts.addWidget(view)
        self._place.addWidget(self._parts)
        self._place.addWidget(self.editor)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs)
        column.addWidget(self._place, 1)
        column.addWidget(self.short)
        self.tabs.currentChanged.connect(self._show_part)
        self.code.seen_to_end.connect(self.seen)
        self.extra.seen_to_end.connect(self._extra_seen)
        self.plan.seen_to_end.connect(self._plan_seen)
        self.sent.seen_to_end.connect(self.seen)
        self.short.seen.connect(self._short_seen)

    # ---- what is shown ----

    @property
    def subject(self) -> QWidget:
        """What is looked at before deciding: the code, or in words what is asked for where there is none."""
        shown = self._under_review.shown
        if shown is None or shown.request.code:
            return self.code
        return self.codeless if shown.request.plan is None else self.plan

    def focus(self) -> None:
        """Put the focus on the subject, where no key decides anything."""
        self.subject.setFocus(Qt.FocusReason.OtherFocusReason)

    def open(self, card: Card) -> None:
        """Begin with the tabs of `card`: code and changes always, variables and input where there are any, details."""
        self._seen = set()
        self.tabs.blockSignals(True)
        while self.tabs.count():
            self.tabs.removeTab(0)
        request = card.request
        parts = [part for part in request.parts if part.name != CODE_PART]
        plan = next((part for part in parts if self._is_plan(part)), None)
        if plan is not None and not request.code:
            # What is asked for is the packages: they stand first, and no empty page before them.
            parts.remove(plan)
            self.tabs.setTabData(self.tabs.addTab(plan.name), plan)
        else:
            self.tabs.addTab(translated(FACTS[request.tool].part))
        self.tabs.addTab(tr("Changes"))
        for part in parts:
            self.tabs.setTabData(self.tabs.addTab(phrases.part_name(part.name)), part)
        if request.plan is not None:
            self.plan.show_plan(request.plan, request.domains)
        if self._detailed:
            self._add_details()
        self.tabs.setCurrentIndex(CODE)
        self.tabs.blockSignals(False)
        self.changes.show_asking()
        self._parts.setCurrentWidget(self.subject)
        self.short.show_parts([part for part in parts if part.name != SENT] if request.code and plan is None else ())
        self._fit_short()

    def show_request(self, shown: Card) -> None:
        """Show the code of `shown`, or in words what it asks for."""
        request = shown.request
        language = request.language or language_of("".join(request.files), request.code)
        findings = shown.assessment.findings if shown.assessment else ()
        with QSignalBlocker(self.code):
            # That its end is not seen is said once, by whoever shows the request.
            self.code.set_code(request.code, language or "", findings)
        look_at = shown.assessment.verdict.look_at if shown.assessment else None
        self.code.point_at(look_at.line if look_at is not None else 0)
        self.codeless.say(f"{phrases.title(request)}", translated(FACTS[request.tool].empty))

    def show_sent(self, shown: Card, *, offered: bool) -> None:
        """Show what `shown` would send to another machine, where it does; with `offered` some of it can be ticked."""
        request = shown.request
        if request.sends is None:
            return
        self.sent.show_files(request.sends, request.sent_to, offered=offered)
        part = next(part for part in request.parts if part.name == SENT)
        for tab in range(self.tabs.count()):
            if getattr(self.tabs.tabData(tab), "name", "") == SENT:
                self.tabs.setTabData(tab, part)

    def go_to(self, line: int) -> None:
        """Bring `line` of the code into view, from 1."""
        if self.editing:
            self.editor.go_to(line)
        else:
            self.tabs.setCurrentIndex(CODE)
            self.code.scroll_to(line)

    # ---- what it asked for when it was tried, and the outcome of a rehearsal ----

    def show_tried(self, found: Tried | None) -> None:
        """Have a tab with all that was asked for in a trial; None for none."""
        part = None if found is None else Part(trials.TRIED, trials.text(found))
        tabs = range(self.tabs.count())
        tab = next((tab for tab in tabs if getattr(self.tabs.tabData(tab), "name", "") == trials.TRIED), -1)
        if tab >= 0 and self.tabs.tabData(tab) != part:
            self.tabs.removeTab(tab)
            tab = -1
        if part is not None and tab < 0:
            self.tabs.setTabData(self.tabs.insertTab(CHANGES + 1, trials.TRIED), part)

    def show_outcome(self, outcome: Rehearsal | None) -> None:
        """Have a tab with the outcome of a rehearsal beside those of the request; None for none."""
        tab = self._outcome_tab()
        part = None if outcome is None else Part(OUTCOME, outcome.text)
        if tab >= 0 and self.tabs.tabData(tab) == part:
            return
        if tab >= 0:
            self._seen.discard(self.tabs.tabData(tab))
            self.tabs.removeTab(tab)
        if part is not None:
            self.tabs.setTabData(self.tabs.insertTab(CHANGES + 1, OUTCOME), part)

        self._show_files(outcome)

    def offer_files(self, read: Callable[[CapturedFile], bytes]) -> None:
        """Have a tab for the files of rehearsals from now on; `read` gives the content of one, or raises KnownError."""
        self._read_file = read

    def _show_files(self, outcome: Rehearsal | None) -> None:
        """Have a tab with the files behind that of the outcome, where there are any."""
        tabs = range(self.tabs.count())
        if (tab := next((tab for tab in tabs if self.tabs.tabData(tab) == FILES), -1)) >= 0:
            self.tabs.removeTab(tab)
        if outcome is None or not outcome.result.files or self._read_file is None:
            return
        if self._files is None:
            from app.files.panel import FilesView

            # Nobody has approved what is in them: none is opened before the person chooses it.
            self._files = FilesView(self._look, self._read_file, self._parts, open_first=False)
            self._parts.addWidget(self._files)
        self._files.show_result(outcome.result)
        self.tabs.setTabData(self.tabs.insertTab(self._outcome_tab() + 1, self._files.title), FILES)

    def bring_outcome(self) -> None:
        """Bring the outcome into view."""
        if (tab := self._outcome_tab()) >= 0:
            self.tabs.setCurrentIndex(tab)

    @property
    def outcome_unseen(self) -> bool:
        """Whether the end of the outcome has still to come on the screen."""
        return self.tabs.tabData(self._outcome_tab()) not in self._seen

    def _outcome_tab(self) -> int:
        """Return the place of the tab of the outcome; -1 for none."""
        tabs = range(self.tabs.count())
        return next((tab for tab in tabs if getattr(self.tabs.tabData(tab), "name", "") == OUTCOME), -1)

    # ---- details ----

    def offer_details(self, offered: bool) -> None:
        """Have a tab for the details, or none where they stand beside the code."""
        if offered == self._detailed:
            return
        self._detailed = offered
        if offered and self.tabs.count():
            self._add_details()
        elif not offered and (last := self._details_tab()) >= 0:
            self.tabs.removeTab(last)

    def show_details(self) -> None:
        """Bring the details into view."""
        if (tab := self._details_tab()) >= 0:
            self.tabs.setCurrentIndex(tab)

    def _add_details(self) -> None:
        self.tabs.setTabData(self.tabs.addTab(DETAILS), DETAILS)

    def _details_tab(self) -> int:
        """Return the place of the tab of the details; -1 for none."""
        last = self.tabs.count() - 1
        return last if last > CHANGES and self.tabs.tabData(last) == DETAILS else -1

    def _fit_short(self) -> None:
        """Show short parts under the code where they fit, and have no tab for them then."""
        fits = self.short.fit(self.width(), self.height())
        for tab in range(self.tabs.count()):
            if self.tabs.tabData(tab) in self.short.parts and self.tabs.isTabVisible(tab) is fits:
                if fits and self.tabs.currentIndex() == tab:
                    self.tabs.setCurrentIndex(CODE)
                self.tabs.setTabVisible(tab, not fits)
        wanted = fits and self.tabs.currentIndex() <= CODE
        if self.short.isHidden() is wanted:
            self.short.setVisible(wanted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_short()

    @Slot(object)
    def _short_seen(self, part: Part) -> None:
        """Count it where the part is still one of the request on screen: the news comes a moment later."""
        shown = self._under_review.shown
        if part in self.short.parts and shown is not None and part in shown.request.parts:
            self._seen.add(part)
            self.seen.emit()

    @Slot(int)
    def _show_part(self, tab: int) -> None:
        self._fit_short()
        part = self.tabs.tabData(tab)
        if tab <= CHANGES:
            self._parts.setCurrentWidget(self.subject if tab <= CODE else self.changes)
        elif part == DETAILS:
            self._parts.setCurrentWidget(self.details)
        elif part == FILES and self._files is not None:
            self._parts.setCurrentWidget(self._files)
        elif self._is_plan(part):
            self._parts.setCurrentWidget(self.plan)
        elif part is not None and part.name == SENT:
            self._parts.setCurrentWidget(self.sent)
        elif part is not None:
            self.extra.set_code(part.text, "", ())
            self.extra.setAccessibleName(
                f"{phrases.part_name(part.name)}, {plural('{count} line', '{count} lines', self.extra.line_count)}"
            )
            self._parts.setCurrentWidget(self.extra)

    def _is_plan(self, part: Part | str) -> bool:
        """Return whether `part` is shown as the rows of a plan."""
        shown = self._under_review.shown
        return (
            not isinstance(part, str) and part.name == PACKAGES and shown is not None and shown.request.plan is not None
        )

    # ---- the editor in the place of the parts ----

    @property
    def editing(self) -> bool:
        return self._place.currentWidget() is self.editor

    def edit(self) -> None:
        """Put the editor in the place of the parts."""
        self.tabs.setCurrentIndex(CODE)
        self._place.setCurrentWidget(self.editor)

    def read(self) -> None:
        """Put the parts back in their place."""
        self._place.setCurrentWidget(self._parts)

    # ---- what has been seen ----

    def look_further(self, name: str) -> None:
        """Show the part called `name`, or one page more of it where it is on screen."""
        if name == FOLDED:
            self.go_to(self.code.unread_fold)
            return
        tabs = range(self.tabs.count())
        tab = next((tab for tab in tabs if getattr(self.tabs.tabData(tab), "name", "") == name), CODE)
        if tab != self.tabs.currentIndex():
            self.tabs.setCurrentIndex(tab)
        elif isinstance(view := self._shown_part(), CodeView) and not view.wrapped:
            view.wrap(True)  # what lies beyond the edge is not seen by scrolling down
        elif isinstance(view, QAbstractScrollArea):
            reveal_end(view)
            bar = view.verticalScrollBar()
            bar.setValue(bar.value() + max(1, bar.pageStep() - bar.singleStep()))

    def _shown_part(self) -> QWidget | None:
        """Return the view that scrolls what is on screen."""
        view = self._parts.currentWidget()
        return self.sent.list if view is self.sent else view

    @property
    def unseen(self) -> list[str]:
        """Names of the parts whose end has not been on the screen."""
        shown = self._under_review.shown
        if shown is None:
            return []
        unseen = [part.name for part in shown.request.parts if not self._is_seen(part)]
        return unseen if CODE_PART in unseen or not self.code.unread_fold else [*unseen, FOLDED]

    def _is_seen(self, part: Part) -> bool:
        if part.name == SENT:
            return self.sent.is_seen_to_end
        return self.code.is_seen_to_end if part.name == CODE_PART else part in self._seen

    @Slot(bool)
    def _extra_seen(self, to_end: bool) -> None:
        """Count this for the part on screen alone: another one begins with its end unseen."""
        part = self.tabs.tabData(self.tabs.currentIndex())
        others = self.tabs.currentIndex() <= CHANGES or isinstance(part, str) or part.name == SENT
        if to_end and self.extra.is_seen_to_end and not others and not self._is_plan(part):
            self._seen.add(part)
            self.seen.emit()

    @Slot(bool)
    def _plan_seen(self, to_end: bool) -> None:
        part = self.tabs.tabData(self.tabs.currentIndex())
        if to_end and part is not None and self._is_plan(part):
            self._seen.add(part)
            self.seen.emit()

    def mark_unseen(self, card: Card, painted: bool) -> None:
        """Say on each tab while its end has still to be looked at; on that of the code once it has been `painted`."""
        unseen = self.unseen if card.waiting or card.missed else []
        unseen += [OUTCOME] if card.waiting and self.outcome_unseen else []
        for tab in range(self.tabs.count()):
            part = self.tabs.tabData(tab)
            if isinstance(part, str):
                continue
            name = part.name if part is not None else CODE_PART if tab == CODE else ""
            words = phrases.part_name(part.name) if part is not None else translated(FACTS[card.request.tool].part)
            if not name:
                continue
            if name in unseen and (painted or name != CODE_PART):
                words = f"{words} {UNSEEN}"
            if self.tabs.tabText(tab) != words:
                self.tabs.setTabText(tab, words)
