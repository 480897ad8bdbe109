"""What is in the catalogues: every text, each with the parts of the English one, and what the window reads of it."""

from __future__ import annotations

import gettext
from typing import TYPE_CHECKING

import pytest

from runner.model.translation import ENGLISH, available, part_names
from runner.settings.declared import declared
from tests.languages.catalogues import FOLDER, begun, brought_up_to_date, catalogue, write
from tests.languages.texts import texts

if TYPE_CHECKING:
    from pathlib import Path

    from babel.messages.catalog import Message

LANGUAGES = sorted(file.stem for file in FOLDER.glob("*.po"))
COMPLETE = {"de"}
"""Languages in which a text without a translation is an error."""
UPDATE = "run `make languages`"


def both(one: Message) -> list[tuple[str, str]]:
    """Return the English forms of a message, each with its translation: the form for one, then the others."""
    said = one.string if isinstance(one.string, tuple) else (one.string,)
    english = one.id if isinstance(one.id, tuple) else (one.id,)
    return [(english[min(place, len(english) - 1)], form) for place, form in enumerate(said) if form]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_has_every_text_of_the_window(language: str) -> None:
    have = {one.id if isinstance(one.id, tuple) else (one.id, "") for one in catalogue(FOLDER / f"{language}.po")}
    assert have - {("", "")} == set(texts()), UPDATE


@pytest.mark.parametrize("language", sorted(COMPLETE))
def test_a_complete_language_has_a_translation_of_each(language: str) -> None:
    made = catalogue(FOLDER / f"{language}.po")
    missing = [one.id for one in made if one.id and not all(one.string if one.pluralizable else (one.string,))]
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_translation_has_the_parts_of_the_text(language: str) -> None:
    for one in catalogue(FOLDER / f"{language}.po"):
        for english, said in both(one):
            # The form for one may leave out how many.
            assert part_names(said) - {"count"} == part_names(english) - {"count"}, english


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_translation_is_glued_as_the_text_is(language: str) -> None:
    """A text may be the end or the beginning of a line: the blanks are what holds it to the rest."""
    for one in catalogue(FOLDER / f"{language}.po"):
        for english, said in both(one) if one.id else ():
            assert len(english) - len(english.lstrip()) == len(said) - len(said.lstrip()), english
            assert len(english) - len(english.rstrip()) == len(said) - len(said.rstrip()), english


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_window_reads_is_the_catalogue(language: str) -> None:
    with (FOLDER / f"{language}.mo").open("rb") as stream:
        compiled = gettext.GNUTranslations(stream)
    for one in catalogue(FOLDER / f"{language}.po"):
        for place, (_, said) in enumerate(both(one) if one.id else ()):
            if isinstance(one.id, tuple):
                assert compiled.ngettext(*one.id, 1 if place == 0 else 2) == said, UPDATE
            else:
                assert compiled.gettext(one.id) == said, UPDATE


@pytest.mark.parametrize("language", LANGUAGES)
def test_bringing_a_catalogue_up_to_date_changes_nothing_that_is_there(language: str) -> None:
    before = catalogue(FOLDER / f"{language}.po")
    after = brought_up_to_date(before)
    assert [(one.id, one.string) for one in after] == [(one.id, one.string) for one in before]


def test_what_is_new_comes_without_a_translation(tmp_path: Path) -> None:
    """A new language has every text; what is translated stays, what no text asks for goes."""
    made = brought_up_to_date(begun("fr"))
    assert {one.id if isinstance(one.id, tuple) else (one.id, "") for one in made} - {("", "")} == set(texts())
    assert not any(any(one.string or "") for one in made if one.id)
    some = made["Deny"]
    some.string = "Refuser"
    made.add("Said by nobody", "Dit par personne")
    write(made, tmp_path / "fr.po")
    again = brought_up_to_date(catalogue(tmp_path / "fr.po"))
    assert (again["Deny"].string, again.get("Said by nobody")) == ("Refuser", None)
    with (tmp_path / "fr.mo").open("rb") as stream:
        assert gettext.GNUTranslations(stream).gettext("Deny") == "Refuser"


def test_every_catalogue_can_be_chosen() -> None:
    (setting,) = [one for one in declared() if one.name == "language"]
    assert setting.choices == ("system", *available(FOLDER)) and setting.choices[1] == ENGLISH
    assert available(FOLDER) == (ENGLISH, *LANGUAGES)
