"""Puts a verdict's acts into one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.verdict import LONGEST_SENTENCE, Verb
from runner.risk.verdict.naming import listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WANTED = 165
"""Characters beyond which no further clause is added."""
WANTED_OF_WORK = 185
"""The same, where all was read and no clause is grave."""
MOST_CLAUSES = 5
MOST_OF_GRAVE = 6
"""Names of what is deleted, installed or sent, where there is room for them."""
NAMED_WHOLE = frozenset((Verb.DELETES, Verb.DISCARDS, Verb.SENDS, Verb.INSTALLS, Verb.FETCHES, Verb.RUNS_ON_START))
A_COPY, A_LINK = "a copy of ", "a link to "
"""How words begin for what is written that name where it comes from as well."""
NOT_KNOWN = ", which Assent does not know"
"""Ends a clause about what is handed to something."""
CLAUSES: Mapping[Verb, str] = {
    Verb.HIDES: "hides {}",
    Verb.DELETES: "deletes {}",
    Verb.DISCARDS: "throws away {}",
    Verb.CHANGES_DATA: "{}",
    Verb.SENDS: "sends {}",
    Verb.HANDS: "hands {}",
    Verb.READS_SECRETS: "reads credentials in {}",
    Verb.RUNS_ON_START: "writes {}",
    Verb.RUNS_NAMED: "runs whatever code {}",
    Verb.RUNS_TEXT: "runs {}",
    Verb.CHANGES_RIGHTS: "changes the rights of {}",
    Verb.STOPS: "stops {}",
    Verb.INSTALLS: "installs {}",
    Verb.CHANGES_SYSTEM: "{}",
    Verb.REWRITES: "rewrites {}",
    Verb.MOVES: "moves {}",
    Verb.WORKS: "{}",
    Verb.STARTS: "runs {}",
    Verb.LISTENS: "waits for {}",
    Verb.CONNECTS: "connects to {}",
    Verb.FETCHES: "downloads from {}",
    Verb.WRITES: "writes {}",
    Verb.MAKES: "makes {}",
    Verb.READS: "reads {}",
    Verb.LISTS: "looks through {}",
    Verb.CALLS: "calls {}",
    Verb.TESTS: "{}",
    Verb.PRINTS: "prints {}",
}


def sentence(acts: Iterable[tuple[Verb, str]], lead: str = "", partly: str = "") -> str:
    """Return one sentence over acts that are given in the order in which they matter.

    `lead` is a clause that comes first, and `partly` one that says what was not read, which is never left out.
    """
    grouped: dict[Verb, list[str]] = {}
    for verb, words in acts:
        grouped.setdefault(verb, []).append(words)
    if Verb.WRITES in grouped:  # what follows a copy would read as another place of it
        grouped[Verb.WRITES].sort(key=lambda words: words.startswith((A_COPY, A_LINK)))
    clauses = [lead] if lead else []
    left = 0
    wanted = WANTED if partly or lead else WANTED_OF_WORK
    for verb, names in grouped.items():
        template = CLAUSES[verb]
        for clause in [*dict.fromkeys(names)] if template == "{}" else [template.format(_listed(verb, names))]:
            length = sum(map(len, clauses)) + 2 * len(clauses) + len(clause)
            if clauses and (length > wanted or len(clauses) >= MOST_CLAUSES):
                left += 1
            else:
                clauses.append(clause)
    return finished(clauses, more=bool(left), partly=partly)


def _listed(verb: Verb, names: Sequence[str]) -> str:
    """Return the names as words; of what a person has to know of, as many as there is room for."""
    whole = listed(names, MOST_OF_GRAVE)
    return whole if verb in NAMED_WHOLE and len(whole) <= WANTED else listed(names)


def and_more(clause: str) -> str:
    """Return how a sentence ends that has no room for what follows a clause, which may count what it leaves out."""
    return ", and does more" if clause.endswith(MORE) else " and more"


MORE = " more"


def finished(clauses: Sequence[str], *, more: bool = False, partly: str = "") -> str:
    """Return clauses as one sentence."""
    whole = f"{', '.join(clauses[:-1])} and {clauses[-1]}" if len(clauses) > 1 and not more else ", ".join(clauses)
    whole = f"{whole}{and_more(clauses[-1])}" if more else whole
    whole = whole.replace(f"{NOT_KNOWN} and ", f"{NOT_KNOWN}, and ").replace(f"{NOT_KNOWN},,", f"{NOT_KNOWN},")
    if not whole.isprintable():
        whole = shown(whole, LONGEST_SENTENCE)
    room = LONGEST_SENTENCE - len(partly) - 3
    if len(whole) > room:
        whole = f"{whole[: room - 1]}…"
    return f"{whole[0].upper()}{whole[1:]}{partly}."
