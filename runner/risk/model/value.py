"""A value in code before it runs: its possible texts, what it is made of, where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.risk.model.bounds import bounded, excerpt, is_beyond

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

HOLE = "\ufffc"
"""Stands in a text for a part that is not known before the run."""

MOST_TEXTS = 64
"""Alternatives followed for one value; where there are more, it has the label `cut`."""
MOST_INSIDE = 4_000
"""Parts of a list or mapping that are looked at, at each depth."""
MOST_OTHERS = 200
"""Functions that one value may refer to."""
MOST_JOINED = 20_000
"""Parts of lists that are put together, one by one, into what a loop over those lists meets."""

DEEPEST_JOINED = 6
"""Objects inside of each other of which two are put together into one that may be either."""

LONGEST_TEXT = 400_000
"""Characters of a folded text; longer results are not kept (a code of `'a' * 10**9` must not cost memory)."""

LONGEST_NAME = 120
NO_LABELS: frozenset[str] = frozenset()
DEEPEST_HEIRS = 8
"""Classes that inherit from each other, of which objects are looked for."""


class Value:
    """One value. All fields are optional knowledge; an empty Value is one of which nothing is known.

    `texts` are the texts it may be (bytes as Latin-1), with HOLE for unknown parts. `name` is the resolved dotted
    name of what it refers to (`os.system`), with `()` for results of calls (`socket.socket().recv`). `labels`
    say where it comes from (`secret`, `downloaded`, `decoded`, `$variable`).
    """

    __slots__ = (
        "attribute",
        "binary",
        "fields",
        "function",
        "items",
        "kind",
        "labels",
        "name",
        "number",
        "others",
        "owner",
        "texts",
    )

    def __init__(
        self,
        texts: tuple[str, ...] = (),
        name: str = "",
        labels: frozenset[str] = NO_LABELS,
        items: list[Value] | None = None,
        fields: dict[str, Value] | None = None,
        number: int | float | None = None,
        binary: bool = False,
    ) -> None:
        self.texts = texts
        self.name = name
        self.labels = labels
        self.items = items
        self.fields = fields
        self.number = number
        self.binary = binary
        self.function: Function | None = None
        self.kind: Class | None = None
        self.owner: Value | None = None
        self.attribute = ""
        self.others: tuple[Value, ...] = ()
        """What it may refer to in place of `name`, `function` or `kind`."""

    @property
    def text(self) -> str:
        """The first possible text with its holes; empty when no text is known at all."""
        return self.texts[0] if self.texts else ""

    @property
    def exact(self) -> str | None:
        """The text when it is fully known and the only one, else None."""
        return self.texts[0] if len(self.texts) == 1 and HOLE not in self.texts[0] else None

    @property
    def unknown(self) -> bool:
        return not self.texts and not self.name and self.items is None and self.fields is None and self.number is None

    def labelled(self, labels: Iterable[str]) -> Value:
        """Return a copy with `labels` added; itself when it has them all."""
        added = self.labels.union(labels)
        if len(added) == len(self.labels):
            return self
        copy = type(self)(self.texts, self.name, added, self.items, self.fields, self.number, self.binary)
        copy.function, copy.kind, copy.owner, copy.attribute = self.function, self.kind, self.owner, self.attribute
        copy.others = self.others
        return copy

    @property
    def is_plain(self) -> bool:
        """Whether it is a name as it stands, such as `os.remove`, and not what a call gave."""
        return bool(self.name) and not self.texts and "(" not in self.name and self.name[0] != "~"

    @property
    def refers_to(self) -> object:
        """What it is told from another by that it may stand beside."""
        return (
            self.name,
            id(self.function) if self.function is not None else None,
            id(self.kind) if self.kind is not None else None,
        )


class Nothing(Value):
    """The value that a language has for none: it is known, though nothing can be done with it."""

    __slots__ = ()


UNKNOWN = Value()
NONE = Nothing()


def is_absent(value: Value) -> bool:
    """Return whether nothing is given: no value, or the one for none."""
    return value is UNKNOWN or isinstance(value, Nothing)


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
        """Return the scope in which `name` is already known; this one when none is."""
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
    by_name: list[str] = field(default_factory=list)
    """Parameters that are given by their names alone: `def f(*args, check=True)`."""
    self_name: str = ""
    simple: bool = False
    """The body is one expression, whose value is the result."""
    short: bool = False
    """All that it does is to return the value of one expression."""
    reduces: bool = False
    """What it returns is a call that unpickling makes (`__reduce__`)."""
    of: Class | None = None
    """The class whose method it is."""
    mocked: tuple[str, ...] = ()
    """Functions, or what their names begin with, that a decorator of a test replaces while it runs."""
    later: bool = False
    """Its body runs some time after it was called: it is asynchronous, or a generator."""
    getter: bool = False
    """Reading it as an attribute calls it (`@property`, `get name() {}`)."""
    prototype: dict[str, Value] = field(default_factory=dict)
    """What objects that it makes share (`F.prototype`)."""
    called: bool = False
    active: bool = False
    results: dict[object, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Class:
    """A class of the program."""

    name: str
    bases: list[Value]
    members: dict[str, Value]
    parts: tuple[str, ...] = ()
    """Names of what an instance is made of, in the order in which it is given: of a dataclass or a named tuple."""
    objects: list[Value] = field(default_factory=list)
    """What the program makes of it."""
    heirs: list[Class] = field(default_factory=list)

    def __post_init__(self) -> None:
        for base in self.bases:
            if base.kind is not None:
                base.kind.heirs.append(self)

    def made(self, depth: int = 0) -> Iterator[Value]:
        """Yield the objects of the class, and of those that inherit from it."""
        yield from self.objects
        for heir in self.heirs if depth < DEEPEST_HEIRS else ():
            yield from heir.made(depth + 1)


def text(*texts: str, labels: frozenset[str] = NO_LABELS, binary: bool = False) -> Value:
    return Value(tuple(dict.fromkeys(texts)), labels=labels, binary=binary)


def reference(name: str, labels: frozenset[str] = NO_LABELS) -> Value:
    return Value(name=excerpt(name, LONGEST_NAME), labels=labels)


def alternatives(texts: Iterable[str], labels: Iterable[str] = NO_LABELS) -> Value:
    """Return a value that may be any of these texts."""
    marked = set(labels)
    kept = bounded(marked, tuple(dict.fromkeys(texts)), MOST_TEXTS, "texts")
    return Value(kept, labels=frozenset(marked))


def labels_of(values: Iterable[Value], depth: int = 5) -> frozenset[str]:
    """Return the labels of the values and of what they contain, to a small depth."""
    found: set[str] = set()
    for value in values:
        if value.labels:
            found |= value.labels
        if depth and (value.items or value.fields):
            for inside in _inside(value, depth, found):
                if inside.labels:
                    found |= inside.labels
    return frozenset(found) if found else NO_LABELS


def texts_of(value: Value, depth: int = 3) -> list[str]:
    """Return every text in the value and in what it contains."""
    found: list[str] = []
    for one in (value, *_inside(value, depth, set())):
        if one.texts:
            found += one.texts
        elif one.number is not None:
            found.append(str(one.number))
    return found


def _inside(value: Value, depth: int, noted: set[str]) -> Iterator[Value]:
    """Yield what a value contains, to a depth; `noted` gets a label where not all of it is."""
    level = [value]
    for _ in range(depth):
        deeper: list[Value] = []
        for one in level:
            deeper += one.items or ()
            deeper += (one.fields or {}).values()
            if len(deeper) > MOST_INSIDE:
                break
        level = bounded(noted, deeper, MOST_INSIDE, "parts")
        if not level:
            return
        yield from level


def pieces(value: Value) -> tuple[str, ...]:
    """Return the texts of the value for joining into a longer one: a hole where none is known."""
    if value.texts:
        return value.texts
    if value.number is not None:
        return (str(value.number),)
    return (HOLE,)


def concatenate(parts: Iterable[Value], between: str = "") -> Value:
    """Return one text from several. Alternatives multiply up to MOST_TEXTS."""
    parts = list(parts)
    if all(len(part.texts) <= 1 for part in parts):
        whole = between.join(pieces(part)[0] for part in parts) if len(parts) <= LONGEST_TEXT else HOLE
        kept = whole if len(whole) <= LONGEST_TEXT else HOLE
        return Value((kept,), labels=labels_of(parts), binary=any(part.binary for part in parts))
    texts: list[str] = [""]
    labels: set[str] = set()
    binary = False
    first = True
    for part in parts:
        options = pieces(part)
        glue = "" if first else between
        options = bounded(labels, options, max(1, MOST_TEXTS // len(texts)), "texts")
        texts = [head + glue + tail for head in texts for tail in options]
        if len(texts[0]) > LONGEST_TEXT:
            texts = [HOLE]
        labels |= labels_of((part,))
        binary = binary or part.binary
        first = False
    return Value(tuple(dict.fromkeys(texts)), labels=frozenset(labels), binary=binary)


def either(values: Iterable[Value], around: Mapping[frozenset[int], dict[str, Value]] | None = None) -> Value:
    """Return a value that may be any of `values`; `around` has what objects they are parts of are put together into."""
    values = list(values)
    options = [value for value in values if value is not UNKNOWN and value is not NONE]
    if not options:
        return UNKNOWN
    if len(options) == 1:
        return options[0]
    texts: dict[str, None] = {}
    labels: set[str] = set()
    for option in options:
        if option.texts:
            texts.update(dict.fromkeys(option.texts))
        labels |= option.labels
    joined = Value(bounded(labels, tuple(texts), MOST_TEXTS, "texts"))
    _refer(joined, [o for o in options if o.function or o.kind or o.name], labels)
    lists = [option.items for option in options if option.items is not None]
    if lists:
        joined.items = _beside(lists, labels)
    if maps := {id(option.fields): option.fields for option in options if option.fields}:
        joined.fields = _of_any(maps, labels, around or {})
    joined.labels = frozenset(labels)
    if "in-memory" in labels and not all("in-memory" in option.labels for option in values):
        joined.labels -= {"in-memory"}  # only where each of them is
    return joined


UNSURE = "unsure"
"""The label of a value that may be what is known of it, or something of which nothing is known."""
NOTHING = frozenset(("None", "False", "True", "undefined", "null", "false", "true", "NaN"))
"""Names of values that are known without a text."""
FOR_ANOTHER = ("env:", "environment", "given", "input")
"""How labels begin of what whoever starts the program may set; where it does not, the other value counts."""


def chosen(values: Iterable[Value]) -> Value:
    """As `either`, for a choice that the program makes: where nothing is known of one value, that is not forgotten."""
    options = list(values)
    joined = either(options)
    if joined.texts and any(map(_says_nothing, options)):
        joined = joined.labelled((UNSURE,))
    return joined


def _says_nothing(value: Value) -> bool:
    refers = value.function is not None or value.kind is not None or value.name in NOTHING or isinstance(value, Nothing)
    return (value.unknown or value.name[:1] == "~") and not (
        refers or value.texts or value.items or any(label.startswith(FOR_ANOTHER) for label in value.labels)
    )


def _refer(joined: Value, options: Sequence[Value], labels: set[str]) -> None:
    """Let a value refer to whatever the options do, the first one above all."""
    if not options:
        return
    first = options[0]
    joined.name, joined.function, joined.kind = first.name, first.function, first.kind
    joined.owner, joined.attribute = first.owner, first.attribute
    if len(options) > 1 or first.others:
        unique = {one.refers_to: one for option in options for one in (option, *option.others)}
        unique.pop(first.refers_to, None)
        joined.others = bounded(labels, tuple(unique.values()), MOST_OTHERS, "functions")


def _of_any(
    maps: dict[int, dict[str, Value]], labels: set[str], around: Mapping[frozenset[int], dict[str, Value]]
) -> dict[str, Value]:
    """Return the fields of what may be any of some objects, which may hold each other."""
    if len(maps) == 1:
        return next(iter(maps.values()))
    if (same := around.get(frozenset(maps))) is not None:
        return same
    known = bounded(labels, [*maps.values()], max(1, MOST_JOINED // max(map(len, maps.values()))), "mappings")
    if is_beyond(labels, around, DEEPEST_JOINED, "objects inside of objects"):
        return known[0]
    joined: dict[str, Value] = {}
    around = {**around, frozenset(maps): joined}
    for key in dict.fromkeys(key for fields in known for key in fields):
        joined[key] = either([fields[key] for fields in known if key in fields], around)
    return joined


def _beside(lists: list[list[Value]], labels: set[str]) -> list[Value]:
    """Return one list of what may stand at each place of several."""
    longest = max(map(len, lists))
    if longest * len(lists) > MOST_JOINED:
        # Any of them may be at any place: so much is told from each other only where it is little.
        every = bounded(labels, [item for items in lists for item in items], MOST_JOINED, "parts of lists")
        return [either(every)]
    return [either(items[i] for items in lists if i < len(items)) for i in range(longest)]


def yields(returned: list[Value], value: Value) -> None:
    """Add what a generator yields to what its function returns: one list of everything, in the order of the code."""
    last = returned[-1] if returned else None
    if last is not None and last.attribute == "yield" and last.items is not None:
        last.items.append(value)
        last.labels |= value.labels
        return
    made = Value(items=[value], labels=value.labels)
    made.attribute = "yield"
    returned.append(made)


def each(
    value: Value, change: Callable[[str], str | None], *, labels: Iterable[str] = (), binary: bool = False
) -> Value:
    """`value` with `change` applied to its fully known texts; a hole where that fails."""
    made: list[str] = []
    for known in value.texts or (HOLE,):
        result = None
        if HOLE not in known:
            try:
                result = change(known)
            except (ValueError, TypeError, LookupError, ArithmeticError):
                result = None
        made.append(HOLE if result is None or len(result) > LONGEST_TEXT else result)
    if all(text == HOLE for text in made):
        return Value(labels=value.labels.union(labels), binary=binary)
    return Value(tuple(dict.fromkeys(made)), labels=value.labels.union(labels), binary=binary)


def raw(known: str) -> bytes:
    """Return the bytes of a text that stands for bytes; texts beyond Latin-1 count as UTF-8."""
    try:
        return known.encode("latin-1")
    except UnicodeEncodeError:
        return known.encode("utf-8", "surrogatepass")


def readable(data: str) -> str:
    """Return the bytes as the text they most likely are."""
    try:
        return raw(data).decode("utf-8")
    except UnicodeDecodeError:
        return data
