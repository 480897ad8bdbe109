"""The fields in which settings are changed: one kind of field for each kind of value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.parts.plain import plain_label
from app.settings.words import choice, on_off
from runner.model.translation import tr, translated
from runner.sandbox.plugin import names as plugin_names
from runner.settings.declaration import Kind
from runner.system.entry_points import names
from runner.system.language_packages import GROUP as LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QWheelEvent

    from app.look.look import Look
    from runner.settings.declaration import Declared, Value


class SettingEditor(QWidget):
    """Says what was typed, also where it makes no sense yet; never while `show_value` fills it."""

    typed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)

    def show_value(self, value: Value) -> None:
        """Show `value` without telling."""
        raise NotImplementedError

    def set_wrong(self, wrong: bool) -> None:
        """Mark what was typed as not usable."""

    def controls(self) -> Iterable[QWidget]:
        """Return the widgets that take the focus."""
        raise NotImplementedError


class SwitchEditor(SettingEditor):
    """Yes or no."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QCheckBox()
        self.box.setAccessibleName(title)
        self.box.toggled.connect(self._toggled)
        self._row.addWidget(self.box)
        self._row.addStretch()

    def show_value(self, value: Value) -> None:
        self.box.blockSignals(True)
        self.box.setChecked(bool(value))
        self.box.blockSignals(False)
        self._name(bool(value))

    def controls(self) -> Iterable[QWidget]:
        return (self.box,)

    @Slot(bool)
    def _toggled(self, on: bool) -> None:
        self._name(on)
        self.typed.emit(on)

    def _name(self, on: bool) -> None:
        self.box.setText(on_off(on))


class ChoiceEditor(SettingEditor):
    """One of several."""

    def __init__(self, title: str, choices: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = _QuietBox()
        self.box.setAccessibleName(title)
        for one in choices:
            self.box.addItem(choice(one), one)
        self.box.activated.connect(lambda: self.typed.emit(self.box.currentData()))
        self._row.addWidget(self.box, 1)

    def show_value(self, value: Value) -> None:
        if self.box.findData(value) < 0:
            # Only a file or a variable can have named what is not offered.
            self.box.addItem(choice(str(value)), value)
        self.box.setCurrentIndex(self.box.findData(value))

    def controls(self) -> Iterable[QWidget]:
        return (self.box,)


class SeveralEditor(SettingEditor):
    """Any of several."""

    def __init__(self, title: str, choices: tuple[str, ...], look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout()
        column.setSpacing(look.px(6))
        self.boxes = {one: QCheckBox(choice(one)) for one in choices}
        for one, box in self.boxes.items():
            box.setAccessibleName(f"{title}: {choice(one)}")
            box.toggled.connect(self._tell)
            column.addWidget(box)
        self._row.addLayout(column)
        self._row.addStretch()

    def show_value(self, value: Value) -> None:
        assert isinstance(value, tuple)
        for one, box in self.boxes.items():
            box.blockSignals(True)
            box.setChecked(one in value)
            box.blockSignals(False)

    def controls(self) -> Iterable[QWidget]:
        return self.boxes.values()

    @Slot()
    def _tell(self) -> None:
        self.typed.emit(tuple(one for one, box in self.boxes.items() if box.isChecked()))


class TextEditor(SettingEditor):
    """A number with its unit, a text, or words with commas between them."""

    def __init__(self, title: str, one: Declared, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit()
        self.field.setAccessibleName(
            tr("{title}, in {unit}", title=title, unit=translated(one.unit)) if one.unit else title
        )
        self.field.setPlaceholderText(tr("Words, with commas between them") if one.kind is Kind.LIST else tr("Not set"))
        self.field.textEdited.connect(lambda text: self.typed.emit(text))
        self._row.setSpacing(look.px(8))
        if one.kind in (Kind.WHOLE, Kind.NUMBER):
            self.field.setFixedWidth(look.px(130))
            self._row.addWidget(self.field)
            self._row.addWidget(plain_label(translated(one.unit), "muted"))
            self._row.addStretch()
        else:
            self._row.addWidget(self.field, 1)

    def show_value(self, value: Value) -> None:
        text = _written(value)
        if self.field.text() != text:
            self.field.setText(text)
            self.field.setCursorPosition(0)

    def set_wrong(self, wrong: bool) -> None:
        if bool(self.field.property("wrong")) != wrong:
            self.field.setProperty("wrong", wrong)
            self.field.style().unpolish(self.field)
            self.field.style().polish(self.field)

    def controls(self) -> Iterable[QWidget]:
        return (self.field,)


class _QuietBox(QComboBox):
    """The wheel scrolls the page: a value that changes under a passing pointer would go unseen."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def editor_for(one: Declared, title: str, look: Look) -> SettingEditor:
    """Return the field for one setting."""
    match one.kind:
        case Kind.BOOL:
            return SwitchEditor(title)
        case Kind.CHOICE:
            brought = (f"{one.named}{name}" for name in plugin_names()) if one.named else ()
            return ChoiceEditor(title, (*one.choices, *brought))
        case Kind.LIST if one.choices:
            packages = (f"{one.named}{name}" for name in names(LANGUAGES)) if one.named else ()
            return SeveralEditor(title, (*one.choices, *packages), look)
        case Kind.WHOLE | Kind.NUMBER | Kind.TEXT | Kind.LIST:
            return TextEditor(title, one, look)
        case _:
            assert_never(one.kind)


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)
