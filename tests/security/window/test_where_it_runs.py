"""What protects the machine is shown of the sandbox that a request would run in, not of that of new runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QLabel

from runner.model.request import Isolation
from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

STRONG = "kernel of its own (gVisor)"
WHY = "The strongest that works here."
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
