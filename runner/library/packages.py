"""Packages that the settings give every sandbox, in runs that Python programs start themselves."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from runner.engine.supply.planning import Planning, with_defaults, with_found
from runner.model.errors import KnownError
from runner.packages.installing import PackageSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.request import Request
    from runner.sandbox.contract import Job, Sandbox
    from runner.settings.loading import Settings
    from runner.system.places import Places


async def prepared(
    request: Request, sandbox: Sandbox, settings: Settings, places: Places
) -> tuple[Request, Callable[[Job], Job]]:
    """Return `request` with the plan for its default packages, and what adds these to its job.

    Raises KnownError where there is no plan, and for packages that would have to be built.
    """
    planning = Planning(places, lambda: sandbox, lambda: settings)
    try:
        request = await planning.planned(with_defaults(request, settings), request.language, None)
        plan = request.plan
        assert plan is not None
        if plan.built:
            built = ", ".join(one.title for one in plan.built)
            raise KnownError(
                f"{built} would have to be built, which is not done for a single run.",
                "Name a version that has a wheel in the default packages, or use SandboxManager.",
            )
        found = await planning.planner.prepare(request.agent, plan, PackageSet(plan.registry))
        return request, partial(with_found, found=found.after, bundle=found.bundle)
    finally:
        planning.close()
