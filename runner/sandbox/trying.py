"""The program that tries code with stand-ins: the code of a job in any sandbox, one for each language."""

from __future__ import annotations

import json
import shlex
from typing import assert_never

from runner.model.request import Language
from runner.sandbox.programs import inside


def program(language: Language, code: str, mark: str, seed: str) -> str:
    """Return the code of a job that runs `code` among decoys and writes each record after `mark` to standard error.

    `seed` makes the values of the decoys, as `runner.risk.tried.decoy` does.
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
            assert_never(language)
