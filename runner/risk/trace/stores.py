"""What is done to databases, caches and queues: whether one is only a trial, and how much of it an act is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import LOCAL_SERVICE, REPEATED
from runner.risk.model.standing import is_relative
from runner.risk.model.value import NO_LABELS, UNKNOWN, Value, is_absent, labels_of, text
from runner.risk.recipes.sql import DataChange, Effect, changes, is_of_one, settings
from runner.risk.trace.everything import lists_all, note_all
from runner.risk.trace.files import IN_A_FILE, IN_MEMORY, MEMORY, is_temporary
from runner.risk.trace.remote import gives_rights, opens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Act, Trail

MOST_BEFORE = 12
"""Acts that are looked back at for the beginning of a statement."""
NOWHERE = expression(r"(?i)sqlite(?:\+\w{1,20})?:(?://)?(?:/?:memory:(?:\?.{0,200})?)?")
"""Addresses of a database of SQLite that is in no file."""
WRITES_FILE = expression(
    r"(?i)\b(?:VACUUM\b[^;']{0,60}?\bINTO|ATTACH(?:\s{1,9}DATABASE)?|INTO\s{1,9}(?:OUT|DUMP)FILE|COPY\b[^;']{0,400}?\bTO)"
    r"\s{0,9}'(?P<path>[^']{1,1000})'"
)
READS_FILE = expression(
    r"(?i)(?:\b(?:read_\w{1,30}|pg_read_file|load_file)\s{0,9}\(\s{0,9}|\bCOPY\b[^;']{0,400}?\bFROM\s{0,9}"
    r"|\bINFILE\s{0,9}|\bFROM\s{0,9}(?='[^']{1,400}[/.]))'(?P<path>[^']{1,1000})'"
)
"""Parts of statements that name a file, which the database reads or writes."""
OWN = frozenset({IN_MEMORY})
AT_HOME = expression(r"https?://(?:localhost|127\.0\.0\.1|\[::1\]|localstack|minio)(?=[:/]|\Z)")
"""Addresses of a service that stands in the place of a cloud, on this machine."""
KINDS = ("client", "dialect", "type")
PLACES = ("storage", "filename", "connection", "database", "url", "dbName")
"""Settings of a database that say of what kind it is and where."""
OF_FILES = expression(r"sqlite|libsql|sql\.?js")
WITHOUT_A_FILE = frozenset(("duckdb.connect", "better-sqlite3"))
"""Functions that open a database in memory where they are given no file."""
SQLITE = expression(r"(?i)sqlite(?:\+\w{1,20})?:|[^:]{0,400}\Z")
ANY_CONDITION = "any-condition"
"""The label of rows for which the program works out the conditions, which may be none."""
ROWS_OF = "rows-of:"
"""Begins the label of what is about the rows of a table, by the class or model that stands for it."""
KEY = expression(r"(?i)(?:\w{1,60}[.:])?_?(?:id|uuid|guid|pk|rowid|__key__)(?:__exact)?")
"""Names of a column of which each value stands in one row."""
EQUAL = expression(r"={1,3}|eq|is|:eq")


def done(trail: Trail, act: Act) -> frozenset[str]:
    """Follow up an act on what keeps data; return labels for what it gives."""
    match act.kind:
        case "database":
            return database(act)
        case "bound":
            bound(trail, act)
        case "query":
            if not is_absent(act.get("where")):
                act.fields["effect"] = text(Effect.DELETES.name)  # rows that are destroyed by a condition
            trail.budget.spend(sum(map(len, act.get("sql").texts)) >> 6)
            note_statements(trail, act)
            note_rights(act)
            note_pipeline(act)
            note_files(trail, act)
            note_unbounded(act)
            note_one(act)
            note_all(act)
            return lists_all(act)
        case _:
            if act.kind == "destroy" and ANY_CONDITION in act.get("on").labels:
                act.fields.pop("only", None)
            note_one(act)
            note_all(act)
            note_unset(act)
    return NO_LABELS


def note_files(trail: Trail, act: Act) -> None:
    """Note the files that statements of SQL read and write by themselves."""
    for known in act.get("sql").texts:
        for pattern, kind in ((WRITES_FILE, "write"), (READS_FILE, "read")):
            for match in pattern.finditer(known):
                trail.add(kind, act.name, {"path": text(match["path"])}, act.place, act.labels - OWN)


def note_statements(trail: Trail, act: Act) -> None:
    """Note what the statements of SQL do to data, the gravest first."""
    found = sorted(
        (change for known in act.get("sql").texts for change in changes(known, trail)), key=lambda one: -one.effect
    )
    if not found and (built := _built(act)) is not None:
        found = [built]
    if found:
        act.fields["effect"] = text(found[0].effect.name)
        act.fields["changes"] = Value(items=[text(one.words) for one in found if one.effect > Effect.ADDS])
        act.fields["table"] = text(found[0].table)
        opened = [one.what for one in found if one.effect is Effect.OPENS]
        if any(what.startswith("lets everybody") for what in opened):
            act.fields["to-all"] = text("yes")
        if any(what.startswith(("switches off", "removes")) for what in opened):
            act.fields["unprotects"] = text("yes")
        made = {one.table for one in found if one.effect is Effect.ADDS}
        act.fields["adds"] = Value(items=[text(table) for table in sorted(made) if table])
        grave = [one for one in found if one.effect > Effect.DELETES]
        if grave and all(one.effect in (Effect.DROPS, Effect.DELETES_ALL) and one.what == "the table" for one in grave):
            act.fields["drops"] = Value(items=[text(one.table) for one in grave])
        note_statement(act)


def note_rights(act: Act) -> None:
    """Note that rows which are changed say from then on that somebody has every right."""
    values = act.get("values").items or ()
    given = [one.text or one.name for one in ((values[0].items or values) if len(values) == 1 else values)]
    written = [settings(known, given) for known in act.get("sql").texts]
    sets = [Value(fields={name: text(value) for name, value in one.items()}) for one in written if one]
    opened = next((one for one in opens([act.get("sets"), *sets], {}) if gives_rights(one)), "")
    if opened:
        act.fields["opens"] = text(opened)


def note_pipeline(act: Act) -> None:
    """Note that the last stage of a pipeline of MongoDB puts what it finds in the place of a collection."""
    stages = act.get("pipeline").items or ()
    if stages and stages[-1].fields and "$out" in stages[-1].fields:
        act.fields["replaces"] = text("yes")
        act.fields["table-name"] = stages[-1].fields["$out"]


BUILT = expression(r"\.(delete|update)\(\)")
"""Where a statement begins that SQLAlchemy puts together."""
OF_ROWS = expression(r"(\w{1,60})\.objects\b")
"""The model of Django's in the name of a method of its rows."""


