"""SVG as raw pixels, drawn by Qt, which knows neither scripts nor animation by them.

Only for a process that may do nothing else: see `app.files.apart`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from app.files.found import Undrawn
from app.files.pixels import found
from runner.model.translation import tr
from runner.system.places import resources

if TYPE_CHECKING:
    from app.files.found import Picture

FAMILY = "Inter"
MOST = 2_000_000
"""Characters."""
FORBIDDEN = {
    "!doctype": tr("declarations of its own"),
    "!entity": tr("declarations of its own"),
    "?xml-stylesheet": tr("a style sheet from elsewhere"),
    "script": tr("a script"),
    "foreignobject": tr("parts that are no picture"),
    "image": tr("another picture in it"),
    "feimage": tr("another picture in it"),
}
"""What begins a part that is not drawn, and what is said of it."""
MOST_USES = 5000
"""Parts drawn again: letters, where they are drawn as paths. Each may hold others, which its time alone bounds."""
_DECLARED = re.compile(r"<!DOCTYPE[^\[<>]{0,400}>", re.IGNORECASE)
"""A declaration that only names the kind of the file."""
_FAMILY = re.compile(r"font-family(\s{0,20}[:=])", re.IGNORECASE)
_BEGINS = re.compile(r"<(?:[A-Za-z_][A-Za-z0-9_.-]{0,40}:)?([A-Za-z!?][A-Za-z-]{0,40})")
"""The name of a part, without the prefix of its name space."""
_LEADS_OUT = re.compile(r"(?:href\s{0,20}=|url\(|@import)[\s\"'(]{0,20}([^\s\"')]{0,12})", re.IGNORECASE)


def warm_up() -> None:
    """Load what draws, and letters: later, no file can be opened."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    _kept.append(QGuiApplication(["apart"]))
    letters = (resources() / "fonts" / "Inter-Regular.otf").read_bytes()
    QFontDatabase.addApplicationFontFromData(QByteArray(letters))
    QGuiApplication.setFont(QFont(FAMILY))
    words = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text font-family="{FAMILY}">a</text></svg>'
    _painted(QSvgRenderer(QByteArray(words.encode())), QSize(9, 9))


def drawn(text: str, widest: int) -> Picture:
    """Return the picture, its longer side `widest` pixels. Raises Undrawn, saying why."""
    text = _DECLARED.sub("", text[: MOST + 1], count=1)
    check(text)
    # No other family could be loaded any more.
    text = _FAMILY.sub(r"data-family\1", text)
    renderer = QSvgRenderer()
    if not renderer.load(QByteArray(text.encode())):
        raise Undrawn(tr("This says it is a picture, and is damaged."))
    whole = renderer.viewBoxF().size() if renderer.viewBoxF().isValid() else renderer.defaultSize().toSizeF()
    if not (0 < whole.width() < 1e6 and 0 < whole.height() < 1e6):
        raise Undrawn(tr("A picture without a size."))
    shape = whole.scaled(widest, widest, Qt.AspectRatioMode.KeepAspectRatio).toSize().expandedTo(QSize(1, 1))
    words = tr("{width} × {height}, drawn from SVG", width=f"{whole.width():,.0f}", height=f"{whole.height():,.0f}")
    return found(_painted(renderer, shape), words)


def check(text: str) -> None:
    """Raises Undrawn for what has parts that are not drawn, and leads out of the file."""
    if len(text) > MOST:
        raise Undrawn(tr("A picture of too many parts to be drawn."))
    uses = 0
    for one in _BEGINS.finditer(text):
        name = one[1].lower()
        why = FORBIDDEN.get(name)
        if why:
            raise Undrawn(tr("This SVG has {why}: it is not drawn.", why=why))
        uses += name == "use"
    if uses > MOST_USES:
        raise Undrawn(tr("A picture of too many parts to be drawn."))
    for one in _LEADS_OUT.finditer(text):
        if one[1] and not one[1].startswith("#"):
            raise Undrawn(tr("This SVG refers to what is outside of it: it is not drawn."))


def _painted(renderer: QSvgRenderer, shape: QSize) -> QImage:
    image = QImage(shape, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, shape.width(), shape.height()))
    painter.end()
    return image.convertToFormat(QImage.Format.Format_RGB32)


_kept: list[QGuiApplication] = []
"""Qt draws no letters without it."""
