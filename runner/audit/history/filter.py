"""The filter of a search in the history, and whether a request passes it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.audit.history.counting import HOST, MODULE
from runner.audit.history.terms import SoughtWords
from runner.audit.ledger.bodies import parsed
from runner.model.assessment import Level
from runner.model.file_changes import FILES_CHANGED
from runner.model.lifecycle import Phase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.audit.ledger.row import Row
    from runner.model.decision import Verdict
    from runner.model.request import Isolation, Language
    from runner.model.result import Outcome

Facet = tuple[str, str]
"""A name and a value of what can be asked for beside words."""

OF_ROWS = ("agent", "level", "verdict", "outcome", "language")
"""Facets that the list of requests has as columns."""
OF_CONTENT = ("sandbox", "finding", "host", "unforeseen")
"""Facets that only the entries of a request say."""
UNFORESEEN: Facet = ("unforeseen", "yes")
LONGEST_VALUE = 300
"""Longest value of a facet, in characters: names of hosts and rules are shorter."""
_MOST_TIMES = 1 << 40
"""Tries of one run that are believed; no column of a table overflows by fewer."""
KINDS = (Phase.ARRIVED, Phase.ASSESSED, "edited", Phase.FINISHED, FILES_CHANGED)
"""Entries whose bodies hold what is searched; the last may come after the request was closed."""
_LIKELY = (Phase.ARRIVED, Phase.FINISHED, FILES_CHANGED, "edited", Phase.ASSESSED)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter for requests; fields that are not set have no effect."""

    agent: str = ""
    level: Level | None = None
    verdict: Verdict | None = None
    outcome: Outcome | None = None
    text: str = ""
    """Words that all occur in title, code, output, error, hosts or what it did, in any case: `terms.SoughtWords`."""
    since: float | None = None
    """Seconds since the epoch, inclusive."""
    until: float | None = None
    """Seconds since the epoch, exclusive."""
    language: Language | None = None
    sandbox: Isolation | None = None
    """Where it ran."""
    finding: str = ""
    """Id of a rule that found something in the code."""
    host: str = ""
    """A host that it named, might reach or tried to reach."""
    unforeseen: str = ""
    """`yes` for runs that did what their assessment had not foreseen."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        """What is asked for beside words and times."""
        named = ((name, getattr(self, name)) for name in (*OF_ROWS, *OF_CONTENT))
        return tuple((name, host_name(value) if name == "host" else _value(value)) for name, value in named if value)

    @property
    def narrows(self) -> bool:
        """Whether the index finds what fits sooner than the list of requests, which has an index for each column."""
        return self.needs_content or self.language is not None or len(self.facets) > 1

    @property
    def needs_content(self) -> bool:
        """Whether the list of requests alone cannot say what fits."""
        return bool(SoughtWords(self.text)) or any(getattr(self, name) for name in OF_CONTENT)

    def fits_row(self, row: Row) -> bool:
        """Return whether the columns of a request are as asked for."""
        return (
            all(_value(getattr(row, name)) == value for name, value in self.facets if name in OF_ROWS)
            and (self.since is None or row.arrived_at >= self.since)
            and (self.until is None or row.arrived_at < self.until)
        )

    def fits_bodies(self, bodies: Iterable[tuple[str, str]]) -> bool:
        """Return whether the bodies of a request, given by kind, say what is asked for; reads no more than needed."""
        words = SoughtWords(self.text).all
        facets = {facet for facet in self.facets if facet[0] in OF_CONTENT}
        for kind, data in sorted(bodies, key=_telling):
            content = content_of([(kind, data)])
            facets -= content.facets
            words = SoughtWords.missing(words, content.texts)
            if not words and not facets:
                return True
        return False


ANYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Content:
    """What the entries of one request hold for a search."""

    texts: tuple[str, ...]
    """Title, code as asked and as approved, the verdict, output, error, what the run did, and names of hosts."""
    facets: frozenset[Facet]
    """Those of `OF_CONTENT`."""
    stopped: tuple[tuple[str, str, int], ...] = ()
    """What and name of what the run tried in vain, and how often."""


def content_of(bodies: Iterable[tuple[str, str]]) -> Content:
    """Return what the bodies of a request hold, given by kind; what is damaged holds nothing."""
    texts: list[str] = []
    facets: set[Facet] = set()
    stopped: list[tuple[str, str, int]] = []
    for kind, data in bodies:
        body: object = None
        with suppress(ValueError, TypeError, RecursionError):
            body = parsed(data)
        if isinstance(body, dict):
            texts += _texts(kind, body)
            facets.update(_facets(kind, body))
            if kind == Phase.FINISHED:
                stopped += stopped_in(body)
    hosts = sorted(value for name, value in facets if name == "host")
    return Content((*texts, *hosts), frozenset(facets), tuple(stopped))


def stopped_in(body: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield what a run tried in vain, as its result says it: hosts that were refused, modules that were blocked."""
    for one in _listed(body.get("contacts")):
        if isinstance(one, dict) and one.get("allowed") is False and isinstance(host := one.get("host"), str):
            times = one.get("times")
            yield HOST, host_name(host), times if type(times) is int and 0 < times < _MOST_TIMES else 1
    meta = body.get("meta")
    for name in _listed(meta.get("blocked_imports")) if isinstance(meta, dict) else ():
        if isinstance(name, str) and name:
            yield MODULE, _value(name), 1


