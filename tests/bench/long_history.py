"""A ledger of any length, made by the project's own writer: what a person gathers in years, in minutes.

Run as a program: `python -m tests.bench.long_history FILE ENTRIES`.
"""

from __future__ import annotations

import os
import random
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.audit.ledger.chain import Chain
from runner.audit.ledger.entry import NewEntry
from runner.audit.ledger.ledger import SEAL_EVERY
from runner.audit.ledger.opening import open_or_begin
from runner.audit.ledger.seal import Seal
from runner.model.assessment import Assessment, Capability, Finding, Level, Span, Touch
from runner.model.codec import encode
from runner.model.decision import Decider, Decision, Verdict
from runner.model.network import Contact
from runner.model.request import Isolation, Language, Request, Tool
from runner.model.result import Meta, Outcome, Result, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = bytes(range(32))
BATCH = 2000
FIRST = 1_600_000_000
"""Seconds since the epoch at which the history begins."""
PAUSE = 600
"""Seconds between two requests."""
AGENTS = ("claude-code", "codex", "gemini-cli", "cursor", "nightly")
HOSTS = ("example.org", "files.example.net", "api.example.com", "mirror.example.edu")
RARE_EVERY = 10_000
"""One request in so many holds `RARE` in its code."""
RARE = "reconcile_quixotic_ledger"
FOUND = (
    ("python.subprocess", Level.HIGH, Capability.STARTS_PROCESSES),
    ("python.network", Level.CRITICAL, Capability.NETWORK),
    ("python.delete", Level.HIGH, Capability.DESTROYS_FILES),
    ("python.environment", Level.MEDIUM, Capability.RECONNAISSANCE),
)


@dataclass(slots=True)
class Author:
    """Writes requests: code and output are pieces of the standard library's own source."""

    chance: random.Random
    lines: list[str]

    @classmethod
    def begin(cls, seed: int = 7) -> Author:
        folder = Path(os.__file__).parent
        files = sorted(folder.glob("*.py"))[:120]
        lines = [line for file in files for line in file.read_text("utf-8", "replace").splitlines() if line.strip()]
        return cls(random.Random(seed), lines)

    def piece(self, most: int) -> str:
        """Return some lines that stand together in one source, mostly fewer than half of `most`."""
        length = 1 + int(most * self.chance.random() ** 2)
        first = self.chance.randrange(len(self.lines) - length)
        return "\n".join(self.lines[first : first + length])

    def life(self, number: int) -> Iterator[NewEntry]:
        """Yield the entries of one request."""
        chance, now = self.chance, FIRST + number * PAUSE
        rare = f"\n{RARE}({number})" if number % RARE_EVERY == RARE_EVERY // 2 else ""
        asked = Request(
            f"r{number:08x}",
            chance.choice(AGENTS),
            Tool.CODE_EXECUTE,
            float(now),
            chance.choice((Language.PYTHON, Language.PYTHON, Language.PYTHON, Language.SHELL, Language.JAVASCRIPT)),
            f"{self.piece(36)}\npart_{number:x} = load({number}){rare}",
            title=" ".join(self.piece(1).split()[:6]),
            isolation=chance.choice((Isolation.LOCAL, Isolation.GVISOR, Isolation.DOCKER)),
        )
        name, level, capability = chance.choice(FOUND)
        finding = Finding(name, level, capability, Span(1, 0, 1, 9), asked.code[:60], "It could do harm.", "T1059")
        hosts = (chance.choice(HOSTS),) if chance.random() < 0.1 else ()
        assessment = Assessment(level, ("It runs code.", "It could do harm."), (finding,), Touch(hosts=hosts))
        told = [("arrived", encode(asked)), ("assessed", encode(assessment)), ("asked", {"window": 60.0})]
        if chance.random() < 0.1:
            told.append(("denied", encode(Decision(Verdict.DENIED, Decider.PERSON, "No.", "", 3.0, asked.digest))))
        else:
            told += self._run(asked, hosts)
        for step, (kind, body) in enumerate([*told, ("closed", {})]):
            yield NewEntry((now + step) * 1_000_000, kind, asked.id, body)

    def _run(self, asked: Request, hosts: tuple[str, ...]) -> list[tuple[str, dict[str, object]]]:
        chance = self.chance
        by = chance.choice((Decider.PERSON, Decider.PERSON, Decider.RULE, Decider.GRANT))
        decision = Decision(Verdict.APPROVED, by, "", "nightly" if by is not Decider.PERSON else "", 4.5, asked.digest)
        good = chance.random() < 0.85
        result = Result(
            Outcome.OK if good else Outcome.FAILED,
            self.piece(20),
            "" if good else f"Traceback (most recent call last):\n{self.piece(4)}",
            0 if good else 1,
            chance.random() * 9,
            error="" if good else "It ended with exit code 1.",
            peak_memory=chance.randrange(10**7, 10**8),
            meta=Meta(
                asked.isolation.value, {"python": "3.11"}, isolation=asked.isolation, protections=("no network",)
            ),
            curve=tuple(Usage(at / 2, chance.random() * 100, chance.randrange(10**8), None, 2) for at in range(12)),
            contacts=tuple(Contact(host, 443, True) for host in hosts),
        )
        return [("approved", encode(decision)), ("running", {}), ("finished", encode(result))]


def write(path: Path, entries: int, *, open_requests: int = 3) -> None:
    """Make a signed ledger of at least `entries` entries; the last requests are still open."""

    def begin(connection: object, genesis: NewEntry) -> None:
        Chain(connection, SEAL_EVERY).write([genesis])  # type: ignore[arg-type]

    with closing(open_or_begin(path, FIRST, begin)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        chain = Chain(connection, SEAL_EVERY)
        chain.seal_with(Seal(KEY), FIRST * 1_000_000)
        author, number, written = Author.begin(), 0, 2
        while written < entries:
            drafts: list[NewEntry] = []
            while len(drafts) < BATCH:
                drafts += author.life(number)
                number += 1
            outcomes = chain.write(drafts)
            assert all(isinstance(one, int) for one in outcomes), outcomes
            written += len(drafts)
        for _ in range(open_requests):
            chain.write(list(author.life(number))[:3])
            number += 1
        chain.finish((FIRST + number * PAUSE) * 1_000_000)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