def _built(act: Act) -> DataChange | None:
    """Return what a statement does that functions put together and no text; None where that is not known."""
    made = act.get("sql") if not act.get("sql").texts else UNKNOWN
    labels = labels_of((made, act.get("at")))
    model = next((label[len(ROWS_OF) :] for label in sorted(labels) if label.startswith(ROWS_OF)), "")
    if (begun := BUILT.search(made.name)) is not None and made.name.startswith(("sqlalchemy.", "sqlmodel.")):
        if "(" in made.name[: begun.start()]:
            return None
        deletes, rest = begun[1] == "delete", made.name[begun.end() :]
    elif act.name.endswith((".update", ".bulk_update")) and (rows := OF_ROWS.search(act.name)) is not None:
        deletes, rest, model = False, act.name[rows.end() :], rows[1]
    else:
        return None
    some = any(method in rest for method in (".where", ".filter", ".exclude")) and ANY_CONDITION not in labels
    if deletes:
        return DataChange(Effect.DELETES if some else Effect.DELETES_ALL, model, "rows of")
    return DataChange(Effect.CHANGES if some else Effect.CHANGES_ALL, model, "rows of")


def database(act: Act) -> frozenset[str]:
    """Return the label of a database that the program makes for itself alone, in memory or in a temporary folder."""
    if act.get("dry").name == "True":
        return OWN
    if "endpoint" in act.fields:
        return frozenset({LOCAL_SERVICE}) if AT_HOME.match(act.get("endpoint").exact or "") else NO_LABELS
    if act.name.endswith(("Mock", ".patch", ".patch.object")):
        return OWN if act.get("wraps").unknown else NO_LABELS
    given = act.get("at").items or []
    if not given:
        return OWN if act.name in WITHOUT_A_FILE else NO_LABELS
    settings = given[0].fields
    if settings is None:
        return OWN if _is_nowhere(given[0]) else NO_LABELS
    if act.name == "knex" and "client" in settings and "connection" not in settings:
        return OWN  # it only writes statements down
    kinds = [settings[key] for key in KINDS if key in settings]
    place = next((settings[key] for key in PLACES if key in settings), UNKNOWN)
    place = (place.fields or {}).get("filename", place)
    return OWN if _is_nowhere(place) and all(OF_FILES.search(one.text) for one in kinds) else NO_LABELS


