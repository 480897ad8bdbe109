"""Functions of Python's library that run a text as statements: timers, profilers, debuggers, examples in docstrings."""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.bounds import excerpt
from runner.risk.model.value import UNKNOWN, Value, alternatives, text
from runner.risk.python.syntax import Unparsed
from runner.risk.trace.conditions import written_moment
from runner.risk.trace.search_path import note_programs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine, Special

EXAMPLE = expression(r"(?m)^[ \t]*+(>>>|\.\.\.) ?([^\n]*+)")


def run_statements(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """timeit.timeit(stmt, setup), cProfile.run, pdb.run: every text of theirs is code of this program."""
    given = [*args[:2], *(named[name] for name in ("stmt", "setup", "statement", "cmd") if name in named)]
    for code in given:
        if code.texts and not machine.trail.is_too_deep(called.name, place):
            fields = {"code": code, "language": text("python"), "how": text(called.name), "text": code}
            machine.trail.add("execute", called.name, fields, place, called.labels)
            with machine.trail.inside(place, excerpt(code.text, 200), "python"), contextlib.suppress(Unparsed):
                machine.walker.inner(code.text)
    return UNKNOWN if any(code.texts for code in given) else None


def environment_names(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Keep the names of the variables that a process is given beside their values."""
    if (given := named.get("env", UNKNOWN)).fields:
        named["env-names"] = alternatives(given.fields)
    return None


def stored_variables(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """os.environ.update({...}), os.putenv(name, value)."""
    given = {**((args[0].fields or {}) if args else {}), **named}
    if called.name == "os.putenv":
        given = {args[0].text: args[1]} if len(args) > 1 else {}
    for key, value in given.items():
        full = f"os.environ[{key}]"
        machine.trail.add("store", full, {"value": value, "target": text(full)}, place)
        if key == "PATH":
            note_programs(machine.trail, value, place)
    return UNKNOWN


def examples(body: Sequence[ast.stmt]) -> str:
    """Return the examples in the docstrings of a module, as `doctest` runs them."""
    found: list[str] = []
    for node in ast.walk(ast.Module(list(body), [])):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            documentation = ast.get_docstring(node) or ""
            lines = [match[2] for match in EXAMPLE.finditer(documentation)]
            found += lines
    return "\n".join(found)


RUN_STATEMENTS: dict[str, Special] = {
    **dict.fromkeys(
        (
            "datetime.datetime",
            "datetime.date",
            "time.mktime",
            "datetime.datetime.strptime",
            "datetime.date.fromisoformat",
        ),
        written_moment,
    ),
    **dict.fromkeys(("datetime.datetime.fromisoformat", "datetime.datetime.fromtimestamp"), written_moment),
    **dict.fromkeys(("os.environ.update", "os.putenv"), stored_variables),
    **dict.fromkeys(("timeit.timeit", "timeit.repeat", "timeit.Timer", "timeit.main"), run_statements),
    **dict.fromkeys(("cProfile.run", "cProfile.runctx", "profile.run", "profile.runctx"), run_statements),
    **dict.fromkeys(("cProfile.Profile.run", "cProfile.Profile.runctx", "profile.Profile.run"), run_statements),
    **dict.fromkeys(("pdb.run", "pdb.runeval", "bdb.Bdb.run", "pdb.Pdb.run", "trace.Trace.run"), run_statements),
    **dict.fromkeys(
        (f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")), environment_names
    ),
}
