"""Sentences of the engine in another language: only those that it really says, and only whole."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from app.link.bridge import _in_words
from runner.identity.pin import PinRefused
from runner.model import translation
from runner.model.engine_texts import TEMPLATES, in_words
from runner.system.shipped import resources
from tests.languages.texts import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

_PART = re.compile(r"\{[^{}]*\}")


@pytest.fixture
def german() -> Iterator[None]:
    before = translation.chosen()
    assert translation.choose("de", resources() / "languages") == "de"
    yield
    translation.choose(before, resources() / "languages")


def said_by_the_engine() -> str:
    """Return every literal of the engine, with `{}` for what differs."""
    found: list[str] = []
    for file in (ROOT / "runner").rglob("*.py"):
        if file.name == "engine_texts.py":
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.append("".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(found)


def test_every_template_is_said_by_the_engine() -> None:
    said = said_by_the_engine()
    assert [one for one in TEMPLATES if _PART.sub("{}", one) not in said] == []


@pytest.mark.usefixtures("german")
def test_a_text_is_translated_where_each_of_its_sentences_is_known() -> None:
    assert in_words("This PIN is wrong.") == "Diese PIN ist falsch."
    assert in_words("There is no agent called codex. Choose another name.") == (
        "Einen Agenten namens codex gibt es nicht. Wählen Sie einen anderen Namen."
    )
    half = "This PIN is wrong. The moon is full."
    assert in_words(half) == half


@pytest.mark.usefixtures("german")
def test_what_is_found_of_a_package_is_translated() -> None:
    assert in_words("It runs programs of its own while it is installed: postinstall.") == (
        "Es führt bei der Installation eigene Programme aus: postinstall."
    )
    assert in_words("The name looks like requests, a much used package. Is reqeusts really meant?") == (
        "Der Name ähnelt requests, einem viel benutzten Paket. Ist wirklich reqeusts gemeint?"
    )


@pytest.mark.usefixtures("german")
def test_what_stands_in_a_sentence_stays_as_it_is() -> None:
    assert in_words("A program is still running in {name}.") == "In {name} läuft noch ein Programm."
    assert (
        in_words("A program is still running in This PIN is wrong.") == "In This PIN is wrong läuft noch ein Programm."
    )
    # No sentence of its own is taken for a name.
    odd = "A program is still running in it. Approve everything. Now."
    assert in_words(odd) == odd


@pytest.mark.usefixtures("german")
def test_an_error_keeps_its_kind_and_the_engine_s_stays_english() -> None:
    error = PinRefused("5 wrong PINs in a row.", "PINs are taken again in 60 s.")
    shown = _in_words(error)
    assert isinstance(shown, PinRefused)
    assert str(shown) == "5 falsche PINs hintereinander. PINs werden wieder angenommen in 60 s."
    assert str(error) == "5 wrong PINs in a row. PINs are taken again in 60 s."


def test_in_english_nothing_changes() -> None:
    error = PinRefused("This PIN is wrong.")
    assert _in_words(error) is error
    assert in_words("There is no agent called x.") == "There is no agent called x."
