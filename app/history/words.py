"""One request of the history in words: who decided and why, how it ran, and where the ledger says so."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from app import phrases
from app.parts.amounts import percent, size
from app.state import trials
from app.undo import words as undo
from runner.model.assessment import Assessment
from runner.model.codec import UnreadableValue, decode
from runner.model.decision import Decider, Verdict
from runner.model.errors import Refused
from runner.model.file_changes import FILES_CHANGED, NOT_UNDONE, UNDONE
from runner.model.lifecycle import Phase
from runner.model.recorded import WHOLE
from runner.model.rehearsal import REHEARSED, REHEARSING, RELEASED, Rehearsal, outcome_words
from runner.model.request import NetworkMode
from runner.model.result import Result
from runner.model.translation import capital, numeral, plural, tr, translated
from runner.model.tried import TRIAL_ENDED, TRIED, TRYING, Tried
from runner.requests.bounds import NAMES, changed_limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.audit.history.search import CaseRecord, CaseStep

KINDS = {
    "armed": tr("approved for later, after it had expired"),
    "armed-used": tr("answered by a late approval"),
    "edited": tr("changed by a person before it was approved"),
    FILES_CHANGED: tr("the files of its sandbox were compared with those before it"),
    "grant-used": tr("answered by what you remembered"),
    "held": tr("paused by a person"),
    "host-allowed": tr("a person allowed a host for this run"),
    "host-not-allowed": tr("that host was not allowed after all"),
    NOT_UNDONE: tr("undoing it failed"),
    "paused": tr("looked at by a person"),
    "joined": tr("sent again by the agent, which got the same answer"),
    "rehearsal-ended": tr("its trial ended without an outcome"),
    "rehearsed": tr("its trial ended with an outcome to hand over"),
    "rehearsing": tr("a trial began, without network"),
    "released": tr("the outcome of the trial was handed over"),
    "resumed": tr("resumed by a person"),
    TRIAL_ENDED: tr("its trial ended without an outcome"),
    TRIED: tr("its trial among decoys ended with what it asked for"),
    TRYING: tr("a trial among decoys began, without network"),
    UNDONE: tr("a person put the files of its sandbox back to before it"),
}
"""Kinds of entries about a request whose own name says too little."""

MOST_REFUSED = 3
"""Refused hosts that are named beside the outcome; all of them are in the tab Network."""
Named = list[tuple[str, str]]


def outcome(record: CaseRecord) -> str:
    """Return what became of it, in a sentence or two."""
    parts = [said] if (said := rehearsal(record)) else []
    if record.decision is not None:
        parts.append(phrases.decided(record.decision))
        if edited(record):
            parts.append(tr("The code was changed first: see Your version."))
        if changed := limits(record):
            parts.append(tr("The limits were changed first: {changed}.", changed=changed))
        if record.decision.verdict is not Verdict.APPROVED and record.decision.reason:
            parts.append(tr("Reason: {reason}", reason=phrases.visible(record.decision.reason)))
    elif record.row.phase is Phase.ASKED:
        parts.append(tr("Waits for your decision."))
    else:
        parts.append(tr("It has {phase}.", phase=record.row.phase))
    if record.result is not None:
        parts.append(phrases.ended(record.result))
        if refused := _refused(record.result):
            parts.append(refused)
    elif record.row.phase is Phase.RUNNING:
        parts.append(tr("It is running."))
    if (run := undo.recorded(record)) is not None:
        parts.append(undo.sentence(run.changes))
    if said := undo.put_back(record):
        parts.append(said)
    return " ".join(parts)


def peaks(result: Result) -> str:
    """Return the most that a run used, in a sentence; empty where nothing was read."""
    cpu = [one.cpu_percent for one in result.curve if one.cpu_percent is not None]
    memory = [one.memory_bytes for one in result.curve if one.memory_bytes is not None]
    if result.peak_memory is not None:
        memory.append(result.peak_memory)
    disk = [one.disk_bytes for one in result.curve if one.disk_bytes is not None]
    processes = [one.processes for one in result.curve if one.processes is not None]
    parts = [tr("CPU {percent}", percent=percent(max(cpu)))] if cpu else []
    parts += [tr("memory {size}", size=size(max(memory)))] if memory else []
    parts += [tr("disk {size}", size=size(max(disk)))] if disk else []
    parts += [plural("{count} process", "{count} processes", max(processes))] if processes else []
    return tr("At most: {parts}.", parts=", ".join(parts)) if parts else ""


def _refused(result: Result) -> str:
    """Return what the gate refused, in a sentence; empty where that is nothing."""
    refused = [one for one in result.contacts if one.allowed is False]
    if not refused:
        return ""
    named = ", ".join(phrases.visible(one.name) + _times(one.times) for one in refused[:MOST_REFUSED])
    left = len(refused) - MOST_REFUSED
    return tr(
        "Refused: {named}{rest}.", named=named, rest=tr(" and {left} more", left=numeral(left)) if left > 0 else ""
    )


def _times(count: int) -> str:
    return tr(" ({count} times)", count=numeral(count)) if count > 1 else ""


def decision(record: CaseRecord) -> Named:
    """Return who decided, by which rule, when, how quickly and why."""
    made = record.decision
    if made is None:
        return []
    pairs = [(tr("Decision"), capital(phrases.verdict(made.verdict))), (tr("By"), decider(made.by))]
    if made.rule:
        pairs.append((tr("Grant") if made.by is Decider.GRANT else tr("Rule"), phrases.visible(made.rule)))
    if record.row.decided_at is not None:
        pairs.append((tr("At"), phrases.when(record.row.decided_at)))
    if made.by is Decider.PERSON:
        pairs.append((tr("Took"), phrases.span(made.after_seconds)))
    if made.reason:
        pairs.append((tr("Reason"), phrases.visible(made.reason)))
    return pairs


def assessed(record: CaseRecord) -> tuple[str, ...]:
    """Return the reasons for the level."""
    return tuple(map(translated, record.assessment.reasons)) if record.assessment else ()


def run(record: CaseRecord) -> Named:
    """Return how it ran; empty where nothing ran."""
    result = record.result
    if result is None and record.request.client is not None:
        return _by_the_client(record)
    if result is None:
        return []
    pairs = [(tr("End"), phrases.ended(result)), (tr("Exit code"), str(result.exit_code))]
    if record.row.started_at is not None:
        pairs.insert(0, (tr("Started"), phrases.when(record.row.started_at)))
    if result.peak_memory is not None:
        pairs.append((tr("Memory"), tr("{size} at most", size=size(result.peak_memory))))
    if result.meta.runtime:
        pairs.append((tr("Sandbox"), phrases.isolation_first(result.meta.isolation)))
    if record.request.network is not NetworkMode.NONE:
        pairs.append((tr("Network"), phrases.network(record.request)))
    if result.meta.image:
        pairs.append((tr("Image"), phrases.visible(result.meta.image)))
    if result.meta.blocked_imports:
        pairs.append((tr("Blocked"), ", ".join(map(phrases.visible, result.meta.blocked_imports))))
    return pairs + _left_out(result) + _in_part(record)


def _by_the_client(record: CaseRecord) -> Named:
    """Return what is known of a tool that the agent's own program has used."""
    tool, decision = record.request.client, record.decision
    assert tool is not None
    pairs = [(tr("Tool"), phrases.visible(tool.name)), (tr("Folder"), phrases.visible(tool.folder))]
    if decision is not None and decision.verdict is Verdict.APPROVED:
        pairs.append((tr("End"), tr("Not known here: the agent's program runs it, on your machine and in no sandbox.")))
    if decision is not None and decision.verdict is Verdict.WITHDRAWN:
        pairs.append((tr("End"), tr("Not known here: the agent's program no longer waited for the answer.")))
    return [(name, words) for name, words in pairs if words]


