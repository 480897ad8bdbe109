"""The process in which agents' code is read, but for words in the code that have it misbehave."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from runner.model.request import Language, Request, Tool
from runner.risk.worker.process import WorkerProcess

if TYPE_CHECKING:
    from pathlib import Path

SHORT = 0.4
"""Deadline of a call where one is to be overrun; others get more time where the machine is busy."""
STANDS_IN = """\
import sys, time
sys.path[:] = sys.argv[4:]
from runner.risk.worker import worker
real = worker.answer
def answer(call, rules):
    code = call.request.code if hasattr(call, "request") else getattr(call, "code", "") or getattr(call, "old", "")
    if "HANG" in code:
        import re
        re.match("(a+)+$", "a" * 60 + "b")  # the interpreter is not let go of
    if "SLOW" in code:
        time.sleep(3600)
    if "WAIT1" in code:
        time.sleep(1)
    if "BUG" in code:
        raise ValueError("a bug")
    if "MEMORY" in code:
        return len(bytearray(1 << 40))
    if "WRONG" in code:
        return worker.Outlined("not what was asked")
    if "LOW" in code:
        from runner.model.assessment import Assessment, Level
        return worker.Assessed(Assessment(Level.LOW, ("Harmless.",)))
    if "EXIT" in code:
        import os
        os._exit(3)
    return real(call, rules)
worker.answer = answer
if "GARBAGE" in sys.argv[0]:
    worker.pack = lambda _message: b"\\0" * 7 + b"\\x05hello"
worker.main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
"""
"""The worker, but that some words in the code have it misbehave."""


class StandIn(WorkerProcess):
    """`made` holds every one."""

    made: list[StandIn] = []

    def __init__(self, rules: Path, seconds: float = SHORT, code: str = STANDS_IN) -> None:
        arguments = (str(rules), str(os.getpid()), str(seconds), *filter(None, sys.path))
        super().__init__(rules, seconds, (sys.executable, "-I", "-c", code, *arguments))
        self.made.append(self)


def request(code: str, agent: str = "agent", tool: Tool = Tool.CODE_EXECUTE) -> Request:
    return Request("id", agent, tool, 0.0, Language.PYTHON, code)
