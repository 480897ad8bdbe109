"""Files that a run created, in the window: each kind as what it is, hostile ones as nothing worse than text."""

from __future__ import annotations

import hashlib
import json
import stat
import struct
import time
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage

from app.files import saving
from app.files.found import MOST_TEXT, Picture, Table, Text
from app.files.panel import FilesView
from app.files.preview import preview
from app.running.panel import RunningPanel
from runner.audit.files import captures
from runner.model.result import CapturedFile
from tests.gui import feed

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.system.places import Places
    from tests.gui.conftest import Desk

SECONDS = 5.0
"""Processor time for the worst preview; each takes well below a second."""


def picture(form: str, width: int = 30, height: int = 20) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, form)  # type: ignore[call-overload]
    return QByteArray(buffer.data()).data()


def png_of(width: int, height: int) -> bytes:
    """A small file that claims to be a large picture, all of one color."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * 4_000_000, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def store(places: Places, path: str, data: bytes) -> CapturedFile:
    places.captures.mkdir(parents=True, exist_ok=True)
    file = CapturedFile(path, len(data), hashlib.sha256(data).hexdigest())
    (places.captures / file.sha256).write_bytes(data)
    return file


def shown(data: bytes, path: str) -> Text:
    found = preview(data, path)
    assert isinstance(found, Text)
    return found


@pytest.fixture
def view(qtbot: QtBot, look: Look, places: Places) -> FilesView:
    view = FilesView(look, lambda file: captures.read(places, file))
    qtbot.addWidget(view)
    view.resize(700, 400)
    view.show()
    return view


# ---- what is made of the bytes ----


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_pictures_by_what_they_hold(qapp: object, form: str) -> None:
    found = preview(picture(form), "named.txt")
    assert isinstance(found, Picture)
    assert (found.width, found.said) == (30, "30 × 20 pixels")


def test_a_large_picture_is_made_smaller(qapp: object) -> None:
    found = preview(picture("PNG", 5000, 50), "a.png")
    assert isinstance(found, Picture)
    assert (found.width, found.said) == (2400, "5,000 × 50 pixels")


@pytest.mark.parametrize("side", [60_000, 30_000])
def test_a_picture_that_would_fill_all_memory_is_not_drawn(qapp: object, side: int) -> None:
    began = time.process_time()
    found = shown(png_of(side, side), "bomb.png")
    assert "too large to be drawn" in found.said
    assert time.process_time() - began < SECONDS


def test_a_picture_that_is_none(qapp: object) -> None:
    found = shown(b"\x89PNG\r\n\x1a\n" + b"\1" * 100, "a.png")
    assert found.said == "This says it is a picture, and is cut short. Shown as bytes"
    assert found.text.startswith("000000  89 50 4e 47")
    empty = shown(b"\x89PNG\r\n\x1a\n" + b"\0" * 120, "a.png")
    assert empty.said == "This says it is a picture, and is damaged or needs too much memory. Shown as bytes"


def test_active_pictures_are_text() -> None:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>'
    assert shown(svg, "a.svg").text == svg.decode()


def test_tables() -> None:
    found = preview(b'name;n\n"a;b";1\n<b>x</b>\n', "t.csv")
    assert isinstance(found, Table)
    assert found.rows == (("name", "n"), ("a;b", "1"), ("<b>x</b>",))
    assert found.said == "2 rows, 2 columns"
    tabs = preview("a\tb\n\u202e1\t2\n".encode(), "t.tsv")
    assert isinstance(tabs, Table)
    assert tabs.rows[1] == ("‹U+202E›1", "2")


def test_a_table_of_a_million_columns_and_one_of_many_rows() -> None:
    began = time.process_time()
    wide = preview(b"x," * 999_999 + b"x\n1\n", "t.csv")
    assert isinstance(wide, Table)
    assert wide.said == "1 row, the first 50 of 1,000,000 columns"
    assert max(map(len, wide.rows)) == 50
    long = preview(b"a,b\n" * 300_000, "t.csv")
    assert isinstance(long, Table)
    assert len(long.rows) == 1001
    assert long.said == "The first 1,000 rows of 300,000 lines, 2 columns"
    cell = preview(b"a\n" + b"y" * 100_000, "t.csv")
    assert isinstance(cell, Table)
    assert len(cell.rows[1][0]) < 400
    assert isinstance(preview(b'a,"' + b"y" * 200_000, "t.csv"), Text)
    assert time.process_time() - began < SECONDS


HOLDS = {
    "many lists.json": b"[" + b"[]," * (5 << 20) + b"1]",
    "a long text.json": b'"' + b"\\u202e" * (2 << 20) + b'"',
    "one row.csv": b"a," * (8 << 20),
    "an open quote.csv": b'"' + b"a" * (16 << 20),
}


@pytest.mark.parametrize("name", HOLDS)
def test_the_largest_file_does_not_hold_up_the_window(name: str) -> None:
    """What reads it holds the interpreter, so the window waits although it reads on another thread."""
    began = time.process_time()
    found = preview(HOLDS[name], name)
    assert time.process_time() - began < 1.5
    assert isinstance(found, Text) and found.said.endswith("Save it to see all of it")


def test_json_is_laid_out_and_not_altered() -> None:
    source = '{"a":[1.50,{}],"a":"x\\u202e,{","b":true}'
    found = shown(source.encode(), "a.json")
    assert found.text == '{\n  "a": [\n    1.50,\n    {}\n  ],\n  "a": "x\\u202e,{",\n  "b": true\n}'
    assert json.loads(found.text) == json.loads(source)
    assert shown(b"{not json", "a.json").said.startswith("Not valid JSON")


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" + b"1" * 1_000_000 + b"]",
        b'["' + b"x" * 2_000_000 + b'"]',
        b'"' * 1_000_000,
        b"[" + b"[]," * 500_000 + b"[]]",
    ],
    ids=["deep lists", "deep tables", "long number", "long string", "quotes", "many"],
)
def test_json_made_to_hurt(data: bytes) -> None:
    began = time.process_time()
    assert len(shown(data, "a.json").text) <= MOST_TEXT
    assert time.process_time() - began < SECONDS


def test_text_and_bytes() -> None:
    assert shown(b"one\ntwo\n", "a.txt").said == "2 lines"
    assert shown(b"", "a.txt").said == "Empty"
    assert shown(b"print(1)", "a.py").language == "python"
    long = shown(b"x" * 1_000_000, "a.txt")
    assert (len(long.text), "first 256,000 characters" in long.said) == (MOST_TEXT, True)
    assert shown(b"\xff\xfe", "a.txt").text == "000000  ff fe                    .."
    assert shown(bytes(10_000), "a").said == "The first 4 KB of 9.8 KB as bytes"


# ---- names to save under ----


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("d/table.csv", "table.csv"),
        ("../../etc/passwd", "passwd"),
        ("a/..", "file"),
        (".bashrc", "bashrc"),
        ("-rf", "rf"),
        ("r\u202egpj.exe", "r_gpj.exe"),
        ("a\nb $(id)`x`;.txt", "a_b_(id)_x_.txt"),
        ("C:\\x\\con.txt", "C_x_con.txt"),
        ("x" * 300 + ".csv", "x" * 96 + ".csv"),
        ("\u0440\u0430\u0437.txt", "\u0440\u0430\u0437.txt"),
    ],
)
def test_names_are_harmless(path: str, name: str) -> None:
    assert saving.name(path) == name


# ---- the window ----


def test_each_kind_in_its_view(view: FilesView, qtbot: QtBot, places: Places) -> None:
    files = (
        store(places, "plot.png", picture("PNG")),
        store(places, "t.csv", b"<i>h</i>,n\n1,2\n"),
        store(places, "a.json", b"{}"),
        store(places, "tricks\u202e.txt", "x\u202ey\x1b[31m\n".encode()),
    )
    view.show_result(replace(feed.result(), files=files, files_left_out="links: <b>a</b>"))
    assert view.title == "Files (4)"
    assert view.left_out.text() == "Left out: links: <b>a</b>."
    assert view.left_out.textFormat() is Qt.TextFormat.PlainText
    for row, inside in enumerate((view.picture, view.table, view.text, view.text)):
        view.view.setCurrentIndex(view.model.index(row, 0))
        qtbot.waitUntil(lambda inside=inside: inside.isVisible() and not view.said.text().startswith("Reading"))
    assert "\u202e" not in view.model.index(3, 0).data()
    assert view.text.line_count == 1
    assert view.table.model_.headerData(0, Qt.Orientation.Horizontal) == "<i>h</i>"


def test_an_altered_file_and_one_that_is_gone_are_said_to_be(view: FilesView, qtbot: QtBot, places: Places) -> None:
    altered, gone = store(places, "a.txt", b"before"), CapturedFile("b.txt", 1, "0" * 64)
    (places.captures / altered.sha256).write_bytes(b"behind")
    view.show_result(replace(feed.result(), files=(altered, gone)))
    qtbot.waitUntil(lambda: "altered" in view.nothing.accessibleName())
    assert not view.save.isEnabled()
    view.view.setCurrentIndex(view.model.index(1, 0))
    qtbot.waitUntil(lambda: "no longer there" in view.nothing.accessibleName())


def test_a_line_of_a_megabyte_does_not_hold_up_the_window(view: FilesView, qtbot: QtBot, places: Places) -> None:
    view.show_result(replace(feed.result(), files=(store(places, "a.txt", b"x" * (1 << 20)),)))
    began = time.process_time()
    qtbot.waitUntil(view.text.isVisible)
    assert time.process_time() - began < SECONDS


def test_saving_never_replaces_a_file_unasked(view: FilesView, qtbot: QtBot, places: Places, tmp_path: Path) -> None:
    files = (store(places, "a/t.csv", b"1"), store(places, "b/t.csv", b"22"), store(places, "../up", b"333"))
    (tmp_path / "t.csv").write_bytes(b"mine")
    view.show_result(replace(feed.result(), files=files))
    view.save_all_to(tmp_path)
    qtbot.waitUntil(lambda: view.message.text().startswith("Saved 3"))
    contents = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert contents == {"t.csv": b"mine", "t (2).csv": b"1", "t (3).csv": b"22", "up": b"333"}
    assert not stat.S_IMODE((tmp_path / "up").stat().st_mode) & 0o111
    qtbot.waitUntil(view.save.isEnabled)
    view.save_to(tmp_path / "chosen.csv")
    qtbot.waitUntil(lambda: view.message.text().startswith("Saved to"))
    assert (tmp_path / "chosen.csv").read_bytes() == b"1"
    view.save_all_to(tmp_path / "nowhere")
    qtbot.waitUntil(lambda: view.message.text() == "Not saved: No such file or directory.")


def test_the_page_of_runs_shows_them_at_the_end(desk: Desk) -> None:
    desk.window.show_page("Running")
    one = feed.request()
    desk.hear(feed.asked(one), feed.decided(one), feed.started(one))
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    page.tabs.setCurrentWidget(page.files)
    assert page.files.none.accessibleName().startswith("No files yet")
    file = store(desk.window._places, "out.txt", b"hello")
    desk.hear(feed.finished(one, replace(feed.result(), files=(file,))))
    assert page.tabs.tabText(page.tabs.indexOf(page.files)) == "Files (1)"
    desk.qtbot.waitUntil(page.files.text.isVisible)
    assert page.files.text.selected_text() == "hello"
    assert not page.meters.isVisible()
    page.tabs.setCurrentIndex(0)
    assert page.meters.isVisible()
