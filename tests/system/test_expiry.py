"""Moments that a sleeping machine does not put off."""

from __future__ import annotations

import asyncio
import math

import pytest

from runner.system.clock import since_boot
from runner.system.expiry import Expiry

pytestmark = pytest.mark.asyncio


class Moments:
    """An expiry on a machine that the test sends to sleep, and how often it was called."""

    def __init__(self) -> None:
        self.asleep = 0.0
        self.calls = 0
        self.called = asyncio.Event()
        self.expiry = Expiry(self._call, self.clock)

    def clock(self) -> float:
        return since_boot() + self.asleep

    def _call(self) -> None:
        self.calls += 1
        self.called.set()


async def test_it_calls_once_and_is_done() -> None:
    moments = Moments()
    assert moments.expiry.at == math.inf and not moments.expiry.over
    moments.expiry.set(moments.clock())
    await moments.called.wait()
    moments.expiry.awoke()
    await asyncio.sleep(0)
    assert (moments.calls, moments.expiry.over, moments.expiry.left) == (1, True, 0.0)


async def test_the_moment_set_last_counts() -> None:
    moments = Moments()
    moments.expiry.set(moments.clock())
    moments.expiry.set(moments.clock() + 3600)
    await asyncio.sleep(0.01)
    assert not moments.calls and 3500 < moments.expiry.left <= 3600
    moments.expiry.set(moments.clock() - 1)
    await moments.called.wait()
    assert moments.calls == 1


async def test_what_is_over_after_a_sleep_is_so_at_once_and_the_rest_comes_earlier() -> None:
    moments, later = Moments(), Moments()
    moments.expiry.set(moments.clock() + 3600)
    later.expiry.set(later.clock() + 7200)
    moments.asleep = later.asleep = 3600.0
    assert moments.expiry.over  # nobody has noticed the sleep yet
    moments.expiry.awoke()
    later.expiry.awoke()
    await moments.called.wait()
    assert not later.calls and later.expiry.left <= 3600
    later.expiry.cancel()


async def test_what_is_cancelled_expires_never() -> None:
    moments = Moments()
    moments.expiry.set(moments.clock())
    moments.expiry.cancel()
    moments.expiry.cancel()
    moments.expiry.awoke()
    await asyncio.sleep(0.01)
    assert not moments.calls and moments.expiry.over
