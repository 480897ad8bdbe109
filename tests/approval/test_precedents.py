"""Near-identical requests that a person approved before: how many, and which values differ."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.approval import precedents as module
from runner.approval.precedents import (
    LONGEST,
    MOST_VALUES,
    DifferingValue,
    Precedents,
    midnight,
    precedents,
    read_precedents,
)
from runner.model.assessment import Level
from runner.model.request import Claim, Language, Limits, NetworkMode, Request, Tool
from tests.audit import story

if TYPE_CHECKING:
    from pathlib import Path

PART = "import csv\nrows = list(csv.reader(open('part-{}.csv')))\nprint(len(rows), {})\n"


def asked(code: str, **more: object) -> Request:
    one = Request("r0", "claude", Tool.CODE_EXECUTE, 1.0, Language.PYTHON, code)
    return replace(one, **more)  # type: ignore[arg-type]


def like(now: Request, *before: Request, level: Level = Level.HIGH) -> Precedents:
    return precedents(now, Level.HIGH, [(one, level) for one in before])


def test_the_value_that_differs_is_named_with_its_line() -> None:
    now = asked(PART.format(3, 1))
    found = like(now, asked(PART.format(0, 2)), asked(PART.format(1, 1)), asked(PART.format(2, 1)), asked("print(1)"))
    assert found == Precedents(3, (DifferingValue(2, "'part-3.csv'", "'part-1.csv'"),))
    assert not found.identical
    assert like(now, asked(PART.format(9, 9)), now) == Precedents(2) and like(now, now).identical


@pytest.mark.parametrize(
    "other",
    [
        {"agent": "codex"},
        {"limits": Limits(seconds=31)},
        {"network": NetworkMode.DOMAINS, "domains": ("example.com:443",)},
        {"stdin": "x"},
        {"sandbox": "k1"},
        {"language": Language.SHELL},
        {"packages": ("six",)},
    ],
)
def test_what_differs_in_anything_else_that_decides_is_not_like_it(other: dict[str, object]) -> None:
    now = asked(PART.format(1, 1))
    assert like(now, replace(now, **other)) == Precedents()  # type: ignore[arg-type]


def test_what_the_agent_says_about_itself_makes_nothing_alike_or_different() -> None:
    now = asked(PART.format(1, 1))
    assert like(now, replace(now, title="other", program="x", session=4, claim=Claim("r", "p", "t"))).identical


def test_a_worse_request_is_not_like_a_harmless_one() -> None:
    now = asked(PART.format(1, 1))
    assert like(now, now, level=Level.MEDIUM) == Precedents()
    assert like(now, now, level=Level.CRITICAL).count == 1


def test_a_mark_of_its_own_does_not_pass_for_a_value() -> None:
    assert like(asked("x = \N{BULLET}\n"), asked("x = 1\n")) == Precedents()
    assert like(asked("x = 1\n"), asked("x = y1\n")) == Precedents()
    assert like(asked("ab"), asked("a", stdin="b")) == Precedents()
    assert like(asked("a 1 b"), asked("a 1  b")) == Precedents()


def test_another_program_in_a_string_is_shown_as_what_differs() -> None:
    found = like(asked("exec('import os; os.remove(x)')"), asked("exec('print(1)')"))
    assert found.differing == (DifferingValue(1, "'import os; os.remove(x)'", "'print(1)'"),)


def test_everything_is_bounded() -> None:
    many = "\n".join(f"print({{}}{number})" for number in range(100))
    found = like(asked(many.replace("{}", "1")), asked(many.replace("{}", "2")))
    assert (len(found.differing), found.more) == (MOST_VALUES, 100 - MOST_VALUES)
    long = like(asked(f"x = '{'a' * 5000}'"), asked("x = 'b'")).differing[0]
    assert len(long.now) == module.LONGEST_VALUE and long.now.endswith("\N{HORIZONTAL ELLIPSIS}")
    assert like(asked("1" * (LONGEST + 1)), asked("1" * (LONGEST + 1))) == Precedents()


@pytest.mark.parametrize("code", ['"' * 49_999, "'\"" * 24_000, "1." * 24_000, "1 " * 24_000, "\\'" * 20_000])
def test_hostile_code_takes_time_in_proportion_to_its_length(code: str) -> None:
    """Were it the square of that, the whole would take 16 times as long as a quarter of it."""
    quarter, whole = (min(spent(part) for _ in range(3)) for part in (code[: len(code) // 4], code))
    assert whole < max(11 * quarter, 0.2)


def spent(code: str) -> float:
    """Return the seconds of processor time for a comparison with the same code, without that for others' garbage."""
    gc.disable()
    try:
        began = time.thread_time()
        like(asked(code), asked(code))
        return time.thread_time() - began
    finally:
        gc.enable()


def test_only_what_a_person_approved_since_then_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.sqlite3"
    entries = []
    for number in range(6):
        one = story.request(f"r{number}", code=PART.format(number, 1))
        entries += story.denied(one) if number == 5 else story.approved(one)
    story.write(path, entries)
    now = replace(story.request("new", code=PART.format(7, 1)))
    found = read_precedents(path, now, Level.LOW, 0.0)
    assert found.count == 5 and [one.before for one in found.differing] == ["'part-4.csv'"]
    assert read_precedents(path, now, Level.LOW, time.time() + 60) == Precedents()
    assert read_precedents(path, replace(now, agent="other"), Level.LOW, 0.0) == Precedents()
    assert read_precedents(tmp_path / "none", now, Level.LOW, 0.0) == Precedents()
    monkeypatch.setattr(module, "MOST_READ", 2)
    assert read_precedents(path, now, Level.LOW, 0.0).count == 2


def test_what_a_person_changed_first_was_not_approved_as_it_was(tmp_path: Path) -> None:
    path, one = tmp_path / "ledger.sqlite3", story.request("r1", code=PART.format(1, 1))
    entries = story.approved(one)
    entries = [
        (kind, name, body | {"digest": "0" * 64} if kind == "approved" else body) for kind, name, body in entries
    ]
    story.write(path, entries)
    assert read_precedents(path, replace(one, id="r2"), Level.LOW, 0.0) == Precedents()


def test_the_day_begins_at_midnight_here() -> None:
    now = time.mktime((2026, 3, 29, 12, 30, 0, 0, 0, -1))
    assert time.localtime(midnight(now))[:6] == (2026, 3, 29, 0, 0, 0)
