"""Ways to reach a function in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.risk.disguises.python_places import call_step, owner_and_name
from tests.risk.disguises.step import Pattern, all_of

if TYPE_CHECKING:
    from tests.risk.disguises.step import Maker


PLAIN = ("os", "subprocess", "shutil", "sys")
"""Modules whose functions stand in their own dictionary."""


def by_getattr(function: str, maker: Maker) -> str:
    """getattr(a, 'b')"""
    owner, name = owner_and_name(function)
    return f"getattr({owner}, {name})"


def by_getattr_in_pieces(function: str, maker: Maker) -> str:
    """getattr(a, 'b' + 'c')"""
    owner, name = owner_and_name(function)
    one, two = maker.cut(name[1:-1]) if len(name) > 3 else (name[1:-1], "")
    return f"getattr({owner}, {one!r} + {two!r})"


def by_dictionary(function: str, maker: Maker) -> str:
    """vars(a)['b']"""
    owner, name = owner_and_name(function)
    return f"vars({owner})[{name}]" if owner in PLAIN and name[1] != "_" else function


def by_dict_attribute(function: str, maker: Maker) -> str:
    """a.__dict__['b']"""
    owner, name = owner_and_name(function)
    return f"{owner}.__dict__[{name}]" if owner in PLAIN and name[1] != "_" else function


def by_getattribute(function: str, maker: Maker) -> str:
    """a.__getattribute__('b')"""
    owner, name = owner_and_name(function)
    return f"{owner}.__getattribute__({name})"


def by_attrgetter(function: str, maker: Maker) -> str:
    """operator.attrgetter('b')(a)"""
    owner, name = owner_and_name(function)
    return f"__import__('operator').attrgetter({name})({owner})"


def inherited_method(function: str, maker: Maker) -> str:
    """class A: def go(...) ... class B(A): pass ... B().go"""
    name, child = maker.name(), maker.name()
    maker.before(f"class {name}:\n    def go(self, *a, **k):\n        return {function}(*a, **k)")
    maker.before(f"class {child}({name}):\n    pass")
    return f"{child}().go"


def descriptor_function(function: str, maker: Maker) -> str:
    """class D: def __get__(self, *a): return a.b"""
    one, two = maker.name(), maker.name()
    maker.before(f"class {one}:\n    def __get__(self, owner, kind):\n        return {function}")
    maker.before(f"class {two}:\n    go = {one}()")
    return f"{two}().go"


def global_name(function: str, maker: Maker) -> str:
    """globals()['f'] = a.b ... globals()['f']"""
    name = maker.name()
    maker.before(f"globals()[{name!r}] = {function}")
    return f"globals()[{name!r}]"


CALL_STEPS = all_of(
    (
        by_getattr,
        by_getattr_in_pieces,
        by_dictionary,
        by_dict_attribute,
        by_getattribute,
        by_attrgetter,
        Pattern("alias", "NAME", before="NAME = IT"),
        Pattern("unpacked alias", "NAME", before="OTHER, NAME = (None, IT)"),
        Pattern("in a list", "[IT][0]"),
        Pattern("in a dictionary", "{'k': IT}['k']"),
        Pattern("got from a dictionary", "{'k': IT}.get('k')"),
        Pattern("by partial", "__import__('functools').partial(IT)"),
        Pattern("by lambda", "(lambda *a, **k: IT(*a, **k))"),
        Pattern("by function", "NAME", before="def NAME(*a, **k):\n    return IT(*a, **k)"),
        Pattern("default argument function", "(lambda f=IT: f)()"),
        Pattern("static method", "NAME.go", before="class NAME:\n    go = staticmethod(IT)"),
        Pattern(
            "callable object",
            "NAME()",
            before="class NAME:\n    def __call__(self, *a, **k):\n        return IT(*a, **k)",
        ),
        Pattern("method", "NAME().go", before="class NAME:\n    def go(self, *a, **k):\n        return IT(*a, **k)"),
        Pattern(
            "attribute of an object", "NAME().go", before="class NAME:\n    def __init__(self):\n        self.go = IT"
        ),
        inherited_method,
        descriptor_function,
        Pattern(
            "item of an object",
            "NAME()['any']",
            before="class NAME:\n    def __getitem__(self, key):\n        return IT",
        ),
        Pattern(
            "any attribute of an object",
            "NAME().anything",
            before="class NAME:\n    def __getattr__(self, key):\n        return IT",
        ),
        Pattern("decorated", "NAME", before="@(lambda _: IT)\ndef NAME():\n    pass"),
        Pattern(
            "wrapping decorator",
            "OTHER",
            before="def NAME(f):\n    def inner(*a, **k):\n        return IT(*a, **k)\n    return inner\n"
            "@NAME\ndef OTHER():\n    pass",
        ),
        Pattern("next of a generator", "next(NAME())", before="def NAME():\n    yield IT"),
        Pattern("next of an iterator", "next(iter([IT]))"),
        Pattern(
            "thrown",
            "NAME",
            before="try:\n    raise Exception(IT)\nexcept Exception as error:\n    NAME = error.args[0]",
        ),
        Pattern("comprehended", "[f for f in [IT]][0]"),
        Pattern("either of", "(None or IT)"),
        Pattern("chosen", "(IT if True else print)"),
        global_name,
        Pattern("simple namespace", "__import__('types').SimpleNamespace(go=IT).go"),
        Pattern("set attribute", "NAME.go", before="class NAME:\n    pass\nsetattr(NAME, 'go', staticmethod(IT))"),
        Pattern(
            "closed over",
            "NAME(IT)",
            before="def NAME(go):\n    def inner(*a, **k):\n        return go(*a, **k)\n    return inner",
        ),
        Pattern("double call", "IT.__call__"),
    ),
    call_step,
)
