"""A virtual screen that programs in a bare system draw on, with eyes to see it and hands to press and click."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage

from app.look.tokens import LIGHT
from tests.package.given import SHOTS
from tests.path.desktop import button

if TYPE_CHECKING:
    from collections.abc import Iterator


DRAWN_SECONDS = 5.0
"""For a picture that a person looks at; no test depends on it."""


class Screen:
    """One screen of this machine; a bare system reaches it by the server's abstract socket."""

    def __init__(self, display: str) -> None:
        self.display = display
        self._environment = {**os.environ, "DISPLAY": display}

    def window(self) -> str:
        """Return the console's window, '' where there is none."""
        return self._hand()

    def press(self, key: str) -> None:
        """A real key. The window is given the focus first, as a window manager would do."""
        self._hand("windowfocus", "--sync", "key", key)

    def turn_to(self, key: str, name: str) -> None:
        """Press the key of another page and keep a picture of it once nothing moves on it."""
        before = last = QImage(self.photograph(name))
        self.press(key)
        ends = time.monotonic() + DRAWN_SECONDS
        while time.monotonic() < ends:
            now = QImage(self.photograph(name))
            if now == last != before:
                return
            last = now

    def click_approve(self, name: str) -> None:
        """A real click of the mouse on the button that approves, where one is seen in the picture `name`."""
        picture = QImage(self.photograph(name))
        if place := button(picture, LIGHT.accent) or button(picture, LIGHT.accent_ink):
            x, y = place
            beside = (str(x - 30), str(y - 30))
            self._hand("windowfocus", "mousemove", *beside, "mousemove", str(x), str(y), "click", "1")

    def photograph(self, name: str) -> str:
        """Keep what is on the screen now, for a person to look at as well; return the file's path."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        file = str(SHOTS / f"{name}.png")
        subprocess.run(["import", "-display", self.display, "-window", "root", file], check=True)
        return file

    def _hand(self, *deeds: str) -> str:
        """Find the window, whatever number its title has, and do `deeds` to it."""
        command = ["xdotool", "search", "--onlyvisible", "--name", "Assent", *deeds]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False).stdout


@contextmanager
def virtual_screen() -> Iterator[Screen]:
    """A screen for as long as the context lasts; it lets every user of this machine draw on it (`-ac`)."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-ac", "-noreset"]
    server = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            yield Screen(f":{answer.readline().strip()}")
    finally:
        server.terminate()
        server.wait()
