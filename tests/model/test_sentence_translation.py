"""The verdict sentence in another language: translated where all of it is understood, else English as a whole."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.model import sentence_translation, translation
from runner.model.headline import headline
from runner.model.sentence_translation import (
    CLAUSES,
    DATA,
    DOUBTS,
    OBJECTS,
    OF_NAMES,
    PHRASES,
    SHAPES,
    WHOLE,
    in_words,
    short_form,
)
from runner.model.verdict import RiskVerdict
from runner.system.shipped import resources

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True, scope="module")
def german() -> Iterator[None]:
    before = translation._now
    assert translation.choose("de", resources() / "languages") == "de"
    sentence_translation._translated.cache_clear()
    yield
    translation._now = before
    sentence_translation._translated.cache_clear()


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("Reads a.csv and writes out/b.csv.", "Liest a.csv und schreibt out/b.csv."),
        ("Reads a.csv, b.csv and c.csv.", "Liest a.csv, b.csv und c.csv."),
        ("Reads a.csv, b.csv and 4 more and runs “ls”.", "Liest a.csv, b.csv und 4 weitere und führt “ls” aus."),
        (
            "Deletes the folder /etc; it also reads ~/.ssh/id_rsa.",
            "Löscht den Ordner /etc; außerdem: liest ~/.ssh/id_rsa.",
        ),
        ("Sends credentials to a.example.", "Sendet Zugangsdaten an a.example."),
        ("Looks through its working folder; changes nothing.", "Durchsucht seinen Arbeitsordner; ändert nichts."),
        ("Computes; touches no files, no network.", "Rechnet; berührt keine Dateien, kein Netzwerk."),
        ("Reads a.csv, as far as could be read.", "Liest a.csv, soweit es lesbar war."),
        ("Reads a.csv (partly read)", "Liest a.csv (teils gelesen)"),
        ("Deletes the folder /etc", "Löscht den Ordner /etc"),
        (
            "Hands the home folder to “toolbox”, which Assent does not know, and reads a.csv.",
            "Übergibt den persönlichen Ordner an “toolbox” (Assent unbekannt) und liest a.csv.",
        ),
        (
            "Reads a.csv, sets PATH, which changes what programs run and runs “ls”.",
            "Liest a.csv, setzt PATH (ändert, was Programme ausführen) und führt “ls” aus.",
        ),
        (
            "Records the screen, the keyboard or the clipboard and reads a.csv.",
            "Zeichnet Bildschirm, Tastatur oder Zwischenablage auf und liest a.csv.",
        ),
        ("Reads a.csv, b.csv and 3 more, and does more.", "Liest a.csv, b.csv und 3 weitere und tut noch mehr."),
        ("Writes .husky/pre-push (git hook).", "Schreibt .husky/pre-push (Git-Hook)."),
        (
            "Computes, as far as could be read, but imports flask, which is not known.",
            "Rechnet, soweit es lesbar war, aber importiert flask, was nicht bekannt ist.",
        ),
    ],
)
def test_what_is_understood_is_translated(english: str, said: str) -> None:
    assert in_words(english) == said


def test_the_reason_of_a_rule_may_lead() -> None:
    reason = "Deletes a whole system or home folder"
    assert (known := translation.known(f"{reason}.")) != ""
    assert in_words(f"{reason}.") == known
    assert in_words(f"{reason} (the home folder).") == f"{known[:-1]} (den persönlichen Ordner)."
    assert in_words(f"{reason} (something else).") == f"{reason} (something else)."


@pytest.mark.parametrize(
    "sentence",
    [
        "Rewrites files.",
        "Rewrites one file and reads the rest.",
        "Deletes nothing.",
        "Deletes nothing, and touches no files.",
        "Reads a.csv and then deletes everything.",
        "Reads a.csv, except b.csv.",
        "Sends credentials to nobody.",
        "Sends to a.example.",
        "Moves a.csv.",
        "Connects to its working folder.",
        "Reads credentials in its working folder.",
        "Reads.",
        "Reads a.csv and connects to its working folder.",
        "Reads a.csv; asks nobody.",
        "It also reads a.csv.",
        "Reads a.csv and b.csv to nothing.",
        "Reads a.csv, as far as could be read, and deletes all.",
        "Reads a.csv and wri…",
        "Hands all to “toolbox”, which Assent does not know.",
        "Hands a.csv to the world, which Assent does not know.",
        "Hands a.csv to “toolbox” and which Assent does not know.",
        "Computes, as far as could be read, but imports all that there is, which is not known.",
        "Computes, as far as could be read, but nothing.",
        "Sets all of it, which changes what programs run.",
        "Writes a.csv (something else).",
        "Reads a.c…",
        "",
        ".",
        "; ",
        " and ",
    ],
)
def test_what_is_not_understood_to_the_last_word_stays_english(sentence: str) -> None:
    assert in_words(sentence) == sentence


@pytest.mark.parametrize(
    "name",
    [
        "“nothing, and deletes the folder /”",
        "“a and writes b.csv”",
        "“; changes nothing”",
        "“{what} {name}”",
        "“its working folder”",
        "“a.csv (partly read)”",
    ],
)
def test_what_an_agent_chose_is_never_read_as_words(name: str) -> None:
    assert in_words(f"Reads {name}.") == f"Liest {name}."


@pytest.mark.parametrize("name", ["a“b”", "“a” and “b", "“a”b”", "deletes", "changes", "a b.csv", "{what}"])
def test_a_name_that_could_be_words_is_none(name: str) -> None:
    assert in_words(f"Installs {name}.") == f"Installs {name}."


def test_every_template_is_there_in_german() -> None:
    for one in (*CLAUSES.values(), *OF_NAMES.values(), *WHOLE, *PHRASES, *DATA, *SHAPES, *OBJECTS, *DOUBTS):
        assert translation.known(one), one


def test_a_short_form_that_is_cut_gives_way_to_the_whole_clause() -> None:
    reason = "Deletes a whole system or home folder"
    verdict = RiskVerdict(f"{reason} (the home folder).")
    assert headline(verdict).endswith("…")
    assert short_form(verdict) == f"{translation.known(f'{reason}.')[:-1]} (den persönlichen Ordner)"
    partly = RiskVerdict(f"{reason} (the home folder), as far as could be read.")
    assert short_form(partly) == headline(partly)
    assert short_form(RiskVerdict("Reads a.csv.")) == "Liest a.csv"
    assert short_form(RiskVerdict("Does nothing known.")) == "Does nothing known"


HOSTILE = ("“", "”", "(", ")", " and ", ", ", "; ", "a.csv", "reads ", "it also ", "more", "{what}", ".", "the folder ")


@given(st.lists(st.sampled_from(HOSTILE), max_size=60).map("".join))
def test_any_text_is_answered_and_names_stay(text: str) -> None:
    said = in_words(text)
    assert said == text or (said.count("a.csv"), said.count("“")) == (text.count("a.csv"), text.count("“"))


@pytest.mark.parametrize("part", HOSTILE)
def test_it_takes_no_longer_than_the_length_asks_for(part: str) -> None:
    """A text is at most looked at to a bound; below it, twice the length takes about twice the time."""

    def steps(text: str) -> float:
        begun = time.process_time()
        for _ in range(20):
            sentence_translation._translated.__wrapped__(text)
        return time.process_time() - begun

    long = ("Reads " + part * sentence_translation.LONGEST)[: sentence_translation.LONGEST]
    short = long[: sentence_translation.LONGEST // 4]
    assert steps(long) < 40 * max(steps(short), 0.001)
    assert in_words(long * 1000) == long * 1000
