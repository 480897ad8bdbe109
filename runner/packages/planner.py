"""Plans and prepares packages on threads of their own, a few at once and one for each agent."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from runner.model.errors import KnownError
from runner.model.plan import Registry
from runner.packages import npm_plan
from runner.packages.client import RegistryClient
from runner.packages.deadline import PlanDeadline
from runner.packages.failures import NoPlan, Unusable
from runner.packages.installing import PackageSet, Prepared, prepare
from runner.packages.npm_plan import NpmFetching
from runner.packages.python_plan import PythonSource, make_plan
from runner.packages.requirements import npm_requirements, python_requirements
from runner.packages.target import NodeTarget, PythonTarget
from runner.system.tasks import in_daemon

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from runner.model.plan import BuildFile, Plan, PlannedPackage
    from runner.network.dialing import Dialer
    from runner.packages.cache import FileCache
    from runner.packages.client import Access
    from runner.packages.installing import Built
    from runner.packages.limits import PlanLimits

    Load = Callable[[PlannedPackage | BuildFile], bytes]

T = TypeVar("T")
PLANS_AT_ONCE = 4
REMEMBERED = 32
REMEMBERED_SECONDS = 600.0
"""How long a plan is taken again for the same question: default packages are planned with every request."""
MOST_PROGRAM_TEXT = 500_000
"""Characters of all programs of one plan."""
CLOSING = "The console is closing."


@dataclass(frozen=True, slots=True)
class PackageQuestion:
    """What is to be planned."""

    registry: Registry
    asked: tuple[str, ...]
    """As the agent wrote them."""
    target: PythonTarget | NodeTarget
    before: PackageSet
    """What the sandbox has."""


class Planner:
    """Makes plans and prepares what they install. Belongs to one loop."""

    def __init__(
        self,
        cache: FileCache,
        access: Callable[[Registry], Access],
        limits: Callable[[], PlanLimits],
        dialer: Callable[[], Dialer] | None = None,
    ) -> None:
        """`access` returns how a registry is asked; it may block, and raises KnownError where this machine has none."""
        self._cache = cache
        self._access = access
        self._limits = limits
        self._dialer = dialer
        self._slots = asyncio.Semaphore(PLANS_AT_ONCE)
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}
        self._plans: OrderedDict[str, tuple[float, Plan]] = OrderedDict()
        self._deadlines: set[PlanDeadline] = set()
        self._closed = False

    async def plan(self, agent: str, question: PackageQuestion) -> Plan:
        """Return the plan of a question by `agent`. Raises NoPlan, and KnownError for faults of this machine."""
        key = _key(question)
        async with self._turn(agent):
            if (known := self._remembered(key)) is not None:
                return known
            limits, deadline = self._limits(), self._deadline()
            try:
                plan = await self._aside(lambda: self._planned(question, limits, deadline), deadline)
            finally:
                self._deadlines.discard(deadline)
            self._plans[key] = time.monotonic(), plan
            while len(self._plans) > REMEMBERED:
                self._plans.popitem(last=False)
            return plan

    async def prepare(
        self, agent: str, plan: Plan, before: PackageSet, built: Mapping[str, Built] | None = None
    ) -> Prepared:
        """Return what an approved plan installs, with what was `built` for it. Raises KnownError."""
        return await self._with_files(agent, plan.registry, lambda load: prepare(plan, before, load, built))

    async def files(self, agent: str, plan: Plan, before: PackageSet) -> dict[str, bytes]:
        """Return the files that the builds of an approved plan use, by their hashes. Raises KnownError."""
        wanted: list[PlannedPackage | BuildFile] = [one for package in plan.built for one in package.build_files]
        # What is unpacked only needs to be there for scripts, which may use any of it.
        wanted += plan.built if plan.registry is Registry.PYPI else (*before.packages, *plan.packages)
        return await self._with_files(agent, plan.registry, lambda load: {one.sha256: load(one) for one in wanted})

    async def _with_files(self, agent: str, registry: Registry, use: Callable[[Load], T]) -> T:
        """Return what `use` makes of approved files, on a thread. Raises KnownError."""
        async with self._turn(agent):
            limits, deadline = self._limits(), self._deadline()
            try:
                return await self._aside(lambda: self._loading(registry, use, limits, deadline), deadline)
            except Unusable as error:
                raise KnownError(f"The packages were not installed: {error}.", "Ask again.") from error
            finally:
                self._deadlines.discard(deadline)

    def forget(self) -> None:
        """Forget the plans that were made."""
        self._plans.clear()

    def close(self) -> None:
        """End what is being planned; the threads end by themselves."""
        self._closed = True
        for deadline in self._deadlines:
            deadline.cancel(CLOSING)

    # ---- on the loop ----

    def _deadline(self) -> PlanDeadline:
        if self._closed:
            raise NoPlan(CLOSING, "Call again when it is back.")
        deadline = PlanDeadline(self._limits().seconds)
        self._deadlines.add(deadline)
        return deadline

    async def _aside(self, work: Callable[[], T], deadline: PlanDeadline) -> T:
        try:
            return await in_daemon("assent-packages", work)
        except asyncio.CancelledError:
            deadline.cancel("Nobody waits for it any more.")
            raise

    @asynccontextmanager
    async def _turn(self, agent: str) -> AsyncIterator[None]:
        """One at a time for each agent, so that one that names slow packages keeps no other waiting."""
        lock, waiting = self._turns.get(agent, (asyncio.Lock(), 0))
        self._turns[agent] = lock, waiting + 1
        try:
            async with lock, self._slots:
                yield
        finally:
            lock, waiting = self._turns.pop(agent)
            if waiting > 1:
                self._turns[agent] = lock, waiting - 1

    def _remembered(self, key: str) -> Plan | None:
        at, plan = self._plans.get(key, (0.0, None))
        return plan if plan is not None and time.monotonic() - at < REMEMBERED_SECONDS else None

    # ---- on a thread ----

    def _planned(self, question: PackageQuestion, limits: PlanLimits, deadline: PlanDeadline) -> Plan:
        with asyncio.Runner() as runner:
            access = self._access(question.registry)
            client = self._client(access)
            try:
                target, before = question.target, question.before
                if isinstance(target, NodeTarget):
                    found = NpmFetching(access, client, self._cache, limits, deadline, runner)
                    wanted = npm_requirements(question.asked)
                    plan = npm_plan.make_plan(wanted, found, target, limits, before.packages)
                else:
                    source = PythonSource(
                        access.indexes, client, self._cache, target, limits, deadline, runner, before.needs
                    )
                    plan = make_plan(python_requirements(question.asked), source, target, before.versions)
                _check_programs(plan)
                return replace(plan, installed=before.titles)
            finally:
                runner.run(client.close())

    def _loading(self, registry: Registry, use: Callable[[Load], T], limits: PlanLimits, deadline: PlanDeadline) -> T:
        with asyncio.Runner() as runner:
            client = self._client(self._access(registry))

            def load(package: PlannedPackage | BuildFile) -> bytes:
                if (data := self._cache.find(package.sha256)) is not None:
                    return data
                return runner.run(_within(deadline, _fetched(client, package, limits)))

            try:
                return use(load)
            finally:
                runner.run(client.close())

    def _client(self, access: Access) -> RegistryClient:
        return RegistryClient(access, dialer=None if self._dialer is None else self._dialer())


def _check_programs(plan: Plan) -> None:
    """Raise NoPlan for more text of programs than anybody reads, all of which would be shown and recorded."""
    length = sum(len(program.text) for package in plan.built for program in package.programs)
    if length > MOST_PROGRAM_TEXT:
        what = f"The programs that these packages run while they are installed have {length:,} characters."
        raise NoPlan(what, f"Name other packages; at most {MOST_PROGRAM_TEXT:,} are shown for approval.")


async def _within(deadline: PlanDeadline, work: Awaitable[bytes]) -> bytes:
    async with asyncio.timeout(deadline.left):
        return await work


async def _fetched(client: RegistryClient, package: PlannedPackage | BuildFile, limits: PlanLimits) -> bytes:
    """Fetch the file of a package again, which must be the one that was approved. Raises Unusable."""
    page = await client.get(package.url, most=min(package.size, limits.file_bytes))
    if page is None or hashlib.sha256(page.data).hexdigest() != package.sha256:
        raise Unusable(f"the registry has another {package.file} by now than the one that was approved")
    return page.data


def _key(question: PackageQuestion) -> str:
    """Return what a plan depends on, as a hash."""
    parts = (question.registry, question.asked, question.target, question.before.titles)
    return hashlib.sha256(repr(parts).encode()).hexdigest()
