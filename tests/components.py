"""Real components that tests need: skipped by name where missing, a failure where everything is required."""

from __future__ import annotations

import os
import shutil

import pytest

PROGRAMS = {
    "bubblewrap": ("bwrap",),
    "node": ("node",),
    "screen": ("Xvfb", "xdotool"),
    "keyring": ("dbus-run-session", "gnome-keyring-daemon"),
}
"""Component -> programs on the PATH that make it up."""


def require(component: str) -> None:
    """Skip this test where `component` is missing; fail it instead under ASSENT_REQUIRE_ALL (as CI sets)."""
    missing = [program for program in PROGRAMS[component] if shutil.which(program) is None]
    if not missing:
        return
    why = f"{component}: {', '.join(missing)} not found"
    if os.environ.get("ASSENT_REQUIRE_ALL"):
        pytest.fail(why)
    pytest.skip(why)
