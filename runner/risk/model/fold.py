"""Computes texts that code assembles at run time: pure functions and methods on known values."""

from __future__ import annotations

import base64
import bz2
import codecs
import json
import lzma
import operator
import re
import sys
import urllib.parse
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from runner.risk.model.acts import Source
from runner.risk.model.bounds import bounded
from runner.risk.model.value import (
    HOLE,
    LONGEST_TEXT,
    UNKNOWN,
    Value,
    concatenate,
    each,
    is_absent,
    labels_of,
    raw,
    readable,
    text,
)

DECODED = frozenset({Source.DECODED})
ASSEMBLED = frozenset({Source.ASSEMBLED})
MOST_INFLATED = 4_000_000
MOST_TURNS = 4000
"""Turns of a loop that are followed one by one, those of a loop around it included."""
MOST_ITEMS = 20_000
"""Parts of a list that are kept."""
"""Turns of a loop that are followed one by one."""


def latin(data: bytes) -> str:
    return data.decode("latin-1")


def packed(known: str) -> str:
    return latin(base64.b64encode(raw(known)))


def base64_text(known: str) -> str:
    packed = re.sub(r"[^A-Za-z0-9+/]", "", known.replace("-", "+").replace("_", "/").split("=")[0])
    return latin(base64.b64decode(packed + "=" * (-len(packed) % 4)))


def base32_text(known: str) -> str:
    packed = re.sub(r"[^A-Z2-7]", "", known.upper())
    return latin(base64.b32decode(packed + "=" * (-len(packed) % 8)))


def hex_text(known: str) -> str:
    return latin(bytes.fromhex(re.sub(r"\\x|0x|[\s:]", "", known)))


def inflated(known: str) -> str:
    """zlib, gzip or raw deflate, up to MOST_INFLATED bytes."""
    data = raw(known)
    for window in (zlib.MAX_WBITS, zlib.MAX_WBITS | 16, -zlib.MAX_WBITS):
        try:
            return latin(zlib.decompressobj(window).decompress(data, MOST_INFLATED))
        except zlib.error:
            continue
    raise ValueError("not deflated")


def bz2_text(known: str) -> str:
    try:
        return latin(bz2.BZ2Decompressor().decompress(raw(known), MOST_INFLATED))
    except OSError as error:
        raise ValueError("not bz2") from error


def lzma_text(known: str) -> str:
    try:
        return latin(lzma.LZMADecompressor(memlimit=64_000_000).decompress(raw(known), MOST_INFLATED))
    except (lzma.LZMAError, EOFError) as error:
        raise ValueError("not lzma") from error


def coded(known: str, codec: str) -> str:
    """`known` decoded with a Python text codec."""
    name = codec.lower().replace("-", "_").replace("_codec", "")
    match name:
        case "base64" | "base_64":
            return base64_text(known)
        case "hex":
            return hex_text(known)
        case "rot13" | "rot_13":
            return codecs.encode(known, "rot13")
        case "zip" | "zlib":
            return inflated(known)
        case "bz2":
            return bz2_text(known)
        case "unicode_escape" | "string_escape" | "raw_unicode_escape":
            return raw(known).decode("unicode_escape")
        case "utf_16" | "utf_16le" | "utf_16_le" | "utf_16be":
            return raw(known).decode("utf-16-le" if "be" not in name else "utf-16-be")
        case _:
            return readable(known)


CODES = frozenset(
    {"base64", "hex", "rot13", "rot_13", "zip", "zlib", "bz2", "unicode_escape", "string_escape", "base_64"}
)


def is_code(codec: str) -> bool:
    """Return whether a codec hides text, other than a character set."""
    return codec.lower().replace("-", "_").replace("_codec", "") in CODES


Change = Callable[[str], str]

