"""What code tries against what its sandbox lets it."""

from __future__ import annotations

import pytest

from runner.model.containment import MOST_CONFLICTS, Containment, conflicts
from runner.model.verdict import RiskVerdict, Verb, VerdictAct

SENDS = VerdictAct(Verb.SENDS, "data to a.example", line=3, place="a.example")
READS = VerdictAct(Verb.READS, "data/in.csv", line=4, place="data/in.csv")
GIT = VerdictAct(Verb.STARTS, "git status", line=1, place="git")
EMPTY = Containment(files=frozenset())


def found(where: Containment, *acts: VerdictAct) -> tuple[str, ...]:
    return conflicts(RiskVerdict("Does.", None, acts), where)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Containment(), ("tries a.example; there is no network",)),
        (Containment(network=True), ()),
        (Containment(network=True, hosts=("a.example:443",)), ()),
        (Containment(network=True, hosts=("*.example",)), ()),
        (Containment(network=True, hosts=("*.a.example",)), ("tries a.example, which is not allowed",)),
        (Containment(network=True, hosts=("b.example",)), ("tries a.example, which is not allowed",)),
        (Containment(network=True, hosts=("xa.example", "example")), ("tries a.example, which is not allowed",)),
    ],
)
def test_the_network(where: Containment, expected: tuple[str, ...]) -> None:
    assert found(where, SENDS) == expected


def test_its_own_machine_is_always_there() -> None:
    assert found(Containment(), VerdictAct(Verb.FETCHES, "127.0.0.1", place="127.0.0.1")) == ()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (None, ()),
        (frozenset(), ("reads data/in.csv, which is not in this sandbox",)),
        (frozenset({"data/in.csv"}), ()),
        (frozenset({"data/in.csv.old"}), ("reads data/in.csv, which is not in this sandbox",)),
    ],
)
def test_files(files: frozenset[str] | None, expected: tuple[str, ...]) -> None:
    assert found(Containment(files=files), READS) == expected


@pytest.mark.parametrize("path", ["/etc/hosts", "~/a", "../a", "*.csv", ".", ""])
def test_other_places_are_not_judged(path: str) -> None:
    assert found(EMPTY, VerdictAct(Verb.READS, path, place=path)) == ()


def test_what_the_code_made_before_is_there() -> None:
    made = VerdictAct(Verb.WRITES, "data/in.csv", line=2, place="data/in.csv")
    later = VerdictAct(Verb.WRITES, "data/in.csv", line=9, place="data/in.csv")
    unknown = VerdictAct(Verb.WRITES, "a file worked out at run time", computed=True, line=2)
    assert found(EMPTY, made, READS) == ()
    assert found(EMPTY, unknown, READS) == ()
    assert found(EMPTY, later, READS) == ("reads data/in.csv, which is not in this sandbox",)


def test_git_needs_a_repository() -> None:
    assert found(EMPTY, GIT) == ("git finds no repository in this sandbox",)
    assert found(Containment(files=frozenset({".git/HEAD"})), GIT) == ()
    assert found(EMPTY, VerdictAct(Verb.STARTS, "git init", place="git"), GIT) == ()


def test_few_are_said_and_none_twice() -> None:
    reads = [VerdictAct(Verb.READS, f"a{number}.csv", place=f"a{number}.csv") for number in range(9)]
    assert found(Containment(), SENDS, SENDS) == ("tries a.example; there is no network",)
    assert len(found(EMPTY, *reads)) == MOST_CONFLICTS
