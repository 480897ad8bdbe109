"""Finds tricks that make code look different from what it is (spec R4), in the text of any language."""

from __future__ import annotations

import itertools
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from runner.model.assessment import Capability, Finding, Level
from runner.model.expression import expression
from runner.model.shown import cut_lines

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from runner.risk.model.lines import Lines

MOST_PER_TRICK = 20
"""Findings of one kind that are listed; a few are enough to recognize a file full of them."""

PADDING_COLUMNS = 100
"""Spaces in a row, between code and code, that push the second part out of an ordinary window."""

PADDING_LINES = 60
"""Empty lines in a row, between code and code, that push the second part off an ordinary screen."""


class Trick(NamedTuple):
    id: str
    level: Level
    find: Callable[[str], Iterator[tuple[int, int]]]
    reason: str
    reference: str = "CWE-1007"


# Letters of other scripts that look like a Latin one (a selection of Unicode's confusables.txt, UTS 39).
LOOK_ALIKE = "асԁеһіјӏорԛѕԝхуАВЕНІЈКМОРСТХԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧοɡɑı"
JOINERS = "\u200c\u200d\ufeff\u00ad"
MIXED = expression(f"[A-Za-z][{LOOK_ALIKE}]|[{LOOK_ALIKE}][A-Za-z]")
STYLED = expression("[\U0001d400-\U0001d7cb\uff21-\uff3a\uff41-\uff5a]{2,}+")
WORD = expression(r"\w*+")
WORDS = expression(r"[\w\s]*+")


def _matches(pattern: str) -> Callable[[str], Iterator[tuple[int, int]]]:
    """Return what finds the places of an expression, which must need linear time for any text."""
    compiled = expression(pattern)
    return lambda text: (match.span() for match in compiled.finditer(text))


def _mixed_words(text: str) -> Iterator[tuple[int, int]]:
    """Find the words in which a Latin letter stands beside a look-alike: the two first, as they are rare."""
    end = 0
    while (match := MIXED.search(text, end)) is not None:
        start = match.start()
        while start > end and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        end = _end(WORD, text, match.end())
        yield start, end


def _styled_names(text: str) -> Iterator[tuple[int, int]]:
    """Find styled letters that are called, assigned to or have a member; words and spaces may come between."""
    after = 0
    for match in STYLED.finditer(text):
        if match.end() > after:  # else it is among the words behind the one before
            after = _end(WORDS, text, match.end())
        if text[after : after + 1] in (".", "(", "="):
            yield match.span()


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return start if match is None else match.end()


TRICKS = (
    Trick(
        "text.bidi",
        Level.CRITICAL,
        _matches("[\u202a-\u202e\u2066-\u2069]+"),
        "Control characters reverse the order in which this line is shown, so it does not read as it runs.",
    ),
    Trick(
        "text.invisible",
        Level.CRITICAL,
        _matches(
            "[\u200b\u2060-\u2064\u180e\u115f\u1160\u3164\uffa0\U000e0000-\U000e01ef]+|[\ufe00-\ufe0e]+|[\ufe0f]{2,}"
        ),
        "Invisible characters stand here, so names or texts differ from what is shown.",
    ),
    Trick(
        "text.joiner",
        Level.CRITICAL,
        # Joiners belong between emoji and in some scripts; next to ASCII letters they only hide a difference.
        _matches(f"(?<=[A-Za-z0-9_])[{JOINERS}]++|(?<![{JOINERS}])[{JOINERS}]++(?=[A-Za-z0-9_])"),
        "An invisible character inside a word makes it another word than the one shown.",
    ),
    Trick(
        "text.terminal",
        Level.CRITICAL,
        _matches("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]+"),
        "Raw control characters can rewrite what a terminal shows of this line.",
        "CWE-150",
    ),
    Trick(
        "text.line-break",
        Level.CRITICAL,
        _matches("(?<=[^\\s])[\r\x0b\x85\u2028\u2029](?!\n)(?=[^\\S\n]*+\\S)"),
        "A line break that many viewers do not show starts more code here.",
    ),
    Trick(
        "text.look-alike",
        Level.CRITICAL,
        _mixed_words,
        "A word mixes Latin letters with look-alikes from another script, so it is not the word it seems to be.",
    ),
    Trick(
        "text.styled",
        Level.CRITICAL,
        # Mathematical and full-width letters: Python folds them to ASCII in names, readers do not.
        _styled_names,
        "Letters in another style are read as plain ones by the interpreter, but not by a search.",
    ),
    Trick(
        "text.padding",
        Level.CRITICAL,
        _matches(f"(?<=[^\\s])[ \\t\u00a0\u2000-\u200a\u3000]{{{PADDING_COLUMNS},}}+(?=[^\\s#/\\\\|*])"),
        "A long run of spaces pushes the code behind it out of sight.",
    ),
    Trick(
        "text.empty-lines",
        Level.HIGH,
        _matches(f"(?<=[^\\s])\n(?:[ \\t]*+\n){{{PADDING_LINES},}}+(?=[ \\t]*+\\S)"),
        "Many empty lines push the code behind them out of sight.",
    ),
    Trick(
        "text.long-line",
        Level.CRITICAL,
        cut_lines,
        "This line is too long to be shown to its end.",
    ),
    Trick(
        "text.surrogate",
        Level.CRITICAL,
        _matches("[\ud800-\udfff]+"),
        "These characters are not valid text, so what would run cannot be shown.",
        "CWE-176",
    ),
)
# One look over the text finds out whether any trick but padding can be there: most code is plain ASCII.
ODD = expression("[^\t\n\x0c -~]")


def tricks(lines: Lines) -> Iterator[Finding]:
    """Every trick in the text, a bounded number of each kind."""
    text = lines.text
    plain = ODD.search(text) is None
    for trick in TRICKS:
        if plain and trick.id not in ("text.padding", "text.empty-lines", "text.long-line"):
            continue
        for start, end in itertools.islice(trick.find(text), MOST_PER_TRICK):
            yield _finding(trick, start, end, lines)


def _finding(trick: Trick, start: int, end: int, lines: Lines) -> Finding:
    return Finding(
        id=trick.id,
        level=trick.level,
        capability=Capability.HIDDEN_TEXT,
        span=lines.span(start, end),
        evidence=visible(lines.text[start : min(end, start + 40)]),
        reason=trick.reason,
        reference=trick.reference,
    )


def visible(text: str) -> str:
    """`text` with every character that cannot be seen, or is not ASCII, named by its code point."""
    return "".join(c if c.isprintable() and c.isascii() else f"<{_name(c)}>" for c in text)


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip()
