"""Follows the calls of a program without running it, for Python and JavaScript.

A walker goes through the syntax and asks here what a call gives. `Machine.call` tries, in this order: a function of the
program itself, a class of its own, a function of ours that knows what this one does (`specials`), a method of a known
text or list, and last the vocabulary, which makes acts of the name alone. Of

    def clean(folder):
        shutil.rmtree(folder)

    clean("/home/ann")

`clean` is a function of the program: `follow` binds `folder` in a new scope and has the walker go through the body
(`enter`). There `shutil.rmtree` is called, of which the vocabulary says that it deletes: `apply` adds the act to the
trail. What the body returns is kept by the arguments, so that the same call is followed once. A function that calls
itself, or is called with ever new arguments, is left for later and followed with all of those at once (`Later`). What
nobody has called in the end is followed with nothing known (`leftovers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

from runner.model.expression import expression
from runner.risk.model import fold
from runner.risk.model.acts import DEEDS, NOT_REACHED, OF_PLACES, OFFLINE, TEST_ROWS, WAY_BACK, Place, Source
from runner.risk.model.bounds import CUT, CUT_OFF, bounded, excerpt, is_beyond
from runner.risk.model.held import found_in
from runner.risk.model.outline_data import words
from runner.risk.model.value import (
    HOLE,
    NO_LABELS,
    UNKNOWN,
    Class,
    Function,
    Scope,
    Value,
    either,
    is_absent,
    labels_of,
    text,
)
from runner.risk.rules.vocabulary import picked
from runner.risk.trace.by_verb import note_by_verb
from runner.risk.trace.clients import asks_to_send, files_by_name, is_by_keys, makes_client, note_by_client, note_client
from runner.risk.trace.everything import CHOOSING, choice, given
from runner.risk.trace.giving_back import answered, kept
from runner.risk.trace.members import note_handed, note_member
from runner.risk.trace.remote import note_asked, note_verb
from runner.risk.trace.shown import from_outside, note_shown, secrets
from runner.risk.trace.things import standing_for
from runner.risk.trace.unknown import library_of
from runner.risk.trace.values import by_name, dunder, each_of, member_of, merged
from runner.risk.trace.world import FollowedProgram, World

if TYPE_CHECKING:
    from runner.risk.model.acts import Trail
    from runner.risk.rules.vocabulary import Meaning, Vocabulary

DEEPEST = 170
"""Levels of nesting that are followed, inlined calls included. Each costs up to three Python frames."""

MOST_CALLS = 40
"""Different argument lists with which one function is followed at once; the rest are put together, for later."""
MOST_TURNS_IN_ALL = 20_000
"""Turns of all loops that are followed one by one; of further ones the body is followed once."""
MOST_DELETED = 60
"""Paths in one list that are deleted, of which each is looked at."""
MOST_ROUNDS = 3
"""Times that a function is followed with the rest of its arguments, while following it adds to them."""

MOST_SIMPLE_CALLS = 400
"""As MOST_CALLS, for functions that are a single expression."""

MOCKED = frozenset({"mocked"})
PASSWORDS = frozenset(("password", "passwd", "secret", "totp", "otp"))
"""Attributes of entries of a file in which a person keeps passwords."""
MOST_TOLD = 4
"""Calls of a function that are asked whether they say where a service is."""
FAKE_FILES = "files in memory"
OFFLINE_LIBRARY = "nock."
"""What is among the replaced where a test answers all requests by HTTP itself."""
ANSWERED = frozenset({OFFLINE})
LOST = dict.fromkeys(("replace", "replaceAll", "concat"), CUT_OFF | {"in-memory"})
"""Labels that methods take away by which the address of a database in memory may become another one."""
REQUESTS = frozenset({"send", "fetch"})
NOT_ANSWERED = expression(
    r"(?:net|tls|dgram|dns|http2|ws|WebSocket|undici|nodemailer|puppeteer|playwright|@playwright/|socket\.io|mqtt|ssh2)"
    r"|~?fetch\Z|.{0,200}\.goto\Z"
)
"""What makes requests that a stand-in for HTTP does not see: sockets, browsers, and in some versions `fetch`."""
IN_MEMORY = OF_PLACES - {"discard", "start", "use"}
"""Kinds of acts that are done in memory where files are."""
FAKE_ROWS = "rows that are put back"
"""What a test may put in the place of files, and of the rows of models, while it runs."""
ANSWERS = frozenset(("~res", "~response", "~reply", "~rsp", "~ctx"))
"""What functions that answer requests call what they answer with: it goes to whoever asked."""
VISITORS = frozenset({"input"})
EACH = frozenset(("forEach", "map", "flatMap", "reduce", "eachSeries", "eachLimit", "each"))
"""Methods that call a function for each part of a list."""
CALLERS = EACH | {"then", "catch", "finally", "setTimeout", "setInterval", "setImmediate", "nextTick", "submit"}
"""Functions that call what they are given, some time."""
CALL_WITH = words(
    "map filter max min sorted sort starmap imap imap_unordered apply apply_async map_async starmap_async accumulate "
    "takewhile dropwhile groupby filterfalse reduce partial partialmethod submit callback push enter_async_context "
    "register addCleanup addClassCleanup addfinalizer finalize run_in_executor to_thread call_soon call_later call_at "
    "call_soon_threadsafe Thread Process Timer start_new_thread defer delay apply_along_axis applymap transform pipe "
    "call partialFunction bind enter spawn run_sync start_soon from mapValues pmap find some every filter sortBy "
    "addEventListener on once"
)
"""Functions that call what they are given with what follows, or with what they are called on."""
OF_HTTP = frozenset(("get", "post", "put", "patch", "delete", "all"))
"""Methods of servers that are called like those of HTTP."""
OF_REQUEST = OF_HTTP | {"head", "options"}
BUFFERS = words("io.StringIO() io.BytesIO() StringIO() BytesIO()")
CLIENTS = ("requests.", "httpx.")
"""Libraries of clients of which each method of HTTP calls `request` of the same object."""
ROUTES = OF_HTTP | {"route", "api_route", "handle", "on"}
"""Methods of servers that take the function which answers requests for a path."""
TOOLS = frozenset(("tool", "registerTool", "addTool"))
"""Methods of an MCP server that take the function which a model calls."""
BACK_AND_FORTH = {"down": "up", "downgrade": "upgrade"}
"""What functions are called that take a change back, and those that make it."""
SET_UP = ("setUp", "setUpClass", "asyncSetUp", "setup_method", "setup_class", "setup")
"""Methods that run before each of the others."""
RUNNERS = frozenset(["eval", "exec", "Function"])
"""Functions that run a text as code."""


MOST_COMPARED = 200
"""Parts of a list by which two are told from each other; longer ones are never taken for the same."""


SLICES = frozenset(("slice", "substring", "substr"))
ASKS = frozenset(("send", "fetch", "configure"))
"""Kinds of acts by which services elsewhere are asked for something."""
SAYS_NOTHING = frozenset(("query", "database", "member", "console", "store"))
"""Kinds of acts that do not say what becomes of what a call is given."""


def _for_good(mocked: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is replaced also where a test may be over when a function runs: libraries as a whole."""
    return tuple(one for one in mocked if one.endswith("."))


