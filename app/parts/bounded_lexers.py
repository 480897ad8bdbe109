"""Lexers that look only a bounded number of characters ahead, so that no text makes one step of theirs long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygments.lexer import ExtendedRegexLexer, LexerContext
from pygments.lexers.javascript import JavascriptLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.shell import BashLexer

if TYPE_CHECKING:
    from collections.abc import Iterator

AHEAD = 1_000
"""Characters. Some expressions take time that grows with the square or the cube of what they look at."""


class _Python(ExtendedRegexLexer, PythonLexer):
    pass


class _Shell(ExtendedRegexLexer, BashLexer):
    pass


class _Javascript(ExtendedRegexLexer, JavascriptLexer):
    pass


_LEXERS = {"python": _Python, "shell": _Shell, "javascript": _Javascript}


def tokens(text: str, language: str) -> Iterator[tuple[Any, str]]:
    """Yield the tokens of `text` with their kinds; nothing for a language without a lexer."""
    if (made := _LEXERS.get(language)) is None:
        return
    context, lexer = LexerContext(text, 0), made()
    before = -1
    # It stops where it reaches what it may look at, and begins again in the state that it was in.
    while before < context.pos < len(text):
        before = context.pos
        context.end = min(before + AHEAD, len(text))
        for _, kind, piece in lexer.get_tokens_unprocessed(context=context):
            yield kind, piece
            context.end = min(context.pos + len(piece) + AHEAD, len(text))
