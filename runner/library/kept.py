"""Sandboxes that are kept over several calls, for Python programs (spec E3)."""

from __future__ import annotations

import asyncio
import inspect
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from runner.assembly import build
from runner.library import arguments, direct
from runner.model.assessment import Assessment
from runner.model.decision import Verdict
from runner.model.errors import KnownError, Refused
from runner.model.events import QuestionAsked, RequestAssessed
from runner.model.request import Isolation, Request, Tool
from runner.model.submission import Submission
from runner.settings.loading import load
from runner.system.places import Places
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from runner.engine.engine import Engine
    from runner.model.answer import Answer
    from runner.model.events import Event
    from runner.model.result import Result
    from runner.settings.loading import Loaded, Settings

T = TypeVar("T")
Ask = Callable[[Request, Assessment], bool | Awaitable[bool]]
"""Decides about one request, as a person does in the window: True approves exactly this one."""
REFUSED = "The program that keeps the sandbox did not approve it."
CLOSED = "The sandboxes were closed."
MOST_KEPT = 10_000
"""Sandboxes and open calls of one program: it answers for what it starts, and may serve many users."""


class NotApproved(KnownError):
    """Nothing was run: it was not approved, or a rule or setting forbids it."""


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What was installed, with everything that it needs."""

    installed: Mapping[str, str]
    """Versions by name."""
    import_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WriteResult:
    path: str
    """Below the workspace."""
    size: int
    """Bytes."""
    sha256: str


@dataclass(frozen=True, slots=True)
class ReadResult:
    path: str
    content: str
    """Text, or base64 where `encoding` says so."""
    encoding: str
    size: int
    """Bytes of the whole file."""
    left_out: int
    """Bytes of it that were not read."""


@dataclass(frozen=True, slots=True)
class ListResult:
    path: str
    files: tuple[str, ...]
    """Names; those of folders end with a slash."""
    left_out: int
    """How many more there are."""


class SandboxManager:
    """Creates sandboxes, runs code in them and removes them. Use it in `async with`; all of it on one event loop.

    Everything passes the same engine as in the console: assessed, held against the person's settings and rules, and
    run within the same limits. Where the console would ask a person, `ask` decides; without `ask` the caller vouches
    for all that is run. A sandbox is removed after the time that the settings give it, and all of them at the end.
    What ran is in no history: only the console has one.

    Methods raise NotApproved where `ask`, a rule or the settings say no, KnownError for what does not work, and Refused
    for arguments out of bounds; a failure of the code is in the result.
    """

    def __init__(self, ask: Ask | None = None) -> None:
        self._ask = ask
        self._engine: Engine | None = None
        self._opening = asyncio.Lock()
        self._folder: Path | None = None
        self._assessed: dict[str, Assessment] = {}
        self._failed: dict[str, BaseException] = {}
        self._names: dict[str, str] = {}
        """Ids of the engine by those that the caller chose."""

    async def __aenter__(self) -> SandboxManager:
        await self._opened()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ---- the seven methods ----

    async def create_sandbox(
        self,
        language: str,
        sandbox_id: str | None = None,
        network_enabled: bool = False,
        allowed_domains: Sequence[str] | None = None,
        *,
        max_memory_mb: int | None = None,
        max_disk_mb: int | None = None,
    ) -> str:
        """Create a sandbox for code in `language` and for shell code; return its id, `sandbox_id` where that is given.

        Its limits on memory and disk are those of all its runs.
        """
        if sandbox_id is not None and (not sandbox_id or sandbox_id in self._names):
            raise Refused(f"{sandbox_id!r} cannot be the id of a new sandbox.", "Choose another one.")
        if allowed_domains and not network_enabled:
            raise Refused("allowed_domains is given without network_enabled.", "Set network_enabled to True as well.")
        facts = await self._facts(
            Submission(
                direct.CALLER,
                Tool.CODE_CREATE_SANDBOX,
                arguments.language_named(language),
                memory_mb=max_memory_mb,
                disk_mb=max_disk_mb,
                network_enabled=network_enabled,
                allowed_domains=arguments.texts("allowed_domains", allowed_domains),
            )
        )
        name = sandbox_id or str(facts["sandbox_id"])
        self._names[name] = str(facts["sandbox_id"])
        return name

    async def execute_code(
        self,
        sandbox_id: str,
        code: str,
        timeout: float | None = None,
        max_memory_mb: int | None = None,
        *,
        language: str | None = None,
        context: Mapping[str, object] | None = None,
        stdin: str = "",
        max_output_bytes: int | None = None,
        network_enabled: bool | None = None,
        allowed_domains: Sequence[str] | None = None,
    ) -> Result:
        """Run code in a sandbox. `timeout` is in seconds; `language` may be shell in any sandbox.

        Memory is a limit of the sandbox: `max_memory_mb` may repeat it, and is refused where it differs.
        """
        engine = await self._opened()
        kept = engine.sandboxes.find(direct.CALLER, self._id(sandbox_id))
        answer = await self._answer(
            Submission(
                direct.CALLER,
                Tool.CODE_EXECUTE,
                kept.language if language is None else arguments.language_named(language),
                code,
                timeout=timeout,
                memory_mb=None if max_memory_mb == kept.limits.memory_mb else max_memory_mb,
                max_output_bytes=max_output_bytes,
                context=context,
                stdin=stdin,
                sandbox_id=kept.id,
                network_enabled=network_enabled,
                allowed_domains=arguments.texts("allowed_domains", allowed_domains),
            )
        )
        if answer.result is None:
            raise KnownError(answer.problem or "It did not run.")
        return answer.result

    async def install_package(self, sandbox_id: str, package: str, registry: str = "") -> InstallResult:
        """Install a package and what it needs, from `pypi` or `npm`; by default the registry of the language."""
        asked = Submission(
            direct.CALLER,
            Tool.CODE_INSTALL_PACKAGE,
            sandbox_id=self._id(sandbox_id),
            packages=(arguments.text("package", package),),
            registry=registry,
        )
        facts = await self._facts(asked)
        return InstallResult(dict(_table(facts["installed"])), tuple(map(str, _list(facts["import_names"]))))

    async def write_file(
        self, sandbox_id: str, file_path: str, content: str, *, executable: bool = False
    ) -> WriteResult:
        """Write a text file below the workspace; folders are made."""
        asked = Submission(
            direct.CALLER,
            Tool.CODE_WRITE_FILE,
            sandbox_id=self._id(sandbox_id),
            file_path=file_path,
            content=content,
            executable=executable,
        )
        facts = await self._facts(asked)
        return WriteResult(str(facts["path"]), _whole(facts["size"]), str(facts["sha256"]))

    async def read_file(
        self, sandbox_id: str, file_path: str, *, offset: int = 0, max_bytes: int | None = None
    ) -> ReadResult:
        """Read a file below the workspace."""
        asked = Submission(
            direct.CALLER,
            Tool.CODE_READ_FILE,
            sandbox_id=self._id(sandbox_id),
            file_path=file_path,
            offset=offset,
            max_bytes=max_bytes,
        )
        facts = await self._facts(asked)
        size, read = _whole(facts["size"]), _whole(facts["bytes"])
        content, encoding = str(facts["content"]), str(facts["encoding"])
        return ReadResult(str(facts["path"]), content, encoding, size, max(0, size - read))

    async def list_files(self, sandbox_id: str, path: str = "/workspace") -> ListResult:
        """List a folder of the workspace."""
        asked = Submission(direct.CALLER, Tool.CODE_LIST_FILES, sandbox_id=self._id(sandbox_id), file_path=path)
        facts = await self._facts(asked)
        entries = (_table(one) for one in _list(facts["entries"]))
        names = tuple(f"{one['name']}/" if one["kind"] == "folder" else str(one["name"]) for one in entries)
        return ListResult(str(facts["path"]), names, _whole(facts.get("left_out", 0)))

    async def destroy_sandbox(self, sandbox_id: str) -> None:
        """Remove a sandbox with all its files."""
        await self._facts(Submission(direct.CALLER, Tool.CODE_DESTROY_SANDBOX, sandbox_id=self._id(sandbox_id)))
        self._names.pop(sandbox_id, None)

    async def close(self) -> None:
        """Remove every sandbox; what still runs is stopped. Harmless when done before."""
        async with self._opening:
            engine, self._engine = self._engine, None
            folder, self._folder = self._folder, None
            self._names.clear()
            if engine is not None:
                await engine.close(CLOSED)
            if folder is not None:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    # ---- the engine behind it ----

    async def _opened(self) -> Engine:
        """Return the engine, opened with the first call. Raises KnownError where nothing may run."""
        async with self._opening:
            if self._engine is None:
                loaded, folder = await asyncio.to_thread(_prepared, self._ask is None)
                self._folder = folder
                engine = build(Places.under(folder), loaded)
                engine.listen(self._hear)
                self._engine = engine
                await engine.start(gateway=False)
            return self._engine

    def _id(self, sandbox_id: str) -> str:
        return self._names.get(arguments.text("sandbox_id", sandbox_id), sandbox_id)

    async def _facts(self, submission: Submission) -> Mapping[str, object]:
        """Return what a tool that runs no code answers. Raises NotApproved and KnownError."""
        answer = await self._answer(submission)
        if answer.problem or answer.facts is None:
            raise KnownError(answer.problem or "There is no answer.")
        return answer.facts

    async def _answer(self, submission: Submission) -> Answer:
        arguments.checked(submission)
        engine = await self._opened()
        ticket = await engine.submit(submission)
        try:
            answer = await ticket.answered(None)
        except asyncio.CancelledError:
            engine.withdraw(ticket.request_id)
            raise
        finally:
            self._assessed.pop(ticket.request_id, None)
        assert answer is not None
        if (failure := self._failed.pop(ticket.request_id, None)) is not None:
            raise failure
        if answer.decision.verdict is not Verdict.APPROVED:
            raise NotApproved(answer.decision.reason or f"It was {answer.decision.verdict.value}.", "Nothing was run.")
        return answer

    def _hear(self, event: Event) -> None:
        match event:
            case RequestAssessed():
                self._assessed[event.request_id] = event.assessment
            case QuestionAsked():
                spawn(f"decide {event.request_id}", self._decide(event))
            case _:
                pass

    async def _decide(self, asked: QuestionAsked) -> None:
        """Answer a question in place of a person; whatever fails is a no."""
        engine, assessment = self._engine, self._assessed.get(asked.request_id)
        ticket = None if engine is None else engine.ticket(direct.CALLER, asked.request_id)
        if engine is None or ticket is None or assessment is None:
            return
        request = ticket.case.request
        try:
            agreed = not asked.blocked and await self._agreed(request, assessment)
        except Exception as error:  # raised where the call waits
            self._failed[request.id] = error
            agreed = False
        # Whoever calls decides: a PIN is for the person at the window.
        verdict, why = (Verdict.APPROVED, "") if agreed else (Verdict.DENIED, asked.blocked or REFUSED)
        if refused := engine.answer(request.id, request.digest, verdict, why, proven=True):
            engine.answer(request.id, request.digest, Verdict.DENIED, refused)

    async def _agreed(self, request: Request, assessment: Assessment) -> bool:
        if self._ask is None:
            return True
        answer = self._ask(request, assessment)
        # True and nothing else: what merely is not empty approves nothing.
        return (await answer if inspect.isawaitable(answer) else answer) is True


def _prepared(vouched: bool) -> tuple[Loaded, Path]:
    """Return the settings in force, and a folder for an engine of its own, with the person's rules in it.

    Raises KnownError where the settings forbid running code, or might.
    """
    standard = Places.standard()
    settings = direct.usable_settings(standard)
    folder = Path(tempfile.mkdtemp(prefix="assent-kept-"))
    places = Places.under(folder)
    places.make()
    # Rules count here, too; agents and what was remembered are the console's.
    for name in ("rules.yaml", standard.settings.name):
        if (file := standard.config / name).is_file():
            shutil.copy(file, places.config / name)
    if (rules := standard.own_rules).is_dir():
        shutil.copytree(rules, places.own_rules)
    loaded = load(standard, os.environ)
    settings = _unbounded(replace(settings, python=settings.python or sys.executable))
    return replace(loaded, settings=_vouched(settings) if vouched else settings), folder


def _unbounded(settings: Settings) -> Settings:
    """Return the settings without the counts that hold an agent back; what is switched off by 0 stays so."""
    return replace(
        settings,
        max_pending=MOST_KEPT,
        sandboxes_per_agent=MOST_KEPT if settings.sandboxes_per_agent else 0,
        sandboxes=MOST_KEPT if settings.sandboxes else 0,
    )


def _vouched(settings: Settings) -> Settings:
    """Return the settings for code that its caller vouches for: every level runs where HIGH may, as in `execute`."""
    weakest = settings.weakest_isolation_high
    if Isolation(weakest).strength <= Isolation.LOCAL.strength:
        weakest = Isolation.PROCESS.value
    return replace(
        settings,
        weakest_isolation_critical=weakest,
        weakest_isolation_high=weakest,
        weakest_isolation_medium=weakest,
    )


def _table(value: object) -> Mapping[str, Any]:
    assert isinstance(value, dict)
    return value


def _list(value: object) -> list[Any]:
    assert isinstance(value, (list, tuple))
    return list(value)


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value
