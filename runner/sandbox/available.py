"""The sandboxes that this machine may have, as the settings describe them."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES
from runner.model.request import Isolation, Language
from runner.sandbox.choose import NAMES, named
from runner.sandbox.container.own_profiles import OwnProfiles
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.docker.client import finder
from runner.sandbox.gvisor.engine import DirectEngine
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.plugin import PluginSandbox
from runner.sandbox.remote import keys
from runner.sandbox.remote.quota import Quota
from runner.sandbox.remote.sandbox import E2BSandbox
from runner.sandbox.remote.service import Service
from runner.sandbox.seccomp.own import OwnProfile
from runner.settings.declared import PREFIX
from runner.settings.loading import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.identity.secrets import Secrets
    from runner.sandbox.contract import Sandbox
    from runner.settings.loading import Settings
    from runner.system.places import Places

QUOTA_FILE = "e2b-minutes.json"
"""In the folder of states: what each agent has used today."""

OWN_IMAGES = {language: f"assent-{language.value}:1" for language in Language}
"""Assent's own, for languages of its own."""


def sandboxes(
    settings: Settings,
    places: Places,
    secrets: Secrets | None = None,
    present: Callable[[], Settings] | None = None,
) -> tuple[Sandbox, ...]:
    """Return all possible sandboxes; none is examined yet, so this costs nothing.

    E2B, and what installed packages bring, are among them only where the settings name them. `secrets` may have the
    key of E2B; without them it is looked for. `present` returns the settings of each moment, where they may change.
    """
    named, profiles = images(settings), own_profiles(settings)
    return (
        *_promised(settings, places, secrets),
        local_sandbox(settings, profiles, present),
        ContainerSandbox(Isolation.DOCKER, named, finder(settings.docker_context), profiles=profiles),
        ContainerSandbox(Isolation.GVISOR_DIRECT, named, DirectEngine(), own=True, profiles=profiles),
        ContainerSandbox(Isolation.GVISOR, named, finder(settings.docker_context), profiles=profiles),
    )


def by_name(name: str, places: Places, environment: Mapping[str, str] = os.environ) -> Sandbox:
    """Return the sandbox that a package brings under `name`, or Assent's own of that name, as the environment has it.

    For trials: no settings of the person count. Raises KnownError for a name that stands for none.
    """
    wanted = name if name in NAMES else f"{PREFIX}{name}"
    loaded = load(places, {**environment, "SANDBOX_TYPE": wanted})
    if loaded.settings.sandbox_type != wanted:
        raise KnownError(f"{name!r} can be the name of no sandbox.", f"Take {', '.join(NAMES)}, or that of a package.")
    return next(one for one in sandboxes(loaded.settings, places) if one.isolation in named(wanted))


def _promised(settings: Settings, places: Places, secrets: Secrets | None) -> tuple[Sandbox, ...]:
    """Return the one whose protections others promise, where the settings name it."""
    if settings.sandbox_type.startswith(PREFIX):
        return (PluginSandbox(settings.sandbox_type.removeprefix(PREFIX)),)
    return (e2b_sandbox(settings, places, secrets),) if settings.sandbox_type == "e2b" else ()


def e2b_sandbox(settings: Settings, places: Places, secrets: Secrets | None = None) -> E2BSandbox:
    """Return the one of the service that the settings name."""
    service = Service(
        domain=settings.e2b_domain,
        api_url=settings.e2b_api_url,
        sandbox_url=settings.e2b_sandbox_url,
        template=settings.e2b_template,
        find_key=partial(keys.find, places, settings, secrets),
    )
    spent = Quota(places.state / QUOTA_FILE, settings.e2b_sandboxes_per_agent, settings.e2b_minutes_a_day)
    return E2BSandbox(service, spent)


def local_sandbox(
    settings: Settings, profiles: OwnProfiles, present: Callable[[], Settings] | None = None
) -> LocalSandbox:
    """Return the one that needs no engine, with the interpreters and profiles that the settings name."""

    def languages() -> list[Language]:
        on = (settings if present is None else present()).languages
        return [one for one in Language if one.value in on]

    own, python, node, bash = profiles.seccomp, settings.python, settings.node, settings.bash
    return LocalSandbox(python=python, node=node, bash=bash, profile=own, languages=languages)


def own_profiles(settings: Settings) -> OwnProfiles:
    """Return the person's own profiles; a file is read only once a sandbox is examined."""
    path = settings.seccomp_profile
    return OwnProfiles(OwnProfile(path, settings.seccomp_allows) if path else None, settings.apparmor_profile)


def images(settings: Settings) -> dict[Language, str]:
    """Return the image for each language: its own setting, else the one for all, else Assent's."""
    given = {
        language: str(getattr(settings, support.image)) if support.image else ""
        for language, support in LANGUAGES.items()
    }
    return {
        language: own or settings.docker_image or OWN_IMAGES.get(language, f"assent-{language.value}:1")
        for language, own in given.items()
    }
