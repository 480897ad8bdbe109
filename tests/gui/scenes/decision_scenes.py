"""The twenty requests of the decision moment as they come on screen, for tests and for pictures."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from runner.risk.assess import assess
from tests.gui import feed
from tests.risk.decision_requests import REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.assessment import Assessment
    from runner.model.events import Event
    from tests.gui.scenes.shots import Scene
    from tests.risk.decision_requests import DecisionRequest

AGENTS = ("claude-code", "codex", "gemini-cli")


@cache
def assessed(name: str) -> Assessment:
    """What the analysis says of one of the requests, which takes a moment."""
    return assess(next(one for one in REQUESTS if one.name == name).request)


def asked(one: DecisionRequest, agent: str = AGENTS[0], left: float = 52.0) -> tuple[Event, ...]:
    """The request arrives and a person is asked."""
    return feed.asked(replace(one.request, agent=agent), assessed(one.name), 60.0, left)


def alone(scene: Scene, one: DecisionRequest) -> None:
    """One of them on screen."""
    scene.hear(asked(one))


def ten(scene: Scene) -> None:
    """The first ten at once, of three agents."""
    for number, one in enumerate(REQUESTS[:10]):
        scene.hear(asked(one, AGENTS[number % 3], 56.0 - 2 * number))


SCENES: dict[str, Callable[[Scene], None]] = {
    "decision-ten": ten,
    **{f"decision-{one.name}": partial(alone, one=one) for one in REQUESTS},
}
