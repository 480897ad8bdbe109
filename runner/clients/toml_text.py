"""Changes single values of a TOML file and leaves the rest, comments included, as it is."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from runner.clients.json_tree import Unparsable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

EMPTY = ""
"""A file without any setting."""
PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
BEYOND = "it is written in a way that cannot be changed without changing more than this."


def read(text: str) -> dict[str, object]:
    """Return the values of a file. Raises Unparsable."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unparsable(f"{error}.") from error
    except RecursionError:
        raise Unparsable("it is nested too deeply.") from None


def put(text: str, path: Sequence[str], value: object) -> str:
    """Return `text` with the member at `path` set to `value`. Raises Unparsable."""
    wanted = read(text)
    inner = _inner(wanted, path[:-1], make=True)
    if not isinstance(inner, dict):
        raise Unparsable(f"{'.'.join(path[:-1])} is not a table.")
    there = path[-1] in inner
    inner[path[-1]] = value
    # A table of its own at the end touches nothing else.
    if not there and isinstance(value, dict):
        longer = _ended(text) + _header(path, 1) + _lines(value)
        if _reads_as(longer, wanted):
            return longer
    return _edited(text, wanted, lambda document: _set(document, path, value))


def drop(text: str, path: Sequence[str]) -> str:
    """Return `text` without the member at `path`; unchanged where there is none. Raises Unparsable."""
    wanted = read(text)
    inner = _inner(wanted, path[:-1])
    if not isinstance(inner, dict) or path[-1] not in inner:
        return text
    del inner[path[-1]]
    if _reads_as(shorter := _without_block(text, path, 0), wanted):
        return shorter

    def change(document: Any) -> None:
        del _inner(document, path[:-1])[path[-1]]

    return _trimmed(_edited(text, wanted, change))


def add(text: str, path: Sequence[str], item: object) -> str:
    """Return `text` with the table `item` at the end of the list of tables at `path`. Raises Unparsable."""
    wanted = read(text)
    if not isinstance(item, dict):
        raise Unparsable(f"{'.'.join(path)}: {BEYOND}")
    above = _inner(wanted, path[:-1], make=True)
    listed = above.setdefault(path[-1], []) if isinstance(above, dict) else None
    if not isinstance(listed, list):
        raise Unparsable(f"{'.'.join(path)} is not a list.")
    listed.append(item)
    plain = {key: value for key, value in item.items() if not _tables(value)}
    longer = _ended(text) + _header(path, 2) + _lines(plain)
    for key, value in item.items():
        longer += "".join(_header((*path, key), 2) + _lines(one) for one in _tables(value))
    if not _reads_as(longer, wanted):
        raise Unparsable(f"{'.'.join(path)}: {BEYOND}")
    return longer


def take(text: str, path: Sequence[str], index: int) -> str:
    """Return `text` without one item of the list at `path`. Raises Unparsable."""
    wanted = read(text)
    listed = _inner(wanted, path)
    if not isinstance(listed, list) or not 0 <= index < len(listed):
        return text
    del listed[index]
    if _reads_as(shorter := _without_block(text, path, index), wanted):
        return shorter

    def change(document: Any) -> None:
        if listed:
            del _inner(document, path)[index]
        else:
            del _inner(document, path[:-1])[path[-1]]

    return _trimmed(_edited(text, wanted, change))


def _without_block(text: str, path: Sequence[str], index: int) -> str:
    """Return `text` without the table at `path`, or the one with this number, and the tables below it.

    What is in lines of several is not seen here: the caller compares what the rest reads as.
    """
    lines = text.splitlines(keepends=True)
    headers = [(at, name) for at, line in enumerate(lines) if (name := _named(line))]
    own = _header(path, 0).strip()
    starts = [at for at, name in headers if name == own]
    if index >= len(starts):
        return text
    start = starts[index]
    end = next((at for at, name in headers if at > start and not name.startswith(f"{own}.")), len(lines))
    # Comments right above the next table are about that one.
    while end < len(lines) and end - 1 > start and lines[end - 1].lstrip().startswith("#"):
        end -= 1
    rest = "".join(lines[end:])
    before = "".join(lines[:start])
    return before + rest if rest else _trimmed(before)


def _named(line: str) -> str:
    """Return the name in the header of a table; '' for another line."""
    text = line.strip()
    end = text.rfind("]")
    whole = text.startswith("[") and text[end + 1 :].strip()[:1] in ("", "#")
    return text[: end + 1].strip("[]").strip() if whole else ""


def _inner(values: Any, path: Sequence[str], *, make: bool = False) -> Any:
    for key in path:
        if not isinstance(values, dict):
            return None
        values = values.setdefault(key, {}) if make else values.get(key)
    return values


def _edited(text: str, wanted: dict[str, object], change: Callable[[Any], None]) -> str:
    """Return `text` after `change` to its document, where it then reads as `wanted`. Raises Unparsable."""
    # Imported here: the hook reads these files, too, and must be quick.
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        change(document)
        shorter = tomlkit.dumps(document)
    except (TOMLKitError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise Unparsable(BEYOND) from error
    if not _reads_as(shorter, wanted):
        raise Unparsable(BEYOND)
    return shorter


def _set(document: Any, path: Sequence[str], value: object) -> None:
    for key in path[:-1]:
        document = document.setdefault(key, {})
    document[path[-1]] = value


def _reads_as(text: str, wanted: dict[str, object]) -> bool:
    """Return whether `text` has the values `wanted`, leaving empty tables aside."""
    try:
        return _full(read(text)) == _full(copy.deepcopy(wanted))
    except Unparsable:
        return False


def _full(value: object) -> object:
    if isinstance(value, dict):
        inside = {key: _full(one) for key, one in value.items()}
        return {key: one for key, one in inside.items() if one not in ({}, [])}
    return [_full(one) for one in value] if isinstance(value, list) else value


def _tables(value: object) -> list[dict[str, object]]:
    """Return `value` where it is a list of tables, else nothing."""
    listed = value if isinstance(value, list) else []
    return listed if all(isinstance(one, dict) for one in listed) else []


def _ended(text: str) -> str:
    """Return `text` with an end of its last line and an empty line after it."""
    if not text.strip():
        return text
    return text + ("\n" if text.endswith("\n") else "\n\n")


def _trimmed(text: str) -> str:
    """Return `text` without the empty line that separated what is gone."""
    return text.rstrip("\n") + "\n" if text.strip() else ""


def _header(path: Sequence[str], brackets: int) -> str:
    name = ".".join(key if PLAIN_KEY.fullmatch(key) else _string(key) for key in path)
    return f"{'[' * brackets}{name}{']' * brackets}\n"


def _lines(values: Mapping[str, object]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in values.items())


def _key(key: str) -> str:
    return key if PLAIN_KEY.fullmatch(key) else _string(key)


def _value(value: object) -> str:
    match value:
        case str():
            return _string(value)
        case bool() | int() | float():
            return json.dumps(value)
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            inside = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case _:
            raise TypeError(f"{type(value).__name__} is not written as TOML here")


def _string(text: str) -> str:
    """Return a TOML basic string: JSON's escapes, and those that JSON leaves as they are."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
