"""Writes the log as JSON lines to a rotated file of bounded size, private to its owner (spec O5)."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from runner.system.plain_file import open_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.system.places import Places

TURN_BYTES = 1_000_000
TURNS = 3
"""Number of earlier files: a few weeks of a busy console."""
CHATTY = ("uvicorn", "mcp")
"""Libraries that log a warning for each message they refuse; a flood would push everything else out of the log."""


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
    """A rotated file, readable by its owner alone; on a full disk records are lost without an error."""

    def _open(self) -> object:  # type: ignore[override]
        descriptor = open_file(Path(self.baseFilename), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:
        """Do nothing: an unwritable log cannot be reported anywhere."""


@contextlib.contextmanager
def logged(places: Places, level: int = logging.INFO) -> Iterator[None]:
    """Log to `places.log` in the block. Without a usable folder nothing is logged; Assent itself runs."""
    root = logging.getLogger()
    try:
        make_folder(places.log.parent)
        handler = _OwnFile(places.log, maxBytes=TURN_BYTES, backupCount=TURNS, encoding="utf-8")
    except OSError:
        yield
        return
    handler.setFormatter(_Lines())
    before = root.level
    root.addHandler(handler)
    root.setLevel(level)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        handler.close()
