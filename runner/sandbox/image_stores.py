"""The stores for images on this machine: the container engine, folders for gVisor without one, or both."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.sandbox.choose import AUTO
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.docker.client import EngineClient
from runner.sandbox.docker.endpoint import find
from runner.sandbox.docker.image_store import Store
from runner.sandbox.gvisor.fetch import fetch
from runner.sandbox.gvisor.program import is_recent, located
from runner.sandbox.images.build import STAGES, Builder, ImageState, Progress
from runner.sandbox.images.folder_store import FolderStore
from runner.sandbox.images.recipe import names as every_image
from runner.sandbox.images.recipe import recipe
from runner.sandbox.images.rootfs import source

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from runner.sandbox.images.store import ImageStore
    from runner.settings.declared import Settings

DIRECT = "gvisor-direct"
GVISOR = "gVisor"
FETCHED = 0.2
"""Part of bringing gVisor that its program is; the rest are the images."""
PING_SECONDS = 2.0
NEITHER = KnownError(
    "No container engine answers, and gVisor (the program runsc), which needs none, is not installed.",
    "Get gVisor and then the images (assent images --gvisor, assent images), or start Docker.",
)


def store(context: str = "") -> Store:
    """Return that of the container engine, of the Docker `context` where one is named.

    Raises KnownError where the address of one cannot be found out.
    """
    return Store(EngineClient(find(context=context)))


async def stores(settings: Settings) -> tuple[ImageStore, ...]:
    """Return where images belong for the sandbox that the settings name, at least one place.

    Where it is to be found out: in the engine where one answers, and in folders where runsc is installed and the
    engine has no gVisor. Raises KnownError where there is neither, or the engine's address cannot be found out.
    """
    wanted = settings.sandbox_type
    if wanted == DIRECT:
        return (FolderStore(),)
    engine = store(settings.docker_context)
    if wanted != AUTO:
        return (engine,)
    try:
        info: dict[str, Any] = await engine.client.call(lambda api: api.info(), PING_SECONDS)
    except (EngineGone, Denied) as error:
        if not located():
            raise NEITHER from error
        return (FolderStore(),)
    if not located():
        return (engine,)
    runtimes = (info.get("Runtimes") or {}).items()
    if any("runsc" in (name, str(one.get("path", "")).rpartition("/")[2]) for name, one in runtimes):
        return (engine,)
    return (engine, FolderStore())


async def builder(settings: Settings, mirror: str = "") -> Builder:
    """Return what builds images for the sandbox that the settings name; `mirror` is Debian's. Raises KnownError."""
    first, *others = await stores(settings)
    environment = first.environment if isinstance(first, Store) else {}
    return Builder(first, await source(environment, mirror), also=tuple(others))


async def build(names: Sequence[str], settings: Settings) -> AsyncGenerator[Progress]:
    """Build them all; the part is of the whole. Raises KnownError. `aclose` ends it."""
    maker = await builder(settings)
    for number, name in enumerate(names):
        async with contextlib.aclosing(maker.build(recipe(name))) as steps:
            async for step in steps:
                yield Progress(step.image, (number + step.part) / len(names), step.doing)


async def bring_gvisor(settings: Settings, mirror: str = "") -> AsyncGenerator[Progress]:
    """Fetch gVisor's program and, where it is taken as it is, build the images that are missing; the part is of all.

    Where only root can put it in place it ends with the program. Raises KnownError. `aclose` ends it.
    """
    yield Progress(GVISOR, 0.0, "starting")
    async with contextlib.aclosing(fetch(mirror)) as lines:
        async for line in lines:
            for sign, part, doing in STAGES:
                if line.startswith(f"I: {sign}"):
                    yield Progress(GVISOR, part * FETCHED, doing)
    if not is_recent(located()):
        return
    maker = await builder(settings, mirror)
    wanted = [name for name in every_image() if recipe(name).language in settings.languages]
    missing = [name for name in wanted if await maker.state(recipe(name)) is not ImageState.READY]
    for number, name in enumerate(missing):
        async with contextlib.aclosing(maker.build(recipe(name))) as steps:
            async for step in steps:
                yield Progress(step.image, FETCHED + (1 - FETCHED) * (number + step.part) / len(missing), step.doing)
