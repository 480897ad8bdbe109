"""Names what a program calls of libraries of which no more is known: the functions, and the constants they get.

A name that says nothing, such as `connect`, is left out, and what changes something is named before what looks.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.model.request import Language
from runner.risk.model.outline_data import words
from runner.risk.trace.remote import LOOKING
from runner.risk.trace.shown import SECRETIVE
from runner.risk.trace.things import package_of
from runner.risk.verdict.computing import is_known_call, plain_name
from runner.risk.verdict.naming import identifier, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from runner.risk.model.acts import Place, Trail
    from runner.risk.model.value import Value

MOST_NAMED = 2
MOST_CONSTANTS = 2
LONGEST_CONSTANT = 32
BEGINS = words(
    "client resource Client connect close end cursor session Session Config setup disconnect quit send auth config "
    "bucket loadFromDefault loadFromFile makeApiClient db collection then catch finally toArray"
)
"""What is called before and after the work, by the names that it has nearly everywhere."""
OF_ANSWERS = words("get items keys values")
"""What is called of the answer of a service, which is a table of values."""
BESIDES = BEGINS | words(
    "head tail copy reset_index set_index sort_values sort_index round astype assign dropna fillna apply "
    "map agg sum mean count max min size describe strip lower upper replace split str dt iloc loc items json "
    "raise_for_status text then format encode decode hexdigest render tolist to_dict to_list scalars all first "
    "one add_row add_column append extend add_argument parse_args print option argument command set_title "
    "set_xlabel set_ylabel legend grid tight_layout autofmt_xdate subplots figure use next total_seconds "
    "isoformat once emit default create init initialize initializeApp getClient fromEnv from Router static toString "
    "valueOf table into model define getRepository getContainerClient launch newPage newContext on "
    "transformToByteArray transformToString"
)
"""These, and methods that say how something is put together or looks, and not what it is for."""
CHANGES = words("rename write save update replace delete remove create insert add set move merge convert transform")
"""Words that names of functions begin with by which something is changed."""
NAMED_BY_VERBS = words("boto3 botocore googleapiclient azure kubernetes stripe github gitlab octokit twilio slack_sdk")
"""Libraries for services whose functions are named after what the service does."""
SERVICES = ("@aws-sdk/", "@azure/", "@google-cloud/", "@kubernetes/", "@octokit/", "dockerode", "aws-sdk", "mongodb")
"""What the names of libraries of JavaScript for services begin with that name functions so."""
OF_KEYS = expression(r"(?i)token|secret|passw|key|credential|auth|login|sign")
"""Methods that get what nobody should read."""
OF_VERSIONS = words("api rest v1 v2 v3 data")
"""Parts of names that say which form of a service is asked."""
WORD = expression(r"_|(?<=[a-z0-9])(?=[A-Z])")
"""Where one word of a name ends and the next one begins."""
SAYS = expression(r"[A-Za-z]{3}")
"""What a constant has in it that may tell a person something."""
NOISE = expression(r"(?i)utf-?8|ascii|[rwab]{1,2}\+?|%.{0,40}|https?://.{0,200}|[A-Za-z]:?")
MOST_BEFORE = 2
"""Parts of a name that are said before a verb."""
MOST_CALLS, MOST_KEPT, LONGEST = 6, 4, 60
"""Calls of one function that are looked at, texts of each, and their characters."""
BARE = 2
"""The rank of a function whose name is one word of looking, and no more is known of the call."""
NAMED_WHOLE = 5
"""The rank of a function whose name is a verb with an object, and not one of looking."""
CHANGING = 6
"""The rank of a function whose name is a verb of changing something, with an object or a constant."""


class TellingCall(NamedTuple):
    """A function of a library, with the words for it."""

    words: str
    constants: tuple[str, ...]
    place: Place
    rank: int


class LibraryCalls:
    """The calls of libraries in a program; a library is named by its name in quotes, as a sentence has it."""

    def __init__(self, language: Language | None, trail: Trail) -> None:
        self.javascript = language is Language.JAVASCRIPT
        self._trail = trail
        self._telling: dict[str, list[TellingCall]] = {}

    @cached_property
    def _by_library(self) -> dict[str, list[tuple[str, str]]]:
        """The functions that are called, and the last parts of their names, by library, in the order of the code."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name in self._trail.given:
            plain = plain_name(name)
            before, dot, last = plain.rpartition(".")
            if dot:
                found.setdefault(package_of(before), []).append((name, last))
        return {quoted(library, 30): calls for library, calls in found.items()}

    @cached_property
    def _done(self) -> frozenset[str]:
        """The functions that acts name, but for what they are only handed."""
        return frozenset(act.name for act in self._trail.acts if act.kind != "hand")

    def only_look(self, library: str) -> bool:
        """Return whether all that is called of a library is of a service and named after looking."""
        called = {last for _, last in self._by_library.get(library, ())} - BEGINS - OF_ANSWERS
        name = library.strip("“”")
        if self.javascript:
            called = {last for last in called if last[:1].islower() or last.endswith("Command")}  # others make objects
        known = name in NAMED_BY_VERBS or (self.javascript and name.startswith(SERVICES))
        return known and bool(called) and all(WORD.split(one, maxsplit=1)[0].lower() in LOOKING for one in called)

    def is_said(self, library: str) -> bool:
        """Return whether nothing is called of a library but what begins and ends what the acts say, or looks."""
        acts = "".join(f"\n{act.name}" for act in self._trail.acts)
        called = self._by_library.get(library, ())
        rest = any(last not in BEGINS and f"\n{name}()" not in acts for name, last in called)
        return not rest or self.only_look(library)

    def in_words(self, library: str, *, constants: bool = True, every: bool = False) -> str:
        """Return which functions of a library are called; '' where none of their names tells anything.

        Those beyond MOST_NAMED are only counted, where `every` one has to be said, or left out.
        """
        found: dict[str, None] = {}
        met: set[str] = set()
        for one in self.telling(library):
            new = [known for known in one.constants if known not in met] if constants else []
            met.update(new)
            if new:
                found[f"{one.words} ({listed([quoted(known, LONGEST_CONSTANT) for known in new])})"] = None
            elif not any(said == one.words or said.startswith(f"{one.words} (") for said in found):
                found[one.words] = None
        unique = [*found]
        if self.javascript:
            return f"{', '.join(unique[:3])} and others" if len(unique) > 3 else listed(unique)
        return listed(unique) if every else listed(unique[:MOST_NAMED])

    def ways(self, names: Sequence[str], said: Collection[str], keys: Mapping[str, str]) -> Iterator[list[str]]:
        """Yield ways to name libraries with the functions of them that are called, the fullest first.

        Those in `said` are named with functions only: another clause has their names. `keys` has what is said of what
        a library is given, which is said in each way.
        """
        found = (*names, *said, *keys)
        most = max(found, key=lambda name: max((one.rank for one in self.telling(name)), default=0), default="")
        for told, constants in ((found, True), (found, False), ((most,), True), ((most,), False), ((), False)):
            functions = {name: self.in_words(name, constants=constants) for name in dict.fromkeys(told) if name}
            # What is named whole stands last, so that its library is not taken for that of the others.
            whole = [f"{called} of {name}{keys.get(name, '')}" for name, called in functions.items() if called]
            yield [*(f"{name}{keys.get(name, '')}" for name in (*keys, *names) if not functions.get(name)), *whole]

    def main(self, without: Collection[str], *, changing: bool = False) -> Place | None:
        """Return where what says most of all libraries but those is called, or something changed; None for none."""
        least = CHANGING if changing else BARE + 1
        imported = {
            act.name if self.javascript else act.name.partition(".")[0]
            for act in self._trail.acts
            if act.kind == "import"
        }
        calls = (
            call
            for library in self._by_library
            if library.strip("“”") in imported.difference(without)
            for call in self.telling(library)
            if call.rank >= least
        )
        most = min(calls, key=lambda one: (-min(one.rank, NAMED_WHOLE), one.place), default=None)
        return None if most is None else most.place

    def telling(self, library: str) -> list[TellingCall]:
        """Return the calls of a library that say most, the first ones of the code first among equals."""
        if library not in self._telling:
            found = [*self._ranked(library)]
            found.sort(key=lambda one: (-one.rank, one.place))
            self._telling[library] = found
        return self._telling[library]

    def _ranked(self, library: str) -> Iterator[TellingCall]:
        trail, done = self._trail, self._done
        for name, last in self._by_library.get(library, ()):
            giver = name.rpartition("().")[0]
            of = _rank(giver.rpartition(".")[2], ()) if "." in giver else 0
            if name in done or (last in OF_ANSWERS and giver in trail.given and of > 1):
                continue  # of what another one gave: `client.list_objects().get`
            if self.javascript and is_known_call(name, javascript=True):
                continue
            calls, place = trail.given[name], trail.called_at.get(name, (1, 0, 1, 0))
            root = name.lstrip("~").partition("(")[0]
            handed = calls[0][0].name if calls[0] else ""
            if handed.startswith(root) and not handed.endswith(")"):
                name, last = handed, handed.rpartition(".")[2]  # `client.paginate(client.pulls.list, {...})`
            silent = OF_KEYS.search(last) is not None
            for said in dict.fromkeys(map(_constants, calls[:MOST_CALLS])):
                told = () if silent else said
                if rank := _rank(last, told):
                    less = 0 if of <= BARE + 1 or rank == CHANGING else 1 if rank == NAMED_WHOLE else 2
                    if rank - less > 1:
                        yield TellingCall(_words(name, last), told, place, rank - less)


