"""A window without an engine: events go in by hand, and what is asked of the engine is noted."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chrome.frame import Frame
from app.chrome.pages import PAGES, PageSpec
from app.chrome.window import Window
from app.chrome.window_state import Remembered
from app.link.background import Errands
from app.look.look import Look, Motion, Theme
from app.state.cards import Cards
from runner.identity.agents import Agent
from runner.model.errors import KnownError
from runner.system.places import Places
from tests.gui import feed
from tests.gui.elapse import rest
from tests.gui.loop import in_loop
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.review.page import RequestPage
    from app.review.panel import ReviewPanel
    from runner.model.events import Event
    from runner.model.request import Request


HERE = Path(__file__).parent
for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitActive, QtBot.waitExposed):
    # Not the usual five seconds, which a window on a busy machine may need to be painted.
    wait.__kwdefaults__ = {**(wait.__kwdefaults__ or {}), "timeout": round(HANGS * 1000)}
NO_MATTER = "This plugin does not support"
"""What Qt's screenless platform says of every dialog and popup."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore(NO_MATTER, extend=True))


@pytest.fixture(scope="session")
def the_look(qapp: QApplication) -> Look:
    return Look(qapp, Theme.LIGHT)


@pytest.fixture(autouse=True)
def window_loop(qapp: QApplication) -> Iterator[None]:
    """One loop for each test."""
    with in_loop(qapp):
        yield


@pytest.fixture
def look(the_look: Look) -> Look:
    """The look of this process, as it is without any setting: tests of settings leave theirs in it."""
    the_look.choose(Theme.LIGHT)
    the_look.choose_motion(Motion.SYSTEM)
    the_look.know_system_motion(False)
    return the_look


@contextmanager
def scaled(look: Look, scale: float) -> Iterator[Look]:
    """A look with text of another size; afterwards all is as before, for the tests that follow in this process."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    other = Look(app, Theme.LIGHT, scale)
    yield other
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    look._tokens = None
    app.setFont(look.font())
    look.choose(Theme.LIGHT)
    other.deleteLater()


@pytest.fixture
def places(home: Any) -> Places:
    places = Places.under(home)
    places.make()
    return places


@dataclass
class Desk:
    """The window with its store and its bridge."""

    qtbot: QtBot
    window: Window
    cases: Cards
    bridge: feed.RecordingBridge

    @property
    def review(self) -> ReviewPanel:
        return self.window.deciding.review

    @property
    def page(self) -> RequestPage:
        """The widgets of the request under review."""
        return self.window.deciding.review.page

    @property
    def answers(self) -> list[tuple[Any, ...]]:
        """What was approved or denied."""
        return [call for call in self.bridge.calls if call[0] in ("approve", "deny")]

    def hear(self, *batches: tuple[Event, ...]) -> None:
        for batch in batches:
            self.bridge.happened.emit(batch)

    def ask(self, one: Request | None = None, *assessed: Any, **how: Any) -> Request:
        """A question arrives."""
        one = one or feed.request()
        self.hear(feed.asked(one, *assessed, **how))
        return one

    def give(self, name: str, value: Any = None) -> None:
        """The window has asked, and the engine answers with `value`, or that it could not be done."""
        self.qtbot.waitUntil(lambda: self.bridge.waits(name))
        if isinstance(value, KnownError):
            self.bridge.fail(name, value)
        else:
            self.bridge.give(name, value)

    def rest_passes(self) -> None:
        """The guard has rested, and the code has been painted."""
        self.qtbot.waitUntil(lambda: rest(self.review.guard, self.review.answering._rest))

    def rested(self) -> None:
        """As `rest_passes`, and the request can be answered."""
        self.qtbot.waitUntil(
            lambda: rest(self.review.guard, self.review.answering._rest) and self.page.foot.deny.isEnabled()
        )


@pytest.fixture
def pages() -> Sequence[PageSpec]:
    """The pages that the window of `desk` has."""
    return PAGES


@pytest.fixture
def desk(qtbot: QtBot, look: Look, places: Places, pages: Sequence[PageSpec]) -> Iterator[Desk]:
    cases, bridge = Cards(), feed.RecordingBridge()
    bridge.known = (Agent("claude-code", "0" * 64, 0.0),)
    bridge.happened.connect(cases.take)
    frame = Frame(Remembered(places.state / "window.json"))
    window = Window(cases, bridge, look, places, frame, pages)
    qtbot.addWidget(frame)
    cases.know_agents(bridge.known)
    frame.resize(1280, 800)
    with qtbot.waitActive(frame):
        frame.show()
    yield Desk(qtbot, window, cases, bridge)
    for errands in window.findChildren(Errands):
        errands.close()
