"""Frozen dataclasses that are compiled at their first use are those of the standard library otherwise."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from dataclasses import FrozenInstanceError, field
from typing import Any

import pytest

from runner.model import frozen
from runner.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place."""

    name: str
    marks: tuple[int, ...] = ()
    seen: list[int] = field(default_factory=list, compare=False, repr=False)
    by: str = field(default="", kw_only=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    """A place."""

    name: str
    marks: tuple[int, ...] = ()
    seen: list[int] = field(default_factory=list, compare=False, repr=False)
    by: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Below(Place):
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    name: str

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name.lower() == other.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())


@pytest.fixture(autouse=True)
def _as_at_the_start() -> None:
    """Let each test be the first that uses these classes."""
    for kind in (Place, Below):
        for name in frozen.COMPILED:
            setattr(kind, name, frozen._later(kind, name))


def test_it_is_made_compared_hashed_and_shown_as_the_standard_one() -> None:
    one: Any
    other: Any
    for one, other in ((Place, Standard), (Standard, Place)):
        assert repr(one("x", (1,), by="y")) == repr(other("x", (1,), by="y")).replace(other.__name__, one.__name__)
        assert hash(one("x", (1,))) == hash(other("x", (1,)))
        assert one("x", seen=[1]) == one("x") != one("x", by="z")
        assert one("x") != other("x")
        assert one("x").seen is not one("x").seen
        assert [each.name for each in dataclasses.fields(one)] == [each.name for each in dataclasses.fields(other)]
        assert one.__match_args__ == other.__match_args__
        assert one.__doc__ == other.__doc__
        assert not hasattr(one("x"), "__dict__")
        for wrong in (
            lambda kind=one: kind(),
            lambda kind=one: kind("x", ()).nothing,
            lambda kind=one: kind("x", to=1),
        ):
            with pytest.raises((TypeError, AttributeError)):
                wrong()


@pytest.mark.parametrize("name", frozen.COMPILED)
def test_whichever_method_is_the_first(name: str) -> None:
    made = Place("x")
    setattr(Place, name, frozen._later(Place, name))
    assert made == Place("x")
    assert hash(made) == hash(Place("x"))
    assert repr(made) == "Place(name='x', marks=(), by='')"


def test_what_it_is_made_of_stays() -> None:
    made: Any = Place("x")
    with pytest.raises(FrozenInstanceError):
        made.name = "y"
    with pytest.raises(FrozenInstanceError):
        del made.name
    with pytest.raises(FrozenInstanceError):
        made.new = "y"
    assert dataclasses.replace(made, name="y") == Place("y")
    assert dataclasses.asdict(made) == {"name": "x", "marks": (), "seen": [], "by": ""}


def test_it_can_be_copied_and_sent() -> None:
    made = Place("x", (1,), [2], by="y")
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again == made
        assert again.seen == [2]


def test_one_that_stands_on_another_has_the_fields_of_both() -> None:
    assert Below("x", depth=2) == Below("x", depth=2) != Below("x", depth=1)
    assert Below("x") != Place("x")
    assert repr(Below("x")) == "Below(name='x', marks=(), by='', depth=0)"


def test_methods_of_its_own_stay() -> None:
    assert repr(Named("x")) == "x"
    assert Named("x") == Named("X")
    assert len({Named("x"), Named("X")}) == 1


def test_two_threads_may_be_the_first() -> None:
    barrier = threading.Barrier(8)
    made: list[Place] = []

    def make() -> None:
        barrier.wait()
        made.append(Place("x"))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1
    assert len(made) == 8


def test_nothing_is_compiled_before_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen, "_compiled", lambda _kind: pytest.fail("compiled"))

    @dataclass(frozen=True, slots=True)
    class Unused:
        name: str

    assert dataclasses.is_dataclass(Unused)
