"""One row of the history: a request, as its entries describe it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, assert_never

from runner.model.assessment import Assessment, Level
from runner.model.codec import UnreadableValue, decode
from runner.model.decision import Decider, Decision, Verdict
from runner.model.lifecycle import Phase, check
from runner.model.request import Language, Request, Tool
from runner.model.result import Outcome, Result
from runner.system.clock import LAST_TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.audit.ledger.entry import Entry


@dataclass(frozen=True, slots=True)
class Row:
    """A request in the list. Times are seconds since the epoch, durations are seconds."""

    seq: int
    """The entry with which it arrived: unique, and rising with time."""
    id: str
    agent: str
    tool: Tool
    language: Language | None
    title: str
    digest: str
    phase: Phase
    arrived_at: float
    level: Level | None = None
    asked_at: float | None = None
    verdict: Verdict | None = None
    decider: Decider | None = None
    rule: str = ""
    decided_at: float | None = None
    waited: float | None = None
    """Time between question and answer."""
    started_at: float | None = None
    outcome: Outcome | None = None
    exit_code: int | None = None
    duration: float | None = None
    """Duration of the run alone."""
    finished_at: float | None = None
    finished_seq: int | None = None
    """The entry that holds the result."""


COLUMNS = tuple(field.name for field in fields(Row))
TIMES = ("arrived_at", "asked_at", "decided_at", "started_at", "finished_at")
_NONE = type(None)
_TEXT, _WHOLE, _NUMBER = frozenset({str}), frozenset({int}), frozenset({float})


class _Languages(dict[Any, Any]):
    """The languages by name. One of a package that is not there now is none here: the rest of its row is as it was."""

    def __missing__(self, name: object) -> Language | None:
        if not isinstance(name, str):
            raise KeyError(name)
        return next((one for one in Language if one.value == name), None)


_OPTIONAL: dict[str, dict[Any, Any]] = {
    "level": {None: None, **{int(one): one for one in Level}},
    **{
        name: {None: None, **{one.value: one for one in kind}}
        for name, kind in (("verdict", Verdict), ("decider", Decider), ("outcome", Outcome))
    },
    "language": _Languages({None: None}),
}
_KNOWN_BY_NAME: dict[str, dict[Any, Any]] = {
    **_OPTIONAL,
    "tool": {one.value: one for one in Tool},
    "phase": {one.value: one for one in Phase},
}
_KNOWN = tuple(_KNOWN_BY_NAME.get(name) for name in COLUMNS)
"""For each column the values of its enum, None where it has none."""
_KIND_BY_NAME = {
    **dict.fromkeys(("id", "agent", "title", "digest", "rule"), _TEXT),
    "seq": _WHOLE,
    "arrived_at": _NUMBER,
    **dict.fromkeys(("exit_code", "finished_seq"), _WHOLE | {_NONE}),
    **dict.fromkeys(("asked_at", "decided_at", "waited", "started_at", "duration", "finished_at"), _NUMBER | {_NONE}),
    "level": _WHOLE | {_NONE},
}
_KINDS = tuple(_KIND_BY_NAME.get(name) for name in COLUMNS)
"""For each column the types that its values have, None where the enum says so."""
_TIME_PLACES = tuple(COLUMNS.index(name) for name in TIMES)
PHASES = frozenset(Phase)
PHASE_KINDS = frozenset(phase.value for phase in PHASES)
"""The kinds of entries about the phase of a request, as plain text."""


def advance(row: Row | None, entry: Entry, body: Mapping[str, Any]) -> Row | None:
    """Return the row after `entry`, or None where the entry is about no request's phase.

    Raises IllegalMove where the life-cycle table has no such step, UnreadableValue where the body is not what its kind
    says, ValueError where the request never arrived.
    """
    if entry.kind not in PHASES:
        return row
    phase = Phase(entry.kind)
    if row is None and phase is not Phase.ARRIVED:
        raise ValueError(f"request {entry.request_id} is {phase} before it arrived")
    check(row.phase if row else None, phase)
    if row is None:
        return _arrived(entry, body)
    return replace(row, phase=phase, **_news(phase, entry, body))


def _news(phase: Phase, entry: Entry, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that this step changes."""
    match phase:
        case Phase.ASSESSED:
            return {"level": decode(Assessment, body).level}
        case Phase.ASKED:
            return {"asked_at": entry.seconds}
        case Phase.APPROVED | Phase.DENIED | Phase.EXPIRED | Phase.WITHDRAWN:
            return _decided(entry, decode(Decision, body))
        case Phase.RUNNING:
            return {"started_at": entry.seconds}
        case Phase.FINISHED:
            return _finished(entry, body)
        case Phase.CLOSED | Phase.ARRIVED:
            return {}
        case _:
            assert_never(phase)


