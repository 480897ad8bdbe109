"""Assesses the tools that an agent's own program has: what they do happens on the machine itself."""

from __future__ import annotations

import posixpath
import re
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, Touch, combined
from runner.model.expression import expression
from runner.model.request import Request, Tool
from runner.model.verdict import LONGEST_TARGET, RiskVerdict, Verb, VerdictAct
from runner.risk.assess import in_order
from runner.risk.model.lines import Lines
from runner.risk.model.value import Value
from runner.risk.rules.knowledge import bundled
from runner.risk.rules.starting import started_by
from runner.risk.surroundings import domains
from runner.risk.text import tricks
from runner.risk.verdict.code import plain_verdict
from runner.risk.verdict.naming import file_name, host_of, listed, quoted
from runner.risk.writes import assess_content

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

UNKNOWN = "Assent does not know what this tool does; its input is all there is to see."
FETCHES = "The agent's program gets this address from your machine and reads what comes back."
CHANGES = "The agent's program changes this file on your machine."
DELETES = "The patch deletes this file."
STEERING_FOLDERS = frozenset((".claude", ".codex", ".gemini", ".cursor", ".vscode", ".zed"))
STEERING_NAMES = (".claude.json", ".mcp.json", "managed-settings.json", "goose/config.yaml")
OWN_FOLDERS = ("/.config/assent/", "/.local/share/assent/", "/.local/state/assent/")
"""Files by which programs of agents are configured: their hooks, permissions and servers; and those of Assent."""
PATCHED = expression(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE)
MOST_QUERY = 100
"""Characters of what an address has after its host that are not remarkable; data can be carried out in it."""
ADDRESS = expression(r"https?://[^\s\"'<>)\]}]+", re.IGNORECASE)
CONTINUED = "if 1:\n    pass\n"
"""Put before a part of Python code that begins with `else` or the like, which cannot be read by itself."""


class Patched(NamedTuple):
    """One file of a patch: `text` are the lines that come."""

    action: str
    path: str
    text: str


def assess_client(request: Request, classify: Callable[[Request], Assessment]) -> Assessment:
    """Return what a tool of the agent's own program would do; `classify` assesses code. Pure; never raises."""
    match request.tool:
        case Tool.CLIENT_SHELL:
            return classify(request)
        case Tool.CLIENT_EDIT:
            return _edit(request, classify)
        case Tool.CLIENT_FETCH:
            return _fetch(request)
        case _:
            name = "" if request.client is None else request.client.name
            verdict = plain_verdict([f"uses the tool {quoted(name)}, which Assent does not know"])
            return _concluded(Level.HIGH, tricks(Lines(request.code)), UNKNOWN, Touch(), verdict)


def patched(patch: str) -> tuple[Patched, ...]:
    """Return the files of a patch as Codex writes it, each with the lines that it adds."""
    heads = list(PATCHED.finditer(patch))
    found = []
    for at, head in enumerate(heads):
        end = heads[at + 1].start() if at + 1 < len(heads) else len(patch)
        lines = patch[head.end() : end].split("\n")
        found.append(Patched(head[1], head[2], "\n".join(line[1:] for line in lines if line.startswith("+"))))
    return tuple(found)


def addresses(text: str) -> tuple[str, ...]:
    """Return the web addresses in a text."""
    return tuple(dict.fromkeys(found.rstrip(".,;") for found in ADDRESS.findall(text)))


