"""Turns a tool call into a request, or refuses it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from runner.audit.ledger.ledger import LedgerFailed
from runner.engine.supply.planning import registry_of, with_defaults
from runner.identity.allowance import narrowed
from runner.model.errors import KnownError, Refused
from runner.model.events import RequestArrived
from runner.model.lifecycle import Phase
from runner.model.request import Isolation, Language, NetworkMode, Tool
from runner.model.tool_facts import FACTS
from runner.requests import intake
from runner.requests.case import Case
from runner.requests.network import Offered
from runner.system.offload import SMALL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.engine.foundation.bulletin import Bulletin
    from runner.engine.foundation.closing import Closing
    from runner.engine.foundation.parts import Parts
    from runner.engine.kept.kept_sandboxes import KeptSandboxes
    from runner.engine.rehearsal.sandbox_watch import SandboxWatch
    from runner.engine.request.deduplication import Deduplication
    from runner.engine.request.membership import Membership
    from runner.engine.supply.installing import Installing
    from runner.engine.work.layers import SessionLayers
    from runner.model.kept_sandbox import Kept
    from runner.model.record import Record
    from runner.model.request import Request
    from runner.model.submission import Submission
    from runner.settings.loading import Settings


class Admission:
    """Admits tool calls. Every method is called on the engine's loop."""

    def __init__(
        self,
        parts: Parts,
        record: Record,
        bulletin: Bulletin,
        sandboxes: KeptSandboxes,
        closing: Closing,
        watch: SandboxWatch,
        installing: Installing,
        offered: Callable[[str], Awaitable[Offered]],
        deduplication: Deduplication,
        membership: Membership,
        layers: SessionLayers,
    ) -> None:
        """`offered(agent)` returns the hosts that its networked requests get without naming them."""
        self._parts = parts
        self._record = record
        self._bulletin = bulletin
        self._sandboxes = sandboxes
        self._closing = closing
        self._watch = watch
        self._installing = installing
        self._offered = offered
        self._deduplication = deduplication
        self._membership = membership
        self._layers = layers

    async def admit(self, submission: Submission, begin: Callable[[Case], None]) -> tuple[Case, bool]:
        """Make the request of a tool call and `begin` it; it is durable before anything follows from it.

        Return it, and whether the call joined an identical request that was there already.

        Raises Refused for arguments out of bounds and KnownError while no request can be taken: then
        there is no request and nothing will run.
        """
        self._require_admitted(submission.agent)
        if submission.client is None:
            await self._parts.sandboxes.known()
        offered = await self._offered(submission.agent) if self._may_be_networked(submission) else Offered()
        isolation, image, protections = await self._place(submission)
        kept = self._admissible(submission)
        settings = narrowed(self._parts.configuration.settings, self._membership.allowance(submission.agent))
        make = partial(_request, submission, settings, isolation, image, kept, protections, offered)
        request = await self._parts.aside.do(submission.agent, _size(submission), make)
        # Checked again, as it may have been made beside the loop.
        self._admissible(submission)
        self._require_allowed(request)
        request = await self._with_packages(submission, request, kept)
        request = await self._with_files(submission, request)
        request = await self._with_sent(submission, request)
        async with self._deduplication.turn(request):
            # It may have waited for an identical one to be written.
            self._admissible(submission)
            self._require_allowed(request)
            if submission.may_join and (there := self._deduplication.join(request)) is not None:
                return there, True
            case = Case(request, self._record)
            if self._bulletin.standing("ledger") is None:
                case.advance_soon(Phase.ARRIVED, request, RequestArrived(request))
            else:
                await _written(case)
            begin(case)
            return case, False

    async def _place(self, submission: Submission) -> tuple[Isolation, str, tuple[str, ...]]:
        """Return isolation, image and protections of where it would run; of a kept sandbox they are known already."""
        chosen = self._parts.sandboxes
        if submission.client is not None:
            return Isolation.PROCESS, "", ()
        if submission.work is not None:
            _require_over_project(submission)
            protections = await self._layers.protections(chosen.sandbox, submission.work)
            return chosen.isolation, "", protections
        if submission.sandbox_id:
            return chosen.isolation, "", ()
        if FACTS[submission.tool].new_place:
            await self._watch.look_for_request()
        return await chosen.place(submission.language)

    def _may_be_networked(self, submission: Submission) -> bool:
        """Return whether a call asks for network, or may get it from its kept sandbox or by the settings."""
        if submission.client is not None:
            return False
        if submission.network_enabled is not None:
            return submission.network_enabled
        return bool(submission.sandbox_id) or self._parts.configuration.settings.network_by_default

    async def _with_packages(self, submission: Submission, request: Request, kept: Kept | None) -> Request:
        """Return a request with the plan for its packages, and with the packages of its kept sandbox.

        Raises Refused where there is no plan. The caller waits meanwhile.
        """
        request = with_defaults(request, self._parts.configuration.settings)
        language = request.language if kept is None else kept.language
        if request.packages:
            registry_of(language, submission.registry)
            if request.sandbox and request.tool is not Tool.CODE_INSTALL_PACKAGE:
                raise Refused("packages are for a run in a sandbox of its own.", "Call code_install_package before.")
            before = self._sandboxes.packages(request.sandbox)
            request = await self._installing.planning.planned(request, language, before)
            if request.tool is Tool.CODE_INSTALL_PACKAGE and not request.builds:
                request = replace(request, network=NetworkMode.NONE, domains=(), granted=())  # nothing would use it
            self._admissible(submission)
        if request.tool is Tool.CODE_EXECUTE and (found := self._sandboxes.packages(request.sandbox)) is not None:
            request = replace(request, installed=found.seen)
        return await asyncio.to_thread(_digested, request) if request.plan is not None else _digested(request)

    async def _with_files(self, submission: Submission, request: Request) -> Request:
        """Return a request to run code with the known files of its sandbox that the code starts or imports."""
        if request.tool is Tool.CODE_EXECUTE:
            self._sandboxes.lending.prepare(request.sandbox)
        written = self._sandboxes.written(request.sandbox) if request.tool is Tool.CODE_EXECUTE else ()
        if not written:
            return request
        assessor = self._parts.assessor
        files = await assessor.used(request.language, request.code, written, agent=request.agent)
        self._admissible(submission)
        if not files:
            return request
        request = await asyncio.to_thread(_digested, replace(request, known=files))
        self._admissible(submission)
        return request

    async def _with_sent(self, submission: Submission, request: Request) -> Request:
        """Return a request over a project with the files that it sends to another machine. Raises KnownError."""
        if request.work is None or request.tool is not Tool.CODE_EXECUTE:
            return request
        sends = await self._layers.sends(request.isolation, request.work)
        if sends is not None:
            request = await asyncio.to_thread(_digested, replace(request, sends=sends))
        self._admissible(submission)
        return request

    def _admissible(self, submission: Submission) -> Kept | None:
        """Return the kept sandbox that a call names. Raises KnownError and Refused where it cannot be taken now."""
        self._check_open(submission.tool)
        self._require_admitted(submission.agent)
        return self._kept(submission)

    def _require_admitted(self, agent: str) -> None:
        """Raise KnownError for an agent that a person has paused, and for a name that stands for none any more."""
        if why := self._membership.refuses(agent):
            raise KnownError(why, "Nothing was run. Do not ask again until the person says so.")

    def _require_allowed(self, request: Request) -> None:
        """Raise Refused for what a person does not allow the agent."""
        if why := self._membership.forbids(request, False):
            raise Refused(why, "Nothing was run. Do without, or ask the person to change it.")

    def _check_open(self, tool: Tool) -> None:
        """Raise KnownError while no request for `tool` can be taken."""
        if self._closing.why:
            raise KnownError("The console is closing.", "Call again when it is back.")
        if not self._parts.ledger.is_open and (trouble := self._bulletin.standing("ledger")):
            raise KnownError(trouble.what, f"Nothing was run. {trouble.remedy}")
        if not FACTS[tool].new_place:
            return
        if not self._parts.configuration.settings.enabled:
            raise KnownError("Running code is switched off in the settings of Assent.", "Nothing was run.")
        if trouble := self._bulletin.standing("sandbox"):
            raise KnownError(trouble.what, f"Nothing was run. {trouble.remedy}")

    def _kept(self, submission: Submission) -> Kept | None:
        """Return the kept sandbox that the call names. Raises Refused where the agent has none of that name."""
        if submission.tool is Tool.CODE_CREATE_SANDBOX:
            self._sandboxes.check_capacity(submission.agent)
        if not submission.sandbox_id and not FACTS[submission.tool].sandbox:
            return None
        kept = self._sandboxes.find(submission.agent, submission.sandbox_id)
        if submission.language not in (None, kept.language, Language.SHELL):
            raise Refused(
                f"Sandbox {kept.id} is for {kept.language.value} and shell code.", "Create one for this language."
            )
        return kept