def _arrived(entry: Entry, body: Mapping[str, Any]) -> Row:
    request = decode(Request, body)
    if request.id != entry.request_id:
        raise UnreadableValue(f"The entry is about request {entry.request_id}, its body about {request.id}.")
    return Row(
        seq=entry.seq,
        id=request.id,
        agent=storable(request.agent),
        tool=request.tool,
        language=request.language,
        title=storable(request.title),
        digest=request.digest,
        phase=Phase.ARRIVED,
        arrived_at=entry.seconds,
    )


def _decided(entry: Entry, decision: Decision) -> dict[str, Any]:
    if decision.verdict.value != entry.kind:
        raise UnreadableValue(f"The entry says {entry.kind}, its decision {decision.verdict}.")
    return {
        "verdict": decision.verdict,
        "decider": decision.by,
        "rule": storable(decision.rule),
        "decided_at": entry.seconds,
        "waited": decision.after_seconds,
    }


def _finished(entry: Entry, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a result; tools without a run have no outcome."""
    news: dict[str, Any] = {"finished_at": entry.seconds, "finished_seq": entry.seq}
    if "outcome" in body:
        result = decode(Result, body)
        news |= {"outcome": result.outcome, "exit_code": result.exit_code, "duration": result.duration}
    return news


def storable(text: str) -> str:
    """Return `text` without lone surrogates, which no UTF-8 column can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def to_columns(row: Row) -> tuple[object, ...]:
    """Return the values in the order of COLUMNS; enums as their value (levels as numbers, so that they sort)."""
    return tuple(_stored_value(getattr(row, name)) for name in COLUMNS)


def from_columns(values: tuple[Any, ...]) -> Row:
    """Return the row of a table's values. Raises UnreadableValue for a value that this version does not know."""
    if (row := _plainly(values)) is not None:
        return row
    data = dict(zip(COLUMNS, values, strict=True))
    try:
        if data["level"] is not None:
            data["level"] = Level(data["level"]).name
    except ValueError:
        raise UnreadableValue(f"The history lists a level {data['level']!r}.", "Run `assent verify`.") from None
    for name in TIMES:
        at = data[name]
        if type(at) in (int, float) and not 0 <= at <= LAST_TIME:
            raise UnreadableValue(f"The history lists {at!r} as {name}.", "Run `assent verify`.")
    return decode(Row, {**data, "language": _OPTIONAL["language"][data["language"]]})


def _plainly(values: tuple[Any, ...]) -> Row | None:
    """Return the row of values as the writer writes them, in a fifth of the time; None where one looks different."""
    try:
        converted = [known[value] if known else value for known, value in zip(_KNOWN, values, strict=True)]
    except (KeyError, TypeError, ValueError):
        return None
    for kinds, value in zip(_KINDS, values, strict=True):
        if kinds and type(value) not in kinds:
            return None
    for place in _TIME_PLACES:
        if values[place] is not None and not 0 <= values[place] <= LAST_TIME:
            return None
    return Row(*converted)


def _stored_value(value: object) -> object:
    if isinstance(value, Level):
        return int(value)
    return str(value) if isinstance(value, str) else value
