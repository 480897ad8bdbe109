"""A virtual screen of our own, so that nobody's mouse is moved and nobody's windows are photographed."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = ("Xvfb", "xdotool")
SIZE = "1280x800x24"


@contextmanager
def virtual_screen(size: str = SIZE) -> Iterator[str]:
    """A screen of `size` (width x height x bits of color) for as long as the context lasts; its display name.

    Raises KnownError where the programs it takes are missing or the screen does not start.
    """
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        raise KnownError(f"{' and '.join(missing)} not found.", "sudo apt-get install xvfb xdotool")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        if not number:
            raise KnownError("Xvfb did not start.", "Run `Xvfb :99` to see why.")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()
