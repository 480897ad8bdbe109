"""The answer to an agent: the decision and the result, as compact text and as data."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.model.bundle import PACKAGE_FOLDERS
from runner.model.decision import Verdict
from runner.model.expression import expression
from runner.model.language_support import LANGUAGES
from runner.model.network import UnusableHost, canonical_host
from runner.model.plain import plain, plain_value
from runner.model.result import Outcome

if TYPE_CHECKING:
    from runner.model.decision import Decision
    from runner.model.network import Contact
    from runner.model.result import Result

EDITED = "Note: a person changed the code before approving it. This is what ran, compared with what you sent:"
LIMITED = "Note: a person changed the limits before approving it:"
REHEARSED = (
    "Note: this ran once, in a rehearsal sandbox without network, before a person looked at it. "
    "The person handed over exactly this outcome; nothing ran again."
)
WITHHELD = "It ran in a rehearsal sandbox without network only, and its outcome is not handed over."
NOTE = "Note:"
NOTHING_RAN = "Nothing was run; there is no output."
MARK = expression(r"\n\.\.\. \(output truncated: [\d,]+ bytes left out\) \.\.\.\n")
"""Marks where output was left out."""
VALUE_SHARE = 4
"""The value of `result` gets one part in so many of what the text of an answer may hold."""
NAMED = 20
"""Most files, hosts and imports that are named in an answer."""
LONGEST_NAME = 100
"""Characters of the name of an import: the code wrote it."""
INSTALLED = frozenset(f"{PACKAGE_FOLDERS}: {one.packages.folder}" for one in LANGUAGES.values() if one.packages)
"""What is left out of the files where Assent itself has put the packages of a run."""
NO_HOST = "(not a host name)"
ASK_FOR_HOSTS = (
    "A person decides about these hosts: ask for them in allowed_domains with network_enabled. "
    "Do not try to reach them by other means."
)
VALUE_BYTES = 24
"""Bytes of memory for each character of a value as JSON: an empty list takes three characters."""


class Status(StrEnum):
    """The first word of every answer."""

    FINISHED = "finished"
    FAILED = "failed"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request. `facts` is that of tools without a run."""

    request_id: str
    decision: Decision
    result: Result | None = None
    facts: dict[str, object] | None = None
    problem: str = ""
    """Why an approved tool other than code could not do what was asked; empty when it could."""
    changes: str = ""
    """A person's changes to the code before approving it, as a difference."""
    limits: str = ""
    """A person's changes to the limits before approving it, in words."""
    rehearsed: bool = False
    """Whether its code was started for a rehearsal."""
    note: str = ""
    """What a person has done in the agent's sandbox since its last call, or has sent with this request."""

    @property
    def status(self) -> Status:
        match self.decision.verdict:
            case Verdict.APPROVED:
                good = not self.problem and (self.result is None or self.result.outcome is Outcome.OK)
                return Status.FINISHED if good else Status.FAILED
            case other:
                return Status(other.value)

    @property
    def is_error(self) -> bool:
        return self.status is not Status.FINISHED

    def bounded(self, limit: int) -> Answer:
        """Return the same with at most about `limit` bytes of each stream and of the result value."""
        if self.result is None:
            return self
        short = within(self.result, limit)
        value = None if short.meta.truncated else short.value
        # Of a long value the text of the answer has less than the data.
        cut_in_text = value is not None and len(repr(value).encode("utf-8", "replace")) > limit // VALUE_SHARE
        meta = replace(short.meta, truncated=short.meta.truncated or cut_in_text)
        return replace(self, result=replace(short, curve=(), meta=meta))

    def size(self) -> int:
        """Return about how many bytes this takes in memory, rather too many than too few."""
        texts = [
            self.problem,
            self.changes,
            self.limits,
            self.note,
            *(str(value) for value in (self.facts or {}).values()),
        ]
        values = 0
        if (result := self.result) is not None:
            texts += [result.stdout, result.stderr, result.error, result.files_left_out]
            texts += [text for file in result.files for text in (file.path, file.sha256)]
            texts += [text for one in result.contacts for text in (one.host, one.why)]
            value = result.value
            values = sys.getsizeof(value) if isinstance(value, str) else VALUE_BYTES * len(json.dumps(value))
        return values + sum(map(sys.getsizeof, texts))

    def text(self, limit_kb: int = 10) -> str:
        """Compact, truncated, self-explaining text (spec I6); at most about `limit_kb` KiB of output."""
        said = self._text(limit_kb)
        return f"{said}\n{NOTE} {self.note}" if self.note else said

    def _text(self, limit_kb: int) -> str:
        if self.result is not None:
            return self._with_changes(result_text(self.result, limit_kb * 1024))
        if self.problem:
            return self._with_changes(f"Error: {self.problem}")
        if self.status is Status.FINISHED:
            facts = "\n".join(_line(name, value) for name, value in (self.facts or {}).items())
            return self._with_changes(facts or "Done.")
        reply = f"{self.status.value.capitalize()}: {self.decision.reason}".rstrip(": ")
        return f"{_sentence(reply)} {WITHHELD if self.rehearsed else NOTHING_RAN}"

    def _with_changes(self, said: str) -> str:
        """Return the text with the person's changes added at its end."""
        parts = [said]
        if self.result is not None and self.result.meta.rehearsed:
            parts.append(REHEARSED)
        if self.limits:
            parts.append(f"{LIMITED} {self.limits}.")
        if self.changes:
            parts += [EDITED, self.changes]
        return "\n".join(parts)

    def structured(self) -> dict[str, object]:
        """Return what the text says as data, for clients that show `structuredContent` to the model instead.

        What says nothing is left out: exit code 0, empty output, no files, what is not true. `details` has what only
        programs need.
        """
        data: dict[str, object] = {"status": self.status.value}
        if self.changes:
            data["changes"] = self.changes
        if self.limits:
            data["limits_changed"] = self.limits
        if self.problem:
            data["error"] = self.problem
        if self.note:
            data["note"] = self.note
        if self.facts is not None:
            data["facts"] = self.facts
        if self.result is not None:
            data |= _run_data(self.result)
            if self.result.meta.rehearsed:
                data["rehearsed"] = REHEARSED
        elif self.decision.verdict is not Verdict.APPROVED:
            data["message"] = self._text(0)
        return data

    def details(self) -> dict[str, object]:
        """Return what a program may want to know besides `structured`, and no model needs."""
        decision = self.decision
        data: dict[str, object] = {
            "request_id": self.request_id,
            "decision": {
                "verdict": decision.verdict.value,
                "by": decision.by.value,
                "rule": decision.rule,
                "reason": decision.reason,
            },
        }
        if (result := self.result) is not None:
            data |= {
                "outcome": result.outcome.value,
                "exit_code": result.exit_code,
                "duration": round(result.duration, 3),
                "peak_memory": result.peak_memory,
                "truncated": result.meta.truncated,
                "dropped_stdout": result.meta.dropped_stdout,
                "dropped_stderr": result.meta.dropped_stderr,
            }
            if result.contacts or result.contacts_left_out:
                data["network"] = _network(result)
        return data

    def plain(self) -> Answer:
        """Return the same with nothing in it that a terminal obeys, and without Assent's own lines in stderr."""
        result = self.result
        if result is not None:
            result = replace(
                result,
                stdout=plain(result.stdout),
                stderr=plain(_without_own_line(result)),
                value=plain_value(result.value),
                files=tuple(replace(file, path=plain(file.path)) for file in result.files),
                meta=replace(result.meta, blocked_imports=tuple(map(plain, result.meta.blocked_imports))),
            )
        return replace(
            self,
            decision=replace(self.decision, reason=plain(self.decision.reason)),
            result=result,
            facts=None if self.facts is None else {name: plain_value(value) for name, value in self.facts.items()},
            problem=plain(self.problem),
            changes=plain(self.changes),
        )


