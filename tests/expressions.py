"""Measures every regular expression of ours with long texts, in a process of its own; says which are not linear.

`python -m tests.expressions` tries all; expressions given as arguments are tried instead. Each that is found is a line
with the text and the times; the last line is how many were tried.
"""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import json
import os
import pkgutil
import re
import resource
import signal
import sys
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.model import expression as later
from tests.pumps import END, pumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
FIRST_PARTY = ("runner", "app")
USES = dict.fromkeys(("finditer", "findall", "sub", "subn", "split"), "finditer") | {
    name: name for name in ("search", "match", "fullmatch")
}
"""What an expression is used for -> what is measured of it."""
SIZES = (1_500, 6_000, 24_000)
"""Characters of the texts of each look; the next one only where the last was neither quick nor steep."""
TROUBLE = "runner/sandbox/images/trouble.py"
STEEP = 2.7
"""Times the growth in size that the time may grow; where it is quadratic, it is four times."""
EVEN = 1.1
"""The same, within which the next look is not needed: what makes that one steep would show more by then.

Of times like n + c * n * n * n those that grow by no more here stay below STEEP there; likewise with n * n.
"""
QUICK = 0.004
"""Seconds of processor time within which a look is not steep, whatever the one before it took.

An expression that takes this for the longest text would take 0.3 s for 200,000 characters, were it quadratic.
"""
QUICK_IF_SHORT = 0.02
"""As QUICK, for an expression that only gets short texts: they cannot become longer."""
_LEAVES = frozenset([type(None), str, int, bool, ast.Name, ast.Constant, ast.Load, ast.Store, ast.Pass])
"""Types of parts of a syntax tree that hold no call and no attribute."""
SHORT = 0.0003
"""Seconds of processor time within which there is no need for a longer text."""
LONG = 0.2
"""Seconds of processor time for one look that no busy machine makes of a quick one."""
CONFIRMED = 20
"""More looks of which the quickest counts before an expression is said to be steep.

On a busy machine a look costs several times the processor time: what it needs in the caches is gone each time that
another program had its turn. One that is steep is so in each look.
"""
HANG = 4
"""Seconds of processor time for one expression, after which its process is ended from outside: several times what the
slowest of ours takes."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, the first place where it stands, and what is measured of it."""

    where: str
    pattern: re.Pattern[Any]
    uses: frozenset[str]

    def is_of(self, file: str, begin: str) -> bool:
        """Whether it stands in `file` and begins with `begin`."""
        return self.where.startswith(file) and self.pattern.pattern[: len(begin)] == begin


@dataclass(frozen=True, slots=True)
class Call:
    """A call of `re` in the source."""

    where: str
    function: str
    """The function around it; "" in the module itself."""
    name: str
    text: str | bytes | None
    """The expression; None where it is put together."""
    flags: int


@functools.cache
def files() -> tuple[tuple[str, str], ...]:
    """Return path and text of each file of the source."""
    paths = [path for top in FIRST_PARTY for path in sorted((ROOT / top).rglob("*.py"))]
    return tuple((str(path.relative_to(ROOT)), path.read_text("utf-8")) for path in paths)


@functools.cache
def parts(text: str) -> list[tuple[ast.AST, str]]:
    """Return the calls and attributes in the text of a file, each with the function around it."""
    found: list[tuple[ast.AST, str]] = []
    _find(ast.parse(text), "", found)
    return found


def _find(node: ast.AST, function: str, nodes: list[tuple[ast.AST, str]]) -> None:
    """Add the calls and attributes below `node`."""
    for name in node._fields:
        value = getattr(node, name, None)
        for child in value if type(value) is list else (value,):
            kind = type(child)
            if kind in _LEAVES or not isinstance(child, ast.AST):
                continue
            if kind is ast.Call or kind is ast.Attribute:
                nodes.append((child, function))
            _find(child, child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function, nodes)


def calls() -> Iterator[Call]:
    """Every call of `re` with an expression."""
    for file, text in files():
        for node, function in parts(text) if re.search(r"\bre\.|\bexpression\(", text) else ():
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=name) | ast.Name(id="expression" as name),
                    args=[first, *_],
                ) if name in USES or name in ("compile", "expression"):
                    plain = first.value if isinstance(first, ast.Constant) else None
                    expression = plain if isinstance(plain, str | bytes) else None
                    yield Call(f"{file}:{node.lineno}", function, name, expression, _flags(node))


