"""Names what the method of a client deletes at a service: `delete_bucket(Bucket=...)`, `containers.list()[0].remove()`.

What something is called is taken from the method, or from what the object was got by, and only where that names it:
no noun is better than a wrong one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import PICKED
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, labels_of
from runner.risk.trace.remote import DELETING, HOW
from runner.risk.trace.stores import ANY_CONDITION, ROWS_OF
from runner.risk.trace.things import things
from runner.risk.verdict.naming import AT_RUN_TIME, MEETS, Named, identifier, listed, quoted
from runner.risk.verdict.things import held_by, said_by, whole_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Act

OF_MODEL = expression(r"(\w{1,60})\.objects\.")
"""What a model of Django's is called, in the name of a method of its rows."""
CAPITALS = expression(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a new word begins in a name: `delete|DB|Instance`."""
BEHIND = expression(r"_?V\d$")
"""The number of a version at the end of a name."""
OBJECT = expression(r"[A-Za-z]{2,20}(?: [A-Za-z]{1,20}){0,3}")
TAKES = DELETING | HOW | words("terminate del empty clear flush deregister")
"""Words that names of methods begin with, and behind which what they delete is named."""
WHOLE = {
    "flushall": "every key of every database of the server",
    "flush_all": "everything that the server keeps",
    "flushdb": "every key of a database",
    "drop_all": "all tables of a database",
    "expunge": "mails that are marked as deleted",
}
"""Methods that say by themselves of what they leave nothing."""
PRUNES = {
    "volumes": "unused volumes",
    "images": "unused images",
    "containers": "containers that do not run",
    "networks": "unused networks",
}
"""What `prune` of an engine for containers takes away."""
ASKS = expression(r"(?:list|get|find|iter|fetch|scan|search|describe)_([a-z_]{2,40})")
"""Methods that are named after what they give."""
SAYS_NOTHING = words(
    "all filter each items values result results list get find where limit iter pages page_size client resource "
    "Session session Client from_env from_url connect execute scalars first one query select order_by paginate sort"
)
"""Parts of names that say nothing of what is meant."""
MONGO = words("pymongo motor mongomock mongoengine")
AWS = words("boto3 aioboto3 aiobotocore ibm_boto3")
WITHIN = {
    "Bucket": "the bucket",
    "TableName": "the table",
    "logGroupName": "the log group",
    "cluster": "the cluster",
    "HostedZoneId": "the zone",
    "UserPoolId": "the user pool",
}
"""Arguments that say in what something is that a method of AWS deletes."""
LONGEST_NAMES = 3
MEET = " that meet a condition"


def destroyed(act: Act) -> Named:
    """Return words for what the method deletes that an act is of."""
    call = act.name.rpartition(".")[2].removesuffix("()").removesuffix("Command")
    library, *path = act.name.split(".")[:-1] or [""]
    if (known := _known(act, library, call, path)) is not None:
        return known
    if asked := act.get("asked").text:
        return Named(f"something by {identifier(call)} ({quoted(asked, 30)}) of {quoted(library, 30)}", computed=True)
    if call in WHOLE:
        return Named(WHOLE[call], computed=True)
    if act.get("keys").items is not None:
        return _named(act, "key", act.get("keys").items or ())
    if call == "prune" and path and (last := _plain(path[-1])) in PRUNES:
        return Named(PRUNES[last])
    if call[:5] == "prune" and (pruned := PRUNES.get(call[5:].lower())) is not None:
        return Named(pruned)
    thing = _by_method(call)
    if not thing:
        return _by_path(act, call, library, path)
    given = act.get("given").fields or {}
    containers = [key for key in WITHIN if key in given and WITHIN[key].removeprefix("the ") != thing]
    name = next((value for key, value in given.items() if key not in containers and _names(key)), UNKNOWN)
    what = act.get("what")
    if library in AWS and given:
        what = name
    elif what.items:
        what = next((one for one in what.items if one.texts), UNKNOWN)
    words = _named(act, thing, [what])
    if containers and (within := next((one for one in given[containers[0]].texts if one.strip(HOLE)), "")):
        return words._replace(words=f"{words.words} in {WITHIN[containers[0]]} {quoted(within)}")
    return words


def _names(key: str) -> bool:
    """Return whether an argument of this name says which one is meant."""
    return NAMING.search(key) is not None


NAMING = expression(r"(?i)(?:names?|ids?|identifiers?|arns?|key|bucket|url|topics?|queue|index)$")


def _known(act: Act, library: str, call: str, path: Sequence[str]) -> Named | None:
    """Return words for what a text, the vocabulary, or what the object stands for names; None where none does."""
    if asked := act.get("by-name").text:
        return Named(f"something at {quoted(library, 30)} by {identifier(call)} ({quoted(asked)})", computed=True)
    if library in MONGO and (found := _of_mongo(act, call, path)) is not None:
        return found
    if (known := said_by(act) or _rows_of_model(act)) is not None:
        return known
    if (held := held_by(act)) is not None:
        return whole_of(held, act, some=_is_some(act))
    return _some_rows(act, "") if "rows" in act.fields and library not in AWS else None


def _is_some(act: Act) -> bool:
    """Return whether a condition bounds what an act is done to."""
    only = act.get("only")
    return not only.unknown and only.fields != {} and only.items != []


def _rows_of_model(act: Act) -> Named | None:
    """Name rows of a table, as a model or a class of the program's calls them; None for anything else."""
    labels = labels_of((act.get("on"),))
    model = next((label[len(ROWS_OF) :] for label in sorted(labels) if label.startswith(ROWS_OF)), "")
    name = act.get("what").text
    if not model and (found := OF_MODEL.search(act.name)) is not None and not name:
        model = found[1]
    return _some_rows(act, model) if model or (ANY_CONDITION in labels and "rows" in act.fields) else None


def _some_rows(act: Act, model: str) -> Named:
    of = f" of {identifier(model)}" if model else ""
    if ANY_CONDITION in labels_of((act.get("on"),)):
        return Named(f"rows{of} that match conditions {AT_RUN_TIME}, which may be none", computed=True)
    some = act.get("only").text == "some"
    return Named(f"rows{of} that match a condition" if some else f"all rows{of}" if of else "every row of a table")


def _of_mongo(act: Act, call: str, path: Sequence[str]) -> Named | None:
    if call not in ("delete_many", "delete_one", "drop", "remove", "drop_collection", "drop_database"):
        return None
    if call.startswith("drop_"):
        return _named(act, call.removeprefix("drop_"), [act.get("what")])
    last = path[-1] if path else ""
    plain = last and not last.endswith(("]", ")")) and last not in SAYS_NOTHING
    name = things(act.labels).get("collection", "") or (last if plain else "")
    collection = f"the collection {quoted(name)}" if name else "a collection"
    if call == "drop":
        return Named(collection, computed=not name)
    if call == "delete_one":
        return Named(f"a document of {collection}", computed=True)
    every = act.get("only").fields == {}
    return Named(f"all documents of {collection}" if every else f"documents of {collection} that match a filter")


def _by_method(call: str) -> str:
    """Return what the name of a method says is deleted: `delete_db_instance`, `DeleteBucket`; '' for nothing."""
    verb, _, thing = CAPITALS.sub("_", call).partition("_")
    if verb.lower() in HOW:  # `hard_delete`
        return _by_method(thing)
    if verb.lower() not in TAKES:  # `messageDelete`
        thing, found, rest = BEHIND.sub("_", f"{verb}_{thing}").rpartition("_")
        return (
            thing.replace("_", " ").lower()
            if found and rest.lower() in TAKES and OBJECT.fullmatch(thing.replace("_", " "))
            else ""
        )
    thing = thing.replace("namespaced_", "").replace("_", " ").strip()
    for more in ("batch ", "delete ", "Delete ", "collection "):
        thing = thing.removeprefix(more)
    thing = " ".join(word if word.isupper() else word.lower() for word in thing.split())
    return thing if OBJECT.fullmatch(thing) and thing not in ("many", "all", "one") else ""


def _by_path(act: Act, call: str, library: str, path: Sequence[str]) -> Named:
    """Name what a method deletes of which only the way to its object says what that is."""
    thing = ""
    for at, part in reversed([*enumerate(path)]):
        plain = _plain(part)
        if plain in SEARCHES and part != plain:
            # What is searched is no more than where it was found, but a class is what is looked for.
            before = path[at - 1] if at else ""
            thing = before if before[:1].isupper() and before == _plain(before) else ""
            break
        if (asked := ASKS.fullmatch(CAPITALS.sub("_", plain).lower())) is not None:
            thing = asked[1]
        elif plain in SAYS_NOTHING or not plain:
            continue
        elif _is_named(part, plain, library):
            thing = plain
        break
    thing = CAPITALS.sub(" ", thing).replace("_", " ").lower()
    if not OBJECT.fullmatch(thing):
        of = f" of {quoted(library, 30)}" if PACKAGE.fullmatch(library) else ""
        return Named(f"{_as_written(act) or 'something'} by {identifier(call)}{of}", computed=True)
    chosen = " that fit a filter" if "filter()" in path else ""
    whole = any(_plain(one) == "all" for one in path) or (library in AWS and not path[-1].endswith("]"))
    if thing.endswith("s") and not chosen and whole:
        return Named(f"{thing}{MEET}" if PICKED in act.labels else f"all {thing}", computed=True)
    if chosen:
        return Named(f"{thing}{chosen}", computed=True)
    return _named(act, thing, [act.get("what")])


SEARCHES = words("search find query lookup fetch find_all findAll searchAll")


def _as_written(act: Act) -> str:
    """Return the name in the code of what a method is called on, or of what it is given; '' where neither tells."""
    on, _, given = act.get("as").text.partition(" ")
    before = act.name.split(".")[:-1]
    of_client = len(before) < 3 or not before[-1].endswith("]")
    name = given if of_client else on
    if not TELLING.fullmatch(name):
        return ""
    return f"{'each ' if 'repeated' in act.labels and not name.endswith('s') else ''}{quoted(name)}"


TELLING = expression(r"[A-Za-z]\w{2,40}")


def _is_named(part: str, plain: str, library: str) -> bool:
    """Return whether a part of a way is called like what it holds: an attribute, or a class of resources of AWS."""
    if part.endswith(")"):
        return library in AWS and plain[:1].isupper()
    return plain[:1].islower() or library in AWS


PACKAGE = expression(r"[A-Za-z][\w-]{1,40}")


def _named(act: Act, thing: str, names: Sequence[Value]) -> Named:
    """Name things of a kind, by their names where those are known."""
    known = [quoted(one) for value in names for one in value.texts if one.strip(HOLE)]
    if known:
        return Named(f"{thing} {listed(known, LONGEST_NAMES)}", computed=any(HOLE in one.text for one in names))
    if "repeated" in act.labels:
        if not thing.endswith("s"):
            return Named(f"each {thing}{MEETS if PICKED in act.labels else ' that it finds'}", computed=True)
        return Named(f"{thing}{MEET}" if PICKED in act.labels else f"all {thing} that it finds", computed=True)
    one = thing if thing.endswith("s") else f"an {thing}" if thing[0] in "aeiou" else f"a {thing}"
    return Named(f"{one} {AT_RUN_TIME}", computed=True)


def _plain(part: str) -> str:
    return part.replace("()", "").replace("[]", "").rstrip("*")