def _rank(last: str, constants: tuple[str, ...]) -> int:
    """Return how much the name of a function tells: 0 for nothing."""
    if last in BESIDES or last[:1] in "_[":
        return 0
    parts = [one.lower() for one in WORD.split(last) if one]
    if not parts or (last[:1].isupper() and not last.endswith("Command")):
        return 0
    looks = parts[0] in LOOKING
    if parts[0] in CHANGES and (len(parts) > 1 or constants):
        return CHANGING
    if len(parts) > 1:
        return 4 if looks else NAMED_WHOLE
    return 4 if constants else BARE if looks else 3


def _words(name: str, last: str) -> str:
    """Return a function with what it is of, where its own name is a bare verb or that is a class."""
    bare = len([one for one in WORD.split(last) if one]) == 1
    path: list[str] = []
    for part in reversed(name.lstrip("~").split(".")[1:-1]):
        before = part.replace("()", "").replace("[]", "")
        silent = before in BESIDES or before in OF_VERSIONS or before.endswith(("Api", "API"))
        if not before.isidentifier() or before == last or silent or not (bare or before[:1].isupper()):
            break
        path.insert(0, before)
        if part != before or len(path) == MOST_BEFORE:
            break
    return identifier(".".join((*path, last)))


def _constants(values: Iterable[Value]) -> tuple[str, ...]:
    """Return the first constants that a call gets by itself, in a list or in its options, if they say something."""
    texts = (one.exact for one in _leaves(values))
    known = islice((one for one in texts if one is not None and 0 < len(one) <= LONGEST), MOST_KEPT)
    return tuple(islice((one for one in known if _says(one)), MOST_CONSTANTS))


def _says(constant: str) -> bool:
    return SAYS.search(constant) is not None and NOISE.fullmatch(constant) is None


def _leaves(values: Iterable[Value]) -> Iterator[Value]:
    for one in values:
        if one.fields is not None:
            yield from (value for key, value in one.fields.items() if value.texts and SECRETIVE.search(key) is None)
        else:
            yield one
            yield from one.items or ()
