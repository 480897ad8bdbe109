"""The part of a result that the history records: bounded, with size and hash of what is longer."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from runner.model.answer import within

if TYPE_CHECKING:
    from runner.model.result import Result

WHOLE = "whole"
"""Field in the entry of a finished run: size and SHA-256 of each text of which only a part is recorded, by name."""


def record_of(result: Result, limit: int) -> tuple[Result, dict[str, object]]:
    """Return `result` with at most about `limit` bytes of each stream and value, and a field that measures the rest.

    The field is missing where nothing was left out.

    Takes some milliseconds for each MiB: call this off the loop.
    """
    short = within(result, limit)
    texts = {"stdout": (result.stdout, short.stdout), "stderr": (result.stderr, short.stderr)}
    sizes = {name: _measured(all_of_it) for name, (all_of_it, part) in texts.items() if part != all_of_it}
    if short.value != result.value:
        sizes["value"] = _measured(json.dumps(result.value))
    return short, {WHOLE: sizes} if sizes else {}


def _measured(text: str) -> dict[str, object]:
    data = text.encode("utf-8", "replace")
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
