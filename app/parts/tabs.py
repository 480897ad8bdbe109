"""Tabs of which all that fit are whole, with a menu of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt, Slot
from PySide6.QtWidgets import QMenu, QStyle, QStyleOptionTab, QStylePainter, QTabBar, QTabWidget, QToolButton, QWidget

from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

MORE = tr("More \N{BLACK DOWN-POINTING SMALL TRIANGLE}")


class WholeTabs(QTabBar):
    """A tab bar that cuts no tab: what does not fit is in a menu at its end; the arrow keys go through all."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._away: frozenset[int] = frozenset()
        self._natural: dict[int, int] = {}
        """Widths of the visible tabs with all of their words."""
        self._fitting = False
        self.more = QToolButton(self)
        self.more.setText(MORE)
        self.more.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(QMenu(self.more))
        self.more.menu().aboutToShow.connect(self._list)
        self.more.hide()
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setDrawBase(False)
        self.setExpanding(False)
        self.currentChanged.connect(self._fit)

    @property
    def away(self) -> list[str]:
        """The words of the tabs that are in the menu."""
        return [self.tabText(at) for at in sorted(self._away)]

    # ---- sizes ----

    def tabSizeHint(self, index: int) -> QSize:
        whole = super().tabSizeHint(index)
        if index in self._away:
            return QSize(0, whole.height())
        if self._away and index == self.currentIndex():
            # Words that have no room beside the menu end with an ellipsis, not under it.
            return QSize(min(whole.width(), max(0, self.width() - self.more.sizeHint().width())), whole.height())
        return whole

    def minimumTabSizeHint(self, index: int) -> QSize:
        if index in self._away:
            return QSize(0, 0)
        return super().minimumTabSizeHint(index)

    def sizeHint(self) -> QSize:
        return QSize(sum(self._widths().values()), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(2 * self.more.sizeHint().width(), super().sizeHint().height())

    def _widths(self) -> dict[int, int]:
        if not self._natural:
            shown = [at for at in range(self.count()) if self.isTabVisible(at)]
            self._natural = {at: QTabBar.tabSizeHint(self, at).width() for at in shown}
        return self._natural

    @Slot()
    def _fit(self) -> None:
        """Choose the tabs that are shown: the current one, and the others in their order as long as they fit."""
        widths, current = self._widths(), self.currentIndex()
        left, away = self.width(), set[int]()
        if sum(widths.values()) > left:
            left -= self.more.sizeHint().width() + widths.get(current, 0)
            for at, width in widths.items():
                if at != current:
                    left -= width
                    if left < 0:
                        away.add(at)
        self.more.setVisible(bool(away))
        if away:
            size = self.more.sizeHint()
            place = QRect(self.width() - size.width(), 0, size.width(), self.height())
            self.more.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), place))
        if away != self._away:
            self._away = frozenset(away)
            self._fitting = True
            self.setElideMode(self.elideMode())  # which lays the tabs out again
            self._fitting = False

    # ---- what changes ----

    def tabInserted(self, index: int) -> None:
        super().tabInserted(index)
        self._ask_for_room()

    def tabRemoved(self, index: int) -> None:
        super().tabRemoved(index)
        self._ask_for_room()

    def _ask_for_room(self) -> None:
        """Have the layout around the bar ask again how wide it would be; Qt does so only once it is on screen."""
        self._natural = {}
        self.updateGeometry()

    def tabLayoutChange(self) -> None:
        """Fit the tabs again: their words or their number have changed."""
        if not self._fitting:
            self._ask_for_room()
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)

    @Slot()
    def _list(self) -> None:
        menu = self.more.menu()
        menu.clear()
        for at in sorted(self._away):
            words = self.tabText(at).replace("&", "&&")
            menu.addAction(words).triggered.connect(lambda _checked=False, at=at: self.setCurrentIndex(at))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionTab()
        for at in range(self.count()):
            if self.isTabVisible(at) and at not in self._away:
                self.initStyleOption(option, at)
                painter.drawControl(QStyle.ControlElement.CE_TabBarTab, option)


def whole_tabs(name: str) -> QTabWidget:
    """Return pages under a bar that cuts no tab; `name` is what a screen reader says of the bar."""
    pages = QTabWidget()
    pages.setTabBar(WholeTabs(pages))
    pages.tabBar().setExpanding(False)  # the pages have made it expand
    pages.tabBar().setAccessibleName(name)
    return pages
