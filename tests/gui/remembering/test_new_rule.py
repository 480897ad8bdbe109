"""A rule made from a past request: what it is about is ticked, it never allows, and the file says what was shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt

from app.remembering.new_rule import NewRuleDialog, abouts, rule_of
from runner.model.assessment import Level
from runner.policy.rulefile import read
from runner.policy.rules import Action
from tests.gui import feed

if TYPE_CHECKING:
    from runner.system.places import Places
    from tests.gui.conftest import Desk

REQUEST = replace(feed.request("print(1)\n", "codex"), domains=("cdn.example",), packages=("flask",))


def test_a_rule_is_about_exactly_what_is_ticked() -> None:
    offered = abouts(REQUEST)
    assert [one.parameter for one in offered] == ["agent", "tool", "language", "domain", "package", "code"]
    assert [one.parameter for one in offered if one.ticked] == ["agent", "tool", "language"]
    rule = rule_of(Action.DENY, None, offered)
    assert rule.name == "deny-codex-python-code_execute"
    assert rule.agents == ("codex",) and rule.tools == ("code_execute",)
    assert rule.equal == (
        ("language", "python"),
        ("domain", "cdn.example"),
        ("package", "flask"),
        ("code", "print(1)\n"),
    )


def test_it_is_added_as_shown_and_by_its_own_button_alone(desk: Desk, places: Places) -> None:
    desk.window.show_page("Rules")
    panel: Any = desk.window.page("Rules")
    panel._places = places
    panel.new_rule(REQUEST)
    (dialog,) = panel.window().findChildren(NewRuleDialog)
    assert dialog.focusWidget() is dialog.no and "\n    action: deny" in dialog.preview.toPlainText()
    boxes = {one.parameter: box for one, box in dialog.boxes}
    for box in boxes.values():
        box.setChecked(False)
    assert not dialog.yes.isEnabled(), "a rule about every request is not made by a click"
    boxes["domain"].setChecked(True)
    dialog.critical.setChecked(True)
    assert "cdn.example" in dialog.preview.toPlainText()
    dialog.yes.click()
    desk.qtbot.waitUntil(lambda: bool(read(places).rules))
    (rule,) = read(places).rules
    assert rule.action is Action.ASK and rule.level is Level.CRITICAL and not rule.agents
    panel.new_rule(REQUEST)
    second = panel.window().findChildren(NewRuleDialog)[-1]
    desk.qtbot.keyClick(second, Qt.Key.Key_Return)
    assert len(read(places).rules) == 1, "Enter cancels"
    panel._errands.close()
