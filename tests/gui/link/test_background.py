"""Errands: told in the window's thread, not told to what is gone, and never the last to hold a widget."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.link.background import Errands
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot


def never(_: object) -> None:
    raise AssertionError("told")


def test_what_comes_of_it_arrives_in_this_thread(qtbot: QtBot) -> None:
    errands = Errands("test")
    told: list[tuple[str, object]] = []

    def here(what: object) -> None:
        told.append((threading.current_thread().name, what))

    def worked() -> str:
        errands.tell(here, "half")
        return threading.current_thread().name

    errands.send(worked, here, never)
    errands.send(lambda: 1 // 0, never, here)
    qtbot.waitUntil(lambda: len(told) == 3)
    assert [thread for thread, _ in told] == ["MainThread"] * 3
    assert told[0][1] == "half"
    assert told[1][1] == "assent-test"
    assert isinstance(told[2][1], ZeroDivisionError)
    errands.close()


def test_a_closed_one_gets_nothing(qtbot: QtBot) -> None:
    errands, other = Errands("test"), Errands("other")
    gate = threading.Event()
    over: list[bool] = []
    errands.send(lambda: gate.wait(HANGS), never, never)
    errands.close()
    gate.set()
    other.send(lambda: gate.wait(HANGS), over.append, never)
    qtbot.waitUntil(lambda: bool(over))
    other.close()


def test_the_last_to_hold_a_widget_is_never_the_worker(qtbot: QtBot) -> None:
    gate, gone = threading.Event(), threading.Event()
    threads: list[str] = []

    def begin() -> Callable[[], None]:
        widget = QWidget()
        errands = Errands("test", widget)

        def work(held: QWidget = widget) -> bool:
            return gate.wait(HANGS) and held is not None

        def ended() -> None:
            threads.append(threading.current_thread().name)
            gone.set()

        weakref.finalize(widget, ended)
        errands.send(work, never, never)
        return errands.close

    begin()()
    gate.set()
    qtbot.waitUntil(gone.is_set)
    assert threads == ["MainThread"]