class TooDeep(Exception):
    """The code is nested more deeply than the classifier follows."""


Special = Callable[["Machine", Value, list[Value], dict[str, Value], Place], Value | None]


class SyntaxWalker(FollowedProgram, Protocol):
    """What the machine asks the walker of a language, which alone knows the syntax."""

    constructor: str
    """The method that an object of a class is made by."""
    specials: Mapping[str, Special]
    """Functions of ours that know what functions of the language or its libraries do, by the names of those."""
    harming: frozenset[str]
    """Modules whose functions delete, replace or start whatever they are given."""
    keepers: frozenset[str]
    """What keeps the functions that it is given, and does not call them."""

    def enter(self, function: Function) -> None:
        """Go through the body of a function, whose parameters have their values; note what it returns."""

    def runs_later(self, function: Function) -> bool:
        """Return whether the body runs some time after the call: it is asynchronous, or a generator."""

    def method(self, owner: Value, name: str, args: list[Value], place: Place) -> Value | None:
        """Return the result of a pure method of known texts and lists; None for any other."""

    def filled(self, function: Function, args: list[Value]) -> list[Value]:
        """Return the arguments of a call, with those that a language makes up where too few are given."""

    def unbound(self, parameter: str, labels: frozenset[str]) -> Value:
        """Return the value of a parameter that gets none: what a program calls by itself nobody knows."""

    def answer_place(self, function: Function, place: Place) -> Place:
        """Return where a function that was handed over at `place` answers."""


