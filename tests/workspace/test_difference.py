"""How a change reads as lines that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.workspace.difference import compared
from runner.workspace.lines import NO_END
from runner.workspace.working_copy import WorkingCopy
from tests.workspace.trees import make, work

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("command", "path", "lines", "instead"),
    [
        ("echo n >n", b"n", ("@@ -0,0 +1 @@", "+n"), ""),
        ("echo q >>a", b"a", ("@@ -1 +1,2 @@", " a", "+q"), ""),
        ("printf a >a", b"a", ("@@ -1 +1,2 @@", " a", f"+{NO_END}"), ""),
        ("rm a", b"a", ("@@ -1 +0,0 @@", "-a"), ""),
        ("chmod 600 b", b"b", (), "permissions 0640 to 0600"),
        ("touch -d 2021-02-03 b", b"b", (), "only its time is another one"),
        (r"printf 'x\0y' >a", b"a", (), "not text: 2 bytes to 3 bytes"),
        ("ln -sfn b l", b"l", (), "link to “a” becomes link to “b”"),
    ],
)
def test_a_change_in_lines_or_in_words(
    tmp_path: Path, command: str, path: bytes, lines: tuple[str, ...], instead: str
) -> None:
    copy = WorkingCopy.make(tmp_path / "copies", make(tmp_path / "project"), ("sh",))
    work(copy, command)
    (change,) = (one for one in copy.changes().changes if one.path == path)
    found = compared(change, copy.project, copy.content)
    assert (found.lines, found.instead) == (lines, instead)
