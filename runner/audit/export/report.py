"""A report in HTML that stands alone: no script, nothing from elsewhere, and every text as text."""

from __future__ import annotations

import base64
import hashlib
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from runner.audit.export.shown import marked_up, utc
from runner.audit.export.table import FEW, sandbox
from runner.model.assessment import Level, attention_words

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from runner.audit.export.source import ExportedRequest
    from runner.audit.ledger.row import Row

LONGEST = 20_000
"""Characters of a code or an output in the report; the rest is counted."""
STYLE = (
    ":root{color-scheme:light dark}body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "details{border:1px solid #8886;border-radius:6px;margin:.5em 0;padding:.5em .8em}summary{cursor:pointer}"
    "pre{overflow-x:auto;background:#8881;padding:.6em;border-radius:4px;unicode-bidi:isolate;direction:ltr}"
    "dl{display:grid;grid-template-columns:10em 1fr;gap:.1em 1em}dt{opacity:.75}dd{margin:0;overflow-wrap:anywhere}"
    "bdi{unicode-bidi:isolate;direction:ltr}b{display:inline-block;min-width:6em}"
)
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_HEAD = (
    '<!DOCTYPE html>\n<html lang="en" dir="ltr"><head><meta charset="utf-8">\n'
    '<meta http-equiv="Content-Security-Policy" '
    f"content=\"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'\">\n"
    '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">\n'
    f"<title>History of Assent</title><style>{STYLE}</style></head><body>\n<h1>History of Assent</h1>\n"
)


def report(requests: Iterable[ExportedRequest], what: str) -> Generator[str, None, None]:
    """Yield the parts of the page; `what` says in words which requests it has."""
    yield f"{_HEAD}<p>{marked_up(what)} Written {marked_up(utc(time.time()))}; all times are UTC.</p>\n"
    count = 0
    for request in requests:
        count += 1
        yield _request(request)
    many = "1 request" if count == 1 else f"{count:,} requests"
    yield f"<p>End of the report: {many}, newest first.</p></body></html>\n"


def _request(request: ExportedRequest) -> str:
    row = request.row
    if row is None:
        return (
            f"<details><summary><b>damaged</b> <bdi>{marked_up(request.line.id)}</bdi></summary>"
            f"<p>{marked_up(request.problem)}</p></details>\n"
        )
    heading = f"{_frequent(row.agent)} &middot; {utc(row.arrived_at)} &middot; {_end(row)}"
    parts = [
        f"<details><summary><b>{_attention(request, row)}</b> <bdi>{marked_up(row.title or row.id)}</bdi>"
        f" &middot; {heading}</summary><dl>"
    ]
    parts += [f"<dt>{name}</dt><dd>{value}</dd>" for name, value in _facts(request, row) if value]
    parts.append("</dl>")
    parts += [f"<h3>{name}</h3><pre>{_cut(text)}</pre>" for name, text in _texts(request) if text]
    return "".join([*parts, "</details>\n"])


def _attention(request: ExportedRequest, row: Row) -> str:
    """Return what the window writes on the badge: the worst finding, and CRITICAL for what is of that class."""
    if row.level is None:
        return "not assessed"
    if row.level is Level.CRITICAL:
        return Level.CRITICAL.name
    if not request.assessment:
        return f"{row.level.name} class"  # its content was removed
    found = [one.get("level") for one in _findings(request)]
    worst = next((one for one in (Level.CRITICAL, Level.HIGH, Level.MEDIUM) if one.name in found), None)
    return attention_words(worst, bool(found))


def _findings(request: ExportedRequest) -> list[dict[str, Any]]:
    findings = request.assessment.get("findings")
    return [one for one in findings if isinstance(one, dict)] if isinstance(findings, list) else []


def _end(row: Row) -> str:
    return row.outcome or row.verdict or row.phase


def _facts(request: ExportedRequest, row: Row) -> list[tuple[str, str]]:
    """Return names and values, as they stand in HTML: only texts that somebody could have chosen are marked up."""
    decided = f"{row.verdict} by {row.decider}" if row.verdict else ""
    waited = "" if row.waited is None else f" after {row.waited:.1f} s"
    ran = "" if row.duration is None else f"{row.outcome}, exit code {row.exit_code}, {row.duration:.2f} s"
    return [
        ("Request", marked_up(row.id)),
        ("Class", "" if row.level is None else row.level.name),
        ("Tool", f"{row.tool} {row.language or ''}".strip()),
        ("Decision", f"{decided}{waited}" if decided else ""),
        ("Rule", _frequent(row.rule)),
        ("Reason", _frequent(str(request.decision.get("reason") or ""))),
        ("Run", ran),
        ("Sandbox", _frequent(sandbox(request))),
        ("Digest", marked_up(row.digest)),
        ("Removed" if request.removed is not None else "Damaged", marked_up(request.problem)),
    ]


@lru_cache(FEW)
def _frequent(text: str) -> str:
    """Return the markup of a text that many requests have."""
    return marked_up(text)


def _texts(request: ExportedRequest) -> Iterator[tuple[str, str]]:
    """Yield what the report shows as it stands, with a heading."""
    found = _findings(request)
    yield "Findings", "\n".join(f"{one.get('level')}  {one.get('id')}  {one.get('reason')}" for one in found)
    yield "Code", _text(request.asked.get("code"))
    yield "Code as approved", _text(request.body("edited").get("code"))
    for name, heading in (("stdout", "Output"), ("stderr", "Errors"), ("error", "End of the run")):
        yield heading, _text(request.result.get(name))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _cut(text: str) -> str:
    more = len(text) - LONGEST
    rest = f"\n[{more:,} more characters; the export as JSON Lines has them]" if more > 0 else ""
    return marked_up(text[:LONGEST]) + rest