class Machine:
    """Follows one program: where it stands, and what its calls do. A walker goes through its syntax and holds this."""

    def __init__(self, walker: SyntaxWalker, vocabulary: Vocabulary, trail: Trail, nested: World) -> None:
        self.walker = walker
        self.language = walker.language
        self.specials = walker.specials
        self.constructor = walker.constructor
        self.harming = walker.harming
        self.keepers = walker.keepers
        self.vocabulary = vocabulary
        self.trail = trail
        self.nested = nested
        self.budget = trail.budget
        self.scope = Scope()
        self.branches = 0
        """How many branches deep the program is: what is assigned there may not be."""
        self.functions: list[Function] = []
        """Those that the program defines, in their order."""
        self.depth = 0
        self.following: list[Function] = []
        """The functions that are being followed, the innermost last."""
        self.returned: list[list[Value]] = []
        """What each of the functions returns that are being followed, the innermost last."""
        self.has_arguments = False
        """Whether the program itself looks at the arguments that it gets, or changes them."""
        self.mocked: tuple[str, ...] = ()
        """Functions, or what their names begin with, that a test has replaced where the program stands."""
        self.written = ""
        """The names that a call has in the code for what it is called on and for its first argument, `-` for none."""
        self.direct = False
        """Whether a function is called where the program stands, and not by something that it was given to."""
        self.replaced: dict[str, Value] = {}
        """What the program put into modules in the place of functions that are known here."""
        self.stars: list[str] = []
        """Modules of which all names are imported."""
        self.expected = ""
        """The name that is being declared, while the call is made that gives its value."""
        self.awaits = False
        """Whether the program waits for what the call gives that is being made: what is in memory needs no waiting."""
        self.raised: list[Value] = []
        """What the program has thrown so far."""
        self.variables = nested.variables
        """What the program has put into its environment."""
        self._objects: dict[int, Value] = {}
        """One object of each class whose methods nobody calls, by the class."""
        self._around = 1
        """Turns of the loops around what is looked at, multiplied, of loops that are followed turn by turn."""
        self._turns = MOST_TURNS_IN_ALL
        self._later: dict[int, Later] = {}
        """Calls that were not followed where they stand, by their function."""

    # Names and attributes.

    def assign(self, name: str, value: Value, scope: Scope | None = None) -> None:
        scope = scope or self.scope
        if scope.outer and name in scope.outer:
            scope = scope.top
        if value.unknown or (not value.texts and not value.name.startswith("~")):
            value = value.labelled((f"${name}",)) if value.function is None and value.kind is None else value
        old = scope.names.get(name) if self.branches else None
        if old is not None and old is not value:
            value = merged(old, value)
        scope.names[name] = value

    def attribute(self, owner: Value, name: str, extra: frozenset[str] = NO_LABELS) -> Value:
        """Return `owner.name`, of whatever the owner may be."""
        found = self._attribute(owner, name, extra)
        if name in PASSWORDS and owner.fields is None and self._is_of_safe(owner):
            found = found.labelled((Source.SECRET,))
        if not owner.others:
            return found
        return either((found, *(self._attribute(one, name, extra) for one in owner.others)))

    def _is_of_safe(self, owner: Value) -> bool:
        """Return whether an object was made by a library that was given a file of the person's."""
        acts = (act for act in self.trail.acts if act.kind == "hand" and act.get("paths").items)
        return any(owner.name.startswith(f"{act.name}()") for act in acts)

    def _attribute(self, owner: Value, name: str, extra: frozenset[str]) -> Value:
        if owner.fields is not None and (found := owner.fields.get(name)) is not None:
            if found.function is not None and found.function.getter:
                return self.follow(found.function, [], {}, owner)
            return found if not extra else found.labelled(extra)
        if owner.kind is not None and (found := member_of(owner.kind, name)) is not None:
            bound = found
            if found.function is not None and found.function.getter and owner.fields is not None:
                return self.follow(found.function, [], {}, owner)
            if found.function is not None and owner.fields is not None:
                bound = Value(name=found.name, labels=found.labels | extra)
                bound.function, bound.owner, bound.attribute = found.function, owner, name
            return bound
        return by_name(self.vocabulary, owner, name, extra)

    # Calls.

    def call(self, called: Value, args: list[Value], named: dict[str, Value], place: Place) -> Value:
        """Return what calling `called` gives, whatever that may refer to; what it does goes to the trail."""
        if not called.others:
            return self._call(called, args, named, place)
        if CUT in called.labels:
            self.trail.cut_off("Looks at no more than some of the functions that it may call.")
        return either([self._call(one, args, named, place) for one in (called, *called.others)])

    def _call(self, called: Value, args: list[Value], named: dict[str, Value], place: Place) -> Value:
        self.budget.spend(2)
        function = called.function
        if function is not None:
            owner = called.owner if called.owner is not None and function.self_name else None
            self.trail.followed.setdefault(function.name)
            return self.follow(function, self.walker.filled(function, args), named, owner)
        if called.kind is not None and called.fields is None:
            return self._instance(called, args, named)
        if (own := dunder(called, "__call__")) is not None:
            return self.call(own, args, named, place)
        if called.owner is not None and (made := self._by_class(called, called.owner, args, named, place)) is not None:
            return made
        name = called.name
        special = self.special(name) if name else None
        if special is not None and (made := special(self, called, args, named, place)) is not None:
            return self.weighed(made)
        owner = called.owner
        if called.attribute in CHOOSING:
            choice(self.trail, [*args, owner or called], place)
        if (
            called.attribute
            and owner is not None
            and (owner.texts or owner.items is not None or owner.fields is not None or owner.number is not None)
            and not (owner.name.endswith("()") and self.vocabulary.knows(name.replace("()", "")))
        ) and (made := self.walker.method(owner, called.attribute, args, place)) is not None:
            return self.weighed(made)
        labels = answered(called.labels, name) if called.labels and called.owner is not None else called.labels
        given_values, given_labels = (*args, *named.values()), NO_LABELS
        if given_values:
            given_labels = labels_of(given_values)
            labels |= kept(given_labels, name)
        labels -= secrets(labels) if _is_hint(called, args) else LOST.get(called.attribute, CUT_OFF)
        result = Value(name=f"{name}()" if name and len(name) < 110 else name, labels=labels)
        meanings = self.vocabulary.of(name)
        for meaning in meanings:
            result = self.apply(meaning.act, meaning, called, args, named, place, result)
        found = bool(called.labels) and note_member(self.trail, called, meanings, place)
        if not found and (all(map(_only_names, meanings)) or is_by_keys(name, args)):
            result = result.labelled(self._unknown(called, args, named, place))
        if given_values and name and all(meaning.act in SAYS_NOTHING or meaning.stands_for for meaning in meanings):
            self.nested.handed(name, given_values, given_labels, place, python=self.language == "python")
        self.callbacks(called, args, named, result, place)
        return result

    def _unknown(
        self, called: Value, args: Sequence[Value], named: Mapping[str, Value], place: Place
    ) -> frozenset[str]:
        """Note a call of which nothing is known but its name; return labels for what it gives."""
        name = called.name
        self.trail.called.add(name)
        calls = [] if self.mocked and self.is_mocked(name) else self.trail.given.setdefault(name, [])
        calls.append((*args, *named.values()))
        self.trail.called_at.setdefault(name, self.trail.place or place)
        python = self.language == "python"
        library = library_of(name, self.trail, python=python) if "." in name or not python else ""
        if not python and library and len(calls) <= MOST_TOLD:
            note_client(self.trail, name, args, library, known=self.vocabulary.has_library(name))
        module = self._picked_from(name) if name[-1:] == "]" else name if self._is_harming(name) else ""
        if module:
            self.trail.add("enumerated", name, {"of": text(module), "how": text("computed")}, place, called.labels)
        if "." in name and library:
            before = len(self.trail.acts)
            note_verb(self.trail, called, args, named, library, place, self.written)
            if python and not self.mocked:
                return note_by_verb(self.trail, self.nested, called, (*args, *named.values()), place)
            if not python and len(self.trail.acts) == before and not any(map(_only_names, self.vocabulary.of(name))):
                note_by_client(self.trail, called, args, library, place, awaited=self.awaits)
                for act in files_by_name(self.trail, called, args, library, place):
                    self.nested.done(act)
        return NO_LABELS

    def _picked_from(self, name: str) -> str:
        """Return the module that does harm and of which a function is called by a name that nobody knows, or ''."""
        before, _, last = name.rpartition("[]")
        return before if not last and before in self.harming else ""

    def _is_harming(self, name: str) -> bool:
        """Return whether it is a function of a module that is not known, called like one that does harm."""
        before, _, last = name.rpartition(".")
        return before == "require()" and any(self.vocabulary.knows(f"{module}.{last}") for module in self.harming)

    def caught(self, before: int) -> Value:
        """Return what a handler catches: what was thrown since `before` were, or what was thrown lately at all."""
        return either(self.raised[before:] or self.raised)

    @contextmanager
    def turn_by_turn(self, turns: int) -> Iterator[bool]:
        """While a loop is followed, once or as often as it turns: tell which, by what its turns cost with those around.

        What counts is what code does, and for that a loop is followed once, with whatever it meets. Turn by turn it is
        followed where a text may grow: a picture of a thousand lines is none.
        """
        around = self._around
        one_by_one = around * turns <= fold.MOST_TURNS and turns <= self._turns
        if one_by_one:
            self._around, self._turns = around * max(turns, 1), self._turns - turns
        try:
            yield one_by_one
        finally:
            self._around = around

    def weighed(self, made: Value) -> Value:
        """`made`, paid for by its size: long texts and lists cost more than the step that makes them."""
        if made.texts or made.items:
            self.budget.spend((len(made.text) >> 6) + (len(made.items or ()) >> 2))
        return made

    def special(self, name: str) -> Special | None:
        """Return the function of ours that knows what `name` does, whatever it is called on."""
        found = self.specials.get(name)
        called = ")." in name or "]." in name
        return self.specials.get(name.replace("()", "").replace("[]", "")) if found is None and called else found

    def apply(
        self,
        act: str,
        meaning: Meaning,
        called: Value,
        args: list[Value],
        named: dict[str, Value],
        place: Place,
        result: Value,
    ) -> Value:
        """Do one meaning of a call: write the act down and label the result."""
        owner = called.owner if called.owner is not None or called.fields is None else called
        if act:
            fields = {key: picked(where, owner, args, named) for key, where in meaning.fields}
            if meaning.needs and is_absent(fields[meaning.needs]):
                return result
            if meaning.unless and not is_absent(picked(meaning.unless, owner, args, named)):
                return result
            if act == "print":
                note_shown(self.trail, called.name, from_outside(labels_of(fields.values())), place)
                return result
            result = self._done(act, called, args, named, fields, place, result)
        if meaning.gives:
            result = result.labelled(given(meaning.gives, args, named))
        if meaning.keeps:
            fields = dict(result.fields or {})
            for key, where in meaning.keeps:
                fields[key] = picked(where, owner, args, named)
            kept = Value(result.texts, result.name, result.labels, fields=fields)
            if "text" in fields:
                kept.texts = fields["text"].texts
            result = kept
        if meaning.stands_for:
            result = standing_for(result, meaning.stands_for, owner, args, named)
        if meaning.becomes:
            result = Value(result.texts, meaning.becomes, result.labels, result.items, result.fields)
        return result

    def _done(
        self,
        act: str,
        called: Value,
        args: list[Value],
        named: dict[str, Value],
        fields: dict[str, Value],
        place: Place,
        result: Value,
    ) -> Value:
        """Write an act down; return what the call gives with the labels that follow from it."""
        if act == "send" and called.attribute == "send" and called.name.partition(".")[0] in ANSWERS:
            act = "answer"
        note_given(act, called.name, args, named, fields)
        if act == "destroy" and self.written:
            fields["as"] = text(self.written)
        labels = called.labels
        if act in ("destroy", "configure") and is_tried(called.name, args, named) and self._is_written_as_tried():
            act, fields = "mention", {"tried": text("DryRun")}
        elif act in ("destroy", "configure") and makes_client(act, called.name):
            act = "mention"
        if self.mocked:
            labels = labels | self.stand_in(called.name, act)
            if act in REQUESTS and OFFLINE_LIBRARY in self.mocked and NOT_ANSWERED.match(called.name) is None:
                labels |= ANSWERED
        in_memory = act in IN_MEMORY and FAKE_FILES in self.mocked
        if labels >= MOCKED and (in_memory or self.language == "javascript"):
            act = "mention"  # nothing that lasts; in Python what was kept before is told from it by the rules
        if act == "write" and is_buffer(fields.get("path", UNKNOWN)):
            fields["path"].labels |= labels_of((fields.get("data", UNKNOWN),))
            act = "mention"  # what is in memory is no file
        if act == "fetch" and called.attribute == "goto" and (page := fields["url"]).texts and "://" not in page.text:
            act, fields = "read", {"path": page}  # a file that a browser shows
        if act == "delete":
            fields = self._each_deleted(called.name, fields, place, labels)
        done = self.trail.add(act, called.name, fields, place, labels)
        if act in ASKS:
            note_asked(self.trail, done, args, named, place)
        return result.labelled(self.nested.done(done))

    def _is_written_as_tried(self) -> bool:
        """Return whether nothing in a program of JavaScript may take `DryRun` back from what it has put together."""
        return self.language != "javascript" or not found_in(getattr(self.walker, "written", ""), TAKES_BACK)

    def _each_deleted(
        self, name: str, fields: dict[str, Value], place: Place, labels: frozenset[str]
    ) -> dict[str, Value]:
        """Note all but the last of a list of paths that are deleted at once; return the fields of the last.

        A pattern behind `!` is left.
        """
        items = fields["path"].items if "path" in fields else None
        paths = [one for one in items or () if one.text[:1] != "!"]
        if not items or not paths:
            return fields
        spared = [text(one.text[1:]) for one in items if one.text[:1] == "!"]
        for one in bounded(self.trail, paths, MOST_DELETED, "paths that are deleted at once"):
            made = {**fields, "path": one, **({"spares": Value(items=spared)} if spared else {})}
            if one is paths[-1] or len(paths) == 1:
                return made
            self.nested.done(self.trail.add("delete", name, made, place, labels))
        return made

    def _each_time(self, called: Value, function: Value, labels: frozenset[str]) -> Value:
        """Follow a function that a call was given, for some calls again and again."""
        assert function.function is not None
        with self.trail.again() if called.attribute in EACH else nullcontext():
            return self.follow(function.function, [], {}, function.owner, labels)

    def is_mocked(self, name: str) -> bool:
        """Return whether a test has replaced the function."""
        plain = name.replace("()", "")
        return any(
            plain == one or plain.startswith(one if one[-1:] == "." else f"{one}.") or one.endswith(f".{plain}")
            for one in self.mocked
        )

    def stand_in(self, name: str, act: str = "") -> frozenset[str]:
        """Return the labels of what does nothing that lasts: a test has replaced it, or what it is done to."""
        if FAKE_FILES in self.mocked and act in IN_MEMORY and self.trail.place is None:
            return MOCKED
        if FAKE_ROWS in self.mocked and act in ("destroy", "query") and ".objects" in name:
            return MOCKED | TEST_ROWS
        return MOCKED if self.mocked and self.is_mocked(name) else NO_LABELS

    def callbacks(
        self, called: Value, args: Sequence[Value], named: Mapping[str, Value], result: Value, place: Place
    ) -> None:
        """Functions handed to a call are called some time, with something that comes from it."""
        self._declare(args, result)
        given = called.owner if called.owner is not None else UNKNOWN
        handed = [one for value in (*args, *named.values()) for one in (value, *value.others)]
        for value in handed:
            if value.function is not None and called.attribute == "then" and not given.unknown:
                self.follow(value.function, [given.labelled(result.labels)], {}, value.owner)
            elif value.function is not None:
                if given.items is not None:
                    met = [each_of(given)] * len(value.function.parameters)
                    self.follow(value.function, met, {}, value.owner)
                else:
                    answering = answers(called.name, args)
                    # JavaScript hands over a request, whose parts are known by their names.
                    sent = VISITORS if answering and self.language == "python" else NO_LABELS
                    made = self._each_time(called, value, result.labels | given.labels | sent)
                    if answering and labels_of((made,)):
                        where = self.walker.answer_place(value.function, place)
                        self.trail.add("answer", called.name, {"data": made}, where)
        if called.attribute in CALLERS or called.name in CALLERS:
            note_handed(self.trail, args, place)
        if called.name in self.keepers:
            return
        for at, value in enumerate(args):
            if value.function is None and value.name and (self._acts(called, value) or value.name in RUNNERS):
                self._handed(called, value, args[at + 1 :], result)
        for value in named.values():
            if value.function is None and value.name and self._acts(called, value):
                self._handed(called, value, args, result)

    def _acts(self, called: Value, handed: Value) -> bool:
        """Return whether what is handed to a call is a function whose meaning is known.

        A method, as in `connection.run_sync(metadata.drop_all)`, only where it is sure to be called.
        """
        if self.vocabulary.knows(handed.name):
            return True
        calls = called.attribute in CALLERS or called.attribute in CALL_WITH or called.name in CALL_WITH
        return bool(handed.attribute) and calls and any(one.act for one in self.vocabulary.of(handed.name))

    def _declare(self, args: Sequence[Value], result: Value) -> None:
        """Let the name that is being declared stand for what its call gives, before what the call is given is followed.

        That runs later: `const s = connect(() => s.write(...))`.
        """
        name, self.expected = self.expected, ""
        if name and any(arg.function is not None for arg in args):
            self.assign(name, result)

    def _handed(self, called: Value, function: Value, rest: Sequence[Value], result: Value) -> None:
        """A function of the language's own, given away together with what it will be called with."""
        owner = called.owner if called.owner is not None else UNKNOWN
        last = called.name.removesuffix("()").rpartition(".")[2]
        if not (last in CALLERS or last in CALL_WITH):
            with self.trail.assumed():
                self._call_with(function, owner, rest, result)
        else:
            self._call_with(function, owner, rest, result)

    def _call_with(self, function: Value, owner: Value, rest: Sequence[Value], result: Value) -> None:
        given = list(rest)
        if not given:
            given = [(each_of(owner) if owner.items is not None else owner).labelled(result.labels)]
        self.call(function, given, {}, (1, 0, 1, 0))
        if any(value.items for value in given):
            # Arguments in a list, or a list of which each gets its turn.
            self.call(function, [each_of(value) if value.items else value for value in given], {}, (1, 0, 1, 0))

    def _instance(self, called: Value, args: list[Value], named: dict[str, Value]) -> Value:
        kind = called.kind
        assert kind is not None
        made = Value(fields={}, labels=NO_LABELS)
        made.kind = kind
        kind.objects.append(made)
        start = member_of(kind, self.constructor)
        if start is not None and start.function is not None:
            self.follow(start.function, args, named, made)
        elif kind.parts:
            made.fields = {**dict(zip(kind.parts, args, strict=False)), **named}
        elif kind.bases and kind.bases[0].kind is None and kind.bases[0].name:
            base = self.call(kind.bases[0], args, named, (1, 0, 1, 0))
            made.labels = base.labels
        return made

    def _by_class(
        self, called: Value, owner: Value, args: list[Value], named: dict[str, Value], place: Place
    ) -> Value | None:
        """Return what a method gives that a class of the program has from one of a library; None for any other."""
        if owner.fields is None or owner.texts:
            return None
        if called.attribute == "__init__":  # what the class of the library keeps, the object has too
            base = called.name.removesuffix(".__init__").removesuffix("()")
            if base:
                owner.fields.update(self.call(Value(name=base), args, named, place).fields or {})
            return UNKNOWN
        if called.attribute in OF_REQUEST and (own := asked_by(called)) is not None:
            return self.call(own, [text(called.attribute.upper()), *args], named, place)
        return None

    def follow(
        self,
        function: Function,
        args: Sequence[Value],
        named: Mapping[str, Value],
        owner: Value | None = None,
        labels: frozenset[str] = NO_LABELS,
    ) -> Value:
        """Go through the body of `function` with these arguments; what it returns.

        `labels` are those of arguments that are not known any further.
        """
        function.called = True
        self.budget.spend(3)
        key = (
            id(owner.fields) if owner is not None else 0,
            *map(_signature, args),
            *((k, _signature(v)) for k, v in named.items()),
            labels,
            self.trail.folder.texts if self.trail.folder is not None else None,
            self.mocked,
            NOT_REACHED in self.trail.around or WAY_BACK in self.trail.around,
        )
        if (known := function.results.get(key)) is not None:
            return known
        if function.active or len(function.results) >= (
            MOST_SIMPLE_CALLS if function.simple or function.short else MOST_CALLS
        ):
            later = self._later.setdefault(id(function), Later(function))
            later.calls.append((args, named, owner, labels))
            unresolved = {"unresolved"} if any(arg.texts for arg in args) else NO_LABELS
            return Value(labels=labels_of(args) | labels_of(named.values()) | unresolved)
        return self._through(function, args, named, owner, labels, key)

    def _through(
        self,
        function: Function,
        args: Sequence[Value],
        named: Mapping[str, Value],
        owner: Value | None,
        labels: frozenset[str],
        key: object,
    ) -> Value:
        outside = self.scope, self.branches, self.mocked
        self.scope, self.branches = Scope(function.scope), 0
        if self.mocked and not (self.direct and not self.walker.runs_later(function)):
            self.mocked = _for_good(self.mocked)
        if function.mocked:
            self.mocked += _for_good(function.mocked) if self.walker.runs_later(function) else function.mocked
        self.direct = False
        self.depth += 1
        function.active = True
        self.following.append(function)
        self.returned.append([])
        try:
            if self.depth > DEEPEST:
                raise TooDeep
            self._bind(function, args, named, owner, labels)
            self.walker.enter(function)
        finally:
            function.active = False
            self.depth -= 1
            self.scope, self.branches, self.mocked = outside
            self.following.pop()
            returned = self.returned.pop()
        result = either(returned)
        if key is not None:
            function.results[key] = result
        if function.reduces and result.items and len(result.items) > 1:
            self.trail.add("reduce", result.items[0].name, {"function": result.items[0]}, (1, 0, 1, 0))
            self.call(result.items[0], result.items[1].items or [], {}, (1, 0, 1, 0))
        return result

    def _bind(
        self,
        function: Function,
        args: Sequence[Value],
        named: Mapping[str, Value],
        owner: Value | None,
        labels: frozenset[str],
    ) -> None:
        names = self.scope.names
        if self.language == "javascript":
            names["arguments"] = Value(items=list(args))
        parameters = function.parameters
        if function.self_name:
            names[function.self_name] = owner if owner is not None else UNKNOWN
        for i, parameter in enumerate((*parameters, *function.by_name)):
            if i < min(len(args), len(parameters)):
                value = args[i]
            elif parameter in named:
                value = named[parameter]
            elif parameter in function.defaults:
                value = function.defaults[parameter]
            else:
                value = self.walker.unbound(parameter, labels)
            if value.unknown or (value.name and not value.texts):
                value = value.labelled((f"${parameter}",)) if value.function is None and value.kind is None else value
            names[parameter] = value
        if function.rest:
            names[function.rest] = Value(items=list(args[len(parameters) :]))

    def leftovers(self) -> None:
        """Follow each function that was not called once, with unknown arguments."""
        # Tests call functions with what is only a trial.
        self.functions.sort(key=lambda one: not one.name.startswith("test"))
        done = 0
        while done < len(self.functions):
            function = self.functions[done]
            done += 1
            if not function.called:
                owner = None if function.of is None else self._made_before(function.of)
                with self.trail.around_with(WAY_BACK) if self._takes_back(function) else nullcontext():
                    self.follow(function, [], {}, owner)
        self._follow_later()

    def _takes_back(self, function: Function) -> bool:
        """Return whether a function that nothing calls is beside one that it takes back: `upgrade` and `downgrade`."""
        forth = BACK_AND_FORTH.get(function.name)
        return forth is not None and any(one.name == forth and one.of is function.of for one in self.functions)

    def _follow_later(self) -> None:
        """Follow the calls that were not followed where they stand, those of each function all at once."""
        for _ in range(MOST_ROUNDS):
            waiting = [one for one in self._later.values() if one.calls]
            for later in waiting:
                self._follow_joined(later)
        for later in self._later.values():
            if later.calls and not later.adds_nothing():
                name = excerpt(later.function.name, 40) or "a function"
                self.trail.cut_off(f"Does not follow every call of {name}.", grave=later.acts)

    def _follow_joined(self, later: Later) -> None:
        if later.adds_nothing():
            return
        later.join()
        start = len(self.trail.acts)
        what = f"objects of which {excerpt(later.function.name, 40) or 'a function'} is called"
        for owner in bounded(self.trail, later.owners, MOST_CALLS, what, grave=False):
            self._through(later.function, later.args, later.named, owner, later.labels, None)
        later.acts = later.acts or any(one.kind in DEEDS for one in self.trail.acts[start:])
        if later.acts:
            is_beyond(self.trail, later.owners, MOST_CALLS, what)

    def _made_before(self, kind: Class) -> Value | None:
        """Return the object that a method which nobody calls is called on; None where nothing is known of it."""
        if id(kind) not in self._objects:
            if objects := [*kind.made()]:
                # What the language calls by itself it calls on one of these.
                self._objects[id(kind)] = _any_of(kind, objects)
                return self._objects[id(kind)]
            made = Value(fields={})
            made.kind = kind
            self._objects[id(kind)] = made
            for name in (self.constructor, *SET_UP):
                start = kind.members.get(name)
                if start is not None and start.function is not None and start.function.self_name:
                    self.follow(start.function, [], {}, made)
        made = self._objects[id(kind)]
        return made if made.fields or any(kind.made()) else None


