"""Runs code directly from Python, without asking: for callers who are responsible for the code themselves.

Agents use the gateway, where a person decides. These functions are the sandbox as a
library: the same limits, import rules and artifacts, no question and no ledger.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import uuid
from concurrent.futures import Future
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from runner.audit.files import artifacts
from runner.engine.supply.networking import gate_for
from runner.library import arguments, frames
from runner.model.answer import result_text
from runner.model.decision import Decider, Decision, Verdict
from runner.model.errors import KnownError, Refused
from runner.model.request import Isolation, Language, Request, Tool
from runner.model.submission import Submission
from runner.policy.decide import meets, refused_network
from runner.requests import intake
from runner.requests.modules import imports
from runner.requests.network import Offered, registry_hosts
from runner.sandbox.available import sandboxes
from runner.sandbox.choose import choose
from runner.sandbox.contract import Job
from runner.settings.declared import RUNTIMES
from runner.settings.default_packages import default_packages
from runner.settings.loading import load
from runner.settings.package_languages import with_languages
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from runner.model.result import Result
    from runner.sandbox.contract import Sandbox
    from runner.settings.loading import Settings

T = TypeVar("T")
CALLER = "python-api"


def execute(
    code: str,
    language: str = "python",
    timeout: float | None = None,
    context: Mapping[str, object] | None = None,
    *,
    stdin: str = "",
    isolation: str = "",
    max_memory_mb: int | None = None,
    max_disk_mb: int | None = None,
    max_output_bytes: int | None = None,
    network_enabled: bool | None = None,
    allowed_domains: Sequence[str] | None = None,
    fall_back: bool = False,
) -> Result:
    """Run `code` in the configured sandbox (`SANDBOX_TYPE`) and wait for its end.

    `timeout` is in seconds, by default `SANDBOX_TIMEOUT_SEC`. `context` becomes variables of the code;
    the value of its variable `result` is returned as `Result.value`. A pandas DataFrame among them is one in the code,
    too; then a DataFrame in `result` comes back as one. `stdin` is what the code reads from its standard input.

    `isolation` names the sandbox for this run, as `SANDBOX_TYPE` does. The limits are at most those of the settings.
    `fall_back` allows the strongest sandbox that works where the one that is named, or the level asks for, does not;
    so does the setting of that name.

    With `network_enabled` the code reaches the hosts in `allowed_domains` (`name`, `name:port` or `*.name`), without
    these the package registries of this machine, and nothing else; `Result.contacts` has what it tried to reach. By
    default the settings decide (`DOCKER_NETWORK_ENABLED`, for containers). Default packages are there, too.

    Raises KnownError where there is no such sandbox here or it has no network to give, where code may not run at all,
    and for settings that cannot be understood, as they might forbid something; Refused for arguments out of bounds.
    Never raises for a failure of the code.
    """
    work = execute_async(
        code,
        language,
        timeout,
        context,
        stdin=stdin,
        isolation=isolation,
        max_memory_mb=max_memory_mb,
        max_disk_mb=max_disk_mb,
        max_output_bytes=max_output_bytes,
        network_enabled=network_enabled,
        allowed_domains=allowed_domains,
        fall_back=fall_back,
    )
    return waited(work)


async def execute_async(
    code: str,
    language: str = "python",
    timeout: float | None = None,
    context: Mapping[str, object] | None = None,
    *,
    stdin: str = "",
    isolation: str = "",
    max_memory_mb: int | None = None,
    max_disk_mb: int | None = None,
    max_output_bytes: int | None = None,
    network_enabled: bool | None = None,
    allowed_domains: Sequence[str] | None = None,
    fall_back: bool = False,
) -> Result:
    """`execute` for callers with an event loop."""
    if allowed_domains and not network_enabled:
        raise Refused("allowed_domains is given without network_enabled.", "Set network_enabled to True as well.")
    submission = Submission(
        agent=CALLER,
        tool=Tool.CODE_EXECUTE,
        language=arguments.language_named(language),
        code=code,
        timeout=timeout,
        memory_mb=max_memory_mb,
        disk_mb=max_disk_mb,
        max_output_bytes=max_output_bytes,
        context=context,
        stdin=stdin,
        network_enabled=network_enabled,
        allowed_domains=arguments.texts("allowed_domains", allowed_domains),
    )
    return await run(submission, usable_settings(Places.standard()), isolation, fall_back=fall_back)


async def run(submission: Submission, settings: Settings, isolation: str = "", *, fall_back: bool = False) -> Result:
    """Run what a caller vouches for, within `settings`. Raises what `execute` does."""
    arguments.checked(submission)
    places = Places.standard()
    fall_back = fall_back or settings.sandbox_fallback
    framed = frames.packed(submission.context or {})
    submission = replace(submission, context=framed.context)
    wanted = (arguments.text("isolation", isolation) or settings.sandbox_type).strip().lower()
    wanted = dict(RUNTIMES).get(wanted, wanted)
    sandbox = (await choose(wanted, _sandboxes(settings), fall_back=fall_back)).sandbox
    if not fall_back:
        _require_level(settings, sandbox.isolation)
    if framed.has_tables and submission.language is not Language.PYTHON:
        raise KnownError("DataFrames go into Python code only.", "Hand in lists, or CSV as text.")
    by_default = submission.network_enabled is None and settings.network_by_default
    networked = submission.network_enabled or by_default
    registries = await asyncio.to_thread(registry_hosts, settings) if networked else ()
    request = intake.request(submission, settings, sandbox.isolation, offered=Offered(registries))
    if why := refused_network(request):
        raise KnownError(why, "Leave network_enabled out, or set up a sandbox: `assent doctor` says how.")
    request, with_packages = await _with_packages(request, sandbox, settings, places)
    job = Job(
        id=uuid.uuid4().hex,
        language=request.language or Language.PYTHON,
        code=request.code,
        limits=request.limits,
        context=framed.variables(request.context),
        stdin=request.stdin,
        tables=framed.has_tables,
        imports=imports(settings),
        network=request.network,
        gate=gate_for(request, (), registries, settings),
    )
    result = await _ran(with_packages(job), sandbox)
    _keep(places, settings.store_code, *framed.kept(request, result))
    return framed.unpacked(result)


async def _with_packages(
    request: Request, sandbox: Sandbox, settings: Settings, places: Places
) -> tuple[Request, Callable[[Job], Job]]:
    """Return `request` with the packages that the settings give every sandbox, and what adds them to its job."""
    if not default_packages(request.language, settings):
        return request, lambda job: job
    from runner.library.packages import prepared  # the planner takes as long to load as all of the rest

    return await prepared(request, sandbox, settings, places)


async def _ran(job: Job, sandbox: Sandbox) -> Result:
    """Run a job, and close its network with it; the hosts that it tried to reach are in the result."""
    gate = job.gate
    try:
        result = await (await sandbox.start(job, lambda _usage: None)).finished()
        if gate is None:
            return result
        return replace(result, contacts=gate.contacts, contacts_left_out=gate.contacts_left_out)
    finally:
        if gate is not None:
            gate.close()


def run_python_code(code: str, timeout: float | None = None) -> str:
    """Run Python code; compact text with its output or what went wrong. Never raises (spec I6).

    `timeout` is in seconds, by default `SANDBOX_TIMEOUT_SEC`.
    """
    return run_code(code, "python", timeout)


def run_code(code: str, language: str = "python", timeout: float | None = None) -> str:
    """`run_python_code` for code in any language."""
    try:
        result = execute(code, language, timeout)
        limit_kb = load(Places.standard(), os.environ).settings.max_output_kb
        return result_text(result, limit_kb * 1024)
    except KnownError as error:
        return f"Error: {error}"
    except Exception as error:  # the contract: an agent's tool loop must not break
        return f"Error: {type(error).__name__}: {error}"


def usable_settings(places: Places) -> Settings:
    """Return the settings. Raises KnownError where they forbid running code, or might: nobody can be asked here."""
    loaded = with_languages(load(places, os.environ))
    if loaded.problems:
        raise KnownError(f"Nothing was run: {' '.join(loaded.problems)}", "Correct the settings.")
    if not loaded.settings.enabled:
        raise KnownError("Running code is switched off in the settings of Assent.", "Nothing was run.")
    return loaded.settings


def _require_level(settings: Settings, isolation: Isolation) -> None:
    """Raise KnownError where the security level asks for containers and this is weaker.

    Plain processes will do where it does not: the caller vouches for the code.
    """
    weakest = Isolation(settings.weakest_isolation_high)
    if not meets(isolation, weakest, settings) and weakest is not Isolation.LOCAL:
        raise KnownError(
            f"The settings ask for {weakest.label} or stronger, and only {isolation.label} works here.",
            "Start the container engine, or allow the fallback: fall_back=True, or ASSENT_SANDBOX_FALLBACK=true.",
        )


@cache
def _sandboxes(settings: Settings) -> tuple[Sandbox, ...]:
    """Return the same sandboxes for all calls, as each examines this machine once.

    Python code on this machine sees the packages of its caller's interpreter (spec E4).
    """
    return sandboxes(replace(settings, python=settings.python or sys.executable), Places.standard())


def _keep(places: Places, policy: str, request: Request, result: Result) -> None:
    decision = Decision(Verdict.APPROVED, Decider.RULE, "Run by its own caller.", rule=CALLER, digest=request.digest)
    artifacts.store(places, policy, request, None, decision, result)


def waited(work: Coroutine[object, object, T]) -> T:
    """Run `work` to its end, also where this thread already has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    ended: Future[T] = Future()
    thread = threading.Thread(target=_finish, args=(work, ended), name="assent-execute")
    thread.start()
    return ended.result()


def _finish(work: Coroutine[object, object, T], ended: Future[T]) -> None:
    try:
        ended.set_result(asyncio.run(work))
    except BaseException as error:  # raised where it is waited for
        ended.set_exception(error)
