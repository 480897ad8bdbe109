"""Expansion of a word by the shell: variables, slices, defaults, escapes and braces."""

from __future__ import annotations

import fnmatch
import itertools
import re
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model import fold
from runner.risk.model.acts import Source
from runner.risk.model.bounds import bounded
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, text
from runner.risk.rules.targets import WHO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.risk.model.bounds import Notes

MOST_BRACE_WORDS = 1_000
LONGEST_TRIMMING, LONGEST_TRIMMED = 20, 300
"""Characters of a pattern with wildcards, and of a text that is cut by one: that takes quadratic time."""

KNOWN = {
    "HOME": "~",
    "IFS": " ",
    "PWD": ".",
    "TMPDIR": "/tmp",
    "TEMP": "/tmp",
    "TMP": "/tmp",
    "SHELL": "/bin/bash",
    "BASH": "/bin/bash",
    "USERPROFILE": "~",
    "APPDATA": "~/AppData/Roaming",
    "XDG_CONFIG_HOME": "~/.config",
    "HISTFILE": "~/.bash_history",
    "GNUPGHOME": "~/.gnupg",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}
PARAMETER = expression(
    r"\A\$\{?(?P<mark>[!#]?)(?P<name>[A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?:\[(?P<index>[^\]]*)\])?(?P<rest>.*?)\}?\Z",
    re.DOTALL,
)
INDEX = expression(r"-?[0-9]{1,9}")
SLICE = expression(r":(?!-)\s*+(-?\s*+\d{1,18}+)(?::(-?\d{1,18}+))?")
GROUP = expression(r"\{([^{}]*+)\}")
ESCAPE = expression(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|0[0-7]{1,3}|.)", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}


def ansi(raw: str) -> str:
    """`$'...'` and `echo -e` escapes worked out."""
    return ESCAPE.sub(_escape, raw)


PRINTED_OCTAL = expression(r"(?<!\\)((?:\\\\)*+)\\0([0-7]{1,3})")


def printed(raw: str) -> str:
    """Return what `echo -e` and `%b` of printf make of escapes: there the digits of a number stand after a zero."""
    return ansi(PRINTED_OCTAL.sub(lambda match: f"{match[1]}\\{int(match[2], 8) & 0xFF:03o}", raw))


def _escape(match: re.Match[str]) -> str:
    code = match[1]
    try:
        if code[0] in "xuU" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0].isdigit():
            return chr(int(code, 8) & 0x1FF)
    except (ValueError, OverflowError):
        return code
    return LETTERS.get(code, code)


def glob_word(raw: str) -> str:
    """Return an unquoted word without backslashes and line continuations; patterns such as `/???/??t` stay."""
    raw = raw.replace("\\\n", "")
    return re.sub(r"\\(.)", r"\1", raw) if "\\" in raw else raw


def brace_words(raw: str, noted: Notes | set[str]) -> list[str] | None:
    """`a{b,c}d` and `{1..3}` spread out; None when nothing is to be spread."""
    if "{" not in raw or _group(raw) is None:
        return None
    words = [raw]
    for _ in range(6):
        made: list[str] = []
        for word in words:
            made += _spread_one(word)
            if len(made) > MOST_BRACE_WORDS:
                return bounded(noted, made, MOST_BRACE_WORDS, "words of braces")
        if made == words:
            break
        words = made
    return words


def _group(word: str) -> re.Match[str] | None:
    """Return the first `{...}` that is spread out."""
    return next((match for match in GROUP.finditer(word) if "," in match[1] or ".." in match[1]), None)


def _spread_one(word: str) -> list[str]:
    match = _group(word)
    if match is None:
        return [word]
    inner = match[1]
    if "," in inner:
        options = inner.split(",")
    else:
        numbers = re.fullmatch(r"(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.-?\d+)?", inner)
        if numbers is None:
            return [word]
        low, high = sorted((int(numbers[1]), int(numbers[2])))
        options = [str(n) for n in itertools.islice(range(low, high + 1), MOST_BRACE_WORDS + 1)]
    return [word[: match.start()] + option + word[match.end() :] for option in options]


def expand(raw: str, variables: Mapping[str, Value], arguments: Sequence[Value]) -> Value:
    """`$name` or `${name...}` with what is known of the variables."""
    match = PARAMETER.match(raw)
    if match is None:
        return UNKNOWN
    name, rest, mark = match["name"], match["rest"] or "", match["mark"] or ""
    if mark == "#" and name:
        return UNKNOWN
    value = _looked_up(name, match["index"], variables, arguments)
    if mark == "!":
        return variables.get(value.text, UNKNOWN).labelled(fold.ASSEMBLED) if value.texts else UNKNOWN
    return _changed(value, rest, variables, arguments) if rest else value


