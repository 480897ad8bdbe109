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
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from runner.sandbox.images.recipe import Recipe
    from runner.sandbox.images.rootfs import RootfsSource
    from runner.sandbox.images.store import ImageStore

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
    store: ImageStore
    source: RootfsSource
    keep: Path | None = None
    """A folder where archives are kept, so that an engine that lost its images gets them back at once."""
    also: tuple[ImageStore, ...] = ()
    """Further stores that every image is put into."""

    async def state(self, recipe: Recipe) -> ImageState:
        """Return whether every store has this image. Raises EngineGone where an engine does not answer."""
        found = [await store.found(recipe.tag) for store in self._stores]
        there = [one for one in found if one is not None]
        if len(there) < len(found):
            return ImageState.MISSING
        made = {(one["Config"].get("Labels") or {}).get("assent.recipe") for one in there}
        return ImageState.READY if made == {recipe.digest} else ImageState.OLD

    @property
    def _stores(self) -> tuple[ImageStore, ...]:
        return (self.store, *self.also)

    async def build(self, recipe: Recipe) -> AsyncGenerator[Progress]:
        """Build the image and put it into every store, whether or not it is there. Raises KnownError.

        Whoever stops listening (`aclose`) ends the build; nothing of it is left either way.
        """
        yield Progress(recipe.name, 0.0, "starting")
        with tempfile.TemporaryDirectory(prefix="assent-image-", ignore_cleanup_errors=True) as folder:
            # Where an ordinary user builds, another user id of his must get through.
            Path(folder).chmod(0o711)
            try:
                archive = Path(folder) / "image.tar"
                async with contextlib.aclosing(self._packed(recipe, Path(folder), archive)) as steps:
                    async for step in steps:
                        yield step
                async with contextlib.aclosing(self._stored(recipe, archive)) as parts:
                    async for part in parts:
                        yield Progress(recipe.name, LOADING + part * (1 - LOADING) * 0.9, "storing it")
            except (ProgramFailed, NotLoaded, OSError) as failure:
                raise known(failure) from failure
        yield Progress(recipe.name, 1.0, "ready")

    async def _stored(self, recipe: Recipe, archive: Path) -> AsyncGenerator[float]:
        """Put `archive` into one store after the other, in place of what they had; yields the part that is done."""
        for number, store in enumerate(self._stores):
            earlier = await store.found(recipe.tag)
            async with contextlib.aclosing(store.load(archive)) as parts:
                async for part in parts:
                    yield (number + part) / len(self._stores)
            now = await store.found(recipe.tag)
            if earlier is not None and now is not None and earlier["Id"] != now["Id"]:
                await store.discard(earlier["Id"])

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
    make_folder(kept.parent)
    with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as half:
        shutil.copyfile(archive, half.name)
    Path(half.name).replace(kept)
    for earlier in kept.parent.glob(f"{kept.stem[:-DIGITS]}{'[0-9a-f]' * DIGITS}.tar"):
        if earlier != kept:
            earlier.unlink(missing_ok=True)
