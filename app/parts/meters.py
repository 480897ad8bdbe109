"""The four gauges of a run: CPU, memory, disk and processes, each against its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app.parts.amounts import percent, size
from app.parts.gauge import GaugeView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from runner.model.request import Isolation, Limits
    from runner.model.result import Result, Usage

_MB = 1 << 20
_WIDE = 640
"""Pixels from which on the four stand side by side."""


class Meters(QWidget):
    """Follows one run, live or over."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.cpu = GaugeView(look, "cpu", "CPU", percent)
        self.memory = GaugeView(look, "memory-stick", "Memory", size)
        self.disk = GaugeView(look, "hard-drive", "Disk", size)
        self.processes = GaugeView(look, "layers", "Processes", "{:.0f}".format)
        self._all: tuple[tuple[GaugeView, Callable[[Usage], float | None]], ...] = (
            (self.cpu, lambda usage: usage.cpu_percent),
            (self.memory, lambda usage: usage.memory_bytes),
            (self.disk, lambda usage: usage.disk_bytes),
            (self.processes, lambda usage: usage.processes),
        )
        for gauge, _ in self._all:
            # All of one width: their words change several times a second, and nothing may jump.
            gauge.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(look.px(8))
        self._columns = 0
        self._arrange(4)

    def begin(self, limits: Limits, isolation: Isolation, readings: Iterable[Usage]) -> None:
        """Start with a run's limits and its measurements so far."""
        self.cpu.set_limit(limits.cpu_cores * 100 if isolation.limits_cpu else None)
        self.memory.set_limit(limits.memory_mb * _MB)
        self.disk.set_limit(limits.disk_mb * _MB)
        self.processes.set_limit(limits.processes)
        readings = tuple(readings)
        for gauge, value in self._all:
            gauge.no_data("nothing has been measured yet")
            if points := _points(readings, value):
                gauge.show_curve(points)

    def add(self, usage: Usage) -> None:
        """Add a reading."""
        for gauge, value in self._all:
            if (amount := value(usage)) is None and gauge.peak is None:
                gauge.no_data("it cannot be seen from outside this sandbox")
            else:
                gauge.add(usage.at, amount)

    def show_result(self, result: Result) -> None:
        """Show the whole curve of a finished run."""
        for gauge, value in self._all:
            points = _points(result.curve, value)
            peak = float(result.peak_memory) if gauge is self.memory and result.peak_memory is not None else None
            if points or peak is not None:
                gauge.show_curve(points, peak)
            elif gauge.peak is None:
                gauge.no_data("the run was too short or the sandbox cannot tell")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(4 if self.width() >= self._look.px(_WIDE) else 2)

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for number, (gauge, _) in enumerate(self._all):
            self._grid.addWidget(gauge, number // columns, number % columns, Qt.AlignmentFlag(0))
        for column in range(4):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


def _points(readings: Iterable[Usage], value: Callable[[Usage], float | None]) -> list[tuple[float, float]]:
    found = ((usage.at, value(usage)) for usage in readings)
    return [(at, amount) for at, amount in found if amount is not None]
