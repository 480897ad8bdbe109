"""Reports of runs: whatever code writes in place of one, what is taken of it is within bounds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from runner.model.codec import DEEPEST
from runner.sandbox.report import LARGEST_PEAK, LIMIT, LONGEST_TEXT, MOST_BLOCKED, MOST_VALUES, parse
from tests.fuzz.mutation import generated, mutated

if TYPE_CHECKING:
    import random

NUMBERS = (0, -1, True, 1e308, 10**400, 1 << 50, "9" * 20)


def check(data: bytes) -> None:
    """Fail where a part of the report in `data` is beyond its bounds."""
    report = parse(data)
    assert type(report.peak) is int and 0 <= report.peak < LARGEST_PEAK
    assert len(report.blocked) <= MOST_BLOCKED
    for text in (report.note, report.fault, *report.blocked):
        assert type(text) is str and len(text) <= LONGEST_TEXT
        text.encode()
    count, level = 0, [report.value]
    for _ in range(DEEPEST):
        count += len(level)
        level = [
            item
            for one in level
            if isinstance(one, list | dict)
            for item in (one.values() if isinstance(one, dict) else one)
        ]
    assert not level and count <= MOST_VALUES
    assert len(json.dumps(report.value, ensure_ascii=False, allow_nan=False).encode()) <= 2 * LIMIT


def run(seconds: float, seed: int) -> int:
    return generated("reports", made, check, seconds, seed)


def made(source: random.Random) -> bytes:
    fields = {
        name: _value(source, 0)
        for name in ("value", "note", "fault", "peak", "blocked", "else")
        if source.random() < 0.7
    }
    if source.random() < 0.2:
        fields["value"] = _large(source)
    return mutated(source, [json.dumps(fields, ensure_ascii=source.random() < 0.5).encode("utf-8", "surrogatepass")])


def _value(source: random.Random, depth: int) -> Any:
    kind = source.randint(0, 7 if depth < 4 else 4)
    match kind:
        case 0:
            return source.choice([None, False, *NUMBERS])
        case 1:
            return source.uniform(-1e9, 1e9)
        case 2 | 3:
            return "".join(
                chr(source.choice([65, 0x202E, 0x301, 0xD800, 0x10FFFF, 10])) for _ in range(source.randint(0, 9))
            )
        case 4:
            return source.randint(-(1 << 70), 1 << 70)
        case 5:
            return {str(number): _value(source, depth + 1) for number in range(source.randint(0, 4))}
        case _:
            return [_value(source, depth + 1) for _ in range(source.randint(0, 4))]


def _large(source: random.Random) -> Any:
    match source.randint(0, 3):
        case 0:
            value: Any = 1
            for _ in range(source.randint(DEEPEST - 3, DEEPEST + 3)):
                value = [value]
            return value
        case 1:
            return [1] * source.randint(MOST_VALUES - 3, MOST_VALUES + 3)
        case 2:
            return "x" * source.randint(LIMIT - 20, LIMIT)
        case _:
            return {str(number): [] for number in range(source.randint(0, 40_000))}
