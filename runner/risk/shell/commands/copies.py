"""Copies to and from buckets, clusters and containers: which end is elsewhere says what is sent and what is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.risk.model.acts import Source
from runner.risk.model.value import UNKNOWN, Value, labels_of, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.shell.command import Command

BUCKET = expression(r"(?:s3|gs|gcs|oss|r2|az|b2)://.{1,2000}")
REMOTE = expression(r"(?![/.~])[\w.@-]{1,200}:(?!//).{0,2000}")
"""A path at a remote of rclone, in a pod or in a container: `web:/var/log`."""
COPIES = frozenset(("cp", "copy", "copyto", "put", "get"))
MOVES = frozenset(("mv", "move", "moveto"))
SYNCS = frozenset(("sync", "rsync", "mirror"))
LATEST = 2
"""Place among the words at which the verb of a copy stands at the latest: `gcloud storage cp`."""
DELETES = frozenset(("--delete", "--delete-unmatched-destination-objects", "--delete-removed", "--remove"))
"""Options by which a copy deletes at its target what the source does not have."""


class CloudCopy(NamedTuple):
    """A copy that a command was asked for: its verb, where from and where to."""

    verb: str
    sources: Sequence[Value]
    target: Value


def copying(command: Command) -> CloudCopy | None:
    """Return what a tool of clouds, clusters or containers is to copy; None where it is asked for something else."""
    _, operands = command.parsed()
    verbs = COPIES | MOVES | SYNCS
    at = next((at for at, word in enumerate(operands) if word.text in verbs), LATEST + 1)
    if at > LATEST or len(operands) < at + 3:
        return None
    if any(word.text not in ("s3", "storage", "container", "compose") for word in operands[:at]):
        return None
    found = CloudCopy(operands[at].text, operands[at + 1 : -1], operands[-1])
    ends = [*found.sources, found.target]
    return found if any(is_elsewhere(command, one) for one in ends) else None


def is_elsewhere(command: Command, path: Value) -> bool:
    """Return whether an end of a copy is in a bucket, a pod, a container or at a remote."""
    known = path.text
    if BUCKET.fullmatch(known):
        return True
    return command.name not in ("aws", "gsutil", "gcloud") and REMOTE.fullmatch(known) is not None


def note_copy(command: Command, copy: CloudCopy) -> None:
    """Note what a copy sends, fetches, writes and deletes."""
    there = is_elsewhere(command, copy.target)
    for source in copy.sources:
        away = is_elsewhere(command, source)
        if there and away:
            command.act("configure", target=source, to=copy.target, at=text("the cloud"), copies=text("yes"))
        elif there:
            read = command.act("read", path=command.placed(source), tree=text("yes"))
            data = Value(labels=read.labels | labels_of((command.stdin,)) | {Source.FILE})
            command.act("send", url=copy.target, data=data, path=source)
        else:
            given = Value(labels=frozenset({Source.DOWNLOADED}))
            printed = copy.target.text in ("-", "/dev/stdout")
            command.act("fetch", url=source, path=UNKNOWN if printed else command.placed(copy.target))
            if not printed:
                command.act("write", path=command.placed(copy.target), data=given, download=text("yes"))
        if copy.verb in MOVES:
            _deletes(command, source, away)
    options = {word.text for word in command.arguments}
    if copy.verb in SYNCS and (
        options & DELETES or command.name == "rclone" or (command.name == "gsutil" and "-d" in options)
    ):
        mirrored(command, copy.sources[-1], copy.target, there=there)


def _deletes(command: Command, path: Value, away: bool) -> None:
    if away:
        command.act("destroy", name=path, at=text(f"the cloud ({command.name})"))
    else:
        command.act("delete", path=command.placed(path), tree=text("yes"), tool=text(command.name))


def mirrored(command: Command, source: Value, target: Value, *, there: bool) -> None:
    """Note that whatever the source does not have is deleted at the target, which is `there`, in a cloud, or here."""
    if there:
        command.act("destroy", beside=source, name=target, at=text(f"the cloud ({command.name})"))
    else:
        command.act("delete", path=command.placed(target), tree=text("yes"), tool=text("rsync"), beside=source)


def within_machine(command: Command, copy: CloudCopy) -> Value:
    """Note what `docker cp` reads here, or writes; return what it prints."""
    for source in copy.sources:
        if is_elsewhere(command, source):
            if copy.target.text != "-":
                command.act("write", path=command.placed(copy.target))
        else:
            command.act("read", path=command.placed(source))
    return Value(labels=frozenset({Source.FILE}))