def _run_data(result: Result) -> dict[str, object]:
    """Return the end of a run as data, without what says nothing."""
    files = {file.path: file.size for file in result.files}
    refused, all_of_the_run = _refused_hosts(result)
    data: dict[str, object] = {
        "stdout": result.stdout,
        "stderr": result.stderr,
        "error": _why(result),
        "files": dict(list(files.items())[:NAMED]),
        "files_not_named": max(0, len(files) - NAMED),
        "files_left_out": result.files_left_out,
        "refused_hosts": refused,
        "advice": ASK_FOR_HOSTS if all_of_the_run else "",
        "truncated": result.meta.truncated,
        "timed_out": result.outcome is Outcome.TIMED_OUT,
        "blocked_imports": [name[:LONGEST_NAME] for name in dict.fromkeys(result.meta.blocked_imports)][:NAMED],
        "duration": round(result.duration, 3),
    }
    data = {name: value for name, value in data.items() if value}
    if result.value is not None:
        data["result"] = result.value
    if result.exit_code:
        data["exit_code"] = result.exit_code
    return data


def _why(result: Result) -> str:
    """Return how a run failed, besides its exit code; empty where that says it all."""
    if result.outcome is Outcome.OK or result.error == f"Exit code {result.exit_code}":
        return ""
    return result.error or result.outcome.value


