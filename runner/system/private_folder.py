"""Makes folders that are their owner's alone, as the XDG specification wants those that are missing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def make_folder(folder: Path) -> None:
    """Create `folder` and those above it that are missing, each with mode 0700. Raises OSError.

    `Path.mkdir` gives its mode to the last folder alone. One that is there already stays as it is.
    """
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
