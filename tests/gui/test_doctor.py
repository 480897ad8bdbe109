"""The page of the doctor, with examinations that the test ends."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication

from app.doctor.panel import DoctorPanel
from app.errands import Errands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from app.look import Look
    from runner.places import Places


@dataclass(frozen=True)
class Seen:
    """What the doctor says of one thing."""

    name: str
    state: str
    what: str
    fix: str = ""


SOUND = Seen("Python", "ok", "3.11 at /usr/bin/python3.")
BROKEN = Seen("Bubblewrap", "bad", "bwrap is not <b>here</b>.", "sudo apt-get install bubblewrap")
ODD = Seen("Keyring", "warn", "There is none.", "Set one up.")


class Ward:
    """A panel whose examinations wait for the test."""

    def __init__(self, look: Look, places: Places) -> None:
        self.gate = threading.Semaphore(0)
        self.found: tuple[Seen, ...] | Exception = (SOUND, ODD, BROKEN)
        self.examined = 0
        self.thread = ""
        self.panel = DoctorPanel(look, places, self._examine)  # type: ignore[arg-type]

    def _examine(self, _places: Places) -> tuple[Seen, ...]:
        self.gate.acquire(timeout=10)
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
        ("Keyring", "Look at it", "Set one up."),
        ("Python", "Works", ""),
    ]
    assert ward.panel.rows[0].what.text() == "bwrap is not <b>here</b>."
    assert ward.panel.summary.text() == "1 not working, 1 to look at, of 3 checks."
    assert not ward.panel.rows[2].copy.isVisible()


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


def test_an_examination_that_fails_says_so(qtbot: QtBot, ward: Ward) -> None:
    ward.found = RuntimeError("no such luck")
    examined(qtbot, ward)
    assert ward.panel.told.isVisible()
    assert ward.panel.told.text == "The examination itself failed: no such luck"
    ward.found = (SOUND,)
    ward.panel.again.click()
    examined(qtbot, ward)
    assert not ward.panel.told.isVisible()
