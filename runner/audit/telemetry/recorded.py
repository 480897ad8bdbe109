"""The facts of an entry that leave the history: by name, and no text that an agent wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.audit.ledger.bodies import parsed
from runner.model.lifecycle import Phase
from runner.model.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Fact = str | int | float | bool | list[str]
"""A value of an attribute."""
Facts = dict[str, Fact]

MISSED = frozenset({Phase.DENIED.value, Phase.EXPIRED.value})
"""Kinds of entries that are warnings."""
BODIES = (Phase.ASSESSED, Phase.APPROVED, Phase.DENIED, Phase.EXPIRED, Phase.WITHDRAWN, Phase.FINISHED)
"""Kinds of entries about requests whose bodies are read."""
_NAMED = ("agent", "to", "mode", "isolation", "accepted", "requests_removed", "process")
"""What is taken of the body of an entry about no request: names and numbers that a person or Assent chose."""
MOST_FINDINGS = 50
LONGEST = 200
"""Characters of one fact."""


@dataclass(frozen=True, slots=True)
class RecordedEntry:
    """One entry as it is sent."""

    ledger: str
    """Hash of the first entry, which identifies the history."""
    seq: int
    at: int
    """Microseconds since the epoch."""
    kind: str
    hash: str
    request_id: str
    """Empty where the entry is about no request."""
    facts: Facts

    @property
    def words(self) -> str:
        """The entry in a sentence."""
        if self.kind.startswith("work-"):
            return f"Program at work: {self.kind.removeprefix('work-').replace('-', ' ')}"
        if not self.request_id:
            return f"History: {self.kind.replace('-', ' ')}"
        whose = f" of {self.facts['agent']}" if "agent" in self.facts else ""
        result = self.facts.get("decided_by") or self.facts.get("outcome") or self.facts.get("level")
        return f"Request {self.request_id}{whose}: {self.kind}{f' ({result})' if result else ''}"

    @property
    def warns(self) -> bool:
        """Whether something was refused or missed, or a run did not end well."""
        return self.kind in MISSED or self.facts.get("outcome") not in (None, Outcome.OK.value)


def facts_of(kind: str, about: Mapping[str, object], data: object) -> Facts:
    """Return the facts of an entry; `about` is what the list of requests says, `data` the body as it is stored.

    A body that is missing, damaged or not what its kind says gives no facts of its own: Verify names it.
    """
    found: Facts = {name: value for name, value in about.items() if isinstance(value, str) and value}
    try:
        body = parsed(data) if isinstance(data, str) else {}
        own = _OF.get(kind, _of_history)(body) if isinstance(body, dict) else {}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        own = {}
    found.update({name: value for name, value in own.items() if value is not None and value != ""})
    return {name: value[:LONGEST] if isinstance(value, str) else value for name, value in found.items()}


def _assessed(body: dict[str, Any]) -> dict[str, Any]:
    findings = [str(one["id"]) for one in body["findings"] if isinstance(one, dict) and "id" in one]
    return {"level": _text(body["level"]), "findings": list(dict.fromkeys(findings))[:MOST_FINDINGS] or None}


def _decided(body: dict[str, Any]) -> dict[str, Any]:
    # The reason is a person's own text: it stays here.
    return {
        "decided_by": _text(body["by"]),
        "rule": _text(body["rule"]),
        "waited_seconds": _number(body["after_seconds"]),
    }


def _finished(body: dict[str, Any]) -> dict[str, Any]:
    meta = body.get("meta")
    return {
        "outcome": _text(body.get("outcome")),
        "exit_code": _number(body.get("exit_code")),
        "duration_seconds": _number(body.get("duration")),
        "sandbox": _text(meta.get("runtime")) if isinstance(meta, dict) else None,
    }


def _of_history(body: dict[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in _NAMED if isinstance(body.get(name), str | int | float)}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


_OF: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    Phase.ASSESSED.value: _assessed,
    **dict.fromkeys((Phase.APPROVED.value, Phase.DENIED.value, Phase.EXPIRED.value, Phase.WITHDRAWN.value), _decided),
    Phase.FINISHED.value: _finished,
}
