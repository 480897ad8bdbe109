"""The thread of the gates: it starts once, ends whatever happens, and reports what nobody awaits."""

from __future__ import annotations

import asyncio
import threading

import pytest

from runner.network.loop import NetworkLoop
from tests.patience import HANGS


def test_work_is_done_on_a_thread_of_its_own() -> None:
    network = NetworkLoop()
    network.start()
    network.start()

    async def where() -> str:
        assert asyncio.get_running_loop() is network.loop
        return threading.current_thread().name

    try:
        assert network.submit(where()).result(HANGS) == "assent-network"
    finally:
        assert network.close(10)


def test_closing_cancels_what_runs_and_more_than_once_does_no_harm() -> None:
    network = NetworkLoop()
    network.start()
    begun, ended = threading.Event(), threading.Event()

    async def forever() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    future = network.submit(forever())
    assert begun.wait(HANGS)
    assert network.close(10)
    assert network.close(10)
    assert ended.is_set()
    assert future.cancelled()


def test_before_its_start_and_after_its_end_it_takes_nothing() -> None:
    network = NetworkLoop()

    async def nothing() -> None:
        pass

    with pytest.raises(RuntimeError):
        network.submit(nothing())
    network.start()
    assert network.close(10)
    network.start()
    with pytest.raises(RuntimeError):
        network.submit(nothing())


def test_one_that_never_started_closes() -> None:
    assert NetworkLoop().close()


@pytest.mark.errors_expected
def test_what_nobody_awaits_reaches_the_fault_log() -> None:
    faults: list[tuple[BaseException, str]] = []
    reported = threading.Event()

    def failed(error: BaseException, where: str) -> None:
        faults.append((error, where))
        reported.set()

    network = NetworkLoop(failed)
    network.start()

    async def break_later() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 // 0)

    try:
        network.submit(break_later()).result(HANGS)
        assert reported.wait(HANGS)
        assert isinstance(faults[0][0], ZeroDivisionError)
    finally:
        assert network.close(10)
