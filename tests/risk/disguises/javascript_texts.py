"""Ways to write a text in JavaScript."""

from __future__ import annotations

import base64
import json
import urllib.parse
import zlib
from functools import partial
from typing import TYPE_CHECKING

from tests.risk.disguises.javascript_places import quoted, text_step
from tests.risk.disguises.step import Pattern, all_of

if TYPE_CHECKING:
    from tests.risk.disguises.step import Maker


def joined(text: str, maker: Maker) -> str:
    """['a', 'b'].join('')"""
    return f"[{', '.join(map(quoted, text))}].join('')"


def backwards(text: str, maker: Maker) -> str:
    """'dcba'.split('').reverse().join('')"""
    return f"{quoted(text[::-1])}.split('').reverse().join('')"


def spread_backwards(text: str, maker: Maker) -> str:
    """[...'dcba'].reverse().join('')"""
    return f"[...{quoted(text[::-1])}].reverse().join('')"


def raw_template(text: str, maker: Maker) -> str:
    """String.raw`ab`"""
    return f"String.raw`{text}`" if not set(text) & set("`\\${\n") else quoted(text)


def character_codes(text: str, maker: Maker) -> str:
    """String.fromCharCode(97, 98)"""
    return f"String.fromCharCode({', '.join(str(ord(one)) for one in text)})"


def applied_character_codes(text: str, maker: Maker) -> str:
    """String.fromCharCode.apply(null, [97, 98])"""
    return f"String.fromCharCode.apply(null, {[ord(one) for one in text]!r})"


def mapped_character_codes(text: str, maker: Maker) -> str:
    """[98, 99].map(n => String.fromCharCode(n - 1)).join('')"""
    return f"{[ord(one) + 1 for one in text]!r}.map(n => String.fromCharCode(n - 1)).join('')"


def exclusive_or(text: str, maker: Maker) -> str:
    """[...'...'].map(c => String.fromCharCode(c.charCodeAt(0) ^ 7)).join('')"""
    made = "".join(chr(ord(one) ^ 7) for one in text)
    return f"[...{json.dumps(made)}].map(c => String.fromCharCode(c.charCodeAt(0) ^ 7)).join('')"


def grown_in_a_loop(text: str, maker: Maker) -> str:
    """let a = ''; for (const n of [97, 98]) a += String.fromCharCode(n)"""
    name = maker.name()
    maker.before(f"let {name} = ''; for (const n of {[ord(one) for one in text]!r}) {name} += String.fromCharCode(n);")
    return name


def base64_decoded(text: str, maker: Maker) -> str:
    """Buffer.from('...', 'base64').toString()"""
    return f"Buffer.from('{base64.b64encode(text.encode()).decode()}', 'base64').toString()"


def atob_decoded(text: str, maker: Maker) -> str:
    """atob('...')"""
    return f"atob('{base64.b64encode(text.encode()).decode()}')" if text.isascii() else quoted(text)


def hex_decoded(text: str, maker: Maker) -> str:
    """Buffer.from('6162', 'hex').toString('utf8')"""
    return f"Buffer.from('{text.encode().hex()}', 'hex').toString('utf8')"


def percent_decoded(text: str, maker: Maker) -> str:
    """decodeURIComponent('%61%62')"""
    return f"decodeURIComponent('{''.join(f'%{byte:02x}' for byte in text.encode())}')"


def address_decoded(text: str, maker: Maker) -> str:
    """unescape('...')"""
    return f"unescape('{urllib.parse.quote(text, safe='')}')" if text.isascii() else quoted(text)


def inflated(text: str, maker: Maker) -> str:
    """require('zlib').inflateSync(Buffer.from('...', 'base64')).toString()"""
    data = base64.b64encode(zlib.compress(text.encode())).decode()
    return f"require('zlib').inflateSync(Buffer.from('{data}', 'base64')).toString()"


def replaced(text: str, maker: Maker) -> str:
    """'aQb'.replace(/Q/g, '')"""
    if not (mark := maker.letter(text)):
        return quoted(text)
    return f"{quoted(mark.join(text))}.replace(/{mark}/g, '')"


def split_and_joined(text: str, maker: Maker) -> str:
    """'aQb'.split('Q').join('')"""
    mark = maker.absent(text)
    return f"{quoted(mark.join(text))}.split({quoted(mark)}).join('')"


