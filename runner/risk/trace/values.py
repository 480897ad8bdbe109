"""What the parts of a value are, and what two values may be after a branch, for Python and JavaScript.

All here are functions of values alone: nothing depends on where the program stands. Of `requests.get(u).text`, where
`by_name` is asked for `text` of the value `requests.get()`, it gives a value by the name `requests.get().text`, with
the labels of its owner. Of `{"a": f}["a"]` `element` gives `f` itself, and of `{"a": f, "b": g}[key]` either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import VALUE_OF, Source
from runner.risk.model.bounds import excerpt
from runner.risk.model.value import Class, Value, alternatives, either

if TYPE_CHECKING:
    from runner.risk.rules.vocabulary import Vocabulary

VARIABLE = expression(r"[A-Z][A-Z0-9_]++")
NARROWS = expression(r"\.(?:where|filter|filter_by|and_where|andWhere|whereIn|eq|match)\(")
"""Methods that give a statement a condition."""
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
    "os.pathsep": ":",
    "path.delimiter": ":",
    "os.linesep": "\n",
    "os.EOL": "\n",
}
NUMBERS = {
    "stat.S_ISUID": 0o4000,
    "stat.S_ISGID": 0o2000,
    **{f"stat.S_IRWX{who}": 0o7 << at for who, at in (("U", 6), ("G", 3), ("O", 0))},
    **{
        f"stat.S_I{what}{who}": bit << at
        for what, bit in (("R", 4), ("W", 2), ("X", 1))
        for who, at in (("USR", 6), ("GRP", 3), ("OTH", 0))
    },
}
"""Attributes that always hold the same."""


FILE_TIMES = frozenset(
    f"{prefix}{what}time{unit}" for prefix in ("", "st_") for what in "mcab" for unit in ("", "_ns", "Ms", "Instant")
) | {"birthtime", "birthtimeMs", "st_birthtime"}
"""Attributes that say when a file was changed, read or made."""


def merged(old: Value, new: Value) -> Value:
    """After a branch either value may stand there; what counts of the old one are its texts and origins."""
    if (old.function or old.kind or old.is_plain) and (new.function or new.kind or new.is_plain):
        return either((new, old)) if old.refers_to != new.refers_to else new.labelled(old.labels)
    if old.function or old.kind or new.function or new.kind or new.fields is not None or new.items is not None:
        return new.labelled(old.labels)
    if old.texts and new.texts and new.text.startswith(old.text):
        return new.labelled(old.labels)
    if old.name.endswith("()") and new.name.startswith(f"{old.name}.") and NARROWS.match(new.name, len(old.name)):
        # A condition that may not be there bounds nothing.
        return old.labelled(new.labels)
    if old.texts and old.text and new.texts:
        return either((new, old))
    return new.labelled(old.labels)


def by_name(vocabulary: Vocabulary, owner: Value, name: str, extra: frozenset[str]) -> Value:
    """Return `owner.name` where the program itself has given it no value: what is known of it by its name alone."""
    base = owner.name
    if not base and owner.kind is not None and owner.kind.bases:
        base = owner.kind.bases[0].name + "()"
    made = Value(
        name=f"{base if len(base) < 100 else _end(base)}.{name}",
        labels=owner.labels | extra if extra else owner.labels,
    )
    if labels := vocabulary.attributes.get(made.name.lstrip("~")):
        made = made.labelled(labels)
    if Source.ENVIRONMENT in made.labels and VARIABLE.fullmatch(name):
        # Of all variables, checked and put into an object, it is this one.
        made.labels = made.labels - {Source.ENVIRONMENT} | {VALUE_OF + name}
    if name in FILE_TIMES:
        made.labels |= {Source.FILE_TIME}
    made.owner, made.attribute = owner, name
    if (known := TEXTS.get(made.name)) is not None:
        made.texts = (known,)
    made.number = NUMBERS.get(made.name)
    if (program := OWN_PROGRAMS.get(made.name)) is not None:
        made.texts = (program,)
        made.labels |= {"own"}
    return made


def member_of(kind: Class, name: str, depth: int = 0) -> Value | None:
    """Return what a class or one that it inherits from has by that name."""
    if (found := kind.members.get(name)) is not None:
        return found
    if depth < 8:
        for base in kind.bases:
            if base.kind is not None and (found := member_of(base.kind, name, depth + 1)) is not None:
                return found
    return None


def element(owner: Value, key: Value) -> Value:
    """`owner[key]`."""
    found = _item(owner, key)
    if found is None and owner.fields is not None:
        found = _field(owner, key)
    if found is None and owner.texts and isinstance(key.number, int):
        found = _character(owner, key.number)
    if found is not None:
        return found
    at = key.number
    if owner.name in OF_PROGRAM and isinstance(at, int) and at >= 0 and at != OF_PROGRAM[owner.name]:
        return Value(name=f"{owner.name}[{at}]", labels=owner.labels)
    name = f"{owner.name}[]" if owner.name and len(owner.name) < 100 else owner.name
    return Value(name=name, labels=owner.labels)


OF_PROGRAM = {"sys.argv": 0, "process.argv": 1}
"""Lists of the arguments of a program, and where in each of them the path of its own file is."""


def each_of(value: Value) -> Value:
    """Return what a loop over `value` meets."""
    if value.items is not None:
        return either(value.items).labelled(value.labels)
    if value.fields is not None and value.kind is None and not value.name:
        return alternatives([name for name in value.fields if not name.startswith("Symbol.")], value.labels)
    return Value(name=f"{value.name}[]" if value.name and len(value.name) < 100 else "", labels=value.labels)


def dunder(owner: Value, name: str) -> Value | None:
    """Return a method of a class of the program that the language calls by itself, such as `__add__`."""
    if owner.kind is None or owner.fields is None:
        return None
    found = member_of(owner.kind, name)
    if found is None or found.function is None:
        return None
    bound = found.labelled(())
    if bound is found:
        bound = Value(name=found.name, labels=found.labels)
        bound.function = found.function
    bound.owner, bound.attribute = owner, name
    return bound


def _item(owner: Value, key: Value) -> Value | None:
    """Return one of a list; any of them where the place is not known."""
    if owner.items is None:
        return None
    if isinstance(key.number, int):
        return owner.items[key.number] if -len(owner.items) <= key.number < len(owner.items) else None
    if key.number is None and not key.texts:
        return either(owner.items).labelled(owner.labels)
    return None


def _field(owner: Value, key: Value) -> Value | None:
    """Return a field of an object; any of them where the name is not known."""
    fields = owner.fields or {}
    if key.texts:
        met = [found for known in key.texts if (found := fields.get(known)) is not None]
        return either(met) if met else fields.get("?")
    if key.number is not None and (found := fields.get(str(key.number))) is not None:
        return found
    return either(fields.values()).labelled(owner.labels)


def _character(owner: Value, at: int) -> Value | None:
    whole = owner.exact
    if whole is None or not -len(whole) <= at < len(whole):
        return None
    return Value(number=ord(whole[at])) if owner.binary else Value((whole[at],), labels=owner.labels)


def _end(name: str) -> str:
    """Return a name for a long chain of calls of which only the last part still says something."""
    return f"~long.{excerpt(name.rpartition('.')[2], 40)}"