def _only_names(meaning: Meaning) -> bool:
    """Return whether all that is known of a call is what its result stands for."""
    return bool(meaning.stands_for) and not meaning.act


def note_given(
    act: str, name: str, args: Sequence[Value], named: Mapping[str, Value], fields: dict[str, Value]
) -> None:
    """Note with what a service is asked for something."""
    if act == "destroy" and named:
        fields["given"] = Value(fields=dict(named))
    elif act == "configure":
        fields["with"] = Value(items=list(args), fields=dict(named))
    elif act == "send" and (many := asks_to_send(name, args)) is not None:
        fields["how"] = text("message")
        fields["many"] = many
    elif act == "send" and only_asks(name, args):
        fields["asks"] = text("yes")


def is_tried(name: str, args: Sequence[Value], named: Mapping[str, Value]) -> bool:
    """Return whether a call only asks a cloud whether it would do something: `DryRun=True` of AWS."""
    if not name.startswith(("boto3.", "aioboto3.", "@aws-sdk/", "aws-sdk")):
        return False
    given = [named.get("DryRun", UNKNOWN), *((one.fields or {}).get("DryRun", UNKNOWN) for one in args)]
    return any(one.name in ("True", "true") for one in given)


CHANGES_OBJECTS = (
    r"\bdelete\b|\b(?:assign|merge\w*|extend|defaults\w*|Reflect|defineProperty|Proxy|eval|Function|"
    r"setPrototypeOf|with)\b"
)
"""Ways in which a program of JavaScript may change later what it has put together."""
TAKES_BACK = expression(
    rf"{CHANGES_OBJECTS}|\.\.\.|\bDryRun\b(?!['\"]?\s{{0,9}}:\s{{0,9}}true\b)|\[\s{{0,9}}\w{{1,60}}\s{{0,9}}\]\s{{0,9}}="
)
"""Ways in which it may say something else than that a call is only tried."""


