"""Runs markers in disguise in the real interpreters, to see that the steps leave what a program does."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.request import Language
from tests.risk.disguises.disguise import STEPS, Disguised, deeds, disguised, single

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.risk.disguises.disguise import Deed

WORD = re.compile(r"T[0-9]+T")
SECONDS = 60
# One process for all programs of a language, each with a scope of its own.
PYTHON = """
import sys, traceback
for path in sys.argv[1:]:
    with open(path) as source:
        try:
            exec(compile(source.read(), path, "exec"), {"__name__": "__main__", "__file__": path})
        except BaseException:
            print(path, traceback.format_exc(), file=sys.stderr)
    sys.stdout.flush()
"""
JAVASCRIPT = """
for (const path of process.argv.slice(1)) { try { require(path); } catch (e) { console.error(path, e); } }
"""
SHELL = 'for path; do bash "$path"; done'
COMMANDS = {
    Language.PYTHON: (sys.executable, "-c", PYTHON),
    Language.JAVASCRIPT: ("node", "-e", JAVASCRIPT),
    Language.SHELL: ("bash", "-c", SHELL, "bash"),
}
ENDINGS = {Language.PYTHON: "py", Language.JAVASCRIPT: "js", Language.SHELL: "sh"}


def each_step(language: Language) -> Iterator[Disguised]:
    """Yield for each step a marker that it rewrites. Raises ValueError where it rewrites none."""
    for number, step in enumerate(STEPS[language]):
        made = ((marker, single(marker, step)) for marker in _markers(language, number))
        found = next(((marker, code) for marker, code in made if code is not None), None)
        if found is None:
            raise ValueError(f"{step.name} rewrites no marker")
        yield Disguised(found[0], (step.name,), found[1])


def chains(language: Language, seeds: Sequence[int], depth: int) -> Iterator[Disguised]:
    """Yield each marker with chains of `depth` steps."""
    for seed in seeds:
        for number, marker in enumerate(_markers(language, seed)):
            code = marker.code.replace("T", f"T{number}", 1)
            yield disguised(replace(marker, code=code), depth, seed)


def _markers(language: Language, number: int) -> list[Deed]:
    """Return the markers with a word of their own."""
    known = [deed for deed in deeds("marker") if deed.language == language]
    return [replace(one, code=one.code.replace("TOKEN", f"T{number}T")) for one in known]


def failed(language: Language, programs: Sequence[Disguised], folder: Path) -> list[Disguised]:
    """Run all programs; return those whose word was not printed exactly once."""
    paths = []
    for number, program in enumerate(programs):
        path = folder / f"{number}.{ENDINGS[language]}"
        path.write_text(program.code, "utf-8")
        paths.append(str(path))
    done = subprocess.run([*COMMANDS[language], *paths], cwd=folder, capture_output=True, timeout=SECONDS, check=False)
    printed = WORD.findall(done.stdout.decode("utf-8", "replace"))
    return [program for program in programs if printed.count(word(program)) != 1]


def word(program: Disguised) -> str:
    found = WORD.search(program.deed.code)
    assert found is not None
    return found[0]
