"""Arguments of the command line, as argparse reads them: one that is not given has its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.value import HOLE, UNKNOWN, Value, either, text
from runner.risk.python.files import path

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine, Special

PARSER = "argparse.ArgumentParser"
GROUPS = ("add_argument_group", "add_mutually_exclusive_group")
GIVEN = frozenset({"argument"})
MOST_ARGUMENTS = 100


def parser(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return Value(name=f"{PARSER}()", fields={})


def group(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return the parser itself: what is added to a group of it is its own."""
    return called.owner


def add_argument(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Keep what an argument is where nobody gives it."""
    names, default, kind = [arg.exact or "" for arg in args], named.get("default"), named.get("type")
    written = named["dest"].exact if "dest" in named else None
    name = written or next((one for one in names if one.startswith("--")), names[0] if names else "")
    known = None if called.owner is None else called.owner.fields
    of_path = kind is not None and kind.name.startswith("pathlib.")
    if known is not None and of_path and default is None and len(known) <= MOST_ARGUMENTS:
        assert kind is not None
        given = path(machine, kind, [text(HOLE, labels=GIVEN)], {}, place) or UNKNOWN
        known[name.lstrip("-").replace("-", "_")] = given
        return UNKNOWN
    if known is None or default is None or not default.texts or len(known) > MOST_ARGUMENTS:
        return UNKNOWN
    if kind is not None and kind.name.startswith("pathlib.") and not default.name:
        default = path(machine, kind, [default], {}, place) or default
    known[name.lstrip("-").replace("-", "_")] = either((text(HOLE, labels=GIVEN), default))
    return UNKNOWN


def set_defaults(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    if called.owner is not None and called.owner.fields is not None:
        called.owner.fields.update((name, either((text(HOLE, labels=GIVEN), value))) for name, value in named.items())
    return UNKNOWN


def parsed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return the defaults; nothing where the program itself says what is given."""
    known = None if called.owner is None else called.owner.fields
    if not known or args or named or machine.has_arguments:
        return None
    return Value(name="argparse.Namespace", fields=dict(known))


COMMAND_LINE: dict[str, Special] = {
    PARSER: parser,
    **dict.fromkeys((f"{PARSER}.{name}" for name in GROUPS), group),
    f"{PARSER}.add_argument": add_argument,
    f"{PARSER}.set_defaults": set_defaults,
    f"{PARSER}.parse_args": parsed,
}
