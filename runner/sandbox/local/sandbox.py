"""The local sandbox: code in processes of this machine, in bubblewrap where that works (spec X7)."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language
from runner.network.loop import NetworkLoop
from runner.sandbox import networked
from runner.sandbox.contract import Readiness
from runner.sandbox.local import control_groups, leftovers
from runner.sandbox.local.bubblewrap import Bubblewrap
from runner.sandbox.local.bubblewrap_start import REMEDY
from runner.sandbox.local.interpreters import Interpreter, find
from runner.sandbox.local.listeners import LocalDoors
from runner.sandbox.local.plain_processes import PlainProcesses
from runner.sandbox.local.run import LastingWorkspace, LocalRun
from runner.sandbox.local.session import TEMPORARY, LocalSession, kept
from runner.sandbox.local.trial import NETWORK
from runner.sandbox.verdict import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from runner.model.request import Limits
    from runner.model.result import Usage
    from runner.sandbox.contract import Job, ProjectLayer
    from runner.sandbox.local.child import Launcher
    from runner.sandbox.seccomp.own import OwnProfile

ALWAYS = (
    "time, memory, disk and output limits",
    "own folder, removed afterwards",
    "none of your environment variables",
)
OVER_PROJECT = "writes land in the working copy's layer, never in the project"
OVER_ALWAYS = ("time, memory, file size and output limits", "none of your environment variables")
"""Of runs over a project. What its layer may take of the disk is bounded by the session, which ends before it is full.
"""
NO_CPU_SHARE = "share of the processor: only containers can bind it"
CLOSING = "Stopped: the console is closing"
PACKAGES_NAMED = 50


class LocalSandbox:
    """Runs code as processes of this machine.

    `root` is where the folders of runs are made. `python`, `node` and `bash` are paths, '' to find them.
    With `bubblewrap` False it does without, else it takes bubblewrap where that works. With a `profile` of system calls
    that does not count, or without bubblewrap to enforce it, nothing is run.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        python: str = "",
        node: str = "",
        bash: str = "",
        bubblewrap: bool = True,
        profile: OwnProfile | None = None,
        languages: Callable[[], Collection[Language]] = lambda: tuple(Language),
    ) -> None:
        """`languages` returns those that may run: `check` starts no program of another one to ask for its version."""
        self._root = (root or leftovers.standard_root()).absolute()
        self._given = {Language.PYTHON: python, Language.JAVASCRIPT: node, Language.SHELL: bash}
        self._bubblewrap = bubblewrap
        self._profile = profile
        self._languages = languages
        self._examined: Collection[Language] = ()
        """The languages that `_readiness` speaks of."""
        self._lock = threading.RLock()
        self._tools: dict[Language, Interpreter | KnownError] = {}
        self._launcher: Launcher | None = None
        self._ready: dict[Language, tuple[Interpreter, Launcher]] = {}
        self._readiness: Readiness | None = None
        self._runs: set[LocalRun] = set()
        self._network = NetworkLoop()
        self._sessions: weakref.WeakSet[LocalSession] = weakref.WeakSet()

    @property
    def isolation(self) -> Isolation:
        """LOCAL until `check` or a run has found out that there is no bubblewrap; then PROCESS."""
        return Isolation.LOCAL if self._launcher is None else self._launcher.isolation

    async def check(self) -> Readiness:
        languages = self._languages()
        # A profile that did not count may have been corrected.
        corrected = self._profile is not None and self._readiness is not None and not self._readiness.ready
        if self._readiness is None or languages != self._examined or corrected:
            found = await asyncio.to_thread(self._examine, languages)
            self._readiness, self._examined = found, languages
        if self._profile is not None and (news := await asyncio.to_thread(self._profile.news)):
            return replace(self._readiness, missing=(news, *self._readiness.missing))
        return self._readiness

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> LocalRun:
        return await self._begin(job, measured, None)

    async def protections_over(self, *, mounted: bool) -> tuple[str, ...]:
        launcher = await asyncio.to_thread(self._ready_launcher)
        if not isinstance(launcher, Bubblewrap):
            raise KnownError(
                "Without bubblewrap no code can be run over a working copy.",
                "Install bubblewrap, or run it in the program's own shell, which is contained as well.",
            )
        return (*launcher.protections_over, TEMPORARY, OVER_PROJECT, *OVER_ALWAYS)

    async def start_over(self, job: Job, layer: ProjectLayer, measured: Callable[[Usage], None]) -> LocalRun:
        await self.protections_over(mounted=layer.mounts is not None)
        # Else the link itself would be opened, which is none to be followed.
        return await self._begin(job, measured, LastingWorkspace(f"/proc/self/fd/{layer.folder}/.", None, layer))

    async def open(self, language: Language, limits: Limits, image: str, agent: str = "") -> LocalSession:
        """Return a folder that is kept.

        Raises KnownError, also where there is no bubblewrap to show it to the code alone.
        """
        _, launcher = await self._prepared(language)
        if not isinstance(launcher, Bubblewrap):
            raise KnownError("Without bubblewrap no sandbox can be kept here.", "Send code_execute without sandbox_id.")
        try:
            protections = (*kept(launcher.protections), *ALWAYS)
            session = LocalSession(self._root, limits, launcher.identity, self._begin, protections)
        except OSError as error:
            raise KnownError(f"No folder for a sandbox: {error}.", "Free disk space.") from error
        self._sessions.add(session)
        return session

    async def close(self) -> None:
        runs = list(self._runs)
        for run in runs:
            run.stop(CLOSING)
        await asyncio.gather(*(run.finished() for run in runs), return_exceptions=True)
        await asyncio.gather(*(session.close() for session in self._sessions))
        self._network = await networked.ended(self._network)

    async def _begin(self, job: Job, measured: Callable[[Usage], None], place: LastingWorkspace | None) -> LocalRun:
        """Start `job` in the workspace `place`, or in one of its own. Raises KnownError."""
        networked.check(job)
        tool, launcher = await self._prepared(job.language)
        if job.gate is not None and not isinstance(launcher, Bubblewrap):
            raise KnownError(
                "Code in plain processes cannot be held to approved hosts, so it gets no network.",
                "Install bubblewrap or Docker, or run the code without network.",
            )
        doors = None if job.gate is None else LocalDoors(job.gate, self._network)
        if place is not None and place.layer is not None:
            active = await self.protections_over(mounted=place.layer.mounts is not None)
        else:
            active = (*(launcher.protections if place is None else kept(launcher.protections)), *ALWAYS)
        active = networked.protections(active, job, NETWORK)
        setting = Setting(active, {job.language.value: tool.version}, launcher.isolation)
        run = LocalRun(job, tool, launcher, setting, measured, place, doors)
        job.permit()
        self._runs.add(run)
        run.on_end(self._runs.discard)
        await run.begin()
        return run

    async def sweep(self) -> tuple[str, ...]:
        return await asyncio.to_thread(self._sweep)

    def _sweep(self) -> tuple[str, ...]:
        """Remove what consoles that are gone left behind. Raises KnownError for what cannot be removed."""
        groups = control_groups.sweep()
        return tuple(sorted(groups.union(leftovers.sweep(self._root))))

    # ---- examination of this machine, done once for the languages that may run ----

    def _examine(self, languages: Collection[Language]) -> Readiness:
        """Examine launcher and interpreters. Blocks."""
        try:
            launcher = self._ready_launcher()
        except KnownError as error:
            return Readiness(False, problem=error.what, remedy=error.remedy)
        versions: dict[str, str] = {}
        absent: dict[str, KnownError] = {}
        with self._lock:  # what was not there may have been installed
            self._tools = {one: tool for one, tool in self._tools.items() if isinstance(tool, Interpreter)}
        for language in languages:
            try:
                versions[language.value] = self._pair(language)[0].version
            except KnownError as error:
                absent[language.value] = error
        if isinstance(launcher, Bubblewrap):
            versions["bubblewrap"] = launcher.version()
        missing = (
            *launcher.missing,
            NO_CPU_SHARE,
            *(f"{name}: {error}" for name, error in absent.items()),
        )
        protections = (*launcher.protections, *ALWAYS)
        if absent and not versions.keys() & set(languages):
            first = next(iter(absent.values()))
            return Readiness(False, protections, missing, versions, problem=first.what, remedy=first.remedy)
        return Readiness(True, protections, missing, versions, self._packages())

    def _packages(self) -> str:
        tool = self._tools.get(Language.PYTHON)
        if not isinstance(tool, Interpreter):
            return ""
        names, more = tool.packages[:PACKAGES_NAMED], len(tool.packages) - PACKAGES_NAMED
        named = ", ".join(names) + (f" and {more} more" if more > 0 else "")
        return f"The standard library of Python {tool.version}" + (f", and {named}." if named else " alone.")

    async def _prepared(self, language: Language) -> tuple[Interpreter, Launcher]:
        """Return what a run in `language` needs. Raises KnownError where language or sandbox does not work here."""
        if language in self._ready:
            return self._ready[language]
        return await asyncio.to_thread(self._pair, language)

    def _pair(self, language: Language) -> tuple[Interpreter, Launcher]:
        """Return interpreter and launcher for a language. Raises KnownError."""
        tool, launcher = self._tool(language), self._ready_launcher()
        if refusal := launcher.refusal(tool):
            raise refusal
        self._ready[language] = tool, launcher
        return tool, launcher

    def _tool(self, language: Language) -> Interpreter:
        with self._lock:
            if language not in self._tools:
                try:
                    self._tools[language] = find(language, self._given.get(language, ""))
                except KnownError as error:
                    self._tools[language] = error
            tool = self._tools[language]
        if isinstance(tool, KnownError):
            raise tool
        return tool

    def _ready_launcher(self) -> Launcher:
        if not sys.platform.startswith("linux"):
            raise KnownError("The local sandbox needs Linux.", "Run Assent on Linux.")
        with self._lock:
            if self._launcher is None:
                try:
                    leftovers.make_root(self._root)
                except OSError as error:
                    raise KnownError(f"No folder for runs: {error}.", "Set TMPDIR to a folder of yours.") from error
                self._launcher = self._chosen_launcher()
            return self._launcher

    def _chosen_launcher(self) -> Launcher:
        why = "bubblewrap is switched off"
        profile = None if self._profile is None else self._profile.checked()
        if self._bubblewrap:
            try:
                return Bubblewrap.tried(profile)
            except KnownError as error:
                if profile is not None:
                    raise
                why = error.what.rstrip(".")
                if os.geteuid() == 0:
                    # Nothing binds root: not the number of processes, not the rights of files.
                    raise KnownError(
                        f"As root, code runs only behind bubblewrap, and that does not work here: {why}.",
                        "Install bubblewrap (apt-get install bubblewrap), or start Assent as an ordinary user.",
                    ) from error
        if profile is not None:
            raise KnownError(f"Your seccomp profile {profile.name} needs bubblewrap here, and {why}.", REMEDY)
        try:
            return PlainProcesses(self._root, self._tool(Language.PYTHON), why)
        except KnownError as python:
            # The first fault is that of bubblewrap: with it neither the other nor plain processes would matter.
            what = (
                f"{why[0].upper()}{why[1:]}. Without it code runs as plain processes, which need Python: {python.what}"
            )
            raise KnownError(what, f"{REMEDY} {python.remedy}") from python
