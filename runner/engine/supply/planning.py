"""Packages of requests, planned before anybody is asked: which files would be installed, for which interpreter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError, Refused
from runner.model.language_support import packages_of
from runner.model.plan import Registry
from runner.model.request import Language, Limits, Tool
from runner.model.result import Outcome
from runner.network.registries import of_this_machine
from runner.packages.cache import FileCache
from runner.packages.client import Access
from runner.packages.failures import NoPlan
from runner.packages.installing import PackageSet
from runner.packages.limits import PlanLimits
from runner.packages.planner import PackageQuestion, Planner
from runner.packages.target import NODE_PROBE, PROBE, NodeTarget, PythonTarget
from runner.sandbox.contract import Job
from runner.settings.default_packages import default_packages

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.bundle import Bundle
    from runner.model.request import Isolation, Request
    from runner.model.result import Usage
    from runner.sandbox.contract import Sandbox
    from runner.settings.loading import Settings
    from runner.system.places import Places

PROBE_SECONDS = 20.0
TARGETS: dict[Registry, tuple[str, Callable[[str], PythonTarget | NodeTarget]]] = {
    Registry.PYPI: (PROBE, PythonTarget.read),
    Registry.NPM: (NODE_PROBE, NodeTarget.read),
}
"""What an interpreter is asked, and what reads its answer."""


class Planning:
    """Plans packages. Every method is called on the loop that it belongs to."""

    def __init__(self, places: Places, sandbox: Callable[[], Sandbox], settings: Callable[[], Settings]) -> None:
        """`sandbox` returns the one in which code would run. It raises KnownError where there is none."""
        self._sandbox = sandbox
        self._settings = settings
        cache = FileCache(places.packages, settings().package_cache_mb << 20)
        self.planner = Planner(cache, self._access, self._limits)
        self._targets: dict[tuple[Isolation, str, Language], PythonTarget | NodeTarget] = {}

    async def planned(self, request: Request, language: Language | None, before: PackageSet | None) -> Request:
        """Return `request` with the plan for its packages in a sandbox for `language` that has those of `before`.

        Raises Refused where there is no plan, and KnownError for faults of this machine.
        """
        if not request.packages:
            return request
        registry = registry_of(language)
        target = await self.target(request, language)
        before = before or PackageSet(registry)
        plan = await self.planner.plan(request.agent, PackageQuestion(registry, request.packages, target, before))
        if not plan.packages:
            raise NoPlan("All of it is installed already.", "Use it.")
        return replace(request, plan=plan)

    def close(self) -> None:
        """End what is being planned."""
        self.planner.close()

    async def target(self, request: Request, language: Language | None) -> PythonTarget | NodeTarget:
        """Return what the interpreter that would run the code can use; it is asked once. Raises KnownError."""
        assert language is not None
        key = request.isolation, request.image, language
        if key not in self._targets:
            sandbox = self.sandbox(request)
            code, read = TARGETS[registry_of(language)]
            job = Job("probe", language, code, Limits(seconds=PROBE_SECONDS), image=request.image)
            result = await (await sandbox.start(job, _unmeasured)).finished()
            if result.outcome is not Outcome.OK:
                raise KnownError(f"The sandbox does not say which interpreter it has: {result.error}.", "Open Doctor.")
            self._targets[key] = read(result.stdout)
        return self._targets[key]

    def sandbox(self, request: Request) -> Sandbox:
        """Return the sandbox for what runs beside a request. Raises KnownError where it is of another kind."""
        sandbox = self._sandbox()
        if sandbox.isolation is not request.isolation:
            raise KnownError(
                "Code runs in another kind of sandbox by now than this one.", "Create a new sandbox and ask again."
            )
        return sandbox

    def _limits(self) -> PlanLimits:
        settings = self._settings()
        return PlanLimits(settings.package_file_mb << 20, settings.package_plan_mb << 20)

    def _access(self, registry: Registry) -> Access:
        """Return how this machine asks a registry. Reads files. Raises KnownError where it is not configured."""
        settings = self._settings()
        found = of_this_machine(settings.pypi_registries, settings.npm_registries)
        addresses = found.pypi if registry is Registry.PYPI else found.npm
        if not addresses:
            name = "pip" if registry is Registry.PYPI else "npm"
            raise KnownError(
                f"This machine has no registry for {registry.value}: neither {name} nor the settings name one.",
                f"Doctor has the command that brings {name}; or name the registry's address in Settings.",
            )
        first, *further = (f"{url.rstrip('/')}/" for url in addresses)
        python = registry is Registry.PYPI
        return Access(
            first,
            frozenset(found.destinations),
            found.authorization,
            found.pypi_authorities if python else found.npm_authorities,
            tuple(further) if python else (),
            {} if python else {scope: f"{url.rstrip('/')}/" for scope, url in found.scopes},
        )


def registry_of(language: Language | None, named: str = "") -> Registry:
    """Return the registry for packages of a language. Raises Refused where `named` is another one, or there is none."""
    packages = packages_of(language)
    if language is None or packages is None:
        raise Refused(
            "Packages are for Python and JavaScript code.", "Leave packages out, or send code in one of the two."
        )
    registry = packages.registry
    if named and named != registry.value:
        known = ", ".join(Registry)
        raise Refused(
            f"registry is {named[:50]!a}; a sandbox for {language.value} takes {registry.value} alone.",
            f"Use {registry.value}. Assent knows {known}.",
        )
    return registry


def with_defaults(request: Request, settings: Settings) -> Request:
    """Return `request` with the packages that every new sandbox of its language starts with."""
    if request.tool not in (Tool.CODE_EXECUTE, Tool.CODE_CREATE_SANDBOX) or request.sandbox:
        return request
    defaults = default_packages(request.language, settings)
    return replace(request, packages=tuple(dict.fromkeys((*defaults, *request.packages)))) if defaults else request


def with_found(job: Job, found: PackageSet, bundle: Bundle | None = None, *, kept: bool = False) -> Job:
    """Return `job` with packages that its code may import; those of a `kept` sandbox are there already.

    What an import rule forbids by name stays forbidden; a package that was approved needs no place in its list.
    """
    rule = job.imports
    if rule.allowed is not None:
        rule = replace(rule, allowed=(*rule.allowed, *found.names))
    hashes = found.modules if job.language is Language.PYTHON else None
    if job.language is Language.JAVASCRIPT and kept:
        hashes = dict(found.files)
    return replace(job, bundle=bundle, packages=hashes, imports=rule)


def _unmeasured(_usage: Usage) -> None:
    """Take no notice of what it uses."""