def _flags(call: ast.Call) -> int:
    flags = 0
    for part in [*call.args[1:], *(one.value for one in call.keywords)]:
        for node in ast.walk(part):
            match node:
                case ast.Attribute(value=ast.Name(id="re"), attr=name) if name.isupper():
                    flags |= int(getattr(re, name, 0))
    return flags


class Recorder:
    """What stands in for `re.compile`, to know what is compiled while modules and rules are loaded."""

    def __init__(self) -> None:
        self.met: list[tuple[str, re.Pattern[Any]]] = []
        self._compile = re.compile
        self.stood_for = later.expression

    def __call__(self, pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        compiled: re.Pattern[Any] = self._compile(pattern, flags)
        caller = sys._getframe(1)
        file = Path(caller.f_code.co_filename)
        if any(file.is_relative_to(ROOT / top) for top in FIRST_PARTY):
            self.met.append((f"{file.relative_to(ROOT)}:{caller.f_lineno}", compiled))
        return compiled


def collected() -> list[Expression]:
    """Return every expression of the source and of the rules, each once."""
    recorder = Recorder()
    re.compile = recorder
    # Modules take it from there when they are imported: what they would compile later is compiled now.
    later.expression = recorder  # type: ignore[assignment]
    modules = []
    for top in FIRST_PARTY:
        for info in pkgutil.walk_packages(importlib.import_module(top).__path__, top + "."):
            # What runs inside of containers acts when it is imported, and has no expression that is put together.
            if not info.name.endswith("__main__") and ".inside" not in info.name:
                modules.append(importlib.import_module(info.name))
    _load(recorder)
    re.compile = recorder._compile
    later.expression = recorder.stood_for
    names = {id(value): name for one in modules for name, value in vars(one).items() if isinstance(value, re.Pattern)}
    applied = _applied(set(names.values()))
    found: dict[tuple[object, int], Expression] = {}

    def add(where: str, pattern: re.Pattern[Any], uses: frozenset[str]) -> None:
        known = found.setdefault((pattern.pattern, pattern.flags), Expression(where, pattern, frozenset()))
        found[pattern.pattern, pattern.flags] = replace(known, uses=known.uses | uses)

    for where, pattern in recorder.met:
        add(where, pattern, applied.get(names.get(id(pattern), where.partition(":")[0]), frozenset(["finditer"])))
    for call in calls():
        if call.text is not None and call.name in USES:
            add(call.where, re.compile(call.text, call.flags), frozenset([USES[call.name]]))
    return sorted(found.values(), key=lambda one: (one.where, repr(one.pattern.pattern)))


def _applied(names: set[str]) -> dict[str, frozenset[str]]:
    """Return what is measured of each expression with a name, and by file of those without one."""
    found: dict[str, set[str]] = {}
    for file, text in files():
        for node, _ in parts(text):
            match node:
                case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=use) if name in names:
                    if use in USES:
                        found.setdefault(name, set()).add(USES[use])
                case ast.Attribute(value=value, attr=use) if use in USES and use != "split":
                    if not (isinstance(value, ast.Name) and value.id == "re"):
                        found.setdefault(file, set()).add(USES[use])
                case ast.Call(args=[ast.Name(id=name), *_]) if name in names:
                    # A function applies it, somehow.
                    found.setdefault(name, set()).update(["finditer", "fullmatch"])
    return {name: frozenset(uses) for name, uses in found.items()}


def _load(recorder: Recorder) -> None:
    """Compile what is only compiled when it is needed."""
    from runner.audit.files import redact
    from runner.risk.rules import knowledge
    from runner.sandbox.images import trouble

    knowledge.bundled().targets.of("/")
    assert knowledge.bundled().rules.all
    redact._detectors()
    for sign, *_ in trouble.CAUSES:
        recorder.met.append((TROUBLE, recorder._compile(sign, re.IGNORECASE)))


def seconds(one: Expression, text: str | bytes) -> float:
    """Return the processor time of what `one` is used for."""
    began = time.thread_time()
    for use in one.uses:
        found = getattr(one.pattern, use)(text)
        if use == "finditer":
            deque(found, maxlen=0)
    return time.thread_time() - began


