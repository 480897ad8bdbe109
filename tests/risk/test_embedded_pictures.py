"""Pictures that stand in code as text: found whole and within one literal, and nowhere else."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest

from runner.model.embedded_picture import LEAST
from runner.model.request import Language
from runner.risk.literals.pictures import MOST_OTHER, MOST_PICTURES, pictures


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(
    width: int = 60, height: int = 50, *, pixels: bytes | None = None, more: bytes = b"", after: bytes = b""
) -> bytes:
    """A grey picture that packs badly. `more` are chunks before the pixels, `after` is what follows the end."""
    rows = (bytes((x * 7 + y * 13 + x * y % 251) % 256 for x in range(width)) for y in range(height))
    packed = zlib.compress(b"".join(b"\0" + row for row in rows)) if pixels is None else pixels
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + more + chunk(b"IDAT", packed) + chunk(b"IEND", b"") + after


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


PICTURE = encoded(png())
PYTHON = f'import base64\n\nLOGO = "{PICTURE}"  # drawn by hand\nopen("logo.png", "wb").write(base64.b64decode(LOGO))\n'


def found(code: str, language: Language = Language.PYTHON) -> list[tuple[int, str, tuple[int, int]]]:
    lines = code.split("\n")
    return [
        (one.line, lines[one.line - 1][one.start : one.end], (one.width, one.height))
        for one in pictures(language, code)
    ]


WHOLE = [(3, PICTURE, (60, 50))]


@pytest.mark.parametrize(("language", "line"), [
    (Language.PYTHON, 'LOGO = "{}"'),
    (Language.PYTHON, "LOGO = b'{}'"),
    (Language.PYTHON, 'é = "é" + "{}"'),
    (Language.PYTHON, 'page = \'<img src="data:image/png;base64,{}" alt="">\''),
    (Language.JAVASCRIPT, 'const logo = "{}";'),
    (Language.JAVASCRIPT, "const é = 'é' + '{}';"),
    (Language.SHELL, 'echo "{}" | base64 -d > logo.png'),
    (Language.SHELL, "echo '{}' | base64 -d > logo.png"),
])  # fmt: skip
def test_a_picture_within_one_literal_is_found_with_its_place_and_size(language: Language, line: str) -> None:
    assert found("\n\n" + line.format(PICTURE) + "\n", language) == WHOLE


@pytest.mark.parametrize(("language", "line"), [
    (Language.PYTHON, 'LOGO = f"{{{}}}"'),  # a name, and not a text
    (Language.PYTHON, 'LOGO = f"{}"'),
    (Language.PYTHON, "# {}"),
    (Language.PYTHON, "{} = 1"),
    (Language.PYTHON, 'LOGO = "\\x41\\\\{}"'),  # what a sign before it makes of it counts
    (Language.PYTHON, 'LOGO = "A{}"'),
    (Language.PYTHON, 'LOGO = "{}A"'),
    (Language.PYTHON, 'LOGO = "{}'),
    (Language.PYTHON, 'LOGO = """\n{}\n"""'),
    (Language.JAVASCRIPT, "const logo = `{}`;"),
    (Language.JAVASCRIPT, "// {}"),
    (Language.JAVASCRIPT, "const logo = /{}/;"),
    (Language.SHELL, "/{}"),
    (Language.SHELL, 'echo "$({})"'),
    (Language.SHELL, "echo {}"),
    (Language.GO, 'const logo = "{}"'),
])  # fmt: skip
def test_what_is_no_literal_of_one_line_or_means_more_than_itself_is_none(language: Language, line: str) -> None:
    assert found("\n\n" + line.format(PICTURE) + "\n", language) == []


SHORT = zlib.compress(b"\0" * 61 * 49)
LONG = zlib.compress(b"\0" * 61 * 51)


@pytest.mark.parametrize("data", [
    png(after=b"#!/bin/sh\nrm -rf ~\n"),
    png()[:-1],
    png().replace(b"IDAT", b"IDAt"),
    png(more=chunk(b"tEXt", b"x" * (MOST_OTHER + 1))),
    png(more=chunk(b"IEND", b"")),
    png(pixels=SHORT + b"x" * LEAST),
    png(pixels=LONG + b"x" * LEAST),
    png(pixels=zlib.compress(b"\0" * 61 * 50) + b"x" * LEAST),
    png(pixels=b"x" * LEAST),
    png(1 << 20, 1 << 20, pixels=b"x" * LEAST),
    b"\x89PNG\r\n\x1a\n\0" + b"\0" * LEAST,
    b"x" * LEAST,
])  # fmt: skip
def test_what_is_no_picture_to_its_last_byte_is_none(data: bytes) -> None:
    assert len(encoded(data)) > LEAST
    assert found(f'\n\nLOGO = "{encoded(data)}"\n') == []


def test_the_name_of_what_drew_it_is_allowed_in_a_picture() -> None:
    signed = encoded(png(more=chunk(b"tEXt", b"Software\0matplotlib") + chunk(b"pHYs", bytes(9))))
    assert found(f'\n\nLOGO = "{signed}"\n') == [(3, signed, (60, 50))]


def test_a_short_one_is_not_worth_it_and_of_many_the_first_are_found() -> None:
    assert found(f'LOGO = "{encoded(png(2, 2))}"\n') == []
    assert len(found(f'LOGO = "{PICTURE}"\n' * (MOST_PICTURES + 1))) == MOST_PICTURES
    both = f'a, b = "{PICTURE}", "{PICTURE}"\n'
    assert [one[1] for one in found(both)] == [PICTURE, PICTURE]


@pytest.mark.parametrize("sign", ["\r", "\f", "\0"])
def test_where_lines_may_be_counted_otherwise_nothing_is_found(sign: str) -> None:
    assert found(PYTHON) == WHOLE
    assert found(f"# {sign}\n{PYTHON}") == []
