"""Clocks that count sleep and never go back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from runner.system import clock
from runner.system.clock import ForwardClock, SleepGauge, since_boot

if TYPE_CHECKING:
    import pytest


class Hands:
    """A clock that the test sets."""

    def __init__(self, at: float = 0.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


def test_the_time_since_boot_counts_sleep_where_the_system_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hasattr(time, "CLOCK_BOOTTIME")
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before <= since_boot() <= time.clock_gettime(time.CLOCK_BOOTTIME)
    # Both clocks are the same on a machine that has never slept; this one has, for an hour.
    awake = time.monotonic()
    monkeypatch.setattr(time, "clock_gettime", {time.CLOCK_BOOTTIME: awake + 3600}.__getitem__)
    assert since_boot() == awake + 3600


def test_without_such_a_clock_time_rises_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_BOOT", None)
    assert time.monotonic() <= since_boot() <= time.monotonic()


def test_a_clock_that_is_set_back_is_outrun() -> None:
    wall, passing = Hands(1000.0), Hands(5.0)
    now = ForwardClock(0.0, wall, passing)
    assert now() == 1000.0
    wall.at, passing.at = 500.0, 65.0
    assert now() == 1060.0
    wall.at, passing.at = 2000.0, 66.0
    assert now() == 2000.0


def test_the_latest_time_of_before_counts_and_goes_on() -> None:
    wall, passing = Hands(1000.0), Hands(5.0)
    now = ForwardClock(3000.0, wall, passing)
    assert now() == 3000.0
    passing.at = 15.0
    assert now() == 3010.0


def test_sleep_is_what_one_clock_counts_and_the_other_does_not() -> None:
    awake, passing = Hands(10.0), Hands(10.0)
    gauge = SleepGauge(awake, passing)
    awake.at, passing.at = 12.0, 12.0
    assert gauge.slept() == 0.0
    awake.at, passing.at = 13.0, 3613.0
    assert gauge.slept() == 3600.0
    assert gauge.slept() == 0.0
