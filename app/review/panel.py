"""One request under review, and the answers to it: deny with a reason, or approve once exactly what is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from app import phrases
from app.parts.amounts import counted
from app.parts.code import CodeView
from app.parts.empty import EmptyState
from app.parts.fold import Folding
from app.parts.notice import Notice, Tone
from app.parts.order import tab_in_reading_order
from app.review import approval
from app.review.changes import ChangesView, sums
from app.review.editor import CodeEditor, can_edit
from app.review.facts import Facts
from app.review.foot import Foot
from app.review.guard import REST_SECONDS, ClickGuard
from app.review.header import Header
from app.review.interest import Interest
from app.review.limits import LimitsSection
from app.review.steady import Steady
from runner.approval.draft import Draft
from runner.approval.editing import Earlier, Version
from runner.model.decision import Decider
from runner.model.events import (
    ApprovalArmed,
    ApprovalSpent,
    EngineTroubled,
    RequestAssessed,
    RequestDecided,
    RunFinished,
    TroubleCleared,
)
from runner.model.request import CODE as CODE_PART
from runner.model.request import Tool
from runner.risk.writes import language_of

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from app.bridge import Bridge
    from app.cards import Card, Cards
    from app.look.look import Look
    from runner.model.events import Event
    from runner.model.request import Limits, Part

HOLD_WORDS = "Hold the button for a second, or hold Ctrl+Shift+A."
LATER_WORDS = "Missed. If you approve, nothing runs until the agent sends exactly this again within 10 minutes."
ASSESSING = "Assessing your version\N{HORIZONTAL ELLIPSIS}"
UNFINISHED = "One of the limits is not a number that can be taken."
COMPARING_MS = 100
"""On screen before an earlier version is looked for."""
CODE, CHANGES = 0, 1
FIRST = {Tool.CODE_EXECUTE: CODE_PART, Tool.CODE_WRITE_FILE: "Content"}
"""Names of the first tab; that of every other tool is "Request"."""
UNSEEN = "(end not seen)"
WITHOUT_CODE = {
    Tool.CODE_WRITE_FILE: "The file would be empty.",
    Tool.CODE_READ_FILE: "The agent gets what the file holds. No code runs.",
    Tool.CODE_LIST_FILES: "The agent gets the names and sizes of the files. No code runs.",
    Tool.CODE_CREATE_SANDBOX: "An empty sandbox without network. No code runs.",
    Tool.CODE_DESTROY_SANDBOX: "The sandbox and everything in it are removed.",
}
_REST_MS = round(REST_SECONDS * 1000) + 10
"""A little longer than the guard rests: a button that looks ready takes the click."""
_ANY_WIDTH = (1 << 24) - 1


class ReviewPanel(QFrame):
    """Shows one card at a time. Answers carry the digest of what is on screen, and nothing else's."""

    answered = Signal(str)
    """The person's answer to this request has been recorded: time for the next."""
    remember_wanted = Signal()
    """What is on screen is to be remembered; that answers nothing."""
    move_on = Signal()
    """The person is through with a request that is over."""

    def __init__(self, cases: Cards, bridge: Bridge, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._card: Card | None = None
        self._draft: Card | None = None
        """The card with the person's version in it, once that has been assessed."""
        self._earlier: Earlier | None = None
        self._sent = self._invited = self._finishing = False
        self._assessing: Version | None = None
        """What is being assessed; one at a time."""
        self._limits: Limits | None = None
        """Those that the person chose; None for the request's own."""
        self._looked = ""
        """The request whose countdown this panel has paused."""
        self._hint = ""
        self._seen: set[Part] = set()
        """Variables and input whose end has been on the screen."""
        self.guard = ClickGuard(self._can_be_answered)
        self.setProperty("card", True)
        self.header = Header(look)
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Parts of the request")
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.code = CodeView(look)
        self.codeless = EmptyState(look, "folder", "", "")
        self.codeless.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.changes = ChangesView(look)
        self.extra = CodeView(look)
        self.extra.setAccessibleName("Variables or input")
        self.editor = CodeEditor(look)
        self.facts = Facts(look)
        self.limits = LimitsSection(look)
        # What a person may change stands above what is the same each time.
        self.facts.column.insertWidget(self.facts.column.count() - 2, self.limits)
        self.told = Notice(look, Tone.WARN, "", closable=True)
        self._page = QWidget()
        self._make_foot()
        self._steady = Steady((self.deny, self.approve), self)
        self.nothing = EmptyState(look, "shield-check", "Nothing to review", "The next request opens here.")
        self.nothing.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setTimerType(Qt.TimerType.PreciseTimer)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._show_state)
        # Who steps through many waits for none of their histories.
        self._comparing = QTimer(self)
        self._comparing.setSingleShot(True)
        self._comparing.setInterval(COMPARING_MS)
        self._comparing.timeout.connect(self._ask_earlier)
        self._lay_out()
        self._interest = Interest(self)
        self._connect()
        tab_in_reading_order(self)
        self.clear()

    # ---- what is shown ----

    @property
    def card(self) -> Card | None:
        return self._card

    @property
    def shown(self) -> Card | None:
        """What would run: the card, or the person's version of it."""
        return self._draft or self._card

    @property
    def editing(self) -> bool:
        return self.foot.currentWidget() is self.foot.editing

    def show_card(self, card: Card) -> None:
        """Put `card` on screen; answers to it count after the guard's rest. The focus stays where it is."""
        if card is self._card:
            return
        focused = self._has_focus_inside()
        self._forget()
        self._card = card
        self.told.hide()
        self._show_tabs(card)
        self._leave(focused)
        self._show_subject()
        self._stack.setCurrentWidget(self._page)
        self._comparing.start()
        self.rearm()

    def clear(self) -> None:
        """Nothing is under review."""
        self._forget()
        self._card = None
        self._stack.setCurrentWidget(self.nothing)
        self._leave(False)
        self.rearm()

    def invite(self) -> None:
        """A key for a request that was not on screen has brought it here: ask, and decide nothing."""
        self._invited = True
        self._show_state()

    @property
    def _unseen(self) -> list[str]:
        """Names of the parts whose end has not been on the screen."""
        shown = self.shown
        return [] if shown is None else [part.name for part in shown.request.parts if not self._is_seen(part)]

    def _is_seen(self, part: Part) -> bool:
        return self.code.is_seen_to_end if part.name == CODE_PART else part in self._seen

    @property
    def subject(self) -> QWidget:
        """What is looked at before deciding: the code, or in words what is asked for where there is none."""
        shown = self.shown
        return self.code if shown is None or shown.request.code else self.codeless

    def focus_neutral(self) -> None:
        """Put the focus where no key decides anything."""
        target = self.subject if self._card is not None else self.nothing
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _forget(self) -> None:
        """Nothing of what was done with one request counts for the next."""
        self._draft = self._earlier = None
        self._sent = self._invited = self._finishing = False
        self._assessing = self._limits = None
        self._looked = self._hint = ""
        self._seen = set()

    def _can_be_answered(self) -> bool:
        """Asked at every press: a move that nobody has been told of yet is told first."""
        self._steady.look()
        return self.isVisible() and self.isActiveWindow()

    @Slot()
    def rearm(self) -> None:
        """Ignore input for a moment: a prompt appeared, changed, or the window was activated."""
        self.guard.rearm()
        self._rest.start()
        self._show_state()

    # ---- answers ----

    @property
    def can_approve(self) -> bool:
        """Whether the key of Approve stands for something, at once or in a moment."""
        return self.approve.isVisible() and not self._sent

    def press_approve(self) -> bool:
        """The key of Approve: never enough where the button is to be held. False where it came too early to count."""
        self._hint = ""
        return not self._rest.isActive() and self.approve.press_key()

    def press_deny(self) -> None:
        """The key of Deny: asks for the reason. That decides nothing, so it counts while the guard rests as well."""
        if self._card is not None and self._card.waiting and not self._sent and self.deny.isVisible():
            self._ask_reason()

    @Slot()
    def press_remember(self) -> None:
        """The button or its key: opens a dialog and answers nothing."""
        card = self._card
        if card is None or self._sent or not self.remember.isVisible():
            return
        if not approval.never_remembered(card, self._why_not(self.shown or card)):
            self.remember_wanted.emit()

    def hint(self, words: str) -> None:
        """Say `words` before what is said of the request, until a key counts or another request is shown."""
        self._hint = words
        self._show_state()

    @Slot()
    def press_edit(self) -> None:
        """The button or its key: the code can be changed in its place."""
        if self.edit.isEnabled() and self.edit.isVisible():
            self._begin_edit()

    @Slot()
    def press_limits(self) -> None:
        """The key of the limits: they can be changed in their place."""
        if self._card is not None and self._card.waiting and not self._sent:
            self.limits.open()

    @Slot()
    def _approve(self) -> None:
        card, shown = self._card, self.shown
        if card is None or shown is None or self._sent or self.editing or self._why_not(shown):
            return
        self._sent = True
        self._show_state()
        if card.missed:
            self._bridge.arm(card.id, card.digest)
        elif shown is not card:
            version = Version(shown.request.code, shown.request.limits)
            self._bridge.approve_edited(card.id, card.digest, version, shown.digest)
        else:
            self._bridge.approve(card.id, card.digest)

    @Slot(str)
    def _deny(self, reason: str) -> None:
        card = self._card
        if card is None or self._sent or not card.waiting:
            return
        self._sent = True
        self._leave(True)
        self._show_state()
        self._bridge.deny(card.id, card.digest, reason)

    @Slot()
    def _ask_reason(self) -> None:
        self._hint = ""
        self._look_at()
        self.foot.setCurrentWidget(self.denial)
        self.denial.open()

    @Slot()
    def _back(self) -> None:
        self._leave(True)

    def _leave(self, focus: bool) -> None:
        """Back to the buttons and the code, from the reason or the editor."""
        self._code_place.setCurrentWidget(self._reading)
        self.foot.setCurrentWidget(self.foot.buttons)
        if focus:
            self.subject.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(str, str)
    def declined(self, request_id: str, why: str) -> None:
        """The engine did not take the answer."""
        if self._card is None or self._card.id != request_id:
            return
        self._sent = False
        self._tell(why)
        self.rearm()

    @Slot(str)
    def failed(self, why: str) -> None:
        """Something asked for could not be done; an answer under way did not arrive."""
        if self._sent and self._card is not None:
            self.declined(self._card.id, why)

    @Slot()
    def _go_on(self) -> None:
        card = self._card
        if card is not None and card.missed and card.armed is None:
            self._cases.dismiss(card.id)
        self.move_on.emit()

    @Slot()
    def _look_at(self) -> None:
        """Any interaction pauses the countdown (console.md, *Deciding*)."""
        card = self._card
        if card is not None and card.waiting and not card.paused and self._looked != card.id:
            self._looked = card.id
            self._bridge.look_at(card.id)

    # ---- a person's version ----

    def _begin_edit(self) -> None:
        shown = self.shown
        if shown is None or not shown.waiting or self._sent:
            return
        if why_not := can_edit(shown.request.code):
            self._tell(why_not)
            return
        self._look_at()
        self.tabs.setCurrentIndex(CODE)
        self._code_place.setCurrentWidget(self.editor)
        self.foot.setCurrentWidget(self.foot.editing)
        self.editor.open(shown.request.code)
        self.editor.show_findings(shown.assessment.findings if shown.assessment else ())
        self._say_of_edit()

    @Slot()
    def _edited(self) -> None:
        """After a pause in typing, or at other limits: assess it, unless something is being assessed already."""
        card = self._card
        if card is None or not card.waiting or self._sent or self._assessing is not None:
            return
        wanted = self._wanted(card)
        if wanted == Version(card.request.code, card.request.limits):
            self._take_draft(None)
        else:
            self._assessing = wanted
            self._bridge.draft(card.id, wanted)
            self._say_of_edit()

    def _wanted(self, card: Card) -> Version:
        """What the person has made of the request by now."""
        shown = self._draft or card
        code = self.editor.code if self.editing else shown.request.code
        return Version(code, self._limits or card.request.limits)

    @Slot(str, object, object)
    def _drafted(self, request_id: str, version: Version, found: object) -> None:
        card = self._card
        if card is None or card.id != request_id or version != self._assessing:
            return
        self._assessing = None
        if not card.waiting:
            return
        if self._wanted(card) != version:
            self._edited()
        elif isinstance(found, Draft):
            self._take_draft(found)
        else:
            self._finishing = False
            self._refuse_draft(str(found))

    def _refuse_draft(self, why: str) -> None:
        """There is no such version: the limits go back to what is shown, the code is the person's to mend."""
        card = self._card
        if self.editing or card is None:
            self.foot.say_of_edit(why, False)
            return
        self._limits = self._draft.request.limits if self._draft else None
        self._tell(why)
        self._show_facts(self._draft or card)
        self.rearm()

    @Slot(object)
    def _limit(self, limits: Limits) -> None:
        """Other limits: what is on screen is no longer what would run, until that has been assessed."""
        card = self._card
        if card is None or not card.waiting or self._sent:
            return
        self._look_at()
        self._limits = None if limits == card.request.limits else limits
        self.rearm()
        self._edited()

    def _take_draft(self, found: Draft | None) -> None:
        """From here on header, digest, badge and facts are those of the person's version."""
        card = self._card
        assert card is not None
        self._draft = None
        if found is not None:
            self._draft = replace(
                card,
                request=found.request,
                digest=found.request.digest,
                assessment=found.assessment,
                blocked=found.blocked,
                original=card.request,
            )
        shown = self._draft or card
        if not self.editing:
            self.header.show_card(shown)
            self._show_facts(shown)
            self.rearm()
            return
        self.header.show_card(shown)
        self._show_facts(shown)
        self.editor.show_findings(shown.assessment.findings if shown.assessment else ())
        self._say_of_edit()
        if self._finishing:
            self._end_edit()

    def _say_of_edit(self) -> None:
        shown = self.shown
        assert shown is not None
        if not self.editing:
            self._show_state()
        elif self._assessing is not None or shown.request.code != self.editor.code:
            self.foot.say_of_edit(ASSESSING, False)
        elif shown is self._card:
            self.foot.say_of_edit("Nothing has been changed.", True)
        elif shown.blocked:
            self.foot.say_of_edit(shown.blocked, True)
        else:
            found = counted(len(shown.assessment.findings), "finding") if shown.assessment else ""
            level = shown.level.name if shown.level else ""
            self.foot.say_of_edit(f"Your version: {level}, {found}. You see it as a whole before you approve.", True)

    @Slot()
    def _typing(self) -> None:
        if self.editing:
            self._say_of_edit()

    @Slot()
    def _finish_edit(self) -> None:
        """Done: at once where the newest version has been assessed, else as soon as it has been."""
        shown = self.shown
        if not self.editing or shown is None:
            return
        if shown.request.code == self.editor.code and self._assessing is None:
            self._end_edit()
        else:
            self._finishing = True
            self._edited()

    @Slot()
    def _discard_edit(self) -> None:
        self._draft = self._limits = self._assessing = None
        self._end_edit()

    def _end_edit(self) -> None:
        self._finishing = False
        self._leave(True)
        self._show_subject()
        self.rearm()

    # ---- what happens meanwhile ----

    @Slot(object)
    def take(self, events: tuple[Event, ...]) -> None:
        """Follow what becomes of the request on screen."""
        card = self._card
        if card is None:
            return
        for event in events:
            match event:
                case RequestDecided(request_id, decision) if request_id == card.id:
                    self._decided(card, decision.by is Decider.PERSON)
                    return
                case RequestAssessed(request_id) if request_id == card.id:
                    self._show_subject()
                    self.rearm()
                case ApprovalArmed(request_id) | ApprovalSpent(request_id) if request_id == card.id:
                    self._sent = False
                    self._show_state()
                case RunFinished(request_id) if request_id == card.id:
                    self._show_state()
                case EngineTroubled() | TroubleCleared():
                    self._show_state()
                case _:
                    pass
        if self._draft is not None:
            self._draft.deadline, self._draft.window, self._draft.paused = card.deadline, card.window, card.paused
        self.header.show_card(self._draft or card)

    def _decided(self, card: Card, by_person: bool) -> None:
        changed = self.editing or self._draft is not None
        mine, self._sent, self._draft = self._sent and by_person, False, None
        self._limits = self._assessing = None
        self._leave(self._has_focus_inside())
        if changed:
            self._show_subject()
        else:
            self._show_facts(card)
        self.header.show_card(card)
        # An expired request can be approved for later at the same place: not by a click meant for now.
        self.rearm()
        if mine:
            self.answered.emit(card.id)

    @Slot()
    def _sandbox_known(self) -> None:
        if (shown := self.shown) is not None:
            self._show_facts(shown)

    def _show_facts(self, shown: Card) -> None:
        card = self._card
        assert card is not None
        self.facts.show_card(shown, self._cases.sandbox)
        allowed = self._bridge.bounds(card.request) if card.waiting and not self._sent else {}
        self.limits.offer(card, shown, allowed)

    @Slot()
    def _ask_earlier(self) -> None:
        if self._card is not None:
            self._bridge.ask_earlier(self._card.id)

    @Slot(str, object)
    def _earlier_known(self, request_id: str, earlier: Earlier | None) -> None:
        if self._card is None or self._card.id != request_id:
            return
        self._earlier = earlier
        findings = self._card.assessment.findings if self._card.assessment else ()
        self.changes.show_earlier(earlier, findings)
        self.tabs.setTabText(CHANGES, f"Changes {sums(earlier)}".strip())

    # ---- painting the state ----

    def _why_not(self, shown: Card) -> str:
        if shown.waiting and self._assessing is not None:
            return ASSESSING
        if shown.waiting and not self.limits.whole:
            return UNFINISHED
        return approval.why_not(shown, self._unseen, self._cases.troubles)

    @Slot()
    def _show_state(self) -> None:
        """Buttons and the sentence beside them."""
        card, shown = self._card, self.shown
        if card is None or shown is None:
            return
        self._mark_unseen(card)
        why_not = self._why_not(shown)
        open_, resting = card.waiting or card.missed, self._rest.isActive()
        holding = open_ and approval.needs_holding(shown)
        self.foot.say(f"{self._hint} {self._sentence(shown, why_not, holding)}".strip())
        free = not self._sent and not resting
        self.approve.setEnabled(not why_not and free)
        self.approve.set_holding(holding)
        keys = "Hold Ctrl+Shift+A" if holding else "A"
        self.approve.setToolTip(why_not or f"{keys}. Exactly this: sha256 {shown.digest}")
        self.approve.setAccessibleDescription(self.sentence.text())
        self.approve.setText(approval.button_words(shown, holding))
        self.approve.setVisible(open_ and card.armed is None)
        self.deny.setEnabled(card.waiting and free)
        self.deny.setVisible(card.waiting)
        self.edit.setEnabled(card.waiting and not self._sent)
        self.edit.setVisible(card.waiting and bool(card.request.code))
        never = approval.never_remembered(card, why_not)
        self.remember.setVisible(card.waiting and shown is card)
        self.remember.setEnabled(not never and free)
        self.remember.setToolTip(never or "Do not ask for this again for a while (R)")
        self.remember.setAccessibleDescription(never)
        self.next.setVisible(not card.waiting)
        self.next.setText(self._next_words(card))

    def _sentence(self, shown: Card, why_not: str, holding: bool) -> str:
        if self._sent:
            return "Recording your answer\N{HORIZONTAL ELLIPSIS}"
        if self._rest.isActive() and self._unseen and (shown.waiting or shown.missed):
            # Whether it fits is known once it has been painted.
            return shown.blocked
        words = why_not or (LATER_WORDS if shown.missed else HOLD_WORDS if holding else "")
        return f"Approve? {words}".strip() if self._invited and shown.waiting and not why_not else words

    def _next_words(self, card: Card) -> str:
        if card.missed and card.armed is None:
            return "Dismiss"
        return "Next  J" if self._cases.count_waiting() else "Close"

    def _show_tabs(self, card: Card) -> None:
        """Code and changes always; variables and input decide as well, where there are any."""
        self.tabs.blockSignals(True)
        while self.tabs.count():
            self.tabs.removeTab(0)
        self.tabs.addTab(FIRST.get(card.request.tool, "Request"))
        self.tabs.addTab("Changes")
        for part in card.request.parts:
            if part.name != CODE_PART:
                self.tabs.setTabData(self.tabs.addTab(part.name), part)
        self.tabs.setCurrentIndex(CODE)
        self.tabs.blockSignals(False)
        self.changes.show_asking()
        self._reading.setCurrentWidget(self.subject)

    def _show_subject(self) -> None:
        """Header, code and facts of what would run."""
        shown = self.shown
        if shown is None:
            return
        self.header.show_card(shown)
        request = shown.request
        language = request.language or language_of("".join(request.files), request.code)
        self.code.set_code(request.code, language or "", shown.assessment.findings if shown.assessment else ())
        self.codeless.say(f"{phrases.title(request)}", WITHOUT_CODE.get(request.tool, ""))
        self.limits.setVisible(request.tool in (Tool.CODE_EXECUTE, Tool.CODE_CREATE_SANDBOX))
        self._show_facts(shown)

    @Slot(int)
    def _show_part(self, tab: int) -> None:
        if tab > CHANGES:
            part = self.tabs.tabData(tab)
            self.extra.set_code(part.text, "", ())
            self.extra.setAccessibleName(f"{part.name}, {counted(self.extra.line_count, 'line')}")
        self._reading.setCurrentWidget(self.subject if tab <= CODE else self.changes if tab == CHANGES else self.extra)

    @Slot(bool)
    def _extra_seen(self, to_end: bool) -> None:
        """Counts for the part on screen alone: another one begins with its end unseen."""
        if to_end and self.extra.is_seen_to_end and self.tabs.currentIndex() > CHANGES:
            self._seen.add(self.tabs.tabData(self.tabs.currentIndex()))
            self._show_state()

    def _mark_unseen(self, card: Card) -> None:
        """Each tab says it while its end has still to be looked at; the code's once it has been painted."""
        open_ = card.waiting or card.missed
        unseen = self._unseen if open_ else []
        for tab in range(self.tabs.count()):
            part = self.tabs.tabData(tab)
            name = part.name if part is not None else CODE_PART if tab == CODE else ""
            words = part.name if part is not None else FIRST.get(card.request.tool, "Request")
            if not name:
                continue
            if name in unseen and not (tab == CODE and self._rest.isActive()):
                words = f"{words} {UNSEEN}"
            if self.tabs.tabText(tab) != words:
                self.tabs.setTabText(tab, words)

    @Slot(int)
    def _go_to(self, line: int) -> None:
        if self.editing:
            self.editor.go_to(line)
        else:
            self.tabs.setCurrentIndex(CODE)
            self.code.scroll_to(line)

    @Slot()
    def _reveal_limits(self) -> None:
        """Once they have been laid out."""
        QTimer.singleShot(0, self, lambda: self.facts.ensureWidgetVisible(self.limits, 0, 0))

    def _tell(self, why: str) -> None:
        self.told.say(Tone.WARN, why)
        self.told.show()

    # ---- building ----

    def _make_foot(self) -> None:
        self.foot = Foot(self._look, self.guard, self._page)
        self.sentence, self.edit, self.next = self.foot.sentence, self.foot.edit, self.foot.next
        self.deny, self.approve, self.denial = self.foot.deny, self.foot.approve, self.foot.denial
        self.remember: QPushButton = self.foot.remember

    def _lay_out(self) -> None:
        px = self._look.px
        self._reading = QStackedWidget()
        for view in (self.code, self.codeless, self.changes, self.extra):
            self._reading.addWidget(view)
        self._code_place = QStackedWidget()
        self._code_place.addWidget(self._reading)
        self._code_place.addWidget(self.editor)
        left = QWidget()
        middle = QVBoxLayout(left)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        middle.addWidget(self.tabs)
        middle.addWidget(self._code_place, 1)
        self.split = Folding(self._look, 430, (200, 170))
        self.split.turned.connect(self._fit_facts)
        self.split.addWidget(left)
        self.split.addWidget(self.facts)
        self.split.setStretchFactor(0, 1)
        self.split.setStretchFactor(1, 0)
        foot = QVBoxLayout()
        foot.setContentsMargins(px(14), px(8), px(12), px(10))
        foot.setSpacing(px(8))
        foot.addWidget(self.told)
        foot.addWidget(self.foot)
        column = QVBoxLayout(self._page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.split, 1)
        column.addLayout(foot)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self._page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(1, 1, 1, 1)
        whole.addWidget(self._stack)

    def _connect(self) -> None:
        self.approve.decided.connect(self._approve)
        self._steady.moved.connect(self.rearm)
        self._interest.shown.connect(self._look_at)
        self.deny.decided.connect(self._ask_reason)
        self.remember.clicked.connect(self.press_remember)
        self.next.clicked.connect(self._go_on)
        self.denial.denied.connect(self._deny)
        self.denial.back.connect(self._back)
        self.foot.edit_wanted.connect(self.press_edit)
        self.foot.edit_done.connect(self._finish_edit)
        self.foot.edit_discarded.connect(self._discard_edit)
        self.editor.textChanged.connect(self._typing)
        self.editor.changed.connect(self._edited)
        self.editor.done.connect(self._finish_edit)
        self.editor.discarded.connect(self._discard_edit)
        self.code.seen_to_end.connect(self._show_state)
        self.extra.seen_to_end.connect(self._extra_seen)
        self.tabs.currentChanged.connect(self._show_part)
        self.facts.line_picked.connect(self._go_to)
        self.limits.changed.connect(self._limit)
        self.limits.typing.connect(self._show_state)
        self.limits.opened.connect(self._reveal_limits)
        self._cases.happened.connect(self.take)
        self._cases.sandbox_known.connect(self._sandbox_known)
        self._bridge.declined.connect(self.declined)
        self._bridge.failed.connect(self.failed)
        self._bridge.drafted.connect(self._drafted)
        self._bridge.earlier_known.connect(self._earlier_known)

    def _has_focus_inside(self) -> bool:
        focus = self.window().focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.window().installEventFilter(self)
        self._steady.watch()
        self.rearm()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.guard.rearm()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The click that brings the window to the front answers nothing."""
        if event.type() == QEvent.Type.WindowActivate:
            self.rearm()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_facts()

    @Slot()
    def _fit_facts(self) -> None:
        """A column at the right, or all of the width below the code."""
        px = self._look.px
        if self.split.folded:
            self.facts.setMinimumWidth(0)
            self.facts.setMaximumWidth(_ANY_WIDTH)
        else:
            self.facts.setFixedWidth(min(px(340), max(px(224), round(self.width() * 0.3))))
