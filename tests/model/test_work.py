"""What the console makes of the events of a program at work."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from app.work import words
from app.work.command_rows import rows_of
from runner.model.work import (
    BY_A_PERSON,
    GIVEN_UP,
    UNANSWERED,
    CommandAnswered,
    CommandSeen,
    WorkEnded,
    WorkSession,
    after,
)


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


def held(*numbers: int) -> WorkSession:
    session = WorkSession("copy", "/project", ("agent",), 0.0, at_work=True)
    for number in numbers:
        session = after(session, CommandSeen(1.0, number, f"rm -rf ~/{number}", "/project", "", "CRITICAL", held=True))
    return session


def test_answers_stay_in_the_headline() -> None:
    session = held(1, 2, 3, 4)
    for answer in (
        CommandAnswered(2.0, 1, run=True),
        CommandAnswered(2.0, 2, run=False, why="No"),
        CommandAnswered(2.0, 3, run=False, why=GIVEN_UP),
    ):
        session = after(session, answer)
    said = words.headline(session)
    assert ", 4 commands, 1 let run, 1 refused by you, 1 not run, 1 command held. " in said
    session = after(session, CommandSeen(3.0, 5, "curl x", "/project", refused="No rule allows it."))
    assert "2 not run" in words.headline(session)


def test_a_command_that_is_held_makes_no_line_longer_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for now in (12.0, 59.0):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        assert words.headline(held(1)).startswith(f"{now:.0f} seconds, 1 command, 1 command held. ")


def test_what_waited_at_the_end_is_not_said_to_have_been_let_run() -> None:
    over = replace(after(held(1), WorkEnded(9.0, 0)), at_work=False)
    assert [row.note for row in rows_of(over)] == [f"refused: {UNANSWERED}"]
    assert words.headline(over).startswith("9 seconds, 1 command, 1 not run.")
    killed = replace(held(1), at_work=False)
    assert [row.note for row in rows_of(killed)] == ["not answered, not run"]
