"""Compare what an assessment foresaw with what the run did; what is not known never counts as done."""

from __future__ import annotations

import ipaddress
import posixpath
from dataclasses import dataclass, replace
from enum import Enum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from runner.model import behaviour
from runner.model.behaviour import A_NAME, LONGEST_NAME, OWN_FILE, Behaviour, DeedKind
from runner.model.file_changes import ChangeKind, FileKind
from runner.model.verdict import Verb
from runner.model.workspace import WORKSPACE
from runner.risk.model.bounds import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.model.assessment import Assessment
    from runner.model.behaviour import Deed
    from runner.model.file_changes import ChangedFile, FileChanges
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.model.verdict import VerdictAct

MOST_UNFORESEEN = 10
"""Things that are named; the rest is a number."""
SHELLS = frozenset({"sh", "bash", "dash"})
"""Started by what runs a command line; what they start in turn is seen as well."""
SYSTEM_FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/bin", "/sbin")
PATH_SIGNS = "/._-~$}"
"""Besides letters and digits, what stands in a path before one of those as part of it."""
NETWORK = frozenset({Verb.SENDS, Verb.FETCHES, Verb.CONNECTS})
REMOVING = frozenset({Verb.DELETES, Verb.MOVES})
WRITING = frozenset({Verb.WRITES, Verb.REWRITES, Verb.RUNS_ON_START})
NOT_REPORTED = "not reported by the sandbox"
NONE_GONE = "nothing that was there before is gone"
NOT_COMPLETE = "incomplete report"
_ALIASES = {"dash": "sh", "mawk": "awk", "gawk": "awk", "nodejs": "node"}


class Came(Enum):
    """What came of an act of the assessment."""

    DONE = "done"
    FAILED = "failed"
    """It was tried, and refused or in vain."""
    NOT_DONE = "not done"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ActOutcome:
    """An act of the assessment, and what came of it in words."""

    act: VerdictAct
    came: Came
    words: str


def with_unforeseen(result: Result, request: Request, assessment: Assessment | None) -> Result:
    """Return `result` with what it did that `assessment` had not foreseen; as it is where nothing is known of it."""
    observed = result.observed
    if observed is None or assessment is None:
        return result
    found = tuple(dict.fromkeys(_unforeseen(result, observed, request, assessment)))
    more = len(found) - MOST_UNFORESEEN
    words = (*found[:MOST_UNFORESEEN], f"{more:,} more") if more > 0 else found
    return replace(result, observed=replace(observed, unforeseen=words))


def _unforeseen(result: Result, observed: Behaviour, request: Request, assessment: Assessment) -> Iterator[str]:
    # A file is never unforeseen, so neither is one that is not listed.
    listed = observed.left_out == observed.files_left_out and not (observed.lost or observed.gap)
    if not (observed.absent or listed):
        yield NOT_COMPLETE
    acts = assessment.verdict.acts
    if not any(act.verb is Verb.STARTS and act.computed for act in acts):
        names = _programs(assessment)
        for deed in observed.of(DeedKind.PROGRAM):
            if not _foresaw_program(deed, names, request):
                yield deed.claim
    if any(act.verb in NETWORK and act.computed for act in acts):
        return
    hosts = {_host(one) for one in (*assessment.touch.hosts, *request.domains)}
    asked = observed.of(DeedKind.CONNECTION)
    for host in (*(one.host for one in result.contacts), *(one.name for one in asked)):
        if host and not _is_local(host) and not any(_names(known, host) for known in hosts):
            yield f"asked for {excerpt(host, LONGEST_NAME)}"
    if not hosts and any(one.what == A_NAME for one in asked):
        yield from {one.claim for one in asked if one.what == A_NAME}


def _programs(assessment: Assessment) -> frozenset[str]:
    """Return the names of programs that an assessment foresaw."""
    acts = [act for act in assessment.verdict.acts if act.verb is Verb.STARTS]
    named = [*assessment.touch.processes, *(act.place for act in acts), *map(_first_word, acts)]
    return frozenset(filter(None, (one.rpartition("/")[2] for one in named)))


def _first_word(act: VerdictAct) -> str:
    return act.target.strip("\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}").partition(" ")[0]


def _foresaw_program(deed: Deed, names: frozenset[str], request: Request) -> bool:
    """Return whether the program is one of `names`, whatever its version; a shell, where anything was to be started.

    A file of the run's own is one only where a text of the request names it by a path: `git` is not `./git`.
    """
    if deed.name.startswith(OWN_FILE):
        name = deed.name.removeprefix(OWN_FILE)
        return bool(_alike(name) & names) and any(_named_by_path(part.text, name) for part in request.parts)
    return bool(_alike(deed.name) & names) or (bool(names) and bool(_alike(deed.name) & SHELLS))


