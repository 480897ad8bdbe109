"""Finds which files of a kept sandbox code starts or imports, of those whose content is known, in a few plain shapes.

Whatever is not of these shapes is left to `runner.risk.inputs.kept_files`, for which it is a file that nobody has read.
"""

from __future__ import annotations

import ast
import posixpath
import re
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.modules import is_standard, modules
from runner.model.request import KnownFile, Language
from runner.model.workspace import WORKSPACE
from runner.risk.inputs.used_files import Use
from runner.risk.javascript.loaded import loaded
from runner.risk.python.syntax import as_written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_WORD = r"(?:[\w./:=,@%+-]|'[^'\n]*+'|\"[^\"$`\\\n]*+\")++"
_FILE = rf"(?:\./|{WORKSPACE}/)?(?P<file>\w[\w.-]*+(?:/\w[\w.-]*+)*+)"
_QUIET = (
    rf"(?:set[ ]-[eux]+(?:o[ ]pipefail)?|cd[ ]{WORKSPACE}/?|pwd|date|(?:python3?|node)[ ]--version"
    rf"|chmod[ ]\+x[ ]{_WORD}|(?:echo|ls|cat|wc)(?:[ ]++{_WORD})*+)[ ]*(?:;|&&|\n)|\#[^\n]*+\n"
)
_FILTER = (
    rf"(?:(?:head|tail|wc|cat|nl|uniq)(?:[ ]++(?:-\w*+|\d++))*+|sort(?:[ ]++-[nru]++)*+|tee(?:[ ]-a)?[ ]{_WORD}"
    rf"|grep(?:[ ]++-[A-Zciovnwqsx]++)*+[ ]++{_WORD})"
)
STARTED = expression(
    rf"""(?:\s*+(?:{_QUIET}))*+\s*+(?:timeout[ ]\d++s?[ ])?
    (?P<start>(?:(?P<python>python3?(?:[ ]-[uBs]+)*)|(?P<javascript>node)|(?P<shell>(?:ba)?sh)|(?P<read>\.|source))
    [ ]+{_FILE}|\./(?P<itself>\w[\w.-]*+(?:/\w[\w.-]*+)*+))
    (?:[ ]++(?!\d?[<>]){_WORD})*+
    (?:[ ]++(?:2>&1|(?:<|2?>>?|&>)[ ]*+{_WORD}))*+(?:[ ]*+\|[ ]*+{_FILTER})*+[ ]*+(?:\Z|;|&&|\|\||\n)""",
    re.VERBOSE,
)
"""Shell code that runs one file to its end before anything that could change it, and is anything afterwards."""
RELATIVE = expression(r"(?:\.\.?)?/")
ENDS = ("", ".js", ".json", "/index.js")
"""What JavaScript code may leave out at the end of a name."""
APPENDS = expression(r">>|\btee\b")
FIRST_LINE = expression(
    r"#! ?(?:/usr/bin/env |(?:/usr)?/bin/)(?:(?P<python>python3?)|(?P<javascript>node)|(?P<shell>(?:ba)?sh)) *"
)


def used(language: Language | None, code: str, files: Sequence[KnownFile]) -> Use:
    """Return what `code` uses of `files`. Never raises."""
    by_path = {one.path: one for one in files}
    if not by_path:
        return Use(code)
    match language:
        case Language.SHELL:
            return _shell(code, by_path)
        case Language.PYTHON:
            return _python(code, by_path)
        case Language.JAVASCRIPT:
            return _javascript(code, by_path)
        case _:
            return Use(code)


# ---- Shell ----


def _shell(code: str, files: Mapping[str, KnownFile]) -> Use:
    match = STARTED.match(code)
    if match is None or (file := files.get(match["file"] or match["itself"])) is None:
        return Use(code)
    before, after = code[: match.start("start")], code[match.end("start") :]
    if match["read"]:
        return Use(f"{before}\n{file.text}\n{after}", (file,))
    found = match if match["file"] else FIRST_LINE.fullmatch(file.text.partition("\n")[0])
    if found is None:
        return Use(code)  # what starts it is not known
    language = next(one for one in Language if found[one.value])
    if language is Language.SHELL and APPENDS.search(code, match.end("start"), match.end()):
        return Use(code)  # Bash reads its script piece by piece: what is added to it runs as well
    blank = ":".ljust(len(match["start"]))
    return Use(before + blank + after, (file,), ((language, file),))


# ---- Python ----


