"""What protects the machine is shown of the sandbox that a request would run in, not of that of new runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QLabel

from app.review.batch import Batch
from runner.model.request import Isolation, Limits
from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

STRONG = "kernel of its own (gVisor)"
WHY = "Strongest available here."
GVISOR = {"isolation": "gvisor", "chosen": WHY, "protections": [STRONG], "missing": ["nothing of note"]}


@pytest.mark.parametrize(
    ("where", "shown", "hidden"),
    [
        # Made before the engine was there, and kept: an agent can wait for that.
        ({"isolation": Isolation.LOCAL, "sandbox": "s1"}, (), (STRONG, WHY)),
        ({"isolation": Isolation.GVISOR, "sandbox": "s1"}, (), (WHY,)),
        ({"isolation": Isolation.LOCAL, "protections": ("no network",)}, ("no network",), (STRONG, WHY)),
        ({"isolation": Isolation.GVISOR, "protections": ("no network",)}, ("no network", WHY), (STRONG,)),
        ({"isolation": Isolation.GVISOR}, (STRONG, WHY), ()),
    ],
)
def test_no_request_is_said_to_be_protected_by_another_sandbox(
    desk: Desk, where: dict[str, object], shown: tuple[str, ...], hidden: tuple[str, ...]
) -> None:
    desk.cases.know_sandbox(GVISOR)
    desk.ask(feed.request(**where))
    texts = "\n".join(label.text() for label in desk.page.facts.findChildren(QLabel))
    assert [text for text in shown if text not in texts] == []
    assert [text for text in hidden if text in texts] == []


def test_several_at_once_are_approved_with_where_each_runs_and_within_which_limits(desk: Desk) -> None:
    """The same code: one in gVisor, one in a kept local sandbox for an hour."""
    desk.cases.know_sandbox(GVISOR)
    one = feed.request(isolation=Isolation.GVISOR)
    other = replace(feed.request(isolation=Isolation.LOCAL, sandbox="s1"), limits=Limits(memory_mb=4096, seconds=3600))
    for each in (one, other):
        desk.ask(each)
    batch = Batch(desk.window, desk.cases, lambda *_: None, desk.window._look, (one.id, other.id))
    try:
        first, second = batch.what.text().splitlines()
        assert "gVisor container" in first and "memory 512 MB" in first
        assert "Local sandbox" in second and "memory 4 GB" in second and "time 3600 s" in second
    finally:
        batch.close()
