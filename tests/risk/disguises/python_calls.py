"""Ways to reach a function in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.risk.disguises.python_places import call_step, owner_and_name
from tests.risk.disguises.step import all_of

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


def alias(function: str, maker: Maker) -> str:
    """f = a.b"""
    name = maker.name()
    maker.before(f"{name} = {function}")
    return name


def unpacked_alias(function: str, maker: Maker) -> str:
    """f, g = a.b, None"""
    name, other = maker.name(), maker.name()
    maker.before(f"{other}, {name} = (None, {function})")
    return name


def in_a_list(function: str, maker: Maker) -> str:
    """[a.b][0]"""
    return f"[{function}][0]"


def in_a_dictionary(function: str, maker: Maker) -> str:
    """{'k': a.b}['k']"""
    return f"{{'k': {function}}}['k']"


def got_from_a_dictionary(function: str, maker: Maker) -> str:
    """{'k': a.b}.get('k')"""
    return f"{{'k': {function}}}.get('k')"


def by_partial(function: str, maker: Maker) -> str:
    """functools.partial(a.b)"""
    return f"__import__('functools').partial({function})"


def by_lambda(function: str, maker: Maker) -> str:
    """lambda *a, **k: f(*a, **k)"""
    return f"(lambda *a, **k: {function}(*a, **k))"


def by_function(function: str, maker: Maker) -> str:
    """def f(*a, **k): return a.b(*a, **k)"""
    name = maker.name()
    maker.before(f"def {name}(*a, **k):\n    return {function}(*a, **k)")
    return name


def default_argument_function(function: str, maker: Maker) -> str:
    """(lambda f=a.b: f)()"""
    return f"(lambda f={function}: f)()"


def static_method(function: str, maker: Maker) -> str:
    """class A: f = staticmethod(a.b)"""
    name = maker.name()
    maker.before(f"class {name}:\n    go = staticmethod({function})")
    return f"{name}.go"


def callable_object(function: str, maker: Maker) -> str:
    """class A: def __call__(self, *a, **k): return a.b(*a, **k)"""
    name = maker.name()
    maker.before(f"class {name}:\n    def __call__(self, *a, **k):\n        return {function}(*a, **k)")
    return f"{name}()"


def method(function: str, maker: Maker) -> str:
    """class A: def go(self, *a, **k): return a.b(*a, **k)"""
    name = maker.name()
    maker.before(f"class {name}:\n    def go(self, *a, **k):\n        return {function}(*a, **k)")
    return f"{name}().go"


def attribute_of_an_object(function: str, maker: Maker) -> str:
    """class A: def __init__(self): self.go = a.b"""
    name = maker.name()
    maker.before(f"class {name}:\n    def __init__(self):\n        self.go = {function}")
    return f"{name}().go"


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


def item_of_an_object(function: str, maker: Maker) -> str:
    """class A: def __getitem__(self, key): return a.b"""
    name = maker.name()
    maker.before(f"class {name}:\n    def __getitem__(self, key):\n        return {function}")
    return f"{name}()['any']"


def any_attribute_of_an_object(function: str, maker: Maker) -> str:
    """class A: def __getattr__(self, name): return a.b"""
    name = maker.name()
    maker.before(f"class {name}:\n    def __getattr__(self, key):\n        return {function}")
    return f"{name}().anything"


def decorated(function: str, maker: Maker) -> str:
    """@lambda _: a.b def f(): pass"""
    name = maker.name()
    maker.before(f"@(lambda _: {function})\ndef {name}():\n    pass")
    return name


def wrapping_decorator(function: str, maker: Maker) -> str:
    """def d(f): def inner(*a, **k): return a.b(*a, **k); return inner ... @d def f(): pass"""
    one, two = maker.name(), maker.name()
    maker.before(
        f"def {one}(f):\n    def inner(*a, **k):\n        return {function}(*a, **k)\n    return inner\n"
        f"@{one}\ndef {two}():\n    pass"
    )
    return two


def next_of_a_generator(function: str, maker: Maker) -> str:
    """next(generator())"""
    name = maker.name()
    maker.before(f"def {name}():\n    yield {function}")
    return f"next({name}())"


def next_of_an_iterator(function: str, maker: Maker) -> str:
    """next(iter([a.b]))"""
    return f"next(iter([{function}]))"


def thrown(function: str, maker: Maker) -> str:
    """try: raise E(a.b) except E as error: error.args[0]"""
    name = maker.name()
    maker.before(f"try:\n    raise Exception({function})\nexcept Exception as error:\n    {name} = error.args[0]")
    return name


def comprehended(function: str, maker: Maker) -> str:
    """[f for f in [a.b]][0]"""
    return f"[f for f in [{function}]][0]"


def either_of(function: str, maker: Maker) -> str:
    """(None or a.b)"""
    return f"(None or {function})"


def chosen(function: str, maker: Maker) -> str:
    """(a.b if True else print)"""
    return f"({function} if True else print)"


def global_name(function: str, maker: Maker) -> str:
    """globals()['f'] = a.b ... globals()['f']"""
    name = maker.name()
    maker.before(f"globals()[{name!r}] = {function}")
    return f"globals()[{name!r}]"


def simple_namespace(function: str, maker: Maker) -> str:
    """types.SimpleNamespace(go=a.b).go"""
    return f"__import__('types').SimpleNamespace(go={function}).go"


def set_attribute(function: str, maker: Maker) -> str:
    """class A: pass ... setattr(A, 'go', a.b) ... A.go"""
    name = maker.name()
    maker.before(f"class {name}:\n    pass\nsetattr({name}, 'go', staticmethod({function}))")
    return f"{name}.go"


def closed_over(function: str, maker: Maker) -> str:
    """def f(g): def inner(*a, **k): return g(*a, **k); return inner ... f(a.b)"""
    name = maker.name()
    maker.before(f"def {name}(go):\n    def inner(*a, **k):\n        return go(*a, **k)\n    return inner")
    return f"{name}({function})"


def double_call(function: str, maker: Maker) -> str:
    """a.b.__call__"""
    return f"{function}.__call__"


CALL_STEPS = all_of(
    (
        by_getattr,
        by_getattr_in_pieces,
        by_dictionary,
        by_dict_attribute,
        by_getattribute,
        by_attrgetter,
        alias,
        unpacked_alias,
        in_a_list,
        in_a_dictionary,
        got_from_a_dictionary,
        by_partial,
        by_lambda,
        by_function,
        default_argument_function,
        static_method,
        callable_object,
        method,
        attribute_of_an_object,
        inherited_method,
        descriptor_function,
        item_of_an_object,
        any_attribute_of_an_object,
        decorated,
        wrapping_decorator,
        next_of_a_generator,
        next_of_an_iterator,
        thrown,
        comprehended,
        either_of,
        chosen,
        global_name,
        simple_namespace,
        set_attribute,
        closed_over,
        double_call,
    ),
    call_step,
)
