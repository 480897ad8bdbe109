"""The sandboxes that this machine may have, as the settings describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.language_support import LANGUAGES
from runner.model.request import Isolation, Language
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.docker.client import finder
from runner.sandbox.gvisor.engine import DirectEngine
from runner.sandbox.local.sandbox import LocalSandbox

if TYPE_CHECKING:
    from runner.sandbox.contract import Sandbox
    from runner.settings.loading import Settings

OWN_IMAGES = {language: f"assent-{language.value}:1" for language in Language}


def sandboxes(settings: Settings) -> tuple[Sandbox, ...]:
    """Return all possible sandboxes; none is examined yet, so this costs nothing."""
    named = images(settings)
    return (
        local_sandbox(settings),
        ContainerSandbox(Isolation.DOCKER, named, finder(settings.docker_context)),
        ContainerSandbox(Isolation.GVISOR_DIRECT, named, DirectEngine(), own=True),
        ContainerSandbox(Isolation.GVISOR, named, finder(settings.docker_context)),
    )


def local_sandbox(settings: Settings) -> LocalSandbox:
    """Return the one that needs no engine, with the interpreters that the settings name."""
    return LocalSandbox(python=settings.python, node=settings.node, bash=settings.bash)


def images(settings: Settings) -> dict[Language, str]:
    """Return the image for each language: its own setting, else the one for all, else Assent's."""
    given = {language: str(getattr(settings, support.image)) for language, support in LANGUAGES.items()}
    return {language: own or settings.docker_image or OWN_IMAGES[language] for language, own in given.items()}