def _without_own_line(result: Result) -> str:
    """Return stderr without the line that Assent adds for callers who read nothing else: the error says it, too."""
    if result.outcome in (Outcome.OK, Outcome.FAILED):
        return result.stderr
    return result.stderr.removesuffix(f"{result.error}.\n".replace("..", "."))


def within(result: Result, limit: int) -> Result:
    """Return `result` with at most about `limit` bytes of each stream and of its value."""
    meta = result.meta
    stdout, dropped_stdout = cut(result.stdout, limit, meta.dropped_stdout)
    stderr, dropped_stderr = cut(result.stderr, limit, meta.dropped_stderr)
    truncated = meta.truncated or dropped_stdout > 0 or dropped_stderr > 0
    value = result.value
    if value is not None and len(text := json.dumps(value, ensure_ascii=False)) > limit:
        value, truncated = shorten(text, limit), True
    meta = replace(meta, truncated=truncated, dropped_stdout=dropped_stdout, dropped_stderr=dropped_stderr)
    order = result.order
    if order is not None:
        order = order.within(*(_lines_before_cut(text, limit) for text in (result.stdout, result.stderr)))
    return replace(result, stdout=stdout, stderr=stderr, value=value, meta=meta, order=order)


def _lines_before_cut(text: str, limit: int) -> int | None:
    """Return how many whole lines `cut` leaves at the beginning; None where it leaves all."""
    data = text.encode("utf-8", "replace")
    return None if len(data) <= limit else data[: limit // 2].count(b"\n")


def result_text(result: Result, limit: int) -> str:
    """Return a result as text, at most about `limit` bytes of each stream: output first, how it ended last."""
    parts: list[str] = []
    if result.stdout:
        parts.append(cut(result.stdout, limit, result.meta.dropped_stdout)[0])
    if result.stderr and (result.stderr != result.stdout):
        parts.append("stderr:\n" + cut(result.stderr, limit, result.meta.dropped_stderr)[0])
    if result.value is not None:
        parts.append(f"result: {shorten(repr(result.value), limit // VALUE_SHARE)}")
    if result.outcome is not Outcome.OK:
        parts.append(f"Error (exit_code={result.exit_code}): {_why(result)}".removesuffix(": "))
    if line := _files(result):
        parts.append(line)
    if refused := _refused(result):
        parts.append(refused)
    return "\n".join(part.rstrip("\n") for part in parts) or "(no output)"


def _files(result: Result) -> str:
    """Return the line that names the files a person can look at; '' where there is nothing to say.

    That Assent does not collect the folder of packages which it made itself is nothing to an agent.
    """
    left_out = "" if result.files_left_out in INSTALLED else result.files_left_out
    if not result.files and not left_out:
        return ""
    named = [f"{file.path} ({file.size:,} bytes)" for file in result.files[:NAMED]]
    more = len(result.files) - NAMED
    line = "Files created: " + (", ".join(named) or "none collected") + (f" and {more:,} more" if more > 0 else "")
    return f"{line}. Left out: {left_out}" if left_out else line


def _refused(result: Result) -> str:
    """Return the lines that name the hosts that the run was refused; what is no host name was written by the code."""
    line, all_of_the_run = _refused_hosts(result)
    if not line:
        return ""
    return f"Refused by Assent, not reached: {line}.\n{ASK_FOR_HOSTS}" if all_of_the_run else f"{line}."


def _refused_hosts(result: Result) -> tuple[str, bool]:
    """Return the refused hosts in words, and whether any of them was refused for all of the run."""
    reached = {(one.host, one.port) for one in result.contacts if one.allowed}
    tried = [one for one in result.contacts if one.allowed is False]
    # One that a person allowed while the run was active was reached after all, or a grant for it ended on the way.
    partly = list(dict.fromkeys(one.name for one in tried if (one.host, one.port) in reached and _names_a_host(one)))
    refused = [one for one in tried if (one.host, one.port) not in reached]
    if tried and not refused:
        return f"Refused by Assent for a part of the run only: {', '.join(partly[:NAMED])}", False
    named = list(dict.fromkeys(one.name for one in refused if _names_a_host(one)))
    if not refused:
        return "", False
    more = len(dict.fromkeys((one.host, one.port) for one in refused)) - len(named[:NAMED])
    line = ", ".join(named[:NAMED]) or "none that has a name"
    line += f" and {more:,} more" if more > 0 and named else ""
    line += f"; {result.contacts_left_out:,} further tries are not listed" if result.contacts_left_out else ""
    line += f"; refused for a part of the run only: {', '.join(partly[:NAMED])}" if partly else ""
    return line, True


def _names_a_host(contact: Contact) -> bool:
    """Return whether its name is one, and not any other text that the code has sent in its place."""
    try:
        return canonical_host(contact.host) == contact.host
    except UnusableHost:
        return False


def _network(result: Result) -> dict[str, object]:
    """Return the hosts that a run tried to reach, as data."""
    return {
        "hosts": [
            {
                "host": one.name if _names_a_host(one) else NO_HOST,
                "outcome": {True: "allowed", False: "refused", None: "failed"}[one.allowed],
                "why": one.why,
                "times": one.times,
                "sent": one.sent,
                "received": one.received,
            }
            for one in result.contacts
        ],
        "hosts_left_out": result.contacts_left_out,
        "sent": sum(one.sent for one in result.contacts),
        "received": sum(one.received for one in result.contacts),
    }


def shorten(text: str, limit: int) -> str:
    """Return at most about `limit` bytes of UTF-8: head, a mark with the count, tail (spec X4)."""
    return cut(text, limit, 0)[0]


def cut(text: str, limit: int, dropped: int) -> tuple[str, int]:
    """Return the text of `shorten`, and the number of bytes missing in all.

    `dropped` is the number missing before: then `text` has a mark in its middle, which the new mark replaces.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text, dropped
    head = data[: limit // 2].decode("utf-8", "ignore")
    tail = data[-(limit // 2) :].decode("utf-8", "ignore")
    missing = len(data) - len(head.encode()) - len(tail.encode())
    if dropped and (mark := MARK.search(text)) is not None:
        missing += dropped - len(mark[0])
    return f"{head}\n... (output truncated: {missing:,} bytes left out) ...\n{tail}", missing


def _line(name: str, value: object) -> str:
    """Return one fact as text; a list of mappings takes a line for each."""
    match value:
        case [dict(), *_] as rows:
            columns = ("  ".join(map(str, row.values())) if isinstance(row, dict) else str(row) for row in rows)
            return "\n".join([f"{name}:", *columns])
        case [*items]:
            return f"{name}: {', '.join(map(str, items))}"
        case dict():
            return f"{name}: {', '.join(f'{key} {item}' for key, item in value.items())}"
        case _:
            return f"{name}:\n{value}" if name == "content" else f"{name}: {value}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else text + "."