ASKING = words("get head options fetch")
BODIES = words("body data json form formData searchParams params method ?")


def only_asks(name: str, args: Sequence[Value]) -> bool:
    """Return whether a request of JavaScript takes something only: it has no body, and its method is GET or HEAD."""
    if name.rpartition(".")[2] not in ASKING or not args or args[0].fields is not None or len(args) > 2:
        return False
    if args[0].texts or secrets(labels_of(args[:1])):
        return False  # something may be carried in an address that is put together
    options = args[1] if len(args) == 2 else Value(fields={})
    return options.fields is not None and (BODIES.isdisjoint(options.fields) or _is_get(options.fields))


def _is_get(options: Mapping[str, Value]) -> bool:
    rest = BODIES - {"method"}
    return (
        rest.isdisjoint(options) and options["method"].exact is not None and options["method"].text in ("GET", "HEAD")
    )


def is_buffer(path: Value) -> bool:
    """Return whether something that is written to is a buffer in memory, and no path."""
    return path.name in BUFFERS and not path.texts


def asked_by(called: Value) -> Value | None:
    """Return the method of a class of the program by which a client of HTTP, which it is, asks for everything."""
    if called.owner is None or called.owner.kind is None or not called.name.startswith(CLIENTS):
        return None
    found = member_of(called.owner.kind, "request")
    if found is None or found.function is None or found.function.active:
        return None
    bound = Value(name=found.name)
    bound.function, bound.owner, bound.attribute = found.function, called.owner, "request"
    return bound


