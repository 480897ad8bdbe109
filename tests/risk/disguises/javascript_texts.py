"""Ways to write a text in JavaScript."""

from __future__ import annotations

import base64
import json
import urllib.parse
import zlib
from typing import TYPE_CHECKING

from tests.risk.disguises.javascript_places import quoted, text_step
from tests.risk.disguises.step import all_of

if TYPE_CHECKING:
    from tests.risk.disguises.step import Maker


def concatenated(text: str, maker: Maker) -> str:
    """('ab' + 'cd')"""
    left, right = maker.cut(text)
    return f"({quoted(left)} + {quoted(right)})"


def joined(text: str, maker: Maker) -> str:
    """['a', 'b'].join('')"""
    return f"[{', '.join(map(quoted, text))}].join('')"


def backwards(text: str, maker: Maker) -> str:
    """'dcba'.split('').reverse().join('')"""
    return f"{quoted(text[::-1])}.split('').reverse().join('')"


def spread_backwards(text: str, maker: Maker) -> str:
    """[...'dcba'].reverse().join('')"""
    return f"[...{quoted(text[::-1])}].reverse().join('')"


def template(text: str, maker: Maker) -> str:
    """`${'ab'}${'cd'}`"""
    left, right = maker.cut(text)
    return f"`${{{quoted(left)}}}${{{quoted(right)}}}`"


def template_of_names(text: str, maker: Maker) -> str:
    """`${a}${b}`"""
    left, right = maker.cut(text)
    one, two = maker.name(), maker.name()
    maker.before(f"const {one} = {quoted(left)}, {two} = {quoted(right)};")
    return f"`${{{one}}}${{{two}}}`"


def tagged_template(text: str, maker: Maker) -> str:
    """function t(parts, ...values) { return values.join('') } ... t`${'ab'}${'cd'}`"""
    left, right = maker.cut(text)
    name = maker.name()
    maker.before(f"function {name}(parts, ...values) {{ return values.join(''); }}")
    return f"{name}`${{{quoted(left)}}}${{{quoted(right)}}}`"


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


def out_of_an_array(text: str, maker: Maker) -> str:
    """['no', 'ab'][1]"""
    return f"['no', {quoted(text)}][1]"


def out_of_an_object(text: str, maker: Maker) -> str:
    """{ a: 'ab' }['a']"""
    name = maker.name()
    maker.before(f"const {name} = {{ x: 'no', y: {quoted(text)} }};")
    return f"{name}['y']"


def destructured(text: str, maker: Maker) -> str:
    """const { k: a } = { k: 'ab' }"""
    name = maker.name()
    maker.before(f"const {{ k: {name} }} = {{ k: {quoted(text)} }};")
    return name


def destructured_from_an_array(text: str, maker: Maker) -> str:
    """const [, a] = ['no', 'ab']"""
    name = maker.name()
    maker.before(f"const [, {name}] = ['no', {quoted(text)}];")
    return name


def out_of_a_map(text: str, maker: Maker) -> str:
    """new Map([['k', 'ab']]).get('k')"""
    return f"new Map([['k', {quoted(text)}]]).get('k')"


def default_argument(text: str, maker: Maker) -> str:
    """((a = 'ab') => a)()"""
    return f"((a = {quoted(text)}) => a)()"


def closure(text: str, maker: Maker) -> str:
    """(a => () => a)('ab')()"""
    return f"(a => () => a)({quoted(text)})()"


def generated(text: str, maker: Maker) -> str:
    """[...function* () { yield 'ab'; yield 'cd'; }()].join('')"""
    left, right = maker.cut(text)
    return f"[...function* () {{ yield {quoted(left)}; yield {quoted(right)}; }}()].join('')"


def next_of_a_generator(text: str, maker: Maker) -> str:
    """(function* () { yield 'ab'; })().next().value"""
    return f"(function* () {{ yield {quoted(text)}; }})().next().value"


def getter(text: str, maker: Maker) -> str:
    """({ get a() { return 'ab'; } }).a"""
    return f"({{ get a() {{ return {quoted(text)}; }} }}).a"


def static_field(text: str, maker: Maker) -> str:
    """(class { static a = 'ab'; }).a"""
    return f"(class {{ static a = {quoted(text)}; }}).a"


def private_field(text: str, maker: Maker) -> str:
    """class A { #a = 'ab'; go() { return this.#a; } }"""
    name = maker.name()
    maker.before(f"class {name} {{ #a = {quoted(text)}; go() {{ return this.#a; }} }}")
    return f"new {name}().go()"


def thrown(text: str, maker: Maker) -> str:
    """(() => { try { throw 'ab'; } catch (e) { return e; } })()"""
    return f"(() => {{ try {{ throw {quoted(text)}; }} catch (e) {{ return e; }} }})()"


def message_of_an_error(text: str, maker: Maker) -> str:
    """try { throw new Error('ab'); } catch (e) { a = e.message; }"""
    name = maker.name()
    maker.before(f"let {name}; try {{ throw new Error({quoted(text)}); }} catch (e) {{ {name} = e.message; }}")
    return name


def by_proxy(text: str, maker: Maker) -> str:
    """new Proxy({}, { get: () => 'ab' }).any"""
    return f"new Proxy({{}}, {{ get: () => {quoted(text)} }}).any"


def by_prototype(text: str, maker: Maker) -> str:
    """function A() {} A.prototype.a = 'ab'; new A().a"""
    name = maker.name()
    maker.before(f"function {name}() {{}} {name}.prototype.a = {quoted(text)};")
    return f"new {name}().a"


def by_object_create(text: str, maker: Maker) -> str:
    """Object.create({ a: 'ab' }).a"""
    return f"Object.create({{ a: {quoted(text)} }}).a"


def by_to_string(text: str, maker: Maker) -> str:
    """`${{ toString: () => 'ab' }}`"""
    return f"`${{{{ toString: () => {quoted(text)} }}}}`"


def by_to_primitive(text: str, maker: Maker) -> str:
    """`${{ [Symbol.toPrimitive]: () => 'ab' }}`"""
    return f"`${{{{ [Symbol.toPrimitive]: () => {quoted(text)} }}}}`"


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


def concatenated_by_method(text: str, maker: Maker) -> str:
    """'ab'.concat('cd')"""
    left, right = maker.cut(text)
    return f"{quoted(left)}.concat({quoted(right)})"


def sliced(text: str, maker: Maker) -> str:
    """'xxabyy'.slice(2, -2)"""
    return f"{quoted('xx' + text + 'yy')}.slice(2, -2)"


TEXT_STEPS = all_of(
    (
        concatenated,
        joined,
        backwards,
        spread_backwards,
        template,
        template_of_names,
        tagged_template,
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
        out_of_an_array,
        out_of_an_object,
        destructured,
        destructured_from_an_array,
        out_of_a_map,
        default_argument,
        closure,
        generated,
        next_of_a_generator,
        getter,
        static_field,
        private_field,
        thrown,
        message_of_an_error,
        by_proxy,
        by_prototype,
        by_object_create,
        by_to_string,
        by_to_primitive,
        reduced,
        filtered,
        every_second_letter,
        concatenated_by_method,
        sliced,
    ),
    text_step,
)
