"""Builds every part of the engine and passes each its collaborators: the only file that knows all parts."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from runner.approval.absence import Absence
from runner.approval.approvals import Approvals
from runner.approval.checkpoint import Door
from runner.approval.circumstances import Circumstances
from runner.approval.deciders import in_order
from runner.approval.desk import Desk
from runner.approval.editing import Editing
from runner.approval.hindsight import Hindsight
from runner.approval.hosts import Hosts
from runner.approval.late_approval import PUT_BACK, LateApprovals
from runner.approval.modes import Modes
from runner.approval.remembering import Remembering
from runner.engine.engine import Engine
from runner.engine.foundation.bulletin import Bulletin
from runner.engine.foundation.closing import Closing
from runner.engine.foundation.opening import Opener
from runner.engine.foundation.parts import Parts
from runner.engine.foundation.recorder import Recorder
from runner.engine.kept.kept_sandboxes import KeptSandboxes
from runner.engine.lifecycle.history_bounds import HistoryBounds
from runner.engine.lifecycle.history_opening import HistoryOpening
from runner.engine.lifecycle.timekeeping import Timekeeping
from runner.engine.rehearsal.rehearsing import Rehearsals
from runner.engine.rehearsal.sandbox_watch import SandboxWatch
from runner.engine.request.admission import Admission
from runner.engine.request.deduplication import Deduplication
from runner.engine.request.membership import Membership
from runner.engine.request.path import Path
from runner.engine.request.runs import Runs
from runner.engine.supply.building import PackageBuilder
from runner.engine.supply.installing import Installing
from runner.engine.supply.networking import Networking
from runner.engine.work.at_work import AtWork
from runner.engine.work.layers import SessionLayers
from runner.model.rehearsal import RehearsalMode
from runner.network.dialing import look_up
from runner.requests.cases import Cases
from runner.requests.network import Offered
from runner.settings.loading import load
from runner.settings.package_languages import with_languages
from runner.system.places import Places
from runner.system.tasks import spawn
from runner.work.in_force import REVOKED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.policy.decide import Policy
    from runner.sandbox.contract import Sandbox
    from runner.settings.loading import Loaded, Settings


def open_engine(places: Places | None = None, environment: Mapping[str, str] = os.environ) -> Engine:
    """Return an engine on the standard places and settings, built but not started."""
    places = places or Places.standard()
    return build(places, with_languages(load(places, environment)))


def build(places: Places, loaded: Loaded, sandboxes: tuple[Sandbox, ...] | None = None) -> Engine:
    """Return an engine, built but not started.

    `sandboxes` are the candidates; by default all that this machine may have.
    """
    return Assembly(Parts(places, loaded, sandboxes)).engine


class Assembly:
    """The parts of one engine. Those that need each other get methods of this class, which look them up when called."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.configuration = parts.configuration
        self.bulletin, self.closing, self.cases = Bulletin(), Closing(), Cases()
        self.recorder = Recorder(parts.ledger, self.bulletin)
        self.opener = Opener(self.bulletin)
        self.membership = Membership(
            parts.agents, self.recorder, self.settings, self.withdraw_all, self.forget, self.deny_forbidden
        )
        self.circumstances = self.make_circumstances()
        self.approvals = self.make_approvals()
        self.networking = self.make_networking()
        self.builder = PackageBuilder(parts.places, self.settings, self.networking, self.recorder)
        self.installing = Installing(parts.places, parts.sandboxes, self.settings, self.builder)
        self.sandboxes = KeptSandboxes(
            self.recorder,
            parts.sandboxes,
            self.settings,
            self.installing,
            self.forget_sandbox,
            self.withdraw_from_sandbox,
            parts.places.artifacts,
        )
        self.layers = SessionLayers(parts.places)
        self.runs = Runs(
            parts,
            self.recorder,
            self.approvals.door,
            self.sandboxes,
            self.installing,
            self.networking,
            self.rehearsals,
            self.layers,
        )
        self.path = Path(
            parts, self.recorder, self.cases, self.approvals, self.runs, self.sandboxes, self.builder, self.assess
        )
        self.engine = self.make_engine()
        self.bulletin.listen(self.engine.work.hear)
        parts.pin.listen(lambda kind, body: spawn("record the PIN", self.recorder.keep_noting(kind, "", body)))

    def make_circumstances(self) -> Circumstances:
        return Circumstances(
            policy=self.policy,
            settings=self.settings,
            registered=self.membership.registered,
            barred=self.membership.barred,
            forbids=self.membership.forbids,
            moved=self.parts.sandboxes.moved,
            unready=self.parts.sandboxes.unready,
            held=lambda id: self.rehearsals.trials.held(id),
            keeps=lambda id: self.sandboxes.holds(id),
            where=self.parts.sandboxes.where,
            unwritable=self.unwritable,
            closing=lambda: self.closing.why,
        )

    def make_approvals(self) -> Approvals:
        record, cases, circumstances = self.recorder, self.cases, self.circumstances
        grants, assessor, ledger = self.configuration.grants, self.parts.assessor, self.parts.places.ledger
        desk = Desk()
        modes = Modes(record, circumstances, self.deny_all)
        door = Door(desk, cases, modes, circumstances)
        late = LateApprovals(record, cases, modes, circumstances)
        remembering = Remembering(
            record,
            grants,
            assessor,
            circumstances,
            lambda: self.approvals.hindsight,
            lambda: self.engine.reload(),
            lambda revoked: self.approvals.hosts.withdraw(revoked),
        )
        hosts = Hosts(record, cases, modes, circumstances, grants, lambda: self.networking, look_up, ledger)
        self.rehearsals = Rehearsals(self.parts, record, desk, circumstances, self.rehearsal_mode)
        deciders = in_order(modes, late, remembering, desk, circumstances, self.rehearsals)
        assess = partial(self.assess, person=True)
        hindsight = Hindsight(cases, grants, assessor, deciders, assess, circumstances, ledger, self.offered)
        editing = Editing(cases, desk, door, assess, assessor, circumstances, ledger)
        absence = Absence(record, desk, cases, self.parts.places.away)
        return Approvals(desk, door, modes, late, remembering, deciders, hindsight, editing, hosts, absence)

    def make_networking(self) -> Networking:
        hosts, now = self.approvals.hosts, self.configuration.grants.now
        return Networking(self.recorder, self.settings, self.parts.registries, hosts.use, now)

    def make_engine(self) -> Engine:
        parts, closing = self.parts, self.circumstances.closing
        watch = SandboxWatch(parts.sandboxes, self.recorder, self.opener, closing)
        return Engine(
            parts=parts,
            bulletin=self.bulletin,
            recorder=self.recorder,
            closing=self.closing,
            cases=self.cases,
            approvals=self.approvals,
            sandboxes=self.sandboxes,
            runs=self.runs,
            membership=self.membership,
            admission=Admission(
                parts,
                self.recorder,
                self.bulletin,
                self.sandboxes,
                self.closing,
                watch,
                self.installing,
                self.offered,
                Deduplication(self.cases, self.recorder, self.membership.registered),
                self.membership,
                self.layers,
            ),
            installing=self.installing,
            path=self.path,
            watch=watch,
            history=self.make_history(),
            bounds=HistoryBounds(parts.places, parts.ledger, self.settings, self.in_use),
            timekeeping=Timekeeping(self.awoke, self.configuration.grants.note_time),
            opener=self.opener,
            work=AtWork(parts.places, self.recorder, self.approvals.modes, self.circumstances, look_up, parts.assess),
            layers=self.layers,
        )

    def make_history(self) -> HistoryOpening:
        return HistoryOpening(self.parts.ledger, self.recorder, self.bulletin, self.opener, self.cases, self.path)

    # ---- functions passed to the parts ----

    def policy(self) -> Policy:
        """Return the policy in force."""
        return self.configuration.policy

    def settings(self) -> Settings:
        """Return the settings in force."""
        return self.configuration.settings

    async def assess(self, request: Request, *, person: bool = False) -> Assessment:
        """Return the classifier's assessment, with the level raised by the rules."""
        assessment = await self.parts.assess(request, person=person)
        return self.policy().weigh(request, assessment)  # by the rules in force now, not those before the await

    async def offered(self, agent: str) -> Offered:
        """Return the hosts that a networked request of `agent` gets without naming them."""
        registries = await self.parts.registries()
        return Offered(registries, self.approvals.hosts.granted(agent))

    def in_use(self) -> frozenset[str]:
        """Return the requests on which something rests that is still to happen."""
        return self.approvals.late.armed | {case.request.id for case in self.cases.active()}

    def unwritable(self) -> str:
        """Return why the ledger cannot be written; empty where it can."""
        trouble = self.bulletin.standing("ledger")
        return "" if trouble is None else f"{trouble.what} {trouble.remedy}"

    def awoke(self) -> None:
        """End what would have ended while the machine slept."""
        self.approvals.awoke()
        self.sandboxes.awoke()

    def deny_all(self, why: str) -> None:
        """Deny all undecided requests, revoke late approvals, end every network and program at work."""
        if not self.closing.why:
            self.engine.work.end_all(why)  # a console that closes leaves programs at work
        self.networking.shut_all()
        self.path.end_assessing()
        self.approvals.desk.clear(why)
        self.approvals.late.drop(why)

    def withdraw_all(self, agent: str, why: str) -> None:
        """Withdraw the requests of an agent that was revoked or renamed."""
        self.path.withdraw_all(agent, why)

    def deny_forbidden(self, agent: str) -> None:
        """Deny the open questions of an agent, and end its rehearsals, that what a person has set for it forbids."""
        for case in self.cases.active():
            if case.request.agent == agent and (why := self.membership.forbids(case.request, False)):
                self.approvals.desk.deny(case.request.id, why)
        self.rehearsals.look_again(agent)

    def rehearsal_mode(self, agent: str) -> RehearsalMode:
        """Return where the code of an agent runs before a person decides; OFF unless a person chose otherwise."""
        return RehearsalMode(self.membership.allowance(agent).rehearse)

    def withdraw_from_sandbox(self, id: str, why: str) -> tuple[str, ...]:
        """Deny what is asked about a kept sandbox and revoke what was approved for it; the requests not closed yet."""
        cases = [case for case in self.cases.active() if case.request.sandbox == id]
        for case in cases:
            self.approvals.desk.deny(case.request.id, why)
        self.approvals.late.drop_for(id, PUT_BACK)
        return tuple(case.request.id for case in cases)

    async def forget_sandbox(self, id: str) -> None:
        """Revoke what was approved for a kept sandbox that was removed. Raises KnownError."""
        self.approvals.late.drop_for(id)
        await self.approvals.remembering.revoke_for(id)

    async def forget(self, agent: str, how: str) -> None:
        """Revoke the grants of an agent, remove its kept sandboxes, and end its programs at work where it was revoked;
        `how` is "revoked" or "renamed".

        Raises KnownError.
        """
        self.approvals.late.drop(f"the agent was {how}", agent)
        self.approvals.modes.forget(agent, how)
        if how == "revoked":
            await self.engine.work.end_of(agent, REVOKED.format(agent))
        await self.sandboxes.remove_of(agent, f"The agent was {how}.")
        await self.approvals.remembering.revoke_of(agent, how)
