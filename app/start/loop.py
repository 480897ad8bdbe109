"""The loop of the window: Qt's own, which runs tasks of asyncio between two of its events."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from PySide6.QtWidgets import QApplication
    from qasync import QEventLoop

SET_BY_PYSIDE = "PYSIDE6_OPTION_PYTHON_ENUM"
"""A variable that PySide sets for itself when it is imported."""


def make_loop(app: QApplication) -> QEventLoop:
    """Return a loop that lives in `app`. It is the caller's to close."""
    # Another binding of Qt may be installed beside ours, and qasync takes the first that it finds.
    before = os.environ.get("QT_API")
    os.environ["QT_API"] = "pyside6"
    from qasync import QEventLoop

    # Programs that the console starts get the person's environment: both count for imports alone.
    os.environ.pop(SET_BY_PYSIDE, None)
    os.environ.pop("QT_API")
    if before is not None:
        os.environ["QT_API"] = before
    return QEventLoop(app)


def run(
    app: QApplication,
    main: Coroutine[Any, Any, None],
    failed: Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None],
) -> None:
    """Run Qt and asyncio until `main` ends, then cancel what is left. `failed` hears of errors nobody awaits.

    Where something ends Qt's loop before, `main` is cancelled.
    """
    with asyncio.Runner(loop_factory=partial(make_loop, app)) as runner:
        loop = runner.get_loop()
        loop.set_exception_handler(failed)
        ended = loop.create_task(main, name="window")
        try:
            loop.run_until_complete(ended)
        except RuntimeError:
            if ended.done():
                raise
