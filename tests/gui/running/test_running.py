"""The page of runs: pausing one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from app.parts.text.lines import SUMMARY
from app.parts.text.output_painting import text_of
from app.running.panel import RunningPanel
from runner.model.events import RunFinished, RunHeld, SandboxesChanged
from runner.model.kept_sandbox import Kept
from runner.model.request import Isolation, Language
from runner.sandbox.output import Stream, Transcript
from tests.gui import feed

if TYPE_CHECKING:
    import pytest

    from tests.gui.conftest import Desk

CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def running(desk: Desk, isolation: Isolation) -> tuple[RunningPanel, str]:
    """The page with one run on it, and the run's request id."""
    desk.window.show_page("Running")
    one = feed.request(isolation=isolation)
    desk.hear(feed.asked(one), feed.decided(one), feed.started(one))
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    return page, one.id


def test_a_run_in_a_container_can_be_paused_and_continues(desk: Desk) -> None:
    page, name = running(desk, Isolation.GVISOR)
    assert page.hold.text() == "Pause"
    page.hold.click()
    desk.hear((RunHeld(name, True),))
    assert page.hold.text() == "Resume"
    assert page.state.text().split(": ")[1].startswith("Paused. The time limit is on hold.")
    assert page.model.index(0, 0).data(SUMMARY).spoken.count("paused 0:0") == 1
    page.view.setFocus()
    desk.qtbot.keyClick(page.view, Qt.Key.Key_P, CONTROL_SHIFT)
    desk.hear((RunHeld(name, False),))
    assert page.hold.text() == "Pause"
    held = [call for call in desk.bridge.calls if call[0] == "hold"]
    assert held == [("hold", name, True), ("hold", name, False)]


def test_the_time_of_a_run_does_not_go_on_while_it_is_paused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("app.state.cards.time.monotonic", lambda: now)
    page, name = running(desk, Isolation.DOCKER)
    card = page.shown
    assert card is not None
    for later, held in ((10.0, True), (30.0, True), (70.0, False)):
        now = 1000.0 + later
        desk.hear((RunHeld(name, held),))
    now = 1075.0
    assert card.elapsed == 15.0


def test_a_run_that_cannot_be_halted_has_no_button(desk: Desk) -> None:
    page, _ = running(desk, Isolation.LOCAL)
    assert page.stop.isVisibleTo(page)
    assert not page.hold.isVisibleTo(page)
    page.turn()
    assert not any(call[0] == "hold" for call in desk.bridge.calls)


def keeping(*names: str) -> tuple[SandboxesChanged]:
    kept = [Kept(name, "claude", Language.PYTHON, Isolation.GVISOR, 0.0, title=name, ends_at=9e9) for name in names]
    return (SandboxesChanged(tuple(kept)),)


def test_a_kept_sandbox_is_listed_and_removed_after_asking(desk: Desk) -> None:
    desk.window.show_page("Running")
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    assert not page.kept.isVisibleTo(page)
    desk.hear(keeping("one", "two"))
    assert page.kept.isVisible() and page.kept.model.rowCount() == 2
    page.kept.view.setCurrentIndex(page.kept.model.index(1, 0))
    page.kept.remove.click()
    assert page.kept.back.hasFocus()
    desk.hear(keeping("one", "two", "three"))
    assert page.kept.sure.isVisible(), "another sandbox does not take the question away"
    page.kept.sure.click()
    assert [call for call in desk.bridge.calls if call[0] == "remove_sandbox"] == [("remove_sandbox", "two")]
    desk.hear(keeping("one"))
    assert page.kept.model.rowCount() == 1
    desk.hear(keeping())
    assert not page.kept.isVisibleTo(page)


def test_the_question_goes_when_its_sandbox_does(desk: Desk) -> None:
    """A click meant for one sandbox does not remove another."""
    desk.window.show_page("Running")
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    desk.hear(keeping("one", "two"))
    page.kept.view.setCurrentIndex(page.kept.model.index(1, 0))
    page.kept.remove.click()
    desk.hear(keeping("one"))
    assert not page.kept.sure.isVisible()


def shown_output(page: RunningPanel) -> str:
    page.output._read()
    return "\n".join(text_of(line)[0] for line in page.output._lines.lines(0, 100))


def written(text: bytes) -> Transcript:
    transcript = Transcript(1 << 20)
    transcript.append(Stream.OUT, text)
    return transcript


def test_what_a_build_writes_is_shown_until_the_code_writes(desk: Desk) -> None:
    page, name = running(desk, Isolation.GVISOR)
    desk.bridge.builds[name] = ("one 1.0", written(b"compiling one\n"))
    page._tick()
    assert "compiling one" in shown_output(page)
    assert page.state.text().split(": ")[1].startswith("Building one 1.0")
    desk.bridge.builds[name] = ("two\u202e 1.0", written(b"compiling two\n"))
    page._tick()
    assert "compiling two" in shown_output(page) and "\u202e" not in page.state.text()
    del desk.bridge.builds[name]
    desk.bridge.transcripts[name] = written(b"the code\n")
    page._tick()
    assert shown_output(page).strip() == "the code"
    assert page.state.text().split(": ")[1].startswith("Running")


def test_after_a_build_that_failed_its_result_is_shown(desk: Desk) -> None:
    page, name = running(desk, Isolation.GVISOR)
    desk.bridge.builds[name] = ("one 1.0", written(b"compiling one\n"))
    page._tick()
    desk.bridge.builds.clear()
    desk.hear((RunFinished(name, feed.result(stdout="the end of the build\n")),))
    assert shown_output(page).strip() == "the end of the build"
