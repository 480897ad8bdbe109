"""Words for what is done to files: deleting, writing, moving, reading, making, changing rights."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.verdict import Verb
from runner.risk.model.acts import PICKED_BY_AGE
from runner.risk.model.value import HOLE
from runner.risk.rules.starting import started_by
from runner.risk.verdict.naming import (
    FINDS,
    MEETS,
    NAMED,
    WHOLE_PLACES,
    WORKING,
    Does,
    Named,
    file_name,
    listed,
    path_of,
    quoted,
)
from runner.risk.verdict.programs import WITH_COMMAND, named_program
from runner.risk.verdict.sentence import A_COPY, A_LINK

if TYPE_CHECKING:
    from runner.risk.model.acts import Act
    from runner.risk.rules.targets import Targets

    Described = tuple[Verb, Named] | None


def deletes(act: Act, targets: Targets) -> Described:
    if "beside" in act.fields:
        beside, place = path_of(act.get("beside"), "folder"), path_of(act.get("path"), "folder")
        return Verb.DELETES, Named(f"whatever is not in {beside.words} from {place.words}", place.computed)
    path = act.get("path")
    if act.fields.keys() & {"older", "spares"} and PICKED_BY_AGE in path.labels:
        path = copy.copy(path)
        path.labels -= {PICKED_BY_AGE}
    return Verb.DELETES, _sparing(act, path_of(path, tree=act.get("tree").text == "yes"))


def _sparing(act: Act, named: Named) -> Named:
    """Add to what is deleted what is known to be left."""
    older, spares = act.get("older").number, act.get("spares").items
    if not older and not spares:
        return named
    folder = path_of(act.get("within"), "folder").words if "within" in act.fields else ""
    what, within, rest = named.words.partition(" in ") if named.words.startswith(NAMED) else ("", "", named.words)
    where = folder or rest.removeprefix(FINDS)
    found = folder or where != named.words
    if older:
        meets = MEETS if MEETS in rest else ""
        rest = rest.replace(MEETS, "")
        where = f"{folder or rest.removeprefix(FINDS)}{meets}"
        age = _age(int(older))
        what = f"{what} and older" if within else "what is older"
        words = f"{what} than {age} in {where}" if found else f"{where} older than {age}"
    else:
        words = f"{FINDS}{where}" if found else where
    left = listed([file_name(one.text, LONGEST_SPARED) for one in spares or ()])
    return Named(f"{words}, except {left}" if left else words, computed=True)


LONGEST_SPARED = 24
UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def _age(seconds: int) -> str:
    unit, name = next((unit, name) for unit, name in UNITS if seconds % unit == 0)
    return f"{seconds // unit:,} {name}{'s' if seconds != unit else ''}"


def writes(act: Act, targets: Targets) -> Described:
    path = act.get("path")
    if path.text.startswith("/dev/") and not is_kind(path.text, "device", targets):
        return None
    if any(is_kind(known, "startup", targets) or is_kind(known, "hook", targets) for known in path.texts):
        named = path_of(path, "file")
        by = next(filter(None, map(started_by, path.texts)), "") or "runs by itself"
        return Verb.RUNS_ON_START, named._replace(words=f"{named.words} ({by})")
    edits = "yes" in (act.get("edit").text, act.get("rewrites").text)
    named = path_of(path, "file")
    if act.get("empties").text == "yes" and "found" in path.labels:
        return Verb.DELETES, Named(f"the content of {named.words}", computed=True)
    source = path_of(act.get("source"), "file")
    if act.kind == "link" or "link" in act.name:
        return Verb.WRITES, named._replace(words=f"{A_LINK}{source.words} at {named.words}")
    if act.kind == "copy" and act.language == "" and not act.get("source").unknown:
        return Verb.WRITES, named._replace(words=f"{A_COPY}{source.words} to {named.words}")
    if by := act.get("by").text:
        made_of = [path_of(one, "file").words for one in act.get("of").items or ()]
        what = f"{listed(made_of)} to {named.words}" if made_of else ""
        named = named._replace(does=Does("converts" if made_of else "makes", what or named.words, named_program(by)))
    if named.words == WORKING and not edits:
        named = named._replace(words=f"into {WORKING}")
    return Verb.REWRITES if edits else Verb.WRITES, named


def moves(act: Act, targets: Targets) -> Described:
    done = writes(act, targets)
    if done is not None and done[0] is Verb.RUNS_ON_START:
        return done
    source, path = path_of(act.get("source"), "file"), path_of(act.get("path"), "file")
    if source == path and source.words.startswith(FINDS):
        words = f"{source.words} to other names there, which may replace one another"
        return Verb.MOVES, source._replace(words=words)
    return Verb.MOVES, Named(f"{source.words} to {path.words}", source.computed or path.computed, source.place)


def reads(act: Act, targets: Targets) -> Described:
    path = act.get("path")
    if path.text.startswith("/dev/") or path.text in (":memory:", "-") or act.name == "<":
        return None
    if act.kind == "use" and (act.name in WITH_COMMAND or act.get("strange").text == "yes"):
        return None  # what becomes of it nobody knows: it is said that it is handed over
    if not path.texts and path.fields is None and "(" in path.name:
        return None  # what a call gave: a response, a stream
    if any(is_kind(known, "secret", targets) for known in path.texts):
        return Verb.READS_SECRETS, path_of(path, "file")
    named = path_of(path, "file")
    if act.kind == "use" and named.words in WHOLE_PLACES:
        return None  # what a program is given of a place as large as that it may only look at
    return Verb.LISTS if named.words.startswith(WORKING) else Verb.READS, named


def makes(act: Act, targets: Targets) -> Described:
    return Verb.MAKES, path_of(act.get("path"), "folder", tree=act.get("folder").text == "yes")


def lists(act: Act, targets: Targets) -> Described:
    named = path_of(act.get("path"), "folder")
    wanted = [one for one in act.get("names").texts if one.strip("*?./") and HOLE not in one]
    if wanted and not named.computed:
        named = named._replace(words=f"{named.words} for {listed([quoted(one) for one in wanted])}")
    return Verb.LISTS, named


def changes_rights(act: Act, targets: Targets) -> Described:
    path, mode = path_of(act.get("path")), act.get("mode").text
    to = f" to {mode}" if OPENS.fullmatch(mode) else ""
    return Verb.CHANGES_RIGHTS, Named(f"{path.words}{to}", path.computed, path.place)


OPENS = expression(r"[0-7]?[0-7]?[0-7][2367]|[ugoa]{0,3}\+r?w\w?")
"""Rights by which everybody may change a file."""


def is_kind(path: str, kind: str, targets: Targets) -> bool:
    return kind in targets.of(path)


def archives(act: Act, targets: Targets) -> Described:
    writes = any(letter in act.get("mode").text for letter in "wax")
    return Verb.WRITES if writes else Verb.READS, path_of(act.get("path"), "file")
