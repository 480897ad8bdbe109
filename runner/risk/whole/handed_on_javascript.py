"""Functions of Node.js that do harm and are handed on by a JavaScript program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.executing.executing_javascript import walk
from runner.risk.javascript.modules import module
from runner.risk.javascript.syntax import code_of, parse, place
from runner.risk.model.outline_data import words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tree_sitter import Node

    from runner.risk.model.acts import Place

OF_FILES = words(
    "rm rmSync unlink unlinkSync rmdir rmdirSync remove removeSync emptyDir emptyDirSync rename renameSync move "
    "moveSync truncate truncateSync ftruncateSync"
)
OF_PROGRAMS = words("exec execSync execFile execFileSync spawn spawnSync fork")
GRAVE = {"fs": OF_FILES, "child_process": OF_PROGRAMS}
"""Functions that delete, replace or start whatever they are given, by their module."""
NAMES = expression(rf"\b(?:{'|'.join(sorted(OF_FILES | OF_PROGRAMS))})\b(?!\s*\()")
"""One of them in a text, where it is not called at once."""
REQUIRE = expression(r"""require\(\s*['"]([\w:/-]{1,40})['"]\s*\)(\.promises)?""")
CALLED_BY = words("call apply")
OF_MOCKS = "mock"
"""Begins the names of what only the stand-in has that a test puts in a function's place: `execFile.mock.calls`."""
ASKS = words("expect spyOn mocked stub spy mock isMockFunction replace log inspect")
"""Functions that tests and people ask about a function, without calling it."""


def of_javascript(code: str, seen: Collection[str]) -> Iterator[tuple[str, Place]]:
    """Yield the names of those that the code hands on and that are none of `seen`, and where."""
    nodes = list(walk(parse(code)))
    modules: dict[str, str] = {}
    functions: dict[str, str] = {}
    for node in nodes:
        _bind(node, modules, functions)
    for node in nodes:
        name = _meant(node, modules, functions)
        if name and name not in seen and not _is_called(node) and not _is_declared(node):
            yield name, place(node)


def _bind(node: Node, modules: dict[str, str], functions: dict[str, str]) -> None:
    """Note the names by which the program has the modules, and functions of theirs."""
    match node.type:
        case "import_statement":
            source = node.child_by_field_name("source")
            of = module(code_of(source).strip("'\"")) if source is not None else ""
            if of in GRAVE:
                for one in walk(node):
                    if one.type in ("import_clause", "namespace_import"):
                        modules.update((code_of(name), of) for name in one.named_children if name.type == "identifier")
                    elif one.type == "import_specifier":
                        _take(one.child_by_field_name("name"), one.child_by_field_name("alias"), of, functions)
        case "variable_declarator":
            target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            of = _module_of(value, modules)
            if not of or target is None:
                return
            if target.type == "identifier":
                modules[code_of(target)] = of
            for one in target.named_children if target.type == "object_pattern" else ():
                if one.type == "pair_pattern":
                    _take(one.child_by_field_name("key"), one.child_by_field_name("value"), of, functions)
                elif one.type == "shorthand_property_identifier_pattern":
                    _take(one, None, of, functions)
        case _:
            pass


def _take(name: Node | None, alias: Node | None, of: str, functions: dict[str, str]) -> None:
    if name is not None and code_of(name) in GRAVE[of]:
        functions[code_of(alias or name)] = f"{of}.{code_of(name)}"


def _module_of(node: Node | None, modules: dict[str, str]) -> str:
    """Return the module that an expression stands for; '' for none of these."""
    if node is None:
        return ""
    written = code_of(node) if node.end_byte - node.start_byte < 80 else ""
    if written in modules:
        return modules[written]
    plain = written.removesuffix(".promises")
    if plain in modules:
        return modules[plain]
    found = REQUIRE.fullmatch(written)
    of = module(found[1]) if found is not None else ""
    return of if of in GRAVE else ""


def _meant(node: Node, modules: dict[str, str], functions: dict[str, str]) -> str:
    if node.type in ("identifier", "shorthand_property_identifier"):
        return functions.get(code_of(node), "")
    if node.type == "member_expression":
        name = node.child_by_field_name("property")
        known = code_of(name) if name is not None else ""
        if known in OF_FILES or known in OF_PROGRAMS:
            of = _module_of(node.child_by_field_name("object"), modules)
            return f"{of}.{known}" if of and known in GRAVE[of] else ""
    return ""


def _is_called(node: Node) -> bool:
    """Return whether a function is called where it stands, be it by `call` or `apply`, or only asked about."""
    above = node.parent
    if above is None:
        return False
    if above.type == "member_expression" and above.child_by_field_name("object") == node:
        name = above.child_by_field_name("property")
        if name is not None and code_of(name).startswith(OF_MOCKS):
            return True
        return name is not None and code_of(name) in CALLED_BY and _is_called(above)
    if above.type == "arguments" and above.parent is not None:
        asked = above.parent.child_by_field_name("function")
        return asked is not None and code_of(asked).rpartition(".")[2] in ASKS
    return above.type == "call_expression" and above.child_by_field_name("function") == node


def _is_declared(node: Node) -> bool:
    """Return whether a name stands where it is made, and not where it is used."""
    above = node.parent
    if above is None or above.type in ("import_specifier", "import_clause", "pair_pattern", "formal_parameters"):
        return True
    named = above.child_by_field_name("name") or above.child_by_field_name("left")
    return named == node
