"""The parameters that rules name are those that the help lists."""

from __future__ import annotations

from runner.model.request import Language, Request, Tool
from runner.policy.decide import parameters
from runner.system.shipped import resources


def test_the_help_lists_every_parameter() -> None:
    text = (resources() / "help/security.md").read_text("utf-8")
    listed = "\n".join(line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    named = parameters(Request("r", "claude", Tool.CODE_EXECUTE, 0.0, Language.SHELL, "true"))
    assert [name for name in named if f"`{name}`" not in listed] == []
