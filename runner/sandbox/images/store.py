"""The interface of what keeps images that sandboxes start from: a container engine, or a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path


class NotLoaded(Exception):
    """The engine did not take the image; the text is its own."""


class ImageStore(Protocol):
    """Where images are kept that sandboxes start from."""

    async def found(self, tag: str) -> dict[str, Any] | None:
        """Return what is known of an image (`Id`, and the labels in `Config`), or None. Raises EngineGone."""
        ...

    async def discard(self, id: str) -> None:
        """Remove an image that has no name any more; one that is in use stays. Raises EngineGone."""
        ...

    def load(self, archive: Path) -> AsyncGenerator[float]:
        """Put an image in; yields the part that is done. Raises EngineGone, NotLoaded and OSError."""
        ...
