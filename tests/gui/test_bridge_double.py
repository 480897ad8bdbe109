"""The recording bridge of these tests has what the real one has, and nothing else."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

from app.bridge import Bridge
from tests.gui.feed import RecordingBridge

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


def test_a_call_is_noted_with_its_values_however_they_were_named(qtbot: QtBot) -> None:
    bridge = RecordingBridge()
    bridge.approve("r1", "digest")
    bridge.deny("r1", reason="no", digest="digest")
    assert bridge.calls == [("approve", "r1", "digest"), ("deny", "r1", "digest", "no")]


def test_what_the_real_bridge_does_not_have_fails(qtbot: QtBot) -> None:
    with pytest.raises(AttributeError):
        getattr(RecordingBridge(), "approve_all")()  # noqa: B009 # a name that mypy would find


@pytest.mark.parametrize("values", [("r1",), ("r1", "digest", "more")])
def test_a_call_that_does_not_fit_fails(qtbot: QtBot, values: tuple[str, ...]) -> None:
    bridge = RecordingBridge()
    with pytest.raises(TypeError):
        bridge.approve(*values)
    assert not bridge.calls


def test_no_public_method_of_the_real_bridge_is_called_by_it(qtbot: QtBot) -> None:
    for name, real in vars(Bridge).items():
        if inspect.isfunction(real) and not name.startswith("_"):
            double = getattr(RecordingBridge, name)
            assert double is not real
            if double.__name__ == name:  # written by hand
                assert list(inspect.signature(double).parameters) == list(inspect.signature(real).parameters)
