"""What each wing of the classifier is worth: what changes for programs that its author did not write without it.

`python -m tests.bench.ablation [WING ...]` measures those, by words of their names; `make bench ARGS=ablation` all. A
wing that changes nothing goes. The programs are those of `tests/risk/sets.py` that were written
before the rules, and the labelled records that ASSENT_RISK_RECORDS names, which are no part of this project.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import runner.risk
from runner.risk.assess import assess
from runner.risk.model.value import UNKNOWN, Value
from tests.bench.disguises import RECORDS
from tests.bench.risk import labelled, request
from tests.bench.row import Row
from tests.risk.sets import SETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from runner.model.assessment import Assessment, Level
    from runner.model.request import Request

RISK = Path(runner.risk.__file__).parent


def nothing(*_: object, **__: object) -> None:
    """Stand for a function that notes something, or for a handler: the general one is taken in its place."""


def unknown(*_: object, **__: object) -> Value:
    return UNKNOWN


def no(*_: object, **__: object) -> bool:
    return False


def none_of_them(*_: object, **__: object) -> tuple[()]:
    return ()


def no_labels(*_: object, **__: object) -> frozenset[str]:
    return frozenset()


def no_fields(*_: object, **__: object) -> dict[str, object]:
    return {}


@dataclass(frozen=True, slots=True)
class Wing:
    name: str
    files: tuple[str, ...]
    """Below `runner/risk/`, that would go with it."""
    off: Mapping[str, Callable[..., Any]]
    """Functions, as `module:name` below `runner.risk`, and what stands for each where it is switched off."""

    @property
    def lines(self) -> int:
        return sum(len((RISK / name).read_text("utf-8").splitlines()) for name in self.files)


WINGS = (
    Wing("what find spares", ("shell/commands/spared.py",), {"shell.commands.spared:spared": no_fields}),
    Wing(
        "members found by enumeration",
        ("trace/members.py",),
        {"trace.members:note_member": no, "trace.members:note_handed": nothing, "trace.members:members": no_labels},
    ),
    Wing("search path", ("trace/search_path.py",), {"trace.search_path:note_programs": nothing}),
    Wing(
        "subscripts of the shell",
        ("shell/subscripts.py",),
        {f"shell.subscripts:{name}": nothing for name in ("worked_out", "expanded", "given_to")},
    ),
    Wing("benign obfuscation", ("roundabout.py",), {"roundabout:only_roundabout": no}),
    Wing("stores and SQL", ("trace/stores.py", "sql.py"), {"trace.stores:done": no_labels}),
    Wing("secrets that are printed", ("trace/shown.py",), {"trace.shown:note_shown": nothing}),
    Wing("Python 2", ("python/python2.py",), {"python.python2:modern": lambda code: (code, False)}),
    Wing("conditions on time and machine", ("trace/conditions.py",), {"trace.conditions:note_condition": nothing}),
    Wing("all that a server keeps", ("trace/everything.py",), {"trace.everything:note_all": nothing}),
    Wing("what still is a secret", ("trace/giving_back.py",), {"trace.giving_back:kept": lambda labels, _name: labels}),
    Wing(
        "harm that is handed on",
        ("whole/handed_on.py", "whole/handed_on_javascript.py"),
        {"whole.handed_on:handed_on": none_of_them},
    ),
    Wing("tricks of text", ("text.py",), {"text:tricks": none_of_them}),
    Wing(
        "handed to what is not known",
        ("trace/unknown.py",),
        {f"trace.unknown:{name}": nothing for name in ("note_handed_to", "note_handed_to_program")},
    ),
    Wing("what a program obeys", ("shell/obeying.py",), {"shell.obeying:note_obeyed": nothing}),
    Wing("variables that steer programs", ("shell/steering.py",), {"shell.steering:steers": nothing}),
    Wing("programs that nobody knows", ("shell/strangers.py",), {"shell.strangers:note_stranger": no}),
    Wing("files that git prints", ("shell/commands/git_files.py",), {"shell.commands.git_files:read_by_path": unknown}),
    Wing("dry runs", ("shell/commands/dry.py",), {"shell.commands.dry:is_dry": no}),
    Wing("records of Python", ("python/records.py",), {"python.records:named_tuple": nothing}),
    Wing(
        "command lines of Python",
        ("python/command_line.py",),
        {
            f"python.command_line:{name}": nothing
            for name in ("parser", "group", "add_argument", "set_defaults", "parsed")
        },
    ),
    Wing(
        "code that only computes",
        ("verdict/computing.py",),
        {
            "verdict.computing:only_computes": no,
            "verdict.computing:only_known": no,
            "verdict.computing:prints": no,
        },
    ),
    Wing(
        "where a program stands",
        ("trace/standing.py",),
        {f"trace.standing:{name}": nothing for name in ("go", "where", "around")},
    ),
)


class Program(NamedTuple):
    name: str
    request: Request


class Change(NamedTuple):
    """How many programs come out differently without a wing."""

    asked: int
    """In which it is entered at all."""
    levels: int
    findings: int
    """Whose findings change, but not the level."""
    sentences: int
    """Of which only the sentence changes, or what is left unread."""


def programs() -> Iterator[Program]:
    """Yield every program that the author of the classifier did not write."""
    for kind in ("danger", "harmless"):
        for one in SETS:
            for case in one.cases(kind) if one.before else ():
                if case.language is not None:
                    yield Program(f"{one.name}-{kind}: {case.name}", case.request)
    if records := os.environ.get(RECORDS):
        for number, record in enumerate(labelled(Path(records)), 1):
            yield Program(f"record {number}", request(record))


def outcome(found: Assessment) -> tuple[Level, frozenset[str], object]:
    """Return what a person sees of an assessment, from the gravest."""
    return found.level, frozenset(one.id for one in found.findings), (found.verdict, found.reasons, found.unread)


class Switch:
    """A function of the classifier in every place that holds it, which may be switched off and counts its calls."""

    def __init__(self, where: str, instead: Callable[..., Any]) -> None:
        module, name = where.split(":")
        self.function = getattr(import_module(f"runner.risk.{module}"), name)
        self.instead = instead
        self.entered = False
        places = [vars(one) for title, one in sys.modules.items() if title.startswith("runner.risk")]
        tables = [value for names in places for value in names.values() if isinstance(value, dict)]
        self._places = [
            (table, key) for table in [*places, *tables] for key, value in table.items() if value is self.function
        ]

    def count(self, *given: Any, **named: Any) -> Any:
        self.entered = True
        return self.function(*given, **named)

    def put(self, function: Callable[..., Any]) -> None:
        for table, key in self._places:
            table[key] = function


def measured(wings: tuple[Wing, ...]) -> Iterator[tuple[Wing, Change, int]]:
    """Yield what each wing changes, and of how many programs. A wing is off only where it is entered at all."""
    for found in pkgutil.walk_packages([str(RISK)], "runner.risk."):
        if not found.name.endswith("__main__"):
            import_module(found.name)
    switches = {wing.name: [Switch(where, instead) for where, instead in wing.off.items()] for wing in wings}
    everyone = [switch for those in switches.values() for switch in those]
    for switch in everyone:
        switch.put(switch.count)
    entered: dict[str, list[tuple[Program, object]]] = {wing.name: [] for wing in wings}
    number = 0
    for program in programs():
        number += 1
        for switch in everyone:
            switch.entered = False
        came = outcome(assess(program.request))
        for name, those in switches.items():
            if any(switch.entered for switch in those):
                entered[name].append((program, came))
    for switch in everyone:
        switch.put(switch.function)
    for wing in wings:
        yield wing, _without(wing, switches[wing.name], entered[wing.name]), number


def _without(wing: Wing, switches: list[Switch], programs: list[tuple[Program, Any]]) -> Change:
    levels = findings = sentences = 0
    for switch in switches:
        switch.put(switch.instead)
    for program, before in programs:
        after = outcome(assess(program.request))
        if after != before:
            levels += after[0] != before[0]
            findings += after[0] == before[0] and after[1] != before[1]
            sentences += after[:2] == before[:2]
            if os.environ.get("ASSENT_ABLATION_NAMES"):
                print(f"{wing.name}: {program.name}", file=sys.stderr)
    for switch in switches:
        switch.put(switch.function)
    return Change(len(programs), levels, findings, sentences)


def rows(wings: tuple[Wing, ...] = WINGS) -> Iterator[Row]:
    for wing, change, number in measured(wings):
        what = f"{change.levels} levels, {change.findings} findings, {change.sentences} sentences"
        name = f"without {wing.name}, {wing.lines} lines: programs of {number:,} that come out differently"
        note = f"{what}; entered in {change.asked:,}"
        yield Row(name, change.levels + change.findings + change.sentences, "programs", note=note)


def main(argv: list[str]) -> int:
    wings = tuple(wing for wing in WINGS if not argv or any(word in wing.name for word in argv))
    for row in rows(wings):
        print(f"{row.value:6.0f}  {row.name} ({row.note})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