def _python(code: str, files: Mapping[str, KnownFile]) -> Use:
    """Return what Python code uses; its modules are imported from their known texts, by whomever and whenever."""
    use = _first(code, files)
    table = modules(tuple(files.values()))
    pending = [("", use.rest), *(("", file.text) for _, file in use.programs)]
    imports: set[str] = set()
    reached: dict[str, KnownFile] = {}
    while pending:
        package, text = pending.pop()
        for written, names in _imports(text, package):
            if names[0] in table:
                imports.add(written)
            for name in names:
                for whole in _above(name):
                    if whole in table and whole not in reached:
                        module = table[whole]
                        reached[whole] = module.file
                        pending.append((whole if module.is_package else whole.rpartition(".")[0], module.file.text))
    found = tuple(dict.fromkeys(reached.values()))
    every = tuple(dict.fromkeys((*use.files, *found)))
    return use._replace(files=every, imports=frozenset(imports), modules=found)


def _first(code: str, files: Mapping[str, KnownFile]) -> Use:
    """Return the use of a file that the code runs before it does anything but import of the standard library."""
    tree = as_written(code)
    for statement in tree.body if tree is not None else ():
        if _imports_standard(statement) or _is_text(statement):
            continue
        lines = code.split("\n")
        number = statement.lineno - 1
        alone = lines[number].rstrip() == ast.get_source_segment(code, statement)
        path, inside = _run(statement)
        if not alone or (file := files.get(path.removeprefix(f"{WORKSPACE}/").removeprefix("./"))) is None:
            break
        lines[number] = file.text if inside else "pass"
        if inside:
            return Use("\n".join(lines), (file,))
        rest = ["pass" if line.strip() == "import runpy" else line for line in lines[:number]] + lines[number:]
        return Use("\n".join(rest), (file,), ((Language.PYTHON, file),))
    return Use(code)


def _run(statement: ast.stmt) -> tuple[str, bool]:
    """Return the path of the file that `statement` runs, '' for none, and whether in the same scope."""
    match statement:
        case ast.Expr(
            ast.Call(
                ast.Name("exec"),
                [ast.Call(ast.Attribute(ast.Call(ast.Name("open"), [ast.Constant(str(path))], []), "read"), [], [])],
                [],
            )
        ):
            return path, True
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("runpy"), "run_path"), [ast.Constant(str(path))], named)) if all(
            one.arg == "run_name" and isinstance(one.value, ast.Constant) for one in named
        ):
            return path, False
        case _:
            return "", False


def _imports_standard(statement: ast.stmt) -> bool:
    """Return whether it imports from the standard library alone, under the names that these modules have."""
    match statement:
        case ast.Import(names):
            return all(one.asname is None and is_standard(one.name) for one in names)
        case ast.ImportFrom(module, names, 0):
            own = all(one.asname is None and one.name not in ("*", "exec", "open", "runpy") for one in names)
            return own and is_standard(module or "")
        case _:
            return False


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _imports(code: str, package: str) -> Iterator[tuple[str, list[str]]]:
    """Each import in `code` of a module in `package`: the module as it is written, and what may be loaded, by name."""
    tree = as_written(code)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Import(names):
                yield from ((one.name, [one.name]) for one in names)
            case ast.ImportFrom(module, names, level):
                above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                whole = ".".join(filter(None, (*above, module or "")))
                yield "." * level + (module or ""), [whole, *(f"{whole}.{one.name}" for one in names)]
            case _:
                pass


# ---- JavaScript ----


def _javascript(code: str, files: Mapping[str, KnownFile]) -> Use:
    """Return what JavaScript code loads of the files, as `sandbox/inside/loading.cjs` finds them."""
    pending = [("", code)]
    reached: dict[str, KnownFile] = {}
    known: set[str] = set()
    unknown: set[str] = set()
    while pending:
        folder, text = pending.pop()
        for name in loaded(text):
            path = _found(folder, name, files)
            (known if path else unknown).add(name)
            if path and path not in reached:
                reached[path] = files[path]
                if not path.endswith(".json"):
                    pending.append((posixpath.dirname(path), files[path].text))
    programs = tuple((Language.JAVASCRIPT, file) for path, file in reached.items() if not path.endswith(".json"))
    # A name that stands for a known file in one place and for another one elsewhere is none that is known.
    return Use(code, tuple(reached.values()), programs, frozenset(known - unknown))


def _found(folder: str, name: str, files: Mapping[str, KnownFile]) -> str:
    """Return the path of the file that `name` stands for in a file of `folder`; '' where none of `files` is meant."""
    if not RELATIVE.match(name):
        return ""
    whole = posixpath.normpath(posixpath.join(WORKSPACE, folder, name))
    path = whole.removeprefix(f"{WORKSPACE}/")
    return next((path + end for end in ENDS if path + end in files and path != whole), "")


def _above(name: str) -> Iterator[str]:
    """Yield the packages above a module, then the module."""
    parts = name.split(".")
    return (".".join(parts[: count + 1]) for count in range(len(parts)))
