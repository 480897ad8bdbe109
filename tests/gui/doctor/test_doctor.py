"""The page of the doctor, with examinations that the test ends."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication

from app.doctor.panel import DoctorPanel
from app.link.background import Errands
from runner.model.errors import KnownError
from runner.sandbox.images.build import Progress
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence

    from pytestqt.qtbot import QtBot

    from app.doctor.row import CheckRow
    from app.look.look import Look
    from runner.system.places import Places


@dataclass(frozen=True)
class Seen:
    """What the doctor says of one thing."""

    name: str
    state: str
    what: str
    fix: str = ""
    images: tuple[str, ...] = ()
    gvisor: bool = False


SOUND = Seen("Python", "ok", "3.11 at /usr/bin/python3.")
BROKEN = Seen("Bubblewrap", "bad", "bwrap is not <b>here</b>.", "sudo apt-get install bubblewrap")
BARE = Seen("Images", "warn", "Missing: python, shell.", "assent images python shell", ("python", "shell"))
DIRECT = "gVisor without Docker"
WALL = Seen(DIRECT, "warn", "gVisor (the program runsc) is not installed.", "sudo apt-get install runsc", gvisor=True)
ODD = Seen("Keyring", "warn", "There is none.", "Set one up.")


class Ward:
    """A panel whose examinations wait for the test."""

    def __init__(self, look: Look, places: Places) -> None:
        self.gate = threading.Semaphore(0)
        self.found: tuple[Seen, ...] | Exception = (SOUND, ODD, BROKEN)
        self.examined = 0
        self.thread = ""
        self.steps = threading.Semaphore(0)
        self.trouble: Exception | None = None
        self.asked: list[tuple[str, ...]] = []
        self.cleaned = threading.Event()
        self.panel = DoctorPanel(look, places, self._examine, self._build, self._fetch)  # type: ignore[arg-type]

    async def _fetch(self) -> AsyncGenerator[Progress]:
        async for step in self._build(("gVisor",)):
            yield step

    async def _build(self, images: Sequence[str]) -> AsyncGenerator[Progress]:
        self.asked.append(tuple(images))
        try:
            yield Progress(images[0], 0.25, "unpacking packages")
            while not self.steps.acquire(blocking=False):
                await asyncio.sleep(0.005)
            if self.trouble:
                raise self.trouble
        finally:
            self.cleaned.set()

    def _examine(self, _places: Places) -> tuple[Seen, ...]:
        self.gate.acquire(timeout=HANGS)
        self.examined += 1
        self.thread = threading.current_thread().name
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.fixture
def ward(qtbot: QtBot, look: Look, places: Places) -> Iterator[Ward]:
    ward = Ward(look, places)
    qtbot.addWidget(ward.panel)
    ward.panel.resize(900, 500)
    ward.panel.show()
    yield ward
    ward.gate.release(5)
    ward.panel.leave()
    ward.panel.findChild(Errands).close()  # type: ignore[union-attr]


def examined(qtbot: QtBot, ward: Ward) -> None:
    ward.gate.release()
    qtbot.waitUntil(ward.panel.again.isEnabled)


def test_the_window_lives_while_it_is_examined(qtbot: QtBot, ward: Ward) -> None:
    assert ward.panel.working.isVisible()
    assert not ward.panel.again.isEnabled()
    ward.panel.look_again()
    examined(qtbot, ward)
    assert ward.examined == 1
    assert ward.thread == "assent-doctor"


def test_the_worst_comes_first_with_a_word_and_its_fix(qtbot: QtBot, ward: Ward) -> None:
    examined(qtbot, ward)
    assert [(row.name.text(), row.word.text(), row.fix.text()) for row in ward.panel.rows] == [
        ("Bubblewrap", "Does not work", "sudo apt-get install bubblewrap"),
        ("Keyring", "Needs attention", "Set one up."),
        ("Python", "Works", ""),
    ]
    assert ward.panel.rows[0].what.text() == "bwrap is not <b>here</b>."
    assert ward.panel.summary.text() == "1 not working, 1 to look at, of 3 checks."
    assert [row.copy.isVisible() for row in ward.panel.rows] == [True, False, False], "a sentence is no command"


def test_a_fix_and_the_report_can_be_copied(qtbot: QtBot, ward: Ward) -> None:
    examined(qtbot, ward)
    ward.panel.rows[0].copy.click()
    assert QGuiApplication.clipboard().text() == "sudo apt-get install bubblewrap"
    ward.panel.copy.click()
    assert QGuiApplication.clipboard().text().splitlines() == [
        "[bad] Bubblewrap: bwrap is not <b>here</b>. Fix: sudo apt-get install bubblewrap",
        "[warn] Keyring: There is none. Fix: Set one up.",
        "[ok] Python: 3.11 at /usr/bin/python3.",
    ]


def test_running_again_replaces_what_was_found(qtbot: QtBot, ward: Ward) -> None:
    examined(qtbot, ward)
    ward.found = (SOUND,)
    ward.panel.again.click()
    assert ward.panel.rows[0].isVisible()
    examined(qtbot, ward)
    assert [row.name.text() for row in ward.panel.rows if row.isVisible()] == ["Python"]
    assert ward.panel.summary.text() == "1 check, nothing to do."


def test_running_again_has_the_console_look_for_its_sandbox_too(qtbot: QtBot, ward: Ward) -> None:
    """Otherwise the page says that Docker works while requests are refused for want of it."""
    examined(qtbot, ward)
    with qtbot.waitSignal(ward.panel.asked):
        ward.panel.again.click()
    ward.gate.release()
    qtbot.waitUntil(ward.panel.again.isEnabled)


def test_an_examination_that_fails_says_so(qtbot: QtBot, ward: Ward) -> None:
    ward.found = RuntimeError("no such luck")
    examined(qtbot, ward)
    assert ward.panel.notice.isVisible()
    assert ward.panel.notice.text == "The examination itself failed: no such luck"
    ward.found = (SOUND,)
    ward.panel.again.click()
    examined(qtbot, ward)
    assert not ward.panel.notice.isVisible()


def building(qtbot: QtBot, ward: Ward) -> CheckRow:
    """The row of the images, once its build says something."""
    ward.found = (BARE, SOUND)
    examined(qtbot, ward)
    row = ward.panel.rows[0]
    row.build.click()
    qtbot.waitUntil(lambda: row.doing.text() == "python: unpacking packages")
    return row


def test_images_are_built_on_one_click_and_looked_at_again(qtbot: QtBot, ward: Ward) -> None:
    row = building(qtbot, ward)
    assert ward.asked == [("python", "shell")]
    assert (row.bar.value(), row.bar.maximum()) == (250, 1000)
    assert row.bar.isVisible()
    assert not row.build.isVisible()
    ward.panel.look_again()
    assert not ward.panel.again.isEnabled()
    ward.found = (SOUND,)
    ward.gate.release()
    with qtbot.waitSignal(ward.panel.built):
        ward.steps.release()
    qtbot.waitUntil(ward.panel.again.isEnabled)
    assert ward.examined == 2
    assert [row.name.text() for row in ward.panel.rows if row.isVisible()] == ["Python"]
    assert not row.build.isVisible()
    assert not row.bar.isVisible()


def test_a_build_can_be_stopped_and_cleans_up_first(qtbot: QtBot, ward: Ward) -> None:
    row = building(qtbot, ward)
    ward.gate.release()
    with qtbot.waitSignal(ward.panel.built):
        row.stop.click()
    assert ward.cleaned.is_set()
    qtbot.waitUntil(ward.panel.again.isEnabled)
    assert row.build.isVisible()
    assert not ward.panel.trouble.isVisible()


def test_a_build_that_fails_says_why_and_what_helps(qtbot: QtBot, ward: Ward) -> None:
    building(qtbot, ward)
    ward.trouble = KnownError("The packages cannot be fetched.", "Check the network.")
    ward.gate.release()
    with qtbot.waitSignal(ward.panel.built):
        ward.steps.release()
    qtbot.waitUntil(ward.panel.again.isEnabled)
    assert ward.panel.trouble.isVisible()
    assert ward.panel.trouble.text == "Not built: The packages cannot be fetched. Check the network."


def test_leaving_the_console_ends_a_build(qtbot: QtBot, ward: Ward) -> None:
    building(qtbot, ward)
    ward.panel.leave()
    assert ward.cleaned.is_set()


# ---- gVisor ----


def test_gvisor_is_installed_on_one_click_beside_the_command_that_does_it(qtbot: QtBot, ward: Ward) -> None:
    ward.found = (SOUND, BARE, WALL)
    examined(qtbot, ward)
    images, row = ward.panel.rows[:2]
    assert (images.build.text(), row.build.text(), row.name.text()) == ("Build", "Install gVisor", DIRECT)
    assert row.copy.isVisible()
    row.build.click()
    qtbot.waitUntil(lambda: row.doing.text() == "gVisor: unpacking packages")
    assert row.bar.isVisible() and not images.bar.isVisible(), "only where it was pressed"
    assert not images.build.isEnabled()
    ward.trouble = KnownError("The packages cannot be fetched.", "Check the network.")
    ward.gate.release()
    with qtbot.waitSignal(ward.panel.built):
        ward.steps.release()
    qtbot.waitUntil(ward.panel.again.isEnabled)
    assert ward.panel.trouble.text == "gVisor was not installed: The packages cannot be fetched. Check the network."
    assert row.build.isVisible() and row.build.isEnabled()


def test_fetching_gvisor_can_be_stopped(qtbot: QtBot, ward: Ward) -> None:
    ward.found = (WALL,)
    examined(qtbot, ward)
    row = ward.panel.rows[0]
    row.build.click()
    qtbot.waitUntil(row.stop.isVisible)
    qtbot.waitUntil(lambda: bool(ward.asked))
    ward.gate.release()
    with qtbot.waitSignal(ward.panel.built):
        row.stop.click()
    assert ward.cleaned.is_set() and not ward.panel.trouble.isVisible()
    qtbot.waitUntil(ward.panel.again.isEnabled)


def test_from_a_wall_one_comes_to_what_gets_a_stronger_sandbox(qtbot: QtBot, ward: Ward) -> None:
    """Also before it has been examined, and without beginning anything by itself."""
    ward.found = (*(Seen(f"Check {number}", "warn", "Odd. " * 60) for number in range(12)), SOUND, WALL)
    ward.panel.lead_to_stronger()
    examined(qtbot, ward)
    row = next(row for row in ward.panel.rows if row.name.text() == DIRECT)
    assert row.build.hasFocus()
    qtbot.waitUntil(lambda: not row.visibleRegion().isEmpty())
    assert ward.asked == []
    ward.panel.setFocus()
    ward.panel.lead_to_stronger()
    assert row.build.hasFocus(), "it is known already"


def test_installing_begins_where_it_was_asked_for_elsewhere(qtbot: QtBot, ward: Ward) -> None:
    ward.found = (SOUND, WALL)
    ward.panel.install_gvisor()
    ward.gate.release()
    qtbot.waitUntil(lambda: ward.asked == [("gVisor",)])
    ward.panel.install_gvisor()
    ward.gate.release()
    with qtbot.waitSignal(ward.panel.built):
        ward.steps.release()
    qtbot.waitUntil(ward.panel.again.isEnabled)
    assert ward.asked == [("gVisor",)], "once"


def test_nothing_is_installed_where_a_person_must_do_it(qtbot: QtBot, ward: Ward) -> None:
    ward.found = (SOUND, Seen(DIRECT, "warn", "Not there.", "sudo apt-get install mmdebstrap uidmap"))
    ward.panel.install_gvisor()
    examined(qtbot, ward)
    assert ward.asked == [] and ward.panel.rows[0].copy.hasFocus()
    assert not ward.panel.rows[0].build.isVisible()
