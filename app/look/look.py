"""The look of the window: theme, palette, style sheet, fonts and icons, applied in one place."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from enum import StrEnum
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QColor, QFont, QFontDatabase, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QAbstractButton, QPushButton, QToolButton
from shiboken6 import isValid

from app.look.drawings import drawing, sheet
from app.look.tokens import DARK, LIGHT, Tokens
from runner.system.places import resources

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

_BODY = 9.75
"""Points: 13 pixels at 96 dots per inch."""
_MONO = 9.0
_APART = 8
"""Pixels between the picture of a button and its words."""
SMALLEST_ZOOM, LARGEST_ZOOM = -2, 12
"""Points by which code may be smaller or larger than usual."""
FONTS = ("Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf", "JetBrainsMono-Bold.ttf")


class Theme(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Motion(StrEnum):
    SYSTEM = "system"
    REDUCED = "reduced"


class Look(QObject):
    """The one look of the application. Create it right after the application and before any widget.

    `scale` multiplies every font and padding; 2.0 is the 200 % of WCAG 2.1, 1.4.4. Text also follows the
    desktop's dots per inch, because fonts are set in points.
    """

    zoomed = Signal()
    """Code is shown larger or smaller now."""
    changed = Signal()
    """The colors are different now; what paints itself repaints."""

    def __init__(self, app: QApplication, theme: Theme = Theme.SYSTEM, scale: float = 1.0) -> None:
        super().__init__(app)
        self._app = app
        self._theme = theme
        self._scale = scale
        self.next_scale = scale
        """The size of text from the next start on."""
        self._zoom = 0
        self.inks: dict[str, int] = {}
        """Number of the ink of each registered agent, by its name."""
        self._motion = Motion.SYSTEM
        self._system_still = False
        self._flash = app.cursorFlashTime()
        self._effects = [effect for effect in Qt.UIEffect if app.isEffectEnabled(effect)]
        self._tokens: Tokens | None = None
        self._fonts: dict[tuple[float, bool], QFont] = {}
        self._pictures: dict[tuple[str, str, int, float], QPixmap] = {}
        self._dressed: WeakKeyDictionary[QAbstractButton | QAction, tuple[str, str, int]] = WeakKeyDictionary()
        for name in FONTS:
            QFontDatabase.addApplicationFont(str(resources() / "fonts" / name))
        app.setStyle("Fusion")
        app.setFont(self.font())
        app.styleHints().colorSchemeChanged.connect(self._follow)
        self._apply()

    def know_inks(self, inks: dict[str, int]) -> None:
        """Take over the numbers of the inks of all agents, by their names."""
        if inks != self.inks:
            self.inks = inks
            self.changed.emit()

    # ---- theme ----

    @property
    def theme(self) -> Theme:
        return self._theme

    @property
    def dark(self) -> bool:
        return self.tokens is DARK

    @property
    def tokens(self) -> Tokens:
        return self._tokens or LIGHT

    @property
    def scale(self) -> float:
        return self._scale

    def choose(self, theme: Theme) -> None:
        """Switch the theme of everything shown, at once."""
        self._theme = Theme(theme)
        self._apply()

    @property
    def still(self) -> bool:
        """Whether nothing moves that need not: rings go in steps, menus open at once, the cursor stands."""
        return self._motion is Motion.REDUCED or self._system_still

    def choose_motion(self, motion: Motion) -> None:
        self._motion = motion
        self._apply_motion()

    def know_system_motion(self, still: bool) -> None:
        """Take over what the desktop was set to; it counts unless the person wants even less motion."""
        self._system_still = still
        self._apply_motion()

    def step(self, share: float) -> float:
        """Return a share from 0 to 1 as it may be drawn: in eighths where nothing is to move."""
        return math.ceil(share * 8) / 8 if self.still else share

    def _apply_motion(self) -> None:
        self._app.setCursorFlashTime(0 if self.still else self._flash)
        for effect in self._effects:
            self._app.setEffectEnabled(effect, not self.still)

    @Slot()
    def _follow(self) -> None:
        self._apply()

    def _apply(self) -> None:
        tokens = DARK if self._wants_dark() else LIGHT
        if tokens is self._tokens:
            return
        self._tokens = tokens
        self._app.setPalette(_palette(tokens))
        # Over a sheet that is there, Qt dresses each widget again for each widget that it lies in: 2.5 s for all pages
        # where putting the sheet on anew takes 0.4 s.
        self._app.setStyleSheet("")
        self._app.setStyleSheet(self._sheet(tokens))
        for target, (name, ink, size) in list(self._dressed.items()):
            if isValid(target):
                self._put_icon(target, name, ink, size)
        self.changed.emit()

    def _wants_dark(self) -> bool:
        if self._theme is Theme.SYSTEM:
            # Without a desktop the scheme is Unknown, which counts as light.
            return self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return self._theme is Theme.DARK

    def _sheet(self, tokens: Tokens) -> str:
        words = {field.name: getattr(tokens, field.name) for field in fields(Tokens)}
        words |= {name: f"{size * self._scale:.2f}pt" for name, size in _SIZES.items()}
        words["theme"] = "dark" if tokens is DARK else "light"
        words["icons"] = (resources() / "themes").as_posix()
        # Hair lines stay one pixel; the folder goes in last, so that nothing in its name is taken for a length.
        text = re.sub(r"\b([2-9]|\d\d+)px", lambda found: f"{self.px(int(found[1]))}px", sheet())
        return re.sub(r"@(\w+)", lambda found: str(words[found[1]]), text)

    # ---- fonts ----

    def font(self, step: float = 0.0, bold: bool = False) -> QFont:
        """Return the interface font, `step` points above body text, with digits of one width so that counts stay put.

        Ligatures are off here and in `mono`: they would show `!=`, `->` and `://` as signs that are not there.
        """
        if (step, bold) not in self._fonts:
            font = QFont("Inter")
            font.setPointSizeF((_BODY + step) * self._scale)
            font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
            font.setFeature(QFont.Tag("tnum"), 1)
            self._fonts[step, bold] = _without_ligatures(font)
        # A copy of a font that has been measured is measured already; a new one is looked up again for every row.
        return QFont(self._fonts[step, bold])

    def zoom(self, steps: int) -> None:
        """Show code larger by `steps` points; 0 for its usual size."""
        zoom = min(LARGEST_ZOOM, max(SMALLEST_ZOOM, self._zoom + steps)) if steps else 0
        if zoom != self._zoom:
            self._zoom = zoom
            self.zoomed.emit()

    def code(self) -> QFont:
        """Return the font of code, as large as it was zoomed."""
        font = self.mono()
        font.setPointSizeF((_MONO + self._zoom) * self._scale)
        return font

    def mono(self) -> QFont:
        """Return the font of output, and of code at its usual size."""
        font = QFont("JetBrains Mono")
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setPointSizeF(_MONO * self._scale)
        return _without_ligatures(font)

    def px(self, pixels: float) -> int:
        """Return a length of the 8-pixel rhythm at the present scale."""
        return round(pixels * self._scale)

    # ---- icons ----

    def dress(self, target: QAbstractButton | QAction, name: str, ink: str = "muted", size: int = 16) -> None:
        """Give `target` the icon `name` in the token `ink`, and again whenever the theme changes."""
        self._dressed[target] = (name, ink, size)
        self._put_icon(target, name, ink, size)

    def icon(self, name: str, ink: str = "muted", size: int = 16) -> QIcon:
        """Return the icon `name` of resources/icons in the token `ink`, `size` pixels wide before scaling.

        Raises FileNotFoundError for a name without a drawing.
        """
        icon = QIcon(self.pixmap(name, ink, size))
        icon.addPixmap(self.pixmap(name, "disabled", size), QIcon.Mode.Disabled)
        return icon

    def pixmap(self, name: str, ink: str = "muted", size: int = 16) -> QPixmap:
        """Return the same as a picture, sharp on the densest screen of this session."""
        ratio = self._app.devicePixelRatio()
        color = getattr(self.tokens, ink)
        key = (name, color, size, ratio)
        if (picture := self._pictures.get(key)) is None:
            picture = self._pictures[key] = self._draw(name, color, self.px(size), ratio)
        return picture

    def _put_icon(self, target: QAbstractButton | QAction, name: str, ink: str, size: int) -> None:
        if not _has_words_beside(target):
            target.setIcon(self.icon(name, ink, size))
            if isinstance(target, QAbstractButton):
                target.setIconSize(QSize(self.px(size), self.px(size)))
            return
        assert isinstance(target, QAbstractButton)
        # A style sheet leaves four pixels between picture and words, however large they are: the picture has the rest.
        gap = max(0, self.px(_APART) - 4)
        icon = QIcon(_wider(self.pixmap(name, ink, size), gap))
        icon.addPixmap(_wider(self.pixmap(name, "disabled", size), gap), QIcon.Mode.Disabled)
        target.setIcon(icon)
        target.setIconSize(QSize(self.px(size) + gap, self.px(size)))

    def _draw(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        from PySide6.QtSvg import QSvgRenderer  # only once something wants an icon

        source = drawing(name).replace("currentColor", color)
        picture = QPixmap(round(size * ratio), round(size * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(0, 0, size, size))
        painter.end()
        return picture


_SIZES = {"tiny": 7.5, "small": 8.5, "body": _BODY, "title": 11.25, "verdict": 11.25, "large": 15.0, "mono": _MONO}


def _has_words_beside(target: QAbstractButton | QAction) -> bool:
    if isinstance(target, QToolButton):
        return target.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    return isinstance(target, QPushButton) and bool(target.text())


def _wider(picture: QPixmap, gap: int) -> QPixmap:
    """Return `picture` with an empty stripe of `gap` pixels at its right."""
    ratio = picture.devicePixelRatio()
    wider = QPixmap(picture.width() + round(gap * ratio), picture.height())
    wider.setDevicePixelRatio(ratio)
    wider.fill(Qt.GlobalColor.transparent)
    painter = QPainter(wider)
    painter.drawPixmap(0, 0, picture)
    painter.end()
    return wider


def _without_ligatures(font: QFont) -> QFont:
    for tag in ("calt", "liga"):
        font.setFeature(QFont.Tag(tag), 0)
    return font


def _palette(tokens: Tokens) -> QPalette:
    role = QPalette.ColorRole
    colors = {
        role.Window: tokens.background,
        role.WindowText: tokens.text,
        role.Base: tokens.surface,
        role.AlternateBase: tokens.background,
        role.Text: tokens.text,
        role.PlaceholderText: tokens.muted,
        role.Button: tokens.surface,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.high,
        role.Highlight: tokens.selection,
        role.HighlightedText: tokens.text,
        role.Accent: tokens.accent,
        role.Link: tokens.accent_ink,
        role.LinkVisited: tokens.accent_ink,
        role.ToolTipBase: tokens.surface,
        role.ToolTipText: tokens.text,
        role.Light: tokens.hover,
        role.Midlight: tokens.border,
        role.Mid: tokens.border,
        role.Dark: tokens.edge,
        role.Shadow: tokens.edge,
    }
    palette = QPalette()
    for which, color in colors.items():
        palette.setColor(which, QColor(color))
    for which in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText, role.PlaceholderText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(tokens.disabled))
    return palette