def destination(address: str) -> str:
    """Return the host of an address as rules name it, with a port that is not the usual one; '' without one."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if port in (None, 443):
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _edit(request: Request, classify: Callable[[Request], Assessment]) -> Assessment:
    folder = "" if request.client is None else request.client.folder
    parts = patched(request.code)
    if not parts:
        parts = tuple(Patched("Update File", path, request.code) for path in request.files)
    findings: list[Finding] = []
    inner = ""
    base, touch = Level.MEDIUM, Touch(files=request.files)
    for part in parts:
        findings += _place(part, folder)
        found = assess_content(part.path, _complete(part, classify), classify=classify)
        base = max(base, found.base or found.level)
        # Lines of a part are not those of the patch.
        whole = len(parts) > 1 or bool(patched(request.code))
        # A piece of a file is not read as a whole one.
        about = [one for one in found.findings if part.action == "Add File" or one.id != "write.unread"]
        findings += (replace(one, span=WHOLE) if whole else one for one in about)
        touch = _both(touch, found.touch)
        inner = inner or (found.verdict.sentence.partition("; if run: ")[2] if len(parts) == 1 else "")
    if not parts:
        findings.append(_finding("edit.unread", Level.CRITICAL, "", "It cannot be read which files would change."))
    return _concluded(base, findings, CHANGES, touch, _changed(parts, folder, findings, inner))


VERBS = {"Add File": "writes", "Delete File": "deletes", "Move to": "moves something to"}


def _changed(parts: Sequence[Patched], folder: str, findings: Sequence[Finding], inner: str) -> RiskVerdict:
    """Return what happens to which files of the machine."""
    if not parts:
        return RiskVerdict("Changes files; it cannot be read which.")
    named: dict[str, list[str]] = {}
    acts = []
    for part in parts:
        path = part.path.removeprefix(f"{folder.rstrip('/')}/") if folder else part.path
        verb = VERBS.get(part.action, "changes")
        by = started_by(path) if bundled().targets.of(path) & {"startup", "hook"} else ""
        named.setdefault(verb, []).append(f"{file_name(path)} ({by})" if by else file_name(path))
        deletes = part.action == "Delete File"
        acts.append(
            VerdictAct(Verb.DELETES if deletes else Verb.REWRITES, file_name(path), place=path[:LONGEST_TARGET])
        )
    clauses = [f"{verb} {listed(named[verb])}" for verb in sorted(named, key=lambda verb: verb != "deletes")]
    worst = max(findings, key=lambda one: one.level, default=None)
    place = worst is not None and worst.level >= Level.HIGH and worst.id.startswith("edit.")
    span = worst.span if worst is not None and worst.level >= Level.MEDIUM and worst.span != WHOLE else None
    told = worst.reason if worst is not None and place and worst.id != "edit.deletes" else ""
    return plain_verdict([f"{clauses[0]} on your machine", *clauses[1:]], *acts, look_at=span, inner=inner, more=told)


def _complete(part: Patched, classify: Callable[[Request], Assessment]) -> str:
    """Return the text of a part of a file so that it can be read by itself, where that is possible."""
    text = textwrap.dedent(part.text)
    if not part.path.lower().endswith((".py", ".pyw")) or part.action == "Add File":
        return part.text if part.action == "Add File" else text
    unread = {"risk.unparsed", "hidden.left-out", "noted.repaired"}
    for candidate in (text, CONTINUED + text):
        if not unread & {one.id for one in assess_content(part.path, candidate, classify=classify).findings}:
            return candidate
    return text


def _place(part: Patched, folder: str) -> Iterator[Finding]:
    """Yield findings about where a file is: outside the project, at a place that runs or steers something."""
    whole = posixpath.normpath(posixpath.join(folder or "/", part.path.replace("\\", "/")))
    inside = folder and (whole == folder or whole.startswith(folder.rstrip("/") + "/"))
    if not inside:
        yield _finding("edit.outside", Level.HIGH, part.path, "This file is outside the folder the agent works in.")
    targets = bundled().targets
    kinds = targets.of(whole) | (targets.of(whole.removeprefix(folder.rstrip("/") + "/")) if inside else frozenset())
    if "\0" in part.path or "\n" in part.path:
        yield _finding("edit.name", Level.CRITICAL, part.path, "The name has characters that cannot be shown.")
    if steers(whole.lower()):
        reason = "Programs of agents are configured here: permissions, hooks and servers."
        yield _finding("edit.agents", Level.CRITICAL, part.path, reason, Capability.PERSISTENCE)
    elif "startup" in kinds:
        reason = "Files here run automatically, at start-up, log-in or in a tool."
        yield _finding("edit.startup", Level.CRITICAL, part.path, reason, Capability.PERSISTENCE)
    elif "secret" in kinds or "key-file" in kinds:
        yield _finding("edit.credentials", Level.CRITICAL, part.path, "This is a place for keys or passwords.")
    if part.action == "Delete File":
        yield _finding("edit.deletes", Level.HIGH, part.path, DELETES)


def steers(path: str) -> bool:
    """Return whether a file configures programs of agents, or Assent."""
    folders = path.split("/")[:-1]
    named = any(path == name or path.endswith(f"/{name}") for name in STEERING_NAMES)
    return named or not STEERING_FOLDERS.isdisjoint(folders) or any(one in path for one in OWN_FOLDERS)


def _fetch(request: Request) -> Assessment:
    findings = [*domains(request.domains), *tricks(Lines(request.code))]
    found = addresses(request.code)
    if not found:
        findings.append(_network("fetch.unknown", "No web address can be read in this."))
    for address in found:
        rest = address.partition("://")[2].partition("/")[2]
        if len(rest) > MOST_QUERY:
            findings.append(_network("fetch.data", "The address is long enough to carry data out.", address))
        if "@" in urlsplit(address).netloc:
            findings.append(_network("fetch.login", "The address has a name or a password in it.", address))
    hosts = [host_of(Value((address,))) for address in found] or [host_of(Value((one,))) for one in request.domains]
    acts = [VerdictAct(Verb.FETCHES, one.words[:LONGEST_TARGET], one.computed, place=one.place) for one in hosts]
    names = listed([one.words for one in hosts]) or "an address that cannot be read"
    told = next((one.reason for one in findings if one.id in ("fetch.data", "fetch.login")), "")
    verdict = plain_verdict([f"reads {names} from your machine"], *acts, more=told)
    return _concluded(Level.HIGH, findings, FETCHES, Touch(hosts=request.domains), verdict)


def _concluded(
    base: Level, findings: Iterator[Finding] | list[Finding], reason: str, touch: Touch, verdict: RiskVerdict
) -> Assessment:
    ordered = in_order(findings)
    worst = sorted(ordered, key=lambda finding: -finding.level)
    reasons = tuple(dict.fromkeys((*(finding.reason for finding in worst), reason)))
    return Assessment(combined(base, ordered), reasons, ordered, touch, verdict, base=base)


def _both(one: Touch, other: Touch) -> Touch:
    return Touch(
        tuple(dict.fromkeys((*one.files, *other.files))),
        tuple(dict.fromkeys((*one.hosts, *other.hosts))),
        tuple(dict.fromkeys((*one.processes, *other.processes))),
        tuple(dict.fromkeys((*one.credentials, *other.credentials))),
        tuple(dict.fromkeys((*one.packages, *other.packages))),
    )


def _finding(id: str, level: Level, path: str, reason: str, capability: Capability = Capability.FILES) -> Finding:
    return Finding(id, level, capability, WHOLE, path[:200], reason, "T1565")


def _network(id: str, reason: str, address: str = "") -> Finding:
    return Finding(id, Level.CRITICAL, Capability.NETWORK, WHOLE, address[:200], reason, "T1041")
