"""Remembering in the window: what the dialog offers and shows, the page of rules, the dry run."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app import phrases
from app.link.bridge import EngineLink
from app.parts.text.alike import circled
from app.remembering import panel, words
from app.remembering.dialog import RememberDialog
from app.remembering.fatigue import Fatigue
from app.remembering.panel import RulesPanel
from app.remembering.rows import grant_row
from app.state.cards import Cards
from runner.approval.hindsight import Preview
from runner.approval.learning import Learned, Offer
from runner.approval.past import Past
from runner.approval.pattern import pattern
from runner.assembly import build
from runner.engine.thread import EngineThread
from runner.model.assessment import Assessment, Level, Touch
from runner.model.decision import Decider, Decision, Verdict
from runner.model.errors import KnownError
from runner.model.events import GrantsChanged, RequestDecided
from runner.model.lifecycle import Phase
from runner.model.network import Destination
from runner.model.request import Language, Request, Tool
from runner.model.submission import Submission
from runner.policy.explain import Explanation, Step
from runner.policy.grants import Choice, Grant, Subject, make, subjects
from runner.policy.host_grants import for_host
from runner.policy.rulefile import read
from runner.policy.rules import Rules
from runner.settings.loading import load
from tests.doubles import HeldSandbox
from tests.gui import feed
from tests.gui.elapse import elapse
from tests.patience import HANGS

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.engine.engine import Engine
    from runner.system.places import Places
    from tests.gui.conftest import Desk

HIGH = feed.assessment()
INFO = replace(feed.request(""), tool=Tool.CODE_SANDBOX_INFO, language=None)
MEDIUM = Assessment(Level.MEDIUM, ("files",), touch=Touch(files=("a.csv",)))


def past(one: Request, verdict: Verdict = Verdict.APPROVED, title: str = "") -> Past:
    return Past(
        one.id, one.agent, title, one.code, Level.HIGH, one.digest, verdict, Decider.PERSON, time.time() - 90_000
    )


def grant(one: Request, choice: Choice, assessed: Assessment = HIGH) -> Grant:
    return make(one, assessed, choice, time.time(), "s")


def opened(desk: Desk, level: Level = Level.HIGH) -> RememberDialog:
    """The dialog about a request under review."""
    desk.ask(feed.request(title="Say hello <b>x</b>"), feed.assessment(level))
    desk.rested()
    desk.review.answering.press_remember()
    (dialog,) = desk.window.findChildren(RememberDialog)
    return dialog


def previewed(desk: Desk, dialog: RememberDialog, *covered: Past) -> Choice:
    """Wait until a preview is asked for, and give it."""
    desk.qtbot.waitUntil(lambda: elapse(dialog._asking) and any(call[0] == "preview" for call in desk.bridge.calls))
    _, request_id, choice = desk.bridge.calls.pop([call[0] for call in desk.bridge.calls].index("preview"))
    card = desk.review.card
    assert card is not None and card.assessment is not None and request_id == card.id
    found = Preview(make(card.request, card.assessment, choice, time.time(), "s"), 200, covered)
    desk.bridge.give("preview", found)
    return choice  # type: ignore[no-any-return]


def test_only_what_was_previewed_can_be_remembered_and_nothing_is_approved(desk: Desk) -> None:
    dialog = opened(desk)
    card = desk.review.card
    assert card is not None and not dialog.save.isEnabled() and dialog.focusWidget() is dialog.cancel
    choice = previewed(desk, dialog, past(card.request, Verdict.DENIED, "Earlier"), past(card.request))
    assert "same code, variables, input, limits and sandbox" in dialog.covers.text()
    assert dialog.matched.text() == "Of the last 200 requests it would have covered 2; 1 of them was denied."
    assert "denied  Earlier" in dialog.lines.stringList()[0]
    assert not dialog.save.isEnabled(), "it may be pressed as soon as it appears"
    desk.qtbot.waitUntil(lambda: elapse(dialog._resting) and dialog.save.isEnabled())
    dialog.choosing.uses.setValue(2)
    desk.qtbot.waitUntil(lambda: elapse(dialog._asking) and desk.bridge.waits("preview"))
    desk.bridge.calls.clear()
    dialog.choosing.uses.setValue(3)
    assert not dialog.save.isEnabled(), "the preview is not of this choice"
    desk.bridge.give("preview", Preview(grant(card.request, choice), 200, ()))
    assert not dialog._resting.isActive(), "nor is the one that comes late"
    second = previewed(desk, dialog)
    desk.qtbot.waitUntil(lambda: elapse(dialog._resting) and dialog.save.isEnabled())
    desk.qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    assert ("remember", card.id, card.digest, second) in desk.bridge.calls and second.uses == 3
    assert desk.answers == [] and card.waiting


def test_code_that_differs_in_values_stands_there_once_with_numbers(desk: Desk) -> None:
    dialog = opened(desk)
    card = desk.review.card
    assert card is not None and not dialog.code.isVisibleTo(dialog)
    desk.qtbot.waitUntil(lambda: elapse(dialog._asking) and desk.bridge.waits("preview"))
    codes = ['open("jan.csv", 10)\nprint("jan.csv")\n', 'open("feb.csv", 20)\nprint("feb.csv")\n']
    differs = pattern(codes)
    assert differs is not None
    covered = replace(past(card.request), values=differs.rows[1])
    told = grant(card.request, dialog.choosing.choice)
    desk.bridge.give("preview", Preview(told, 200, (covered,), codes[0], Language.PYTHON, differs))
    assert dialog.code.isVisibleTo(dialog) and dialog.code.listing.lines == codes[0].splitlines()
    places = dialog.code._painting.places
    assert [(line, one.start, one.sign) for line in places for one in places[line]] == [
        (0, 5, circled(1)),
        (0, 16, circled(2)),
        (1, 6, circled(1)),
    ]
    own, other = dialog.lines.stringList()
    assert own.startswith("This request") and '"jan.csv"' in own and "10" in own
    assert '"feb.csv"' in other and "20" in other
    dialog.choosing.uses.setValue(2)
    desk.qtbot.waitUntil(lambda: elapse(dialog._asking) and desk.bridge.waits("preview"))
    desk.bridge.give("preview", Preview(told, 200, ()))
    assert not dialog.code.isVisibleTo(dialog) and dialog.lines.stringList() == []


def test_when_it_is_remembered_the_dialog_goes_and_the_window_says_until_when(desk: Desk) -> None:
    dialog = opened(desk)
    choice = previewed(desk, dialog)
    desk.qtbot.waitUntil(lambda: elapse(dialog._resting) and dialog.save.isEnabled())
    card = desk.review.card
    assert card is not None
    desk.qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    with desk.qtbot.waitSignal(dialog.finished):
        desk.bridge.give("remember", grant(card.request, choice))
    assert desk.window.toolbar.state.text().startswith("Remembered, see Rules. Ends after 10 uses or at ")
    desk.qtbot.waitUntil(desk.window.frame.isActiveWindow)


def test_what_cannot_be_remembered_says_why_and_keeps_the_dialog(desk: Desk) -> None:
    dialog = opened(desk)
    previewed(desk, dialog)
    desk.qtbot.waitUntil(lambda: elapse(dialog._resting) and dialog.save.isEnabled())
    card = desk.review.card
    assert card is not None
    desk.qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    desk.bridge.fail("remember", KnownError("The disk is full.", "Free some."))
    assert dialog.isVisible() and dialog.notice.text == "The disk is full. Free some." and not dialog.save.isEnabled()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Escape])
def test_no_key_that_happens_to_be_pressed_remembers(desk: Desk, key: Qt.Key) -> None:
    dialog = opened(desk)
    previewed(desk, dialog)
    desk.qtbot.waitUntil(lambda: elapse(dialog._resting) and dialog.save.isEnabled())
    desk.qtbot.keyClick(dialog.focusWidget() or dialog, key)
    assert not [call for call in desk.bridge.calls if call[0] == "remember"]


def test_high_is_offered_for_the_same_program_and_an_hour(desk: Desk) -> None:
    choosing = opened(desk).choosing
    assert set(choosing.subjects) == {Subject.EXACT, Subject.TEXT, Subject.SHAPE}
    assert choosing.uses.maximum() == 100
    ends = range(choosing.end.count())
    for subject in choosing.subjects.values():
        subject.setChecked(True)
        for end in ends:
            choosing.end.setCurrentIndex(end)
            assert (choosing.choice.seconds or 1e9) <= 3600
    assert choosing.who.isEnabled()
    choosing.who.setCurrentIndex(1)
    choosing.subjects[Subject.EXACT].setChecked(True)
    assert not choosing.choice.everyone and not choosing.who.isEnabled()


def test_every_choice_that_is_offered_can_be_made(qtbot: QtBot, look: Look) -> None:
    from app.remembering.choosing import Choosing

    for level, one, assessed in (
        (Level.HIGH, feed.request(), HIGH),
        (Level.MEDIUM, INFO, MEDIUM),
        (Level.LOW, INFO, replace(MEDIUM, level=Level.LOW)),
    ):
        choosing = Choosing(look, one.agent, level)
        qtbot.addWidget(choosing)
        choosing.uses.setValue(choosing.uses.maximum())
        for subject in choosing.subjects.values():
            subject.setChecked(True)
            for end in range(choosing.end.count()):
                choosing.end.setCurrentIndex(end)
                made = make(one, assessed, choosing.choice, time.time(), "s", lambda one: f"{one.code}\0")
                assert made.level is level


def test_critical_unread_and_blocked_requests_cannot_be_remembered(desk: Desk) -> None:
    desk.ask(feed.request(), feed.assessment(Level.CRITICAL))
    desk.rested()
    assert not desk.page.foot.remember.isEnabled() and "asked every time" in desk.page.foot.remember.toolTip()
    desk.qtbot.keyClick(desk.page.reading.code, Qt.Key.Key_R)
    long = desk.ask(feed.request("print(1)\n" * 500))
    desk.window.deciding.show_request(long.id)
    desk.rested()
    assert not desk.page.foot.remember.isEnabled() and "Scroll to the end" in desk.page.foot.remember.toolTip()
    barred = desk.ask(blocked="Not here.")
    desk.window.deciding.show_request(barred.id)
    desk.rested()
    assert not desk.page.foot.remember.isEnabled()
    assert not desk.window.findChildren(RememberDialog)


def test_the_file_of_the_rules_is_opened_and_made_where_there_is_none(
    desk: Desk, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    monkeypatch.setattr(panel, "open_in_desktop", lambda file: not opened.append(file))
    page, file = rules_page(desk), places.config / "rules.yaml"
    page.open.click()
    assert opened == [file] and read(places) == Rules()
    file.write_text("rules: [{name: mine, action: deny}]")
    page.open.click()
    assert "mine" in file.read_text(), "what the person wrote"
    file.unlink()
    file.mkdir()
    monkeypatch.setattr(panel, "open_in_desktop", lambda _file: False)
    with desk.qtbot.waitSignal(page.failed):
        page.open.click()


def rules_page(desk: Desk) -> RulesPanel:
    desk.window.show_page("Rules")
    page = desk.window.page("Rules")
    assert isinstance(page, RulesPanel)
    return page


@pytest.mark.parametrize("private", ["10.20.0.7", ""])
def test_a_grant_for_a_host_says_that_it_approves_nothing(private: str) -> None:
    one = for_host("cla\u200bude", Destination("api.example", 8443), "t", 1000.0, private=private)
    assert words.name(one) == f"Host api.example:8443 for {phrases.visible(one.agent)}"
    said = words.covered(one)
    assert "reach api.example:8443 as well" in said and "It approves nothing" in said and "\u200b" not in said
    assert ("inside your own network" in said) is bool(private)
    assert "after 1,000 uses" in words.ends(one)


def test_a_long_host_of_a_grant_is_on_the_page_to_its_end(look: Look, qapp: object) -> None:
    host = ".".join(("reallylonglabel" * 4, "subdomain" * 6, "example"))
    row = grant_row(look, for_host("claude", Destination(host, 443), "t", 1000.0, private=""))
    row.resize(row.minimumSizeHint().width(), 400)
    assert row.width() < 400
    said = [label for label in row.findChildren(QLabel) if host in label.text().replace("\u200b", "")]
    assert len(said) == 2
    for label in said:
        assert label.minimumSizeHint().width() < 300 and host in label.toolTip()
        assert not label.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    assert host in row.accessibleName()


def test_rules_and_grants_are_listed_in_their_order_and_revoked_by_name(desk: Desk, places: Places) -> None:
    (places.config / "rules.yaml").write_text(
        "rules: [{name: first, action: deny, agents: [x]}, {name: '<b>second</b>', level: CRITICAL}]"
    )
    one = feed.request(title="Say <i>hello</i>")
    kept = (grant(one, Choice(Subject.TEXT, 9, 60)), grant(INFO, Choice(Subject.KIND, 9), MEDIUM))
    desk.bridge.written, desk.bridge.kept = read(places), kept
    page = rules_page(desk)
    assert [row.heading.text() for row in page.rules.rows] == ["1. first", "2. <b>second</b>"]
    assert [row.heading.text() for row in page.grants.rows] == [
        "The same program: Say <i>hello</i>",
        "Requests of this kind: code_sandbox_info",
    ]
    button = page.grants.rows[1].button
    assert button is not None
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert ("revoke_grant", kept[1].name) in desk.bridge.calls
    desk.bridge.kept = kept[:1]
    desk.hear((GrantsChanged(),))
    assert len(page.grants.rows) == 1


def test_a_broken_file_is_reported_with_a_way_out(desk: Desk) -> None:
    desk.bridge.unreadable = "What was remembered cannot be read."
    page = rules_page(desk)
    assert page.problem.isVisible() and page.problem.text == desk.bridge.unreadable
    desk.qtbot.mouseClick(page.problem.action, Qt.MouseButton.LeftButton)
    assert ("renew_grants",) in desk.bridge.calls


def test_a_rule_that_cannot_be_used_is_reported_with_its_line(desk: Desk, places: Places) -> None:
    (places.config / "rules.yaml").write_text("rules:\n  - {name: good}\n  - {name: bad, action: perhaps}")
    desk.bridge.written = read(places)
    page = rules_page(desk)
    assert page.wrong.isVisible() and page.wrong.text.startswith("rules.yaml, line 3: action 'perhaps'")
    assert page.wrong.text.endswith("everything is asked.")
    assert [row.heading.text() for row in page.rules.rows] == ["1. good"]
    (places.config / "rules.yaml").write_text("rules:\n  - {name: good}\n  - {name: bad, action: deny}")
    desk.qtbot.mouseClick(page.again, Qt.MouseButton.LeftButton)
    assert [call[0] for call in desk.bridge.calls[-2:]] == ["reload_settings", "learned"]
    desk.bridge.written = read(places)
    desk.bridge.give("learned", Learned(), newest=True)
    assert [row.heading.text() for row in page.rules.rows] == ["1. good", "2. bad"] and not page.wrong.isVisible()


def offer(request: Request, approved: int = 7, *others: Past) -> Offer:
    choice = Choice(Subject.TEXT, approved, 3600.0)
    grant = make(request, feed.assessment(), choice, time.time(), "s")
    shown = past(request, title="Often")
    return Offer(shown, choice, grant, subjects(Level.HIGH), approved, 2.5, (shown, *others))


def test_an_offer_says_what_it_covers_and_opens_the_dialog_with_its_bounds(desk: Desk) -> None:
    page = rules_page(desk)
    page.show_learned()
    one = feed.request()
    desk.bridge.give("learned", Learned((past(one),), (offer(one),)), newest=True)
    assert page.tabs.tabText(1) == "From your answers (1)"
    (row,) = page.learned.rows
    assert row.button is not None
    said = row.accessibleName()
    assert "You approved it 7 times, usually in 2.5 s" in said and "Ends after 7 uses or at" in said
    assert "denied" not in said
    desk.qtbot.mouseClick(row.button, Qt.MouseButton.LeftButton)
    (dialog,) = desk.window.findChildren(RememberDialog)
    assert dialog._about.digest == one.digest
    assert dialog.choosing.choice == Choice(Subject.TEXT, 7, 3600.0)
    assert not [call for call in desk.bridge.calls if call[0] == "remember"], "it decides nothing"


def test_an_offer_names_what_a_person_denied(desk: Desk) -> None:
    page = rules_page(desk)
    one, other = feed.request(), feed.request()
    denied = replace(past(other, title="The bad one"), verdict=Verdict.DENIED, by=Decider.PERSON)
    desk.bridge.give("learned", Learned((past(one), denied), (offer(one, 7, denied),)), newest=True)
    (row,) = page.learned.rows
    assert "also have approved 1 that you denied" in row.accessibleName() and "The bad one" in row.accessibleName()
    assert "1 you denied" in page.learned.dots.accessibleName()


def test_without_offers_it_says_when_there_will_be_some(desk: Desk) -> None:
    page = rules_page(desk)
    page.show_learned()
    desk.bridge.give("learned", Learned((past(feed.request()),)), newest=True)
    assert page.learned.none.isVisible() and "approve 3 times" in page.learned.none.accessibleName()
    assert page.tabs.tabText(1) == "From your answers"


def test_the_dry_run_asks_and_shows_every_step(desk: Desk) -> None:
    page = rules_page(desk)
    page.tabs.setCurrentIndex(2)
    trial = page.trial
    assert not trial.ask.isEnabled()
    trial.language.setCurrentIndex(trial.language.findData(Language.SHELL))
    trial.code.setPlainText("rm -rf /")
    desk.qtbot.mouseClick(trial.ask, Qt.MouseButton.LeftButton)
    name, asked = desk.bridge.calls[-1]
    assert name == "explain_program"
    assert asked == Submission("claude-code", Tool.CODE_EXECUTE, Language.SHELL, "rm -rf /")
    told = Explanation(
        feed.request("rm -rf /"), feed.assessment(Level.CRITICAL), None, (Step("Level", "CRITICAL: it deletes"),)
    )
    trial.ask.click()
    desk.bridge.give("explain_program", replace(told, verdict=Verdict.DENIED))
    assert not trial.verdict.isVisible(), "the answer to the question before"
    desk.bridge.give("explain_program", told)
    assert trial.verdict.text() == "You would be asked." and trial.badge.level is Level.CRITICAL
    trial.code.setPlainText("ls")
    assert not trial.verdict.isVisible(), "the answer on screen is not about this program"


def test_a_decision_by_a_grant_is_said_to_be_one(desk: Desk) -> None:
    one = desk.ask()
    decision = Decision(Verdict.APPROVED, Decider.GRANT, "Remembered.", "claude-exact-1", 0.0, one.digest)
    desk.hear((RequestDecided(one.id, decision),))
    assert "by what you remembered as claude-exact-1" in desk.page.foot.sentence.text()


# ---- fatigue ----


LONG = "print('one two three four five six')\n" * 40
"""240 words: 20 s at a glance."""


class Tired:
    """The guard with a clock of the test's own."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.cases = Cards()
        self.said: list[str] = []
        self.fatigue = Fatigue(self.cases, lambda: self.now)
        self.fatigue.noticed.connect(self.said.append)

    def answer(self, seconds: float, code: str = "", verdict: Verdict = Verdict.APPROVED) -> None:
        """Asked an hour ago, and answered `seconds` after the answer before."""
        self.now += seconds
        one = feed.request(code or f"# {self.now}\n{LONG}")
        self.cases.take(feed.asked(one))
        self.cases.take((RequestDecided(one.id, Decision(verdict, Decider.PERSON, "", "", 3600.0, one.digest)),))


