"""Files read in processes of their own: what is made to hurt ends there, and the window goes on."""

from __future__ import annotations

import ast
import signal
import struct
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QImageWriter

import app.files.apart
from app.files.answer import NoPreview, pack, unpack
from app.files.apart import NotWanted, ReadingProcess
from app.files.found import WIDEST, Picture, Preview, Table, Text
from app.files.panel import FilesView
from runner.model.errors import KnownError
from runner.system.computing import CALLS, MACHINES, program
from tests.gui import feed
from tests.gui.files.test_files import picture, store

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.model.result import CapturedFile
    from runner.system.places import Places

ROOT = Path(__file__).resolve().parents[3]


def png(*others: tuple[bytes, bytes], rows: bytes = b"\0\0", side: int = 1) -> bytes:
    """A PNG of grey, with these chunks before its pixels."""
    head = (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
    chunks = (head, *others, (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def packed(count: int) -> bytes:
    """A PNG of one pixel with `count` chunks of 7.7 KB; from each of them Qt makes some 38 MB."""
    return png(*[(b"zTXt", b"a\0\0" + zlib.compress(b"A" * 7_900_000, 9))] * count)


def progressive(side: int) -> bytes:
    image = QImage(side, side, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(b"jpeg"))
    writer.setProgressiveScanWrite(True)
    assert writer.write(image)
    return QByteArray(buffer.data()).data()


def seen(data: bytes, path: str = "a.png", process: ReadingProcess | None = None) -> Preview:
    return (process or ReadingProcess()).preview(lambda: data, path)


ENDLESS = "import os, sys; sys.stdin.buffer.read()\nwhile True: os.write(1, bytes(1 << 20))"


# ---- what comes back ----


def test_each_kind_comes_back_as_it_is(qapp: object) -> None:
    for form in ("PNG", "JPEG"):
        found = seen(picture(form, 3000, 300))
        assert isinstance(found, Picture) and not found.transparent
        assert (found.width, found.height, found.said) == (2400, 240, "3,000 × 300 pixels")
        assert len(found.pixels) == 4 * 2400 * 240 and found.pixels[2] >= 0xFE
    assert seen(b"a;b\n\xe2\x80\xae;2\n", "t.csv") == Table(
        (("a", "b"), ("‹U+202E›", "2")), "1 row, 2 columns", ((None, 1.0),)
    )
    assert seen(b"print(1)\n", "\udcff\0.py") == Text("print(1)\n", "python", "1 line")


def test_only_what_a_picture_needs_of_a_png_is_unpacked(qapp: object) -> None:
    found = seen(packed(40), process=ReadingProcess(memory=100 << 20))
    assert isinstance(found, Picture) and found.said == "1 × 1 pixels"
    assert "more than 100 parts" in seen(packed(101)).said
    assert "cut short" in seen(packed(1)[:-1]).said


def test_scans_are_counted(qapp: object) -> None:
    data = progressive(8)
    scan = data.index(b"\xff\xda")
    assert isinstance(seen(data), Picture)
    found = seen(data[:scan] + b"\xff\xda" * 101 + data[scan:])
    assert found.said.startswith("A picture of too many scans to be drawn.")


def test_what_takes_too_much_ends_alone_and_that_is_said(qapp: object) -> None:
    large = png(rows=bytes(7000 * 7001), side=7000)
    found = seen(large, process=ReadingProcess(memory=20 << 20))
    assert isinstance(found, Text) and "damaged or needs too much memory" in found.said
    text = seen(b"\xc3\xa9" * (20 << 20), "a.txt", ReadingProcess(memory=4 << 20))
    assert text.said.startswith("This file could not be read: it needs more than 4 MB. The first")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import resource, signal\nresource.setrlimit(resource.RLIMIT_CPU, (0, 1))\nwhile True: pass", "more than 1 s"),
        ("import os; os.abort()", "more than 512 MB, or breaks the program that reads it"),
        ("import os; os.write(1, b'{}'); os._exit(0)", "or breaks the program that reads it"),
        ("import time; time.sleep(600)", "more than 1 s"),
        (ENDLESS, "or breaks the program that reads it"),
    ],
    ids=["time", "a crash", "no answer", "a wait", "no end"],
)
def test_whatever_the_process_does_the_file_is_shown_as_bytes(
    code: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.files.apart, "COMMAND", code)
    monkeypatch.setattr(app.files.apart, "PATIENCE", 60 if "sleep" not in code else 1)
    found = seen(b"\xff\xd8\xff" + bytes(1 << 20), process=ReadingProcess(seconds=1))
    assert isinstance(found, Text) and found.text.startswith("000000  ff d8 ff")
    assert found.said.startswith("This picture could not be drawn: ") and said in found.said


def test_answers_of_other_sizes_are_none() -> None:
    good = Picture(2, 2, True, "x", bytes(16))
    assert unpack(pack(good)) == good
    for bad in (
        replace(good, pixels=bytes(15)),
        replace(good, width=0, pixels=b""),
        replace(good, width=WIDEST + 1, height=1, pixels=bytes(4 * WIDEST + 4)),
        replace(good, said="x" * 2000),
        Text("x" * 300_000, "", ""),
    ):
        with pytest.raises(NoPreview):
            unpack(pack(bad))
    for answer in (b"", b"[]", b"{}", b'{"kind": "Picture"}', b'{"kind": "Path"}', b"[" * 99_999, b"\xff"):
        with pytest.raises(NoPreview):
            unpack(answer)


# ---- the process may do nothing else ----

TRIES = """
import os, socket, sys
sys.path[:] = sys.argv[1:]
from runner.system.computing import only_compute
import resource, threading
ours, theirs = os.pipe()
if not only_compute(1 << 30, 5): sys.exit(9)
def refused(what):
    try: what()
    except OSError as error: return error.errno == 1
    except RuntimeError: return True
    return False
done = []
thread = threading.Thread(target=lambda: done.append(refused(lambda: open("/etc/passwd"))))
thread.start(); thread.join()
tries = [lambda: open("/etc/passwd"), lambda: open("/tmp/x", "w"), lambda: os.listdir("/"), socket.socket, os.fork,
    lambda: os.execv("/bin/true", ["true"]), lambda: os.kill(os.getppid(), 0), lambda: os.memfd_create("x"),
    lambda: socket.socketpair(), lambda: os.unlink("/tmp/x"), lambda: os.stat("/")]
print([refused(one) for one in tries] == [True] * len(tries) and done == [True])
"""
SPINS = """
from runner.system.computing import only_compute
only_compute(1 << 30, 1)
while True: pass
"""


def test_a_process_that_only_computes_opens_calls_and_starts_nothing() -> None:
    command = [sys.executable, "-I", "-S", "-c", TRIES, *filter(None, sys.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode == 9:
        pytest.skip("this kernel takes no filter")
    assert done.stdout == "True\n", done.stderr


def test_a_process_that_only_computes_ends_when_its_time_is_up() -> None:
    code = "import sys; sys.path[:] = sys.argv[1:]\n" + SPINS
    done = subprocess.run((sys.executable, "-I", "-S", "-c", code, *filter(None, sys.path)), check=False, timeout=120)
    assert done.returncode == -signal.SIGXCPU


@pytest.mark.parametrize("machine", MACHINES)
def test_no_other_call_is_let_through(machine: str) -> None:
    steps = list(struct.iter_unpack("<HBBI", program(machine)))
    kernels_name, column = MACHINES[machine]

    def answer(number: int, first: int = 0, name: int = kernels_name) -> int:
        loaded = at = 0
        while True:
            code, yes, no, operand = steps[at]
            if code == 0x06:
                return operand
            if code == 0x20:
                loaded, yes, no = {0: number, 4: name, 16: first}[operand], 0, 0
            else:
                yes, no = (yes, yes) if (loaded == operand if code == 0x15 else loaded & operand) else (no, no)
            at += 1 + yes

    passed = {number for number in range(1000) if answer(number) == 0x7FFF0000}
    assert passed == {numbers[column] for numbers in CALLS.values()}
    clone = {"x86_64": 56, "aarch64": 220}[machine]
    assert (answer(clone, 0x3D0F00), answer(clone, 0x1200011)) == (0x7FFF0000, 0x00050001)
    assert answer(435) == 0x00050026 and answer(0x40000001) == 0x00050001 and answer(0, name=1) == 0x80000000


# ---- the window ----


@pytest.fixture
def held(qtbot: QtBot, look: Look, places: Places) -> tuple[FilesView, tuple[CapturedFile, ...]]:
    """A view, and two files."""
    files = (store(places, "a.txt", b"the first"), store(places, "b.txt", b"the second"))
    content = {"a.txt": b"the first", "b.txt": b"the second"}
    view = FilesView(look, lambda file: content[file.path])
    qtbot.addWidget(view)
    return view, files


def test_nothing_is_read_before_the_list_is_on_the_screen(
    held: tuple[FilesView, tuple[CapturedFile, ...]], qtbot: QtBot
) -> None:
    view, files = held
    view.show_result(replace(feed.result(), files=files))
    assert not view.view.selectedIndexes()
    view.show()
    qtbot.waitUntil(view.text.isVisible)
    view.text.select_all()
    assert view.text.selected_text() == "the first"


def test_what_is_no_longer_chosen_is_ended_and_never_shown(
    held: tuple[FilesView, tuple[CapturedFile, ...]], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, files = held
    real = app.files.apart.COMMAND
    monkeypatch.setattr(app.files.apart, "COMMAND", "import time; time.sleep(20)")
    view.show()
    view.show_result(replace(feed.result(), files=files))
    first = view._reading
    qtbot.waitUntil(lambda: first._process is not None)
    monkeypatch.setattr(app.files.apart, "COMMAND", real)
    view.view.selectRow(1)
    qtbot.waitUntil(view.text.isVisible)
    assert first._process is not None and first._process.returncode == -9
    view.text.select_all()
    assert view.text.selected_text() == "the second"
    with pytest.raises(NotWanted):
        seen(b"", process=first)


def test_a_process_that_cannot_be_started_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(KnownError, match="No process to read it in could be started"):
        seen(b"")


# ---- nobody else gives bytes to Qt's readers ----

READERS = {
    "QImageReader", "QMovie", "QPicture", "QSvgRenderer", "QSvgWidget", "QGraphicsSvgItem", "QTextBrowser",
    "loadFromData", "fromData", "addApplicationFontFromData", "setMarkdown", "setHtml", "insertHtml", "appendHtml",
    "imageData", "addResource", "loadResource", "QPdfDocument", "QMediaPlayer", "QWebEngineView",
    "QIconEngine", "QBitmap",
}  # fmt: skip
OWN = {
    ("app/help/pages.py", "QTextBrowser"), ("app/help/pages.py", "setMarkdown"),
    ("app/look/look.py", "QSvgRenderer"), ("app/look/mark.py", "QSvgRenderer"),
}  # fmt: skip
"""These show the help, the icons and the marks, which are Assent's own files."""
APART = {"app/files/pixels.py", "app/files/vector.py"}
"""Run in the process of its own."""


def readers_in(file: Path) -> set[str]:
    """What `file` uses of Qt that reads pictures or documents from bytes or files."""
    found = set[str]()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name in READERS:
            found.add(name)
        # With one argument, these take the name of a file too.
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            made = node.func.id in ("QImage", "QPixmap", "QIcon") and len(node.args) < 2
            if made and not (isinstance(node.args[0], ast.Call) or _is_pixmap(node.args[0])):
                found.add(node.func.id)
    return found


def _is_pixmap(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id == "picture") or isinstance(node, ast.Attribute)


def test_only_the_process_apart_gives_bytes_of_others_to_qt() -> None:
    found = {
        (str(file.relative_to(ROOT)), name)
        for file in sorted((ROOT / "app").rglob("*.py"))
        for name in readers_in(file)
        if str(file.relative_to(ROOT)) not in APART
    }
    assert found == OWN, "route it through app.files.apart, or show that the bytes are Assent's own"
    users = [
        str(file.relative_to(ROOT))
        for file in sorted((ROOT / "app").rglob("*.py"))
        if "import drawn" in (text := file.read_text("utf-8")) or "from app.files.vector" in text
    ]
    assert users == ["app/files/preview.py", "app/files/reading_process.py", "app/files/result_card.py"]
    calls = [
        str(file.relative_to(ROOT))
        for file in sorted((ROOT / "app").rglob("*.py"))
        if "from app.files.preview import preview" in file.read_text("utf-8")
    ]
    assert calls == ["app/files/reading_process.py"]
