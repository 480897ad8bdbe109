"""JSON Lines: one request per line, as the ledger has it."""

from __future__ import annotations

from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, Any

from runner.audit.history.search import DECIDED
from runner.model.codec import encode
from runner.model.lifecycle import Phase
from runner.model.request import canonical

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from runner.audit.export.source import ExportedRequest, ExportedStep
    from runner.audit.ledger.row import Row

_NAMED = {Phase.ARRIVED, Phase.ASSESSED, *DECIDED, Phase.FINISHED}
"""Entries whose body is in the line under a name of its own."""


def json_lines(requests: Iterable[ExportedRequest]) -> Generator[str, None, None]:
    """Yield one line for each request. Only ASCII: no character in it ends a line or reorders it on screen."""
    for request in requests:
        # The bodies are canonical JSON already; put together as `canonical` would, in a third of the time.
        texts = request.texts
        decision = next((texts[phase] for phase in DECIDED if phase in texts), "{}")
        parts = [
            f'"assessment":{_or_null(texts.get(Phase.ASSESSED))}',
            f'"decision":{_or_null(decision)}',
            f'"id":{quoted(request.line.id)}',
        ]
        if request.removed is not None and request.row is not None:
            parts.append(f'"left":{_encoded(_left(request.row))}')
        if request.problem:
            parts.append(f'"problem":{quoted(request.problem)}')
        parts += [
            f'"request":{_or_null(texts.get(Phase.ARRIVED))}',
            f'"result":{_or_null(texts.get(Phase.FINISHED))}',
            f'"seq":{request.line.seq}',
            f'"steps":[{",".join(map(_step, request.steps))}]',
        ]
        yield f"{{{','.join(parts)}}}\n"


def _step(step: ExportedStep) -> str:
    body = "" if step.kind in _NAMED or step.text in (None, "{}") else f'"body":{step.text},'
    return f'{{"at":{step.at},{body}"kind":{quoted(step.kind)},"seq":{step.seq}}}'


def _or_null(text: str | None) -> str:
    return "null" if text in (None, "{}") else str(text)


def _encoded(value: dict[str, Any]) -> str:
    return canonical(value).decode("ascii")


def _left(row: Row) -> dict[str, Any]:
    """Return what is known of a request whose content was removed."""
    return {name: value for name, value in encode(row).items() if value is not None and value != ""}