def sender(record: CaseRecord) -> Named:
    """Return which agent sent it, how its program described itself, and in which session."""
    request = record.request
    pairs = [(tr("Agent"), phrases.visible(request.agent)), (tr("Program"), phrases.claim(request))]
    pairs += phrases.claims(request)
    if request.session:
        pairs.append(
            (tr("Session"), tr("{session}, counted since that start of Assent", session=numeral(request.session)))
        )
    return [(name, words) for name, words in pairs if words]


def ledger(record: CaseRecord) -> Named:
    """Return the digest, and each entry with its number and time."""
    pairs = [(tr("Digest"), record.row.digest)]
    return pairs + [(tr("Entry {seq}", seq=step.entry.seq), _step(step)) for step in record.steps]


def edited(record: CaseRecord) -> str:
    """Return the code that a person approved in place of what was asked; empty where it was not changed."""
    found = _version(record).get("code")
    return found if isinstance(found, str) and found != record.request.code else ""


def sent(record: CaseRecord) -> str:
    """Return what of a project was sent to another machine, or would have been; empty for nothing."""
    files = record.request.sends
    if files is None:
        return ""
    included = _version(record).get("included")
    with contextlib.suppress(Refused):  # damaged: Verify says so
        files = files.including([str(one) for one in included] if isinstance(included, list) else ())
    return files.text


