"""The gateway against random messages, in moments; at length it is a target of `tests.fuzz`."""

from __future__ import annotations

import pytest

from tests.fuzz.gateway_messages import run

SECONDS = 1.0


@pytest.mark.parametrize("seed", [1, 2])
def test_no_message_is_a_fault(seed: int) -> None:
    assert run(SECONDS, seed) > 0
