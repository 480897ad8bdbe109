"""The short form of a verdict: what it says first, in some 36 characters."""

from __future__ import annotations

import pytest

from runner.model.headline import LONGEST, headline
from runner.model.verdict import RiskVerdict, Verb, VerdictAct
from runner.risk.assess import assess
from tests.risk.decision_requests import REQUESTS


def short(sentence: str, *acts: VerdictAct) -> str:
    return headline(RiskVerdict(sentence, None, acts))


def test_it_is_a_verb_with_its_object() -> None:
    deleted = VerdictAct(Verb.DELETES, "the folder \N{LEFT DOUBLE QUOTATION MARK}build\N{RIGHT DOUBLE QUOTATION MARK}")
    found = short(f"Deletes {deleted.target} and the folder x and runs npm.", deleted)
    assert found == f"Deletes {deleted.target}"
    rows = VerdictAct(Verb.CHANGES_DATA, "changes every row of customers")
    assert short("Changes every row of customers in shop.db and reads x.", rows) == "Changes every row of customers"


def test_the_host_that_data_goes_to_is_in_it() -> None:
    sent = VerdictAct(Verb.SENDS, "credentials to h1.example", place="h1.example")
    sentence = "Sends credentials, where tokens are kept, over the network (to h1.example); it also reads ~/.ssh/id."
    assert short(sentence, sent) == "Sends credentials to h1.example"
    long = VerdictAct(Verb.SENDS, f"environment variables to {'a' * 40}.evil.example", place=f"{'a' * 40}.evil.example")
    found = short(f"Sends environment variables over the network (to {long.place}).", long)
    assert found.startswith("Sends environment variables to ") and found.endswith("evil.example")
    assert len(found) <= LONGEST


def test_what_was_not_read_whole_is_called_so() -> None:
    written = VerdictAct(Verb.WRITES, "top.txt")
    assert short("Writes top.txt, as far as could be read.", written) == "Writes top.txt (partly read)"
    many = VerdictAct(Verb.WRITES, f"{'long/' * 12}name.txt")
    assert short(f"Writes {many.target}, as far as could be read.", many).endswith(" (partly read)")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("No use of files, network or other programs was found.", "No files, network or programs found"),
        ("Computes and prints; touches no files, no network.", "Computes and prints"),
        (
            "Only commands that look and print were found, as far as could be read.",
            "Only looks and prints (partly read)",
        ),
        ("", ""),
    ],
)
def test_no_sentence_is_cut_so_that_it_says_something_else(sentence: str, expected: str) -> None:
    assert short(sentence) == expected


def test_a_name_that_an_agent_chose_does_not_shorten_a_finding() -> None:
    named = VerdictAct(Verb.DELETES, "a", place="a")
    assert short("Deletes a whole system or home folder (the folder /).", named).startswith("Deletes a whole system")


def test_the_twenty_requests_have_headlines_that_fit() -> None:
    for one in REQUESTS:
        found = headline(assess(one.request).verdict)
        assert 0 < len(found) <= LONGEST, one.name
        assert found.split()[0] == assess(one.request).verdict.sentence.split()[0].rstrip(";.") or "found" in found


def test_a_name_comes_with_the_words_that_say_nothing_without_it() -> None:
    sentence = "Downloads from files.example/report, deletes the folder build and changes the rights of out.txt."
    assert short(sentence) == "Downloads from files.example/report\N{HORIZONTAL ELLIPSIS}"
    assert len(short(f"Downloads from {'a' * 80}.example, deletes x.")) <= LONGEST
