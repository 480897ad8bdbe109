"""The values in a client's configuration file, as hooks read it. Standard library only, but for YAML."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from runner.clients import json_text
from runner.model.errors import KnownError
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = re.compile(r"^[ \t]*+(?:export[ \t]++)?([A-Za-z_]\w*+)[ \t]*+=[ \t]*+(.*)$", re.MULTILINE)
"""A line of a file with variables."""


def values_of(path: Path) -> object:
    """Return the values in a file; None where it is not there or cannot be read."""
    try:
        return _read(path.suffix or path.name, read_file(path).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError, KnownError):
        return None


def _read(kind: str, text: str) -> object:
    match kind:
        case ".toml":
            import tomllib

            return tomllib.loads(text)
        case ".yaml":
            from runner.clients import yaml_text

            return yaml_text.read(text)
        case ".env":
            return dict(VARIABLE.findall(text))
        case _:
            return _json(text)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        # With comments, which some clients take.
        return json_text.read(text)
