"""Tricks that make code look different from what it is (spec R4): found in the text, whatever the language."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.assessment import Capability, Finding, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.risk.lines import Lines

MOST_PER_TRICK = 20
"""Findings of one kind that are listed; a file full of them is told from a few as well."""

PADDING_COLUMNS = 100
"""Spaces in a row, between code and code, that push the second part out of an ordinary window."""

PADDING_LINES = 60
"""Empty lines in a row, between code and code, that push the second part off an ordinary screen."""


@dataclass(frozen=True, slots=True)
class Trick:
    id: str
    level: Level
    pattern: re.Pattern[str]
    reason: str
    reference: str = "CWE-1007"


# Letters of other scripts that look like a Latin one (a selection of Unicode's confusables.txt, UTS 39).
LOOK_ALIKE = "асԁеһіјӏорԛѕԝхуАВЕНІЈКМОРСТХԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧοɡɑı"

TRICKS = (
    Trick(
        "text.bidi",
        Level.CRITICAL,
        re.compile("[\u202a-\u202e\u2066-\u2069]+"),
        "Control characters reverse the order in which this line is shown, so it does not read as it runs.",
    ),
    Trick(
        "text.invisible",
        Level.CRITICAL,
        re.compile(
            "[\u200b\u2060-\u2064\u180e\u115f\u1160\u3164\uffa0\U000e0000-\U000e01ef]+|[\ufe00-\ufe0e]+|[\ufe0f]{2,}"
        ),
        "Invisible characters stand here, so names or texts differ from what is shown.",
    ),
    Trick(
        "text.joiner",
        Level.CRITICAL,
        # Joiners belong between emoji and in some scripts; next to ASCII letters they only hide a difference.
        re.compile("(?<=[A-Za-z0-9_])[\u200c\u200d\ufeff\u00ad]+|[\u200c\u200d\ufeff\u00ad]+(?=[A-Za-z0-9_])"),
        "An invisible character inside a word makes it another word than the one shown.",
    ),
    Trick(
        "text.terminal",
        Level.CRITICAL,
        re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]+"),
        "Raw control characters can rewrite what a terminal shows of this line.",
        "CWE-150",
    ),
    Trick(
        "text.line-break",
        Level.CRITICAL,
        re.compile("(?<=[^\\s])[\r\x0b\x85\u2028\u2029](?!\n)(?=[^\n]*\\S)"),
        "A line break that many viewers do not show starts more code here.",
    ),
    Trick(
        "text.look-alike",
        Level.CRITICAL,
        re.compile(f"\\w*(?:[A-Za-z][{LOOK_ALIKE}]|[{LOOK_ALIKE}][A-Za-z])\\w*"),
        "A word mixes Latin letters with look-alikes from another script, so it is not the word it seems to be.",
    ),
    Trick(
        "text.styled",
        Level.CRITICAL,
        # Mathematical and full-width letters: Python folds them to ASCII in names, readers do not.
        re.compile("[\U0001d400-\U0001d7cb\uff21-\uff3a\uff41-\uff5a]{2,}(?=[\\w\\s]*[.(=])"),
        "Letters in another style are read as plain ones by the interpreter, but not by a search.",
    ),
    Trick(
        "text.padding",
        Level.CRITICAL,
        re.compile(f"(?<=[^\\s])[ \\t\u00a0\u2000-\u200a\u3000]{{{PADDING_COLUMNS},}}(?=[^\\s#/\\\\|*])"),
        "A long run of spaces pushes the code behind it out of sight.",
    ),
    Trick(
        "text.empty-lines",
        Level.HIGH,
        re.compile(f"(?<=[^\\s])\n(?:[ \\t]*\n){{{PADDING_LINES},}}(?=[ \\t]*\\S)"),
        "Many empty lines push the code behind them out of sight.",
    ),
    Trick(
        "text.surrogate",
        Level.CRITICAL,
        re.compile("[\ud800-\udfff]+"),
        "These characters are not valid text, so what would run cannot be shown.",
        "CWE-176",
    ),
)
# One look over the text finds out whether any trick but padding can be there: most code is plain ASCII.
ODD = re.compile("[\x00-\x08\x0b\x0d-\x1f\x7f-\U0010ffff]")


def tricks(lines: Lines) -> Iterator[Finding]:
    """Every trick in the text, a bounded number of each kind."""
    text = lines.text
    plain = ODD.search(text) is None
    for trick in TRICKS:
        if plain and trick.id not in ("text.padding", "text.empty-lines"):
            continue
        for count, match in enumerate(trick.pattern.finditer(text)):
            if count == MOST_PER_TRICK:
                break
            yield _finding(trick, match, lines)


def _finding(trick: Trick, match: re.Match[str], lines: Lines) -> Finding:
    return Finding(
        id=trick.id,
        level=trick.level,
        capability=Capability.HIDDEN_TEXT,
        span=lines.span(match.start(), match.end()),
        evidence=visible(match.group()[:40]),
        reason=trick.reason,
        reference=trick.reference,
    )


def visible(text: str) -> str:
    """`text` with every character that cannot be seen, or is not ASCII, named by its code point."""
    return "".join(c if c.isprintable() and c.isascii() else f"<{_name(c)}>" for c in text)


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip()
