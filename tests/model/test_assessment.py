"""Assessments: what calls for attention, and the verdict through JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, Span
from runner.model.codec import decode, encode
from runner.model.request import canonical
from runner.model.verdict import RiskVerdict, Verb, VerdictAct

VERDICT = RiskVerdict(
    "Deletes build/tmp.",
    Span(2, 0, 2, 16),
    (VerdictAct(Verb.DELETES, "build/tmp", line=2), VerdictAct(Verb.SENDS, "", computed=True, line=3)),
)


def found(level: Level) -> Finding:
    return Finding(f"a.{level.name}", level, Capability.FILES, WHOLE, "", "Why.")


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((), None),
        ((Level.LOW,), None),
        ((Level.LOW, Level.MEDIUM), Level.MEDIUM),
        ((Level.HIGH, Level.MEDIUM), Level.HIGH),
        ((Level.CRITICAL,), Level.CRITICAL),
    ],
)
def test_attention_is_the_worst_finding_whatever_the_class(levels: tuple[Level, ...], expected: Level | None) -> None:
    assert Assessment(Level.HIGH, ("Why.",), tuple(map(found, levels))).attention is expected


def test_a_verdict_returns_from_stored_json() -> None:
    assessment = Assessment(Level.HIGH, ("Why.",), verdict=VERDICT)
    assert decode(Assessment, json.loads(canonical(encode(assessment)))) == assessment


def test_a_record_of_a_version_without_verdicts_has_an_empty_one() -> None:
    stored = encode(Assessment(Level.HIGH, ("Why.",), verdict=VERDICT))
    del stored["verdict"]
    assert decode(Assessment, stored) == replace(decode(Assessment, stored), verdict=RiskVerdict())


def test_what_was_not_read_returns_from_stored_json() -> None:
    for unread in ((), ("Calls toolbox.wipe, which is not known.",)):
        assessment = Assessment(Level.HIGH, ("Why.",), unread=unread)
        back = decode(Assessment, json.loads(canonical(encode(assessment))))
        assert back == assessment
        assert back.whole is (unread == ())


def test_a_record_of_a_version_that_did_not_say_was_not_read_whole() -> None:
    stored = encode(Assessment(Level.HIGH, ("Why.",), unread=()))
    del stored["unread"]
    back = decode(Assessment, stored)
    assert (back.unread, back.whole) == (None, False)
    assert back.not_whole == "Not read whole: nobody looked."
