"""Requests whose class a person finds wrong: kept whole or not at all, bounded, and decided by nobody."""

from __future__ import annotations

import errno
import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import Assessment, Capability, Finding, Level, Span
from runner.model.errors import KnownError
from runner.model.request import Claim, Isolation, Language, Request, Tool
from runner.risk.explain import disputed
from runner.risk.explain.disputed import DisputedCases, can_be_named, dispute, reassess, settled
from runner.system.file_lock import held
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

FINDING = Finding("a.rule", Level.CRITICAL, Capability.FILES, Span(1, 0, 1, 4), "code", "It does something.")
FOUND = Assessment(Level.CRITICAL, ("It does something.",), (FINDING,), base=Level.HIGH)


def request(code: str = "print(1)") -> Request:
    claim = Claim("secret-reason", "project", "task")
    return Request(
        "id", "the-agent", Tool.CODE_EXECUTE, 5.0, Language.PYTHON, code, title="the-title", session=3, claim=claim
    )


def case(code: str = "print(1)", named: Level = Level.HIGH, note: str = "") -> disputed.DisputedCase:
    return dispute(request(code), FOUND, named, note, 7.0)


@pytest.fixture
def cases(tmp_path: Path) -> DisputedCases:
    return DisputedCases(Places.under(tmp_path).disputed)


def test_a_case_comes_back_as_it_was_kept(cases: DisputedCases) -> None:
    kept = cases.keep(case(note="  A false\nalarm. "))
    (line,) = cases.lines()
    assert line == kept
    assert line.case == case(note="A false alarm.")
    assert line.case.findings == (FINDING,)
    assert line.case.classifier
    assert cases.path.stat().st_mode & 0o777 == 0o600
    assert cases.path.parent.name == "data"


def test_nothing_of_the_agent_is_kept(cases: DisputedCases) -> None:
    cases.keep(case())
    text = cases.path.read_text()
    assert not any(word in text for word in ("the-agent", "secret-reason", "the-title"))


def test_a_second_view_on_the_same_request_takes_the_place_of_the_first(cases: DisputedCases) -> None:
    cases.keep(case("a = 1"))
    cases.keep(case(named=Level.LOW))
    again = replace(request(), id="other", agent="another", isolation=Isolation.GVISOR, received_at=99.0)
    cases.keep(dispute(again, FOUND, Level.MEDIUM, "", 8.0))
    assert [one.case.named for one in cases.lines() if one.case] == [Level.HIGH, Level.MEDIUM]
    found = cases.find(request())
    assert found is not None and found.case is not None and found.case.named is Level.MEDIUM
    assert cases.find(request("b = 2")) is None


def test_what_is_removed_can_be_kept_again(cases: DisputedCases) -> None:
    first, second = cases.keep(case("a = 1")), cases.keep(case("b = 2"))
    (gone,) = cases.remove([first.id, "nothing"])
    assert gone.case == first.case
    assert [one.id for one in cases.lines()] == [second.id]
    assert gone.case is not None
    assert cases.keep(gone.case).id == first.id
    assert cases.remove(["nothing"]) == ()


DAMAGED = ("{", "null", "[]", '{"schema": 2}', '{"schema": 1, "named": "HUGE"}', "\x00\x01", "[" * 100_000)


