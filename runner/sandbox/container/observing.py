"""The acts of one container run's code, as far as the kernel of its container reports them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.behaviour import NOT_REPORTED, Behaviour
from runner.model.request import Isolation

if TYPE_CHECKING:
    from runner.model.result import Result
    from runner.sandbox.container.container import Container
    from runner.sandbox.container.engine import BehaviourFeed, ContainerEngine
    from runner.sandbox.contract import Job


GIVEN_UP = "Its end was not awaited."
UNREPORTED = "What code does is not reported: {}."


class Observing:
    """Everything happens on the loop of the run."""

    def __init__(self, job: Job, client: ContainerEngine, container: Container) -> None:
        self._job = job
        self._client = client
        self._container = container
        self._feed: BehaviourFeed | None = None
        self._heard = 0
        self._absent = NOT_REPORTED
        self._begun = False

    def begin(self) -> None:
        """Begin; the code is sent next."""
        self._begun = True
        isolation = self._container.shape.isolation
        self._feed = self._client.feed(self._container.id) if isolation.is_gvisor else None
        if isolation is Isolation.GVISOR:
            self._absent = UNREPORTED.format(self._client.unreported)
        if self._feed is not None:
            self._feed.begin(self._job.language, networked=self._job.gate is not None)

    def look(self) -> None:
        """Pass on what is new."""
        if self._feed is not None and (changes := self._feed.changes) != self._heard:
            self._heard = changes
            self._job.noticed(self._feed.behaviour)

    async def added_to(self, result: Result, over: float) -> Result:
        """Return `result` with what the code did until the moment `over` (monotonic). Before the container goes."""
        if not self._begun:
            return replace(result, observed=None)
        if self._feed is None:
            return replace(result, observed=Behaviour(absent=self._absent))
        return replace(result, observed=await asyncio.to_thread(self._feed.finish, over))

    def given_up(self, result: Result) -> Result:
        """Return `result` with what is known at once of a run that is not awaited any more."""
        if not self._begun:
            return replace(result, observed=None)
        if self._feed is None:
            return replace(result, observed=Behaviour(absent=self._absent))
        return replace(result, observed=replace(self._feed.behaviour, gap=GIVEN_UP))
