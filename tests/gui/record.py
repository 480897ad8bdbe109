"""Ledgers as weeks of use would leave them, for tests and pictures of the history."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.model.assessment import Level
from runner.model.codec import encode
from runner.model.decision import Decider, Decision, Verdict
from runner.model.request import Language
from runner.model.result import CapturedFile, Outcome, Usage
from tests.audit.story import approved, denied, opening, request, write
from tests.gui import feed

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.request import Request
    from runner.model.result import Result
    from tests.audit.story import Told

LONG = "A title that goes on for longer than any list or heading has room for, <b>with</b> markup in it " * 2
CURVE = tuple(Usage(n / 4, 30 + 20 * math.sin(n / 3), (40 + n) << 20, n << 18, 3) for n in range(60))


def ran(asked: Request, result: Result, artifact: str = "", level: Level = Level.HIGH) -> list[Told]:
    """Like `approved`, with the path of an artifact in the last entry but one."""
    told = approved(asked, result, level)
    return [(kind, name, {**body, "artifact": artifact} if kind == "finished" else body) for kind, name, body in told]


def closed_by(asked: Request, verdict: Verdict, by: Decider, reason: str, rule: str = "") -> list[Told]:
    decision = encode(Decision(verdict, by, reason, rule, 12.5, asked.digest))
    return [*opening(asked, Level.MEDIUM), (verdict.value, asked.id, decision), ("closed", asked.id, {})]


def many(count: int) -> list[Told]:
    """Requests `m0000` and so on, with agents, levels and decisions in turn."""
    told: list[Told] = []
    for number in range(count):
        one = request(f"m{number:04}", f"agent-{number % 3}", f"print({number})", f"Request {number}")
        level = Level(1 + number % 4)
        told += denied(one, level) if number % 5 == 0 else approved(one, level=level)
    return told


def varied(artifact: str = "") -> list[Told]:
    """One of each kind, the last the most telling."""
    done = feed.result(
        Outcome.OK, "loaded 18,402 rows\n" + "".join(f"line {n}\n" for n in range(40)), stderr="warning: x\n"
    )
    files = (CapturedFile("sales.csv", 4096, "0" * 64, 3.5), CapturedFile("plot of sales.png", 20_480, "1" * 64, 9.25))
    done = replace(done, curve=CURVE, duration=15.0, files=files, value={"rows": 18402, "columns": ["a", "b"]})
    timed: Any = feed.result(Outcome.TIMED_OUT, "still at it\n")
    return [
        *closed_by(request("v1", "codex"), Verdict.EXPIRED, Decider.ENGINE, "Nobody answered within 60 s."),
        *closed_by(request("v2", "codex"), Verdict.WITHDRAWN, Decider.AGENT, ""),
        *denied(request("v3", "cursor", "rm -rf ~/", "")),
        *ran(request("v4", "a" * 40, title=LONG), timed),
        *closed_by(request("v5", title="By a rule"), Verdict.DENIED, Decider.RULE, "Deletes outside.", "no-rm"),
        *opening(request("v6", "codex", "# a comment\nfor n in range(9): print(n)", "")),
        *ran(
            replace(
                request("v7", "claude-code", "import subprocess\nprint(1)\n", "Sales by region"),
                language=Language.PYTHON,
            ),
            done,
            artifact,
        ),
    ]


__all__ = ["CURVE", "LONG", "closed_by", "many", "ran", "varied", "write"]


def ledger(path: Path, told: list[Told], key: bytes | None = None) -> None:
    """Write `told` as the ledger at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # On another thread: it runs a loop of its own, and tests of the window stand in one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(write, path, told, key).result()
