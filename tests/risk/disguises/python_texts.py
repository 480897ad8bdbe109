"""Ways to write a text in Python."""

from __future__ import annotations

import base64
import codecs
import json
import zlib
from typing import TYPE_CHECKING

from tests.risk.disguises.python_places import text_step
from tests.risk.disguises.step import all_of

if TYPE_CHECKING:
    from tests.risk.disguises.step import Maker


def concatenated(text: str, maker: Maker) -> str:
    """'ab' + 'cd'"""
    left, right = maker.cut(text)
    return f"{left!r} + {right!r}"


def joined(text: str, maker: Maker) -> str:
    """''.join(['a', 'b'])"""
    return f"''.join({list(text)!r})"


def backwards(text: str, maker: Maker) -> str:
    """'dcba'[::-1]"""
    return f"{text[::-1]!r}[::-1]"


def put_in_reverse(text: str, maker: Maker) -> str:
    """''.join(reversed('dcba'))"""
    return f"''.join(reversed({text[::-1]!r}))"


def every_second_letter(text: str, maker: Maker) -> str:
    """'aXbXcX'[::2]"""
    mark = maker.absent(text)
    return f"{mark.join(text) + mark!r}[::2]"


def replaced(text: str, maker: Maker) -> str:
    """'aQbQ'.replace('Q', '')"""
    mark = maker.absent(text)
    return f"{mark.join(text)!r}.replace({mark!r}, '')"


def split_and_joined(text: str, maker: Maker) -> str:
    """''.join('a|b'.split('|'))"""
    mark = maker.absent(text)
    return f"''.join({mark.join(text)!r}.split({mark!r}))"


def translated(text: str, maker: Maker) -> str:
    """'bcd'.translate({98: 97, ...})"""
    table = {ord(one) + 1000: ord(one) for one in sorted(set(text))}
    return f"{''.join(chr(ord(one) + 1000) for one in text)!r}.translate({table!r})"


def character_codes(text: str, maker: Maker) -> str:
    """''.join(map(chr, [97, 98]))"""
    return f"''.join(map(chr, {[ord(one) for one in text]!r}))"


def character_codes_in_a_comprehension(text: str, maker: Maker) -> str:
    """''.join(chr(n - 7) for n in [104, 105])"""
    return f"''.join((chr(n - 7) for n in {[ord(one) + 7 for one in text]!r}))"


def bytes_of_numbers(text: str, maker: Maker) -> str:
    """bytes([97, 98]).decode()"""
    return f"bytes({list(text.encode())!r}).decode()"


def exclusive_or(text: str, maker: Maker) -> str:
    """bytes(b ^ 23 for b in b'...').decode()"""
    key = maker.random.randrange(1, 128)
    return f"bytes((b ^ {key} for b in {bytes(b ^ key for b in text.encode())!r})).decode()"


def formatted(text: str, maker: Maker) -> str:
    """'{}{}'.format('ab', 'cd')"""
    left, right = maker.cut(text)
    return f"'{{}}{{}}'.format({left!r}, {right!r})"


def formatted_out_of_order(text: str, maker: Maker) -> str:
    """'{1}{0}'.format('cd', 'ab')"""
    left, right = maker.cut(text)
    return f"'{{1}}{{0}}'.format({right!r}, {left!r})"


def percent_formatted(text: str, maker: Maker) -> str:
    """'%s%s' % ('ab', 'cd')"""
    left, right = maker.cut(text)
    return f"'%s%s' % ({left!r}, {right!r})"


def percent_by_name(text: str, maker: Maker) -> str:
    """'%(a)s%(b)s' % {'a': 'ab', 'b': 'cd'}"""
    left, right = maker.cut(text)
    return f"'%(a)s%(b)s' % {{'a': {left!r}, 'b': {right!r}}}"


def formatted_string(text: str, maker: Maker) -> str:
    """f'{a}{b}'"""
    left, right = maker.cut(text)
    one, two = maker.name(), maker.name()
    maker.before(f"{one} = {left!r}\n{two} = {right!r}")
    return f"f'{{{one}}}{{{two}}}'"


def base64_decoded(text: str, maker: Maker) -> str:
    """base64.b64decode('...').decode()"""
    return f"__import__('base64').b64decode({base64.b64encode(text.encode()).decode()!r}).decode()"


def base32_decoded(text: str, maker: Maker) -> str:
    """base64.b32decode('...').decode()"""
    name = maker.name()
    maker.before(f"from base64 import b32decode as {name}")
    return f"{name}({base64.b32encode(text.encode()).decode()!r}).decode()"


def hex_decoded(text: str, maker: Maker) -> str:
    """bytes.fromhex('6162').decode()"""
    return f"bytes.fromhex({text.encode().hex()!r}).decode()"


def rot13_decoded(text: str, maker: Maker) -> str:
    """codecs.decode('nop', 'rot13')"""
    return f"__import__('codecs').decode({codecs.encode(text, 'rot13')!r}, 'rot13')"


def compressed(text: str, maker: Maker) -> str:
    """zlib.decompress(b'...').decode()"""
    return f"__import__('zlib').decompress({zlib.compress(text.encode())!r}).decode()"


def json_decoded(text: str, maker: Maker) -> str:
    """json.loads('{"k": "ab"}')['k']"""
    return f"__import__('json').loads({json.dumps({'k': text})!r})['k']"


def one_long_number(text: str, maker: Maker) -> str:
    """(24930).to_bytes(2, 'big').decode()"""
    data = text.encode()
    return f"({int.from_bytes(data, 'big')}).to_bytes({len(data)}, 'big').decode()"


