"""The remains of a request whose content was removed: who removed it and why, what is known and can be proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app import phrases
from app.history import words
from app.parts.plain import plain_label
from app.parts.sections import Listed, Pairs
from runner.audit.retention.retention import size_words
from runner.model.decision import Decider
from runner.model.result import Outcome

if TYPE_CHECKING:
    from app.look.look import Look
    from runner.audit.history.search import ContentRemoved
    from runner.audit.ledger.row import Row

TITLE = "The content was removed"
PROVABLE = (
    "Each entry is still there: its time, kind and the SHA-256 of its content are in the chain, which Verify checks.",
    "A copy of an entry's content can be proved to be the original: as canonical JSON it has that SHA-256.",
    "The facts above are in the signed entry that removed the content, with their own hash.",
)
NOT_PROVABLE = "The history no longer holds the code and the output."


class RemovedView(QScrollArea):
    """A column of headings with pairs and lines; plain text, and all of it can be marked and copied."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(TITLE)
        self._removal = Pairs(look, "Removed")
        self._known = Pairs(look, "What is known")
        self._provable = Listed(look, "What can be proved")
        self._entries = Pairs(look, "Entries, each with the SHA-256 of its content")
        column = QVBoxLayout()
        column.setContentsMargins(look.px(14), look.px(10), look.px(12), look.px(12))
        column.setSpacing(look.px(14))
        column.addWidget(plain_label(TITLE, "title"))
        for section in (self._removal, self._known, self._provable, self._entries):
            column.addWidget(section)
        column.addStretch()
        inside = QWidget()
        inside.setLayout(column)
        self.setWidget(inside)
        self._provable.show_lines((*PROVABLE, NOT_PROVABLE))

    def show_facts(self, error: ContentRemoved) -> None:
        """Show what the history has of the request that `error` is about."""
        self._removal.show_pairs(removal(error))
        self._known.show_pairs(known(error.row))
        self._entries.show_pairs(entries(error))
        self.verticalScrollBar().setValue(0)


def removal(error: ContentRemoved) -> words.Named:
    """Return who removed the content, when, by which rule, and the number of the entry."""
    removed = error.removed
    by_setting = removed.rule.get("by") == "setting"
    pairs = [
        ("At", phrases.when(removed.at)),
        ("By", "The settings, by themselves" if by_setting else "You, or somebody with your account"),
        ("Rule", _rule(removed.rule, by_setting)),
        ("Entry", f"{removed.seq:,}"),
    ]
    if removed.requests > 1:
        pairs.append(("Together with", f"{removed.requests - 1:,} more"))
    if removed.key:
        pairs.append(("Signed with", f"key {_halves(phrases.visible(removed.key))}"))
    return pairs


def known(row: Row) -> words.Named:
    """Return what the list of requests says of one without its content."""
    pairs = [
        ("Agent", phrases.visible(row.agent)),
        ("Tool", str(row.tool)),
        ("Language", phrases.language(row.language)),
        ("Arrived", phrases.when(row.arrived_at)),
        ("Level", row.level.name if row.level is not None else ""),
    ]
    if row.verdict is not None and row.decider is not None:
        pairs += [("Decision", phrases.verdict(row.verdict).capitalize()), ("Decided by", words.decider(row.decider))]
        pairs.append(("Grant" if row.decider is Decider.GRANT else "Rule", phrases.visible(row.rule)))
        took = row.waited if row.decider is Decider.PERSON else None
        pairs.append(("Took", "" if took is None else phrases.span(took)))
    if row.outcome is not None:
        pairs.append(("End", "Ended well" if row.outcome is Outcome.OK else str(row.outcome).capitalize()))
        pairs.append(("Exit code", "" if row.exit_code is None else str(row.exit_code)))
        pairs.append(("Ran for", "" if row.duration is None else phrases.span(row.duration)))
    pairs.append(("Digest", _halves(row.digest)))
    return [(name, value) for name, value in pairs if value]


def entries(error: ContentRemoved) -> words.Named:
    """Return each entry with its time and the hash of its body."""
    return [
        (f"Entry {one.seq}", f"{_kind(one.kind)}, {phrases.when(one.seconds)}\n{_halves(one.body_sha256)}")
        for one in error.entries
    ]


def _kind(kind: str) -> str:
    return words.KINDS.get(kind) or phrases.visible(kind)


def _halves(digest: str) -> str:
    """Return a hash with a space in the middle, where its line can break in a narrow window."""
    return f"{digest[:32]} {digest[32:]}"


def _rule(rule: dict[str, object], by_setting: bool) -> str:
    parts = []
    if isinstance(days := rule.get("older_than_days"), int | float):
        parts.append(f"Content older than {days:g} days" + (" (history.keep_days)" if by_setting else ""))
    if isinstance(kept := rule.get("keep_bytes"), int):
        parts.append(f"Content beyond the newest {size_words(kept)}" + (" (history.keep_mb)" if by_setting else ""))
    return "; ".join(parts) or "This request was selected by hand"
