"""What the console makes of the events of a program at work."""

from __future__ import annotations

import pytest

from app.work.command_rows import rows_of
from runner.model.work import BY_A_PERSON, CommandAnswered, CommandSeen, WorkSession, after


@pytest.mark.parametrize(
    ("run", "why", "note"),
    [
        (True, "", "you let it run"),
        (False, "", f"refused: {BY_A_PERSON}"),
        (False, "Not my keys", "refused: Not my keys"),
    ],
)
def test_a_command_that_was_held_says_how_it_was_answered(run: bool, why: str, note: str) -> None:
    session = WorkSession("copy", "/project", ("agent",), 0.0)
    session = after(session, CommandSeen(1.0, 1, "rm -rf ~/.ssh", "/project", level="CRITICAL", held=True))
    session = after(session, CommandAnswered(2.0, 1, run, why))
    assert session.held == ()
    assert [row.note for row in rows_of(session)] == [note]
