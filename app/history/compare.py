"""Two requests side by side: facts in two columns, what differs in their code and output, and what each made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QTabWidget, QVBoxLayout, QWidget

from app import phrases
from app.history import words
from app.link.background import Errands
from app.parts.amounts import size
from app.parts.elide import ElidedLabel
from app.parts.fold import Room, fit
from app.parts.plain import plain_label
from app.parts.sections import wrapped_label
from app.parts.text.alike import circled, show_alike
from app.parts.text.code import CodeView
from app.parts.text.differences import MOST_TEXT, DifferenceView
from app.parts.text.output import OutputView
from app.results.view import ResultsView
from app.state import attention
from runner.approval.pattern import pattern
from runner.model.difference import difference
from runner.model.translation import plural, to_translate, tr, translated

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.look.look import Look
    from runner.approval.pattern import CodePattern
    from runner.audit.history.search import CaseRecord
    from runner.model.difference import DiffLine
    from runner.model.result import CapturedFile

Fact = tuple[str, str, str]


def facts(one: CaseRecord, other: CaseRecord) -> list[Fact]:
    """Return names with the values of both, those that differ first."""
    columns = [_facts(one), _facts(other)]
    found = [(translated(name), columns[0][name], columns[1][name]) for name in columns[0]]
    return [*_values(one, other), *sorted(found, key=lambda fact: fact[1] == fact[2])]


def values_of(one: CaseRecord, other: CaseRecord) -> CodePattern | None:
    """Return in which values the code differs; None where it differs in more, or not at all."""
    found = pattern([_code(one), _code(other)])
    return found if found is not None and found.places else None


def _values(one: CaseRecord, other: CaseRecord) -> list[Fact]:
    """Return a fact for each value in which the code differs, where everything else of it is the same."""
    found = values_of(one, other)
    if found is None:
        return []
    lines: dict[int, list[int]] = {}
    for place, number in found.places:
        lines.setdefault(number, []).append(place.line)
    return [
        (
            f"{circled(number)} {(tr('Line') if len(at) == 1 else tr('Lines'))} {', '.join(map(str, at))}",
            phrases.visible(found.rows[0][number - 1]),
            phrases.visible(found.rows[1][number - 1]),
        )
        for number, at in lines.items()
    ]


def _facts(record: CaseRecord) -> dict[str, str]:
    request, result = record.request, record.result
    return {
        to_translate("Agent"): phrases.visible(request.agent),
        to_translate("Asked"): phrases.when(record.row.arrived_at),
        to_translate("Findings"): attention.words_of(record.assessment),
        to_translate("Class"): record.row.level.name if record.row.level else "",
        to_translate("Decision"): phrases.decided(record.decision) if record.decision else "",
        to_translate("End"): phrases.ended(result) if result else tr("It has not run."),
        to_translate("Memory"): tr("{size} at most", size=size(result.peak_memory))
        if result and result.peak_memory is not None
        else "",
        to_translate("Files"): plural("{count} file", "{count} files", len(result.files)) if result else "",
        to_translate("Network"): phrases.network(request),
        to_translate("Sandbox"): phrases.isolation_first(result.meta.isolation if result else request.isolation),
        to_translate("Digest"): f"{record.row.digest[:16]}\N{HORIZONTAL ELLIPSIS}",
    }


def compared(one: str, other: str) -> tuple[DiffLine, ...]:
    """Return the difference between two texts, as far as it is compared. Takes quadratic time or worse."""
    return difference(one[:MOST_TEXT], other[:MOST_TEXT])


class CompareDialog(QDialog):
    """Compares on a thread of its own; everything is plain text, and nothing in it decides anything."""

    def __init__(
        self,
        parent: QWidget,
        look: Look,
        older: CaseRecord,
        newer: CaseRecord,
        read: Callable[[CapturedFile], bytes],
    ) -> None:
        """`read` gives the content of a file that a run created; raises KnownError."""
        super().__init__(parent)
        self._look = look
        self._errands = Errands("compare", self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Compare two requests"))
        self.tabs = QTabWidget()
        self.tabs.tabBar().setAccessibleName(tr("What is compared"))
        self.code = self._codes(older, newer)
        self.output = DifferenceView(look, tr("Difference of the output"))
        self._compare(self.output, (_output(older), _output(newer)))
        self.tabs.addTab(self.code, tr("Code"))
        self.tabs.addTab(self.output, tr("Output"))
        self.results = tuple(self._results(record, read) for record in (older, newer))
        if any(record.result is not None for record in (older, newer)):
            self.tabs.addTab(self._beside(), tr("Results"))
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(look.px(16), look.px(14), look.px(16), look.px(14))
        column.setSpacing(look.px(10))
        column.addWidget(self._sides(older, newer))
        column.addWidget(self.tabs, 1)
        self.tabs.setMinimumHeight(look.px(200))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(Room(inside))
        self.finished.connect(self._errands.close)
        fit(self, look.px(1000), look.px(720))

    def _codes(self, older: CaseRecord, newer: CaseRecord) -> CodeView | DifferenceView:
        """Return the code once where only values differ, with the numbers that these have above; else what differs."""
        if (found := values_of(older, newer)) is not None:
            once = CodeView(self._look)
            language = older.request.language
            show_alike(once, _code(older), language.value if language else "", found)
            once.setAccessibleName(tr("Code of both, with what differs numbered"))
            return once
        view = DifferenceView(self._look, tr("Difference of the code"))
        self._compare(view, (_code(older), _code(newer)))
        return view

    def _compare(self, view: DifferenceView, texts: tuple[str, str]) -> None:
        """Show in `view` what differs, as soon as it is known."""
        cut = max(map(len, texts)) > MOST_TEXT
        self._errands.send(
            lambda: compared(*texts),
            lambda found: view.show_lines(found, cut),
            lambda error: view.setPlainText(tr("They cannot be compared: {error}", error=f"{error!r}")),
        )

    def _results(self, record: CaseRecord, read: Callable[[CapturedFile], bytes]) -> ResultsView:
        output = OutputView(self._look)
        results = ResultsView(self._look, read, output)
        results.setAccessibleName(tr("Results of {when}", when=phrases.when(record.row.arrived_at)))
        if record.result is not None:
            output.set_text(record.result.stdout, record.result.stderr, record.result.order)
            results.show_result(record.result)
        return results

    def _beside(self) -> QWidget:
        whole = QWidget()
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(self._look.px(16))
        for results in self.results:
            # The files of the other page cannot be gone to from here.
            results.without_ways_out()
            row.addWidget(results, 1)
        return whole

    def _sides(self, older: CaseRecord, newer: CaseRecord) -> QWidget:
        whole = QWidget()
        grid = QGridLayout(whole)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(self._look.px(16))
        grid.setVerticalSpacing(self._look.px(3))
        for column, record in ((1, older), (2, newer)):
            grid.addWidget(_titled(attention.headline_of(record.assessment, record.request)), 0, column)
            grid.setColumnStretch(column, 1)
        self.rows = facts(older, newer)
        for row, (name, one, other) in enumerate(self.rows, 1):
            grid.addWidget(plain_label(name, "muted"), row, 0, Qt.AlignmentFlag.AlignTop)
            for column, text in ((1, one), (2, other)):
                label = wrapped_label(self._look)
                label.setText(text or "\N{EN DASH}")
                label.setProperty("role", "strong" if one != other else "muted")
                grid.addWidget(label, row, column)
        return whole


def _titled(text: str) -> QWidget:
    label = ElidedLabel(text)
    label.setProperty("role", "title")
    return label


def _code(record: CaseRecord) -> str:
    return words.edited(record) or record.request.code


def _output(record: CaseRecord) -> str:
    result = record.result
    if result is None:
        return ""
    return result.stdout + (tr("\n--- standard error ---\n{stderr}", stderr=result.stderr) if result.stderr else "")
