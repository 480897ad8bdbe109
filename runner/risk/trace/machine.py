"""Following values through a program without running it: scopes, calls, attributes, for Python and JavaScript alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.risk.model.acts import Place
from runner.risk.model.value import NO_LABELS, UNKNOWN, Value, either, labels_of, reference
from runner.risk.rules.vocabulary import picked

if TYPE_CHECKING:
    from runner.risk.model.acts import Trail
    from runner.risk.rules.vocabulary import Meaning, Vocabulary
    from runner.risk.trace.nested import Nested

DEEPEST = 170
"""Levels of nesting that are followed, inlined calls included. Each costs up to three Python frames."""

MOST_CALLS = 8
"""Different argument lists with which one function is followed."""


OWN_PROGRAMS = {"sys.executable": "python3", "process.execPath": "node", "process.argv0": "node"}
"""Attributes that hold the interpreter itself."""


TEXTS = {
    "string.ascii_lowercase": "abcdefghijklmnopqrstuvwxyz",
    "string.ascii_uppercase": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "string.ascii_letters": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "string.digits": "0123456789",
    "string.hexdigits": "0123456789abcdefABCDEF",
    "os.sep": "/",
    "path.sep": "/",
    "os.linesep": "\n",
    "os.EOL": "\n",
}
NUMBERS = {"stat.S_ISUID": 0o4000, "stat.S_ISGID": 0o2000}
"""Attributes that always hold the same."""

MOST_SIMPLE_CALLS = 400
"""As MOST_CALLS, for functions that are a single expression."""

RUNNERS = frozenset(["eval", "exec", "Function"])
"""Functions that run a text as code."""


class TooDeep(Exception):
    """The code is nested more deeply than the classifier follows."""


class Scope:
    """Names and their values in one function, class or module."""

    __slots__ = ("names", "outer", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.parent = parent
        self.outer: set[str] | None = None
        """Names that belong to the module (`global`)."""

    def get(self, name: str) -> Value | None:
        scope: Scope | None = self
        while scope is not None:
            if (value := scope.names.get(name)) is not None:
                return value
            scope = scope.parent
        return None

    def holder(self, name: str) -> Scope:
        """The scope in which `name` is already known; this one when none is."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope
            scope = scope.parent
        return self

    @property
    def top(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(slots=True, eq=False)
class Function:
    """A function of the program, to be followed where it is called."""

    name: str
    parameters: list[str]
    body: object
    scope: Scope
    defaults: dict[str, Value] = field(default_factory=dict)
    rest: str = ""
    self_name: str = ""
    simple: bool = False
    reduces: bool = False
    """What it returns is a call that unpickling makes (`__reduce__`)."""
    """The body is one expression, whose value is the result."""
    called: bool = False
    active: bool = False
    results: dict[object, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Class:
    name: str
    bases: list[Value]
    members: dict[str, Value]


Special = Callable[["Machine", Value, list[Value], dict[str, Value], Place], Value | None]


class Machine:
    """Follows one program. Subclasses know the syntax of a language and use `call`, `attribute`, `assign` and so on."""

    language = ""
    specials: Mapping[str, Special] = {}
    constructor = "__init__"

    def __init__(self, vocabulary: Vocabulary, trail: Trail, nested: Nested) -> None:
        self.vocabulary = vocabulary
        self.trail = trail
        self.nested = nested
        self.budget = trail.budget
        self.scope = Scope()
        self.functions: list[Function] = []
        self.branches = 0
        self.depth = 0
        self.returned: list[list[Value]] = []
        self.raised: list[Value] = []
        """What the program has thrown so far."""
        self.variables: dict[str, Value] = {}
        """What the program has put into its environment."""

    # What subclasses do with a function's body.

    def enter(self, function: Function) -> None:
        raise NotImplementedError

    def inner(self, code: str) -> Value:
        """Go through code that this program executes itself, in the scope where it does."""
        raise NotImplementedError

    def method(self, owner: Value, name: str, args: list[Value], place: Place) -> Value | None:
        """A pure method of known texts and lists; None when it is not one."""
        raise NotImplementedError

    # Names.

    def assign(self, name: str, value: Value, scope: Scope | None = None) -> None:
        scope = scope or self.scope
        if scope.outer and name in scope.outer:
            scope = scope.top
        if value.unknown or (not value.texts and not value.name.startswith("~")):
            value = value.labelled((f"${name}",)) if value.function is None and value.kind is None else value
        old = scope.names.get(name) if self.branches else None
        if old is not None and old is not value:
            value = self._merged(old, value)
        scope.names[name] = value

    @staticmethod
    def _merged(old: Value, new: Value) -> Value:
        """After a branch either value may stand there; what counts of the old one are its texts and origins."""
        if old.function or old.kind or new.function or new.kind or new.fields is not None or new.items is not None:
            return new.labelled(old.labels)
        if old.texts and new.texts and new.text.startswith(old.text):
            return new.labelled(old.labels)
        if old.texts and old.text and new.texts:
            return either((new, old))
        return new.labelled(old.labels)

    # Parts of values.

    def attribute(self, owner: Value, name: str, extra: frozenset[str] = NO_LABELS) -> Value:
        if owner.fields is not None and (found := owner.fields.get(name)) is not None:
            return found if not extra else found.labelled(extra)
        if owner.kind is not None and (found := self._member(owner.kind, name)) is not None:
            bound = found
            if found.function is not None and owner.fields is not None:
                bound = Value(name=found.name, labels=found.labels | extra)
                bound.function, bound.owner, bound.attribute = found.function, owner, name
            return bound
        base = owner.name
        if not base and owner.kind is not None and owner.kind.bases:
            base = owner.kind.bases[0].name + "()"
        made = Value(
            name=f"{base}.{name}" if len(base) < 100 else base, labels=owner.labels | extra if extra else owner.labels
        )
        if labels := self.vocabulary.attributes.get(made.name.lstrip("~")):
            made = made.labelled(labels)
        made.owner, made.attribute = owner, name
        if (known := TEXTS.get(made.name)) is not None:
            made.texts = (known,)
        made.number = NUMBERS.get(made.name)
        if (program := OWN_PROGRAMS.get(made.name)) is not None:
            made.texts = (program,)
            made.labels |= {"own"}
        return made

    def _member(self, kind: Class, name: str, depth: int = 0) -> Value | None:
        if (found := kind.members.get(name)) is not None:
            return found
        if depth < 8:
            for base in kind.bases:
                if base.kind is not None and (found := self._member(base.kind, name, depth + 1)) is not None:
                    return found
        return None

    def element(self, owner: Value, key: Value) -> Value:
        """`owner[key]`."""
        if owner.items is not None and isinstance(key.number, int):
            if -len(owner.items) <= key.number < len(owner.items):
                return owner.items[key.number]
        elif owner.items is not None and key.number is None and not key.texts:
            return either(owner.items[:60]).labelled(owner.labels)
        if owner.fields is not None:
            if key.texts:
                for known in key.texts:
                    if (found := owner.fields.get(known)) is not None:
                        return found
            elif key.number is not None and (found := owner.fields.get(str(key.number))) is not None:
                return found
            else:
                return either(list(owner.fields.values())[:60]).labelled(owner.labels)
        if owner.texts and isinstance(key.number, int) and owner.exact is not None:
            whole = owner.exact
            if -len(whole) <= key.number < len(whole):
                if owner.binary:
                    return Value(number=ord(whole[key.number]))
                return Value((whole[key.number],), labels=owner.labels)
        labels = owner.labels
        name = f"{owner.name}[]" if owner.name and len(owner.name) < 100 else owner.name
        return Value(name=name, labels=labels)

    def each(self, value: Value) -> Value:
        """What a loop over `value` meets."""
        if value.items is not None:
            return either(value.items[:60]).labelled(value.labels)
        if value.fields is not None and value.kind is None:
            return Value(tuple(list(value.fields)[:12]), labels=value.labels)
        return Value(name=f"{value.name}[]" if value.name and len(value.name) < 100 else "", labels=value.labels)

    def dunder(self, owner: Value, name: str) -> Value | None:
        """A method of a class of the program that the language calls by itself, such as `__add__`."""
        if owner.kind is None or owner.fields is None:
            return None
        found = self._member(owner.kind, name)
        if found is None or found.function is None:
            return None
        bound = found.labelled(())
        if bound is found:
            bound = Value(name=found.name, labels=found.labels)
            bound.function = found.function
        bound.owner, bound.attribute = owner, name
        return bound

    # Calls.

    def call(self, called: Value, args: list[Value], named: dict[str, Value], place: Place) -> Value:
        """What calling `called` gives; what it does goes to the trail."""
        self.budget.spend(2)
        function = called.function
        if function is not None:
            owner = called.owner if called.owner is not None and function.self_name else None
            return self.follow(function, args, named, owner)
        if called.kind is not None and called.fields is None:
            return self._instance(called, args, named)
        if (own := self.dunder(called, "__call__")) is not None:
            return self.call(own, args, named, place)
        name = called.name
        special = self.special(name) if name else None
        if special is not None and (made := special(self, called, args, named, place)) is not None:
            return self.weighed(made)
        owner = called.owner
        if (
            called.attribute
            and owner is not None
            and (owner.texts or owner.items is not None or owner.fields is not None or owner.number is not None)
        ) and (made := self.method(owner, called.attribute, args, place)) is not None:
            return self.weighed(made)
        labels = labels_of(args) | called.labels if args or named else called.labels
        if named:
            labels |= labels_of(named.values())
        result = Value(name=f"{name}()" if name and len(name) < 110 else name, labels=labels)
        for meaning in self.vocabulary.of(name):
            result = self.apply(meaning.act, meaning, called, args, named, place, result)
        self.callbacks(called, args, named, result)
        return result

    def weighed(self, made: Value) -> Value:
        """`made`, paid for by its size: long texts and lists cost more than the step that makes them."""
        if made.texts or made.items:
            self.budget.spend((len(made.text) >> 6) + (len(made.items or ()) >> 2))
        return made

    def special(self, name: str) -> Special | None:
        """The function of ours that knows what `name` does, whatever it is called on."""
        found = self.specials.get(name)
        return self.specials.get(name.replace("()", "").replace("[]", "")) if found is None and ")." in name else found

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
        owner = called.owner
        if act:
            fields = {key: picked(where, owner, args, named) for key, where in meaning.fields}
            done = self.trail.add(act, called.name, fields, place, called.labels)
            result = result.labelled(self.nested.done(done))
        if meaning.gives:
            result = result.labelled(meaning.gives)
        if meaning.keeps:
            fields = dict(result.fields or {})
            for key, where in meaning.keeps:
                fields[key] = picked(where, owner, args, named)
            kept = Value(result.texts, result.name, result.labels, fields=fields)
            if "text" in fields:
                kept.texts = fields["text"].texts
            result = kept
        if meaning.becomes:
            result = Value(result.texts, meaning.becomes, result.labels, result.items, result.fields)
        return result

    def callbacks(self, called: Value, args: Sequence[Value], named: Mapping[str, Value], result: Value) -> None:
        """Functions handed to a call are called some time, with something that comes from it."""
        for value in (*args, *named.values()):
            given = called.owner if called.owner is not None else UNKNOWN
            if value.function is not None and called.attribute == "then" and not given.unknown:
                self.follow(value.function, [given.labelled(result.labels)], {}, value.owner)
            elif value.function is not None:
                if given.items is not None:
                    met = [self.each(given)] * len(value.function.parameters)
                    self.follow(value.function, met, {}, value.owner)
                else:
                    self.follow(value.function, [], {}, value.owner, result.labels | given.labels)
        for at, value in enumerate(args):
            if value.function is None and value.name and (self.vocabulary.knows(value.name) or value.name in RUNNERS):
                self._handed(called, value, args[at + 1 :], result)
        for value in named.values():
            if value.function is None and value.name and self.vocabulary.knows(value.name):
                self._handed(called, value, args, result)

    def _handed(self, called: Value, function: Value, rest: Sequence[Value], result: Value) -> None:
        """A function of the language's own, given away together with what it will be called with."""
        owner = called.owner if called.owner is not None else UNKNOWN
        given = list(rest)
        if not given:
            given = [(self.each(owner) if owner.items is not None else owner).labelled(result.labels)]
        self.call(function, given, {}, (1, 0, 1, 0))
        if any(value.items for value in given):
            # Arguments in a list, or a list of which each gets its turn.
            self.call(function, [self.each(value) if value.items else value for value in given], {}, (1, 0, 1, 0))

    def _instance(self, called: Value, args: list[Value], named: dict[str, Value]) -> Value:
        kind = called.kind
        assert kind is not None
        made = Value(fields={}, labels=NO_LABELS)
        made.kind = kind
        start = self._member(kind, self.constructor)
        if start is not None and start.function is not None:
            self.follow(start.function, args, named, made)
        elif kind.bases and kind.bases[0].kind is None and kind.bases[0].name:
            base = self.call(kind.bases[0], args, named, (1, 0, 1, 0))
            made.labels = base.labels
        return made

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
        )
        if (known := function.results.get(key)) is not None:
            return known
        if function.active or len(function.results) >= (MOST_SIMPLE_CALLS if function.simple else MOST_CALLS):
            unresolved = {"unresolved"} if any(arg.texts for arg in args) else NO_LABELS
            return Value(labels=labels_of(args) | labels_of(named.values()) | unresolved)
        outside = self.scope, self.branches
        self.scope, self.branches = Scope(function.scope), 0
        self.depth += 1
        function.active = True
        self.returned.append([])
        try:
            if self.depth > DEEPEST:
                raise TooDeep
            self._bind(function, args, named, owner, labels)
            self.enter(function)
        finally:
            function.active = False
            self.depth -= 1
            self.scope, self.branches = outside
            returned = self.returned.pop()
        result = either(returned)
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
        for i, parameter in enumerate(parameters):
            if i < len(args):
                value = args[i]
            elif parameter in named:
                value = named[parameter]
            elif parameter in function.defaults:
                value = function.defaults[parameter]
            else:
                value = reference(f"~{parameter}", labels)
            if value.unknown or (value.name and not value.texts):
                value = value.labelled((f"${parameter}",)) if value.function is None and value.kind is None else value
            names[parameter] = value
        if function.rest:
            names[function.rest] = Value(items=list(args[len(parameters) :]))

    def leftovers(self) -> None:
        """Functions nobody called are gone through once, with nothing known of their parameters."""
        done = 0
        while done < len(self.functions):
            function = self.functions[done]
            done += 1
            if not function.called:
                self.follow(function, [], {}, None)


def _signature(value: Value) -> object:
    function = value.function
    return (
        value.texts,
        value.name,
        value.labels,
        value.number,
        id(function) if function is not None else None,
        id(value.fields) if value.fields is not None else None,
        tuple(item.texts for item in value.items[:10]) if value.items else None,
    )
