"""The calls to the process that reads agents' code, their answers, and how both travel."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from runner.model.assessment import Assessment  # noqa: TC001 - the codec resolves the annotations
from runner.model.codec import UnreadableValue, decode, encode
from runner.model.request import KnownFile, Language, Request  # noqa: TC001 - the codec resolves the annotations

if TYPE_CHECKING:
    from runner.model.difference import Change
    from runner.model.embedded_picture import EmbeddedPicture
    from runner.risk.inputs.imported import Import

T = TypeVar("T")

HEADER = struct.Struct("!Q")
"""Stands before each message: its length in bytes."""
MOST_CALL = 256 << 20
MOST_ANSWER = 16 << 20
"""Bytes of a message. An outline is as long as its code at most, and an assessment is bounded by its rules."""
MOST_IMPORTS = 10_000
PATIENCE = 4
"""Times the deadline that a call may take on a machine that hardly lets its process run."""


@dataclass(frozen=True, slots=True)
class Assess:
    """What would `request` do?"""

    request: Request


@dataclass(frozen=True, slots=True)
class Outline:
    """What of `code` is the same whatever its texts and numbers are?"""

    language: Language | None
    code: str


@dataclass(frozen=True, slots=True)
class FindImports:
    """Which modules does this Python code import?"""

    code: str


@dataclass(frozen=True, slots=True)
class FindUsed:
    """Which of these files of a kept sandbox does this code start or import?"""

    language: Language | None
    code: str
    files: tuple[KnownFile, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """Which lines of two versions are the same?"""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Erase:
    """What is left of this TypeScript without its types?"""

    code: str


@dataclass(frozen=True, slots=True)
class FindPictures:
    """Which pictures stand in `code` as text?"""

    language: Language | None
    code: str


Call = Assess | Outline | FindImports | FindUsed | Compare | Erase | FindPictures
KINDS: dict[str, type[Call]] = {
    kind.__name__: kind for kind in (Assess, Outline, FindImports, FindUsed, Compare, Erase, FindPictures)
}


@dataclass(frozen=True, slots=True)
class Ready:
    """The first message: the rules are loaded."""

    problems: tuple[str, ...]
    """What is wrong with the person's own rules."""
    sources: str
    """`runner.system.sources.digest`. The process ends where it is another one when the last module is loaded."""


@dataclass(frozen=True, slots=True)
class Assessed:
    assessment: Assessment


@dataclass(frozen=True, slots=True)
class Outlined:
    outline: str


@dataclass(frozen=True, slots=True)
class Imported:
    imports: tuple[Import, ...]


@dataclass(frozen=True, slots=True)
class Used:
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Erased:
    code: str


@dataclass(frozen=True, slots=True)
class Pictured:
    pictures: tuple[EmbeddedPicture, ...]


@dataclass(frozen=True, slots=True)
class CallFailed:
    """There is no answer: a bug of the classifier, or no memory for this code."""

    why: str


Answer = Ready | Assessed | Outlined | Imported | Used | Compared | Erased | Pictured | CallFailed


class Garbage(Exception):
    """A message that is none."""


def annotated() -> dict[str, type]:
    """Return what annotations name here that is only loaded where an answer has it."""
    from runner.model.difference import Change
    from runner.model.embedded_picture import EmbeddedPicture
    from runner.risk.inputs.imported import Import

    return {"Change": Change, "EmbeddedPicture": EmbeddedPicture, "Import": Import}


def pack(message: Call | Answer) -> bytes:
    """Return `message` as JSON with its length in front."""
    data = {"kind": type(message).__name__, "values": encode(message)}
    # Code may hold halves of surrogate pairs.
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return HEADER.pack(len(body)) + body


def size(call: Call) -> int:
    """Return the characters of all texts of `call`."""
    match call:
        case Assess(request):
            return sum(len(part.text) for part in request.parts)
        case FindUsed(_, code, files):
            return len(code) + sum(len(file.text) for file in files)
        case Compare(old, new):
            return len(old) + len(new)
        case Outline(_, code) | FindImports(code) | Erase(code) | FindPictures(_, code):
            return len(code)
        case _:
            assert_never(call)


def unpack_call(body: bytes) -> Call:
    """Return the call that `pack` made `body` of."""
    data = json.loads(body.decode("utf-8", "surrogatepass"))
    return decode(KINDS[data["kind"]], data["values"])


def unpack(kind: type[T], body: bytes) -> T | CallFailed:
    """Return the answer of the `kind` that is expected. Raises Garbage for anything else."""
    try:
        data: Any = json.loads(body.decode("utf-8", "surrogatepass"))
        expected: type[T | CallFailed] = CallFailed if data["kind"] == CallFailed.__name__ else kind
        if data["kind"] != expected.__name__:
            raise Garbage(f"{data['kind']!r} in place of {kind.__name__}"[:200])
        return decode(expected, data["values"])
    except (ValueError, TypeError, KeyError, RecursionError, UnreadableValue) as error:
        raise Garbage(f"{type(error).__name__}: {error}"[:200]) from error
