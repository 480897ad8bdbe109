"""Fetches the files of one plan: within its time and its bound, each with the hash that the registry announced."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from runner.packages.failures import NoPlan, Unusable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable

    from runner.packages.cache import FileCache
    from runner.packages.client import RegistryClient
    from runner.packages.deadline import PlanDeadline
    from runner.packages.limits import PlanLimits


class PlanFetching:
    """The files of one plan. Used on one thread, whose loop `runner` drives."""

    def __init__(
        self,
        client: RegistryClient,
        cache: FileCache,
        limits: PlanLimits,
        deadline: PlanDeadline,
        runner: asyncio.Runner,
    ) -> None:
        self._client = client
        self._cache = cache
        self._limits = limits
        self._deadline = deadline
        self._runner = runner
        self._fetched = 0

    @property
    def room(self) -> int:
        """Bytes that the next file may have; nothing is left for one at 0 or below."""
        return min(self._limits.file_bytes, self._limits.plan_bytes - self._fetched)

    @property
    def too_much(self) -> str:
        """What to say where the files of the plan are too large together, as the end of a sentence."""
        return f"the files of this plan have more than {self._limits.plan_bytes >> 20:,} MB"

    def complete(self, work: Awaitable[object]) -> None:
        """Do `work` within the time that is left. Blocks. Raises NoPlan."""
        left = self._deadline.left

        async def bounded() -> None:
            async with asyncio.timeout(left):
                await work

        try:
            self._runner.run(bounded())
        except TimeoutError:
            raise NoPlan("The registry did not answer in time.", "Try again, or name fewer packages.") from None

    async def fetch(self, url: str, most: int, matches: Callable[[bytes], bool]) -> bytes:
        """Fetch a file of at most `most` bytes that `matches` its hash, and cache it. Raises Unusable and OSError."""
        page = await self._client.get(url, most=most)
        if page is None:
            raise Unusable("its registry does not have the file that it lists")
        self._fetched += len(page.data)
        # Others were fetched meanwhile, each within the room that there was before.
        if self._fetched > self._limits.plan_bytes:
            raise Unusable(self.too_much)
        if not matches(page.data):
            raise Unusable("what was fetched has not the hash that the registry announced")
        self._cache.put(page.data)
        return page.data


async def together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all of `work` at once. Where one fails, end the others before its failure is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
