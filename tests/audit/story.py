"""Requests with everything that happens to them, for the tests of the ledger; and how to tamper with one."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.audit.ledger.ledger import Ledger
from runner.audit.retention.retention import Pruned, Pruning, chosen
from runner.model.assessment import Assessment, Capability, Finding, Level, Span, Touch
from runner.model.codec import encode
from runner.model.decision import Decider, Decision, Verdict
from runner.model.request import Language, Request, Tool
from runner.model.result import Meta, Outcome, Result, Usage
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

KEY = bytes(range(32))

ASSESSMENT = Assessment(
    Level.HIGH,
    ("It runs code.",),
    (Finding("python.subprocess", Level.HIGH, Capability.STARTS_PROCESSES, Span(1, 0, 1, 9), "run('ls')", "Why."),),
    Touch(files=("/tmp/a",), hosts=("example.org",)),
)
RESULT = Result(
    Outcome.OK,
    "hello\n",
    "",
    0,
    0.25,
    value={"answer": [42, None, 1.5]},
    peak_memory=12_345_678,
    meta=Meta(runtime="local", versions={"python": "3.11"}, protections=("no network",)),
    curve=(Usage(0.1, 50.0, 1000, None, 2), Usage(0.2)),
)

Told = tuple[str, str, dict[str, Any]]


def request(name: str, agent: str = "claude", code: str = "print('hello')", title: str = "Say hello") -> Request:
    return Request(name, agent, Tool.CODE_EXECUTE, 1_700_000_000.0, Language.PYTHON, code, title=title)


def opening(asked: Request, level: Level = Level.HIGH) -> list[Told]:
    """Up to the question."""
    return [
        ("arrived", asked.id, encode(asked)),
        ("assessed", asked.id, encode(replace(ASSESSMENT, level=level))),
        ("asked", asked.id, {"window": 60.0, "blocked": ""}),
    ]


def approved(asked: Request, result: Result = RESULT, level: Level = Level.HIGH) -> list[Told]:
    """The whole life of a request that ran."""
    decision = Decision(Verdict.APPROVED, Decider.PERSON, "Fine.", "", 2.5, asked.digest)
    return [
        *opening(asked, level),
        ("approved", asked.id, encode(decision)),
        ("running", asked.id, {}),
        ("finished", asked.id, encode(result)),
        ("closed", asked.id, {}),
    ]


def denied(asked: Request, level: Level = Level.CRITICAL) -> list[Told]:
    decision = Decision(Verdict.DENIED, Decider.PERSON, "Not this.", "", 1.0, asked.digest)
    return [*opening(asked, level), ("denied", asked.id, encode(decision)), ("closed", asked.id, {})]


async def tell(ledger: Ledger, told: Iterable[Told]) -> list[int]:
    """Append in order; the numbers of the entries."""
    return [await ledger.append(*one) for one in told]


def write(
    path: Path, told: Iterable[Told], key: bytes | None = None, clock: Callable[[], float] = time.time
) -> list[int]:
    """A ledger with these entries, closed again."""

    async def work() -> list[int]:
        ledger = Ledger.open(path, clock)
        try:
            if key is not None:
                await ledger.seal_with(key)
            return await tell(ledger, told)
        finally:
            await ledger.close()

    return asyncio.run(work())


def remove(path: Path, *names: str, key: bytes = KEY, meanwhile: tuple[str, ...] = ()) -> Pruned:
    """Remove the content of these requests in a session of its own; `meanwhile` somebody tampers with the file."""

    async def work() -> Pruned:
        ledger = Ledger.open(path)
        try:
            await ledger.append("opened", "", {"process": 2})
            await ledger.seal_with(key)
            if meanwhile:
                tamper(path, *meanwhile)
            pruned = Pruned()
            for name in names:
                found = await Pruning(ledger, Places.under(path.parent.parent)).remove(chosen(path, name))
                pruned.requests += found.requests
                pruned.refused += found.refused
                pruned.unfinished = pruned.unfinished or found.unfinished
            return pruned
        finally:
            await ledger.close()

    return asyncio.run(work())


def tamper(path: Path, *statements: str) -> None:
    """Do as somebody with the file and a shell would: take the guards off, change, put the guards back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in guards:
            connection.execute(sql)


def entries(path: Path) -> list[tuple[Any, ...]]:
    """All there is to see in the ledger: entries with bodies, and the list of requests."""
    with closing(sqlite3.connect(path)) as connection:
        return [
            *connection.execute("SELECT * FROM entries LEFT JOIN bodies USING (seq) ORDER BY seq"),
            *connection.execute("SELECT * FROM requests NOT INDEXED ORDER BY seq"),
        ]
