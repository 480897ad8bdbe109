"""The images of the engine that Docker's own tools would use here: its store, and building several one by one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from runner.sandbox.container.client import EngineClient
from runner.sandbox.container.endpoint import find
from runner.sandbox.images.build import Builder, Progress
from runner.sandbox.images.recipe import recipe
from runner.sandbox.images.rootfs import source
from runner.sandbox.images.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence


def store() -> Store:
    """Raises KnownError where the address of the engine cannot be found out."""
    return Store(EngineClient(find()))


async def build(names: Sequence[str]) -> AsyncGenerator[Progress]:
    """Build them all; the part is of the whole. Raises KnownError. `aclose` ends it."""
    images = store()
    builder = Builder(images, await source(images.environment))
    for number, name in enumerate(names):
        async with contextlib.aclosing(builder.build(recipe(name))) as steps:
            async for step in steps:
                yield Progress(step.image, (number + step.part) / len(names), step.doing)
