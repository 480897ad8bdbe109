"""Texts in another language: parts, plural forms, and what is made of catalogues that are not as they should be."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from runner.model import translation
from runner.model.translation import (
    ENGLISH,
    SAMPLE,
    available,
    capital,
    choose,
    numeral,
    plural,
    tr,
    translated,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

GERMAN: Mapping[str | tuple[str, str], str | tuple[str, ...]] = {
    "Deny {name}": "{name} ablehnen",
    "Deny {name} twice": "Zweimal ablehnen",
    "Deny {name} again": "{name} und {other} ablehnen",
    "Close": "Schließen",
    ("{count} line", "{count} lines"): ("eine Zeile", "{count} Zeilen"),
    ("{count} run of {name}", "{count} runs of {name}"): ("{count} Lauf", "{count} Läufe von {name}"),
    SAMPLE: "1.234,5",
}


@pytest.fixture(autouse=True)
def english_afterwards() -> Iterator[None]:
    before = translation._now
    yield
    translation._now = before


def compiled(folder: Path, language: str, texts: Mapping[str | tuple[str, str], str | tuple[str, ...]]) -> None:
    made = Catalog(language)
    for english, said in texts.items():
        made.add(english, said)
    with (folder / f"{language}.mo").open("wb") as stream:
        write_mo(stream, made)


@pytest.fixture
def german(tmp_path: Path) -> Path:
    compiled(tmp_path, "de", GERMAN)
    assert choose("de", tmp_path) == "de"
    return tmp_path


def test_english_needs_no_catalogue() -> None:
    assert tr("Deny {name}", name="x") == "Deny x"
    assert plural("{count} line", "{count} lines", 1) == "1 line"
    assert plural("{count} line", "{count} lines", 1204) == "1,204 lines"
    assert numeral(1234.5, ",.1f") == "1,234.5"


@pytest.mark.usefixtures("german")
def test_a_text_is_in_the_chosen_language() -> None:
    assert (tr("Close"), tr("Deny {name}", name="x")) == ("Schließen", "x ablehnen")
    assert translated("Close") == "Schließen"
    assert (tr("Not known"), translated("Not known {name}", name=1)) == ("Not known", "Not known 1")
    assert tr("") == ""  # the key of the catalogue's own heading


@pytest.mark.usefixtures("german")
def test_what_a_part_holds_is_never_read_as_a_name() -> None:
    assert tr("Deny {name}", name="{name} {other} {count}") == "{name} {other} {count} ablehnen"
    assert tr("{a}{b}", a="{b}", b="{a}") == "{b}{a}"
    assert translated("{name.__class__} {0} {} {{", name="x") == "{name.__class__} {0} {} {{"


@pytest.mark.usefixtures("german")
def test_a_translation_without_a_part_or_with_another_is_none() -> None:
    assert tr("Deny {name} twice", name="x") == "Deny x twice"
    assert tr("Deny {name} again", name="x") == "Deny x again"
    assert plural("{count} run of {name}", "{count} runs of {name}", 2, name="x") == "2 Läufe von x"
    assert plural("{count} run of {name}", "{count} runs of {name}", 1, name="x") == "1 run of x"


@pytest.mark.usefixtures("german")
def test_forms_and_figures_are_those_of_the_language() -> None:
    assert [plural("{count} line", "{count} lines", count) for count in (0, 1, 1204)] == [
        "0 Zeilen",
        "eine Zeile",
        "1.204 Zeilen",
    ]
    assert (numeral(1234567), numeral(0.5, "g"), numeral(1234.5, ",.1f")) == ("1.234.567", "0,5", "1.234,5")


def test_a_language_may_have_more_forms_than_english(tmp_path: Path) -> None:
    compiled(tmp_path, "pl", {("{count} line", "{count} lines"): ("{count} linia", "{count} linie", "{count} linii")})
    choose("pl", tmp_path)
    said = [plural("{count} line", "{count} lines", count) for count in (1, 2, 5, 22)]
    assert said == ["1 linia", "2 linie", "5 linii", "22 linie"]


@pytest.mark.parametrize(
    "content",
    [b"", b"nothing of the kind", b"\xde\x12\x04\x95" + b"\xff" * 60, b"\xde\x12\x04\x95\0\0\0\0\x01\0\0\0"],
    ids=["empty", "another file", "wild places", "cut"],
)
def test_a_broken_catalogue_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "de.mo").write_bytes(content)
    assert choose("de", tmp_path) == ENGLISH
    assert tr("Deny {name}", name="x") == "Deny x"


@pytest.mark.parametrize("rule", ["n != (", "__import__('os')", "n" * 2000, "1/0"])
def test_a_broken_rule_of_plural_forms_breaks_nothing(tmp_path: Path, rule: str) -> None:
    compiled(tmp_path, "de", GERMAN)
    file = tmp_path / "de.mo"
    had = b"plural=(n != 1)"
    data = file.read_bytes()
    assert had in data
    file.write_bytes(data.replace(had, f"plural={rule}"[: len(had)].ljust(len(had)).encode()))
    choose("de", tmp_path)
    assert plural("{count} line", "{count} lines", 2) in ("2 lines", "2 Zeilen")


@pytest.mark.parametrize("name", ["../de", "de/../de", "/etc/de", "DE", "", "d", "de_de", "xx", "en"])
def test_only_a_language_that_is_there_is_read(german: Path, name: str) -> None:
    shutil.copy(german / "de.mo", german.parent / "de.mo")
    assert choose(name, german) == ENGLISH


def test_a_large_file_is_not_read(german: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "LARGEST", 10)
    assert choose("de", german) == ENGLISH


def test_available_are_those_with_a_catalogue(german: Path) -> None:
    (german / "odd name.mo").write_bytes(b"")
    (german / "pt_BR.mo").write_bytes(b"")
    assert available(german) == ("en", "de", "pt_BR")
    assert available(german / "nothing") == ("en",)


def test_letters_at_the_beginning(german: Path) -> None:
    assert (capital("drei CPUs"), capital("")) == ("Drei CPUs", "")
    assert within("Speicher") == "Speicher"


def test_an_abbreviation_keeps_its_letters_within_a_line() -> None:
    assert within("Memory") == "memory" and within("CPU") == "CPU"
    choose(ENGLISH, german)
    assert (within("Memory"), within("")) == ("memory", "")