def from_the_environment(text: str, maker: Maker) -> str:
    """os.environ['A'], set before"""
    name, module = maker.name().upper(), maker.name()
    maker.before(f"import os as {module}\n{module}.environ[{name!r}] = {text!r}")
    return f"{module}.environ[{name!r}]"


def out_of_a_dictionary(text: str, maker: Maker) -> str:
    """{'a': 'ab'}['a']"""
    name = maker.name()
    maker.before(f"{name} = {{'x': 'no', 'y': {text!r}}}")
    return f"{name}['y']"


def out_of_a_list(text: str, maker: Maker) -> str:
    """['no', 'ab', 'no'][1]"""
    return f"['no', {text!r}, 'no'][1]"


def default_argument(text: str, maker: Maker) -> str:
    """(lambda a='ab': a)()"""
    return f"(lambda a={text!r}: a)()"


def raised(text: str, maker: Maker) -> str:
    """try: raise ValueError('ab') ... error.args[0]"""
    name = maker.name()
    maker.before(f"try:\n    raise ValueError({text!r})\nexcept ValueError as error:\n    {name} = error.args[0]")
    return name


def shown_error(text: str, maker: Maker) -> str:
    """try: raise ValueError('ab') ... str(error)"""
    name = maker.name()
    maker.before(f"try:\n    raise ValueError({text!r})\nexcept ValueError as error:\n    {name} = str(error)")
    return name


def generated(text: str, maker: Maker) -> str:
    """''.join(generator())"""
    left, right = maker.cut(text)
    name = maker.name()
    maker.before(f"def {name}():\n    yield {left!r}\n    yield {right!r}")
    return f"''.join({name}())"


def attribute_of_a_class(text: str, maker: Maker) -> str:
    """class A: a = 'ab' ... A.a"""
    name = maker.name()
    maker.before(f"class {name}:\n    held = {text!r}")
    return f"{name}.held"


def property_of_an_object(text: str, maker: Maker) -> str:
    """class A: @property def a(self): return 'ab' ... A().a"""
    name = maker.name()
    maker.before(f"class {name}:\n    @property\n    def held(self):\n        return {text!r}")
    return f"{name}().held"


def descriptor(text: str, maker: Maker) -> str:
    """class D: def __get__(...): return 'ab' ... class A: a = D() ... A().a"""
    one, two = maker.name(), maker.name()
    maker.before(
        f"class {one}:\n    def __get__(self, owner, kind):\n        return {text!r}\nclass {two}:\n    held = {one}()"
    )
    return f"{two}().held"


def grown_in_a_loop(text: str, maker: Maker) -> str:
    """a = ''; for c in [...]: a += c"""
    name, turn = maker.name(), maker.name()
    maker.before(f"{name} = ''\nfor {turn} in {list(text)!r}:\n    {name} += {turn}")
    return name


def filtered(text: str, maker: Maker) -> str:
    """''.join([c for c in 'aXb' if c != 'X'])"""
    mark = maker.absent(text)
    return f"''.join([c for c in {mark.join(text)!r} if c != {mark!r}])"


def dictionary_comprehension(text: str, maker: Maker) -> str:
    """{k: v for k, v in [('a', 'ab')]}['a']"""
    return f"{{k: v for k, v in [('x', 'no'), ('y', {text!r})]}}['y']"


def assigned_on_the_way(text: str, maker: Maker) -> str:
    """(a := 'ab')"""
    return f"({maker.name()} := {text!r})"


def reduced(text: str, maker: Maker) -> str:
    """functools.reduce(lambda a, b: a + b, ['a', 'b'])"""
    return f"__import__('functools').reduce(lambda a, b: a + b, {list(text)!r})"


def popped(text: str, maker: Maker) -> str:
    """['ab', 'no'].pop(0)"""
    return f"[{text!r}, 'no'].pop(0)"


def added_by_a_class(text: str, maker: Maker) -> str:
    """class A: def __add__(self, other): return 'ab' + other ... A() + 'cd'"""
    left, right = maker.cut(text)
    name = maker.name()
    maker.before(f"class {name}:\n    def __add__(self, other):\n        return {left!r} + other")
    return f"({name}() + {right!r})"


def closure(text: str, maker: Maker) -> str:
    """def a(b): def c(): return b; return c ... a('ab')()"""
    name = maker.name()
    maker.before(f"def {name}(held):\n    def inner():\n        return held\n    return inner")
    return f"{name}({text!r})()"


TEXT_STEPS = all_of(
    (
        concatenated,
        joined,
        backwards,
        put_in_reverse,
        every_second_letter,
        replaced,
        split_and_joined,
        translated,
        character_codes,
        character_codes_in_a_comprehension,
        bytes_of_numbers,
        exclusive_or,
        formatted,
        formatted_out_of_order,
        percent_formatted,
        percent_by_name,
        formatted_string,
        base64_decoded,
        base32_decoded,
        hex_decoded,
        rot13_decoded,
        compressed,
        json_decoded,
        one_long_number,
        from_the_environment,
        out_of_a_dictionary,
        out_of_a_list,
        default_argument,
        raised,
        shown_error,
        generated,
        attribute_of_a_class,
        property_of_an_object,
        descriptor,
        grown_in_a_loop,
        filtered,
        dictionary_comprehension,
        assigned_on_the_way,
        reduced,
        popped,
        added_by_a_class,
        closure,
    ),
    text_step,
)
