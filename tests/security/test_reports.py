"""What a run says of itself is hostile: every part of its report is taken within bounds, and quickly."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from runner.model.codec import DEEPEST
from runner.model.request import Limits
from runner.sandbox import report, verdict
from runner.sandbox.output import Transcript
from runner.sandbox.verdict import RunEnd
from tests.contract.conftest import job
from tests.fuzz import reports

NESTED = b'{"value": ' + b"[" * 900 + b"]" * 900 + b"}"
ONES = b'{"blocked": [' + b"1," * 400_000 + b"1]}"
SMALL = b'{"value": [' + b"1," * 400_000 + b"1]}"
PEAK = b'{"peak": 1' + b"0" * 4000 + b"}"
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=6,
)
names = st.sampled_from(["value", "note", "fault", "peak", "blocked"])


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(names, values, max_size=5).map(lambda fields: json.dumps(fields).encode()) | st.binary(max_size=99)
)
@example(NESTED)
@example(ONES)
@example(SMALL)
@example(PEAK)
@example(b'{"peak": true, "value": NaN}')
@example(b'{"peak": -5, "note": 5, "blocked": {"a": 1}}')
@example(b'{"value": "\\ud800", "note": "\\ud800"}')
@example(b"[" * 100_000)
@example(b'{"value": ' + b"9" * 5000 + b"}")
@example(b"x" * (report.LIMIT + 1))
def test_every_part_of_a_report_is_within_bounds(data: bytes) -> None:
    reports.check(data)


def test_fuzzed_reports_are_within_bounds() -> None:
    assert reports.run(0.3, 1) > 3


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (NESTED, report.TOO_DEEP),
        (b"[" * 100_000, report.TOO_DEEP),
        (SMALL, report.TOO_MANY),
        (b'"' + b"x" * report.LIMIT + b'"', report.TOO_LARGE.format(1)),
        (b'{"value": Infinity}', report.UNREADABLE),
        (b"\xff{[", report.UNREADABLE),
        (b"[]", report.UNREADABLE),
        (b"", ""),
        (b'{"value": 1}', ""),
    ],
)
def test_what_is_not_handed_out_is_said(data: bytes, said: str) -> None:
    assert report.parse(data).note == said


def test_a_value_of_every_bound_is_handed_out() -> None:
    deep: Any = 1
    for _ in range(DEEPEST - 1):
        deep = [deep]
    for value in (deep, [1] * (report.MOST_VALUES - 1), "x" * (report.LIMIT - 20)):
        assert report.parse(json.dumps({"value": value}).encode()).value == value


def test_hostile_reports_are_read_quickly() -> None:
    begun = time.process_time()
    for data in (NESTED, ONES, SMALL, PEAK, b"[" * report.LIMIT, b'{"value":"' + "\u202e".encode() * 300_000 + b'"}'):
        report.parse(data)
    assert time.process_time() - begun < 1


def test_a_run_does_not_say_that_it_used_more_memory_than_it_could() -> None:
    ended = RunEnd(0, 1.0, None, "", (), 5 << 20, disk_is_full=False)
    limits = Limits(memory_mb=64)
    for said, recorded in ((1 << 49, 64 << 20), (9 << 20, 9 << 20), (0, 5 << 20)):
        found = report.parse(b'{"peak": %d}' % said)
        made = verdict.result(
            job("", memory_mb=64), verdict.Setting((), {}), Transcript(limits.output_bytes), ended, found
        )
        assert made.peak_memory == recorded
