"""Runs that left something to look at: pictures, tables, JSON, pages, and what is made to hurt."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QImageWriter, QPainter, QPen, QPolygonF

from runner.model.behaviour import Behaviour, Deed, DeedKind
from runner.model.result import CapturedFile, Outcome
from tests.gui import feed, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.result import Result
    from runner.system.places import Places
    from tests.gui.scenes.shots import Scene

MINUTES = (7, 14, 21, 28, 35, 42, 49, 56, 51, 60, 66, 71)
TABLE = "month,minutes,cost\n" + "".join(
    f"2026-{month:02},{minutes},{minutes * 0.18:.2f}\n" for month, minutes in enumerate(MINUTES, 1)
)
REPORT = """# Build minutes

The builds take **longer** each month; see `table.csv` and [the dashboard](https://ci.example/minutes).

- January: 7
- December: 71
  1. of these 40 in tests

> Measured on *one* runner.

```
make test   40
make lint    9
```

![curve](https://ci.example/curve.png)
"""
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 160"><rect width="320" height="160" fill="#f3f6fb"/>'
    + "".join(
        f'<rect x="{20 + 24 * n}" y="{140 - 1.6 * m}" width="16" height="{1.6 * m}" fill="#2f6fed"/>'
        for n, m in enumerate(MINUTES)
    )
    + '<text x="20" y="20" font-size="13" font-family="Arial">Minutes by month</text></svg>'
)
VALUE = {"total": 546, "months": list(MINUTES), "by": {"agent": "codex", "ok": True, "note": None}}


def plot() -> bytes:
    """A picture as a program would draw it."""
    image = QImage(640, 380, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor("#2f6fed"), 3))
    painter.drawPolyline(QPolygonF([QPointF(50 + 48 * n, 340 - 4 * m) for n, m in enumerate(MINUTES)]))
    painter.setPen(QPen(QColor("#444444"), 2))
    painter.drawPolyline(QPolygonF([QPointF(40, 20), QPointF(40, 350), QPointF(620, 350)]))
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def files() -> dict[str, bytes]:
    return {
        "minutes.png": plot(),
        "table.csv": TABLE.encode(),
        "report.md": REPORT.encode(),
        "minutes.svg": DRAWING.encode(),
        "summary.json": json.dumps({"rows": 12, "columns": ["month", "minutes", "cost"], "ok": True}).encode(),
        "model.bin": b"\0\1\2" * 90,
    }


def stored(places: Places, contents: dict[str, bytes]) -> tuple[CapturedFile, ...]:
    """Keep files as a run would have left them."""
    places.captures.mkdir(parents=True, exist_ok=True)
    found = []
    for number, (name, data) in enumerate(contents.items()):
        file = CapturedFile(name, len(data), hashlib.sha256(data).hexdigest(), number / 10)
        (places.captures / file.sha256).write_bytes(data)
        found.append(file)
    return tuple(found)


def ended(kept: tuple[CapturedFile, ...], **others: Any) -> Result:
    one = feed.result(stdout=TABLE.replace(",", "\t"), files=kept, value=VALUE, **others)
    return replace(one, observed=Behaviour((Deed(DeedKind.FILE, "minutes.png", 0.2),)), curve=record.CURVE)


def over(scene: Scene, contents: dict[str, bytes] | None = None, **others: Any) -> None:
    places = scene.window.pages._places
    kept = stored(places, files() if contents is None else contents)
    bad = feed.request("const n: number = 1", "codex", title="Sum the open orders")
    error = "file.js:1\nSyntaxError: Unexpected identifier 'Order'\n    at wrapSafe\n\nNode.js v20.20.2\n"
    scene.hear(feed.asked(bad), feed.decided(bad), feed.started(bad))
    scene.hear(feed.finished(bad, feed.result(Outcome.FAILED, stdout="", stderr=error)))
    one = feed.request("import matplotlib\n", "codex", title="Draw the build minutes")
    scene.hear(feed.asked(one, feed.assessment()), feed.decided(one), feed.started(one))
    scene.hear(feed.finished(one, replace(ended(kept), **others)))
    scene.window.show_page("Running")
    panel: Any = scene.window.page("Running")
    drawn(panel.results)


def drawn(results: Any) -> None:
    """Wait until every card was read."""
    from tests.gui.scenes.shots import until

    until(lambda: results.cards and not results._waiting)


def chart(scene: Scene) -> None:
    over(scene, {"table.csv": TABLE.encode()})
    panel: Any = scene.window.page("Running")
    next(card for card in panel.results.cards if card.file is not None).chart.click()


def foot(scene: Scene) -> None:
    over(scene)
    panel: Any = scene.window.page("Running")
    panel.results.verticalScrollBar().setValue(panel.results.verticalScrollBar().maximum())


def unforeseen(scene: Scene) -> None:
    odd = Behaviour((Deed(DeedKind.PROGRAM, "curl x", 0.1, name="curl"),), unforeseen=("started curl",))
    over(scene, {"notes.txt": b"one\ntwo\n" * 90}, observed=odd, value=None)


def history(scene: Scene) -> None:
    from tests.audit import story
    from tests.gui.gallery import history_of
    from tests.gui.scenes.shots import until

    def fill(places: Places) -> None:
        one = story.request("made", "codex", "import matplotlib\n", "Draw the build minutes")
        record.ledger(places.ledger, record.ran(one, ended(stored(places, files()))))

    panel = history_of(scene, "results", fill)
    until(lambda: panel.list.model.rowCount() == 1)
    panel.list.view.setCurrentIndex(panel.list.model.index(0, 0))
    until(lambda: panel.detail.record is not None)
    drawn(panel.detail.results)


def compare(scene: Scene) -> None:
    """Two runs of one request, the pictures and tables that they made beside each other."""
    from app.history.compare import CompareDialog
    from tests.audit import story
    from tests.gui.gallery import history_of
    from tests.gui.scenes.shots import until

    def fill(places: Places) -> None:
        told = []
        for name, table in (("made1", TABLE), ("made2", TABLE.replace(",7,", ",70,"))):
            one = story.request(name, "codex", "import matplotlib\n", "Draw the build minutes")
            told += record.ran(one, ended(stored(places, {"minutes.png": plot(), "table.csv": table.encode()})))
        record.ledger(places.ledger, told)

    panel = history_of(scene, "compared", fill)
    until(lambda: panel.list.model.rowCount() == 2)
    panel.list.view.selectAll()
    panel.actions_of_list.compare()
    until(lambda: bool(panel.findChildren(CompareDialog)))
    (dialog,) = panel.findChildren(CompareDialog)
    dialog.tabs.setCurrentIndex(2)
    for results in dialog.results:
        drawn(results)


SCENES: dict[str, Callable[[Scene], None]] = {
    "results": over,
    "results-chart": chart,
    "results-foot": foot,
    "results-unforeseen": unforeseen,
    "results-history": history,
    "results-compare": compare,
}
