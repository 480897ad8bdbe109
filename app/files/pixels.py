"""Pictures as raw pixels, drawn by Qt. Only for a process that may do nothing else: see `app.files.apart`."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader

from app.files.found import PNG, WIDEST, Picture, Undrawn
from runner.model.translation import numeral, tr

NEEDED = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")
"""The chunks of a PNG that Qt is given. Of others it unpacks all that they hold, a thousand times their size."""
MOST_OTHERS = 100
MOST_SCANS = 100
"""Of a JPEG; each goes over the whole picture. Cameras and programs write ten at most."""
SCAN = b"\xff\xda"
"""Begins a scan. Inside of one no other byte than zero, or the number of a restart, follows 0xff."""
MOST_PIXELS = 50_000_000
"""A small file can claim to be a picture that fills all memory."""


def drawn(data: bytes, form: bytes, widest: int = WIDEST) -> Picture:
    """Return the picture that `data` holds, no side longer than `widest` pixels. Raises Undrawn, saying why."""
    if form == PNG:
        data = _needed(data)
    elif data.count(SCAN) > MOST_SCANS:
        raise Undrawn(tr("A picture of too many scans to be drawn."))
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(form))
    reader.setAutoDetectImageFormat(False)
    reader.setAutoTransform(True)
    whole = reader.size()
    words = tr("{width} × {height} pixels", width=numeral(whole.width()), height=numeral(whole.height()))
    if whole.width() * whole.height() > MOST_PIXELS:
        raise Undrawn(tr("A picture of {words}: too large to be drawn.", words=words))
    if max(whole.width(), whole.height()) > widest:
        reader.setScaledSize(whole.scaled(QSize(widest, widest), Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        raise Undrawn(tr("This says it is a picture, and is damaged or needs too much memory."))
    return found(image, words)


def found(image: QImage, words: str) -> Picture:
    """Return `image` as it is handed back."""
    transparent = image.hasAlphaChannel()
    forms = QImage.Format
    image = image.convertToFormat(forms.Format_ARGB32_Premultiplied if transparent else forms.Format_RGB32)
    return Picture(image.width(), image.height(), transparent, words, bytes(image.constBits()))


def warm(form: bytes) -> None:
    """Load what draws pictures of this form: later, no file can be opened."""
    nothing = QBuffer()
    nothing.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(nothing, QByteArray(form))
    reader.setAutoDetectImageFormat(False)
    reader.canRead()


def _needed(data: bytes) -> bytes:
    """Return a PNG without what a picture does not need. Raises Undrawn for one that is cut, or is mostly that."""
    at, others, parts = 8, 0, [data[:8]]
    while at < len(data):
        kind = data[at + 4 : at + 8]
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data):
            raise Undrawn(tr("This says it is a picture, and is cut short."))
        if kind in NEEDED:
            parts.append(data[at:end])
        else:
            others += 1
        if others > MOST_OTHERS:
            raise Undrawn(
                tr(
                    "A picture with more than {most_others} parts that are no picture is not drawn.",
                    most_others=MOST_OTHERS,
                )
            )
        if kind == b"IEND":
            break
        at = end
    return b"".join(parts)
