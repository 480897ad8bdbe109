"""The stage of the demo and of the tests that play on it: a console on this screen, and who acts on it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import traceback
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot

from runner.model.assessment import Level
from runner.system import installed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from mcp import Client

    from app.start.console import Console

T = TypeVar("T")
SHOTS = Path("build/demo" if installed.folder() is None else "assent-demo")
"""Below the folder in which it is started."""
SETTINGS = {"ASSENT_PORT": "0", "ASSENT_SECRETS_FILE": "true", "ASSENT_COMPACT_PROMPT": "false"}
"""The demo's folder is gone afterwards: its port must not be one in use, and nobody needs its secrets in a keyring."""
PATIENCE = 60.0
"""Seconds for any one step; a step that takes longer has failed."""
READING = 1.5
"""Seconds that a person looks: longer than input is ignored after a question has appeared."""


def play(story: Callable[[Stage], Coroutine[Any, Any, None]]) -> int:
    """Open the console on this screen and let `story` act on it; return 0 when it came to its end."""
    from app.start.crash import Faults
    from app.start.opening import Opening, application
    from app.start.single import Single
    from runner.system.places import Places

    places = Places.standard()
    single = Single(places.socket)
    single.claim()
    app = application()
    opening = Opening(app, places, Faults(places), single)
    failures: list[BaseException] = []
    actors: list[threading.Thread] = []

    def perform(stage: Stage) -> None:
        try:
            asyncio.run(story(stage))
        except BaseException as error:  # noqa: BLE001 - reported below, in the window's thread
            failures.append(error)
        stage.over.emit()

    def begin(console: Console) -> None:
        console.frame.resize(1280, 800)
        console.frame.move(0, 0)
        console.window.show_page("Queue")
        stage = Stage(console)
        stage.over.connect(console.leave.now, Qt.ConnectionType.QueuedConnection)
        actor = threading.Thread(target=perform, args=(stage,), name="demo", daemon=True)
        actors.append(actor)
        actor.start()

    opening.run(begin)
    opening.close()
    single.release()
    for actor in actors:
        actor.join(PATIENCE)
    if failures:
        sys.stderr.write("It failed.\n")
        traceback.print_exception(failures[0])
        return 1
    return 0


class Stage(QObject):
    """The window as the demo's thread can reach it."""

    over = Signal()
    _asked = Signal(object)

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console
        self._asked.connect(self._do, Qt.ConnectionType.QueuedConnection)

    def do(self, work: Callable[[], T]) -> T:
        """Return what `work` gives in the window's thread."""
        future: Future[T] = Future()
        self._asked.emit((work, future))
        return future.result(PATIENCE)

    async def until(self, what: str, true: Callable[[], T | None]) -> T:
        """Return the first value of `true()`, asked in the window's thread, that says something."""
        async with asyncio.timeout(PATIENCE):
            while not (value := await asyncio.to_thread(self.do, true)):
                await asyncio.sleep(0.05)
        sys.stdout.write(f"  {what}\n")
        sys.stdout.flush()
        return value

    def shot(self, name: str) -> None:
        """Save what the screen shows now as a picture."""
        path = str(SHOTS / f"{name}.png")
        self.do(lambda: self.console.window.screen().grabWindow(0).save(path))

    @Slot(object)
    def _do(self, asked: tuple[Callable[[], Any], Future[Any]]) -> None:
        work, future = asked
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 - raised again where it was asked for
            future.set_exception(error)

    # ---- in the window's thread ----

    def question(self) -> ShownRequest | None:
        """Return the question under review, once its Approve button can be clicked."""
        review = self.console.window.deciding.review
        if review.card is None or not (review.page.foot.approve.isVisible() and review.page.foot.approve.isEnabled()):
            return None
        return ShownRequest(
            review.card.id, review.page.foot.approve.mapToGlobal(review.page.foot.approve.rect().center())
        )

    def risky(self) -> bool:
        """Return whether something CRITICAL is under review, and can be denied."""
        review = self.console.window.deciding.review
        return review.card is not None and review.card.level is Level.CRITICAL and review.page.foot.deny.isEnabled()

    def taken_up(self, request_id: str) -> bool:
        """Return whether the request was approved and runs or is over."""
        return any(card.id == request_id for card in self.console.cases.runs())

    def page(self, name: str) -> bool:
        self.console.window.show_page(name)
        return True

    def close_notices(self) -> None:
        """Close what stands above the pages, which the pictures of the queue have."""
        from app.parts.notice import Notice

        for notice in self.console.window.banners.findChildren(Notice):
            notice.closed.emit()


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """A request under review. `place` is where on the screen to click for Approve."""

    request_id: str
    place: QPoint


@asynccontextmanager
async def client_of(stage: Stage, address: str, agent: str, era: str) -> AsyncIterator[Client]:
    """A real MCP client with a token of its own."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    token = await asyncio.wrap_future(stage.console.host.call(lambda engine: engine.membership.add(agent)))
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    async with http, Client(streamable_http_client(address, http_client=http), mode=era) as client:
        yield client


def xdotool(*words: str) -> None:
    """Send a real event through the X server, as from a keyboard and mouse."""
    subprocess.run(["xdotool", *words], check=True)