def _is_nowhere(address: Value) -> bool:
    """Return whether a database at an address is in no file, or in one of the program's own for a while."""
    if address.texts and all(MEMORY.fullmatch(known) or NOWHERE.fullmatch(known) for known in address.texts):
        return True
    return is_temporary(address) and all(map(SQLITE.match, address.texts))


def bound(trail: Trail, act: Act) -> None:
    """Note at the statement that an act continues that it is about some rows only."""
    for before in reversed(trail.acts[-MOST_BEFORE:-1]):
        if before.place[:2] == act.place[:2] and act.name.startswith(before.name) and before.kind in CUT_DOWN:
            before.fields[CUT_DOWN[before.kind]] = text("some" if before.kind == "destroy" else Effect.CHANGES.name)
            before.fields["by"] = act.get("by")
            note_one(before)
            return


CUT_DOWN = {"destroy": "only", "query": "effect"}
"""Kinds of acts that a condition bounds, and the field that says so."""


def note_remade(acts: Sequence[Act]) -> None:
    """Note which acts only drop or empty tables, of a database in a file of the program's folder, that it fills."""
    opened = [act.get("path").exact or "/" for act in acts if act.kind == "read" and act.name in IN_A_FILE]
    if not opened or not all(is_relative(path) and ".." not in path for path in opened):
        return
    made = {one.text for act in acts if act.kind == "query" for one in act.get("adds").items or ()}
    for act in acts:
        drops = act.get("drops").items or ()
        if drops and "file" in act.get("at").labels and all(one.text in made for one in drops):
            act.fields["remade"] = text("yes")


def note_unbounded(act: Act) -> None:
    """Note that a change by a condition is of all, where the condition is empty or there is none."""
    given = act.get("by").fields
    if act.get("effect").text != Effect.CHANGES.name or given is None or not act.name.endswith(".updateMany"):
        return
    if not given or ("data" in given and "where" not in given and "?" not in given):
        act.fields["effect"] = text(Effect.CHANGES_ALL.name)


LEAVES_OUT = expression(
    r"(?:@prisma/client(?:\.\w{1,40})?\(\)|\bprisma)\.\w{1,60}\.deleteMany$|\.getRepository\(\)\.delete$"
)
"""Methods for which a part of a condition that is not defined is no condition."""


def note_unset(act: Act) -> None:
    """Note that a condition is none where a variable is not set, so that everything is deleted then."""
    given = act.get("only").fields
    if not given or LEAVES_OUT.search(act.name) is None:
        return
    unset = [one.name.rpartition(".")[2] for one in given.values() if one.name.startswith("process.env.")]
    if len(unset) == len(given):
        act.fields["unset"] = Value(items=[text(name) for name in unset])
        act.fields["condition"] = act.fields.pop("only")


def note_one(act: Act) -> None:
    """Note that an act is about one row or document, named by its key, and not again and again."""
    single = act.get("single").text == "yes" or _is_one(act.get("by")) or _is_one(act.get("only"))
    if single and not act.labels & REPEATED:
        act.fields["one"] = text("yes")


def note_statement(act: Act) -> None:
    """Note that a statement of SQL is about one row, named by its key, and not again and again."""
    known = act.get("sql").texts
    once = not act.labels & REPEATED and not act.name.endswith("many")
    if known and once and all(map(is_of_one, known)):
        act.fields["one"] = text("yes")


def _is_one(given: Value) -> bool:
    """Return whether a condition names the key of one row: `{id: 7}`, `("id", 7)`, `eq(t.id, 7)`, `"id = :id"`."""
    if given.fields is not None:
        if (column := given.fields.get("column")) is not None:
            return KEY.fullmatch(column.name.rpartition(".")[2]) is not None
        values = given.fields
        return bool(values) and all(KEY.fullmatch(key) and _is_single(value) for key, value in values.items())
    match given.items:
        case [only]:
            return _is_condition(only) or _is_one(only)
        case [key, value]:
            return (_is_key(key) and _is_single(value)) or _is_condition(key)
        case [key, sign, value]:
            return _is_key(key) and EQUAL.fullmatch(sign.text) is not None and _is_single(value)
    return False


def _is_condition(value: Value) -> bool:
    return value.exact is not None and is_of_one(f"WHERE {value.exact}")


def _is_key(value: Value) -> bool:
    return value.exact is not None and KEY.fullmatch(value.exact) is not None


def _is_single(value: Value) -> bool:
    return value.items is None and value.fields is None
