"""Words for what is done to things at a service: rows of a table, objects in a bucket, jobs in a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.model.verdict import Verb
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, labels_of
from runner.risk.trace.things import package_of, things
from runner.risk.verdict.naming import AT_RUN_TIME, Named, identifier, listed, quoted

if TYPE_CHECKING:
    from runner.risk.model.acts import Act

ROWS = {"table": "rows", "collection": "documents", "model": "records"}
"""What things hold that are deleted one by one, where no other word says what is."""
ORDER = ("file", "document", "table", "collection", "queue", "topic", "volume", "container", "image", "network")
"""Kinds of things, what is inside of another one first."""
EMPTIES = words("obliterate drain empty clean flush purge clear reset")
"""Verbs that take what a thing holds, and leave the thing."""
DROPS = words("drop destroytable droptable")
VERB = expression(r"(?:[Bb]ulk|[Bb]atch)?_?([A-Za-z][a-z]*)")
PLURAL = expression(r"(?<=[a-z])[A-Z_][A-Za-z_]{1,40}s$")
PARTS = expression(r"_|(?<=[a-z0-9])(?=[A-Z])")
MANY = words("many all everything one first unique by id where objects or fail return rows records documents and")
"""Words in names of methods that do not say what something is done to."""
OF_MODEL = expression(
    r"@prisma/client(?:\.\w{1,40})?\(\)\.(\w{1,60})\.\w{1,40}$|(?:^|\.)~?prisma\.(\w{1,60})\.\w{1,40}$"
)
"""How the model of Prisma's that a method is of is named: by a property of the client."""
MODEL = expression(r"(?:^|[/.])([A-Z]\w{0,59})\.(?:(?:delete|update)(?:Many|One)|destroy|bulkCreate|insertMany)$")
"""A class that another file has for a table, in the name of a method of it."""
IDENTIFIER = expression(r"[A-Za-z_]\w{0,59}")


class Held(NamedTuple):
    """What an act is about: a thing at a service, or some of what it holds."""

    kind: str
    name: str
    noun: str
    """What it holds; empty where the act is about the thing itself."""


def said_by(act: Act) -> Named | None:
    """Return the words that the vocabulary has for what an act is about, where they need no name: `flushall`."""
    known = act.get("whole").text
    return (
        Named(f"{known} by {quoted(library_of(act), 30)}" if library_of(act)[:1] not in "~$" else known)
        if known
        else None
    )


def library_of(act: Act) -> str:
    """Return the library of the function that an act is done by: `@a/b` of `@a/b.C().d`."""
    return package_of(act.name.replace("()", "")) or "~"


def held_by(act: Act, where: str = "what") -> Held | None:
    """Return what an act on a service is about; None where nothing says that. `where` is a field that may name it."""
    kind, noun = act.get("kind").text, act.get("thing").text
    if kind:
        given = act.get("within")
        return Held(kind, given.text if len(given.texts) == 1 else "", noun)
    met = things(labels_of((act.get(where), act.get("keys"))))
    if "keys" in met and act.get("keys").items is not None:
        return Held("keys", met["keys"], "")
    known = things(act.labels) or met
    last = act.name.removesuffix("()").rpartition(".")[2].removesuffix("Command")
    model = OF_MODEL.search(act.name)
    if not known and model is not None:
        known = {"table": model[1] or model[2]}
    if not known and (imported := MODEL.search(act.name)) is not None:
        known = {"model": imported[1]}
    if not known and "rows" in act.fields and (plain := act.get(where).exact or ""):
        known = {"table": plain}
    if not known and "rows" in act.fields and IDENTIFIER.fullmatch(plain := act.get(where).name.rpartition(".")[2]):
        known = {"table": plain}  # what stands for a table
    if not known:
        return None
    kind = next((one for one in ORDER if one in known), min(known))
    verb = found[1].lower() if (found := VERB.match(last)) is not None else ""
    said = [part.lower() for part in PARTS.split(last)[1:] if part and part.lower() not in MANY]
    noun = noun or (" ".join(said) if PLURAL.search(last) and said else "")
    if not noun and verb not in DROPS:
        noun = ROWS.get(kind, "everything" if verb in EMPTIES else "")
    return Held(kind, known[kind], "" if noun == f"{kind}s" else noun)


def whole_of(held: Held, act: Act, *, some: bool) -> Named:
    """Name what is done to all that a thing holds, to `some` of it, or to the thing itself."""
    repeated = "repeated" in act.labels
    known = held.name.strip(HOLE)
    if not held.noun:
        if known:
            return Named(f"the {held.kind} {quoted(held.name)}")
        return Named(f"each {held.kind} that it finds" if repeated else f"a {held.kind} {AT_RUN_TIME}", computed=True)
    where = thing_words(held, repeated=repeated)
    if held.noun in ROWS.values():
        where = identifier(held.name) if known else f"a {held.kind} {AT_RUN_TIME}"
        if unset := act.get("unset").items:
            empty = listed([identifier(one.text) for one in unset], 2)
            return Named(f"{held.noun} of {where} that match a condition (all of them where {empty} is not set)")
        if some:
            one = act.get("one").text == "yes"
            return Named(
                f"one of the {held.noun} of {where}" if one else f"{held.noun} of {where} that match a condition"
            )
        return Named(f"all {held.noun} of {where}")
    return Named(f"{held.noun} in {where}", computed=not known)


def thing_words(held: Held, *, repeated: bool = False) -> str:
    """Name the thing: `the bucket “backups”`; of a table that is one word of code the name alone."""
    known = held.name.strip(HOLE)
    if not known:
        return f"each {held.kind} that it finds" if repeated else f"a {held.kind} {AT_RUN_TIME}"
    return f"the {held.kind} {quoted(held.name)}"


def changes_by_call(act: Act) -> tuple[Verb, Named] | None:
    """Return what a call changes in a database of which the statement is not written out: `User.updateMany(...)`."""
    change = CHANGES.get(act.get("effect").text)
    if act.get("effect").text == "READS":
        held = held_by(act)
        noun = ROWS.get(held.kind, "") if held is not None and held.name else ""
        words = f"{noun} of {identifier(held.name)}" if held is not None and noun else "a database"
        return Verb.READS, Named(words if noun else f"{words} by {quoted(library_of(act), 30)}")
    if change is None:
        return None
    table = act.get("table").text
    held = Held("table", table, "") if table else held_by(act)
    if held is None:
        by = "" if library_of(act)[:1] in "~$" else f" by {quoted(library_of(act), 30)}"
        return Verb.CHANGES_DATA, Named(f"{change} a database{by}", computed=True)
    if change == WRITES:
        return Verb.CHANGES_DATA, Named(f"{change} {thing_words(held)}")
    rows = Held(held.kind, held.name, ROWS.get(held.kind, "rows"))
    named = whole_of(rows, act, some=not act.get("effect").text.endswith("_ALL"))
    return Verb.CHANGES_DATA, named._replace(words=f"{change} {named.words}")


WRITES = "writes to"
CHANGES = {
    "ADDS": WRITES,
    "CHANGES": "changes",
    "CHANGES_ALL": "changes",
    "DELETES": "deletes",
    "DELETES_ALL": "deletes",
    "DROPS": "drops",
}
"""Verbs for what is done to a database, by the effect."""


def place_of(act: Act) -> str:
    """Name the thing that something is sent to or comes from; the library where nothing is known of it."""
    held = held_by(act)
    if held is None:
        return f"an address that {quoted(library_of(act), 30)} knows"
    return thing_words(held)
