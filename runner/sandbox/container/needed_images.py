"""The images that a sandbox starts containers from: which of them the engine has, and what brings the others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from runner.model.request import Isolation
from runner.sandbox.container.failures import Denied
from runner.sandbox.images import recipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.model.request import Language
    from runner.sandbox.container.engine import Calls, ContainerEngine


async def find(client: ContainerEngine, images: Mapping[Language, str]) -> tuple[dict[Language, str], list[str]]:
    """Return the ids of the images that are there; what is missing, in words. Raises EngineGone."""
    ids: dict[Language, str] = {}
    absent: list[str] = []
    for language, name in images.items():
        try:
            ids[language] = str((await client.call(partial(_image, name)))["Id"])
        except Denied as error:
            absent.append(f"{language.value}: no image {name}" if error.status == 404 else error.message)
    return ids, absent


def remedy(isolation: Isolation, images: Iterable[str]) -> str:
    """Return the command that brings `images`, or what to do where there is none."""
    wanted = list(images)
    if isolation is Isolation.GVISOR_DIRECT and not set(wanted) <= set(recipe.own_tags()):
        return "Without a container engine only Assent's own images can be used: remove the names of others."
    return recipe.remedy(wanted)


def _image(name: str, api: Calls) -> dict[str, Any]:
    found: dict[str, Any] = api.inspect_image(name)
    return found
