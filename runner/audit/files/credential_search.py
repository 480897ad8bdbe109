"""Credentials in files that have a form of their own: tokens of services, private keys.

The kinds are those of `redact.py`. RE2 goes over the bytes once for all of them, some 20 MB a second whatever they are;
what it finds is looked at again by the expressions themselves, which know more of what stands around. Words that only
a name calls a password are not looked for: in a project most of them are of tests.
"""

from __future__ import annotations

import re
import time
from functools import cache
from typing import Any

from runner.audit.files import redact

CONDITIONS = ("(?=", "(?!", "(?<=", "(?<!")
"""Beginnings of what an expression says of what stands around, which RE2 does not know."""
LARGE = re.compile(r"\{([0-9]+),[0-9]{4,}\}")
"""Repetitions of which RE2 knows only some."""

NAMED = "Token"
"""The kind of what stands under the name of a token, whatever its form."""


def credential_kind(data: bytes, seconds: float = 5.0) -> str:
    """Return the kind of one credential in `data`; '' where none is found. Call it off every loop.

    Where looking again takes more than `seconds`, what RE2 has found counts.
    """
    # Text of two bytes a character is read like other text.
    data = data.replace(b"\0", b"") if b"\0" in data else data
    found: list[tuple[str, re.Pattern[str]]] = [_kinds()[number] for number in sorted(_search().Match(data) or ())]
    text = data.decode("utf-8", "replace") if found else ""
    end = time.monotonic() + seconds
    for kind, pattern in found:
        # In pieces, as some take quadratic time; a key may be longer than a piece, and begins in one.
        for piece in redact.pieces(text):
            if time.monotonic() > end or any(_is_one(kind, match) for match in pattern.finditer(piece)):
                return kind
    return ""


def _is_one(kind: str, match: re.Match[str]) -> bool:
    """Return whether a match counts: `token = self.made.by_code` is a name, and a token has digits."""
    return kind != NAMED or any(map(str.isdigit, match[0]))


@cache
def _kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return redact.patterns()


@cache
def _search() -> Any:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    found = re2.Set.SearchSet(options)
    for _, pattern in _kinds():
        text = LARGE.sub(r"{\1,}", _without_conditions(pattern.pattern))
        found.Add(f"(?i){text}" if pattern.flags & re.IGNORECASE else text)
    found.Compile()
    return found


def _without_conditions(text: str) -> str:
    """Return an expression that finds as much, or more: without what it says of what stands around."""
    kept, at = "", 0
    while at < len(text):
        if text.startswith(CONDITIONS, at):
            at = _end_of_group(text, at)
            continue
        step = 2 if text[at] == "\\" else 1
        kept += text[at : at + step]
        at += step
    return kept


def _end_of_group(text: str, at: int) -> int:
    """Return where the group ends that begins at `at`."""
    depth, in_class = 0, False
    while at < len(text):
        one = text[at]
        at += 2 if one == "\\" else 1
        in_class = one == "[" or (in_class and one != "]")
        if not in_class and one in "()":
            depth += 1 if one == "(" else -1
            if not depth:
                break
    return at
