"""Removing what a program has filled: however deep, however closed, and never through a link."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from runner.system.removal import remove_tree

if TYPE_CHECKING:
    from pathlib import Path

DEEP = """
import os, sys
os.chdir(sys.argv[1])
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
open("f", "w").close()
"""
"""More folders within each other than Python calls itself, and than a path may have bytes."""


def filled(top: Path) -> Path:
    top.mkdir()
    subprocess.run((sys.executable, "-c", DEEP, str(top)), check=True)
    return top


def test_depth_is_no_hindrance(tmp_path: Path) -> None:
    remove_tree(filled(tmp_path / "top"))
    assert not os.listdir(tmp_path)


def test_two_at_once_leave_nothing(tmp_path: Path) -> None:
    top = filled(tmp_path / "top")
    for number in range(500):
        (top / f"folder{number}").mkdir()
        (top / f"folder{number}" / "file").touch()
    failed: list[BaseException] = []

    def remove() -> None:
        try:
            remove_tree(top)
        except OSError as error:
            failed.append(error)

    both = [threading.Thread(target=remove) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert not failed
    assert not os.listdir(tmp_path)


def test_permissions_count_for_nothing_and_links_lead_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    (tmp_path / "kept").write_text("kept")
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "b" / "folder").symlink_to(outside)
    (top / "a" / "file").symlink_to(tmp_path / "kept")
    for each in (top / "a" / "b", top / "a", top):
        each.chmod(0)
    remove_tree(top)
    assert sorted(os.listdir(tmp_path)) == ["kept", "outside"]
    assert outside.stat().st_mode & 0o777 == 0o500

    link = tmp_path / "link"
    link.symlink_to(outside)
    remove_tree(link)
    remove_tree(tmp_path / "nothing")
    assert sorted(os.listdir(tmp_path)) == ["kept", "outside"]
