"""The mark: in every size, distinguished by its shape, legible on any panel; the toolbar shows how the gate stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor

from app.look.look import Theme
from app.look.mark import IN_WINDOWS, MARKS, SIZES, app_icon, app_image, drawn_for
from app.look.tokens import LIGHT, contrast
from app.notify.tray_picture import PLATES, QUIET, tray_icon, tray_picture
from app.notify.tray_picture import SIZES as TRAY
from runner.approval.modes import Mode
from runner.model.assessment import Level
from runner.model.events import ModeChanged

if TYPE_CHECKING:
    from PySide6.QtGui import QImage
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from tests.gui.conftest import Desk


def shape(image: QImage) -> frozenset[tuple[int, int]]:
    """Where the picture is white: its shape without its color."""
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return frozenset((x, y) for x, y in places if (color := image.pixelColor(x, y)).alpha() and color.lightness() > 200)


def test_every_size_is_drawn_and_the_small_ones_have_a_drawing_of_their_own(qtbot: QtBot) -> None:
    for size in SIZES:
        image = app_image(size)
        assert image.width() == size and len(shape(image)) > size * size * 0.08, size
        assert image.pixelColor(size // 2, size - 2 - size // 12).name() == LIGHT.accent
    assert [size for size in SIZES if drawn_for("assent", size) == "assent-small"] == [16, 22, 24]
    sizes = {size.width() for size in app_icon().availableSizes()}
    assert sizes == {size for size in SIZES if size <= IN_WINDOWS}


@pytest.mark.parametrize("size", TRAY)
def test_modes_are_told_apart_by_their_shape_in_the_tray(qtbot: QtBot, look: Look, size: int) -> None:
    pictures = [tray_picture(look, size, mode, 0, None, quiet=True).toImage() for mode in Mode]
    shapes = [shape(picture) for picture in pictures]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert len(shapes[one] ^ shapes[other]) > size * size * 0.02


@pytest.mark.parametrize("size", TRAY)
def test_the_number_is_there_in_every_size_and_no_theme_changes_it(qtbot: QtBot, look: Look, size: int) -> None:
    def drawn(count: int, worst: Level | None = None) -> QImage:
        return tray_picture(look, size, Mode.GUARDED, count, worst, quiet=False).toImage()

    assert len({shape(drawn(count)) for count in (0, 1, 2, 27, 99)}) == 5
    assert shape(drawn(99)) == shape(drawn(5000))
    assert drawn(3) != drawn(3, Level.HIGH) and drawn(3) == drawn(3, Level.LOW)
    before = drawn(3, Level.CRITICAL)
    look.choose(Theme.DARK)
    assert drawn(3, Level.CRITICAL) == before


def test_white_reads_on_every_plate() -> None:
    grounds = [*PLATES.values(), QUIET, *(LIGHT.ink(level) for level in Level if level is not Level.LOW)]
    assert all(contrast(LIGHT.on_accent, ground) >= 4.5 for ground in grounds)
    assert all(QColor(ground).isValid() for ground in grounds)


def test_the_tray_icon_has_all_sizes(qtbot: QtBot, look: Look) -> None:
    sizes = tray_icon(look, Mode.TRUST, 1, None, quiet=False).availableSizes()
    assert sorted(size.width() for size in sizes) == list(TRAY)


def test_the_mark_at_the_top_follows_the_mode(desk: Desk) -> None:
    toolbar = desk.window.toolbar
    seen = []
    for mode in Mode:
        desk.hear((ModeChanged(mode.value),))
        seen.append(toolbar._mark.pixmap().toImage())
        name, ink = MARKS[mode]
        assert seen[-1] == desk.window._look.pixmap(name, ink, 20).toImage()
    assert seen[0] != seen[1] != seen[2]
