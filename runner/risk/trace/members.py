"""Members of a module that are found by going through all of them, and are called by no name of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.value import NO_LABELS, Value, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Place, Trail
    from runner.risk.rules.vocabulary import Meaning, Vocabulary

MEMBER_OF = "$member-of:"
"""Begins the label of what is a member of a module, or the name of one; the module follows."""

BUILTINS = ("builtins", "__builtins__", "__builtin__")


def members(vocabulary: Vocabulary, module: Value) -> frozenset[str]:
    """Return the label of what is found in `module`; none where nothing in it does anything."""
    known = module.items is not None or (module.fields is not None and "?" not in module.fields)
    if not known and (module.name in BUILTINS or vocabulary.acts_below(module.name)):
        return frozenset({f"{MEMBER_OF}{module.name}"})
    return member_labels(module)


def member_labels(value: Value) -> frozenset[str]:
    """Return the labels of this kind that a value has."""
    if not value.labels:
        return NO_LABELS
    return frozenset(label for label in value.labels if label.startswith(MEMBER_OF))


def module_of(value: Value) -> str:
    """Return the module whose members a value holds; '' for none."""
    return min(member_labels(value), default=MEMBER_OF)[len(MEMBER_OF) :]


def note_member(trail: Trail, called: Value, meanings: Sequence[Meaning], place: Place) -> bool:
    """Note a call of a member that was found; return whether it is one. Methods of what was found are none."""
    found = member_labels(called)
    if not found or any(meaning.act == "member" for meaning in meanings):
        return False
    if called.owner is not None and found <= called.owner.labels:
        return False
    trail.add("enumerated", called.name, {"of": text(module_of(called))}, place, called.labels)
    return True


def note_handed(trail: Trail, args: Sequence[Value], place: Place) -> None:
    """Note the members that were found and are given to what will call them."""
    for value in args:
        if value.labels and value.function is None:
            note_member(trail, value, (), place)
