"""Writes what Assent logs as JSON lines to a file of its owner's, in turns of bounded size (spec O5)."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.system.places import Places

TURN_BYTES = 1_000_000
TURNS = 3
"""Earlier files kept beside the present one: a few weeks of a busy console."""


class _Lines(logging.Formatter):
    """One JSON object a record: time (RFC 3339, UTC), level, logger, message, and the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{at}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "thread": record.threadName,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class _OwnFile(RotatingFileHandler):
    """Each turn is readable by its owner alone; a full disk costs lines and never the program."""

    def _open(self) -> object:  # type: ignore[override]
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:
        """Nothing: where the log cannot be written there is nowhere to say so."""


@contextlib.contextmanager
def logged(places: Places, level: int = logging.INFO) -> Iterator[None]:
    """Log to `places.log` meanwhile. Without a usable folder nothing is logged; Assent itself goes on."""
    root = logging.getLogger()
    try:
        places.log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler = _OwnFile(places.log, maxBytes=TURN_BYTES, backupCount=TURNS, encoding="utf-8")
    except OSError:
        yield
        return
    handler.setFormatter(_Lines())
    before = root.level
    root.addHandler(handler)
    root.setLevel(level)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        handler.close()
