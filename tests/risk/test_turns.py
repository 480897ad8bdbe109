"""Whose call is next."""

from __future__ import annotations

from runner.risk.worker.turns import PERSON, Turns


def taken(turns: Turns[int]) -> tuple[str, int]:
    turn = turns.take()
    assert turn is not None
    return turn


def test_one_at_a_time_for_each_and_agents_in_turn() -> None:
    turns: Turns[int] = Turns(2)
    for number in range(3):
        turns.put("a", number)
    turns.put("b", 10)
    turns.put("c", 20)
    assert [taken(turns), taken(turns), turns.take()] == [("a", 0), ("b", 10), None]
    turns.done("a")
    assert [taken(turns), turns.take()] == [("c", 20), None], "the one that has just had its turn is the last"
    turns.done("b")
    assert taken(turns) == ("a", 1)
    turns.done("a")
    turns.done("c")
    assert [taken(turns), turns.ready, turns.take()] == [("a", 2), False, None]


def test_an_agent_that_asks_alone_leaves_the_other_places_free() -> None:
    turns: Turns[int] = Turns(2)
    for number in range(2):
        turns.put("a", number)
    turns.put(PERSON, 7)
    turns.put(PERSON, 8)
    assert [taken(turns), taken(turns), turns.ready, turns.take()] == [(PERSON, 7), ("a", 0), False, None]
    turns.put("b", 10)
    assert taken(turns) == ("b", 10)
    turns.done("a")
    turns.done(PERSON)
    assert [taken(turns), taken(turns)] == [(PERSON, 8), ("a", 1)]


def test_the_person_is_first_and_does_not_count_as_an_agent() -> None:
    turns: Turns[int] = Turns(1)
    turns.put("a", 1)
    turns.put("b", 2)
    assert taken(turns) == ("a", 1)
    turns.put(PERSON, 3)
    turns.put(PERSON, 4)
    assert [taken(turns), turns.take()] == [(PERSON, 3), None]
    turns.done("a")
    assert taken(turns) == ("b", 2)
    turns.done(PERSON)
    assert taken(turns) == (PERSON, 4)


def test_costly_agents_share_one_place() -> None:
    turns: Turns[int] = Turns(2, {"a", "b", "c"}.__contains__)
    for asker in ("a", "b", "c", "honest"):
        turns.put(asker, len(asker))
    assert [taken(turns), taken(turns), turns.take()] == [("a", 1), ("honest", 6), None]
    turns.done("honest")
    assert turns.take() is None and not turns.ready, "the other place is for those that are not costly"
    turns.put("honest", 7)
    assert taken(turns) == ("honest", 7)
    turns.done("a")
    assert taken(turns) == ("b", 1)
    turns.done("honest")
    turns.put(PERSON, 8)
    assert [taken(turns), turns.take()] == [(PERSON, 8), None], "the person shares no place"


def test_what_was_broken_off_is_the_next_of_its_asker_and_lets_others_go_first() -> None:
    costly: set[str] = set()
    turns: Turns[int] = Turns(1, costly.__contains__)
    turns.put("a", 1)
    turns.put("a", 2)
    assert taken(turns) == ("a", 1) and not turns.held_up
    turns.put("b", 3)
    assert turns.held_up
    costly.add("a")
    turns.done("a")
    turns.put_back("a", 1)
    assert taken(turns) == ("b", 3) and not turns.held_up, "whoever is costly is not held up by others"
    turns.done("b")
    assert taken(turns) == ("a", 1)
    turns.done("a")
    assert taken(turns) == ("a", 2)


def test_what_is_drained_waits_no_more() -> None:
    turns: Turns[int] = Turns(2)
    for asker in ("a", "a", "b", PERSON):
        turns.put(asker, len(asker))
    assert sorted(turns.drain()) == [0, 1, 1, 1] and not turns.ready