def _named_by_path(text: str, name: str) -> bool:
    """Return whether `text` has a path that ends with the file `name` and is not one in a folder of the system."""
    start = -1
    while (start := text.find(f"/{name}", start + 1)) >= 0:
        if not any(_ends_with(text, start, folder) for folder in SYSTEM_FOLDERS):
            return True
    return False


def _ends_with(text: str, end: int, folder: str) -> bool:
    """Return whether `text` up to `end` ends with the path `folder`, which is not the end of a longer one."""
    if not text.endswith(folder, 0, end):
        return False
    before = text[max(0, end - len(folder) - 1) : end - len(folder)]
    return not before or not (before.isalnum() or before in PATH_SIGNS)


def _alike(name: str) -> set[str]:
    """Return the names under which a program is known whose file is called `name`: python3.13 is python3 and python."""
    plain = name.partition(".")[0] if not name.startswith(("python", "perl")) else name
    bare = name.rstrip("0123456789.")
    found = {name, plain, bare, bare + name[len(bare) : len(bare) + 1]}
    found |= {_ALIASES[one] for one in found if one in _ALIASES}
    return found


def outcomes(
    result: Result, assessment: Assessment, request: Request, changes: FileChanges | None = None
) -> tuple[ActOutcome, ...]:
    """Return what came of each act of an assessment, in its order, as far as it is known.

    `changes` is what differs among the files of its kept sandbox from before the run to after it, where that is known.
    """
    observed = result.observed or Behaviour(absent=NOT_REPORTED)
    return tuple(_outcome(act, result, observed, request, changes) for act in assessment.verdict.acts)


def _outcome(
    act: VerdictAct, result: Result, observed: Behaviour, request: Request, changes: FileChanges | None
) -> ActOutcome:
    if act.verb in REMOVING and changes is not None and not changes.unknown:
        return _removed(act, changes)
    if act.verb in NETWORK:
        return _contacted(act, result, observed, request)
    if act.verb is Verb.STARTS:
        name = act.place or _first_word(act)
        started = [
            one
            for one in observed.of(DeedKind.PROGRAM)
            if act.computed or name in _alike(one.name.removeprefix(OWN_FILE))
        ]
        return _of_deeds(act, started, observed, "started")
    if act.verb is Verb.CHANGES_RIGHTS:
        return _of_deeds(act, observed.of(DeedKind.RIGHTS), observed, "changed")
    if act.verb in WRITING and act.place:
        return _written(act, result, observed)
    return ActOutcome(act, Came.UNKNOWN, NOT_REPORTED)


def _of_deeds(act: VerdictAct, deeds: Iterable[Deed], observed: Behaviour, done: str) -> ActOutcome:
    found = list(deeds)
    if not found:
        return ActOutcome(act, *((Came.NOT_DONE, f"not {done}") if observed.complete else (Came.UNKNOWN, NOT_REPORTED)))
    if all(one.failed >= one.times for one in found):
        return ActOutcome(act, Came.FAILED, f"tried: {found[-1].problem}")
    times = sum(one.times for one in found)
    return ActOutcome(act, Came.DONE, done if times == 1 else f"{done} {times:,} times")


def with_removal(observed: Behaviour | None, assessment: Assessment, changes: FileChanges) -> Behaviour | None:
    """Return `observed` with what else was not foreseen: files that were there before, are gone, and no act named.

    A program that was started may remove files of its own, so nothing is said of runs with one.
    """
    acts = assessment.verdict.acts
    patterns = [_in_workspace(act.place) for act in acts if act.verb in REMOVING]
    unsure = any(act.verb is Verb.STARTS or (act.verb in REMOVING and act.computed) for act in acts)
    if unsure or None in patterns or not changes.removed:
        return observed
    listed = [one for one in changes.changes if one.kind is ChangeKind.REMOVED]
    gone = [one for one in listed if not any(_is_below(one.path, pattern or "") for pattern in patterns)]
    count = len(gone) if patterns else changes.removed
    if not count:
        return observed
    least = "at least " * bool(patterns and changes.removed > len(listed))
    words = f"removed {least}{_things(gone, count)}"
    observed = observed or Behaviour(absent=behaviour.NOT_REPORTED)
    return replace(observed, unforeseen=(*observed.unforeseen, words))


