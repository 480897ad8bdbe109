"""What the window remembers: a file that cannot be read is as good as none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.chrome.window_state import Remembered

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"theme": 3}', b"[" * 100_000], ids=range(6))
def test_a_broken_file_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "window.json"
    path.write_bytes(content)
    remembered = Remembered(path)
    assert remembered.get("theme", "dark") == "dark"
    remembered.set("theme", "light")
    remembered.save()
    assert Remembered(path).get("theme") == "light"
