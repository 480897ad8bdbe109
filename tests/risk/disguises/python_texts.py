"""Ways to write a text in Python."""

from __future__ import annotations

import base64
import codecs
import json
import zlib
from functools import partial
from typing import TYPE_CHECKING

from tests.risk.disguises.python_places import text_step
from tests.risk.disguises.step import Pattern, all_of

if TYPE_CHECKING:
    from tests.risk.disguises.step import Maker


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


def grown_in_a_loop(text: str, maker: Maker) -> str:
    """a = ''; for c in [...]: a += c"""
    name, turn = maker.name(), maker.name()
    maker.before(f"{name} = ''\nfor {turn} in {list(text)!r}:\n    {name} += {turn}")
    return name


def filtered(text: str, maker: Maker) -> str:
    """''.join([c for c in 'aXb' if c != 'X'])"""
    mark = maker.absent(text)
    return f"''.join([c for c in {mark.join(text)!r} if c != {mark!r}])"


def reduced(text: str, maker: Maker) -> str:
    """functools.reduce(lambda a, b: a + b, ['a', 'b'])"""
    return f"__import__('functools').reduce(lambda a, b: a + b, {list(text)!r})"


written = partial(Pattern, write=repr)
TEXT_STEPS = all_of(
    (
        written("concatenated", "LEFT + RIGHT"),
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
        written("formatted", "'{}{}'.format(LEFT, RIGHT)"),
        written("formatted out of order", "'{1}{0}'.format(RIGHT, LEFT)"),
        written("percent formatted", "'%s%s' % (LEFT, RIGHT)"),
        written("percent by name", "'%(a)s%(b)s' % {'a': LEFT, 'b': RIGHT}"),
        written("formatted string", "f'{NAME}{OTHER}'", before="NAME = LEFT\nOTHER = RIGHT"),
        base64_decoded,
        base32_decoded,
        hex_decoded,
        rot13_decoded,
        compressed,
        json_decoded,
        one_long_number,
        from_the_environment,
        written("out of a dictionary", "NAME['y']", before="NAME = {'x': 'no', 'y': IT}"),
        written("out of a list", "['no', IT, 'no'][1]"),
        written("default argument", "(lambda a=IT: a)()"),
        written(
            "raised",
            "NAME",
            before="try:\n    raise ValueError(IT)\nexcept ValueError as error:\n    NAME = error.args[0]",
        ),
        written(
            "shown error",
            "NAME",
            before="try:\n    raise ValueError(IT)\nexcept ValueError as error:\n    NAME = str(error)",
        ),
        written("generated", "''.join(NAME())", before="def NAME():\n    yield LEFT\n    yield RIGHT"),
        written("attribute of a class", "NAME.held", before="class NAME:\n    held = IT"),
        written(
            "property of an object",
            "NAME().held",
            before="class NAME:\n    @property\n    def held(self):\n        return IT",
        ),
        written(
            "descriptor",
            "OTHER().held",
            before="class NAME:\n    def __get__(self, owner, kind):\n        return IT\n"
            "class OTHER:\n    held = NAME()",
        ),
        grown_in_a_loop,
        filtered,
        written("dictionary comprehension", "{k: v for k, v in [('x', 'no'), ('y', IT)]}['y']"),
        written("assigned on the way", "(NAME := IT)"),
        reduced,
        written("popped", "[IT, 'no'].pop(0)"),
        written(
            "added by a class",
            "(NAME() + RIGHT)",
            before="class NAME:\n    def __add__(self, other):\n        return LEFT + other",
        ),
        written(
            "closure", "NAME(IT)()", before="def NAME(held):\n    def inner():\n        return held\n    return inner"
        ),
    ),
    text_step,
)
