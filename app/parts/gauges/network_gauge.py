"""The gauge of a run's network: bytes both ways so far, hosts, open connections, and a curve of bytes per second."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from app.parts.amounts import size
from app.parts.gauges.gauge import GaugeView
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QWidget

    from app.look.look import Look
    from runner.model.result import Usage

_DOT = " \N{MIDDLE DOT} "
NO_DATA = tr("Nothing sent or received yet")


class NetworkGauge(GaugeView):
    """The value is all bytes so far; the curve is how many went through in each second."""

    _last_reading: Usage | None = None
    _hosts = 0

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, "network", tr("Network"), size, parent)

    def set_hosts(self, count: int) -> None:
        """Take over how many hosts have been reached."""
        if count != self._hosts:
            self._hosts = count
            self._tell()

    def begin(self, readings: Iterable[Usage]) -> None:
        """Start with the readings so far, or with all those of a run that is over."""
        readings = [one for one in readings if one.sent is not None]
        self._hosts = 0
        self.no_data(NO_DATA)
        self._last_reading = readings[-1] if readings else None
        if readings:
            points = [(now.at, rate(before, now)) for before, now in pairwise(readings)]
            self.show_curve(points or [(readings[-1].at, 0.0)])

    def take(self, usage: Usage) -> None:
        """Add a reading; one without network is passed over."""
        if usage.sent is None:
            return
        before, self._last_reading = self._last_reading, usage
        self.add(usage.at, 0.0 if before is None else rate(before, usage))

    def _tell(self) -> None:
        last = self._last_reading
        self._curve.setVisible(last is not None)
        self._value.setVisible(last is not None)
        self._below.setWordWrap(last is None)
        if last is None:
            below = f"{self._reason}."
            self.setAccessibleName(f"{self._name}: {below}")
        else:
            sent, received = last.sent or 0, last.received or 0
            hosts = [plural("{count} host", "{count} hosts", self._hosts)] if self._hosts else []
            opened = [tr("{connections} open", connections=last.connections)] if last.connections else []
            self._value.setText(size(sent + received))
            below = _DOT.join(
                [tr("{size} in", size=size(received)), tr("{size} out", size=size(sent)), *hosts, *opened]
            )
            self._curve.set_scale(None, "accent")
            fastest = tr(", {size} a second at most", size=size(self._peak)) if self._peak else ""
            self.setAccessibleName(
                tr(
                    "{name}: {size} received, {size_2} sent, {counted}, {counted_2} open{fastest}",
                    name=self._name,
                    size=size(received),
                    size_2=size(sent),
                    counted=plural("{count} host", "{count} hosts", self._hosts),
                    counted_2=plural("{count} connection", "{count} connections", last.connections or 0),
                    fastest=fastest,
                )
            )
        self._below.setText(below)
        self._below.setToolTip(self.accessibleName())


def rate(before: Usage, now: Usage) -> float:
    """Return the bytes per second, both ways together, between two readings."""
    seconds = now.at - before.at
    moved = (now.sent or 0) + (now.received or 0) - (before.sent or 0) - (before.received or 0)
    return max(0.0, moved / seconds) if seconds > 0 else 0.0