def answers(name: str, args: Sequence[Value]) -> bool:
    """Return whether a call has a function answer requests of visitors: `app.get("/x", f)`, `@app.get("/x")`."""
    if "mcp" in name.lower() and name.removesuffix("()").rpartition(".")[2] in TOOLS:
        return True
    if name.endswith("()"):
        return name[:-2].rpartition(".")[2] in ROUTES
    return name.rpartition(".")[2] in ROUTES and bool(args) and args[0].text.startswith("/")


def _is_hint(called: Value, args: list[Value]) -> bool:
    """Return whether a call gives a few characters of what it is called on: `key.slice(0, 4)`."""
    return called.attribute in SLICES and fold.is_hint(*[*args, UNKNOWN, UNKNOWN][:2])


def _any_of(kind: Class, objects: Sequence[Value]) -> Value:
    """Return an object that is any of some of a class; of objects inside of them the first one stands for all."""
    if len(objects) == 1:
        return objects[0]
    met: dict[str, list[Value]] = {}
    for one in objects:
        for name, value in (one.fields or {}).items():
            known = met.setdefault(name, [])
            if value.fields is None or all(other.fields is None for other in known):
                known.append(value)
    made = Value(labels=labels_of(objects, 0), fields={name: either(values) for name, values in met.items()})
    made.kind = kind
    return made


