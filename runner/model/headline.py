"""The short form of a verdict, for rows, notices and menus: its gravest act as a verb with its object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.verdict import Verb

if TYPE_CHECKING:
    from runner.model.verdict import RiskVerdict, VerdictAct

WANTED = 36
"""Characters that a headline should have."""
LONGEST = 44
"""Characters that it may have, where the end of a name would be lost else."""
LEAST_OF_NAME = 10
"""Characters of the end of a name that are worth showing."""
UNREAD = " (partly read)"
_UNREAD_IN_SENTENCE = ", as far as could be read"
KNOWN = {
    "No use of files, network or other programs was found": "No files, network or programs found",
    "Only commands that look and print were found": "Only looks and prints",
    "What it does has no words here: look at the code": "No words for it: look at the code",
}
"""Sentences that no beginning of theirs stands for, each without what follows a semicolon."""
LINKING = frozenset(
    (
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "by",
        "for",
        "from",
        "has",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "other",
    )
    + ("that", "the", "their", "to", "where", "with")
)
"""Words that say nothing at the end of what is cut."""
LEAST_WORDS = 2
MOST_BEFORE = 5
"""Words that may stand before the object of an act: more of them are a finding that only mentions it."""
_JOINTS = (",", ";", "(", " and ")
_ENDS = (",", ";", " (", " and ", " in ")
"""What may follow an object: a name that is only the beginning of other words is none."""


def headline(verdict: RiskVerdict) -> str:
    """Return the short form of `verdict`, at most LONGEST characters; empty where there is no sentence.

    It says what the sentence begins with, which is the gravest. What could not be read whole is called so.
    """
    words = verdict.sentence.strip().rstrip(".")
    partly = _UNREAD_IN_SENTENCE in words
    words = words.replace(_UNREAD_IN_SENTENCE, "")
    if words in KNOWN:
        short = KNOWN[words]
    else:
        short = next(filter(None, (_up_to(one, words) for one in verdict.acts)), "") or _beginning(words)
    return _fitted(short, WANTED - len(UNREAD)) + UNREAD if partly else _fitted(short, WANTED)


def _up_to(act: VerdictAct, words: str) -> str:
    """Return the sentence up to the object of `act`, where that is what the sentence begins with; empty else."""
    if act.verb is Verb.SENDS and act.place and words.startswith("Sends ") and act.place in words.partition(";")[0]:
        return f"Sends {act.target}"
    at = words.casefold().find(act.target.casefold()) if act.target else -1
    before = words[:at] if at >= 0 else ""
    after = words[at + len(act.target) :]
    if at < 0 or (after and not after.startswith(_ENDS)) or any(joint in before for joint in _JOINTS):
        return ""
    return words[: at + len(act.target)] if len(before.split()) <= MOST_BEFORE else ""


def _beginning(words: str) -> str:
    """Return the first clause of a sentence, which no list or name is cut out of."""
    first = words.partition("; ")[0]
    known = KNOWN.get(first)
    return known if known is not None else first


def _fitted(words: str, wanted: int) -> str:
    """Return `words` in about `wanted` characters. Of a path or a host the end is kept, which says what it is."""
    if len(words) <= wanted:
        return words
    before, _, name = words.rpartition(" ")
    room = wanted + (LONGEST - WANTED) - len(before) - 2
    if before and room >= LEAST_OF_NAME and ("." in name or "/" in name):
        return words if len(name) <= room + 1 else f"{before} \N{HORIZONTAL ELLIPSIS}{name[-room:]}"
    cut = words[: wanted - 1]
    whole = (cut if words[wanted - 1] == " " else cut.rpartition(" ")[0]).split(" ")
    while len(whole) > LEAST_WORDS and (whole[-1] in LINKING or whole[-1].startswith("(")):
        whole.pop()
    kept = " ".join(whole) if len(whole) > 1 else cut
    room = wanted + (LONGEST - WANTED) - len(kept) - 2
    if whole[-1] in LINKING and room >= LEAST_OF_NAME:
        # "Downloads from" says nothing: the name comes with it.
        name = words.split(" ")[len(whole)].rstrip(",;:")
        kept += f" {name if len(name) <= room else name[: room - 1]}"
    return f"{kept.rstrip(' ,;:')}\N{HORIZONTAL ELLIPSIS}"
