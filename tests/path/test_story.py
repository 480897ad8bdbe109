"""The story of a plot and of two hosts, with real agents, a real window and each sandbox."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests import container_engine
from tests.components import AGENTS
from tests.path.stand_ins import INK, REFUSED

PATIENCE = 300.0


@pytest.mark.parametrize(
    ("way", "sandbox"), [("claude-bridge", "local"), ("claude-http", "docker"), ("codex-bridge", "gvisor")]
)
def test_a_real_agent_plots_and_reaches_a_host_that_a_person_allows(
    display_for_agents: str, way: str, sandbox: str
) -> None:
    environment = os.environ | {"DISPLAY": display_for_agents, "ASSENT_TEST_AGENTS": str(AGENTS.parents[1])}
    if sandbox != "local":
        environment["DOCKER_HOST"] = container_engine.address()
        container_engine.fill(environment["DOCKER_HOST"])
    command = [sys.executable, "-m", "tests.path.story", way, sandbox]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    (plan,) = seen["plan"]
    assert "chart 1.5 (asked for)" in plan and "tables 2.0 (needed by chart)" in plan
    assert (seen["picture"], seen["level"]) == (INK, "CRITICAL")
    assert (seen["refused"], seen["became"]) == (REFUSED, "allowed for this run")
    plotted, fetched = seen["answers"]
    assert "28 days plotted" in plotted and "visitors.png" in plotted
    assert f"Blocked by Assent: {REFUSED}" in fetched and "allowed later: 28 bytes" in fetched
    assert seen["code"] == 0 and "allowed later: 28 bytes" in seen["said"]
