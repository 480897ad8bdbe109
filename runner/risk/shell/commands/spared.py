"""Files that a deleting `find` spares: names that it leaves out, and what is not old enough.

Only what surely holds is noted: every test before the deletion is known, all of them have to hold, and none is in
brackets. A test after `-delete` spares nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words
from runner.risk.model.value import Value, either, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.risk.model.acts import Act

PLACE = expression(r"(?!-)[^*?\[]+")
"""A folder that is no option, nor a pattern for which files stand in that may be named like one."""
NAME = expression(r"[\w.@+*-]+", re.ASCII)
AGE = expression(r"\+(\d{1,6})")
SECONDS = {"-mtime": 86_400, "-ctime": 86_400, "-mmin": 60, "-cmin": 60}
ALONE = words("-empty -depth -d -xdev -mount -noleaf -print -print0 -true -readable -writable -executable")
WITH_ONE = words(
    "-type -name -iname -path -wholename -ipath -size -user -group -perm -mindepth -regextype -regex -links"
)
NAMES = words("-name -path -wholename")
NOT = words("! -not")


def spared(arguments: Sequence[Value], roots: int, deletion: int) -> dict[str, Value]:
    """Return what the deletion at argument number `deletion` spares, as fields of its act; `roots` come first."""
    places = arguments[:roots]
    if not all(one.exact and PLACE.fullmatch(one.exact) for one in places):
        return {}
    read = [one.exact for one in arguments[roots:deletion]]
    known = [one for one in read if one is not None]
    found = list(_tests(known)) if len(known) == len(read) else [None]
    tests = [one for one in found if one is not None]
    if len(tests) < len(found):
        return {}
    # Deeper down a name that is left out spares a folder of that name and nothing in it.
    flat = any(test == "-maxdepth" and value == "1" for _, test, value in tests)
    top = (places[0].exact or "").rstrip("/") if places else "."
    older = [int(age[1]) * SECONDS[test] for no, test, value in tests if not no and (age := AGE.fullmatch(value))]
    names = [
        value for no, test, value in tests if no and _leaves_out(test, value, top if len(places) < 2 else "", flat)
    ]
    fields = {"within": either(places) if places else text(".")}
    if names:
        fields["spares"] = Value(items=[text(name) for name in dict.fromkeys(names)])
    if max(older, default=0):
        fields["older"] = Value(number=max(older))
    return fields if len(fields) > 1 else {}


def _leaves_out(test: str, value: str, top: str, flat: bool) -> bool:
    """Return whether files are surely left out that a reader takes `value` for; `top` is the folder looked through."""
    if test == "-name":
        return flat and NAME.fullmatch(value) is not None
    below = value.removesuffix("/*").removeprefix(f"{top}/")
    return value == f"{top}/{below}/*" and NAME.fullmatch(below.replace("/", ".")) is not None


def _tests(read: Sequence[str]) -> Iterator[tuple[bool, str, str] | None]:
    """Yield whether each test has to fail, its name and its value; None for one that is not known."""
    rest = iter(read)
    for word in rest:
        no = word in NOT
        test = next(rest, "") if no else word
        if test in ALONE and not no:
            yield no, test, ""
        elif test in WITH_ONE | SECONDS.keys() | {"-maxdepth"}:
            value = next(rest, "")
            yield (no, test, value) if value and (not no or test in NAMES) else None
        else:
            yield None


def is_plain_removal(words: Sequence[Value]) -> bool:
    """Return whether a command of `-exec` removes what was found and nothing else."""
    read = [one.exact for one in words]
    return (
        bool(read)
        and read[0] in ("rm", "rmdir")
        and [one for one in read[1:] if not (one or "").startswith("-")] == ["{}"]
    )


def note(acts: Sequence[Act], fields: dict[str, Value]) -> None:
    """Note at deletions what they spare."""
    for act in acts:
        if act.kind == "delete":
            act.fields.update(fields)
