"""The page of rules: those of the files and what is remembered, in their order; what answers offer; and a dry run."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app import phrases
from app.link.background import Errands
from app.link.page_tasks import PageTasks
from app.parts.column import ScrollColumn, readable
from app.parts.notice import Notice, Tone
from app.parts.plain import plain_label
from app.parts.tabs import WholeTabs
from app.remembering.learned import LearnedView
from app.remembering.new_rule import NewRuleDialog
from app.remembering.rows import RuleRow, grant_row, rule_row
from app.remembering.trial import Trial
from runner.approval.learning import Learned
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled, GatewayOpened, GrantsChanged, RequestDecided, TroubleCleared
from runner.model.translation import numeral, to_translate, tr, translated
from runner.policy.newrule import add_rule
from runner.policy.rulefile import FILE

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Iterable
    from pathlib import Path

    from PySide6.QtGui import QHideEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.model.events import Event
    from runner.model.request import Request
    from runner.policy.newrule import NewRule
    from runner.system.places import Places

REFRESH_MS = 15_000
"""How often ends of time are looked at while somebody can see them."""
IN_FORCE, LEARNED, TRIAL = range(3)
"""The tabs."""
SOON_MS = 1000
"""After a decision, before the history is looked through for what is approved often."""
ORDER = tr(
    "Checked in this order. The first match decides; a deny always wins. What you remembered answers only what you "
    "would be asked. Lockdown denies everything before that."
)
ALL_ASKED = tr("Until this is corrected, everything is asked.")
MOST_SHOWN = 5
"""Rules that cannot be used of which so many are shown at once."""
NO_RULES = to_translate("No rules yet. Write them in {file}; they are checked from top to bottom.")
EMPTY_FILE = "# Rules, checked from top to bottom. The help says what one may ask for, under Security.\nrules: []\n"
NO_GRANTS = tr("Nothing remembered. The arrow beside Approve does that; CRITICAL requests always ask.")
OTHERWISE = tr(
    "Everything else asks you, unless you trust the agent for a while. LOW passes and is recorded, unless that is "
    "switched off in Settings."
)


class RulesPanel(QWidget):
    """Everything in it is plain text. Revoke counts at once."""

    remember = Signal(object)
    """About: an offer was taken up."""
    reloaded = Signal()
    """The engine has taken up what was changed in the files."""
    failed = Signal(str)
    """Why something asked for here could not be done."""

    def __init__(
        self, cases: Cards, bridge: EngineLink, look: Look, places: Places, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._look = look
        self._places = places
        self._tasks = PageTasks("rules", self)
        self._errands = Errands("rules", self)
        self._asked = 0
        """How often offers were asked for: only the newest answer is shown."""
        self._listed: object = None
        self.problem = Notice(look, Tone.BAD, "", tr("Start again"))
        self.wrong = Notice(look, Tone.BAD, "")
        self.again = QPushButton(tr("Reload"))
        self.again.setToolTip(tr("Take up what was changed in the files (F5)"))
        self.again.setAutoDefault(False)
        look.dress(self.again, "refresh-cw", size=14)
        self.tabs = WholeTabs(self)
        self.tabs.setAccessibleName(tr("Rules, offers and dry run"))
        self.trial = Trial(cases, bridge, look, places.ledger)
        self.rules = Group(look, tr("1  Your rules"))
        self.open = QPushButton(tr("Open {file}", file=FILE))
        self.open.setProperty("kind", "link")
        self.open.setAutoDefault(False)
        self.open.setToolTip(
            tr("In the program that your desktop opens such files with. Reload takes up what you change")
        )
        self.open.clicked.connect(self.open_file)
        self.grants = Group(look, tr("2  What you remembered"))
        self.otherwise = Group(look, tr("3  Otherwise"))
        self.learned = LearnedView(look)
        self._tick = QTimer(self)
        self._tick.setInterval(REFRESH_MS)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._soon.timeout.connect(self._ask_learned)
        self._lay_out()
        self.otherwise.say(OTHERWISE)
        self.again.clicked.connect(self.look_again)
        self.tabs.currentChanged.connect(self._pages.setCurrentIndex)
        self.problem.acted.connect(self._renew)
        self._tick.timeout.connect(self._show)
        self.learned.remember.connect(self.remember)
        cases.happened.connect(self._take)
        self._know_learned(Learned())
        self._show()

    @Slot()
    def look_again(self) -> None:
        """Read the files again; what they say is shown with the offers, which are asked for after that."""
        self._tasks.start("reload", self._reload(self._bridge.reload_settings()))
        self._ask_learned()
        if self.trial.isVisible():
            self.trial.look_again()

    @Slot()
    def open_file(self) -> None:
        """Open the file of the rules in the person's editor; make one without rules where there is none."""
        file = self._places.config / FILE
        try:
            with contextlib.suppress(FileExistsError), file.open("x", encoding="utf-8") as made:
                made.write(EMPTY_FILE)
        except OSError as error:
            self.failed.emit(tr("{file} cannot be made: {strerror}.", file=file, strerror=error.strerror))
            return
        if not open_in_desktop(file):
            self.failed.emit(tr("No program here opens {file}. Open it in your editor.", file=file))

    async def _reload(self, answer: Future[None]) -> None:
        try:
            await answer
        except KnownError as error:
            self.failed.emit(str(error))
        else:
            self.reloaded.emit()

    @Slot()
    def _ask_learned(self) -> None:
        self._asked += 1
        self._tasks.start("learned", self._learn(self._asked, self._bridge.memory.learned()))

    async def _learn(self, number: int, answer: Future[Learned]) -> None:
        try:
            found = await answer
        except KnownError as error:
            self.failed.emit(str(error))
            return
        if number == self._asked:
            self._know_learned(found)

    @Slot()
    def _renew(self) -> None:
        """Set the file of grants that cannot be read aside."""
        self._tasks.attempt("renew grants", self._bridge.memory.renew_grants(), self.failed.emit)

    def _revoke(self, name: str) -> None:
        self._tasks.attempt("revoke", self._bridge.memory.revoke_grant(name), self.failed.emit)

    def new_rule(self, request: Request) -> None:
        """Let the person make a rule from a past request."""
        self.tabs.setCurrentIndex(IN_FORCE)
        NewRuleDialog(self.window(), self._look, request, self._add_rule).open()

    def _add_rule(self, rule: NewRule) -> None:
        self._errands.send(lambda: add_rule(self._places, rule), self._added, self._not_added)

    def _added(self, _nothing: None) -> None:
        self.look_again()

    def _not_added(self, error: Exception) -> None:
        self.failed.emit(
            str(error) if isinstance(error, KnownError) else tr("The rule was not added: {error}", error=error)
        )

    def show_learned(self) -> None:
        """Show what the latest answers offer to remember."""
        self.tabs.setCurrentIndex(LEARNED)

    def try_request(self, request_id: str, words: str) -> None:
        """Show what would happen to a past request now."""
        self.tabs.setCurrentIndex(TRIAL)
        self.trial.try_request(request_id, words)

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        ours = (GrantsChanged, EngineTroubled, TroubleCleared, GatewayOpened)
        if self.isVisible() and any(isinstance(event, ours) for event in events):
            self._show()
        news = any(isinstance(event, (GrantsChanged, RequestDecided)) for event in events)
        if news and self.isVisible() and not self._soon.isActive():
            self._soon.start()

    @Slot()
    def _show(self) -> None:
        """Show what is in force now; rows are rebuilt only where something is different."""
        memory = self._bridge.memory
        rules, grants, problem = memory.rules(), memory.grants(), memory.grants_problem()
        if (rules, grants, problem) == self._listed:
            return
        self._listed = (rules, grants, problem)
        self.problem.say(Tone.BAD, problem, tr("Start again"))
        self.problem.setVisible(bool(problem))
        wrong = rules.problems if rules is not None else ()
        self.wrong.say(Tone.BAD, "\n".join((*map(phrases.visible, wrong[:MOST_SHOWN]), ALL_ASKED)))
        self.wrong.setVisible(bool(wrong))
        written = rules.rules if rules is not None else ()
        self.rules.show_rows(
            [rule_row(self._look, number, rule) for number, rule in enumerate(written, 1)],
            translated(NO_RULES, file=self._places.config / FILE),
        )
        rows = [grant_row(self._look, grant) for grant in grants]
        for row, grant in zip(rows, grants, strict=True):
            row.acted.connect(partial(self._revoke, grant.name))
        self.grants.show_rows(rows, tr("Nothing.") if problem else NO_GRANTS)

    def _know_learned(self, found: Learned) -> None:
        self._show()
        self.learned.show_learned(found)
        number = f" ({numeral(len(found.offers))})" if found.offers else ""
        self.tabs.setTabText(LEARNED, tr("From your answers{number}", number=number))

    def _lay_out(self) -> None:
        px = self._look.px
        for title in (tr("In force"), tr("From your answers"), tr("What would happen")):
            self.tabs.addTab(title)
        head = QHBoxLayout()
        head.setSpacing(px(12))
        head.addWidget(plain_label(tr("Rules"), "title"))
        head.addWidget(self.tabs, 1)
        head.addWidget(self.again)
        scroll = ScrollColumn(tr("Rules in force"))
        scroll.column.setContentsMargins(0, px(6), px(6), 0)
        scroll.column.setSpacing(px(16))
        scroll.column.addLayout(readable(self._look, plain_label(ORDER, "muted", wrap=True)))
        for group in (self.rules, self.grants, self.otherwise):
            scroll.column.addWidget(group)
        scroll.column.insertWidget(scroll.column.indexOf(self.grants), self.open, 0, Qt.AlignmentFlag.AlignLeft)
        self._pages = QStackedWidget()
        for tab in (scroll, self.learned, self.trial):
            self._pages.addWidget(tab)
        card = QFrame()
        card.setProperty("card", True)
        column = QVBoxLayout(card)
        column.setContentsMargins(px(16), px(12), px(10), px(12))
        column.setSpacing(px(8))
        column.addLayout(head)
        column.addWidget(self.problem)
        column.addWidget(self.wrong)
        column.addWidget(self._pages, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(card)
        self.problem.hide()
        self.wrong.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tick.start()
        if not event.spontaneous():
            self._show()
            self._ask_learned()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tick.stop()


def open_in_desktop(file: Path) -> bool:
    """Open `file` with the program that the desktop has for it; return False where there is none."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))


class Group(QWidget):
    """A heading with its rows, or a sentence where there are none."""

    def __init__(self, look: Look, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[RuleRow] = []
        self._sentence = plain_label(role="muted", wrap=True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.px(2))
        self._column.addWidget(plain_label(heading, "heading"))
        self._column.addLayout(readable(look, self._sentence))

    def say(self, sentence: str) -> None:
        self.show_rows((), sentence)

    def show_rows(self, rows: Iterable[RuleRow], none: str) -> None:
        """Show rows, or the text `none` where there are no rows."""
        for row in self.rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = list(rows)
        for row in self.rows:
            self._column.addWidget(row)
        self._sentence.setText(none)
        self._sentence.setVisible(not self.rows and bool(none))
