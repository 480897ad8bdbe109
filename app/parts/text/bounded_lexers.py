"""Lexers that look only a bounded number of characters ahead, so that no text makes one step of theirs long."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer
from pygments.lexers import find_lexer_class_by_name
from pygments.lexers.javascript import JavascriptLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.shell import BashLexer
from pygments.util import ClassNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

AHEAD = 1_000
"""Characters. Some expressions take time that grows with the square or the cube of what they look at."""
LONGEST_PIECE = 50_000
"""Characters of a comment or a text that is looked at to its end: cut, its rest would be taken for code, and a quote
in that rest would make code look like a text. Where one is longer, what follows has no colors.
"""


class _Python(ExtendedRegexLexer, PythonLexer):
    pass


class _Shell(ExtendedRegexLexer, BashLexer):
    pass


class _Javascript(ExtendedRegexLexer, JavascriptLexer):
    pass


_LEXERS = {"python": _Python, "shell": _Shell, "javascript": _Javascript}
_PIECES = {
    "python": re.compile(r"#[^\n]*+"),
    "shell": re.compile(r"#[^\n]*+\n?|\$?'(?:[^'\\]|\\.)*+'|<<-?\s*+'?\\?(?P<word>\w{1,64}+)(?!\w)", re.DOTALL),
    "javascript": re.compile(r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'", re.DOTALL),
    "": re.compile(r"(?://|#)[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|\"(?:[^\"\\]|\\.)*+\"|`[^`]*+`", re.DOTALL),
}
"""Comments and texts for which a lexer has one expression. Each takes linear time; "" is any other language."""


def tokens(text: str, language: str) -> Iterator[tuple[Any, str]]:
    """Yield the tokens of `text` with their kinds; nothing for a language without a lexer."""
    if (made := _LEXERS.get(language) or _found(language)) is None:
        return
    context, lexer = LexerContext(text, 0), made()
    before = -1
    # It stops where it reaches what it may look at, and begins again in the state that it was in.
    while before < context.pos < len(text):
        before = context.pos
        if (end := _end(text, before, language)) is None:
            return
        context.end = end
        for _, kind, piece in lexer.get_tokens_unprocessed(context=context):
            yield kind, piece
            if (end := _end(text, context.pos + len(piece), language)) is None:
                return
            context.end = end


@cache
def _found(language: str) -> type[ExtendedRegexLexer] | None:
    """Return the lexer of another language, by the name that Pygments has for it; None where there is none."""
    try:
        found = find_lexer_class_by_name(language) if language else None
    except ClassNotFound:
        return None
    if found is None or not issubclass(found, RegexLexer):
        return None
    return found if issubclass(found, ExtendedRegexLexer) else type("_Other", (ExtendedRegexLexer, found), {})


def _end(text: str, start: int, language: str) -> int | None:
    """Return how far is looked from `start` on; None where the piece that begins there is too long to be looked at."""
    end = start + AHEAD
    if (piece := _PIECES[language if language in _PIECES else ""].match(text, start)) is not None:
        last = piece.end()
        if word := piece.groupdict().get("word"):
            last = text.find(word, last) + len(word)
        if last - start > LONGEST_PIECE:
            return None
        end = max(end, last)
    return min(end, len(text))