@pytest.mark.parametrize("damaged", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_line_is_named_and_the_others_stay(cases: DisputedCases, damaged: str) -> None:
    first = cases.keep(case("a = 1"))
    with cases.path.open("a") as file:
        file.write(f"{damaged}\n")
    second = cases.keep(case("b = 2"))
    lines = cases.lines()
    assert [one.case is None for one in lines] == [False, True, False]
    assert (lines[0].id, lines[2].id) == (first.id, second.id)
    assert lines[1].problem
    assert cases.remove([lines[1].id]) == (lines[1],)
    assert [one.case is None for one in cases.lines()] == [False, False]


def test_bytes_that_are_no_text_are_a_damaged_line(cases: DisputedCases) -> None:
    cases.path.parent.mkdir()
    cases.path.write_bytes(b"\xff\xfe\xff\n")
    assert [one.case for one in cases.lines()] == [None]


def test_a_full_disk_leaves_the_file_as_it_was(cases: DisputedCases, monkeypatch: pytest.MonkeyPatch) -> None:
    cases.keep(case("a = 1"))
    before = cases.path.read_bytes()

    def full(_path: Path, _text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disputed, "replace_file", full)
    with pytest.raises(KnownError, match=r"No space left on device. Free disk space"):
        cases.keep(case("b = 2"))
    with pytest.raises(KnownError, match="No space left on device"):
        cases.remove([cases.lines()[0].id])
    assert cases.path.read_bytes() == before


def test_the_file_has_bounds(cases: DisputedCases, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KnownError, match="more than the 512 KB that are kept of one"):
        cases.keep(case("x" * disputed.LONGEST_CASE))
    assert len(case(note="n" * 9_999).note) == disputed.LONGEST_NOTE
    monkeypatch.setattr(disputed, "MOST_CASES", 2)
    cases.keep(case("a = 1"))
    cases.keep(case("b = 2"))
    cases.keep(case("b = 2", Level.LOW))
    with pytest.raises(KnownError, match=r"2 cases are kept in .*Remove some"):
        cases.keep(case("c = 3"))
    monkeypatch.setattr(disputed, "MOST_CASES", 3)
    monkeypatch.setattr(disputed, "MOST_BYTES", cases.path.stat().st_size + 10)
    with pytest.raises(KnownError, match="would have more than"):
        cases.keep(case("c = 3"))
    assert len(cases.lines()) == 2


@pytest.mark.parametrize("kind", ["folder", "pipe", "too large"])
def test_what_is_no_file_of_ours_is_said(cases: DisputedCases, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    cases.path.parent.mkdir()
    if kind == "folder":
        cases.path.mkdir()
    elif kind == "pipe":
        os.mkfifo(cases.path)
    else:
        cases.path.write_text("x" * 100)
        monkeypatch.setattr(disputed, "MOST_BYTES", 99)
    for act in (cases.lines, lambda: cases.keep(case()), lambda: cases.remove(["x"])):
        with pytest.raises(KnownError, match="cannot be read"):
            act()


def test_two_at_once_lose_nothing(cases: DisputedCases) -> None:
    def keep(first: int) -> None:
        for number in range(first, first + 5):
            DisputedCases(cases.path).keep(case(f"a = {number}"))

    threads = [threading.Thread(target=keep, args=(first,)) for first in (0, 5, 10)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(cases.lines()) == 15


def test_a_file_that_another_program_holds_is_not_waited_for_long(
    cases: DisputedCases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disputed, "LOCK_SECONDS", 0.0)
    with held(cases.path, 0.0), pytest.raises(KnownError, match="Another program is writing"):
        cases.keep(case())
    cases.keep(case())


# ---- what the person's view means ----


def assessed(worst: Level | None, base: Level | None = Level.HIGH) -> Assessment:
    findings = () if worst is None else (replace(FINDING, level=worst),)
    level = max((one for one in (worst, base) if one is not None), default=Level.LOW)
    return Assessment(level, ("Why.",), findings, base=base)


L, M, H, C = Level


@pytest.mark.parametrize(
    ("then", "named", "now", "expected"),
    [
        (C, H, None, True),
        (C, H, H, True),
        (C, H, C, False),
        (C, M, H, False),
        (C, M, M, True),
        (C, L, M, False),
        (C, L, None, True),
        (H, L, None, True),
        (None, C, C, True),
        (None, C, H, False),
        (None, H, None, False),
        (None, H, H, True),
        (None, H, C, False),
        (M, H, H, True),
        (None, M, M, True),
        (None, M, H, False),
    ],
)
def test_a_case_is_settled_once_it_is_assessed_as_named(
    then: Level | None, named: Level, now: Level | None, expected: bool
) -> None:
    one = dispute(request(), assessed(then), named, "", 0.0)
    assert can_be_named(assessed(then), named)
    assert not settled(one, assessed(then))
    assert settled(one, assessed(now)) is expected


@pytest.mark.parametrize("worst", [None, M, H, C])
def test_what_was_found_already_is_no_other_view(worst: Level | None) -> None:
    assert [one for one in Level if not can_be_named(assessed(worst), one)] == [worst or Level.LOW]


def test_the_rules_of_the_person_are_not_the_classifiers_mistake() -> None:
    raised = replace(assessed(None), level=Level.CRITICAL)
    one = dispute(request(), raised, Level.MEDIUM, "", 0.0)
    assert one.level is Level.HIGH


def test_cases_are_assessed_again_by_whatever_classifier_there_is(cases: DisputedCases) -> None:
    cases.keep(case("a = 1", Level.LOW))
    cases.keep(case("b = 2", Level.LOW))
    with cases.path.open("a") as file:
        file.write("damaged\n")
    seen: list[Request] = []

    def assess(one: Request) -> Assessment:
        seen.append(one)
        return assessed(None if one.code == "a = 1" else H)

    again = list(reassess(cases.lines(), assess))
    assert [one.settled for one in again] == [True, False]
    assert [one.code for one in seen] == ["a = 1", "b = 2"]


def test_each_line_is_json_by_itself(cases: DisputedCases) -> None:
    cases.keep(case("a = '\u2028\ud800'\n"))
    cases.keep(case("b = 2"))
    assert [json.loads(line)["schema"] for line in cases.path.read_text().splitlines()] == [1, 1]
