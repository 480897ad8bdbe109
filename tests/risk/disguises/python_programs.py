"""Ways to rewrite a whole Python program."""

from __future__ import annotations

import ast
import base64
import shlex
import zlib
from typing import TYPE_CHECKING

from tests.risk.disguises.python_places import indented, is_flat
from tests.risk.disguises.step import steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.risk.disguises.step import Maker


def in_a_function(code: str, maker: Maker) -> str:
    """def main(): ... main()"""
    name = maker.name()
    return f"def {name}():\n{indented(code)}\n{name}()"


def in_a_constructor(code: str, maker: Maker) -> str:
    """class A: def __init__(self): ... A()"""
    name = maker.name()
    return f"class {name}:\n    def __init__(self):\n{indented(code, 2)}\n{name}()"


def in_a_class_body(code: str, maker: Maker) -> str:
    """class A: ..."""
    return f"class {maker.name()}:\n{indented(code)}" if is_flat(code) else code


def in_a_decorated_function(code: str, maker: Maker) -> str:
    """@lambda f: f() def main(): ..."""
    return f"@(lambda f: f())\ndef {maker.name()}():\n{indented(code)}"


def in_a_generator(code: str, maker: Maker) -> str:
    """def main(): ... yield; list(main())"""
    name = maker.name()
    return f"def {name}():\n{indented(code)}\n    yield\nlist({name}())"


def in_a_coroutine(code: str, maker: Maker) -> str:
    """async def main(): ... asyncio.run(main())"""
    if "asyncio" in code:
        return code
    name = maker.name()
    return f"import asyncio\nasync def {name}():\n{indented(code)}\nasyncio.run({name}())"


def in_a_thread(code: str, maker: Maker) -> str:
    """threading.Thread(target=main).start()"""
    name, made = maker.name(), maker.name()
    return (
        f"import threading\ndef {name}():\n{indented(code)}\n"
        f"{made} = threading.Thread(target={name})\n{made}.start()\n{made}.join()"
    )


def in_an_exception_handler(code: str, maker: Maker) -> str:
    """try: raise KeyError except KeyError: ..."""
    return f"try:\n    raise KeyError('x')\nexcept KeyError:\n{indented(code)}"


def in_a_finally(code: str, maker: Maker) -> str:
    """try: pass finally: ..."""
    return f"try:\n    pass\nfinally:\n{indented(code)}"


def in_a_branch(code: str, maker: Maker) -> str:
    """if len(__name__) > 0: ..."""
    return f"if len('x') > 0:\n{indented(code)}"


def in_a_loop(code: str, maker: Maker) -> str:
    """for _ in range(1): ..."""
    return f"for {maker.name()} in range(1):\n{indented(code)}"


def in_an_endless_loop(code: str, maker: Maker) -> str:
    """while True: ... break"""
    return f"while True:\n{indented(code)}\n    break"


def in_a_match(code: str, maker: Maker) -> str:
    """match 1: case 1: ..."""
    return f"match 1:\n    case 1:\n{indented(code, 2)}"


def in_a_context_manager(code: str, maker: Maker) -> str:
    """class A: def __enter__(self): ... with A(): pass"""
    name = maker.name()
    return (
        f"class {name}:\n    def __enter__(self):\n{indented(code, 2)}\n        return self\n"
        f"    def __exit__(self, *a):\n        return False\nwith {name}():\n    pass"
    )


def in_a_deletion(code: str, maker: Maker) -> str:
    """class A: def __del__(self): ... del A()"""
    name, made = maker.name(), maker.name()
    return f"class {name}:\n    def __del__(self):\n{indented(code, 2)}\n{made} = {name}()\ndel {made}"


def in_a_subclass_hook(code: str, maker: Maker) -> str:
    """class A: def __init_subclass__(cls): ... class B(A): pass"""
    name, child = maker.name(), maker.name()
    return f"class {name}:\n    def __init_subclass__(cls):\n{indented(code, 2)}\nclass {child}({name}):\n    pass"


def in_a_metaclass(code: str, maker: Maker) -> str:
    """class M(type): def __init__(cls, *a): ... class A(metaclass=M): pass"""
    name, child = maker.name(), maker.name()
    return (
        f"class {name}(type):\n    def __init__(cls, *a):\n{indented(code, 2)}\n"
        f"class {child}(metaclass={name}):\n    pass"
    )


def in_an_operator(code: str, maker: Maker) -> str:
    """class A: def __or__(self, other): ... A() | 1"""
    name = maker.name()
    return f"class {name}:\n    def __or__(self, other):\n{indented(code, 2)}\n{name}() | 1"


def called_by_map(code: str, maker: Maker) -> str:
    """def main(_): ... list(map(main, [0]))"""
    name = maker.name()
    return f"def {name}(_):\n{indented(code)}\nlist(map({name}, [0]))"


def called_by_sort(code: str, maker: Maker) -> str:
    """def main(_): ... return 0; sorted([0], key=main)"""
    name = maker.name()
    return f"def {name}(_):\n{indented(code)}\n    return 0\nsorted([0], key={name})"


def called_by_reduce(code: str, maker: Maker) -> str:
    """functools.reduce(main, [0, 0])"""
    name = maker.name()
    return f"import functools\ndef {name}(a, b):\n{indented(code)}\nfunctools.reduce({name}, [0, 0])"


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


def executed_text(code: str, maker: Maker) -> str:
    """exec('...')"""
    return f"exec({code!r}, {{'__name__': '__main__'}})"


def executed_in_place(code: str, maker: Maker) -> str:
    """exec('...', globals())"""
    return f"exec({code!r}, globals())"


def compiled(code: str, maker: Maker) -> str:
    """exec(compile('...', '', 'exec'))"""
    return f"exec(compile({code!r}, '', 'exec'), {{}})"


def encoded(code: str, maker: Maker) -> str:
    """exec(base64.b64decode('...'))"""
    return f"import base64\nexec(base64.b64decode({base64.b64encode(code.encode())!r}), {{}})"


def packed(code: str, maker: Maker) -> str:
    """exec(zlib.decompress(base64.b64decode('...')))"""
    data = base64.b64encode(zlib.compress(code.encode()))
    return f"import base64, zlib\nexec(zlib.decompress(base64.b64decode({data!r})), {{}})"


def in_another_process(code: str, maker: Maker) -> str:
    """subprocess.run([sys.executable, '-c', '...'])"""
    return f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {code!r}])"


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


PROGRAM_STEPS = (
    *steps(
        in_a_function,
        in_a_constructor,
        in_a_class_body,
        in_a_decorated_function,
        in_a_generator,
        in_a_coroutine,
        in_a_thread,
        in_an_exception_handler,
        in_a_finally,
        in_a_branch,
        in_a_loop,
        in_an_endless_loop,
        in_a_match,
        in_a_context_manager,
        in_a_deletion,
        in_a_subclass_hook,
        in_a_metaclass,
        in_an_operator,
        called_by_map,
        called_by_sort,
        called_by_reduce,
        at_the_end,
        modules_by_name,
        modules_by_importlib,
        modules_under_other_names,
        names_changed,
        full_width_names,
    ),
    *steps(
        executed_text,
        executed_in_place,
        compiled,
        encoded,
        packed,
        in_another_process,
        in_a_shell,
        in_node,
        hides=True,
    ),
)
