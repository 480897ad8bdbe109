"""Commands in settings and pipelines that are read line by line: of npm, pip, tox, Python projects and Jenkins."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from runner.model.expression import expression

if TYPE_CHECKING:
    from collections.abc import Callable

PIPELINE_LINE = expression(
    r"""\A[ \t]*+(?:[^'"\n]{0,100}\{)?+[ \t]*+(?:sh|bat|powershell)\b[ \t(]*+(?:script:[ \t]*+)?+['"]++([^'"].*)"""
)
"""The command of a step, with what follows it in its line."""


def pipeline(content: str) -> str:
    """Return the steps `sh '...'` of a Jenkinsfile."""
    matches = (PIPELINE_LINE.match(line) for line in content.split("\n"))
    return "\n".join("" if match is None else match[1].rstrip(" \t})").rstrip("'\"") for match in matches)


SETTING = expression(r"\A([\w@:/.-]++)[ \t]*+=[ \t]*+(\S.*)")
IN_TOX = expression(r"\A[ \t]*+commands(?:_pre|_post)?+[ \t]*+=[ \t]*+(.*)")
TASK = expression(
    r"\A[ \t]*+[\w.\"-]++[ \t]*+=[ \t]*+(?:\{[ \t]*+(?:cmd|shell)[ \t]*+=[ \t]*+)?+\"((?:[^\"\\]|\\.)*+)\""
)
OF_TASKS = expression(
    r"\A\[tool\.(?:poe\.tasks|taskipy\.tasks|pdm\.scripts|hatch\.envs\.[\w-]{1,60}\.scripts|pixi\.tasks)"
)


def settings(tool: str) -> Callable[[str], str]:
    """Return the reader of a file that does what `config set` of its tool does."""

    def read(content: str) -> str:
        matches = (SETTING.match(line) for line in content.split("\n"))
        sets = ("" if m is None else f"{tool} config set {shlex.quote(m[1])} {shlex.quote(m[2])}" for m in matches)
        return "\n".join(sets)

    return read


def tox(content: str) -> str:
    """Return the commands of tox, each in a line of its own."""
    found: list[str] = []
    inside = False
    for line in content.split("\n"):
        match = IN_TOX.match(line)
        inside = match is not None or (inside and line[:1] in (" ", "\t"))
        found.append("" if not inside else match[1] if match is not None else line.strip().lstrip("- "))
    return "\n".join(found)


def project(content: str) -> str:
    """Return the tasks in a `pyproject.toml`."""
    found: list[str] = []
    inside = False
    for line in content.split("\n"):
        inside = OF_TASKS.match(line) is not None if line.startswith("[") else inside
        match = TASK.match(line) if inside else None
        found.append("" if match is None else re.sub(r"\\(.)", r"\1", match[1]))
    return "\n".join(found)