@pytest.fixture
def tired(qapp: object) -> Tired:
    return Tired()


def test_approving_faster_than_one_can_read_is_said_once_in_a_while(tired: Tired) -> None:
    for seconds in (60, 2, 2, 2, 2):
        tired.answer(seconds)
    assert tired.said == []
    tired.answer(2)
    (said,) = tired.said
    assert said.startswith("5 of your last 6 approvals took about 2.0 s each; a quick look at their code takes 20 s.")
    for _ in range(20):
        tired.answer(2)
    assert len(tired.said) == 1
    tired.now += 900
    tired.answer(2)
    assert len(tired.said) == 2


@pytest.mark.parametrize(
    ("seconds", "code", "verdict"),
    [
        (25, "", Verdict.APPROVED),
        (2, "print(1)", Verdict.APPROVED),
        (2, LONG, Verdict.APPROVED),
        (2, "", Verdict.DENIED),
    ],
    ids=["read", "short", "known", "denied"],
)
def test_nothing_is_said_of_what_was_read_is_short_known_or_denied(
    tired: Tired, seconds: float, code: str, verdict: Verdict
) -> None:
    for _ in range(12):
        tired.answer(seconds, code, verdict)
    assert tired.said == []


def test_several_approved_at_once_are_one_act(tired: Tired) -> None:
    tired.answer(60)
    for _ in range(8):
        tired.answer(0.01)
    assert tired.said == []


