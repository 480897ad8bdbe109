"""Plugin for pytest: run the nearest tests first, and leave those out whose turn comes after the time is up.

The nearest file is run in any case: on a machine that is busy with other things, nothing else may be.

ASSENT_CHECK_ENDS   when it is up, in seconds of the clock that all processes of this machine share
ASSENT_CHECK_ORDER  the files in their order, separated by colons
"""

from __future__ import annotations

import os
import time

import pytest

ENDS, ORDER = "ASSENT_CHECK_ENDS", "ASSENT_CHECK_ORDER"
LATER = "left for the whole suite: the time is up"


class OnTime:
    """What one process of pytest is told."""

    def __init__(self, ends: float, order: list[str]) -> None:
        self._ends = ends
        self._turn = {file: turn for turn, file in enumerate(order)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=self._turn_of)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if time.monotonic() > self._ends and self._turn_of(item):
            pytest.skip(LATER)

    def _turn_of(self, item: pytest.Item) -> int:
        return self._turn.get(item.nodeid.partition("::")[0], len(self._turn))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        left = [one.nodeid for one in terminalreporter.stats.get("skipped", []) if LATER in str(one.longrepr)]
        if left:
            files = sorted({one.partition("::")[0] for one in left})
            terminalreporter.write_line(f"{len(left)} tests were {LATER}, from {files[0]} on ({len(files)} files).")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(OnTime(float(os.environ[ENDS]), os.environ[ORDER].split(":")))
