"""What a container hands out as files may be anything: nothing of it leaves its folder or its bounds."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from runner.sandbox.container.frames import MARK, Marks, Words
from runner.sandbox.container.unpack import RECORDS, Spool
from runner.sandbox.contract import Bounds, Collect

if TYPE_CHECKING:
    from pathlib import Path

    from runner.sandbox.file_collector import FileCollector

BOUNDS = Bounds(files=3, file_bytes=100, all_bytes=200)


def unpacked(folder: Path, *pieces: bytes) -> FileCollector:
    spool = Spool(Collect(folder, BOUNDS))
    for piece in pieces:
        spool.write(piece)
    collector = spool.unpack()
    spool.close()
    assert {len(path.name) for path in folder.iterdir()} <= {64}, "something but contents"
    assert sum(path.stat().st_size for path in folder.iterdir()) <= BOUNDS.all_bytes
    return collector


def test_files_and_what_is_left_out(tmp_path: Path) -> None:
    collector = unpacked(tmp_path, b"f3 a\0l0 link\0f2 d/b c\0b999 big\0\0", b"oneno")
    assert [(file.path, file.size) for file in collector.files] == [("a", 3), ("d/b c", 2)]
    assert collector.left_out == "links: link; larger than 100 bytes: big (999 bytes)"
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"one", b"no"}


@pytest.mark.parametrize(
    ("data", "taken"),
    [
        (b"", 0),
        (b"\0", 0),
        (b"no end", 0),
        (b"f\0\0", 0),
        (b"f-5 a\0\0xxxxx", 1),
        (b"f99999999999999999999999999 a\0\0x", 1),
        (b"f9223372036854775807 a\0f1 b\0\0x", 0),
        (b"f50 short\0\0abc", 0),
        (b"f101 large\0f1 b\0\0" + b"x" * 101 + b"y", 1),
        (b"".join(b"f1 %d\0" % n for n in range(50)) + b"\0" + b"x" * 50, 3),
        (b"".join(b"f90 %d\0" % n for n in range(50)) + b"\0" + b"x" * 4500, 2),
        (b"f1 ../../../../tmp/evil\0f1 /etc/passwd\0f1 good\0\0xyz", 1),
        (b"x1 unknown kind\0f1 a\0\0y", 1),
        (b"f1 " + b"a" * 100_000 + b"\0\0y", 0),
    ],
)
def test_made_up_ones(tmp_path: Path, data: bytes, taken: int) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    assert len(unpacked(folder, data).files) == taken
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("name", [b"", b"..", b".", b"../../../etc/passwd", b"/etc/passwd", b"a/../b", b"a//b", b"a/"])
def test_a_name_that_no_file_of_the_workspace_has_is_refused_and_said(tmp_path: Path, name: bytes) -> None:
    collector = unpacked(tmp_path, b"f1 " + name + b"\0f1 good\0\0xy")
    assert [(file.path, file.size) for file in collector.files] == [("good", 1)]
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"y"}
    assert collector.left_out == f"not named as a file in the workspace is: {name.decode() or repr('')}"


def test_a_name_that_comes_twice_is_one_file(tmp_path: Path) -> None:
    collector = unpacked(tmp_path, b"f1 a\0f1 a\0\0xy")
    assert [(file.path, file.size) for file in collector.files] == [("a", 1)]
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"x"}
    assert collector.left_out


def test_what_is_not_looked_at_has_no_name(tmp_path: Path) -> None:
    assert unpacked(tmp_path, b"r0 \0\0").left_out == "not looked at: others"


def test_a_path_longer_than_the_system_takes_is_left_out(tmp_path: Path) -> None:
    collector = unpacked(tmp_path, b"f1 " + b"d/" * 2100 + b"a\0\0x")
    assert not collector.files and collector.left_out.startswith("in folders too deep: d/d/")


def test_noise(tmp_path: Path) -> None:
    for _ in range(200):
        unpacked(tmp_path, secrets.token_bytes(600))


def test_more_than_there_may_be_is_not_stored(tmp_path: Path) -> None:
    spool = Spool(Collect(tmp_path, BOUNDS))
    for _ in range(2 * RECORDS // 1000):
        spool.write(b"f0 \0" * 250)
    assert spool.full
    assert len(spool.unpack().files) <= BOUNDS.files
    spool.close()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Spool(Collect(tmp_path / "gone"))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_mark_of_files_however_it_is_cut(size: int) -> None:
    words = Words.new()
    marks, taken = Marks(words, 100), bytearray()
    marks.take_rest = taken.extend
    mark, keeper = (MARK + word.encode() + b":" for word in (words.interpreter, words.keeper))
    data = (
        b"error\n" + mark + b"R00000003\n1.2" + b"more\n" + keeper + b"C00000003\n143f3 a\0\0" + mark + b"E00000001\n1"
    )
    shown = b"".join(marks.feed(data[at : at + size]) for at in range(0, len(data), size))
    assert (shown, marks.version, marks.status) == (b"error\nmore\n", "1.2", 143)
    assert bytes(taken) == b"f3 a\0\0" + mark + b"E00000001\n1"
    assert marks.report == b""


def test_times_of_files_count_from_the_start_of_the_run(tmp_path: Path) -> None:
    records = b"o0 1700000000.500000\0f1@1700000002.7512345 a\0f1@1700000000.45 b\0f1@1600000000.0 old\0\0"
    collector = unpacked(tmp_path, records, b"xyz")
    assert [(file.path, file.at) for file in collector.files] == [("a", 2.251), ("b", 0.0), ("old", None)]


@pytest.mark.parametrize(
    "records",
    [
        b"f1@1700000002 a\0\0",
        b"o0 \0f1@1700000002 a\0\0",
        b"o0 inf\0f1@1700000002 a\0\0",
        b"o0 1\0f1@nan a\0\0",
        b"o0 1\0f1@-5 a\0\0",
        b"o0 1\0f1@" + b"9" * 400 + b" a\0\0",
        b"o0 1\0f1@99999999999 a\0\0",
        b"o0 1\0f1 a\0\0",
    ],
)
def test_a_time_that_makes_no_sense_is_none(tmp_path: Path, records: bytes) -> None:
    (file,) = unpacked(tmp_path, records, b"x").files
    assert (file.path, file.at) == ("a", None)


def test_the_sign_of_another_locale_is_read_too(tmp_path: Path) -> None:
    (file,) = unpacked(tmp_path, b"o0 10,5\0f1@12.0 a\0\0", b"x").files
    assert file.at == 1.5
