"""What is known of a tool stands in one place: one that the program does not know is named right everywhere."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, cast

from app import phrases
from app.prompt.words import wants
from app.review.containment import chips
from runner.model.assessment import Level
from runner.model.request import Request, Tool
from runner.model.tool_facts import CLIENT_TOOLS, FACTS, NEW_PLACE, ToolFacts
from runner.risk.explain.class_reasons import kind_of

if TYPE_CHECKING:
    import pytest


class Toy(StrEnum):
    """A tool of another package."""

    TOY = "toy"


TOY = cast("Tool", Toy.TOY)


def test_a_tool_from_outside_has_its_words_and_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FACTS, TOY, ToolFacts("Playing", "plays", "wants to play", timed=False))
    request = Request("id", "agent", TOY, 0.0)
    assert (phrases.asks_for(request), phrases.does(request), wants(request)) == ("plays", "plays", "wants to play")
    assert kind_of(request, Level.LOW) == "Playing"
    without_time = chips(request)
    monkeypatch.setitem(FACTS, TOY, ToolFacts("Playing", "plays", "wants to play"))
    assert len(chips(request)) == len(without_time) + 1


def test_every_tool_is_in_the_table() -> None:
    assert FACTS.keys() == set(Tool)
    assert {tool for tool in Tool if tool.startswith("client_")} == CLIENT_TOOLS
    assert {Tool.CODE_EXECUTE, Tool.CODE_CREATE_SANDBOX} == NEW_PLACE
    for facts in FACTS.values():
        assert not (facts.of_client and (facts.sandbox or facts.new_place)) and not (facts.reads and facts.changes)
