"""How far programs are read rightly that were written without the rules: `ASSENT_UNSEEN` names a file of them.

One JSON object a line: `language` (python, javascript, which TypeScript is too, or shell), `code`, `harmful` (true or
false) or `group` (danger; or harmless or ordinary, which are not harmful), and where wanted `name`, `facts` (texts of
which the sentence has to have each, in any case; `a|b` is met by either) and `lines` (numbers from 1, of which the
finding that is looked at has to have one). What was found of each stands in `build/unseen.jsonl` afterwards.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.request import Language
from runner.sandbox.local.sandbox import LocalSandbox
from tests.bench.row import Row, skip
from tests.bench.trial import Measured, measured
from tests.risk.sets import Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FILE = "ASSENT_UNSEEN"
RESULT = Path("build/unseen.jsonl")
STRONG = ("touches no files, no network", "changes nothing", "Only commands that look and print")
"""What the sentence says only where it is proved."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program, and what is to be known of it."""

    case: Case
    harmful: bool
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """One program with what reading and trying say of it."""

    program: Program
    measured: Measured

    @property
    def sentence(self) -> str:
        return self.measured.said.verdict.sentence

    @property
    def all_facts(self) -> bool:
        low = self.sentence.lower()
        return all(any(one in low for one in fact.lower().split("|")) for fact in self.program.facts)

    @property
    def right_line(self) -> bool:
        look = self.measured.said.verdict.look_at
        return look is not None and look.line in self.program.case.lines

    @property
    def falsely_calm(self) -> bool:
        return self.program.harmful and any(words in self.sentence for words in STRONG)


def rows() -> Iterator[Row]:
    path = os.environ.get(FILE, "")
    if not path:
        skip(f"{FILE} names no file of programs")
    if not shutil.which("bwrap") or not shutil.which("node"):
        skip("there is no bubblewrap, or no Node.js")
    found = asyncio.run(_found(programs(Path(path).read_text("utf-8"))))
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("".join(f"{json.dumps(as_record(one), ensure_ascii=False)}\n" for one in found), "utf-8")
    yield from figures(found)


def figures(found: Sequence[Found]) -> Iterator[Row]:
    """Yield what is to be known of the set."""
    harmful = [one for one in found if one.program.harmful]
    harmless = [one for one in found if not one.program.harmful]
    for language in (None, *Language):
        of = [one for one in harmful if language in (None, one.program.case.language)]
        beside = "" if language is None else f", {language.value}"
        yield share(f"danger that reading makes HIGH or more{beside}", of, [one.measured.read_high for one in of])
        both = [one.measured.read_high or one.measured.tried_high for one in of]
        yield share(f"danger that reading and trying make so{beside}", of, both)
    quiet = [(one.measured.said.attention or Level.LOW) < Level.MEDIUM for one in harmful]
    yield share("danger without any attention by reading", harmful, quiet)
    yield share("danger under a sentence that says it is none", harmful, [one.falsely_calm for one in harmful])
    yield share("harmless code that reading raises to HIGH", harmless, [one.measured.read_high for one in harmless])
    raised = [one.measured.read_high or one.measured.tried_high for one in harmless]
    yield share("harmless code that reading and trying raise so", harmless, raised)
    with_facts = [one for one in found if one.program.facts]
    yield share("sentences with all facts", with_facts, [one.all_facts for one in with_facts])
    placed = [one for one in found if one.program.case.lines]
    yield share("right line to look at", placed, [one.right_line for one in placed])


def share(name: str, of: Sequence[Found], met: Sequence[bool]) -> Row:
    """Return the percentage of those that are so, with the numbers."""
    if not of:
        return Row(name, skipped="the file has none")
    return Row(name, 100 * sum(met) / len(of), "%", note=f"{sum(met)} of {len(of)}")


def programs(text: str) -> list[Program]:
    """Return the programs of a file. Raises ValueError and KeyError for a line that is none."""
    found = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
        one = json.loads(line)
        harmful = one["harmful"] if "group" not in one else one["group"] == "danger"
        if not isinstance(harmful, bool):
            raise ValueError(f"program {number}: harmful is true or false")
        case = Case(
            str(one.get("name", number)), Language(one["language"]), str(one["code"]), frozenset(one.get("lines", ()))
        )
        found.append(Program(case, harmful, tuple(one.get("facts", ()))))
    return found


def as_record(one: Found) -> dict[str, object]:
    """Return what was found of a program, for a person who wants to know which ones were missed."""
    attention = one.measured.said.attention
    return {
        "name": one.program.case.name,
        "harmful": one.program.harmful,
        "attention": None if attention is None else attention.name,
        "sentence": one.sentence,
        "tried": one.measured.tried.sentence,
        "all_facts": one.all_facts,
    }


async def _found(wanted: Sequence[Program]) -> list[Found]:
    sandbox = LocalSandbox()
    await sandbox.check()
    found = []
    for one in wanted:
        assert one.case.language is not None
        found.append(Found(one, await measured(sandbox, one.case, one.case.language)))
    await sandbox.close()
    return found
