"""Widgets over the free end of the toolbar, which come and go without moving anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QTimer, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QRect

    from app.chrome.banners import Banners
    from app.chrome.expiry_strip import ExpiryStrip
    from app.chrome.toolbar import Toolbar
    from app.look.look import Look

MOST = 16777215
"""No bound of a height, as Qt has it."""
LOW = 400
"""Height of the window, in pixels, below which it takes one line for each of both."""
LEAST = 280
"""Pixels beside the buttons of the toolbar below which it lies under them."""


class ToolbarOverlay(QWidget):
    """Holds banners and the strip of what expires. What needs more than a line covers the head of the page below it.

    A request under review leaves that free (`covers`). It reaches over no list at the side where reading begins, and
    over no button of the toolbar. What the toolbar says for a moment comes before a banner that is not grave.
    """

    covers = Signal(int)
    """To which height in its parent it reaches, in pixels; 0 for nowhere."""

    def __init__(self, toolbar: Toolbar, look: Look, parent: QWidget, page: Callable[[], QRect]) -> None:
        """`page` returns where in `parent` the page is: under the toolbar it lies beside the rail."""
        super().__init__(parent)
        self._toolbar = toolbar
        self._page = page
        self._look = look
        self._banners: Banners | None = None
        self._hurry: ExpiryStrip | None = None
        self._gives_way = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.px(4))
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self.place)
        toolbar.spoke.connect(self._give_way)
        self.hide()

    def hold(self, banners: Banners, hurry: ExpiryStrip) -> None:
        """Take both in, the banners above."""
        self._banners, self._hurry = banners, hurry
        banners.setAutoFillBackground(True)
        for part in (banners, hurry):
            self._column.addWidget(part)
            part.installEventFilter(self)
        banners.said.connect(self._take_back)
        parent = self.parentWidget()
        assert parent is not None
        for one in (parent, self._toolbar):
            one.installEventFilter(self)
        self.place()

    @Slot(bool)
    def _give_way(self, speaks: bool) -> None:
        self._gives_way = speaks
        self.place()

    @Slot()
    def _take_back(self) -> None:
        """Show what has come since the toolbar said something."""
        self._gives_way = False
        self.place()

    @Slot()
    def place(self) -> None:
        """Take the room that is needed, now."""
        parent, banners, hurry = self.parentWidget(), self._banners, self._hurry
        if parent is None or banners is None or hurry is None:
            return
        hidden = hurry.isHidden() and (banners.isHidden() or (self._gives_way and not banners.grave))
        self.setVisible(not hidden)
        self._toolbar.share(not hidden)
        # What is about to expire goes soon; it would stand over the head of a request below a banner.
        banners.setMaximumHeight(0 if not hurry.isHidden() and not banners.grave else MOST)
        if hidden:
            self.covers.emit(0)
            return
        free, page = self._toolbar.free, self._page()
        corner, width = self._toolbar.mapTo(parent, free.topLeft()), free.width()
        if width < self._look.px(LEAST):
            corner, width = QPoint(page.x(), self._toolbar.geometry().bottom() + 1), page.width()
        banners.fit(width, parent.height() < self._look.px(LOW))
        layout = self._column
        layout.invalidate()
        height = layout.heightForWidth(width) if layout.hasHeightForWidth() else layout.sizeHint().height()
        if corner != self.pos():
            banners.rearm()
        self.setGeometry(corner.x(), corner.y(), width, height)
        self.raise_()
        self.covers.emit(corner.y() + height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        moved = event.type() == QEvent.Type.Resize
        # Placing asks the parent for a layout: to follow that would place again, for ever.
        asked = event.type() == QEvent.Type.LayoutRequest and watched is not self.parentWidget()
        if moved or asked:
            self._later.start()
        elif event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.place()
        return super().eventFilter(watched, event)
