"""Says which images are missing and builds them, with progress."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.images.archive import pack
from runner.sandbox.images.program import ProgramFailed
from runner.sandbox.images.store import NotLoaded
from runner.sandbox.images.trouble import known

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from runner.sandbox.images.recipe import Recipe
    from runner.sandbox.images.rootfs import RootfsSource
    from runner.sandbox.images.store import Store

STAGES = (
    ("installing mmdebstrap", 0.02, "preparing"),
    ("running apt-get update", 0.1, "reading the list of packages"),
    ("downloading packages", 0.2, "downloading packages"),
    ("extracting archives", 0.35, "unpacking packages"),
    ("finishing", 0.5, "removing what is not needed"),
    ("compiling", 0.55, "compiling"),
    ("creating tarball", 0.75, "collecting files"),
)
"""What the script says (`I: ...`) -> how far it is then, measured, and in words."""
DIGITS = 16
"""Of a recipe's digest, in the name of an archive that is kept."""
PACKING, LOADING = 0.85, 0.9


class ImageState(Enum):
    READY = "ready"
    OLD = "old"
    """Made from an earlier recipe."""
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Progress:
    image: str
    part: float
    """From 0 to 1."""
    doing: str


@dataclass(frozen=True, slots=True)
class Builder:
    store: Store
    source: RootfsSource
    keep: Path | None = None
    """A folder where archives are kept, so that an engine that lost its images gets them back at once."""

    async def state(self, recipe: Recipe) -> ImageState:
        """Return whether the engine has this image. Raises EngineGone where it does not answer."""
        found = await self.store.found(recipe.tag)
        if found is None:
            return ImageState.MISSING
        labels = found["Config"].get("Labels") or {}
        return ImageState.READY if labels.get("assent.recipe") == recipe.digest else ImageState.OLD

    async def build(self, recipe: Recipe) -> AsyncGenerator[Progress]:
        """Build the image and give it to the engine, whether or not it has one. Raises KnownError.

        Whoever stops listening (`aclose`) ends the build; nothing of it is left either way.
        """
        yield Progress(recipe.name, 0.0, "starting")
        earlier = await self.store.found(recipe.tag)
        with tempfile.TemporaryDirectory(prefix="assent-image-", ignore_cleanup_errors=True) as folder:
            # Where an ordinary user builds, another user id of his must get through.
            Path(folder).chmod(0o711)
            try:
                archive = Path(folder) / "image.tar"
                async with contextlib.aclosing(self._packed(recipe, Path(folder), archive)) as steps:
                    async for step in steps:
                        yield step
                async with contextlib.aclosing(self.store.load(archive)) as parts:
                    async for part in parts:
                        yield Progress(recipe.name, LOADING + part * (1 - LOADING) * 0.9, "giving it to the engine")
            except (ProgramFailed, NotLoaded, OSError) as failure:
                raise known(failure) from failure
        now = await self.store.found(recipe.tag)
        if earlier is not None and now is not None and earlier["Id"] != now["Id"]:
            await self.store.discard(earlier["Id"])
        yield Progress(recipe.name, 1.0, "ready")

    async def _packed(self, recipe: Recipe, folder: Path, archive: Path) -> AsyncGenerator[Progress]:
        kept = self.keep / f"{recipe.name}-{recipe.digest[:DIGITS]}.tar" if self.keep else None
        if kept and kept.exists():
            await asyncio.to_thread(shutil.copyfile, kept, archive)
            return
        root = folder / "root.tar"
        async with contextlib.aclosing(self.source.unpack(recipe, root)) as lines:
            async for line in lines:
                for sign, part, doing in STAGES:
                    if line.startswith(f"I: {sign}"):
                        yield Progress(recipe.name, part, doing)
        yield Progress(recipe.name, PACKING, "packing")
        try:
            await asyncio.to_thread(pack, recipe, root, archive)
        except ValueError as error:
            raise KnownError(f"What was built is no image {recipe.name}: {error}.", "Build it again.") from error
        if kept:
            await asyncio.to_thread(_keep, archive, kept)


def _keep(archive: Path, kept: Path) -> None:
    """Copy, so that nobody ever finds half a file, and remove what an earlier recipe made."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as half:
        shutil.copyfile(archive, half.name)
    Path(half.name).replace(kept)
    for earlier in kept.parent.glob(f"{kept.stem[:-DIGITS]}{'[0-9a-f]' * DIGITS}.tar"):
        if earlier != kept:
            earlier.unlink(missing_ok=True)
