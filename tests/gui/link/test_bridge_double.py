"""The recording bridge of these tests has what the real one has, and nothing else."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

from tests.gui.feed import NOT_ASKED, PARTS, RecordingBridge

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.link.bridge import EngineLink


def parts(bridge: EngineLink) -> list[object]:
    return [bridge, *(getattr(bridge, name) for name in PARTS)]


def test_a_call_is_noted_with_its_values_however_they_were_named(qtbot: QtBot) -> None:
    bridge = RecordingBridge()
    bridge.decisions.approve("r1", "digest")
    bridge.decisions.deny("r1", reason="no", digest="digest")
    assert bridge.calls == [("approve", "r1", "digest"), ("deny", "r1", "digest", "no")]


def test_what_the_real_bridge_does_not_have_fails(qtbot: QtBot) -> None:
    with pytest.raises(AttributeError):
        getattr(RecordingBridge().decisions, "approve_all")()  # noqa: B009 # a name that mypy would find


@pytest.mark.parametrize("values", [("r1",), ("r1", "digest", "1234", "more")])
def test_a_call_that_does_not_fit_fails(qtbot: QtBot, values: tuple[str, ...]) -> None:
    bridge = RecordingBridge()
    with pytest.raises(TypeError):
        bridge.decisions.approve(*values)
    assert not bridge.calls


def test_no_public_method_of_the_real_bridge_is_called_by_it(qtbot: QtBot) -> None:
    for double in parts(RecordingBridge()):
        real = type(double).__mro__[1]
        for name, method in vars(real).items():
            if inspect.isfunction(method) and not name.startswith("_") and name not in NOT_ASKED:
                assert getattr(type(double), name) is not method


def test_what_waits_in_the_real_bridge_waits_in_it(qtbot: QtBot) -> None:
    bridge = RecordingBridge()
    answer = bridge.decisions.approve("r1", "digest")
    assert not answer.done()
    bridge.give("approve", "too late")
    assert answer.result() == "too late"
    assert bridge.runs.stop("r1") is None  # type: ignore[func-returns-value]