def weighed(record: CaseRecord) -> Assessment | None:
    """Return the assessment of what was approved; None where it cannot be read. Raises nothing for a damaged one."""
    found = _version(record).get("assessment")
    if not isinstance(found, dict):
        return record.assessment
    try:
        return decode(Assessment, found)
    except UnreadableValue:
        return None


def rehearsal(record: CaseRecord) -> str:
    """Return what is recorded of its rehearsal, in a sentence; empty where there was none."""
    kinds = [step.entry.kind for step in record.steps]
    if RELEASED in kinds and record.result is not None and record.result.meta.rehearsed:
        return tr("Tried without network; you handed over that outcome, and nothing ran again.")
    if (shown := withheld(record)) is not None:
        return tr(
            "Tried without network ({outcome_words}); the agent got nothing of it.", outcome_words=outcome_words(shown)
        )
    if (found := tried(record)) is not None:
        return phrases.visible(found.sentence)
    return tr("A trial began and ended without an outcome.") if {REHEARSING, TRYING} & {*kinds} else ""


def tried(record: CaseRecord) -> Tried | None:
    """Return what its newest trial among decoys found; None where there was none."""
    bodies = [step.body for step in record.steps if step.entry.kind == TRIED]
    try:
        return decode(Tried, bodies[-1]) if bodies else None
    except UnreadableValue:
        return None  # damaged: Verify says so


def withheld(record: CaseRecord) -> Result | None:
    """Return the newest outcome of a rehearsal that was not handed over; None where there is none."""
    if record.result is not None and record.result.meta.rehearsed:
        return None
    bodies = [step.body for step in record.steps if step.entry.kind == REHEARSED]
    try:
        return decode(Result, bodies[-1]) if bodies else None
    except UnreadableValue:
        return None  # damaged: Verify says so


def withheld_text(record: CaseRecord) -> str:
    """Return what a trial asked for and that outcome, as they were shown; empty where there is neither."""
    found, asked = withheld(record), tried(record)
    parts = [] if asked is None else [trials.text(asked)]
    return "\n\n".join([*parts, *([] if found is None else [Rehearsal(record.row.digest, found).text])])


def limits(record: CaseRecord) -> str:
    """Return the limits that a person approved instead, in words; empty where they were not changed."""
    found = _version(record).get("limits")
    known = {name: found[name] for name in NAMES if name in found} if isinstance(found, dict) else {}
    return changed_limits(record.request.limits, replace(record.request.limits, **known))


def _version(record: CaseRecord) -> Mapping[str, object]:
    """Return what a person made of the request and approved."""
    approved = record.decision is not None and record.decision.verdict is Verdict.APPROVED
    bodies = [step.body for step in record.steps if step.entry.kind == "edited"]
    return bodies[-1] if bodies and approved else {}


def artifact(record: CaseRecord) -> str:
    """Return the path of the artifact file; empty where none was kept."""
    found = next((step.body.get("artifact") for step in record.steps if step.entry.kind == Phase.FINISHED), "")
    return found if isinstance(found, str) else ""


def _step(step: CaseStep) -> str:
    kind = KINDS.get(step.entry.kind) or phrases.visible(step.entry.kind)
    host = f", {phrases.visible(str(step.body['host']))}:{step.body.get('port')}" if "host" in step.body else ""
    return f"{kind}{host}, {phrases.when(step.entry.seconds)}"


def decider(by: Decider) -> str:
    """Return who decided, as the first word of a line."""
    match by:
        case Decider.PERSON:
            return tr("You")
        case Decider.RULE:
            return tr("A rule")
        case Decider.GRANT:
            return tr("What you chose to remember")
        case Decider.ENGINE:
            return tr("Assent itself")
        case Decider.AGENT:
            return tr("The agent")
        case _:
            assert_never(by)


def _in_part(record: CaseRecord) -> Named:
    """What the history has only the beginning and end of, with the size and hash of all of it."""
    found = next((step.body.get(WHOLE) for step in record.steps if step.entry.kind == Phase.FINISHED), None)
    pairs = []
    for name, measured in found.items() if isinstance(found, dict) else ():
        if isinstance(measured, dict) and isinstance(count := measured.get("bytes"), int):
            digest = phrases.visible(str(measured.get("sha256", "")))
            whole = tr("Recorded in part. All of it: {size}, SHA-256 {digest}", size=size(count), digest=digest)
            pairs.append((phrases.visible(name), whole))
    return pairs


def _left_out(result: Result) -> Named:
    dropped = result.meta.dropped_stdout + result.meta.dropped_stderr
    return [(tr("Left out"), tr("{size} of output", size=size(dropped)))] if dropped else []