def _removed(act: VerdictAct, changes: FileChanges) -> ActOutcome:
    """Return what came of a deletion: how many of what was there before the run is not there after it."""
    pattern = _in_workspace(act.place)
    if pattern is None:
        return ActOutcome(act, Came.UNKNOWN, NOT_REPORTED)
    gone = [one for one in changes.changes if one.kind is ChangeKind.REMOVED and _is_below(one.path, pattern)]
    not_named = changes.left_out and changes.removed > sum(one.kind is ChangeKind.REMOVED for one in changes.changes)
    count = len(gone) if pattern else changes.removed
    if count:
        least, all_told = "at least " * bool(pattern and not_named), " in all" * act.computed
        return ActOutcome(act, Came.DONE, f"{least}{_things(gone, count)} removed{all_told}")
    if changes.removed or act.computed:  # from elsewhere: the code may have changed its folder
        words = f"{changes.removed:,} removed in all" if changes.removed else NONE_GONE
        return ActOutcome(act, Came.UNKNOWN, words)
    return ActOutcome(act, Came.NOT_DONE, NONE_GONE)


def _things(gone: Iterable[ChangedFile], count: int) -> str:
    thing = "file" if all(one.what is FileKind.FILE for one in gone) else "file, folder or link"
    things = thing if count == 1 else "files" if thing == "file" else "files, folders and links"
    return f"{count:,} {things}"


def _in_workspace(place: str) -> str | None:
    """Return a path below the workspace, '' for all of it; None where it may be elsewhere, or is not known."""
    path = posixpath.normpath(posixpath.join(WORKSPACE, place))
    if path == WORKSPACE:
        return ""
    inside = path.startswith(f"{WORKSPACE}/") and not place.startswith("~") and not set("${[") & set(place)
    return path.removeprefix(f"{WORKSPACE}/") if inside else None


def _is_below(path: str, pattern: str) -> bool:
    """Return whether `pattern`, which may hold * and ?, names `path` or a folder that it is in; '' names all."""
    if not pattern:
        return True
    beginning = path.split("/")[: pattern.count("/") + 1]
    return len(beginning) == pattern.count("/") + 1 and all(
        _matches(part, wanted) for part, wanted in zip(beginning, pattern.split("/"), strict=True)
    )


def _matches(name: str, pattern: str) -> bool:
    """As a shell has it: what begins with a dot is named only by what does as well."""
    if name.startswith(".") and pattern[:1] in ("*", "?"):
        return False
    return fnmatchcase(name, pattern)


def _written(act: VerdictAct, result: Result, observed: Behaviour) -> ActOutcome:
    path = act.place.removeprefix("./").removeprefix("/workspace/")
    for file in result.files:
        if file.path == path:
            return ActOutcome(act, Came.DONE, f"written, {file.size:,} bytes")
    return _of_deeds(act, (one for one in observed.of(DeedKind.FILE) if one.what == path), observed, "written")


def _contacted(act: VerdictAct, result: Result, observed: Behaviour, request: Request) -> ActOutcome:
    host = _host(act.place)
    tried = [one for one in result.contacts if act.computed or not host or one.host == host]
    if tried and not any(one.allowed for one in tried):
        refused = sum(one.times for one in tried if one.allowed is False)
        words = f"refused {refused:,} times" if refused > 1 else "refused"
        return ActOutcome(act, Came.FAILED, words if refused else "could not be reached")
    if tried:
        sent, received = sum(one.sent for one in tried), sum(one.received for one in tried)
        return ActOutcome(act, Came.DONE, f"reached, {sent:,} bytes sent, {received:,} received")
    if request.domains:  # the gate sees every host that is asked for
        return ActOutcome(act, Came.NOT_DONE, "not tried")
    asked = [one for one in observed.of(DeedKind.CONNECTION) if one.name == host or not one.name]
    if asked:
        return ActOutcome(act, Came.FAILED, "tried, and there is no network")
    return ActOutcome(act, *((Came.NOT_DONE, "not tried") if observed.complete else (Came.UNKNOWN, NOT_REPORTED)))


def _is_local(host: str) -> bool:
    """Return whether a host is the sandbox itself."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def _host(text: str) -> str:
    """Return a host without its port and without case."""
    host, colon, port = text.rpartition(":")
    return (host if colon and port.isdigit() and ":" not in host else text).strip("[]").casefold()


def _names(known: str, host: str) -> bool:
    return host.casefold() == known or (known.startswith("*.") and host.casefold().endswith(known[1:]))
