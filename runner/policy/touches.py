"""Comparing what two requests would touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.assessment import Touch

TOUCH_BOUND = 50
"""Most entries of each kind in a touch summary: one of that length may be incomplete."""


def within(now: Touch, then: Touch) -> bool:
    """Return whether `now` touches nothing that `then` does not; a list of full length may be incomplete."""
    return all(
        len(one) < TOUCH_BOUND and set(one) <= set(other) for one, other in zip(_kinds(now), _kinds(then), strict=True)
    )


def _kinds(touch: Touch) -> tuple[tuple[str, ...], ...]:
    return touch.files, touch.hosts, touch.processes, touch.credentials, touch.packages
