"""The behaviour of a run, counted in bounded memory: alike things are one, and what is too many is a number."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.behaviour import LONGEST, Behaviour, Deed, DeedKind
from runner.model.shown import hides

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = {DeedKind.PROGRAM: 80, DeedKind.CONNECTION: 60, DeedKind.RIGHTS: 20, DeedKind.FILE: 60}
"""Different ones of each kind, with MOST_NAMES at most MOST_DEEDS: a flood of one must not push out the others."""
MOST_NAMES = 30
"""Programs that are listed by their name alone once there are too many command lines."""
CUT = "\N{HORIZONTAL ELLIPSIS}"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%^~")
Key = tuple[DeedKind, str]


class BehaviourBook:
    """What one run did. May be used on any thread."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._lock = threading.Lock()
        self._deeds: dict[Key, Deed] = {}
        self._counts = dict.fromkeys(DeedKind, 0)
        self._names = 0
        self._left_out = 0
        self._files_left_out = 0
        self._ended = 0
        self.changes = 0
        """How often something was added: whether there is news."""

    def add(self, kind: DeedKind, what: str, *, name: str = "", problem: str = "") -> Key | None:
        """Count a thing that the run did; return its key for `failed`, None where there are too many already."""
        key = (kind, what)
        failed = int(bool(problem))
        with self._lock:
            self.changes += 1
            known = self._deeds.get(key)
            if known is None and self._counts[kind] >= MOST[kind]:
                key = (kind, f"{name} {CUT}")
                known = self._deeds.get(key)
                if known is None and (kind is not DeedKind.PROGRAM or self._names >= MOST_NAMES):
                    self._left_out += 1
                    self._files_left_out += kind is DeedKind.FILE
                    return None
                self._names += known is None
            elif known is None:
                self._counts[kind] += 1
            if known is None:
                at = round(time.monotonic() - self._begun, 3)
                self._deeds[key] = Deed(kind, key[1], at, name=name, failed=failed, problem=problem)
            else:
                problem = problem or known.problem
                failed += known.failed
                self._deeds[key] = replace(known, times=known.times + 1, failed=failed, problem=problem)
        return key

    def failed(self, key: Key | None, problem: str) -> None:
        """Note that one of those of `key` came to nothing."""
        if key is not None:
            with self._lock:
                self.changes += 1
                known = self._deeds[key]
                self._deeds[key] = replace(known, failed=known.failed + 1, problem=problem)

    def ended(self) -> None:
        """Count a process that ended."""
        self._ended += 1

    def behaviour(self, *, lost: int = 0, gap: str = "") -> Behaviour:
        """Return what is known by now."""
        with self._lock:
            deeds = tuple(self._deeds.values())
            return Behaviour(deeds, self._left_out, lost, self._ended, gap, files_left_out=self._files_left_out)


def shown(data: bytes, most: int = LONGEST) -> str:
    """Return what code chose as one line of at most `most` visible characters, what hides or commands as escapes."""
    text = data[: 4 * most].decode("utf-8", "backslashreplace")
    if not (text.isascii() and text.isprintable()):
        text = "".join(map(_visible, text[:most]))
    return text if len(text) <= most else f"{text[: most - 1]}{CUT}"


def command_line(words: Iterable[bytes], *, more: bool = False, most: int = LONGEST) -> str:
    """Return a command line as a shell would read it, as `shown`; `more` says that some words are missing."""
    line = ""
    for word in words:
        text = shown(word, most)
        quoted = text if text and _PLAIN.issuperset(text) else "'" + text.replace("'", "'\\''") + "'"
        line += f" {quoted}" if line else quoted
        if len(line) > most:
            return f"{line[: most - 1]}{CUT}"
    return f"{line} {CUT}" if more else line


def _visible(character: str) -> str:
    if character.isprintable() and not hides(character):
        return character
    return character.encode("unicode_escape", "backslashreplace").decode()