DECODERS: dict[str, Change] = {
    "base64.b64decode": base64_text,
    "base64.standard_b64decode": base64_text,
    "base64.urlsafe_b64decode": base64_text,
    "base64.decodebytes": base64_text,
    "base64.decodestring": base64_text,
    "base64.b32decode": base32_text,
    "base64.b16decode": hex_text,
    "base64.b85decode": lambda known: latin(base64.b85decode(raw(known))),
    "base64.a85decode": lambda known: latin(base64.a85decode(raw(known))),
    "binascii.a2b_base64": base64_text,
    "binascii.unhexlify": hex_text,
    "binascii.a2b_hex": hex_text,
    "bytes.fromhex": hex_text,
    "bytearray.fromhex": hex_text,
    "zlib.decompress": inflated,
    "gzip.decompress": inflated,
    "bz2.decompress": bz2_text,
    "lzma.decompress": lzma_text,
    "atob": base64_text,
    "unescape": lambda known: re.sub(r"%u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), urllib.parse.unquote(known)),
}
ENCODERS: dict[str, Change] = {
    "base64.b64encode": packed,
    "base64.urlsafe_b64encode": lambda known: latin(base64.urlsafe_b64encode(raw(known))),
    "base64.encodebytes": lambda known: latin(base64.encodebytes(raw(known))),
    "binascii.hexlify": lambda known: raw(known).hex(),
    "binascii.b2a_base64": lambda known: latin(base64.b64encode(raw(known))),
    "btoa": lambda known: latin(base64.b64encode(raw(known))),
    "zlib.compress": lambda known: latin(zlib.compress(raw(known))),
    "urllib.parse.unquote": urllib.parse.unquote,
    "urllib.parse.unquote_plus": urllib.parse.unquote_plus,
    "urllib.unquote": urllib.parse.unquote,
    "urllib.parse.quote": urllib.parse.quote,
    "decodeURIComponent": urllib.parse.unquote,
    "decodeURI": urllib.parse.unquote,
    "encodeURIComponent": lambda known: urllib.parse.quote(known, safe="~()*!.'"),
    "encodeURI": lambda known: urllib.parse.quote(known, safe="~()*!.'#$&+,/:;=?@"),
    "textwrap.dedent": lambda known: known,
    "shlex.quote": lambda known: known,
    "html.unescape": lambda known: known,
}


def decoded(name: str, value: Value) -> Value | None:
    """Return the result of a decoder or encoder called `name`, or None when it is neither."""
    if name in DECODERS:
        return each(value, DECODERS[name], labels=DECODED, binary=True)
    if name in ENCODERS:
        return each(value, ENCODERS[name])
    return None


def characters(values: Sequence[Value], labels: frozenset[str] = ASSEMBLED) -> Value:
    """Return the text of these character codes."""
    if not values or any(value.number is None for value in values):
        return Value(labels=labels | labels_of(values))
    try:
        return text("".join(chr(int(value.number or 0)) for value in values), labels=labels | labels_of(values))
    except (ValueError, OverflowError):
        return Value(labels=labels)


def octets(values: Sequence[Value]) -> Value:
    """Return bytes from a list of numbers: a way to write a text nobody can read."""
    made = characters(values)
    made.binary = True
    return made


def added(left: Value, right: Value, sign: str) -> Value:
    """`left sign right` for numbers, texts and lists."""
    if left.number is not None and right.number is not None:
        return arithmetic(left.number, right.number, sign)
    if sign == "+":
        if left.items is not None and right.items is not None:
            marked = set(left.labels | right.labels)
            items = bounded(marked, [*left.items, *right.items], MOST_ITEMS, "parts of a list")
            return Value(items=items, labels=frozenset(marked))
        if (left.items is None) != (right.items is None) and not (left.texts or right.texts):
            both = [*_parts(left), *_parts(right)]
            return Value(items=both, labels=left.labels | right.labels)
        joined = concatenate((left, right))
        if (
            left.texts
            and right.texts
            and Source.ASSEMBLED not in joined.labels
            and _word(left.text)
            and _word(right.text)
        ):
            return joined.labelled(ASSEMBLED)
        return joined
    if sign == "*":
        return repeated(left, right)
    if sign == "|" and (known := left.number if right.number is None else right.number) is not None:
        # These bits are set, whatever the others are.
        return Value(number=known, labels=left.labels | right.labels)
    if sign in "|&" and left.name.endswith("()"):
        # Two sets of rows put together, of which the name says what they are: `Order.objects.filter(...) | ...`.
        return Value(name=left.name, labels=left.labels | right.labels)
    return Value(labels=left.labels | right.labels)


def _parts(value: Value) -> list[Value]:
    """Return the parts of a list; of one that is not known, what stands for any of them."""
    if value.items is not None:
        return value.items
    return [Value(name=f"{value.name}[]" if value.name else "", labels=value.labels)]


def _word(known: str) -> bool:
    return known.isidentifier() or known.replace(".", "").isidentifier()


def repeated(left: Value, right: Value) -> Value:
    if right.number is None:
        left, right = right, left
    times = right.number
    if times is None or not isinstance(times, int):
        return Value(labels=left.labels | right.labels)
    if left.items is not None and 0 <= times * len(left.items) <= 5000:
        return Value(items=left.items * times, labels=left.labels)
    if left.texts and 0 <= times * len(left.text) <= LONGEST_TEXT:
        return each(left, lambda known: known * times, binary=left.binary)
    return Value(labels=left.labels | right.labels)


Number = int | float
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "^": lambda left, right: int(left) ^ int(right),
    "&": lambda left, right: int(left) & int(right),
    "|": lambda left, right: int(left) | int(right),
    "<<": lambda left, right: int(left) << int(right) if right < 64 else None,
    ">>": lambda left, right: int(left) >> int(right),
    ">>>": lambda left, right: int(left) >> int(right),
    "**": lambda left, right: left**right if abs(right) < 64 and abs(left) < 10_000 else None,
}


