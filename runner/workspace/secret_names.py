"""Names of files that may hold a secret. The list is a file of its own, for everybody to read."""

from __future__ import annotations

import re
from functools import cache

from runner.system.shipped import resources

LIST = resources() / "secrets" / "file-names"
STANDS_FOR = {"*": "[^/]*", "?": "[^/]"}


def may_be_secret(path: bytes) -> bool:
    """Return whether the list names a path below a project."""
    text = "/" + path.decode("utf-8", "replace").casefold()
    found = False
    for takes_back, pattern in _patterns():
        if found is takes_back and pattern.match(text):
            found = not takes_back
    return found


@cache
def _patterns() -> tuple[tuple[bool, re.Pattern[str]], ...]:
    """Return for each line whether it takes back, and what it is of."""
    lines = (line.strip() for line in LIST.read_text("utf-8").splitlines())
    return tuple(_pattern(line) for line in lines if line and not line.startswith("#"))


def _pattern(line: str) -> tuple[bool, re.Pattern[str]]:
    takes_back, plain = line.startswith("!"), line.removeprefix("!").casefold()
    # A star stands for no slash: the pattern is of whole names.
    text = "".join(STANDS_FOR.get(one, re.escape(one)) for one in plain)
    return takes_back, re.compile(rf"(?s:.*/{text}{'.*' if plain.endswith('/') else ''})\Z")
