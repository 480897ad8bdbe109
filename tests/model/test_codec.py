"""Values to JSON and back: everything returns, what is unknown is passed over, what does not fit is named."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.model.assessment import Assessment, Level, Span
from runner.model.codec import DEEPEST, UnreadableValue, decode, encode
from runner.model.decision import Ask, Decider, Decision, Verdict
from runner.model.request import Limits, NetworkMode, Request, canonical
from runner.model.result import Meta, Result
from runner.model.work import PortsSeen
from tests.audit.story import ASSESSMENT, RESULT, request

VALUES = [
    request("r1"),
    replace(request("r2"), network=NetworkMode.DOMAINS, domains=("a", "b"), limits=Limits(memory_mb=64), language=None),
    ASSESSMENT,
    Decision(Verdict.EXPIRED, Decider.ENGINE, "Nobody came.", after_seconds=60.0),
    Ask(30.0, "rule", "why"),
    RESULT,
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_value_returns_from_stored_json(value: object) -> None:
    stored = json.loads(canonical(encode(value)))
    assert decode(type(value), stored) == value


def test_a_request_keeps_its_digest() -> None:
    asked = request("r1")
    assert decode(Request, encode(asked)).digest == asked.digest


def test_fields_of_a_newer_version_are_passed_over_and_missing_ones_take_their_default() -> None:
    data = encode(RESULT)
    data["mood"] = "good"
    data["meta"]["colour"] = "green"
    del data["curve"], data["meta"]["image"]
    assert decode(Result, data) == replace(RESULT, curve=())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"level": "ENORMOUS"}, "Assessment.level"),
        ({"level": 3}, "Assessment.level"),
        ({"reasons": "one"}, "Assessment.reasons"),
        ({"reasons": [1]}, r"Assessment.reasons\[0\]"),
        ({"findings": [{"id": "x"}]}, r"Assessment.findings\[0\].level is missing"),
        ({"touch": []}, "Assessment.touch"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, object], named: str) -> None:
    with pytest.raises(UnreadableValue, match=named):
        decode(Assessment, encode(ASSESSMENT) | change)


@pytest.mark.parametrize(("kind", "data"), [(Span, {"line": True}), (Span, {"line": 1.5}), (Meta, {"versions": [1]})])
def test_numbers_and_mappings_are_not_bent(kind: type, data: dict[str, object]) -> None:
    whole = {"line": 1, "column": 1, "end_line": 1, "end_column": 1} if kind is Span else {}
    with pytest.raises(UnreadableValue):
        decode(kind, whole | data)


def test_levels_are_stored_by_name() -> None:
    assert encode(ASSESSMENT)["level"] == "HIGH"
    assert decode(Assessment, encode(ASSESSMENT)).level is Level.HIGH


def test_what_json_lacks_becomes_text() -> None:
    stored = encode(replace(RESULT, value=[math.nan, -math.inf, b"raw", {3: {1}}]))
    assert stored["value"] == ["nan", "-inf", "b'raw'", {"3": "{1}"}]
    canonical(stored)


def test_infinite_times_return() -> None:
    assert decode(Result, encode(replace(RESULT, duration=math.inf))).duration == math.inf


def test_endless_nesting_is_cut() -> None:
    value: object = "core"
    for _ in range(900):
        value = [value]
    stored = canonical(encode(replace(RESULT, value=value)))
    assert b"nested too deeply" in stored
    assert stored.count(b"[[") <= DEEPEST


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(value=_JSON, text=st.text(st.characters(codec=None)))
def test_whatever_code_hands_back_returns(value: object, text: str) -> None:
    result = replace(RESULT, value=value, stdout=text)
    assert decode(Result, json.loads(canonical(encode(result)))) == result


def test_only_dataclasses_are_encoded() -> None:
    with pytest.raises(TypeError, match="dict is no dataclass"):
        encode({"a": 1})


def test_tuples_of_a_fixed_length_are_read_place_by_place() -> None:
    ports = PortsSeen(1.0, ((5173, "127.66.1.2:5173"), (80, "")))
    assert decode(PortsSeen, encode(ports)) == ports
    for damaged in ([[5173]], [["a", "b"]], [[1, 2]], [[1, "", ""]]):
        with pytest.raises(UnreadableValue, match="ports"):
            decode(PortsSeen, {"at": 1.0, "ports": damaged})
