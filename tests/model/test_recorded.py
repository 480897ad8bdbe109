"""What the history records of a result: all of what is short; ends, size and hash of what is not."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from runner.model.recorded import WHOLE, record_of
from runner.model.result import Outcome, Result

SMALL = Result(Outcome.OK, "out", "err", 0, 1.0, value={"a": [1]})


def test_what_is_short_is_recorded_as_it_is() -> None:
    assert record_of(SMALL, 100) == (SMALL, {})


def test_what_is_longer_has_its_ends_its_size_and_its_hash() -> None:
    whole = replace(SMALL, stdout="begin" + "\u00e9" * 5000 + "end", value=list(range(5000)))
    short, left = record_of(whole, 1000)
    assert short.stdout.startswith("begin") and short.stdout.endswith("end")
    assert len(short.stdout.encode()) < 1100 and short.meta.truncated
    assert short.meta.dropped_stdout == 10_008 - len(short.stdout.encode()) + len(mark(short.stdout))
    assert short.stderr == "err" and len(str(short.value)) < 1100
    text = json.dumps(whole.value)
    assert left == {
        WHOLE: {
            "stdout": {"bytes": 10_008, "sha256": hashlib.sha256(whole.stdout.encode()).hexdigest()},
            "value": {"bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()},
        }
    }


def mark(text: str) -> str:
    return text[text.index("\n... (output") : text.index(" ...\n") + 5]