def _require_over_project(submission: Submission) -> None:
    """Raise Refused for what is not done over a working copy."""
    if submission.tool not in (Tool.CODE_EXECUTE, Tool.CODE_SANDBOX_INFO) or submission.sandbox_id:
        raise Refused(
            "At work there are no kept sandboxes: the project is kept.", "Call code_execute without sandbox_id."
        )
    if submission.packages:
        raise Refused(
            "Packages are not installed over a working copy by code_execute.",
            "Install them with your own shell, where they land in the project's layer.",
        )


async def _written(case: Case) -> None:
    """Record the arrival of a request while the ledger may not work. Raises KnownError where it does not."""
    try:
        await case.advance(Phase.ARRIVED, case.request, RequestArrived(case.request))
    except LedgerFailed as failure:
        raise KnownError(failure.what, f"Nothing was run. {failure.remedy}") from failure


def _request(
    submission: Submission,
    settings: Settings,
    isolation: Isolation,
    image: str,
    kept: Kept | None,
    protections: tuple[str, ...],
    offered: Offered,
) -> Request:
    """Return the request of a submission with its digest computed. Raises Refused."""
    made = intake.request(submission, settings, isolation, image, kept, protections, offered)
    made = replace(made, program=submission.program, session=submission.session, claim=submission.claim)
    return _digested(replace(made, work=submission.work))


def _digested(request: Request) -> Request:
    """Return `request` with its digest computed, which takes time where it is large."""
    _ = request.digest
    return request


def _size(submission: Submission) -> int:
    """Return the characters of which a request is made. Variables may be many, of whatever size: they count as much."""
    text = len(submission.code) + len(submission.stdin) + len(submission.content) + len(submission.title)
    return text + SMALL + 1 if submission.context else text