def test_the_window_says_it_and_leads_to_the_rules(desk: Desk) -> None:
    desk.window.fatigue.noticed.emit("Faster than can be read.")
    assert desk.window.banners.text("fatigue") == "Faster than can be read."
    desk.window._act("fatigue")
    assert desk.window.shown_page == "Rules" and desk.window.banners.text("fatigue") == ""


# ---- with the engine behind it ----


@pytest.fixture
def real(qtbot: QtBot, places: Places) -> Iterator[tuple[EngineLink, EngineThread]]:
    """The bridge with an engine whose runs are held."""
    host = EngineThread(lambda: build(places, load(places, {}), (HeldSandbox(),)))
    host.start()
    try:
        host.call(_opened).result(HANGS)
        yield EngineLink(host, unexpected), host
    finally:
        assert host.close("the test is over", 10)


def unexpected(error: BaseException, where: str) -> None:
    raise AssertionError(where) from error


async def _opened(engine: Engine) -> None:
    while not engine.parts.ledger.is_open or not engine.parts.sandboxes.why:
        await asyncio.sleep(0.005)


def test_preview_remember_explain_and_revoke_on_the_real_engine(
    qtbot: QtBot, real: tuple[EngineLink, EngineThread]
) -> None:
    bridge, host = real
    hello = Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "print('hello')")

    async def ask(engine: Engine) -> Request:
        ticket = await engine.submit(hello)
        while ticket.case.phase is not Phase.ASKED:  # a person sees the question once that is recorded
            await asyncio.sleep(0.005)
        return ticket.case.request

    one = host.call(ask).result(HANGS)
    choice = Choice(Subject.TEXT, 5, 600)

    def given(answer: Future[Any]) -> Any:
        qtbot.waitUntil(answer.done)
        return answer.exception() or answer.result()

    memory = bridge.memory
    preview = given(memory.preview(one.id, choice))
    assert [line.id for line in preview.covered] == [one.id]
    assert "not this request" in str(given(memory.remember(one.id, "0" * 64, choice)))
    assert "1 to 100 uses" in str(given(memory.preview(one.id, replace(choice, uses=101))))
    made = given(memory.remember(one.id, one.digest, choice))
    assert memory.grants() == (made,)
    assert given(memory.explain_program(hello)).verdict is Verdict.APPROVED
    given(memory.revoke_grant(made.name))
    assert memory.grants() == ()
    assert given(memory.explain_past(one.id)).verdict is None
    assert given(memory.learned()).offers == ()