def steep(one: Expression, text: Callable[[int], str | bytes], longest: int) -> str:
    """Return how the time grows with longer texts where that is too much, and otherwise ""."""
    sizes = [size * longest // SIZES[-1] for size in SIZES]
    quick = QUICK if longest >= SIZES[-1] else QUICK_IF_SHORT
    first, small = seconds(one, text(sizes[0])), sizes[0]
    for size in sizes[1:]:
        second = seconds(one, text(size))
        limit = STEEP * size / small
        again = CONFIRMED if second < LONG else 1
        for _ in range(again):
            if second > max(quick, limit * first):
                first, second = min(first, seconds(one, text(small))), min(second, seconds(one, text(size)))
        if second > max(quick, limit * first):
            return f"{first:.4f} s for {small:,} characters, {second:.4f} s for {size:,}"
        if second < SHORT or size == sizes[-1]:
            break
        if second < EVEN * size / small * min(first, seconds(one, text(small))):
            break
        first, small = second, size
    return ""


def pump(one: Expression, longest: int = SIZES[-1]) -> str:
    """Return the first text that takes too long, with its times; "" where there is none."""
    source = one.pattern.pattern
    plain = source.decode("latin-1") if isinstance(source, bytes) else source
    flags = one.pattern.flags & ~re.UNICODE
    for start, middle in pumps(plain, flags):

        def text(size: int, start: str = start, middle: str = middle) -> str | bytes:
            whole = start + middle * (size // len(middle)) + END
            return whole.encode("utf-8", "replace") if isinstance(source, bytes) else whole

        if much := steep(one, text, longest):
            return f"{start!r} + {middle!r} * n: {much}"
    return ""


def short_texts() -> dict[tuple[str, str], tuple[int, str]]:
    """Return file and beginning of expressions that only get short texts -> how many characters, and why."""
    # Imported only now: what these compile is to be known.
    from runner.audit.files.redact import PIECE
    from runner.risk.rules.targets import LONGEST_PATH

    return {
        ("runner/risk/rules/targets.py", "(?:"): (LONGEST_PATH, "no longer path is looked at"),
        ("runner/audit/files/redact.py", r"\beyJ"): (PIECE, "what is looked through is cut into pieces"),
    }


def limited() -> None:
    """Have this process ended when it takes too long for what comes now: nothing within it can interrupt `re`."""
    limit = int(time.process_time()) + 1 + HANG
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def tried(expressions: list[Expression], bounds: Mapping[tuple[str, str], tuple[int, str]], out: int) -> None:
    """Try all of `expressions`, in a process that may be ended at any of them; a line of JSON is written for each."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for one in expressions:
        entry = next((key for key in bounds if one.is_of(*key)), None)
        limited()
        much = pump(one) if entry is None else pump(one, bounds[entry][0])
        limited()
        # Not with as long texts as the others: it is known to take long for them.
        needed = entry is not None and bool(pump(one, bounds[entry][0] * 4))
        os.write(out, json.dumps([much, entry if needed else None]).encode() + b"\n")


def main(given: list[str]) -> None:
    """Say which expressions are not linear, those given or all; and which entries of short texts are not needed."""
    # The syntax trees of all files stay until the end: the collector took four fifths of the time to make them.
    gc.disable()
    every = frozenset(["finditer", "fullmatch"])
    expressions = [Expression("given", re.compile(text), every) for text in given] or collected()
    bounds = {} if given else short_texts()
    unneeded = dict(bounds)
    at = 0
    while at < len(expressions):
        reader, writer = os.pipe()
        if not (child := os.fork()):
            os.close(reader)
            tried(expressions[at:], bounds, writer)
            os._exit(0)
        os.close(writer)
        with open(reader, encoding="utf-8") as answers:
            lines = [*answers]
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if ended == -signal.SIGXCPU:
            lines.append(json.dumps([f"not done in {HANG} s of processor time", None]))
        elif ended:
            sys.exit(f"the process that tries them ended with {ended}")
        for one, line in zip(expressions[at:], lines, strict=False):
            much, entry = json.loads(line)
            unneeded.pop(tuple(entry or ()), None)
            if much:
                print(f"{one.where} {one.pattern.pattern!r:.160}: {much}", flush=True)
        at += len(lines)
    for file, begin in unneeded:
        print(f"{file} {begin}: need not be listed as only getting short texts")
    print(len(expressions))


if __name__ == "__main__":
    main(sys.argv[1:])
