"""The curve of what a run uses, as it is shown."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from runner.model.request import Limits
from runner.sandbox.local.meter import Meter
from runner.sandbox.local.tree import ProcessReading


def shares(seconds: list[float]) -> list[float]:
    """Return the shares of the processor that are shown for ten readings a second."""
    child: Any = SimpleNamespace()
    meter = Meter(child, Limits(), lambda _usage: None)
    return [meter._cpu_percent(0.1 * (n + 1), ProcessReading(0, used, 1, 1)) for n, used in enumerate(seconds)]


def test_steady_work_is_a_steady_line() -> None:
    # A quarter of a processor, as the kernel counts it: in ticks of which a reading sees two or three.
    ticks = [round(0.025 * (n + 1) - 0.004, 2) for n in range(40)]
    steps = {round(later - before, 2) for before, later in pairwise(ticks)}
    assert steps == {0.02, 0.03}
    settled = shares(ticks)[10:]
    assert max(settled) - min(settled) <= 1.0


def test_what_comes_and_goes_is_seen_within_a_second() -> None:
    used = [0.0] * 10 + [0.1 * n for n in range(1, 16)] + [1.5] * 15
    shown = shares(used)
    assert max(shown[:10]) == 0.0 and max(shown) > 99.0 and shown[-1] == 0.0


def test_a_process_that_leaves_uncounted_is_no_negative_share() -> None:
    assert min(shares([0.1, 0.2, 0.05, 0.15, 0.25])) == 0.0
