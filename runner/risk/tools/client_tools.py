"""Assesses the tools that an agent's own program has: what they do happens on the machine itself."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, Touch
from runner.model.request import ClientTool, Request, Tool
from runner.model.verdict import LONGEST_TARGET, RiskVerdict, Verb, VerdictAct
from runner.risk.addresses import Address, addresses_in, read_address
from runner.risk.context.request_context import domains
from runner.risk.model.bounds import excerpt
from runner.risk.model.lines import Lines
from runner.risk.model.value import Value
from runner.risk.rules.trojan_source import tricks
from runner.risk.tools.client_edits import assess_edit, assess_parts, both, concluded, place_findings, shown
from runner.risk.tools.codex_patch import UPDATES, Patched, is_run_otherwise
from runner.risk.tools.diffs import NOT_SEEN, changed_by
from runner.risk.verdict.code import plain_verdict
from runner.risk.verdict.naming import host_of, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNKNOWN = "Assent does not know what this tool does; its input is all there is to see."
FETCHES = "The agent's program gets this address from your machine and reads what comes back."
MOST_QUERY = 100
"""Characters of what an address has after its host that are not remarkable; data can be carried out in it."""
BY_ADDRESS = frozenset({"WebFetch", "webfetch"})
"""Tools of which the whole input is one address; the others take a text for a model."""
USUAL_SHELLS = frozenset(f"{folder}{name}" for folder in ("", "/bin/", "/usr/bin/") for name in ("bash", "sh", "zsh"))
"""Another program that a client is told to run its command lines with may do anything with them."""
WRITING = frozenset({Verb.WRITES, Verb.REWRITES, Verb.RUNS_ON_START, Verb.MOVES, Verb.MAKES})


def assess_client(request: Request, classify: Callable[[Request], Assessment]) -> Assessment:
    """Return what a tool of the agent's own program would do; `classify` assesses code. Pure; never raises."""
    match request.tool:
        case Tool.CLIENT_SHELL:
            return _shell(request, classify)
        case Tool.CLIENT_EDIT:
            return assess_edit(request, classify)
        case Tool.CLIENT_FETCH:
            return _fetch(request)
        case _:
            name = "" if request.client is None else request.client.name
            verdict = plain_verdict([f"uses the tool {quoted(name)}, which Assent does not know"])
            return concluded(Level.HIGH, [*tricks(Lines(request.code))], UNKNOWN, Touch(), verdict)


def _shell(request: Request, classify: Callable[[Request], Assessment]) -> Assessment:
    """Return what a command line would do, with the files that its patches change."""
    found = classify(request)
    tool = request.client or ClientTool("", "")
    findings = [*found.findings, *_other_shell(tool), *_written(found, tool)]
    touch = found.touch
    if is_run_otherwise(request.code):
        reason = "It runs apply_patch with a patch that cannot be read here, so the files that change are not known."
        findings.append(_finding("edit.unread", Capability.FILES, reason))
    if (diff := changed_by(request.code)) is not None:
        parts = [part._replace(path=shown(tool, part.path)) for part in diff.files]
        _base, changed, within, _inner = assess_parts(parts, tool, classify, whole=True)
        touch = both(touch, changed)
        findings += within
        if diff.unread:
            level = Level.HIGH if diff.unread == NOT_SEEN else Level.CRITICAL
            findings.append(replace(_finding("edit.unread", Capability.FILES, diff.unread), level=level))
    if len(findings) == len(found.findings) and diff is None:
        return found
    ordered = [*dict.fromkeys(findings)]
    worst = max((one for one in ordered if one not in found.findings), key=lambda one: one.level, default=None)
    verdict = found.verdict
    if worst is not None and worst.level > found.level:
        said = plain_verdict([verdict.sentence.rstrip(".")], more=worst.reason).sentence
        verdict = RiskVerdict(said, verdict.look_at, verdict.acts)
    base = found.base or found.level
    return concluded(base, ordered, found.reasons[-1] if found.reasons else "", touch, verdict)


def _written(found: Assessment, tool: ClientTool) -> Iterator[Finding]:
    """Yield where a command line writes to what other programs obey; the rules for code know the gravest places."""
    for act in found.verdict.acts:
        if act.verb in WRITING and act.place and not act.computed:
            about = place_findings(Patched(UPDATES, shown(tool, act.place), ""), tool)
            yield from (one for one in about if one.level is Level.CRITICAL)


def _other_shell(tool: ClientTool) -> Iterator[Finding]:
    """Yield that the command line is run by a program that is not one of the usual shells."""
    try:
        more = json.loads(tool.more) if tool.more else {}
    except (ValueError, RecursionError):
        return
    shell = more.get("shell") if isinstance(more, dict) else None
    if shell is None or (isinstance(shell, str) and shell in USUAL_SHELLS):
        return
    yield _finding("shell.unusual", Capability.STARTS_PROCESSES, f"It is run by the program {quoted(str(shell))}.")


def _fetch(request: Request) -> Assessment:
    findings = [*domains(request.domains), *tricks(Lines(request.code))]
    found = asked_addresses("" if request.client is None else request.client.name, request.code)
    if not found:
        findings.append(_network("fetch.unknown", "No web address can be read in this."))
    for address in found:
        findings += _about(address)
    hosts = [host_of(Value((one.href,))) for one in found if one.is_web] or [
        host_of(Value((one,))) for one in request.domains
    ]
    acts = [
        VerdictAct(Verb.FETCHES, excerpt(one.words, LONGEST_TARGET), one.computed, place=one.place) for one in hosts
    ]
    names = listed([one.words for one in hosts]) or "an address that cannot be read"
    told = next((one.reason for one in findings if one.id in TOLD), "")
    verdict = plain_verdict([f"reads {names} from your machine"], *acts, more=told)
    return concluded(Level.HIGH, findings, FETCHES, Touch(hosts=request.domains), verdict)


TOLD = ("fetch.here", "fetch.unread", "fetch.data", "fetch.login")
"""Findings that the sentence names, the first of them that is there."""


def asked_addresses(name: str, text: str) -> tuple[Address, ...]:
    """Return the addresses that the tool `name` would get with this input."""
    return (read_address(text),) if name in BY_ADDRESS else addresses_in(text)


def _about(address: Address) -> Iterator[Finding]:
    """Yield what is remarkable about an address."""
    if not address.is_web:
        yield _network("fetch.unread", "This is not read as an address of the web.", address.written)
        return
    if address.is_here:
        yield _network("fetch.here", "This address is this machine itself.", address.written)
    if address.has_login:
        yield _network("fetch.login", "The address has a name or a password in it.", address.written)
    elif not address.is_plain:
        reason = f"The address is written so that it does not look like what it is: {address.host}."
        yield _network("fetch.unread", reason, address.written)
    if len(address.rest) - 1 > MOST_QUERY:
        yield _network("fetch.data", "The address is long enough to carry data out.", address.written)


def _finding(id: str, capability: Capability, reason: str) -> Finding:
    return Finding(id, Level.CRITICAL, capability, WHOLE, "", reason, "T1565")


def _network(id: str, reason: str, address: str = "") -> Finding:
    return Finding(id, Level.CRITICAL, Capability.NETWORK, WHOLE, excerpt(address, 200), reason, "T1041")
