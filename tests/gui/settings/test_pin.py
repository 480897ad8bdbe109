"""The PIN in the window: typed and never pasted, sent once and forgotten, and asked for by all that lets code run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard, QGuiApplication
from PySide6.QtTest import QTest

from app.parts.confirm import ConfirmDialog
from app.review.batch import Batch
from app.review.deliberate import DeliberateDialog
from app.review.proof import PinField, PinProof
from app.settings.pin import NONE, PinDialog
from runner.approval.deliberate import ApproveBy
from runner.identity.pin import PinRefused, PinState
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.settings.loading import load
from tests.gui import feed
from tests.gui.elapse import elapse
from tests.gui.remembering.test_remembering import opened as remembering
from tests.gui.remembering.test_remembering import previewed
from tests.gui.settings.test_settings import bridge, opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from app.remembering.dialog import RememberDialog
    from app.settings.panel import SettingsPanel
    from runner.system.places import Places
    from tests.gui.conftest import Desk

__all__ = ["bridge", "opened"]
PIN = "4711"
CTRL = Qt.KeyboardModifier.ControlModifier
SET = PinState(known=True, words="A PIN is set. Secrets are kept in the keyring (SecretService).")
LOCKED = PinState(known=False, words="It cannot be read: the keyring is locked.", usable=False)


def asked(desk: Desk, level: Level = Level.HIGH) -> tuple[str, str, str, str]:
    """A request under review for which the PIN is asked; the call that approves it."""
    desk.bridge.approve_by = ApproveBy.PIN
    one = desk.ask(None, feed.assessment(level))
    desk.rested()
    if level is Level.CRITICAL:
        desk.page.foot.approve.press_hold()
        desk.qtbot.waitUntil(desk.page.foot.pin.isVisible)
    else:
        desk.review.answering.press_approve()
    return "approve", one.id, one.digest, PIN


@pytest.mark.parametrize("level", [Level.HIGH, Level.CRITICAL])
def test_the_pin_approves_and_is_forgotten(desk: Desk, level: Level) -> None:
    approval = asked(desk, level)
    entry = desk.page.foot.pin
    assert entry.field.hasFocus() and desk.answers == []
    QTest.keyClicks(entry.field, PIN[:3])
    QTest.keyClick(entry.field, Qt.Key.Key_Return, CTRL)
    assert desk.answers == [], "three digits are no PIN"
    QTest.keyClicks(entry.field, PIN[3:])
    QTest.keyClick(entry.field, Qt.Key.Key_Return)
    assert desk.answers == [], "Enter never decides"
    assert PIN not in entry.field.displayText()
    QTest.keyClick(entry.field, Qt.Key.Key_Return, CTRL)
    assert desk.answers == [approval]
    assert not entry.isVisible() and entry.field.text() == ""


def test_a_wrong_one_is_asked_for_again_at_once(desk: Desk) -> None:
    approval = asked(desk)
    entry = desk.page.foot.pin
    QTest.keyClicks(entry.field, PIN)
    QTest.keyClick(entry.field, Qt.Key.Key_Return, CTRL)
    desk.give("approve", PinRefused("This PIN is wrong.", "4 more wrong ones and PINs pause."))
    assert "This PIN is wrong. 4 more" in desk.page.notice.text
    assert entry.isVisible() and entry.field.text() == "" and entry.field.hasFocus()
    desk.rest_passes()
    QTest.keyClicks(entry.field, PIN)
    QTest.keyClick(entry.field, Qt.Key.Key_Return, CTRL)
    assert desk.answers == [approval, approval]


def test_nothing_typed_stays_when_the_request_goes(desk: Desk) -> None:
    asked(desk)
    entry = desk.page.foot.pin
    QTest.keyClicks(entry.field, PIN)
    card = desk.review.card
    assert card is not None
    desk.hear(feed.decided(card.request, Verdict.EXPIRED))
    assert not entry.isVisible() and entry.field.text() == ""
    entry.approved.emit(PIN)
    assert desk.answers == []


def test_what_is_below_high_needs_none(desk: Desk) -> None:
    desk.bridge.approve_by = ApproveBy.PIN
    one = desk.ask(None, feed.assessment(Level.MEDIUM))
    desk.rested()
    desk.review.answering.press_approve()
    assert desk.answers == [("approve", one.id, one.digest)]


def test_a_missed_request_and_an_edited_one_need_it(desk: Desk) -> None:
    desk.bridge.approve_by = ApproveBy.PIN
    one = desk.ask()
    desk.hear(feed.decided(one, Verdict.EXPIRED))
    desk.rest_passes()
    QTest.mouseClick(desk.page.foot.later, Qt.MouseButton.LeftButton)
    QTest.keyClicks(desk.page.foot.pin.field, PIN)
    QTest.keyClick(desk.page.foot.pin.field, Qt.Key.Key_Return, CTRL)
    assert ("arm", one.id, one.digest, PIN) in desk.bridge.calls


def test_the_field_takes_only_digits_that_are_typed(qtbot: QtBot) -> None:
    field = PinField("PIN")
    qtbot.addWidget(field)
    field.show()
    clipboard = QGuiApplication.clipboard()
    clipboard.setText(PIN)
    if clipboard.supportsSelection():
        clipboard.setText(PIN, QClipboard.Mode.Selection)
    QTest.keyClick(field, Qt.Key.Key_V, CTRL)
    QTest.keyClick(field, Qt.Key.Key_Insert, Qt.KeyboardModifier.ShiftModifier)
    QTest.mouseClick(field, Qt.MouseButton.MiddleButton)
    assert field.text() == "" and not field.acceptDrops()
    field.insert("٣")
    QTest.keyClicks(field, "a1b2-3 4" + "5" * 20)
    assert field.text() == "123455555555"
    field.clear()
    QTest.keyClick(field, Qt.Key.Key_Z, CTRL)
    assert field.text() == ""
    assert field.testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled), "its digits would be swallowed as keys"
    clipboard.clear()


def test_a_batch_leaves_out_what_needs_it(desk: Desk) -> None:
    high, medium = feed.request("print(1)"), feed.request("print(2)")
    desk.ask(high)
    desk.ask(medium, feed.assessment(Level.MEDIUM))
    desk.bridge.approve_by = ApproveBy.PIN
    desk.window.deciding._ask_batch((high.id, medium.id))
    (batch,) = desk.window.deciding.findChildren(Batch)
    assert [card.id for card in batch.listed] == [medium.id] and "with your PIN" in batch.left_out.text()
    batch.reject()


# ---- what lets code run unasked ----


def trusting(desk: Desk, way: ApproveBy) -> DeliberateDialog:
    desk.bridge.approve_by = way
    desk.window.overall.ask_trust("claude-code", 5)
    (dialog,) = desk.window.findChildren(DeliberateDialog)
    return dialog


def trusted(desk: Desk) -> list[tuple[object, ...]]:
    return [call for call in desk.bridge.calls if call[0] == "trust"]


def test_trusting_needs_the_pin(desk: Desk) -> None:
    dialog = trusting(desk, ApproveBy.PIN)
    assert isinstance(dialog.proof, PinProof) and not dialog.yes.isEnabled()
    dialog.accept()
    assert dialog.isVisible() and not trusted(desk)
    QTest.keyClicks(dialog.proof.field, PIN)
    QTest.mouseClick(dialog.yes, Qt.MouseButton.LeftButton)
    assert trusted(desk) == [("trust", "claude-code", 300.0, PIN)] and not dialog.isVisible()


def test_trusting_needs_the_word(desk: Desk) -> None:
    dialog = trusting(desk, ApproveBy.WORD)
    assert dialog.proof is not None and not dialog.yes.isEnabled()
    QTest.keyClicks(dialog.proof.field, dialog.proof.what.text().split()[1].rstrip(":"))
    QTest.keyClick(dialog.proof.field, Qt.Key.Key_Return, CTRL)
    assert trusted(desk) == [("trust", "claude-code", 300.0)]


def test_trusting_with_the_mouse_only_takes_no_key(desk: Desk) -> None:
    dialog = trusting(desk, ApproveBy.MOUSE)
    dialog.yes.click()
    QTest.keyClick(dialog.yes, Qt.Key.Key_Space)
    assert dialog.isVisible() and not trusted(desk)
    QTest.mouseClick(dialog.yes, Qt.MouseButton.LeftButton)
    assert trusted(desk) == [("trust", "claude-code", 300.0)]


def ready(desk: Desk, way: ApproveBy) -> RememberDialog:
    """The dialog of remembering, with its preview read."""
    desk.bridge.approve_by = way
    dialog = remembering(desk, Level.MEDIUM)
    previewed(desk, dialog)
    desk.qtbot.waitUntil(lambda: elapse(dialog._resting) or not dialog._resting.isActive())
    return dialog


def remembered(desk: Desk) -> list[tuple[object, ...]]:
    return [call for call in desk.bridge.calls if call[0] == "remember"]


def test_remembering_needs_the_pin_and_asks_again_for_a_wrong_one(desk: Desk) -> None:
    dialog = ready(desk, ApproveBy.PIN)
    assert dialog.proof is not None and not dialog.save.isEnabled()
    QTest.keyClicks(dialog.proof.field, PIN)
    dialog.save.click()
    assert [call[-1] for call in remembered(desk)] == [PIN] and dialog.proof.field.text() == ""
    desk.give("remember", PinRefused("This PIN is wrong."))
    assert dialog.isVisible() and "This PIN is wrong" in dialog.notice.text and not dialog.save.isEnabled()
    QTest.keyClicks(dialog.proof.field, PIN)
    QTest.keyClick(dialog.proof.field, Qt.Key.Key_Return, CTRL)
    assert [call[-1] for call in remembered(desk)] == [PIN, PIN]
    dialog.reject()


def test_remembering_with_the_mouse_only_takes_no_key(desk: Desk) -> None:
    dialog = ready(desk, ApproveBy.MOUSE)
    desk.qtbot.waitUntil(dialog.save.isEnabled)
    dialog.save.click()
    QTest.keyClick(dialog.save, Qt.Key.Key_Space)
    assert not remembered(desk)
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    assert len(remembered(desk)) == 1
    dialog.reject()


# ---- settings ----


def chosen(panel: SettingsPanel, name: str, value: str) -> None:
    box = panel.rows[name].editor.box  # type: ignore[attr-defined]
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def asks_to_save(panel: SettingsPanel) -> DeliberateDialog:
    panel.save.click()
    (dialog,) = panel.window().findChildren(DeliberateDialog)
    return dialog


def test_another_way_to_approve_is_saved_with_the_pin_only(
    qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places, bridge: feed.RecordingBridge
) -> None:
    places.settings.write_text("window:\n  approve_by: pin\n")
    panel = opened()
    chosen(panel, "approve_by", "key")
    dialog = asks_to_save(panel)
    assert isinstance(dialog.proof, PinProof), "by the file, where the engine does not say it yet"
    QTest.keyClicks(dialog.proof.field, "1234")
    dialog.yes.click()
    assert ("prove", "1234") in bridge.calls
    bridge.fail("prove", PinRefused("This PIN is wrong."))
    assert "Not saved: This PIN is wrong" in panel.notice.text
    assert load(places, {}).settings.approve_by == "pin"
    dialog = asks_to_save(panel)
    assert dialog.proof is not None
    QTest.keyClicks(dialog.proof.field, PIN)
    dialog.yes.click()
    with qtbot.waitSignal(panel.saved):
        bridge.give("prove")
    assert load(places, {}).settings.approve_by == "key"


def test_how_the_window_looks_is_saved_without_it(
    qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places
) -> None:
    places.settings.write_text("window:\n  approve_by: pin\n")
    panel = opened()
    chosen(panel, "motion", "reduced")
    with qtbot.waitSignal(panel.saved):
        panel.save.click()
    assert not panel.window().findChildren(ConfirmDialog)


def test_the_page_says_whether_there_is_a_pin_and_sets_one(
    opened: Callable[[], SettingsPanel], bridge: feed.RecordingBridge
) -> None:
    panel = opened()
    bridge.give("state", PinState(known=False, words="No PIN is set."))
    assert not panel.pin.isVisible()
    chosen(panel, "approve_by", "pin")
    assert panel.pin.isVisible() and panel.pin.words.text() == NONE and not panel.pin.remove.isVisible()
    panel.pin.change.click()
    (dialog,) = panel.window().findChildren(PinDialog)
    for field, digits in ((dialog.new, PIN), (dialog.again, "4712")):
        QTest.keyClicks(field, digits)
    dialog.save.click()
    assert "same twice" in dialog.notice.text and not bridge.waits("change")
    for field in (dialog.new, dialog.again):
        QTest.keyClicks(field, PIN)
    dialog.save.click()
    assert ("change", "", PIN) in bridge.calls and dialog.new.text() == ""
    bridge.give("change")
    assert not panel.window().findChildren(PinDialog) and bridge.waits("state")
    bridge.give("state", SET)
    assert "kept in the keyring" in panel.pin.words.text() and panel.pin.remove.isVisible()


def test_changing_and_removing_need_the_present_one(
    opened: Callable[[], SettingsPanel], bridge: feed.RecordingBridge
) -> None:
    panel = opened()
    bridge.give("state", SET)
    panel.pin.remove.click()
    (dialog,) = panel.window().findChildren(PinDialog)
    QTest.keyClicks(dialog.old, "1234")
    dialog.save.click()
    bridge.fail("remove", PinRefused("This PIN is wrong."))
    assert dialog.isVisible() and "This PIN is wrong" in dialog.notice.text and dialog.isEnabled()
    dialog.reject()


def test_a_locked_keyring_is_said_and_nothing_can_be_set(
    opened: Callable[[], SettingsPanel], bridge: feed.RecordingBridge
) -> None:
    panel = opened()
    bridge.give("state", LOCKED)
    chosen(panel, "approve_by", "pin")
    assert "the keyring is locked" in panel.pin.words.text() and not panel.pin.change.isEnabled()
