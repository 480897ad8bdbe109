"""Names what a program of Python calls of a library of which no more is known: the function, and its constants.

A name that says nothing, such as `connect`, is left out where another one says more.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.model.request import Language
from runner.risk.model.outline_data import words
from runner.risk.verdict.computing import BEGINS, LOOKS, OF_ANSWERS, WORD, called_of
from runner.risk.verdict.naming import identifier, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from runner.risk.model.acts import Place, Trail
    from runner.risk.model.value import Value

MOST_NAMED = 2
MOST_CONSTANTS = 2
LONGEST_CONSTANT = 32
SAYS = expression(r"[A-Za-z]{3}")
"""What a constant has in it that may tell a person something."""
NOISE = expression(r"(?i)utf-?8|ascii|[rwab]{1,2}\+?|%.{0,40}|https?://.{0,200}|[A-Za-z]:?")
CHAINED = words(
    "head tail copy reset_index set_index sort_values sort_index round astype rename assign dropna fillna apply "
    "map agg sum mean count max min size describe strip lower upper replace split str dt iloc loc items json "
    "raise_for_status text then format encode decode hexdigest render tolist to_dict to_list scalars all first "
    "one add_row add_column append extend add_argument parse_args print option argument command set_title "
    "set_xlabel set_ylabel legend grid tight_layout autofmt_xdate subplots figure use next total_seconds "
    "isoformat"
)
"""Methods that say how something is put together or looks, and not what it is for."""


class TellingCall(NamedTuple):
    """A function of a library, with the words for it."""

    words: str
    place: Place
    rank: int


def functions_of(library: str, trail: Trail, *, constants: bool = True, every: bool = False) -> str:
    """Return which functions of a library are called, for its quoted name; '' where none of their names tells.

    Those beyond MOST_NAMED are only counted, where `every` one has to be said, or left out.
    """
    found = [one.words if constants else one.words.partition(" (")[0] for one in telling(library, trail)]
    unique = [*dict.fromkeys(found)]
    return listed(unique) if every else listed(unique[:MOST_NAMED])


def ways(names: Sequence[str], trail: Trail, said: Collection[str], keys: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield ways to name libraries with the functions of them that are called, the fullest first.

    Those in `said` are named with functions only: another clause has their names. `keys` has what is said of what a
    library is given, which is said in each way.
    """
    found = {name: telling(name, trail) for name in (*names, *said, *keys)}
    most = max(found, key=lambda name: found[name][0].rank if found[name] else 0, default="")
    for told, constants in ((found, True), (found, False), ((most,), True), ((most,), False), ((), False)):
        functions = {name: functions_of(name, trail, constants=constants) for name in told if name}
        # What is named whole stands last, so that its library is not taken for that of the others.
        whole = [f"{called} of {name}{keys.get(name, '')}" for name, called in functions.items() if called]
        yield [*(f"{name}{keys.get(name, '')}" for name in (*keys, *names) if not functions.get(name)), *whole]


def telling(library: str, trail: Trail) -> list[TellingCall]:
    """Return the calls of a library that say most, the first ones of the code first among equals."""
    found = []
    done = {act.name for act in trail.acts if act.kind != "hand"}
    for name, last in called_of(library, Language.PYTHON, trail):
        giver = name.rpartition("().")[0]
        of_answer = _rank(giver.rpartition(".")[2], ()) > 1
        if name in done or (last in OF_ANSWERS and giver in trail.called and of_answer):
            continue  # of what another one gave: `client.list_objects().get`
        place = trail.called_at.get(name, (1, 0, 1, 0))
        for said in [*map(_constants, trail.given.get(name, ())[:MOST_CALLS])] or [()]:
            if rank := _rank(last, said):
                less = of_answer * (1 if rank == NAMED_WHOLE else 2)
                found.append(TellingCall(_words(name, last, said), place, rank - less))
    found.sort(key=lambda one: (-one.rank, one.place))
    return [one for one in found if one.rank > 1]


BARE = 2
"""The rank of a function whose name is one word of looking, and no more is known of the call."""
NAMED_WHOLE = 5
"""The rank of a function whose name is a verb with an object, and not one of looking."""


def _rank(last: str, constants: tuple[str, ...]) -> int:
    """Return how much the name of a function tells: 0 for nothing."""
    if last in BEGINS or last in CHAINED or last[:1] in "_[":
        return 0
    parts = [one.lower() for one in WORD.split(last) if one]
    if not parts or (last[:1].isupper() and not last.endswith("Command")):
        return 0
    looks = parts[0] in LOOKS
    if len(parts) > 1:
        return 4 if looks else NAMED_WHOLE
    return 4 if any(map(_says, constants)) else BARE if looks else 3


def _words(name: str, last: str, constants: tuple[str, ...]) -> str:
    """Return a function with the object it is of, where its own name is a bare verb, and with its constants."""
    parts = [one for one in name.replace("()", "").replace("[]", "").lstrip("~").split(".")[1:-1] if one]
    before = parts[-1] if parts else ""
    bare = len([one for one in WORD.split(last) if one]) == 1
    if (
        before.isidentifier()
        and before != last
        and before not in BEGINS
        and before not in CHAINED
        and (bare or before[:1].isupper())
    ):
        last = f"{before}.{last}"
    said = [quoted(one, LONGEST_CONSTANT) for one in constants if _says(one)][:MOST_CONSTANTS]
    return f"{identifier(last)} ({listed(said)})" if said else identifier(last)


def _constants(values: Iterable[Value]) -> tuple[str, ...]:
    """Return the texts that a call gets by themselves or in a list."""
    known = (part.exact for one in values for part in (one, *(one.items or ())))
    return tuple(islice((one for one in known if one is not None and 0 < len(one) <= LONGEST), MOST_KEPT))


MOST_CALLS, MOST_KEPT, LONGEST = 6, 4, 60
"""Calls of one function that are looked at, texts of each, and their characters."""


def _says(constant: str) -> bool:
    return SAYS.search(constant) is not None and NOISE.fullmatch(constant) is None
