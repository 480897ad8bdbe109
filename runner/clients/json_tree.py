"""JSON with comments and trailing commas as a tree whose parts know where they stand in the text."""

from __future__ import annotations

import json
import re

from runner.model.errors import KnownError

DEEPEST = 100
"""Levels of nesting; configuration has a few."""
GAP = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
SCALAR = re.compile(r"true\b|false\b|null\b|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


class Unparsable(KnownError):
    """A configuration file is not what its client would write: it is left alone."""


class JsonEntry:
    """A member of an object, or an item of an array, whose `key` is ''."""

    def __init__(self, key: str, start: int, value: JsonTree) -> None:
        self.key = key
        self.start = start
        self.value = value
        self.comma = -1
        """Where the comma after it is; -1 without one."""


class JsonTree:
    """One value: an object where `data` is a dict, an array where it is a list, else a scalar."""

    def __init__(self, start: int, end: int, data: object, entries: list[JsonEntry] | None = None) -> None:
        self.start = start
        self.end = end
        self.data = data
        self.entries = entries or []

    def entry(self, key: str) -> JsonEntry | None:
        return next((one for one in self.entries if one.key == key), None)


def parse(text: str) -> JsonTree:
    """Return the value that `text` holds. Raises Unparsable, naming the line."""
    reader = _Reader(text)
    start = reader.skip(0)
    if start == len(text):
        raise reader.wrong(start, "there is nothing in it")
    tree = reader.value(start, 0)
    if (rest := reader.skip(tree.end)) != len(text):
        raise reader.wrong(rest, "something follows the end of the value")
    return tree


class _Reader:
    """Reads from any place of a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, at: int) -> int:
        """Return where the next thing begins that is neither space nor comment."""
        found = GAP.match(self._text, at)
        assert found is not None
        return found.end()

    def wrong(self, at: int, what: str) -> Unparsable:
        return Unparsable(f"line {self._text.count(chr(10), 0, at) + 1}: {what}.")

    def value(self, at: int, depth: int) -> JsonTree:
        if depth > DEEPEST:
            raise self.wrong(at, "it is nested too deeply")
        match self._text[at : at + 1]:
            case "{":
                return self._entries(at, depth, "}")
            case "[":
                return self._entries(at, depth, "]")
            case '"':
                text, end = self._string(at)
                return JsonTree(at, end, text)
            case _:
                if (found := SCALAR.match(self._text, at)) is None:
                    raise self.wrong(at, "a value is expected")
                return JsonTree(at, found.end(), json.loads(found[0]))

    def _string(self, at: int) -> tuple[str, int]:
        if (found := STRING.match(self._text, at)) is None:
            raise self.wrong(at, "a text does not end")
        try:
            return str(json.loads(found[0])), found.end()
        except ValueError as error:
            raise self.wrong(at, "a text has an escape that JSON does not know") from error

    def _entries(self, start: int, depth: int, end: str) -> JsonTree:
        """Read an object or an array to its `end`."""
        entries: list[JsonEntry] = []
        at = self.skip(start + 1)
        while self._text[at : at + 1] != end:
            entry = self._entry(at, depth, named=end == "}")
            if entry.key and any(one.key == entry.key for one in entries):
                # Clients differ in which of the two they take.
                raise self.wrong(at, f"{json.dumps(entry.key)} is there twice")
            entries.append(entry)
            at = self.skip(entry.value.end)
            if self._text[at : at + 1] == ",":
                entry.comma = at
                at = self.skip(at + 1)
            elif self._text[at : at + 1] != end:
                raise self.wrong(at, f"a comma or {end} is expected")
        values: object = [one.value.data for one in entries]
        if end == "}":
            values = {one.key: one.value.data for one in entries}
        return JsonTree(start, at + 1, values, entries)

    def _entry(self, at: int, depth: int, *, named: bool) -> JsonEntry:
        if not named:
            return JsonEntry("", at, self.value(at, depth + 1))
        if self._text[at : at + 1] != '"':
            raise self.wrong(at, "a name in quotes is expected")
        key, end = self._string(at)
        colon = self.skip(end)
        if self._text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon is expected")
        return JsonEntry(key, at, self.value(self.skip(colon + 1), depth + 1))