def arithmetic(left: Number, right: Number, sign: str) -> Value:
    """`left sign right`; nothing where the result would be large or does not exist."""
    work = ARITHMETIC.get(sign)
    try:
        result = work(left, right) if work is not None else None
    except (ArithmeticError, ValueError, TypeError):
        return UNKNOWN
    return Value(number=result) if isinstance(result, int | float) and abs(result) < 1 << 64 else UNKNOWN


def _whole(number: float | None) -> int | None:
    """Return `number` as an end of a slice; infinity is as far as any text goes, and what is no number is unknown."""
    if number is None or number != number:
        return None
    return int(max(-sys.maxsize, min(number, sys.maxsize)))


def sliced(value: Value, start: Value, stop: Value, step: Value) -> Value:
    """`value[start:stop:step]`; an open end is an unknown without labels."""
    ends = [_whole(end.number) for end in (start, stop, step)]
    known = all(end.number is not None or is_absent(end) for end in (start, stop, step))
    if not known or ends[2] == 0:
        return Value(labels=value.labels, name=value.name)
    cut = slice(*ends)
    if value.items is not None:
        return Value(items=value.items[cut], labels=value.labels)
    labels = ASSEMBLED if ends[2] not in (None, 1) else frozenset[str]()
    if value.texts:
        return each(value, lambda whole: whole[cut], labels=labels, binary=value.binary)
    behind = value.name == "sys.argv" and (ends[0] or 0) > 0 and ends[2] in (None, 1)
    return Value(labels=value.labels, name="sys.argv[1:]" if behind else value.name)


MOST_OF_HINT = 6
"""Characters at the beginning or end of a secret that programs show so that a person knows which one it is."""


def is_hint(start: Value, stop: Value) -> bool:
    """Return whether a slice is no more of a text than tells a person which one it is."""
    if start.number in (None, 0) and stop.number is not None:
        return 0 <= stop.number <= MOST_OF_HINT
    return stop.number is None and start.number is not None and -MOST_OF_HINT <= start.number < 0


