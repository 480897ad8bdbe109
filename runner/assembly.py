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
    from runner.sandbox.contract import Sandbox
    from runner.settings.loading import Loaded


def open_engine(places: Places | None = None, environment: Mapping[str, str] = os.environ) -> Engine:
    """An engine on the standard places and settings, built but not started."""
    places = places or Places.standard()
    return build(places, load(places, environment))


def build(places: Places, loaded: Loaded, sandboxes: tuple[Sandbox, ...] | None = None) -> Engine:
    """An engine, built but not started. `sandboxes` are the ones to choose from; by default what there may be here."""
    parts = Parts(places, loaded, sandboxes)
    configuration = parts.configuration
    bulletin, closing, cases, desk = Bulletin(), Closing(), Cases(), Desk()
    recorder = Recorder(parts.ledger, bulletin)

    async def assess(request: Request, *, person: bool = False) -> Assessment:
        """The classifier's verdict, raised to what the rules say."""
        return configuration.policy.weigh(request, await parts.assess(request, person=person))

    def unwritable() -> str:
        trouble = bulletin.standing("ledger")
        return "" if trouble is None else f"{trouble.what} {trouble.remedy}"

    def deny_all(why: str) -> None:
        path.end_assessing()
        desk.clear(why)
        late.drop(why)

    async def forget(agent: str) -> None:
        late.drop("the agent was revoked", agent)
        modes.forget(agent)
        await kept.remove_of(agent, "The agent was revoked.")
        await remembering.revoke_of(agent)

    membership = Membership(parts.agents, recorder, lambda agent, why: path.withdraw_all(agent, why), forget)
    modes = Modes(recorder, lambda: configuration.policy, membership.barred, deny_all)
    late = LateApprovals(recorder, cases, lambda: modes, lambda: configuration.policy, membership.barred)
    door = Door(desk, cases, modes, lambda: configuration.policy, membership.barred, unwritable, lambda: closing.why)
    remembering = Remembering(
        recorder,
        configuration.grants,
        parts.assessor,
        membership.registered,
        lambda: configuration.policy,
        lambda: hindsight,
        lambda: engine.reload(),
    )
    deciders = in_order(modes, lambda: configuration.policy, late, remembering, desk, lambda: closing.why)
    hindsight = Hindsight(
        cases,
        configuration.grants,
        parts.assessor,
        membership.registered,
        deciders,
        lambda request: assess(request, person=True),
        lambda: configuration.settings,
        lambda: configuration.policy,
        lambda: parts.sandboxes.isolation,
        places.ledger,
    )
    kept = KeptSandboxes(
        recorder, parts.sandboxes, lambda: configuration.settings, membership.barred, closing, remembering.revoke_for
    )
    runs = Runs(parts, recorder, door, kept)
    path = Path(parts, recorder, cases, desk, door, deciders, runs, kept, assess)
    engine = Engine(
        parts=parts,
        bulletin=bulletin,
        recorder=recorder,
        closing=closing,
        cases=cases,
        desk=desk,
        door=door,
        modes=modes,
        late=late,
        remembering=remembering,
        hindsight=hindsight,
        editing=Editing(
            cases,
            desk,
            door,
            assess,
            parts.assessor,
            lambda: configuration.settings,
            lambda: configuration.policy,
            places.ledger,
        ),
        sandboxes=kept,
        runs=runs,
        membership=membership,
        entrance=Entrance(parts, recorder, bulletin, kept, closing),
        path=path,
    )
    return engine