def hexadecimal_escapes(text: str, maker: Maker) -> str:
    r"""'\x61\x62'"""
    return "'" + "".join(f"\\x{ord(one):02x}" if ord(one) < 256 else one for one in text) + "'"


def unicode_escapes(text: str, maker: Maker) -> str:
    r"""'\u0061\u{62}'"""
    return (
        "'" + "".join(f"\\u{ord(one):04x}" if at % 2 else f"\\u{{{ord(one):x}}}" for at, one in enumerate(text)) + "'"
    )


def json_parsed(text: str, maker: Maker) -> str:
    """JSON.parse('{"k": "ab"}').k"""
    return f"JSON.parse({quoted(json.dumps({'k': text}))}).k"


def from_the_environment(text: str, maker: Maker) -> str:
    """process.env.A, set before"""
    name = maker.name().upper()
    maker.before(f"process.env.{name} = {quoted(text)};")
    return f"process.env.{name}"


def reduced(text: str, maker: Maker) -> str:
    """['a', 'b'].reduce((a, b) => a + b)"""
    return f"[{', '.join(map(quoted, text))}].reduce((a, b) => a + b)"


def filtered(text: str, maker: Maker) -> str:
    """[...'aXb'].filter(c => c !== 'X').join('')"""
    mark = maker.absent(text)
    return f"[...{quoted(mark.join(text))}].filter(c => c !== {quoted(mark)}).join('')"


def every_second_letter(text: str, maker: Maker) -> str:
    """[...'aXbX'].filter((c, i) => i % 2 === 0).join('')"""
    mark = maker.absent(text)
    return f"[...{quoted(mark.join(text))}].filter((c, i) => i % 2 === 0).join('')"


def sliced(text: str, maker: Maker) -> str:
    """'xxabyy'.slice(2, -2)"""
    return f"{quoted('xx' + text + 'yy')}.slice(2, -2)"


written = partial(Pattern, write=quoted)
TEXT_STEPS = all_of(
    (
        written("concatenated", "(LEFT + RIGHT)"),
        joined,
        backwards,
        spread_backwards,
        written("template", "`${LEFT}${RIGHT}`"),
        written("template of names", "`${NAME}${OTHER}`", before="const NAME = LEFT, OTHER = RIGHT;"),
        written(
            "tagged template",
            "NAME`${LEFT}${RIGHT}`",
            before="function NAME(parts, ...values) { return values.join(''); }",
        ),
        raw_template,
        character_codes,
        applied_character_codes,
        mapped_character_codes,
        exclusive_or,
        grown_in_a_loop,
        base64_decoded,
        atob_decoded,
        hex_decoded,
        percent_decoded,
        address_decoded,
        inflated,
        replaced,
        split_and_joined,
        hexadecimal_escapes,
        unicode_escapes,
        json_parsed,
        from_the_environment,
        written("out of an array", "['no', IT][1]"),
        written("out of an object", "NAME['y']", before="const NAME = { x: 'no', y: IT };"),
        written("destructured", "NAME", before="const { k: NAME } = { k: IT };"),
        written("destructured from an array", "NAME", before="const [, NAME] = ['no', IT];"),
        written("out of a map", "new Map([['k', IT]]).get('k')"),
        written("default argument", "((a = IT) => a)()"),
        written("closure", "(a => () => a)(IT)()"),
        written("generated", "[...function* () { yield LEFT; yield RIGHT; }()].join('')"),
        written("next of a generator", "(function* () { yield IT; })().next().value"),
        written("getter", "({ get a() { return IT; } }).a"),
        written("static field", "(class { static a = IT; }).a"),
        written("private field", "new NAME().go()", before="class NAME { #a = IT; go() { return this.#a; } }"),
        written("thrown", "(() => { try { throw IT; } catch (e) { return e; } })()"),
        written(
            "message of an error",
            "NAME",
            before="let NAME; try { throw new Error(IT); } catch (e) { NAME = e.message; }",
        ),
        written("by proxy", "new Proxy({}, { get: () => IT }).any"),
        written("by prototype", "new NAME().a", before="function NAME() {} NAME.prototype.a = IT;"),
        written("by object create", "Object.create({ a: IT }).a"),
        written("by to string", "`${{ toString: () => IT }}`"),
        written("by to primitive", "`${{ [Symbol.toPrimitive]: () => IT }}`"),
        reduced,
        filtered,
        every_second_letter,
        written("concatenated by method", "LEFT.concat(RIGHT)"),
        sliced,
    ),
    text_step,
)
