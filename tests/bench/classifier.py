"""The classifier: ordinary code, 20,000 lines at once, and its own start; against parsing the same code alone."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from tests.bench.row import Row, percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
MOST_LINES = 200
LONG = 20_000
STARTS = 9
LOADING = "from runner.risk.rules.knowledge import bundled; import runner.risk.assess; bundled()"
FIRST = {"PYTHON": "open('a').read()", "SHELL": "cat a | sort", "JAVASCRIPT": "require('fs').readFileSync('a')"}
"""The first program that a process reads, by language: it waits for what is imported and compiled for it."""
ASKED = (
    "from runner.model.request import *; from runner.risk.assess import assess; "
    "assess(Request('bench', 'bench', Tool.CODE_EXECUTE, 0.0, Language.{language}, {code!r}))"
)
START = "import gc; gc.disable(); "
"""As a process of the classifier begins."""
GRAMMARS = "import runner.risk.shell.syntax, runner.risk.javascript.syntax as s; s.erased(0); s.erased(1)"
"""The grammars of all languages, ready to read any of them. A start leaves the queries on TypeScript for later."""


def rows() -> list[Row]:
    samples = list(_samples())
    _assess(*samples[0])
    took = [_timed(partial(_assess, *sample)) for sample in samples]
    plain = [code for language, code in samples if language is Language.PYTHON and _parses(code)]
    floor = [_timed(partial(ast.parse, code)) for code in plain]
    median, parsing, slow = statistics.median(took), statistics.median(floor), percentile(took, 0.95)
    whole = _long_code()
    long, long_parsing = _timed(lambda: _assess(Language.PYTHON, whole)), _timed(lambda: ast.parse(whole))
    loaded, grammars, bare, *first = _starts()
    what = f"assess code up to {MOST_LINES} lines, {len(samples)} of them"
    return [
        Row(f"{what} (p50)", median, "ms", parsing, at_most=10.0),
        Row(f"{what} (p95)", slow, "ms", percentile(floor, 0.95), at_most=5.0),
        Row(f"assess {LONG:,} lines of Python", long, "ms", long_parsing, at_most=4.0),
        Row("load the classifier (p50)", loaded, "ms", bare, at_most=8.0),
        Row("load the classifier, against its grammars alone (p50)", loaded, "ms", grammars, at_most=1.5),
        *(
            Row(f"start and assess {language}, against the grammars alone (p50)", took, "ms", grammars, at_most=1.75)
            for language, took in zip(FIRST, first, strict=True)
        ),
    ]


def _assess(language: Language, code: str) -> None:
    assess(Request("bench", "bench", Tool.CODE_EXECUTE, 0.0, language, code))


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def _samples() -> Iterator[tuple[Language, str]]:
    """The cases of constructs, and modules of this project cut at MOST_LINES."""
    for path in sorted((ROOT / "tests" / "risk" / "constructs").glob("*.txt")):
        language = path.name.partition("-")[0].replace("typescript", "javascript")
        for code in re.split(r"(?m)^=== .*\n", path.read_text("utf-8"))[1:]:
            yield Language(language), code
    for code in _modules():
        lines = code.split("\n")
        cut = next((at for at in range(min(len(lines), MOST_LINES), 0, -1) if _parses("\n".join(lines[:at]))), 0)
        yield Language.PYTHON, "\n".join(lines[:cut])


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def _modules() -> Iterator[str]:
    for top in ("runner", "app"):
        for path in sorted((ROOT / top).rglob("*.py")):
            yield path.read_text("utf-8")


def _long_code() -> str:
    """LONG lines of this project's own modules, over and over, without the line that only a file may start with."""
    lines: list[str] = []
    while len(lines) < LONG:
        for code in _modules():
            whole = code.replace("from __future__ import annotations\n", "").rstrip("\n").split("\n")
            if len(lines) + len(whole) > LONG:
                return "\n".join([*lines, *["pass"] * (LONG - len(lines))])
            lines += whole
    return "\n".join(lines)


def _starts() -> list[float]:
    """Milliseconds of a start with the classifier, with its grammars alone, of a bare one, and of each of FIRST.

    Compiled modules are at hand as in an installation.
    """
    with tempfile.TemporaryDirectory() as cache:

        def start(code: str) -> float:
            command = [sys.executable, "-c", START + code]
            return _timed(lambda: subprocess.run(command, check=True, cwd=ROOT, env={"PYTHONPYCACHEPREFIX": cache}))

        codes = [LOADING, GRAMMARS, "pass", *(ASKED.format(language=name, code=code) for name, code in FIRST.items())]
        for code in codes:
            start(code)
        took = [tuple(map(start, codes)) for _ in range(STARTS)]
    return [statistics.median(column) for column in zip(*took, strict=True)]
