"""Requests of the history as texts to copy: Markdown for a report or a person, JSON for asking the same again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from app import phrases
from app.history import words
from app.state import attention
from runner.model.request import NetworkMode, Tool
from runner.model.shown import hides
from runner.model.submission import Submission
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.audit.history.search import CaseRecord

LONGEST_OUTPUT = 20_000
"""Characters of output that are copied of each stream."""
_FENCE = re.compile("`{3,}")


def markdown(record: CaseRecord) -> str:
    """Return a request with its code, its decision and its output, as Markdown in which nothing of it is markup."""
    request, result = record.request, record.result
    language = request.language.value if request.language else ""
    level = record.row.level.name if record.row.level else tr("not assessed")
    facts = (
        (tr("Agent"), phrases.visible(request.agent)),
        (tr("Calls it"), phrases.quoted_title(request)),
        (tr("Asked"), phrases.when(record.row.arrived_at)),
        (tr("Findings"), attention.words_of(record.assessment)),
        (tr("Class"), level),
        (tr("Outcome"), words.outcome(record)),
        (tr("Digest"), record.row.digest),
    )
    headline = attention.headline_of(record.assessment, request)
    parts = [f"## {_escaped(headline)}", "\n".join(f"- {name}: {_escaped(text)}" for name, text in facts)]
    parts.append(_fenced(request.code, language))
    if changed := words.edited(record):
        parts += [tr("Approved in place of it:"), _fenced(changed, language)]
    for name, text in ((tr("Output"), result.stdout), (tr("Errors"), result.stderr)) if result is not None else ():
        if text:
            parts += [f"{name}:", _fenced(_cut(text), "")]
    return "\n\n".join(parts) + "\n"


def markdown_of(records: Iterable[CaseRecord]) -> str:
    return "\n".join(map(markdown, records))


def as_request(record: CaseRecord) -> str:
    """Return the arguments of the call that asks for the same again, as JSON."""
    request = record.request
    found: dict[str, Any] = {"code": request.code}
    if request.language is not None:
        found["language"] = request.language.value
    if request.title:
        found["title"] = request.title
    if request.context not in ("", "{}"):
        try:
            found["context"] = json.loads(request.context)
        except ValueError:
            found["context"] = request.context
    if request.stdin:
        found["stdin"] = request.stdin
    found["timeout"] = request.limits.seconds
    if request.network is not NetworkMode.NONE:
        found["network_enabled"] = True
    if request.network is NetworkMode.DOMAINS:
        found["allowed_domains"] = [one for one in request.domains if one not in request.granted]
    text = json.dumps(found, indent=2, ensure_ascii=False)
    # To whoever reads it, as JSON, it is the same; nothing in it hides from a person.
    return "".join(json.dumps(one)[1:-1] if one != "\n" and hides(one) else one for one in text)


def submission(record: CaseRecord) -> Submission | None:
    """Return the call with which a person asks for the same again; None where that is more than code and its input.

    Packages would be others by now, and what lies in a kept sandbox or in a working copy too.
    """
    request = record.request
    if request.packages or request.tool is not Tool.CODE_EXECUTE or request.has_files or request.plan is not None:
        return None
    try:
        context = json.loads(request.context or "{}")
    except ValueError:
        return None
    limits, networked = request.limits, request.network is not NetworkMode.NONE
    return Submission(
        phrases.YOU,
        request.tool,
        request.language,
        request.code,
        request.title,
        timeout=limits.seconds,
        memory_mb=limits.memory_mb,
        disk_mb=limits.disk_mb,
        max_output_bytes=limits.output_bytes,
        context=context if isinstance(context, dict) else None,
        stdin=request.stdin,
        network_enabled=networked or None,
        allowed_domains=tuple(one for one in request.domains if one not in request.granted) if networked else (),
    )


def _cut(text: str) -> str:
    left = len(text) - LONGEST_OUTPUT
    return (
        text
        if left <= 0
        else tr("{text}\n... ({count} more characters) ...", text=text[:LONGEST_OUTPUT], count=numeral(left))
    )


def _fenced(text: str, language: str) -> str:
    """Return a code block whose fence is longer than any in the text."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|!&~])", r"\\\1", " ".join(text.split()))
