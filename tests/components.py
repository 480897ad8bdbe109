"""Real components that tests need: skipped by name where missing, a failure where everything is required."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

# Read here: inside a test no such variable is left.
AGENTS = (Path(os.environ.get("ASSENT_TEST_AGENTS") or "build/agents") / "node_modules" / ".bin").resolve()
"""Where the programs of real agents are."""

PROGRAMS = {
    "agents": (str(AGENTS / "claude"), str(AGENTS / "codex")),
    "bubblewrap": ("bwrap",),
    "node": ("node",),
    "screen": ("Xvfb", "xdotool"),
    "keyring": ("dbus-run-session", "gnome-keyring-daemon"),
}
"""Component -> programs that make it up: names on the PATH, or whole paths."""

OPTIONAL = {"agents": "not required: Claude Code and Codex take 760 MB. `make agents` installs them"}
"""Component -> why a test may be skipped for want of it even where everything else is required."""


def require(component: str) -> None:
    """Skip this test where `component` is missing.

    Under ASSENT_REQUIRE_ALL (as CI sets) fail it instead, unless the component is optional.
    """
    missing = [program for program in PROGRAMS[component] if shutil.which(program) is None]
    if not missing:
        return
    why = f"{component}: {', '.join(missing)} not found"
    if component in OPTIONAL:
        pytest.skip(f"{why}; {OPTIONAL[component]}")
    if os.environ.get("ASSENT_REQUIRE_ALL"):
        pytest.fail(why)
    pytest.skip(why)
