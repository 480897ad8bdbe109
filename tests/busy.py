"""Plugin for pytest: `--busy` runs the suite beside four processes that do nothing but compute, at the usual priority.

A test that fails beside them and passes alone measured the machine. What only tells a hang has four times as long.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LOOPS = 4
TIMES = 4
"""By how much each limit of pytest is longer: those only tell a hang."""
COMPUTE = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    sum(range(1_000_000))
"""
"""Ends with the process that started it, however that ends."""


class Busy:
    """Starts the loops before the first test and ends them after the last."""

    def __init__(self) -> None:
        self._loops: list[subprocess.Popen[bytes]] = []

    def pytest_sessionstart(self) -> None:
        command = [sys.executable, "-I", "-c", COMPUTE, str(os.getpid())]
        self._loops = [subprocess.Popen(command, stdin=subprocess.DEVNULL) for _ in range(LOOPS)]

    def pytest_unconfigure(self) -> None:
        for loop in self._loops:
            loop.kill()
            loop.wait()


def add_option(parser: pytest.Parser) -> None:
    parser.addoption("--busy", action="store_true", help=f"run {LOOPS} busy loops beside the tests")


def configure(config: pytest.Config) -> None:
    """Have loops beside the tests, and more patience in every process that runs some."""
    if not config.getoption("--busy"):
        return
    config.option.timeout = TIMES * float(config.getoption("timeout") or config.getini("timeout"))
    if not hasattr(config, "workerinput"):  # a process of xdist has them beside it already
        config.pluginmanager.register(Busy(), "busy")


def patient(item: pytest.Item) -> None:
    """Give a test that has a limit of its own as many times as long."""
    if item.config.getoption("--busy") and (own := item.get_closest_marker("timeout")) is not None and own.args:
        item.add_marker(pytest.mark.timeout(TIMES * own.args[0]), append=False)
