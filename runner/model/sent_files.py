"""The part of a project that a request sends to another machine: each file with its size and hash, and what stays.

Window, terminal and history say it by `words` and `text`. It is in the digest, so that an approval is for these files
with these contents.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from runner.model.amounts import readable_size
from runner.model.errors import Refused
from runner.model.shown import hides

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LINK = "link"
"""In place of the permissions of a link."""
STAYS = "Stays here, as it may hold a secret, until you include it:"
ALSO = "Leaves although it may hold a secret, as you have included it:"
NEVER = "Stays here in any case:"
LEAVES = "Leaves this machine:"


@dataclass(frozen=True, slots=True)
class SentFile:
    """One file or link."""

    name: str
    """As `file_name` writes its path."""
    size: int
    """Bytes; of a link, of its target."""
    mode: str
    """Permissions in octal digits, or `LINK`."""
    sha256: str
    """Of its content; of a link, of its target."""

    @property
    def line(self) -> str:
        return f"{self.sha256} {self.mode} {self.size} {self.name}"

    @classmethod
    def of(cls, line: str) -> SentFile:
        """Return the file that `line` was made of. Raises ValueError."""
        sha256, mode, size, name = line.split(" ", 3)
        return cls(name, int(size), mode, sha256)


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file that stays behind until a person includes it."""

    line: str
    """As that of a `SentFile`."""
    why: str
    """A few words."""

    @property
    def file(self) -> SentFile:
        return SentFile.of(self.line)


@dataclass(frozen=True, slots=True)
class LeftFile:
    """Something that is never sent, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class SentFiles:
    """All files of one request. Two are equal where the same files with the same contents would be sent."""

    listed: str = ""
    """What is sent: a line for each file (`SentFile.line`), sorted by name."""
    held: tuple[HeldFile, ...] = ()
    """What may hold a secret."""
    included: tuple[str, ...] = ()
    """Names of those of `held` that a person has included, sorted: they are in `listed`, too."""
    left_out: tuple[LeftFile, ...] = ()
    further_left_out: int = 0
    """How many more are never sent."""

    @property
    def files(self) -> tuple[SentFile, ...]:
        """Those that are sent."""
        return _files(self.listed)

    @property
    def size(self) -> int:
        """Bytes of all that is sent."""
        return sum(one.size for one in self.files)

    @property
    def behind(self) -> tuple[HeldFile, ...]:
        """Those that stay behind as they may hold a secret."""
        return tuple(one for one in self.held if one.file.name not in self.included)

    @property
    def words(self) -> str:
        """Return it in a few words."""
        said = self.short
        if behind := len(self.behind):
            said += f"; {behind:,} that may hold a secret {'stays' if behind == 1 else 'stay'} here"
        return said

    @property
    def short(self) -> str:
        """Return the part of `words` that is about what leaves."""
        number = len(self.files)
        said = f"{number:,} {'file' if number == 1 else 'files'} of the project, {readable_size(self.size)}"
        return f"{said}, of them {len(self.included):,} that may hold a secret" if self.included else said

    @property
    def text(self) -> str:
        """Return every name with its size, a line each; first what may hold a secret."""
        return _text(self)

    def including(self, names: Collection[str]) -> SentFiles:
        """Return what is sent where a person has included these of the files that may hold a secret, and no others.

        Raises Refused for a name that is none of them.
        """
        held = {one.file.name: one.file for one in self.held}
        if unknown := [one for one in names if one not in held]:
            raise Refused(f"{unknown[0][:200]} is none of the files that stay behind.", "Look again.")
        sent = [one for one in self.files if one.name not in held]
        return replace(self, listed=listing([*sent, *(held[one] for one in names)]), included=tuple(sorted(set(names))))

    def difference(self, now: SentFiles) -> str:
        """Return in half a sentence in what `now` differs from what is said here; '' for nothing."""
        if self == now:
            return ""
        before, after = ({one.name: one for one in each.files} for each in (self, now))
        if gone := sorted(before.keys() - after.keys()):
            return f"{gone[0]} is no file that can be sent any more"
        if changed := sorted(name for name in before if before[name] != after[name]):
            return f"{changed[0]} is not as it was"
        if new := sorted(after.keys() - before.keys()):
            return f"{new[0]} came"
        return "What stays behind is not what it was"


def file_name(path: bytes) -> str:
    """Return a path as text in which nothing hides; of two different paths the texts differ.

    One with characters that cannot be printed or show nothing is written as JSON, in quotes.
    """
    text = path.decode("utf-8", "surrogateescape")
    plain = text.isprintable() and not any(map(hides, text)) and text == text.strip() and not text.startswith('"')
    return text if plain else json.dumps(text)


def listing(files: Iterable[SentFile]) -> str:
    """Return a line for each, sorted by name."""
    return "\n".join(one.line for one in sorted(files, key=lambda one: one.name))


# Of large projects these take a moment, and a window asks again and again.
@lru_cache(maxsize=8)
def _files(listed: str) -> tuple[SentFile, ...]:
    return tuple(map(SentFile.of, listed.split("\n"))) if listed else ()


@lru_cache(maxsize=8)
def _text(sent: SentFiles) -> str:
    lines: list[str] = []
    for heading, held in (
        (STAYS, sent.behind),
        (ALSO, tuple(one for one in sent.held if one.file.name in sent.included)),
    ):
        if held:
            lines += [heading, *(f"{_row(one.file)} ({one.why})" for one in held), ""]
    if sent.left_out:
        lines += [NEVER, *(f"{'':>9}  {one.name} ({one.why})" for one in sent.left_out)]
        lines += [f"{'':>9}  and {sent.further_left_out:,} more"] * bool(sent.further_left_out) + [""]
    others = [one for one in sent.files if one.name not in sent.included]
    return "\n".join([*lines, LEAVES, *map(_row, others)])


def _row(one: SentFile) -> str:
    kind = " (a link)" if one.mode == LINK else " (a program)" if int(one.mode, 8) & 0o111 else ""
    return f"{readable_size(one.size):>9}  {one.name}{kind}"