def _telling(body: tuple[str, str]) -> int:
    """Return the place of a body in the order in which they are likely to hold what is looked for."""
    kind, _ = body
    return _LIKELY.index(kind) if kind in KINDS else len(KINDS)


def facets_of(row: Row) -> list[Facet]:
    """Return the facets that the columns of a request say."""
    named = ((name, getattr(row, name)) for name in OF_ROWS)
    return [(name, _value(value)) for name, value in named if value]


def _value(value: object) -> str:
    text = value.name if isinstance(value, Level) else str(value or "")
    return text[:LONGEST_VALUE]


def _texts(kind: str, body: dict[str, Any]) -> Iterator[str]:
    names = {Phase.ARRIVED: ("title", "code"), Phase.FINISHED: ("stdout", "stderr", "error"), "edited": ("code",)}
    for name in names.get(kind, ()):
        if isinstance(text := body.get(name), str) and text:
            yield text
    verdict = body.get("verdict") if kind == Phase.ASSESSED else None
    if isinstance(verdict, dict) and isinstance(sentence := verdict.get("sentence"), str) and sentence:
        yield sentence
    if kind == Phase.FINISHED and isinstance(observed := body.get("observed"), dict):
        yield from _named(observed.get("deeds"), "what")


def _facets(kind: str, body: dict[str, Any]) -> Iterator[Facet]:
    match kind:
        case Phase.ARRIVED:
            yield from (("host", host_name(one)) for one in _listed(body.get("domains")) if isinstance(one, str))
        case Phase.ASSESSED:
            yield from (("finding", _value(one)) for one in _named(body.get("findings"), "id"))
            touch = body.get("touch")
            hosts = _listed(touch.get("hosts")) if isinstance(touch, dict) else ()
            yield from (("host", host_name(one)) for one in hosts if isinstance(one, str))
        case Phase.FINISHED:
            yield from (("host", host_name(one)) for one in _named(body.get("contacts"), "host"))
            meta = body.get("meta")
            if isinstance(meta, dict) and isinstance(where := meta.get("runtime"), str) and where:
                yield "sandbox", _value(where)
            if isinstance(observed := body.get("observed"), dict) and _listed(observed.get("unforeseen")):
                yield UNFORESEEN
        case _ if kind == FILES_CHANGED and _listed(body.get("unforeseen")):
            yield UNFORESEEN


def _listed(values: object) -> list[Any]:
    return values if isinstance(values, list) else []


def _named(values: object, name: str) -> Iterator[str]:
    for one in _listed(values):
        if isinstance(one, dict) and isinstance(text := one.get(name), str) and text:
            yield text


def host_name(name: str) -> str:
    """Return a host without its port and without case."""
    host, colon, port = name.rpartition(":")
    return _value((host if colon and port.isdigit() and ":" not in host else name).casefold())
