"""The active runs: started after the last check, stopped, paused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from runner.audit.ledger.ledger import LedgerFailed
from runner.engine.shared.output_readings import PrintedCurve
from runner.engine.shared.typescript import runnable
from runner.engine.supply.building import BuildFailed
from runner.engine.supply.planning import with_found
from runner.engine.work.layers import ENDED, able
from runner.model.errors import KnownError
from runner.model.events import RunHeld, RunMeasured, RunObserved, RunStarted
from runner.model.lifecycle import Phase
from runner.model.request import Language
from runner.model.result import Meta, Outcome, Result
from runner.requests.modules import imports
from runner.requests.network import through_gate
from runner.risk.inputs.kept_files import UNREAD
from runner.sandbox.contract import Haltable, Job, Killable, NotPermitted
from runner.sandbox.imports import binds
from runner.sandbox.output import OutputBudget
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from runner.approval.checkpoint import Door
    from runner.engine.foundation.parts import Parts
    from runner.engine.kept.kept_sandboxes import KeptSandboxes
    from runner.engine.rehearsal.rehearsing import Rehearsals
    from runner.engine.supply.installing import Installing
    from runner.engine.supply.networking import Networking
    from runner.engine.work.layers import OpenLayer, SessionLayers
    from runner.model.decision import Decision
    from runner.model.record import Record
    from runner.model.request import Request
    from runner.model.result import Usage
    from runner.requests.case import Case
    from runner.risk.inputs.imported import Import
    from runner.sandbox.contract import Collect, Run, Sandbox, Session

STOPPED = "Stopped by a person."
KEPT = "It is the sandbox that the agent keeps."
HELD, RESUMED = "held", "resumed"
"""Kinds of entries in the ledger."""


class Runs:
    """The active runs. Every method is called on the engine's loop."""

    def __init__(
        self,
        parts: Parts,
        record: Record,
        door: Door,
        sandboxes: KeptSandboxes,
        installing: Installing,
        networking: Networking,
        rehearsals: Rehearsals,
        layers: SessionLayers,
    ) -> None:
        """`rehearsals` are ended together with all runs."""
        self.rehearsals = rehearsals
        self._parts = parts
        self._record = record
        self._door = door
        self._sandboxes = sandboxes
        self._installing = installing
        self._networking = networking
        self._layers = layers
        self._runs: dict[str, Run] = {}
        self._starting: dict[str, str] = {}
        """Approved requests whose run has not started, each with why it was stopped before; '' where it was not."""
        self._held: set[str] = set()
        self._budget = OutputBudget()

    async def run(self, case: Case, decision: Decision) -> Result:
        """Run exactly what was approved, in the sandbox that it was approved for.

        Raises LedgerFailed where nothing ran and the approval itself could not be written: it is undone.
        """
        request, chosen = case.approved, self._parts.sandboxes
        self._starting[request.id] = ""
        try:
            if request.sandbox:
                async with self._sandboxes.used(request) as session:
                    await self._sandboxes.verify(request, session)
                    await self._sandboxes.lending.begin_run(request, case.weighed)
                    return await self._run_in(case, decision, session, session.protections, KEPT)
            if request.work is not None:
                ended = partial(self.stop, request.id, ENDED)
                async with self._layers.entered(request.work, ended, request.sends) as layer:
                    self._door.require(case, decision)
                    sandbox, why = chosen.sandbox, chosen.why
                    protections = await self._layers.protections(sandbox, request.work)
                    return await self._run_in(case, decision, sandbox, protections, why, layer)
            self._door.require(case, decision)
            sandbox, why = chosen.sandbox, chosen.why  # with no await since: the one that it was shown for
            return await self._run_in(case, decision, sandbox, (await sandbox.check()).protections, why)
        except NotPermitted as refusal:
            return not_run(request, refusal, Outcome.KILLED)
        except BuildFailed as failure:
            return failure.result
        except LedgerFailed as failure:
            if case.take_back():
                raise
            return not_run(request, failure)
        except KnownError as error:
            return not_run(request, error)
        finally:
            self._networking.close(request.id)
            self._starting.pop(request.id, None)
            self._held.discard(request.id)

    async def _run_in(
        self,
        case: Case,
        decision: Decision,
        place: Sandbox | Session,
        protections: tuple[str, ...],
        why: str,
        layer: OpenLayer | None = None,
    ) -> Result:
        """Run `case` in `place`, whose protections and reason are recorded; with `layer` that is the workspace.

        Raises NotPermitted for an approval no longer valid, KnownError if `place` fails.
        """
        request = case.approved
        protections = through_gate(protections, request.network)
        if gone := [one for one in request.protections if one not in protections]:
            raise KnownError(f"What protected the machine when this was asked is gone: {gone[0]}.", "Ask again.")
        self._permit(case, decision)
        body = {"protections": list(protections), "chosen": why}
        await case.advance(Phase.RUNNING, body, RunStarted(request.id, protections))
        job = self._job(case, decision, await self._imported(request))
        job = replace(job, code=await runnable(self._parts.assessor, request, case.weighed, request.agent))
        job = await self._with_packages(request, job)
        job = replace(job, gate=await self._networking.open(request))
        if layer is not None:
            # What it creates is among the changes of the working copy.
            job = replace(job, collect=None, permit=lambda: self._permit_over(case, decision, layer))
        job.permit()
        printed = PrintedCurve()

        def measured(usage: Usage) -> None:
            self._measured(request.id, printed.reading(usage))

        if layer is None:
            run = await place.start(job, measured)
        else:
            run = await able(cast("Sandbox", place)).start_over(job, layer.layer, measured)
        case.transcript = printed.transcript = run.transcript
        self._runs[request.id] = run
        stopped = self._starting.pop(request.id)
        if (refusal := self._door.refuses(case, decision)) is not None:  # refused while the sandbox started
            run.stop(refusal.reason)
        elif stopped:
            run.stop(stopped)
        elif request.id in self._held:
            self._hold_started(request.id, run)
        try:
            return printed.finished(self._networking.finished(request.id, await run.finished()))
        finally:
            run.transcript.release()
            del self._runs[request.id]

    def _measured(self, request_id: str, usage: Usage) -> None:
        self._record.publish(RunMeasured(request_id, self._networking.reading(request_id, usage)))

    def _permit(self, case: Case, decision: Decision) -> None:
        """Raise NotPermitted where the approval counts no more, or a person stopped the run before it started."""
        self._door.require(case, decision)
        if why := self._starting.get(case.request.id, ""):
            raise NotPermitted(why, "Nothing was run.")

    def _permit_over(self, case: Case, decision: Decision, layer: OpenLayer) -> None:
        """As `_permit`; raise NotPermitted also where the program at work has ended."""
        self._permit(case, decision)
        layer.require()

    def _hold_started(self, request_id: str, run: Run) -> None:
        """Pause a run that a person paused before it started; report it as not paused where its sandbox cannot."""
        if isinstance(run, Haltable):
            run.pause()
        else:
            self._note_held(request_id, False)

    def _job(self, case: Case, decision: Decision, imported: tuple[Import, ...] | None) -> Job:
        request = case.approved
        assert request.language is not None
        return Job(
            id=request.id,
            language=request.language,
            code=request.code,
            limits=request.limits,
            context=request.context,
            stdin=request.stdin,
            imports=imports(self._parts.configuration.settings),
            imported=imported,
            own_modules=not case.other_values and _looks_in_workspace(case),
            known=request.known,
            network=request.network,
            image=request.image,
            agent=request.agent,
            collect=self._collect(request.id),
            budget=self._budget,
            permit=lambda: self._permit(case, decision),
            noticed=lambda behaviour: self._record.publish(RunObserved(request.id, behaviour)),
        )

    async def _with_packages(self, request: Request, job: Job) -> Job:
        """Return `job` with the packages that it may import, its own or of its kept sandbox. Raises KnownError."""
        found, bundle = self._sandboxes.packages(request.sandbox), None
        if request.plan is not None:
            with self._installing.stoppable(request):
                prepared = await self._installing.prepared(request, None, job.permit)
            found, bundle = prepared.after, prepared.bundle
        return job if found is None else with_found(job, found, bundle, kept=bool(request.sandbox))

    async def _imported(self, request: Request) -> tuple[Import, ...] | None:
        """Return the imports of Python code; None where no rule restricts them. Raises KnownError."""
        if request.language is not Language.PYTHON or not binds(imports(self._parts.configuration.settings)):
            return None
        found = await self._parts.assessor.imported(request.code, agent=request.agent)
        if found is None:
            raise KnownError("What this code imports could not be read.", "Nothing was run. Send less code.")
        return found

    def _collect(self, request_id: str) -> Collect | None:
        """Return the destination for files that the run creates; None where it cannot be made, which is reported."""
        try:
            return self._parts.files.collect(request_id)
        except OSError as error:
            what = f"Files of a run could not be collected: {error}"
            self._record.trouble("artifacts", what, "Free disk space.")
            return None

    # ---- what a person does with them ----

    def stop(self, request_id: str, why: str = STOPPED) -> None:
        """Stop a run or an installation, also one that is about to start; nothing where there is none with that id."""
        self._networking.shut(request_id)
        self._installing.stop(request_id, why or STOPPED)
        if run := self._runs.get(request_id):
            run.stop(why)
        elif request_id in self._starting:
            self._starting[request_id] = why or STOPPED

    def reachable(self, request_id: str) -> tuple[str, ...] | None:
        """Return what a run may reach now; None where it has no network, or is over. May be called on any thread."""
        return self._networking.reachable(request_id)

    def stop_all(self, why: str) -> None:
        """Stop every run, installation and rehearsal."""
        self.rehearsals.stop_all(why)
        for request_id in (*self._runs, *self._starting, *self._installing.active):
            self.stop(request_id, why)

    def end_without_loop(self, why: str) -> None:
        """End every run and rehearsal although the loop does not come round. May be called on any thread."""
        self._networking.shut_all()
        self.rehearsals.end_without_loop(why)
        for run in (*self._runs.copy().values(), *self._installing.unpacking):
            run.stop(why)
            if isinstance(run, Killable):
                run.kill_now()

    def hold(self, request_id: str, held: bool) -> None:
        """Pause or resume a run, also one that is about to start; nothing where its sandbox cannot pause."""
        run = self._runs.get(request_id)
        if held is (request_id in self._held):
            return
        if isinstance(run, Haltable):
            (run.pause if held else run.resume)()
        elif request_id not in self._starting:
            return
        self._note_held(request_id, held)

    def _note_held(self, request_id: str, held: bool) -> None:
        (self._held.add if held else self._held.discard)(request_id)
        self._record.publish(RunHeld(request_id, held))
        spawn(f"held {request_id}", self._record.note(HELD if held else RESUMED, request_id))

    def hold_all(self, held: bool) -> tuple[str, ...]:
        """Pause or resume every run; return the ids of runs whose sandbox cannot pause."""
        for request_id in (*self._runs, *self._starting):
            self.hold(request_id, held)
        return tuple(request_id for request_id, run in self._runs.items() if not isinstance(run, Haltable))


def _looks_in_workspace(case: Case) -> bool:
    """Return whether what the code imports may come from a file of its workspace that the request does not hold.

    In a kept sandbox only where the person was shown that it does.
    """
    found = case.weighed.findings if case.weighed is not None else ()
    return not case.approved.has_files or any(finding.id == UNREAD for finding in found)


def not_run(request: Request, error: KnownError, outcome: Outcome = Outcome.ENGINE_LOST) -> Result:
    """Return the result of a run that did not start, or whose end is not known."""
    meta = Meta(runtime=request.isolation.value, limits=request.limits, isolation=request.isolation)
    return Result(outcome, "", str(error), 1, 0.0, error=str(error), meta=meta)
