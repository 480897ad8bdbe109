"""The gauges of a run: CPU, memory, disk and processes, each against its limit; and the network where it has one.

Of a run that is over the peaks stand in one line, which opens into the gauges with their curves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.parts.amounts import percent, size
from app.parts.elide import ElidedLabel
from app.parts.gauges.gauge import GaugeView
from app.parts.gauges.network_gauge import NetworkGauge
from runner.model.request import Isolation
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from runner.model.network import Contact
    from runner.model.request import Limits, Request
    from runner.model.result import Result, Usage

_MB = 1 << 20
_DOT = " \N{MIDDLE DOT} "
_WIDE = 640
"""Pixels from which on the four stand side by side."""
_WIDE_WITH_NETWORK = 980
"""The same for five, of which that of the network takes two places."""


class Meters(QWidget):
    """Follows one run, live or over."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.cpu = GaugeView(look, "cpu", tr("CPU"), percent)
        self.memory = GaugeView(look, "memory-stick", tr("Memory"), size)
        self.disk = GaugeView(look, "hard-drive", tr("Disk"), size)
        self.processes = GaugeView(look, "layers", tr("Processes"), "{:.0f}".format)
        self._all: tuple[tuple[GaugeView, Callable[[Usage], float | None]], ...] = (
            (self.cpu, lambda usage: usage.cpu_percent),
            (self.memory, lambda usage: usage.memory_bytes),
            (self.disk, lambda usage: usage.disk_bytes),
            (self.processes, lambda usage: usage.processes),
        )
        self._line, self._gauges = QWidget(), QWidget()
        self.network = NetworkGauge(look, self._gauges)
        for gauge in (*(gauge for gauge, _ in self._all), self.network):
            # All of one width: their words change several times a second, and nothing may jump.
            gauge.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._opened = False
        """Whether the person wants to see the curves of runs that are over."""
        self.peaks = ElidedLabel()
        self.peaks.setProperty("role", "muted")
        self.curves = QPushButton()
        self.curves.setProperty("kind", "link")
        self.curves.clicked.connect(self._turn)
        row = QHBoxLayout(self._line)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.peaks, 1)
        row.addWidget(self.curves)
        self._grid = QGridLayout(self._gauges)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(look.px(8))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.px(4))
        column.addWidget(self._line)
        column.addWidget(self._gauges)
        self._show_over(False)
        self._shape = (0, False)
        self._networked = False
        self.network.hide()
        self._arrange()

    def begin(
        self, limits: Limits, place: Isolation | Request, readings: Iterable[Usage], *, networked: bool = False
    ) -> None:
        """Start with a run's limits and its measurements so far; `networked` where it may reach hosts."""
        self.cpu.set_limit(limits.cpu_cores * 100 if place.limits_cpu else None)
        isolation = place if isinstance(place, Isolation) else place.isolation
        self.memory.set_limit(limits.memory_mb * _MB, tr("with gVisor's kernel") if isolation.is_gvisor else "")
        self.disk.set_limit(limits.disk_mb * _MB)
        self.processes.set_limit(limits.processes)
        readings = tuple(readings)
        for gauge, value in self._all:
            gauge.no_data(tr("Not measured yet"))
            if points := _points(readings, value):
                gauge.show_curve(points, over=False)
        self.network.begin(readings)
        self._show_over(False)
        self._networked = networked
        self.network.setVisible(networked)
        self._arrange()

    def add(self, usage: Usage) -> None:
        """Add a reading."""
        for gauge, value in self._all:
            if (amount := value(usage)) is None and gauge.peak is None:
                gauge.not_seen()
            else:
                gauge.add(usage.at, amount)
        self.network.take(usage)

    def show_result(self, result: Result) -> None:
        """Show the whole curve of a finished run."""
        for gauge, value in self._all:
            points = _points(result.curve, value)
            peak = float(result.peak_memory) if gauge is self.memory and result.peak_memory is not None else None
            if points or peak is not None:
                gauge.show_curve(points, peak)
            elif gauge.peak is None:
                gauge.no_data(tr("Too short to measure, or not visible here"))
            else:
                gauge.end()
        if any(usage.sent is not None for usage in result.curve):
            self.network.begin(result.curve)
        self.network.set_hosts(reached(result.contacts))
        words = [gauge.in_short for gauge, _ in self._all]
        self.peaks.setText(_DOT.join(filter(None, words)) or tr("Too short to measure what it used."))
        self._show_over(True)

    def _show_over(self, over: bool) -> None:
        """Give a run that is over its line, and the gauges only where they are wanted."""
        self._line.setVisible(over)
        self._gauges.setVisible(not over or self._opened)
        self.curves.setText(tr("Hide curves") if self._opened else tr("Curves"))
        self.curves.setAccessibleName(tr("{words} of what the run used", words=self.curves.text()))

    @Slot()
    def _turn(self) -> None:
        self._opened = not self._opened
        self._show_over(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Stand in one row where there is space for it, else in two of one width."""
        networked, px = self._networked, self._look.px
        wide = self.width() >= px(_WIDE_WITH_NETWORK if networked else _WIDE)
        columns = (6 if networked else 4) if wide else (3 if networked else 2)
        if (columns, networked) == self._shape:
            return
        self._shape = columns, networked
        for number, (gauge, _) in enumerate(self._all):
            self._grid.addWidget(gauge, number // columns, number % columns, Qt.AlignmentFlag(0))
        if networked:
            self._grid.addWidget(self.network, 4 // columns, 4 % columns, 1, 2)
        for column in range(6):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


def reached(contacts: Iterable[Contact]) -> int:
    """Return how many hosts were reached."""
    return len({one.host for one in contacts if one.allowed})


def _points(readings: Iterable[Usage], value: Callable[[Usage], float | None]) -> list[tuple[float, float]]:
    found = ((usage.at, value(usage)) for usage in readings)
    return [(at, amount) for at, amount in found if amount is not None]
