"""Deeds in disguise: which there are, which steps rewrite them, and what a seed makes of one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from runner.model.request import Language
from tests.risk.disguises import (
    javascript_programs,
    javascript_texts,
    python_calls,
    python_programs,
    python_texts,
    shell_steps,
)
from tests.risk.disguises.step import Maker, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS: dict[Language, tuple[Step, ...]] = {
    Language.PYTHON: (*python_texts.TEXT_STEPS, *python_calls.CALL_STEPS, *python_programs.PROGRAM_STEPS),
    Language.JAVASCRIPT: (
        *javascript_texts.TEXT_STEPS,
        *javascript_programs.CALL_STEPS,
        *javascript_programs.MODULE_STEPS,
        *javascript_programs.PROGRAM_STEPS,
    ),
    Language.SHELL: (*shell_steps.WORD_STEPS, *shell_steps.NAME_STEPS, *shell_steps.PROGRAM_STEPS),
}
DEEDS = Path(__file__).parent / "deeds"
MOST_CHARACTERS = 40_000
"""Of a program in disguise; a step that makes it longer is left out."""


@dataclass(frozen=True, slots=True)
class Deed:
    """A short program, dangerous, harmless or (a marker) printing one word."""

    language: Language
    kind: str
    name: str
    code: str


@dataclass(frozen=True, slots=True)
class Disguised:
    """A program that means what its deed means."""

    deed: Deed
    steps: tuple[str, ...]
    code: str


@cache
def deeds(kind: str, folder: Path = DEEDS) -> tuple[Deed, ...]:
    """Return the deeds of one kind, `danger`, `harmless` or `marker`, from files of each language in `folder`."""
    found = []
    for path in sorted(folder.glob(f"*-{kind}.txt")):
        language = Language(path.name.partition("-")[0])
        parts = re.split(r"(?m)^=== (.*)\n", path.read_text("utf-8"))
        for name, code in zip(parts[1::2], parts[2::2], strict=True):
            found.append(Deed(language, kind, name, code.rstrip("\n")))
    return tuple(found)


def single(deed: Deed, step: Step, seed: str = "") -> str | None:
    """Return `deed` rewritten by one step; None where that has nothing to rewrite."""
    code = step.change(deed.code, Maker(deed.code, Random(f"{seed} {deed.name} {step.name}")))
    return code if code != deed.code else None


def disguised(deed: Deed, depth: int, seed: int) -> Disguised:
    """Return `deed` rewritten by `depth` steps one after the other; the same for the same seed.

    A harmless deed gets no step that hides code which is then run: that is a danger by itself.
    """
    random = Random(f"{deed.language} {deed.name} {depth} {seed}")
    choice = [step for step in STEPS[deed.language] if deed.kind != "harmless" or not step.hides]
    code = deed.code
    taken: list[str] = []
    for _ in range(100):
        if len(taken) == depth:
            break
        step = random.choice(choice)
        made = step.change(code, Maker(code, random))
        if made != code and len(made) <= MOST_CHARACTERS:
            code = made
            taken.append(step.name)
    return Disguised(deed, tuple(taken), code)


def every_step() -> Iterator[tuple[Language, Step]]:
    for language, found in STEPS.items():
        for step in found:
            yield language, step
