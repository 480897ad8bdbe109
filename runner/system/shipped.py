"""The files that come with Assent, and where they are."""

from __future__ import annotations

from pathlib import Path


def resources() -> Path:
    """Return the bundled resources, in a checkout and in a packaged build alike."""
    return Path(__file__).resolve().parents[2] / "resources"
