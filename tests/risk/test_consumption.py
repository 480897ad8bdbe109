"""Who is costly, and for how long."""

from __future__ import annotations

from runner.risk.worker.consumption import COSTLY, HALF_SECONDS, LONG, Consumption


def test_long_calls_count_and_are_forgotten_in_time() -> None:
    now = [0.0]
    used = Consumption(lambda: now[0])
    used.add("bomber", 3 * COSTLY)
    assert used.costly("bomber") and not used.costly("other")
    now[0] += HALF_SECONDS
    assert used.costly("bomber")
    now[0] += HALF_SECONDS
    assert not used.costly("bomber"), "a quarter is left"
    used.add("bomber", LONG)
    assert used.costly("bomber"), "what is left counts with it"
    now[0] += 20 * HALF_SECONDS
    assert not used.costly("bomber") and not used._used, "nothing stays of an agent that has become quiet"


def test_quick_calls_make_nobody_costly() -> None:
    used = Consumption(lambda: 0.0)
    for _ in range(10_000):
        used.add("busy", LONG / 2)
    assert not used.costly("busy")
