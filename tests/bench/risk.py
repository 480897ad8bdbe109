"""The classifier as the evaluator of the labelled corpora calls it."""

from __future__ import annotations

import json
import lzma
from typing import TYPE_CHECKING, Any

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def labelled(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file, one JSON object a line; one that ends in `.xz` is unpacked in memory alone."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def request(record: Mapping[str, object]) -> Request:
    return Request("bench", "bench", Tool.CODE_EXECUTE, 0.0, Language(str(record["language"])), str(record["code"]))


def classify(record: Mapping[str, object]) -> str:
    """The level that a record's code gets, network off."""
    return assess(request(record)).level.name