def test_the_page_reads_the_history_for_requests_to_try(desk: Desk, places: Places) -> None:
    from tests.gui.record import ledger, many

    ledger(places.ledger, many(3))
    page = rules_page(desk)
    page.tabs.setCurrentIndex(2)
    desk.qtbot.waitUntil(lambda: page.trial.which.count() == 4)
    page.trial.which.setCurrentIndex(1)
    name, request_id = desk.bridge.calls[-1]
    assert name == "explain_past" and request_id == "m0002" and not page.trial.code.isVisible()
    told = Explanation(feed.request("print(2)\nprint(3)"), feed.assessment(), Verdict.DENIED, (Step("Mode", "No."),))
    desk.bridge.give("explain_past", told)
    assert page.trial.verdict.text() == "It would be denied without asking."
    assert page.trial.past.isVisible() and page.trial.past.line_count == 2
    page.trial.reader.close()


def test_from_the_history_one_can_ask_what_would_happen_now(desk: Desk, places: Places) -> None:
    from app.history.panel import HistoryPanel
    from tests.gui.record import ledger, many

    ledger(places.ledger, many(120))
    desk.window.show_page("History")
    history = desk.window.page("History")
    assert isinstance(history, HistoryPanel)
    desk.qtbot.waitUntil(lambda: history.detail.record is not None)
    history.list.chosen.emit("m0003")
    desk.qtbot.waitUntil(lambda: history.detail.record is not None and history.detail.record.row.id == "m0003")
    desk.qtbot.mouseClick(history.detail.try_now, Qt.MouseButton.LeftButton)
    page = rules_page(desk)
    assert desk.bridge.calls[-1][0] == "explain_past" and desk.bridge.calls[-1][1] == "m0003"
    desk.qtbot.waitUntil(lambda: page.trial.which.count() == 102)
    assert page.trial.which.currentData() == "m0003" and page.trial.which.currentText() == "Request 3"
    page.trial.reader.close()
    history._reader.close()
    history.list._reader.close()
