"""Builds every part of the engine and hands each what it needs: the only file that knows all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runner.approval.deciders import in_order
from runner.approval.desk import Desk
from runner.approval.door import Door
from runner.approval.editing import Editing
from runner.approval.hindsight import Hindsight
from runner.approval.late_approval import LateApprovals
from runner.approval.modes import Modes
from runner.approval.remembering import Remembering
from runner.engine.bulletin import Bulletin
from runner.engine.closing import Closing
from runner.engine.engine import Engine
from runner.engine.entrance import Entrance
from runner.engine.kept_sandboxes import KeptSandboxes
from runner.engine.membership import Membership
from runner.engine.parts import Parts
from runner.engine.path import Path
from runner.engine.recorder import Recorder
from runner.engine.runs import Runs
from runner.requests.cases import Cases
from runner.settings.loading import load
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.policy.decide import Policy
    from runner.sandbox.contract import Sandbox
    from runner.settings.loading import Loaded, Settings


def open_engine(places: Places | None = None, environment: Mapping[str, str] = os.environ) -> Engine:
    """An engine on the standard places and settings, built but not started."""
    places = places or Places.standard()
    return build(places, load(places, environment))


def build(places: Places, loaded: Loaded, sandboxes: tuple[Sandbox, ...] | None = None) -> Engine:
    """An engine, built but not started. `sandboxes` are the ones to choose from; by default what there may be here."""
    return Assembly(Parts(places, loaded, sandboxes)).engine


class Assembly:
    """What is built for one engine. Those that need one another are handed methods, looked up when they are called."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.configuration = parts.configuration
        self.bulletin, self.closing, self.cases, self.desk = Bulletin(), Closing(), Cases(), Desk()
        self.recorder = Recorder(parts.ledger, self.bulletin)
        self.membership = Membership(parts.agents, self.recorder, self.withdraw_all, self.forget)
        barred = self.membership.barred
        self.modes = Modes(self.recorder, self.policy, barred, self.deny_all)
        self.late = LateApprovals(self.recorder, self.cases, self.modes, self.policy, barred)
        self.door = Door(self.desk, self.cases, self.modes, self.policy, barred, self.unwritable, self.why_closing)
        self.remembering = Remembering(
            self.recorder,
            self.configuration.grants,
            parts.assessor,
            self.membership.registered,
            self.policy,
            lambda: self.hindsight,
            lambda: self.engine.reload(),
        )
        self.deciders = in_order(self.modes, self.policy, self.late, self.remembering, self.desk, self.why_closing)
        self.hindsight = self.make_hindsight()
        revoked = self.remembering.revoke_for
        self.sandboxes = KeptSandboxes(self.recorder, parts.sandboxes, self.settings, barred, self.closing, revoked)
        self.runs = Runs(parts, self.recorder, self.door, self.sandboxes)
        self.path = Path(
            parts,
            self.recorder,
            self.cases,
            self.desk,
            self.door,
            self.deciders,
            self.runs,
            self.sandboxes,
            self.assess,
        )
        self.engine = self.make_engine()

    def make_hindsight(self) -> Hindsight:
        return Hindsight(
            self.cases,
            self.configuration.grants,
            self.parts.assessor,
            self.membership.registered,
            self.deciders,
            lambda request: self.assess(request, person=True),
            self.settings,
            self.policy,
            lambda: self.parts.sandboxes.isolation,
            self.parts.places.ledger,
        )

    def make_engine(self) -> Engine:
        parts, settings, policy = self.parts, self.settings, self.policy
        ledger = parts.places.ledger
        editing = Editing(self.cases, self.desk, self.door, self.assess, parts.assessor, settings, policy, ledger)
        return Engine(
            parts=parts,
            bulletin=self.bulletin,
            recorder=self.recorder,
            closing=self.closing,
            cases=self.cases,
            desk=self.desk,
            door=self.door,
            modes=self.modes,
            late=self.late,
            remembering=self.remembering,
            hindsight=self.hindsight,
            editing=editing,
            sandboxes=self.sandboxes,
            runs=self.runs,
            membership=self.membership,
            entrance=Entrance(parts, self.recorder, self.bulletin, self.sandboxes, self.closing),
            path=self.path,
        )

    # ---- what the parts are handed ----

    def policy(self) -> Policy:
        """The policy in force."""
        return self.configuration.policy

    def settings(self) -> Settings:
        """The settings in force."""
        return self.configuration.settings

    async def assess(self, request: Request, *, person: bool = False) -> Assessment:
        """The classifier's verdict, raised to what the rules say."""
        return self.policy().weigh(request, await self.parts.assess(request, person=person))

    def why_closing(self) -> str:
        """Why the console is closing; empty while it is open."""
        return self.closing.why

    def unwritable(self) -> str:
        """Why the ledger can take nothing; empty where it can."""
        trouble = self.bulletin.standing("ledger")
        return "" if trouble is None else f"{trouble.what} {trouble.remedy}"

    def deny_all(self, why: str) -> None:
        """Deny everything that nobody has decided, and take late approvals back."""
        self.path.end_assessing()
        self.desk.clear(why)
        self.late.drop(why)

    def withdraw_all(self, agent: str, why: str) -> None:
        """Withdraw what a revoked agent has asked."""
        self.path.withdraw_all(agent, why)

    async def forget(self, agent: str) -> None:
        """Take back all that a revoked agent was granted, and remove what it keeps. Raises KnownError."""
        self.late.drop("the agent was revoked", agent)
        self.modes.forget(agent)
        await self.sandboxes.remove_of(agent, "The agent was revoked.")
        await self.remembering.revoke_of(agent)
