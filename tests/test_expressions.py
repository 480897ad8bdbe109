"""No regular expression of ours takes more than linear time, whatever the text."""

from __future__ import annotations

import subprocess
import sys

from tests.expressions import ROOT, calls
from tests.patience import HANGS

FEWEST = 250
"""Expressions there are at least; fewer mean that some are not found."""
PUT_TOGETHER = {
    ("runner/audit/files/redact.py", "_detectors"): "loaded and tried",
    ("runner/audit/history/terms.py", "_pattern"): "words of a search as they stand, for lines up to a bound",
    ("runner/model/engine_texts.py", "_patterns"): "for texts of at most 1,000 characters",
    ("runner/model/expression.py", "__getattr__"): "tried where it stands",
    ("runner/model/sentence_translation.py", "_patterns"): "for sentences of at most 400 characters",
    ("runner/risk/javascript/mocking.py", "_reaches_out"): "a name as it stands, and one class of spaces behind it",
    ("runner/risk/shell/stand_ins.py", "stand_ins"): "a path as it stands",
    ("runner/risk/shell/stand_ins.py", "_writes_elsewhere"): "a name as it stands, and one bounded part behind it",
    ("runner/risk/shell/stand_ins.py", "_stands_below"): "names as they stand, and one bounded part behind them",
    ("runner/risk/javascript/mocking.py", "_only_called"): "names as they stand, in code of a bounded length",
    ("runner/risk/rules/knowledge.py", "_foreign"): "loaded and tried",
    ("runner/risk/rules/rule.py", "trusted"): "loaded and tried",
    ("runner/risk/rules/targets.py", "_groups"): "loaded and tried",
    ("runner/risk/rules/written.py", "line_of"): "searches rule files, which a person wrote, for a rule's own name",
    ("runner/risk/shell/commands/system.py", "handle"): "words of our own without repeats, in a call of recorder",
    ("runner/risk/shell/stand_ins.py", "_is_made_once"): "a name as it stands, and one bounded part behind it",
    ("runner/risk/shell/stand_ins.py", "_is_plain_end"): "a name as it stands, in one command",
    ("runner/risk/shell/stand_ins.py", "_stays"): "a name as it stands, and what follows it of a path",
    ("runner/risk/shell/words.py", "words"): "one class of characters",
    ("runner/risk/rules/trojan_source.py", "_matches"): "loaded and tried",
    ("runner/sandbox/container/frames.py", "_settle"): "a number of digits",
    ("runner/sandbox/images/trouble.py", "known"): "tried from its table",
    ("runner/workspace/secret_names.py", "_pattern"): "for names, which the system holds to 255 bytes each",
}
"""File and function in which an expression is put together -> how it is known to be linear."""


def tried(*expressions: str) -> list[str]:
    """Return what is said of `expressions`, or of all of ours."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.expressions", *expressions],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * HANGS,  # for all of them; an expression that never ends is ended on its own
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_expression_takes_linear_time() -> None:
    *slow, count = tried()
    assert not slow, "\n".join(slow)
    assert int(count) > FEWEST


def test_every_expression_that_is_put_together_is_known() -> None:
    found = {(call.where.partition(":")[0], call.function) for call in calls() if call.text is None and call.function}
    assert found == PUT_TOGETHER.keys()


def test_those_that_are_not_linear_are_found_and_the_others_are_tried() -> None:
    bad = [
        r"\s*print",
        r"(a|aa)+$",
        r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"",
        r"(?i:Add-Type\b.*DllImport)",
    ]
    linear = [r"(?:ab)++|;", r"open\s*+\(?\s*+[\"']", r"(?m:^)(?>.*?Add-Type\b).*DllImport"]
    *slow, count = tried(*bad, *linear)
    assert len(slow) == len(bad)
    assert all(line.startswith(f"given {one!r}: ") for line, one in zip(slow, bad, strict=True)), slow
    assert int(count) == len(bad) + len(linear)
