"""Ways to rewrite a whole Python program."""

from __future__ import annotations

import ast
import base64
import shlex
import zlib
from functools import partial
from typing import TYPE_CHECKING

from tests.risk.disguises.python_places import indented, is_flat, normalized
from tests.risk.disguises.step import Pattern, steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.risk.disguises.step import Maker


def in_a_class_body(code: str, maker: Maker) -> str:
    """class A: ..."""
    return f"class {maker.name()}:\n{indented(code)}" if is_flat(code) else code


def in_a_coroutine(code: str, maker: Maker) -> str:
    """async def main(): ... asyncio.run(main())"""
    if "asyncio" in code:
        return code
    name = maker.name()
    return f"import asyncio\nasync def {name}():\n{indented(code)}\nasyncio.run({name}())"


def at_the_end(code: str, maker: Maker) -> str:
    """atexit.register(main)"""
    if "atexit" in code:
        return code
    name = maker.name()
    return f"import atexit\n@atexit.register\ndef {name}():\n{indented(code)}"


def modules_by_name(code: str, maker: Maker) -> str:
    """a = __import__('a')"""
    return _imports(code, lambda module, name: f"{name} = __import__({module!r})")


def modules_by_importlib(code: str, maker: Maker) -> str:
    """a = importlib.import_module('a')"""
    return _imports(code, lambda module, name: f"import importlib\n{name} = importlib.import_module({module!r})")


def modules_under_other_names(code: str, maker: Maker) -> str:
    """import a as b"""
    renamed: dict[str, str] = {}
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and "." not in node.names[0].name and node.names[0].asname is None:
            renamed.setdefault(node.names[0].name, maker.name())
            node.names[0].asname = renamed[node.names[0].name]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in renamed:
            node.id = renamed[node.id]
    return ast.unparse(tree) if renamed and not _text_code(code) else code


def names_changed(code: str, maker: Maker) -> str:
    """Other names for the program's own variables."""
    tree = ast.parse(code)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    taken = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    taken |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    renamed = {name: maker.name() for name in sorted(stored - taken)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in renamed:
            node.id = renamed[node.id]
    return ast.unparse(tree) if renamed and "nonlocal" not in code and "global" not in code else code


def full_width_names(code: str, maker: Maker) -> str:
    """Letters that Python reads as the ordinary ones."""
    tree = ast.parse(code)
    done = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.isascii() and not node.attr.startswith("_"):
            node.attr = "".join(chr(ord(one) + 0xFEE0) if one.isalpha() else one for one in node.attr)
            done += 1
    return ast.unparse(tree) if done else code


def encoded(code: str, maker: Maker) -> str:
    """exec(base64.b64decode('...'))"""
    return f"import base64\nexec(base64.b64decode({base64.b64encode(code.encode())!r}), {{}})"


def packed(code: str, maker: Maker) -> str:
    """exec(zlib.decompress(base64.b64decode('...')))"""
    data = base64.b64encode(zlib.compress(code.encode()))
    return f"import base64, zlib\nexec(zlib.decompress(base64.b64decode({data!r})), {{}})"


def in_a_shell(code: str, maker: Maker) -> str:
    """os.system("python3 -c '...'")"""
    command = f"python3 -c {shlex.quote(code)}"
    return f"import os\nos.system({command!r})"


def in_node(code: str, maker: Maker) -> str:
    """os.system("node -e '...'"), which starts Python again"""
    inner = f"python3 -c {shlex.quote(code)}"
    script = f"require('child_process').execSync({_javascript(inner)}, {{stdio: 'inherit'}})"
    return f"import subprocess\nsubprocess.run(['node', '-e', {script!r}])"


def _javascript(text: str) -> str:
    """Return a text as JavaScript writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _imports(code: str, write: Callable[[str, str], str]) -> str:
    """Return the program with each plain import written as `write` does."""
    tree = ast.parse(code)

    class Changer(ast.NodeTransformer):
        done = 0

        def visit_Import(self, node: ast.Import) -> object:
            if len(node.names) != 1 or "." in node.names[0].name or node.names[0].name == "importlib":
                return node
            Changer.done += 1
            return ast.parse(write(node.names[0].name, node.names[0].asname or node.names[0].name)).body

    Changer().visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) if Changer.done else code


def _text_code(code: str) -> bool:
    """Return whether the program runs texts, in which its names may stand."""
    return "globals()" in code


body = partial(Pattern, write=normalized)
PROGRAM_STEPS = (
    *steps(
        body("in a function", "def NAME():\n    IT\nNAME()"),
        body("in a constructor", "class NAME:\n    def __init__(self):\n        IT\nNAME()"),
        in_a_class_body,
        body("in a decorated function", "@(lambda f: f())\ndef NAME():\n    IT"),
        body("in a generator", "def NAME():\n    IT\n    yield\nlist(NAME())"),
        in_a_coroutine,
        body(
            "in a thread",
            "import threading\ndef NAME():\n    IT\nOTHER = threading.Thread(target=NAME)\nOTHER.start()\nOTHER.join()",
        ),
        body("in an exception handler", "try:\n    raise KeyError('x')\nexcept KeyError:\n    IT"),
        body("in a finally", "try:\n    pass\nfinally:\n    IT"),
        body("in a branch", "if len('x') > 0:\n    IT"),
        body("in a loop", "for NAME in range(1):\n    IT"),
        body("in an endless loop", "while True:\n    IT\n    break"),
        body("in a match", "match 1:\n    case 1:\n        IT"),
        body(
            "in a context manager",
            "class NAME:\n    def __enter__(self):\n        IT\n        return self\n"
            "    def __exit__(self, *a):\n        return False\nwith NAME():\n    pass",
        ),
        body("in a deletion", "class NAME:\n    def __del__(self):\n        IT\nOTHER = NAME()\ndel OTHER"),
        body(
            "in a subclass hook",
            "class NAME:\n    def __init_subclass__(cls):\n        IT\nclass OTHER(NAME):\n    pass",
        ),
        body(
            "in a metaclass",
            "class NAME(type):\n    def __init__(cls, *a):\n        IT\nclass OTHER(metaclass=NAME):\n    pass",
        ),
        body("in an operator", "class NAME:\n    def __or__(self, other):\n        IT\nNAME() | 1"),
        body("called by map", "def NAME(_):\n    IT\nlist(map(NAME, [0]))"),
        body("called by sort", "def NAME(_):\n    IT\n    return 0\nsorted([0], key=NAME)"),
        body("called by reduce", "import functools\ndef NAME(a, b):\n    IT\nfunctools.reduce(NAME, [0, 0])"),
        at_the_end,
        modules_by_name,
        modules_by_importlib,
        modules_under_other_names,
        names_changed,
        full_width_names,
    ),
    *steps(
        Pattern("executed text", "exec(IT, {'__name__': '__main__'})", write=repr),
        Pattern("executed in place", "exec(IT, globals())", write=repr),
        Pattern("compiled", "exec(compile(IT, '', 'exec'), {})", write=repr),
        encoded,
        packed,
        Pattern("in another process", "import subprocess, sys\nsubprocess.run([sys.executable, '-c', IT])", write=repr),
        in_a_shell,
        in_node,
        hides=True,
    ),
)
