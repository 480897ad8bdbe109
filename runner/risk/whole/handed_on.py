"""Functions that do harm and are handed on, where nobody sees with what they are called: of Python and of Node.js."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.model.assessment import Capability, Finding, Level
from runner.model.expression import expression
from runner.model.request import Language
from runner.risk.model.acts import ASSUMED
from runner.risk.model.outline_data import words
from runner.risk.python.syntax import Unparsed, nodes_of, place
from runner.risk.verdict.naming import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.model.span import Span
    from runner.risk.model.acts import Trail
    from runner.risk.model.lines import Lines

GRAVE = words(
    "shutil.rmtree shutil.move os.remove os.unlink os.rmdir os.removedirs os.system os.popen os.truncate os.rename "
    "os.replace os.chmod os.execv os.execvp subprocess.run subprocess.call subprocess.check_call "
    "subprocess.check_output subprocess.Popen eval exec"
)
"""Functions that delete, replace or start whatever they are given."""
NAMES = expression(
    rf"\b(?:{'|'.join(sorted({name.rpartition('.')[2] for name in GRAVE}))})\b(?!\s*\()"
    r"|\b(?:os|shutil|subprocess|sys|builtins)\b(?<!import )(?!\s*[.\w])"
)
"""One of them in a text, where it is not called at once."""


TEXTS = frozenset(name for name in GRAVE if "." in name) | {name.replace(".", ":") for name in GRAVE if "." in name}
"""How a text names one of them for something that looks it up."""
CODE = expression(
    r"__import__\s*\(|\b(?:os|shutil|subprocess|pathlib)\s*\.\s*(?:remove|unlink|rmtree|rmdir|removedirs|system|popen|"
    r"run|call|check_call|check_output|Popen|truncate|rename|replace|move|exec[lv]p?e?)\s*\("
)
"""Such a call in a text, which does it if something runs the text."""
KEEPS = words(
    "print write write_text write_bytes writelines debug info warning error critical exception log echo append extend "
    "format replace join split strip startswith endswith count index find search match fullmatch findall finditer sub "
    "compile dedent indent assertIn assertNotIn assertEqual assertRaises assertRaisesRegex raises add_argument "
    "print_exc ArgumentParser Exception ValueError RuntimeError TypeError fail skip exit Message encode dumps escape "
    "highlight Syntax Markdown Text Panel assess insert put len str repr fixture mark parametrize update add "
    "setdefault get"
)
"""Functions that keep, show or compare a text, or look for something in it."""
MODULES = words("os shutil subprocess sys builtins")
"""Modules in which such functions are."""
ASKS = words(
    "hasattr getattr setattr delattr object dir print help isinstance reload vars id type getmembers patch dict str "
    "repr getsource"
)
"""Functions that ask a module for what is in it, or replace that, which is followed or harmless."""
REPLACES = words("patch setattr setitem delattr")
"""Functions that put something else in their place, as tests do."""


def handed_on(language: Language | None, code: str, trail: Trail, lines: Lines) -> Iterator[Finding]:
    """Yield a finding for each of them that a program hands on, and that no act of the trail is of."""
    if language is Language.PYTHON:
        yield from _of_python(code, trail, lines)
    elif language is Language.JAVASCRIPT:
        # Imported here: a process of its own reads most languages once.
        from runner.risk.whole.handed_on_javascript import NAMES as NAMES_THERE
        from runner.risk.whole.handed_on_javascript import of_javascript

        if NAMES_THERE.search(code) is not None:
            for name, at in of_javascript(code, {act.name for act in trail.acts if not act.labels & ASSUMED}):
                yield _finding(name, lines.place(at), lines)


def _finding(name: str, span: Span, lines: Lines) -> Finding:
    reason = f"Hands on {name}; with what it is called could not be read."
    evidence = lines.evidence(span)
    return Finding("hidden.handed-on", Level.HIGH, Capability.UNREADABLE, span, evidence, reason, "CWE-470")


def _of_python(code: str, trail: Trail, lines: Lines) -> Iterator[Finding]:
    if NAMES.search(code) is None and CODE.search(code) is None:
        return
    try:
        nodes, _ = nodes_of(code)
    except Unparsed:
        return
    modules = _modules(nodes)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    parts = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    seen = {act.name for act in trail.acts if not act.labels & ASSUMED}
    asked = {id(one) for node in nodes if isinstance(node, ast.Call) and _last(node.func) in ASKS for one in node.args}
    given = {id(one) for node in nodes for one in _given(node)} if CODE.search(code) is not None else set()
    run = {known for act in trail.acts if act.kind == "execute" for known in act.get("code").texts}
    looked_up = {id(one) for node in nodes for one in _looked_up(node)}
    for node in nodes:
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in called and id(node) not in parts:
            name = _dotted(node, modules)
            own = isinstance(node, ast.Name) and node.id in bound
            if name in GRAVE and name not in seen and not own and isinstance(node.ctx, ast.Load):
                yield _finding(name, lines.place(place(node)), lines)
            elif name in MODULES and not own and id(node) not in asked and not any(map(_of_module(name), seen)):
                yield _finding(f"the module {name}", lines.place(place(node)), lines)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) in given:
            if (deed := CODE.search(node.value)) is not None and node.value not in run:
                yield _finding(f"a text that may be run ({shown(deed[0], 40)}…)", lines.place(place(node)), lines)
        elif isinstance(node, ast.Constant) and node.value in TEXTS and id(node) in looked_up:
            name = str(node.value).replace(":", ".")
            if name not in seen:
                yield _finding(name, lines.place(place(node)), lines)


def _looked_up(node: ast.AST) -> Iterator[ast.expr]:
    """Yield texts that something may look up: what stands in a mapping, or is given to what replaces nothing."""
    match node:
        case ast.Dict(values=values):
            yield from values
        case ast.Call(func=func, args=args) if _last(func) not in REPLACES:
            yield from args
        case _:
            pass


def _given(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is given to a function that may run it, and annotations, which are looked at as code."""
    match node:
        case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=annotation) if annotation is not None:
            yield annotation
        case ast.Call(func=func, args=args, keywords=keywords) if _last(func) not in KEEPS:
            waiting = [*args, *(one.value for one in keywords)]
            while waiting:
                one = waiting.pop()
                yield one
                if isinstance(one, ast.List | ast.Tuple | ast.Dict):
                    waiting += one.values if isinstance(one, ast.Dict) else one.elts
        case _:
            pass


def _of_module(module: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(f"{module}.")


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _modules(nodes: list[ast.AST]) -> dict[str, str]:
    """Return what the names of a program stand for that it has imported."""
    found: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Import(names):
                found.update((one.asname or one.name, one.name) for one in names)
            case ast.ImportFrom(str(module), names):
                found.update((one.asname or one.name, f"{module}.{one.name}") for one in names)
            case _:
                pass
    return found


def _dotted(node: ast.expr, modules: dict[str, str]) -> str:
    match node:
        case ast.Name(name):
            return modules.get(name, name)
        case ast.Attribute(value=ast.Name(name), attr=attribute):
            return f"{modules.get(name, name)}.{attribute}"
        case _:
            return ""