def joined(separator: Value, values: Sequence[Value]) -> Value:
    """Return the values put together with a separator; many single characters make an assembled text."""
    if len(values) > 20_000:
        return Value(labels=labels_of(values))
    whole = concatenate(values, separator.text if separator.texts else "")
    if len(values) > 1 and all(len(value.text) == 1 for value in values) and not separator.text:
        return whole.labelled(ASSEMBLED)
    return whole


def replaced(value: Value, old: Value, new: Value) -> Value:
    """`value.replace(old, new)` on known texts; taking characters out to reveal a text is a way to hide it."""
    before, after = old.exact, new.exact
    if before is None or after is None:
        return Value(value.texts, labels=value.labels | old.labels | new.labels)
    if not before:
        return value
    shrinks = len(after) < len(before) and value.text.count(before) > 2
    return each(
        value, lambda known: known.replace(before, after), labels=ASSEMBLED if shrinks else (), binary=value.binary
    )


def split(value: Value, separator: Value) -> Value:
    if not value.texts or HOLE in value.text:
        return Value(labels=value.labels)
    by = separator.exact
    if separator.texts and not by:
        return Value(labels=value.labels)
    marked = set(value.labels)
    parts = bounded(marked, value.text.split(by), MOST_ITEMS, "parts of a text")
    items = [text(part, labels=value.labels, binary=value.binary) for part in parts]
    return Value(items=items, labels=frozenset(marked))


def parsed_json(known: str) -> Value | None:
    """Return what a JSON text stands for; None where it is none."""
    try:
        return _plain(json.loads(known))
    except (ValueError, RecursionError):
        return None


def _plain(data: object) -> Value:
    match data:
        case str():
            return Value((data,))
        case bool():
            return Value(number=int(data), name=str(data))
        case int() | float():
            return Value(number=data)
        case list():
            return Value(items=[_plain(item) for item in data])
        case dict():
            return Value(fields={key: _plain(item) for key, item in data.items()})
        case _:
            return UNKNOWN


DEEPEST_WRITTEN, MOST_WRITTEN = 6, 200
"""Objects inside of each other, and parts of each, that are written as JSON; what is beyond is not known."""


def written_json(value: Value) -> Value:
    """Return the JSON of a value, with HOLE for what is not known of it."""
    labels: set[str] = set()
    written = json.dumps(_data(value, DEEPEST_WRITTEN, labels), ensure_ascii=False)
    return Value((written,), labels=value.labels | labels)


def _data(value: Value, deepest: int, labels: set[str]) -> object:
    if value.exact is not None:
        return value.exact
    if value.name in ("True", "False"):
        return value.name == "True"
    if value.number is not None:
        return value.number
    if value.texts or deepest == 0:
        return value.text or HOLE
    if value.items is not None:
        parts = bounded(labels, value.items, MOST_WRITTEN, "parts of JSON")
        return [_data(one, deepest - 1, labels) for one in parts]
    if value.fields is not None:
        pairs = bounded(labels, list(value.fields.items()), MOST_WRITTEN, "parts of JSON")
        return {HOLE if key == "?" else key: _data(one, deepest - 1, labels) for key, one in pairs}
    return HOLE


def spread(value: Value) -> list[Value] | None:
    """Return what a loop over `value` meets, one after the other, where that is known and short."""
    if value.items is not None:
        return value.items if len(value.items) <= MOST_TURNS else None
    if value.exact is not None and 0 < len(value.exact) <= MOST_TURNS:
        if value.binary:
            return [Value(number=ord(character)) for character in value.exact]
        return [Value((character,), labels=value.labels) for character in value.exact]
    return None


def reversed_text(value: Value) -> Value:
    if value.items is not None:
        return Value(items=value.items[::-1], labels=value.labels)
    return each(value, lambda known: known[::-1], labels=ASSEMBLED, binary=value.binary)
