"""The classifier as the evaluator of the labelled corpora calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

if TYPE_CHECKING:
    from collections.abc import Mapping


def request(record: Mapping[str, object]) -> Request:
    return Request("bench", "bench", Tool.CODE_EXECUTE, 0.0, Language(str(record["language"])), str(record["code"]))


def classify(record: Mapping[str, object]) -> str:
    """The level that a record's code gets, network off."""
    return assess(request(record)).level.name
