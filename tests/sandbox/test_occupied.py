"""What a folder takes up on disk, whatever the code in it makes of its folders."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.result import Outcome
from runner.sandbox.local.occupied import Uncounted, occupied, removed_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sandbox.conftest import Lab

MB = 1 << 20


def filled(path: Path, size: int = MB) -> None:
    path.write_bytes(os.urandom(size))


def test_each_file_counts_once_and_no_link_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    (folder / "a" / "b").mkdir(parents=True)
    filled(folder / "a" / "b" / "file")
    filled(tmp_path / "outside", 4 * MB)
    os.link(folder / "a" / "b" / "file", folder / "again")
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "up").symlink_to(tmp_path)
    found = occupied(str(folder), 1_000)
    assert MB <= found.size < 2 * MB and found.entries == 6
    assert occupied(str(folder), 3).entries == 4
    assert occupied(str(tmp_path / "gone"), 9).entries == 0


@pytest.mark.parametrize("call", ["open", "stat", "listdir"])
def test_what_may_not_be_looked_into_is_not_counted_as_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    (tmp_path / "closed").mkdir()

    def refuses(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuses)
        with pytest.raises(Uncounted, match="Closed a folder"):
            occupied(str(tmp_path), 9)


def test_a_workspace_that_was_replaced_is_not_counted_as_empty(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(Uncounted, match="Replaced its workspace"):
        occupied(str(tmp_path / "link"), 9)


def test_files_without_a_name_count_for_who_holds_them(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w+b") as file:
        file.write(bytes(MB))
        file.flush()
        assert removed_files([os.getpid()], str(tmp_path)).size == 0
        (tmp_path / "file").unlink()
        assert removed_files([os.getpid()], str(tmp_path)).size >= MB
    assert removed_files([os.getpid()], str(tmp_path / "gone")).size == 0


@pytest.mark.parametrize(
    "act", ["shutil.rmtree(here)", "os.chmod(here, 0)", "os.rename(here, here + '2'); os.symlink('/', here)"]
)
def test_a_run_without_its_workspace_has_an_end(plain: Lab, act: str) -> None:
    """Without bubblewrap the code may remove or replace the folder itself."""
    result = plain.run(f"import os, shutil, time\nhere = os.getcwd()\n{act}\ntime.sleep(1.3)")
    assert result.outcome in (Outcome.OK, Outcome.OUT_OF_DISK, Outcome.FAILED), result
