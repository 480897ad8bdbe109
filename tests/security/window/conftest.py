"""The window of the tests of the window."""

from __future__ import annotations

from tests.gui.conftest import desk, look, pages, places, the_look, window_loop

__all__ = ["desk", "look", "pages", "places", "the_look", "window_loop"]
