"""Tools for code on screen besides reading it: search, size, and copying pieces of it for somebody else."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu

from app.parts.key_names import key_text
from app.parts.text.listing import remark
from app.parts.text.matches import Matches
from app.parts.text.searching import SearchBar
from app.parts.text.to_clipboard import to_clipboard
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QKeyEvent

    from app.look.look import Look
    from app.parts.text.code_canvas import CodeCanvas
    from app.parts.text.code_painting import CodePainting
    from app.parts.text.listing import CodeListing
    from runner.model.assessment import Finding

_PATH = re.compile(r"""[^\s'"`()<>{}\[\],;|&]+""")
MOST_FOUND = 999
"""Matches that are counted; more are "999+"."""
LONGEST_WORD = 60
"""Characters of a path in the menu."""


class CodeTools(QObject):
    """Ctrl+F searches, Ctrl with plus, minus and 0 changes the size, Alt+Z wraps or not, the menu copies.

    Nothing here changes the code.
    """

    def __init__(self, view: CodeCanvas, look: Look, painting: CodePainting, next_finding: Callable[[], None]) -> None:
        """`next_finding` goes to the next line with findings."""
        super().__init__(view)
        self._next_finding = next_finding
        self._view = view
        self._look = look
        self._painting = painting
        self._matches = Matches()
        self.search = SearchBar(look, view, tr("Search the code"))
        self.search.hide()
        self.search.changed.connect(self._search)
        self.search.stepped.connect(self._step)
        self.search.closed.connect(self.close_search)

    @property
    def height(self) -> int:
        """Pixels that the search takes at the foot of the view."""
        return self.search.sizeHint().height() if self.search.isVisibleTo(self._view) else 0

    def place(self) -> None:
        """Put the search where the view leaves room for it."""
        self.search.setGeometry(0, self._view.height() - self.height, self._view.width(), self.height)

    def press(self, event: QKeyEvent) -> bool:
        """Take a key of the view; return whether it was one of these."""
        if event.matches(QKeySequence.StandardKey.Find):
            self.open_search()
        elif resizes(event):
            self._look.zoom(SIZES[Qt.Key(event.key())])
        elif event.modifiers() == Qt.KeyboardModifier.AltModifier and event.key() == Qt.Key.Key_Z:
            self._view.wrap(not self._view.wrapped)
        else:
            return False
        return True

    # ---- search ----

    @Slot()
    def open_search(self) -> None:
        """Show the search with the focus in it, and all that it could find."""
        self._view.show_all(True)
        self.search.show()
        self._view.fit()
        self.place()
        self.search.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.field.selectAll()
        self._search()

    @Slot()
    def close_search(self) -> None:
        """Mark nothing any more and go back to the code."""
        self.search.hide()
        self._painting.look_for(None)
        self._view.fit()
        self._view.viewport().update()
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def forget(self) -> None:
        """Drop what was looked for: there is another code."""
        if self.search.isVisibleTo(self._view):
            self._search()

    @Slot()
    def _search(self) -> None:
        try:
            found = self.search.finder()
        except ValueError:
            found = None
            self.search.tell(tr("Not a regular expression"))
        else:
            self.search.tell("")
        self._matches.look_for(found)
        self._painting.look_for(found)
        self._view.viewport().update()
        if found is not None:
            self._step(1)
            self._count()

    def _count(self) -> None:
        total = 0
        for line in self._listing.lines:
            total += len(self._matches.within(line))
            if total > MOST_FOUND:
                break
        words = (
            tr("{most_found}+ matches", most_found=MOST_FOUND)
            if total > MOST_FOUND
            else plural("{count} match", "{count} matches", total)
        )
        self.search.tell(words if total else tr("No match"))

    @Slot(int)
    def _step(self, step: int) -> None:
        place = self._matches.step(0, self._listing.lines, 0, step)
        if place is not None:
            self._view.scroll_to(place.line + 1)

    @property
    def _listing(self) -> CodeListing:
        return self._view.listing

    # ---- the menu ----

    def open_menu(self, line: int, column: int, at: QPoint) -> None:
        """Open the menu for `line` and `column`, from 0, at a place of the screen."""
        menu = QMenu(self._view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for words, text in self.copies(line, column):
            menu.addAction(words.replace("&", "&&"), partial(to_clipboard, text))
        menu.addSeparator()
        menu.addAction(tr("Search\N{HORIZONTAL ELLIPSIS}") + "\t" + key_text("Ctrl+F"), self.open_search)
        wrap = menu.addAction(tr("Wrap long lines\tAlt+Z"), partial(self._view.wrap, not self._view.wrapped))
        wrap.setCheckable(True)
        wrap.setChecked(self._view.wrapped)
        if self._view.folds:
            whole = menu.addAction(
                tr("Show every character\tO"), partial(self._view.show_all, bool(self._listing.folded))
            )
            whole.setCheckable(True)
            whole.setChecked(not self._listing.folded)
        if self._listing.flagged:
            menu.addAction(tr("Next finding\tN"), self._next_finding)
        menu.popup(at)

    def copies(self, line: int, column: int) -> list[tuple[str, str]]:
        """Return what the menu offers to copy there: words of the menu, and the text."""
        source = self._listing.lines[line]
        found = self._listing.findings_at(line)
        offered = [(tr("Copy line {line}", line=numeral(line + 1)), source)]
        if path := path_at(source, column):
            shown = path if len(path) <= LONGEST_WORD else f"{path[:LONGEST_WORD]}\N{HORIZONTAL ELLIPSIS}"
            offered.append((tr("Copy {shown}", shown=shown), path))
        if found:
            offered.append(
                (
                    tr("Copy finding"),
                    "\n".join(tr("Line {line}: {remark}", line=line + 1, remark=remark(finding)) for finding in found),
                )
            )
        offered.append((tr("Copy as Markdown for the agent"), as_markdown(line, source, self._listing.language, found)))
        return offered


SIZES = {
    Qt.Key.Key_Plus: 1,
    Qt.Key.Key_Equal: 1,
    Qt.Key.Key_Minus: -1,
    Qt.Key.Key_0: 0,
}


def resizes(event: QKeyEvent) -> bool:
    """Return whether a key changes the size of the text."""
    return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier) and event.key() in SIZES


def path_at(text: str, column: int) -> str:
    """Return what looks like a path or an address around `column` of a line; '' where nothing does."""
    for found in _PATH.finditer(text):
        if found.start() <= column <= found.end():
            word = found[0].strip(".:")
            return word if "/" in word.strip("/") or word.startswith(("/", "~", "./")) else ""
    return ""


def as_markdown(line: int, source: str, language: str, findings: tuple[Finding, ...]) -> str:
    """Return a line of code with what was found there as Markdown; the code stays within its fence whatever it is."""
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    said = "".join(f"- {remark(finding)}\n" for finding in findings)
    return f"About line {line + 1} of your code:\n{said}\n{fence}{language}\n{source}\n{fence}\n"
