"""`python -m tests.soak.walk`: fifty requests one after the other in a real window, decided by key from what it shows.

A console on a virtual screen, three agents over MCP, real keys. Each request is decided as soon as keys count, by what
stands on the screen alone: nothing found is approved, HIGH and CRITICAL are denied, and for MEDIUM the verb of the
sentence decides. Says how long each took, and how many answers were right. Ends with 1 where a CRITICAL one was
approved, or where fewer than `LEAST_RIGHT` answers were right.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, TypeVar

from app.demo.screen import virtual_screen
from app.demo.stage import PATIENCE, client_of, play, xdotool
from app.demo.stage import SETTINGS as DEMO_SETTINGS
from app.review.keystrokes import ALONE_SECONDS, QUIET_SECONDS
from app.state import attention
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.system.tasks import spawn
from tests.soak.walk_requests import walk_requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.demo.stage import Stage
    from app.state.cards import Card
    from tests.soak.walk_requests import WalkRequest

FIRST_MEDIAN, FIRST_TOTAL = 0.73, 38.6
"""Seconds of the first walk of fifty, before the sentence and the color of attention were there."""
LEAST_RIGHT = 48
T = TypeVar("T")
AGENTS = ("claude-code", "codex", "gemini-cli")
BEYOND = 0.05
"""Seconds for the way of a key to the window."""
SLOW = 3.0
LOOK_SECONDS = 0.01
ENDS = 60.0
"""Seconds after the last answer within which every call has ended."""
SETTINGS = {
    "ASSENT_RATE_PER_MINUTE": "1000",
    "ASSENT_BURST": "200",
    "SANDBOX_TYPE": "local",
    "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
}
GRAVE = ("Deletes", "Drops", "Changes", "Throws away", "Sends", "Rewrites", "Runs whatever", "Hides")
"""How sentences begin that are denied also where the worst finding is MEDIUM."""


@dataclass(slots=True)
class Answered:
    """One request of the walk, and how it was answered."""

    asked: WalkRequest
    level: Level | None
    sentence: str
    verdict: Verdict
    seconds: float

    @property
    def right(self) -> bool:
        return self.verdict is (Verdict.DENIED if self.asked.deny else Verdict.APPROVED)

    @property
    def denied(self) -> bool:
        return self.verdict is Verdict.DENIED


class Walk:
    """Answers one request after the other."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._pressed = 0.0
        self.answers: list[Answered] = []

    async def run(self) -> None:
        """Ask and answer all; raise TimeoutError where a step takes longer than a minute."""
        stage = self._stage
        address = await stage.until("the console is open and listens", lambda: stage.console.cases.address)
        xdotool("windowfocus", str(stage.do(lambda: int(stage.console.window.winId()))))
        calls = []
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(client_of(stage, address, one, "auto")) for one in AGENTS]
            for number, one in enumerate(walk_requests()):
                arguments = {"language": one.language, "code": one.code, "title": one.title}
                client = clients[number % len(clients)]
                calls.append(spawn(f"call {number}", client.call_tool("code_execute", arguments)))
                await self._answer(one)
            # What was approved runs to its end; what these programs find in an empty sandbox is no part of this.
            done, late = await asyncio.wait(calls, timeout=ENDS)
            for call in late:
                call.cancel()
            for call in done:
                with contextlib.suppress(Exception):
                    call.result()

    async def _answer(self, one: WalkRequest) -> None:
        stage = self._stage
        card = await self._when(lambda: self._shown(one.title))
        begun = time.perf_counter()
        denied = await asyncio.to_thread(stage.do, lambda: is_denied(card))
        foot = stage.console.window.deciding.review.page.foot
        await self._when(lambda: (foot.deny if denied else foot.approve).isEnabled())
        if denied:
            await self._press("d")
            await self._when(foot.denial.field.hasFocus)
            await self._when(foot.denial.button.isEnabled)
            await asyncio.to_thread(xdotool, "key", "ctrl+Return")
        else:
            # Once more where A showed what was not seen yet.
            while card.decision is None:
                await self._press("a")
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(QUIET_SECONDS):
                        await self._when(lambda: card.decision)
        decision = await self._when(lambda: card.decision)
        took = time.perf_counter() - begun
        level, sentence = stage.do(lambda: (attention.attention(card), attention.sentence(card)))
        self.answers.append(Answered(one, level, sentence, decision.verdict, took))

    async def _press(self, key: str) -> None:
        """Press a letter, as slowly as it takes not to be a part of a text that is being typed."""
        await asyncio.sleep(self._pressed + ALONE_SECONDS + BEYOND - time.monotonic())
        await asyncio.to_thread(xdotool, "key", key)
        self._pressed = time.monotonic()

    def _shown(self, title: str) -> Card | None:
        card = self._stage.console.window.deciding.review.card
        return card if card is not None and card.waiting and card.request.title == title else None

    async def _when(self, true: Callable[[], T | None]) -> T:
        async with asyncio.timeout(PATIENCE):
            while not (value := await asyncio.to_thread(self._stage.do, true)):
                await asyncio.sleep(LOOK_SECONDS)
        return value


def is_denied(card: Card) -> bool:
    """Return what a person does who has a glance at badge and sentence."""
    worst = attention.attention(card)
    if worst is None:
        return False
    return worst >= Level.HIGH or attention.sentence(card).startswith(GRAVE)


def report(answers: list[Answered]) -> int:
    """Write what came of it; return the exit code."""
    for one in answers:
        if not one.right:
            level = "none" if one.level is None else one.level.name
            print(f"  {one.verdict}, which is wrong: {one.asked.title} ({level}): {one.sentence}")
    for one in answers:
        if one.seconds > SLOW:
            print(f"  {one.seconds:.1f} s: {one.asked.title}")
    seconds = sorted(one.seconds for one in answers)
    right = sum(one.right for one in answers)
    critical = [one for one in answers if one.level is Level.CRITICAL]
    dangerous = [one for one in answers if one.asked.deny]
    kept, stopped = (sum(one.denied for one in which) for which in (critical, dangerous))
    total = f"median {median(seconds):.2f} s, longest {seconds[-1]:.2f} s, all {sum(seconds):.1f} s"
    print(f"{len(answers)} requests: {total}. The first walk: {FIRST_MEDIAN} s and {FIRST_TOTAL} s.")
    print(f"Right: {right} of {len(answers)}. Denied: {stopped} of {len(dangerous)} dangerous ones,")
    print(f"{kept} of {len(critical)} CRITICAL ones.")
    return int(right < LEAST_RIGHT or kept < len(critical))


def main() -> int:
    walks: list[Walk] = []

    async def story(stage: Stage) -> None:
        walks.append(walk := Walk(stage))
        await walk.run()

    with virtual_screen() as display, tempfile.TemporaryDirectory(prefix="assent-walk-") as home:
        os.environ |= {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "ASSENT_HOME": home} | DEMO_SETTINGS | SETTINGS
        if play(story):
            return 1
    return report(walks[0].answers)


if __name__ == "__main__":
    sys.exit(main())
