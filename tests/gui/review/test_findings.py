"""Findings beside the code: each leads to its line, tells its reference, and can be picked by capability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from app.review import findings
from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, Span
from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

CODE = "\n".join(f"step_{number}()" for number in range(400))


def finding(line: int, capability: Capability, reference: str = "T1485", level: Level = Level.HIGH) -> Finding:
    evidence = f"<b>step_{line - 1}()</b>"
    return Finding(f"rule.{line}", level, capability, Span(line, 0, line, 4), evidence, f"Reason {line}.", reference)


FOUND = (
    finding(3, Capability.NETWORK),
    finding(200, Capability.DESTROYS_FILES, level=Level.CRITICAL),
    finding(350, Capability.NETWORK, "CWE-78"),
)
ASSESSED = Assessment(Level.CRITICAL, ("Reason 200.",), FOUND)


def listed(desk: Desk) -> list[int]:
    """Lines of the findings that are listed."""
    model = desk.page.facts.findings.model()
    return [model.index(row, 0).data(Qt.ItemDataRole.UserRole).span.line for row in range(model.rowCount())]


def test_all_findings_are_listed_the_worst_first(desk: Desk) -> None:
    desk.ask(feed.request(code=CODE), ASSESSED)
    assert listed(desk) == [200, 3, 350]


def test_a_capability_narrows_the_list_and_all_brings_it_back(desk: Desk) -> None:
    desk.ask(feed.request(code=CODE), ASSESSED)
    choice = desk.page.facts.narrowing
    assert [choice.itemText(at) for at in range(choice.count())] == [
        "All: 3 findings",
        "Network: 2",
        "Destroys files: 1",
    ]
    choice.setFocus()
    desk.qtbot.keyClick(choice, Qt.Key.Key_Down)
    assert listed(desk) == [3, 350]
    desk.qtbot.keyClick(choice, Qt.Key.Key_Up)
    assert listed(desk) == [200, 3, 350]


def test_the_choice_is_gone_with_the_request(desk: Desk) -> None:
    one = desk.ask(feed.request(code=CODE), ASSESSED)
    desk.page.facts.narrowing.setCurrentIndex(1)
    first = desk.cases.card(one.id)
    assert first is not None
    desk.page.facts.show_card(first, {})
    assert listed(desk) == [3, 350]
    other = desk.ask(feed.request(code=CODE), ASSESSED)
    second = desk.cases.card(other.id)
    assert second is not None
    desk.page.facts.show_card(second, {})
    assert listed(desk) == [200, 3, 350]


def test_the_wheel_over_the_choice_hides_nothing(desk: Desk) -> None:
    desk.ask(feed.request(code=CODE), ASSESSED)
    choice = desk.page.facts.narrowing
    at = QPointF(choice.rect().center())
    turn = QWheelEvent(
        at,
        choice.mapToGlobal(at),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(choice, turn)
    assert choice.currentIndex() == 0


def test_one_capability_alone_offers_no_choice(desk: Desk) -> None:
    desk.ask(feed.request(code=CODE), Assessment(Level.HIGH, ("Reason 3.",), FOUND[:1]))
    assert not desk.page.facts.narrowing.isVisible()
    assert listed(desk) == [3]


def test_a_click_goes_to_the_line(desk: Desk) -> None:
    desk.ask(feed.request(code=CODE), ASSESSED)
    view, lines = desk.page.facts.findings, []
    desk.page.facts.line_picked.connect(lines.append)
    before = desk.page.reading.code.verticalScrollBar().value()
    desk.qtbot.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(2, 0)).center()
    )
    assert lines == [350]
    assert desk.page.reading.code.verticalScrollBar().value() > before


def test_a_tip_tells_evidence_and_reference_as_plain_text(desk: Desk) -> None:
    desk.ask(feed.request(code=CODE), ASSESSED)
    model = desk.page.facts.findings.model()
    tips = [model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in range(3)]
    assert "MITRE ATT&amp;CK technique T1485" in tips[0]
    assert "Common weakness CWE-78" in tips[2]
    assert "&lt;b&gt;step_199()&lt;/b&gt;" in tips[0]


def test_what_belongs_to_no_line_names_none(desk: Desk) -> None:
    reason = "It runs programs of its own while it is installed."
    whole = Finding("package.builds", Level.CRITICAL, Capability.PACKAGES, WHOLE, "one 1.0", reason, "T1195.001")
    here = finding(1, Capability.NETWORK)
    desk.ask(feed.request(code=CODE), Assessment(Level.CRITICAL, (reason,), (whole, here)))
    model = desk.page.facts.findings.model()
    spoken = [model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(2)]
    assert spoken == [f"CRITICAL: {reason}", "HIGH, line 1: Reason 1."]
    assert [findings._below(one) for one in (whole, here)] == [
        "CRITICAL \N{MIDDLE DOT} packages",
        "HIGH \N{MIDDLE DOT} line 1 \N{MIDDLE DOT} network",
    ]