def _of_items(items: list[Value]) -> object:
    if len(items) > MOST_COMPARED:
        return id(items), len(items)
    return tuple((item.texts, item.name, item.number) for item in items)


class Later:
    """The calls of one function that are followed together, with whatever each argument may be."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.calls: list[tuple[Sequence[Value], Mapping[str, Value], Value | None, frozenset[str]]] = []
        """Those that are not part of the joined ones."""
        self.args: list[Value] = []
        self.named: dict[str, Value] = {}
        self.owners: list[Value | None] = []
        self.labels = NO_LABELS
        self.acts = False
        """Whether following it did more than to look."""

    def join(self) -> None:
        """Put the calls that are left to the others."""
        most = max(len(args) for args, _, _, _ in self.calls)
        for at in range(max(most, len(self.args))):
            met = [args[at] for args, _, _, _ in self.calls if at < len(args)]
            if at < len(self.args):
                self.args[at] = either([self.args[at], *met])
            else:
                self.args.append(either(met))
        for name in dict.fromkeys(name for _, named, _, _ in self.calls for name in named):
            met = [named[name] for _, named, _, _ in self.calls if name in named]
            self.named[name] = either([*([self.named[name]] if name in self.named else []), *met])
        for _, _, owner, labels in self.calls:
            if all(owner is not one for one in self.owners):
                self.owners.append(owner)
            self.labels |= labels
        self.calls.clear()

    def adds_nothing(self) -> bool:
        """Return whether what is left is part of what was followed already."""
        return bool(self.owners) and all(self._is_part(*call) for call in self.calls)

    def _is_part(
        self, args: Sequence[Value], named: Mapping[str, Value], owner: Value | None, labels: frozenset[str]
    ) -> bool:
        if len(args) > len(self.args) or not named.keys() <= self.named.keys() or not labels <= self.labels:
            return False
        pairs = [*zip(args, self.args, strict=False), *((one, self.named[name]) for name, one in named.items())]
        return any(owner is one for one in self.owners) and all(_is_within(one, whole) for one, whole in pairs)


class _Covered:
    """Tells whether a text is one of some others, or one of what a text with a hole may be."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._exact = frozenset(texts)
        self._open = [(one[: one.find(HOLE)], one[one.rfind(HOLE) + 1 :]) for one in texts if HOLE in one]

    def __call__(self, known: str) -> bool:
        return known in self._exact or any(known.startswith(start) and known.endswith(end) for start, end in self._open)


def _is_within(value: Value, whole: Value) -> bool:
    """Return whether nothing about `value` is new beside `whole`."""
    if not value.labels - CUT_OFF <= whole.labels or not all(map(_Covered(whole.texts), value.texts)):
        return False
    known = {one.refers_to for one in (whole, *whole.others)}
    return value.refers_to in known or (not value.name and value.function is None and value.kind is None)


def _signature(value: Value) -> object:
    function = value.function
    return (
        value.texts,
        value.name,
        value.labels,
        value.number,
        id(function) if function is not None else None,
        id(value.fields) if value.fields is not None else None,
        _of_items(value.items) if value.items else None,
        tuple(one.refers_to for one in value.others),
    )
