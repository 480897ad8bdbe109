"""What the list of the history says of questions that nobody waited for."""

from __future__ import annotations

import pytest

from app.history.model import _state
from runner.audit.ledger.row import Row
from runner.model.decision import Verdict
from runner.model.lifecycle import Phase
from runner.model.request import Tool
from runner.model.tool_facts import CLIENT_TOOLS


@pytest.mark.parametrize("tool", sorted(CLIENT_TOOLS))
def test_a_clients_tool_is_not_said_to_be_withdrawn(tool: Tool) -> None:
    """Some clients run it where nobody answers in time."""
    row = Row(1, "id", "agent", tool, None, "t", "d", Phase.CLOSED, 0.0, verdict=Verdict.WITHDRAWN)
    assert _state(row) == ("not waited for", "medium")


def test_what_assent_would_have_run_is_withdrawn() -> None:
    row = Row(1, "id", "agent", Tool.CODE_EXECUTE, None, "t", "d", Phase.CLOSED, 0.0, verdict=Verdict.WITHDRAWN)
    assert _state(row) == ("withdrawn", "muted")
