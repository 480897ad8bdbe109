"""What trying adds to reading, with quiet danger and with harmless code that looks like it, and how long it takes.

In the local sandbox, by the parts that a trial is made of. `ASSENT_TRIAL_SETS` names other files of the same form,
which no rule was made with; a row of the bench says of which files it is.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.engine.rehearsal.trials import LIMITS
from runner.engine.shared.typescript import TYPESCRIPT
from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk import tried
from runner.risk.assess import assess
from runner.risk.javascript.erased import without_types
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.trying import program
from tests.bench.row import Row, skip
from tests.risk.sets import FOLDER, Case, cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.assessment import Assessment
    from runner.model.tried import Tried

SETS = ("set_10", "set_07", "set_08")
OTHERS = "ASSENT_TRIAL_SETS"
MARK, SEED = "assent:bench", "bench"


@dataclass(frozen=True, slots=True)
class Measured:
    """One program, read and tried."""

    case: Case
    said: Assessment
    tried: Tried
    seconds: float
    """From the start of the run to the line on the band."""

    @property
    def read_high(self) -> bool:
        return (self.said.attention or Level.LOW) >= Level.HIGH

    @property
    def tried_high(self) -> bool:
        return any(act.level >= Level.HIGH for act in self.tried.acts)


def rows() -> Iterator[Row]:
    if not shutil.which("bwrap") or not shutil.which("node"):
        skip("there is no bubblewrap, or no Node.js")
    danger, harmless = asyncio.run(_of_kind("danger")), asyncio.run(_of_kind("harmless"))
    read, both = share(danger, trying=False), share(danger, trying=True)
    yield Row("quiet danger found by reading alone", read, "%", note=f"{len(danger)} programs, HIGH or more")
    yield Row("quiet danger found by reading and trying", both, "%", at_least=read)
    read, both = share(harmless, trying=False), share(harmless, trying=True)
    yield Row("harmless code raised by reading alone", read, "%", note=f"{len(harmless)} programs")
    yield Row("harmless code raised by reading and trying", both, "%")
    ended = [one for one in danger + harmless if one.tried.ended]
    yield Row("programs that ended early when tried", 100 * len(ended) / len(danger + harmless), "%")
    times = sorted(one.seconds for one in danger + harmless)
    yield Row("trial, start to line (p50)", 1e3 * statistics.median(times), "ms")
    yield Row(
        "trial, start to line (p95)", 1e3 * times[int(0.95 * len(times))], "ms", at_most=1e3 * LIMITS.seconds + 500
    )


def share(found: list[Measured], *, trying: bool) -> float:
    """The percentage that is HIGH or more."""
    return 100 * sum(one.read_high or (trying and one.tried_high) for one in found) / len(found)


async def _of_kind(kind: str) -> list[Measured]:
    sandbox = LocalSandbox()
    await sandbox.check()
    given = [Path(one) for one in os.environ.get(OTHERS, "").split()]
    files = [one for one in given if kind in one.name] or [FOLDER / f"{name}-{kind}.txt" for name in SETS]
    found = [
        await measured(sandbox, case, case.language)
        for file in files
        for case in cases(file)
        if case.language is not None
    ]
    await sandbox.close()
    return found


async def measured(sandbox: LocalSandbox, case: Case, language: Language) -> Measured:
    said = assess(Request("bench", "agent", Tool.CODE_EXECUTE, 0.0, language, case.code))
    begun = time.perf_counter()
    typed = any(finding.id == TYPESCRIPT for finding in said.findings)
    code = program(language, without_types(case.code) if typed else case.code, MARK, SEED)
    result = await (await sandbox.start(Job("bench", language, code, LIMITS), lambda _usage: None)).finished()
    found = tried.recorded(result, MARK, SEED)
    reads = [
        (each, assess(Request("bench", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, each.text)))
        for each in tried.programs(found.acts)
    ]
    seconds = time.perf_counter() - begun
    return Measured(case, said, tried.judged(tried.weighed(found, reads), said, seconds), seconds)