def _looked_up(name: str, index: str | None, variables: Mapping[str, Value], arguments: Sequence[Value]) -> Value:
    if name in ("@", "*"):
        return Value(items=list(arguments)) if arguments else Value(labels=frozenset({"$@"}))
    if name.isdigit():
        at = int(name) if len(name) < 10 else 0
        return (
            arguments[at - 1].labelled(("argument",))
            if 0 < at <= len(arguments)
            else Value((HOLE,), labels=frozenset({f"${name}", "argument"}))
        )
    found = variables.get(name)
    if found is None:
        if name in KNOWN:
            return text(KNOWN[name])
        labels = {f"${name}", Source.HOST_INFO, Source.WHO} if name in WHO else {f"${name}"}
        return Value(name=f"${name}", labels=frozenset(labels))
    return _element(found, index)


def _element(found: Value, index: str | None) -> Value:
    """Return one element of a list or map; the first one, or the whole text, without an index."""
    if index is None:
        return found if found.items is None else found.items[0] if found.items else UNKNOWN
    everything = index in ("@", "*")
    if found.fields:
        return Value(items=list(found.fields.values())) if everything else found.fields.get(index.strip("\"'"), UNKNOWN)
    if found.items is None or everything:
        return found
    if INDEX.fullmatch(index) and -len(found.items) <= int(index) < len(found.items):
        return found.items[int(index)]
    return UNKNOWN


def _changed(value: Value, rest: str, variables: Mapping[str, Value], arguments: Sequence[Value]) -> Value:
    if (slice_ := SLICE.fullmatch(rest)) is not None:
        return _sliced(value, slice_)
    if rest[:2] in (":-", ":=", "-", "=") or rest[:1] in ("-", "="):
        default = _plain(rest.lstrip(":")[1:], variables, arguments)
        missing = value.texts == (HOLE,) and "argument" in value.labels
        return value if value.texts and not (missing and default.texts) else default.labelled(value.labels)
    if rest[:1] in ("+",) or rest[:2] == ":+":
        return _plain(rest.lstrip(":")[1:], variables, arguments)
    if rest[:1] == "/":
        return _substituted(value, rest)
    if rest[:1] in ("#", "%"):
        pattern = rest.lstrip("#%")
        longest = rest[:2] in ("##", "%%")
        return _trimmed(value, _plain(pattern, variables, arguments).exact, longest=longest, end=rest[0] == "%")
    if rest in ("^^", "^"):
        return each(value, str.upper)
    if rest in (",,", ","):
        return each(value, str.lower)
    return value


def _trimmed(value: Value, pattern: str | None, *, longest: bool, end: bool) -> Value:
    """Return what `${name#pattern}` (`##` for the longest, `%` and `%%` at the end) leaves of a text."""
    if pattern is None or len(pattern) > LONGEST_TRIMMING:
        return Value(labels=value.labels)
    plain = not set(pattern) & set("*?[\\")

    def cut(known: str) -> str | None:
        if plain:
            return known.removesuffix(pattern) if end else known.removeprefix(pattern)
        if len(known) > LONGEST_TRIMMED:
            return None
        lengths = range(len(known), -1, -1) if longest else range(len(known) + 1)
        for length in lengths:
            at = len(known) - length
            if fnmatch.fnmatchcase(known[at:] if end else known[:length], pattern):
                return known[:at] if end else known[length:]
        return known

    return each(value, cut, labels=() if plain else fold.ASSEMBLED)


def _sliced(value: Value, slice_: re.Match[str]) -> Value:
    """Return what `${name:start:length}` takes of a text or list."""
    start = int("".join(slice_[1].split()))
    length = int(slice_[2]) if slice_[2] else None
    if value.items is not None:
        return Value(items=value.items[start : None if length is None else start + length])

    def cut(known: str) -> str:
        end = None if length is None else (start + length if length >= 0 else length)
        return known[start:end]

    return each(value, cut, labels=fold.ASSEMBLED)


def _plain(raw: str, variables: Mapping[str, Value], arguments: Sequence[Value]) -> Value:
    raw = raw.strip("\"'")
    if raw.startswith("$") and PARAMETER.match(raw) and " " not in raw and raw.count("$") == 1:
        return expand(raw, variables, arguments) if re.fullmatch(r"\$\w+|\$\{\w+\}", raw) else UNKNOWN
    parts = re.split(r"(\$\w+|\$\{\w+\})", raw)
    return concatenate(
        [expand(p, variables, arguments) if p.startswith("$") and len(p) > 1 else text(p) for p in parts]
    )


def _substituted(value: Value, rest: str) -> Value:
    everywhere = rest.startswith("//")
    pattern, _, into = rest.lstrip("/").partition("/")
    if not pattern or re.search(r"[*?\[\]$]", pattern):
        return Value(labels=value.labels)
    pattern = pattern.replace("\\", "")
    return each(value, lambda known: known.replace(pattern, into, -1 if everywhere else 1), labels=fold.ASSEMBLED)
