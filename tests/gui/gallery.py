"""Draws every page and dialog in its states into build/gallery.

At three sizes, light and dark; at 200 % text; and laid out from the right.

Run: make gallery, or python -m tests.gui.gallery [part of a name]
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.chrome.palette import Palette
from app.history.compare import CompareDialog
from app.history.panel import HistoryPanel
from app.parts.notice import Tone
from app.remembering.dialog import RememberDialog
from app.settings.pin import PinDialog
from app.start.language import dress
from app.today.embedded import TodayInBrief, TodayLanes
from app.today.panel import TodayPanel
from app.today.spans import TimeSpan
from runner.approval.deliberate import ApproveBy
from runner.audit.history.indexing import Indexing
from runner.audit.ledger.row import Row
from runner.engine.lifecycle import history_opening
from runner.engine.rehearsal import sandbox_watch
from runner.identity.agents import Agent
from runner.identity.pin import PinRefused, PinState
from runner.model.assessment import Level
from runner.model.codec import encode
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError
from runner.model.events import ApprovalArmed, EngineTroubled, RequestJoined
from runner.model.recorded import record_of
from runner.model.request import INPUT, Language
from runner.model.result import Outcome
from runner.risk.tools.tools import weigh
from runner.sandbox.output import Stream, Transcript
from runner.system.clock import since_boot
from runner.system.places import Places
from tests.audit import story
from tests.gui import feed, record
from tests.gui.loop import in_loop
from tests.gui.scenes import (
    answered_scenes,
    behaviour_scenes,
    class_reason_scenes,
    decision_scenes,
    first_scenes,
    long_day,
    network_scenes,
    opened,
    result_scenes,
    sending_scenes,
    undo_scenes,
    work_scenes,
)
from tests.gui.scenes.shots import (
    SCENES,
    Scene,
    critical,
    draw,
    kept,
    long,
    page,
    remembering,
    settle,
    until,
    waiting,
)

if TYPE_CHECKING:
    from collections.abc import Callable

OUT = Path(__file__).resolve().parents[2] / "build" / "gallery"
SIZES = ((960, 600), (1280, 800), (2560, 1440))
ARABIC = "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645"
HEBREW = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd"
LONGEST = "A title that says more than any place for a title can hold, and then some more of the same " * 3


def sessions(scene: Scene) -> None:
    """Two sessions of one agent, of whose requests one was sent twice."""
    says = "claude-code 2.1.329"
    first = feed.request("import csv\nprint(sum(1 for _ in open('sales.csv')))\n", title="Count the rows of sales.csv")
    first = replace(first, program=says, session=1)
    second = replace(feed.request("print(2)\n", title="Resize images"), program=says, session=2)
    scene.hear(feed.asked(first, feed.assessment(Level.MEDIUM, feed.finding(2, "Reads a file."))))
    scene.hear(
        feed.asked(second, feed.assessment(Level.LOW)), (RequestJoined(first.id, 2), RequestJoined(second.id, 3))
    )


def right_to_left(scene: Scene) -> None:
    code = (
        f"# {ARABIC}\nname = '{HEBREW}'\nprint(f'{ARABIC} {{name}}')\nif access != 'user\u202e \u2066# admin\u2069':\n"
    )
    one = feed.request(f"{code}    run()\n", title=f"{ARABIC} {HEBREW}")
    found = feed.finding(4, "Characters that change the order of others hide what runs.", Level.CRITICAL)
    scene.hear(feed.asked(one, feed.assessment(Level.CRITICAL, found)))


def longest(scene: Scene) -> None:
    code = f"x = '{'very long ' * 300}'\n{'    ' * 30}print(x)\n" + "y = 1\n" * 40
    one = feed.request(code, "a" * 40, title=LONGEST, context='{"rows": 3}', stdin="yes\n")
    found = [feed.finding(line, f"{LONGEST}.", level) for line, level in ((1, Level.HIGH), (2, Level.MEDIUM))]
    why = f"{LONGEST}. Choose another sandbox in Settings."
    scene.hear(feed.asked(one, feed.assessment(Level.HIGH, *found), blocked=why))


def armed(scene: Scene) -> None:
    waiting(scene)
    card = scene.window.deciding.review.card
    assert card is not None
    scene.hear(feed.decided(card.request, Verdict.EXPIRED, Decider.ENGINE))
    scene.hear((ApprovalArmed(card.id, since_boot() + 560, 600.0),))


def said(scene: Scene) -> None:
    scene.window.toolbar.say("There is no system tray here, so notices appear only in this window and in the task bar.")
    scene.window.banners.say("done", Tone.GOOD, "Remembered. It ends in 10 minutes.", "Rules")


def running(scene: Scene, ended: Outcome | None = None) -> None:
    one = feed.request("for n in range(60): print(n)\n", title="Count to sixty", language=Language.PYTHON)
    transcript = Transcript(1 << 20)
    for number in range(60):
        transcript.append(Stream.OUT, f"line {number} of the output \x1b[32mgreen\x1b[0m\n".encode())
    transcript.append(Stream.ERR, b"warning: something\n" + b"a long line without an end " * 200 + b"\n")
    scene.bridge.transcripts[one.id] = transcript
    scene.hear(feed.asked(one), feed.decided(one), feed.started(one))
    for number in range(40):
        cpu, memory = 20 + 15 * (number % 5), (60 + 9 * number) << 20
        scene.hear(feed.measured(one, number / 4, cpu, memory, number << 20))
    if ended is not None:
        transcript.end()
        scene.hear(feed.finished(one, feed.result(ended, error="It went on for too long.")))
    scene.window.show_page("Running")


def ran(ended: Outcome) -> Callable[[Scene], None]:
    return lambda scene: running(scene, ended)


def stopping(scene: Scene) -> None:
    running(scene)
    panel: Any = scene.window.page("Running")
    panel.stop.click()


def history(scene: Scene) -> None:
    places = scene.window._places
    if not places.ledger.exists():
        record.ledger(places.ledger, [*record.many(30), *record.varied()])
    scene.window.show_page("History")
    panel: Any = scene.window.page("History")
    settle(0.5)
    panel.list.view.setCurrentIndex(panel.list.model.index(0, 0))


def history_none(scene: Scene) -> None:
    history(scene)
    panel: Any = scene.window.page("History")
    panel.filters.text.setText("nothing has this in it")


def ledger_of(scene: Scene, name: str, fill: Callable[[Places], object]) -> Places:
    """Return the places of a ledger that `fill` writes once."""
    places = Places.under(scene.window._places.state / name)
    if not places.state.exists():
        places.make()
        fill(places)
    return places


def fill_long(places: Places) -> None:
    """Write weeks of several agents at work, and count them."""
    long_day.write(places.ledger, days=30, a_day=40)
    with closing(Indexing(places.ledger)) as indexing:
        while indexing.advance():
            pass


def history_of(scene: Scene, name: str, fill: Callable[[Places], object]) -> HistoryPanel:
    """Show a page of the history that reads a ledger of its own, which `fill` writes once."""
    places = ledger_of(scene, name, fill)
    panel = HistoryPanel(scene.cases, scene.window._look, places)
    scene.window.pages.add("History", panel)
    scene.window.show_page("History")
    return panel


def agents_many(scene: Scene) -> None:
    now = time.time()
    names = ["a" * 40, "The-Longest.Name_of-An-Agent.there-may.be", *(f"agent-{number:02}" for number in range(60))]
    scene.bridge.known = tuple(Agent(name, "0" * 64, now - 9e6, now - 5) for name in names)
    scene.cases.know_agents(scene.bridge.known)
    scene.window.show_page("Agents")


def agents_today(scene: Scene) -> None:
    """What each did today, one of them paused."""
    places = scene.window._places
    if not places.ledger.exists():
        fill_long(places)
    now = time.time()
    names = [*(name for name, _ in long_day.AGENTS), "never-asked"]
    scene.bridge.known = tuple(
        Agent(name, "0" * 64, now - 9e6, now - 5, paused_at=now if name == "codex" else 0.0) for name in names
    )
    scene.cases.know_agents(scene.bridge.known)
    scene.window.show_page("Agents")


def palette_none(scene: Scene) -> None:
    scene.window.commands.open_palette()
    palette = scene.window.findChild(Palette)
    assert palette is not None
    palette.field.setText("nothing has this name")


def searching(scene: Scene) -> None:
    running(scene, Outcome.OK)
    panel: Any = scene.window.page("Running")
    panel.output.open_search()
    panel.output.search.regex.setChecked(True)
    panel.output.search.field.setText("line [35]")


def refused(scene: Scene) -> None:
    remembering(scene)
    settle(0.7)
    card, dialog = scene.window.deciding.review.card, scene.window.findChild(RememberDialog)
    assert card is not None and dialog is not None
    dialog.save.click()
    why = KnownError("This request is over, so it cannot be remembered here any more. Find it in the history. " * 2)
    scene.bridge.fail("remember", why)


def troubled(*events: EngineTroubled, opened: bool = False) -> Callable[[Scene], None]:
    """Return a scene with what the engine says of `events`, all notices shown where `opened`."""

    def show(scene: Scene) -> None:
        waiting(scene)
        scene.hear(events)
        if opened:
            scene.window.banners._more.click()

    return show


WEAKER = EngineTroubled(
    "isolation",
    "Weaker than last time: local instead of gVisor. Strongest available here. gvisor and docker: Docker daemon"
    " not available.",
    sandbox_watch.REMEDY,
)
BUSY = EngineTroubled(
    "ledger",
    "Another program is using the ledger /home/someone/.local/share/assent/ledger.sqlite3.",
    "Close it and try again.",
)
BROKEN = EngineTroubled(
    "ledger",
    "The ledger /home/someone/.local/share/assent/ledger.sqlite3 is damaged (database disk image is malformed).",
    "Begin a new history. The old one is kept beside it.",
    damaged=True,
)
LEFTOVERS = EngineTroubled(
    "leftovers",
    "What an earlier run left could not be removed: /home/someone/.cache/assent/runs/run-4711-1 (Permission denied).",
    "It takes disk space and nothing else. Remove it by hand, and start Assent again.",
)
UNREAD = EngineTroubled(
    "requests",
    "Request 9f01 was left open and cannot be read: its body is damaged. There are 2 more.",
    history_opening.LEFT,
)


def silent(scene: Scene) -> None:
    waiting(scene)
    scene.window.banners.tell_silence(34.0)


def handed(scene: Scene) -> None:
    """A request with input and variables, the input on the screen."""
    context = '{"greeting": "hello", "rows": [1, 2, 3], "path": "/data/sales.csv"}'
    stdin = "".join(f"{number}\tline of the input\n" for number in range(60))
    one = feed.request("read -r first\necho $greeting\n", language=Language.SHELL, stdin=stdin, context=context)
    scene.hear(feed.asked(one, feed.assessment(Level.HIGH)))
    reading = scene.window.deciding.review.page.reading
    reading.tabs.setCurrentIndex(
        next(n for n in range(reading.tabs.count()) if getattr(reading.tabs.tabData(n), "name", "") == INPUT)
    )


def cut(scene: Scene) -> None:
    """A line of which not all is shown."""
    one = feed.request(f"name = '{HEBREW * 4000}'\nprint(name)\n", title="Print a name")
    found = feed.finding(1, "Not all of this line can be shown: it is too long.", Level.CRITICAL)
    scene.hear(feed.asked(one, feed.assessment(Level.CRITICAL, found)))
    settle(0.5)
    scene.window.deciding.review.page.reading.code.verticalScrollBar().setValue(1 << 20)


def by(way: ApproveBy, play: Callable[[Scene], None]) -> Callable[[Scene], None]:
    """Return `play` where the person has chosen `way` to approve."""

    def show(scene: Scene) -> None:
        scene.bridge.approve_by = way
        play(scene)

    return show


def word(scene: Scene) -> None:
    scene.bridge.approve_by = ApproveBy.WORD
    scene.hear(feed.asked(feed.request("print(1)\n", title="Print one"), feed.assessment(Level.HIGH)))
    settle(0.9)
    scene.window.deciding.review.answering.press_approve()


def pin(scene: Scene) -> None:
    scene.bridge.approve_by = ApproveBy.PIN
    scene.hear(feed.asked(feed.request("print(1)\n", title="Print one"), feed.assessment(Level.HIGH)))
    settle(0.9)
    scene.window.deciding.review.answering.press_approve()
    scene.window.deciding.review.page.foot.pin.field.insert("4711")


def pin_wrong(scene: Scene) -> None:
    pin(scene)
    # What came into sight takes no press for a moment.
    settle(0.9)
    scene.window.deciding.review.page.foot.pin.button.press_key()
    if scene.bridge.waits("approve"):
        # With large text the end of the code has not been seen yet, so nothing was sent.
        scene.bridge.fail("approve", PinRefused("5 wrong PINs in a row.", "PINs are taken again in 60 s."))


def remember_pin(scene: Scene) -> None:
    scene.bridge.approve_by = ApproveBy.PIN
    remembering(scene)


def trust_by(way: ApproveBy) -> Callable[[Scene], None]:
    def show(scene: Scene) -> None:
        scene.bridge.approve_by = way
        waiting(scene)
        scene.window.overall.ask_trust("claude-code", 15)

    return show


def rules_new(scene: Scene) -> None:
    scene.window.show_page("Rules")
    panel: Any = scene.window.page("Rules")
    panel.new_rule(
        replace(feed.request("import requests\n", "codex"), domains=("cdn.example",), packages=("requests",))
    )
    settle(0.2)


def settings_pin(scene: Scene, known: bool = True) -> Any:
    setting_of("approve_by")(scene)
    panel: Any = scene.window.page("Settings")
    box = panel.rows["approve_by"].editor.box
    box.setCurrentIndex(box.findData("pin"))
    box.activated.emit(box.currentIndex())
    where = "A PIN is set. Secrets are kept in the keyring (SecretService)."
    scene.bridge.give("state", PinState(known=known, words=where if known else ""), newest=True)
    settle(0.2)
    panel.reveal("approve_by")
    settle(0.1)
    return panel


def settings_no_pin(scene: Scene) -> None:
    settings_pin(scene, known=False)


def pin_dialog(scene: Scene) -> None:
    panel = settings_pin(scene)
    panel.pin.change.click()
    (dialog,) = panel.window().findChildren(PinDialog)
    dialog.new.insert("4711")
    dialog.again.insert("4712")
    dialog.old.insert("1234")
    dialog.save.click()


def running_kept(scene: Scene) -> None:
    one = feed.request("sh build.sh\n", title="Build", language=Language.SHELL, sandbox="3f9c01d2ab77")
    kept(scene)
    scene.hear(feed.asked(one), feed.decided(one), feed.started(one))


def history_empty(scene: Scene) -> None:
    history_of(scene, "empty", lambda _places: None)


def history_broken(scene: Scene) -> None:
    history_of(scene, "broken", lambda places: places.ledger.write_bytes(b"no database " * 500))


def history_damaged(scene: Scene) -> None:
    def show(places: Places) -> None:
        record.ledger(places.ledger, record.many(5))
        with closing(sqlite3.connect(places.ledger)) as connection:
            connection.execute("UPDATE requests SET tool = 'code_of_a_newer_version' WHERE id = 'm0003'")
            connection.commit()

    panel = history_of(scene, "damaged", show)
    until(lambda: panel.list.model.rowCount() == 5)
    panel.list.view.setCurrentIndex(panel.list.model.index(1, 0))


def history_removed(scene: Scene) -> None:
    def fill(places: Places) -> None:
        record.ledger(places.ledger, record.many(5), story.KEY)
        # On another thread: it runs a loop of its own.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(story.remove, places.ledger, "m0001").result()

    panel = history_of(scene, "removed", fill)
    until(lambda: panel.list.model.rowCount() == 5)
    panel.list.view.setCurrentIndex(panel.list.model.index(3, 0))
    until(panel.detail.gone.isVisible)


def history_changes(scene: Scene) -> None:
    """What people changed, in place of the requests."""
    told: list[Any] = [
        ("agent-added", "", {"agent": "claude-code"}),
        ("pin-set", "", {}),
        ("pin-refused", "", {"wrong": 3}),
        ("settings-changed", "", {"settings": ["sandbox_type", "approve_by"]}),
        ("mode", "", {"mode": "trust", "agent": "claude-code", "seconds": 60}),
        ("mode", "", {"mode": "guarded", "why": "The time is over."}),
        ("grant-made", "", {"agent": "a" * 40, "title": record.LONG}),
        ("grant-revoked", "", {"grant": "g1", "why": "The agent was revoked.", "used": 2}),
        (
            "isolation",
            "",
            {"isolation": "local", "before": "gvisor", "why": "gvisor: No answer. " * 9},
        ),
        ("isolation", "", {"accepted": "local", "before": "gvisor"}),
    ]
    panel = history_of(scene, "changes", lambda places: record.ledger(places.ledger, [*record.many(3), *told]))
    panel.show_changes.setChecked(True)
    until(lambda: panel.changes.model.rowCount() == len(told))


def history_in_part(scene: Scene) -> None:
    """A run that printed more than the history records."""
    short, whole = record_of(feed.result(Outcome.OK, "a line of output\n" * 4000), 8192)
    told = record.ran(story.request("v7", "claude-code", "print(1)\n", "Print much"), short)
    steps = [(kind, name, {**body, **whole} if kind == "finished" else body) for kind, name, body in told]
    panel = history_of(scene, "part", lambda places: record.ledger(places.ledger, steps))
    until(lambda: panel.list.model.rowCount() == 1)
    panel.list.view.setCurrentIndex(panel.list.model.index(0, 0))
    until(lambda: panel.detail.record is not None)
    panel.detail.tabs.setCurrentWidget(panel.detail.facts)


def queue_today(scene: Scene) -> None:
    """Nothing waits, after a long day."""
    until(lambda: bool(scene.window.deciding.queue.none.findChildren(TodayInBrief)))
    (brief,) = scene.window.deciding.queue.none.findChildren(TodayInBrief)
    (lanes,) = scene.window.deciding.review.nothing.findChildren(TodayLanes)
    brief.day._places = ledger_of(scene, "long", fill_long)
    brief.day.look()
    until(lambda: brief.pairs.isVisible() and lanes.card.isVisible())


def running_today(scene: Scene) -> None:
    """Nothing runs, after a long day."""
    scene.window.show_page("Running")
    panel: Any = scene.window.page("Running")
    (of_today,) = panel.nothing.findChildren(TodayLanes)
    of_today.day._places = ledger_of(scene, "long", fill_long)
    of_today.day.look()
    until(lambda: of_today.card.isVisible())


def today_of(
    span: TimeSpan, name: str = "long", fill: Callable[[Places], object] = fill_long
) -> Callable[[Scene], None]:
    """Show the page Today over a ledger of its own."""

    def show(scene: Scene) -> None:
        places = ledger_of(scene, name, fill)
        bridge: Any = scene.bridge
        panel = TodayPanel(scene.cases, bridge, scene.window._look, places)
        scene.window.pages.add("Today", panel)
        scene.window.show_page("Today")
        panel.heading.buttons[span].click()
        until(lambda: panel._read is not None or panel._pages.currentIndex() > 0)

    return show


def history_run(scene: Scene) -> None:
    """A run on its axis of time, with the cursor in the middle of it."""
    panel = history_of(scene, "long", fill_long)
    until(lambda: panel.list.model.rowCount() > 0)
    rows = enumerate(panel.list.model.lines)
    place = next(n for n, line in rows if isinstance(line.row, Row) and line.row.outcome is Outcome.TIMED_OUT)
    panel.list.view.setCurrentIndex(panel.list.model.index(place, 0))
    until(lambda: panel.detail.timeline.isVisible())
    panel.detail.timeline.setFocus()
    for _ in range(20):
        QTest.keyClick(panel.detail.timeline, Qt.Key.Key_Right)


def history_files(scene: Scene) -> None:
    """The cursor on a file of the run."""
    panel = history_of(scene, "varied", lambda places: record.ledger(places.ledger, record.varied()))
    until(lambda: panel.list.model.rowCount() > 1)
    panel.list.view.setCurrentIndex(panel.list.model.index(0, 0))
    until(lambda: panel.detail.timeline.isVisible())
    panel.detail.timeline.point(9.25)


def history_why(scene: Scene) -> None:
    """Why a request of the past had its class."""
    one = story.request("why", "claude-code", class_reason_scenes.CODE, "Set up the tool")
    one = replace(one, language=Language.SHELL)
    told = record.ran(one, feed.result(Outcome.OK, "done"))
    steps = [(kind, name, encode(weigh(one)) if kind == "assessed" else body) for kind, name, body in told]
    panel = history_of(scene, "why", lambda places: record.ledger(places.ledger, steps))
    until(lambda: panel.list.model.rowCount() == 1)
    panel.list.view.setCurrentIndex(panel.list.model.index(0, 0))
    until(lambda: panel.detail.record is not None)
    panel.detail.tabs.setCurrentWidget(panel.detail.facts)
    panel.detail.facts.reasons.toggle.click()


def history_compare(scene: Scene) -> None:
    panel = history_of(scene, "varied", lambda places: record.ledger(places.ledger, record.varied()))
    until(lambda: panel.list.model.rowCount() > 1)
    panel.list.view.selectAll()
    chosen = panel.list.view.selectionModel()
    for place in range(2, panel.list.model.rowCount()):
        chosen.select(panel.list.model.index(place, 0), QItemSelectionModel.SelectionFlag.Deselect)
    panel.actions_of_list.compare()
    until(lambda: bool(panel.findChildren(CompareDialog)))


def setting_of(name: str) -> Callable[[Scene], None]:
    def show(scene: Scene) -> None:
        scene.window.show_page("Settings")
        panel: Any = scene.window.page("Settings")
        until(lambda: panel.form is not None)
        settle(0.1)
        panel.reveal(name)

    return show


def help_page(scene: Scene) -> None:
    scene.window.show_page("Help")


def question_long(scene: Scene) -> None:
    scene.window.overall.ask(f"Stop {LONGEST}?", LONGEST, "Stop all", lambda _yes: None)


MORE: dict[str, Callable[[Scene], object]] = {
    "queue-right-to-left": right_to_left,
    "queue-longest": longest,
    "queue-sessions": sessions,
    "queue-armed": armed,
    "window-said": said,
    "window-question-long": question_long,
    "running": running,
    "running-ok": ran(Outcome.OK),
    "running-limit": ran(Outcome.TIMED_OUT),
    "running-failed": ran(Outcome.FAILED),
    "running-stopping": stopping,
    "running-empty": page("Running"),
    "history": history,
    "history-changes": history_changes,
    "history-removed": history_removed,
    "history-none": history_none,
    "history-empty": history_empty,
    "history-broken": history_broken,
    "history-damaged": history_damaged,
    "history-in-part": history_in_part,
    "queue-today": queue_today,
    "running-today": running_today,
    "history-run": history_run,
    "history-files": history_files,
    "history-compare": history_compare,
    "today": today_of(TimeSpan.TODAY),
    "today-week": today_of(TimeSpan.WEEK),
    "today-month": today_of(TimeSpan.MONTH),
    "today-all": today_of(TimeSpan.ALL),
    "today-none": today_of(TimeSpan.TODAY, "none", lambda _places: None),
    "banner-weaker": troubled(WEAKER),
    "banner-history-busy": troubled(BUSY),
    "banner-history-damaged": troubled(BROKEN),
    "banner-silent": silent,
    "banner-leftovers": troubled(LEFTOVERS),
    "banner-unread": troubled(UNREAD),
    "banner-all": troubled(WEAKER, BUSY, LEFTOVERS, UNREAD, opened=True),
    "queue-input": handed,
    "queue-cut": cut,
    "queue-mouse": by(ApproveBy.MOUSE, long),
    "queue-mouse-critical": by(ApproveBy.MOUSE, critical),
    "queue-word": word,
    "queue-pin": pin,
    "queue-pin-wrong": pin_wrong,
    "remember-pin": remember_pin,
    "mode-trust-pin": trust_by(ApproveBy.PIN),
    "mode-trust-word": trust_by(ApproveBy.WORD),
    "rules-new": rules_new,
    "settings-pin": settings_pin,
    "settings-pin-none": settings_no_pin,
    "settings-pin-change": pin_dialog,
    "running-kept": running_kept,
    "settings-approve-by": setting_of("approve_by"),
    "settings-history-output": setting_of("history_output_bytes"),
    "settings-mb-per-minute": setting_of("mb_per_minute"),
    "agents-many": agents_many,
    "agents-today": agents_today,
    "palette-none": palette_none,
    "running-search": searching,
    "remember-refused": refused,
    "help": help_page,
    **network_scenes.SCENES,
    **behaviour_scenes.SCENES,
    **result_scenes.SCENES,
    **sending_scenes.SCENES,
    **decision_scenes.SCENES,
    **answered_scenes.ANSWERED,
    **first_scenes.FIRST,
    **undo_scenes.SCENES,
    **class_reason_scenes.SCENES,
    **work_scenes.SCENES,
    "history-why": history_why,
}
OPENABLE = (
    "queue-waiting",
    "queue-many",
    "queue-missed",
    "running-ok",
    "running-kept",
    "history",
    "history-run",
    "history-changes",
    "today-week",
    "agents",
    "agents-welcome",
    "agents-settings",
    "rules",
    "rules-trial",
    "remember",
    "remember-values",
    "settings",
    "settings-approve-by",
    "files-table",
    "doctor",
    *network_scenes.SCENES,
)
"""The scenes whose combo boxes and menus are opened: together they have all there are."""
_STYLE = """
body { font: 14px sans-serif; margin: 24px; background: #f6f7f9; color: #1d2129; }
h2 { margin: 28px 0 8px; font-size: 15px; }
div { display: flex; flex-wrap: wrap; gap: 8px; }
img { width: 460px; border: 1px solid #dfe3e8; }
"""


def write(pictures: list[Path]) -> Path:
    """One page with all of them, those of one scene together."""
    scenes: dict[str, list[str]] = {}
    for picture in pictures:
        name = picture.stem.rsplit("-", 2)[0]
        scenes.setdefault(name, []).append(picture.name)
    parts = [f"<!doctype html><meta charset=utf-8><title>Assent, every state</title><style>{_STYLE}</style>"]
    for name in sorted(scenes):
        images = "".join(
            f'<a href="{escape(file)}"><img loading=lazy src="{escape(file)}" alt="{escape(file)}"></a>'
            for file in sorted(scenes[name])
        )
        parts.append(f"<h2>{escape(name)}</h2><div>{images}</div>")
    index = OUT / "index.html"
    index.write_text("\n".join(parts))
    return index


def main() -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    scenes = {**SCENES, **MORE}
    with in_loop(app := QApplication(sys.argv)):
        dress(app)
        draw(app, only, OUT, scenes, SIZES)
        draw(app, only, OUT, scenes, SIZES[:1], large=True)
        draw(app, only, OUT, scenes, SIZES[1:2], reverse=True)
        openable = {name: scenes[name] for name in OPENABLE}
        opened.say([*opened.draw(app, only, OUT, openable), *opened.draw(app, only, OUT, openable, scale=2.0)])
    # All there are, so that a part drawn again does not lose the others.
    index = write(sorted(OUT.glob("*.png")))
    sys.stdout.write(f"{index}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
