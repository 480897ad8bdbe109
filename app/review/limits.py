"""The limits of a run under review, and the fields in which a person changes them before approving."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QLocale, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QHBoxLayout, QPushButton, QWidget

from app.parts.amounts import size
from app.parts.boxes import keep_from_edge
from app.parts.plain import plain_label
from app.parts.sections import Pairs, Section
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtGui import QWheelEvent

    from app.look.look import Look
    from app.state.cards import Card
    from runner.model.request import Limits, Request
    from runner.requests.bounds import Bound

_MB = 1 << 20
FIELDS: tuple[tuple[str, str, str, int, float, float], ...] = (
    ("seconds", tr("Time"), " s", 1, 10, 1),
    ("memory_mb", tr("Memory"), " MB", 0, 256, 1),
    ("cpu_cores", tr("CPU"), tr(" cores"), 2, 0.5, 1),
    ("disk_mb", tr("Disk"), " MB", 0, 256, 1),
    ("output_bytes", tr("Output"), " KB", 1, 256, 1024),
)
"""Limit, word, unit, decimals, step, and how many of the limit's own units make one of those."""


class LimitsSection(Section):
    """Shows them as pairs; after Change as fields, for those that may be changed. It approves nothing."""

    changed = Signal(object)
    """Limits: what the person wants from now on."""
    opened = Signal()
    """The fields stand there and take more room."""
    typing = Signal()
    """What stands in the fields has become a number, or is none any more."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, tr("Limits"), parent)
        self._asked: Limits | None = None
        self._wanted: Limits | None = None
        self._subject = ""
        self._shown: dict[str, float] = {}
        """What each field has shown since it was filled in: it may be rounded."""
        self.fields: dict[str, _Field] = {}
        self.pairs = Pairs(look, "")
        self.pairs.drop_heading()
        self.change = _button(
            tr("Change limits\N{HORIZONTAL ELLIPSIS}  L"), tr("Change the limits before approving, L")
        )
        self.reset = _button(tr("As asked"), tr("Limits as the agent asked for them"))
        self.done = _button(tr("Done"), tr("Done changing the limits. Nothing is approved by this."))
        self.form = self._make_form(look)
        self.add(self.pairs)
        self.add(self.form)
        self.add(_row(look, self.change))
        self.change.clicked.connect(self.open)
        self.reset.clicked.connect(self._reset)
        self.done.clicked.connect(self.close_form)
        self.form.hide()

    @property
    def whole(self) -> bool:
        """Every field holds a number that counts: nothing else on screen than what would run."""
        return not self.form.isVisibleTo(self) or all(one.hasAcceptableInput() for one in self.fields.values())

    def offer(self, card: Card, shown: Card, allowed: Mapping[str, Bound]) -> None:
        """Offer the limits. `card` is the request as sent, `shown` what would run; only `allowed` may be changed."""
        request = shown.request
        self._asked = (shown.original or card.request).limits
        self.pairs.show_pairs(limit_pairs(request, self._asked))
        self.pairs.setVisible(not self.form.isVisibleTo(self))
        self.change.setVisible(bool(allowed) and not self.form.isVisibleTo(self))
        self.reset.setEnabled(request.limits != self._asked)
        if card.id != self._subject or not allowed:
            self._subject = card.id
            self._close()
            self.change.setVisible(bool(allowed))
        if self._wanted != request.limits:
            self._fill(request.limits, allowed)

    @Slot()
    def open(self) -> None:
        """Put the fields where the sentences stood."""
        if self.change.isVisible() and not self.form.isVisibleTo(self):
            self.pairs.hide()
            self.change.hide()
            self.form.show()
            first = next((one for one in self.fields.values() if one.isVisibleTo(self.form)), None)
            if first is not None:
                first.setFocus(Qt.FocusReason.OtherFocusReason)
                first.selectAll()
            self.opened.emit()

    @Slot()
    def close_form(self) -> None:
        """Go back to sentences; what was chosen stays."""
        self._close()
        self.change.show()
        self.change.setFocus(Qt.FocusReason.OtherFocusReason)
        self.typing.emit()

    def _close(self) -> None:
        self.form.hide()
        self.pairs.show()

    def _fill(self, limits: Limits, allowed: Mapping[str, Bound]) -> None:
        self._wanted = limits
        # Hiding a field that has the focus ends its editing, which says so.
        with QSignalBlocker(self):
            for name, _, _, _, _, per in FIELDS:
                field, bound = self.fields[name], allowed.get(name)
                for one in (field, field.label):
                    one.setVisible(bound is not None)
                with QSignalBlocker(field):
                    if bound is not None:
                        field.setRange(bound.low / per, bound.high / per)
                        low, high = (field.textFromValue(one / per) for one in (bound.low, bound.high))
                        field.setToolTip(tr("{low} to {high}{suffix}", low=low, high=high, suffix=field.suffix()))
                    field.setValue(getattr(limits, name) / per)
                self._shown[name] = field.value()

    @Slot()
    def _read(self) -> None:
        """Read a field that has another number."""
        if self._wanted is None:
            return
        values: dict[str, Any] = {}
        for name, _, _, decimals, _, per in FIELDS:
            field = self.fields[name]
            if field.value() != self._shown[name]:
                amount = field.value() * per
                values[name] = round(amount) if decimals == 0 or per != 1 else amount
                self._shown[name] = field.value()
        if values:
            self._wanted = replace(self._wanted, **values)
            self.changed.emit(self._wanted)

    @Slot()
    def _reset(self) -> None:
        if self._asked is not None:
            self.changed.emit(self._asked)

    def _make_form(self, look: Look) -> QWidget:
        form = QWidget()
        # Numbers of a few digits: on a wide page a field is no wider than they need.
        form.setMaximumWidth(look.px(320))
        grid = QGridLayout(form)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(look.px(12))
        grid.setVerticalSpacing(look.px(4))
        grid.setColumnStretch(1, 1)
        for row, (name, word, unit, decimals, step, _) in enumerate(FIELDS):
            field = _Field(word, unit, decimals, step)
            field.valueChanged.connect(self._read)
            field.lineEdit().textChanged.connect(self.typing)
            field.editingFinished.connect(self.typing)
            self.fields[name] = field
            grid.addWidget(field.label, row, 0)
            grid.addWidget(field, row, 1)
        grid.addWidget(_row(look, self.reset, self.done), len(FIELDS), 0, 1, 2)
        return form


class _Field(QDoubleSpinBox):
    """The wheel scrolls the column and changes nothing on the way; Enter and Escape do nothing."""

    def __init__(self, word: str, unit: str, decimals: int, step: float) -> None:
        super().__init__()
        self.label = plain_label(word, "muted")
        self.setAccessibleName(tr("{word} limit in{unit}", word=word, unit=unit))
        self.setDecimals(decimals)
        self.setSuffix(unit)
        self.setSingleStep(step)
        keep_from_edge(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setLocale(QLocale.c())

    def textFromValue(self, value: float) -> str:
        """Return the number without trailing zeros."""
        return f"{value:.{self.decimals()}f}".rstrip("0").rstrip(".") if self.decimals() else numeral(value, ".0f")

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def limit_pairs(request: Request, asked: Limits) -> list[tuple[str, str]]:
    """Return each limit in words; behind one that a person changed stands what was asked."""
    now, before = _words(request, request.limits), _words(request, asked)
    return [
        (name, value if value == was else tr("{value} (asked: {was})", value=value, was=was))
        for (name, value), (_, was) in zip(now, before, strict=True)
    ]


def _words(request: Request, limits: Limits) -> list[tuple[str, str]]:
    cores = (
        tr("{cpu_cores} of a core", cpu_cores=numeral(limits.cpu_cores, "g"))
        if limits.cpu_cores < 1
        else tr("{cpu_cores} cores", cpu_cores=numeral(limits.cpu_cores, "g"))
    )
    return [
        (tr("Time"), f"{numeral(limits.seconds, 'g')} s"),
        (tr("Memory"), size(limits.memory_mb * _MB)),
        (tr("CPU"), cores if request.limits_cpu else tr("not limited here")),
        (tr("Disk"), size(limits.disk_mb * _MB) + (tr(" of the memory") if request.isolation.files_are_memory else "")),
        (tr("Output"), size(limits.output_bytes)),
        (tr("Processes"), f"{limits.processes}"),
    ]


def _button(words: str, name: str) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("kind", "quiet")
    button.setAccessibleName(name)
    button.setToolTip(name)
    button.setAutoDefault(False)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


def _row(look: Look, *buttons: QPushButton) -> QWidget:
    """Return a row of widgets at the left, as wide as they need."""
    whole = QWidget()
    row = QHBoxLayout(whole)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(look.px(6))
    for button in buttons:
        row.addWidget(button)
    row.addStretch()
    return whole
