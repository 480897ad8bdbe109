"""A log of what was done on a terminal with changes of working copies, which the console records.

One for all working copies, since a discarded one takes its own log with it.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.work import WorkDone
from runner.system.private_folder import make_folder
from runner.work.log import WorkLog

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = ".terminal"
"""Below the working copies; no name of one begins so."""


def note(home: Path, kind: str, body: Mapping[str, object]) -> None:
    """Write down one step of a deed. Raises KnownError where that cannot be written."""
    folder = home / FOLDER
    try:
        make_folder(folder)
        with contextlib.closing(WorkLog(folder)) as log:
            log.add(WorkDone(time.time(), kind, dict(body)))
    except OSError as error:
        raise KnownError(f"It cannot be noted for the history: {error.strerror}.", "Free some space.") from error
