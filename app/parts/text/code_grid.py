"""The measures of a view of code, in pixels: fonts, rows, the gutter, and what is left for the code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtGui import QFontMetricsF

if TYPE_CHECKING:
    from app.look.look import Look


class CodeGrid:
    """Measured once for the fonts, and by `fit` for each code and width."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self.measure()
        self.gutter = 0
        self.signs = 0
        """Signs beside the number of a line that have room; each takes two cells."""
        self.width = 0.0
        """What is left for the code beside the gutter."""
        self.columns = 0
        """Cells in that."""

    def measure(self) -> None:
        """Take over the fonts as they are now."""
        look = self._look
        self.mono = look.code()
        self.small = look.font(-1.5)
        metrics = QFontMetricsF(self.mono)
        self.cell = metrics.horizontalAdvance("0")
        self.row_height = math.ceil(metrics.height() * 1.25)
        self.baseline = (self.row_height - metrics.height()) / 2 + metrics.ascent()
        self.remark_metrics = QFontMetricsF(self.small)
        self.pad = look.px(8)
        self.bar = look.px(3)

    @property
    def left(self) -> int:
        """Where code begins."""
        return self.gutter + self.pad

    def fit(self, lines: int, width: int) -> None:
        """Measure for a code of `lines` lines in a view of `width`."""
        digits = max(2, len(str(lines)))
        self.gutter = round(self.cell * (digits + 1 + 2 * self.signs) + self.bar + self.pad)
        self.widen(width)
        self.columns = self.columns_in(width)

    def widen(self, width: int) -> None:
        """Take another `width` that has the same number of columns."""
        self.width = self._width_in(width)

    def columns_in(self, width: int) -> int:
        """Return how many cells there are beside the gutter in a view of `width`."""
        return int(self._width_in(width) / self.cell)

    def _width_in(self, width: int) -> float:
        return max(self.cell * 8, width - self.gutter - 1.5 * self.pad)

    def beside(self, cells: int) -> float:
        """Return what is left of a row beside `cells` cells of code."""
        return self.width - (cells + 2) * self.cell
