"""The program that tries code among decoys: the code of a job in any sandbox, one for each language."""

from __future__ import annotations

import json
import shlex

from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES
from runner.model.request import Language
from runner.sandbox.programs import inside


def program(language: Language, code: str, mark: str, seed: str) -> str:
    """Return the code of a job that runs `code` among decoys and writes each record after `mark` to standard error.

    `seed` makes the values of the decoys, as `runner.risk.tried.decoy` does. Raises KnownError for a language that
    cannot be tried.
    """
    match language:
        case Language.PYTHON:
            given = ", ".join(map(json.dumps, (mark, code, seed)))
            return f"exec(compile({inside('trying.py')!r}, '<assent>', 'exec'))\ntry_it({given})\n"
        case Language.JAVASCRIPT:
            return f"globalThis.assentGiven = {json.dumps([mark, code, seed])};\n{inside('trying.cjs')}"
        case Language.SHELL:
            given = "\n".join(
                f"{name}={shlex.quote(value)}" for name, value in zip("mcs", (mark, code, seed), strict=True)
            )
            return f"{given}\n{inside('trying.sh')}"
        case _:
            what = f"{LANGUAGES[language].title} is not tried among decoys: it is only read, or run."
            raise KnownError(what, "Have it run once you have read it.")
