"""What a run created is collected after its end, within bounds, and nothing else of the machine (spec F2)."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language
from runner.model.result import Outcome
from runner.sandbox.contract import Bounds, Collect
from runner.sandbox.file_collector import FileCollector
from runner.sandbox.local.collect import Left
from tests.patience import HANGS

if TYPE_CHECKING:
    from runner.model.result import Result
    from tests.sandbox.conftest import Lab

SMALL = Bounds(files=3, file_bytes=1000, all_bytes=2000)


def collected(
    folder: Path, out: Path, bounds: Bounds = SMALL, main: str = "main.py", since: float = 0.0
) -> FileCollector:
    """What a pass over `folder` takes."""
    out.mkdir(exist_ok=True)
    left, collector = Left.of(str(folder), main, since), FileCollector(Collect(out, bounds))
    left.collect(collector)
    left.close()
    return collector


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def ran(lab: Lab, out: Path, code: str, language: Language = Language.PYTHON, **changes: object) -> Result:
    out.mkdir(exist_ok=True)
    return lab.run(code, language, collect=Collect(out), **changes)


@pytest.mark.parametrize(
    ("code", "language", "outcome"),
    [
        ("open('a', 'w').write('new')", Language.PYTHON, Outcome.OK),
        ("open('a', 'w').write('new')\n1/0", Language.PYTHON, Outcome.FAILED),
        ("printf new >a; sleep 60", Language.SHELL, Outcome.TIMED_OUT),
        ("require('fs').writeFileSync('a', 'new'); process.kill(process.pid, 'SIGKILL')", Language.JAVASCRIPT, None),
    ],
)
def test_whatever_the_end(lab: Lab, out: Path, code: str, language: Language, outcome: Outcome | None) -> None:
    result = ran(lab, out, code, language, seconds=0.5 if outcome is Outcome.TIMED_OUT else 20.0)
    assert outcome in (None, result.outcome)
    (file,) = result.files
    assert (file.path, file.size, file.sha256) == ("a", 3, hashlib.sha256(b"new").hexdigest())
    assert (out / file.sha256).read_bytes() == b"new"
    assert (out / file.sha256).stat().st_mode & 0o777 == 0o600
    assert result.files_left_out == ""


def test_nothing_created_and_nothing_wanted(lab: Lab, out: Path) -> None:
    assert ran(lab, out, "print(1)").files == ()
    assert lab.run("open('a', 'w').write('x')").files == ()
    assert list(out.iterdir()) == []


def test_what_a_survivor_writes_ends_with_the_run(lab: Lab, out: Path) -> None:
    code = "(while :; do printf x; done) >grows & sleep 0.3; exit 3"
    result = ran(lab, out, code, Language.SHELL)
    assert result.exit_code == 3
    (file,) = result.files
    assert (out / file.sha256).stat().st_size == file.size > 0


def test_links_in_every_position_lead_nowhere(work: Path, out: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("private")
    (work / "file").symlink_to(secret / "key")
    (work / "folder").symlink_to(secret)
    (work / "main.py").symlink_to(secret / "key")
    (work / "in").mkdir()
    (work / "in" / "up").symlink_to("../..")
    os.link(secret / "key", work / "hard")
    (work / "mine").write_text("mine")
    os.link(work / "mine", work / "mine too")
    collector = collected(work, out)
    assert [file.path for file in collector.files] == ["mine", "mine too"]
    assert "private" not in [path.read_text() for path in out.iterdir()]
    for name in ("file", "folder", "in/up"):
        assert name in collector.left_out
    assert "also in another place (hard links): hard" in collector.left_out


def test_a_folder_that_becomes_a_link_on_the_way(
    work: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a").write_text("private")
    (work / "d").mkdir()
    (work / "d" / "a").write_text("plain")
    refuses = FileCollector.refuses

    def swap(self: FileCollector, path: bytes, size: int) -> bool:
        if (work / "d").is_dir() and not (work / "d").is_symlink():
            (work / "d").rename(tmp_path / "away")
            (work / "d").symlink_to(tmp_path / "secret")
        return refuses(self, path, size)

    monkeypatch.setattr(FileCollector, "refuses", swap)
    collector = collected(work, out)
    assert collector.files == ()
    assert collector.left_out == "not to be read: d/a"


def test_what_is_no_ordinary_file_is_named_and_blocks_nobody(work: Path, out: Path) -> None:
    os.mkfifo(work / "pipe")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(work / "door"))
        began = time.monotonic()
        collector = collected(work, out)
    assert time.monotonic() - began < HANGS
    assert collector.files == ()
    assert sorted(collector.left_out.removeprefix("not ordinary files: ").split(", ")) == ["door", "pipe"]


def test_bounds_on_number_and_size(work: Path, out: Path) -> None:
    for number in range(6):
        (work / f"{number}").write_bytes(b"x" * 700)
    with (work / "sparse").open("wb") as file:
        file.truncate(10 << 30)
    collector = collected(work, out)
    assert [file.path for file in collector.files] == ["0", "1"]
    assert sum(path.stat().st_size for path in out.iterdir()) <= SMALL.all_bytes
    assert "larger than 1000 bytes: sparse (10 GB)" in collector.left_out
    assert "more than 1.95 KB altogether: 2, 3, 4 and 1 more" in collector.left_out
    for number in range(6):
        (work / f"{number}").write_bytes(b"")
    assert "more than 3 files: 3, 4, 5" in collected(work, out).left_out


def test_ten_thousand_files_and_deep_folders(work: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.sandbox.local.collect.SECONDS", 60.0)
    for number in range(10_000):
        os.close(os.open(work / f"f{number:05}", os.O_CREAT | os.O_WRONLY))
    deep = os.open(work, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 200, dir_fd=deep)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    collector = collected(work, out)
    assert len(collector.files) == 3
    assert "more than 3 files: f00003, f00004, f00005 and 9,994 more" in collector.left_out
    assert "in folders too deep: " in collector.left_out
    assert len(collector.left_out) < 2000


def test_caches_of_programs_are_counted_and_not_taken(work: Path, out: Path) -> None:
    for number in range(5):
        for program in ("fonts", "plots"):
            (work / ".cache" / program).mkdir(parents=True, exist_ok=True)
            (work / ".cache" / program / f"{number}").write_text("x")
    (work / ".cached").write_text("x")
    (work / "own").mkdir()
    (work / "own" / ".cache").write_text("x")
    collector = collected(work, out, Bounds())
    assert {file.path for file in collector.files} == {".cached", "own/.cache"}
    assert sorted(collector.left_out.split(": ")) == [".cache/fonts, .cache/plots", "10 files in caches of programs"]


def test_names_hide_nothing(work: Path, out: Path) -> None:
    for name in (b"a\nb", b"\xff\xfe", "r\u202egpj.exe".encode(), b"<b>x", "\u3164\u2800".encode()):
        (Path(os.fsdecode(bytes(work) + b"/" + name))).write_text("x")
    names = {file.path for file in collected(work, out, Bounds()).files}
    assert names == {"a\\nb", "\\xff\\xfe", "r\\u202egpj.exe", "<b>x", "\\u3164\\u2800"}


def test_a_file_that_grows_while_it_is_read(work: Path, out: Path) -> None:
    (work / "grows").write_bytes(b"x" * 10)
    stop = threading.Event()

    def grow() -> None:
        with (work / "grows").open("ab") as file:
            while not stop.is_set():
                file.write(b"x" * 400)
                file.flush()

    grower = threading.Thread(target=grow)
    grower.start()
    try:
        for _ in range(20):
            collector = collected(work, out)
            assert all(file.size <= SMALL.file_bytes for file in collector.files)
            assert all(path.stat().st_size <= SMALL.file_bytes for path in out.iterdir())
    finally:
        stop.set()
        grower.join()
    assert "larger than 1000 bytes: grows" in collector.left_out


def test_what_was_there_before_is_not_created(work: Path, out: Path) -> None:
    (work / "old").write_text("old")
    now = (work / "old").stat().st_ctime + 1e-6
    while not (work / "new").exists() or (work / "new").stat().st_ctime < now:
        (work / "new").write_text("new")
    os.utime(work / "new", (0, 0))
    assert [file.path for file in collected(work, out, since=now).files] == ["new"]


def test_a_disk_that_is_full_is_reported(work: Path, out: Path) -> None:
    (work / "a").write_text("x")
    left, collector = Left.of(str(work), "main.py"), FileCollector(Collect(out / "not there"))
    left.collect(collector)
    left.close()
    assert collector.left_out == "the rest, as files could not be stored: No such file or directory"
