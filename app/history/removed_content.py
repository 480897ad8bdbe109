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
from runner.model.translation import capital, numeral, tr, translated

if TYPE_CHECKING:
    from app.look.look import Look
    from runner.audit.history.search import ContentRemoved
    from runner.audit.ledger.row import Row

TITLE = tr("The content was removed")
PROVABLE = (
    tr(
        "Each entry is still there: its time, kind and the SHA-256 of its content are in the chain, which"
        " Verify checks."
    ),
    tr("A copy of an entry's content can be proved to be the original: as canonical JSON it has that SHA-256."),
    tr("The facts above are in the signed entry that removed the content, with their own hash."),
)
NOT_PROVABLE = tr("The history no longer holds the code and the output.")


class RemovedView(QScrollArea):
    """A column of headings with pairs and lines; plain text, and all of it can be marked and copied."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(TITLE)
        self._removal = Pairs(look, tr("Removed"))
        self._known = Pairs(look, tr("What is known"))
        self._provable = Listed(look, tr("What can be proved"))
        self._entries = Pairs(look, tr("Entries, each with the SHA-256 of its content"))
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
        (tr("At"), phrases.when(removed.at)),
        (tr("By"), tr("The settings, by themselves") if by_setting else tr("You, or somebody with your account")),
        (tr("Rule"), _rule(removed.rule, by_setting)),
        (tr("Entry"), numeral(removed.seq)),
    ]
    if removed.requests > 1:
        pairs.append((tr("Together with"), tr("{requests} more", requests=numeral(removed.requests - 1))))
    if removed.key:
        pairs.append((tr("Signed with"), tr("key {halves}", halves=_halves(phrases.visible(removed.key)))))
    return pairs


def known(row: Row) -> words.Named:
    """Return what the list of requests says of one without its content."""
    pairs = [
        (tr("Agent"), phrases.visible(row.agent)),
        (tr("Tool"), str(row.tool)),
        (tr("Language"), phrases.language(row.language)),
        (tr("Arrived"), phrases.when(row.arrived_at)),
        (tr("Level"), row.level.name if row.level is not None else ""),
    ]
    if row.verdict is not None and row.decider is not None:
        pairs += [
            (tr("Decision"), capital(phrases.verdict(row.verdict))),
            (tr("Decided by"), words.decider(row.decider)),
        ]
        pairs.append((tr("Grant") if row.decider is Decider.GRANT else tr("Rule"), phrases.visible(row.rule)))
        took = row.waited if row.decider is Decider.PERSON else None
        pairs.append((tr("Took"), "" if took is None else phrases.span(took)))
    if row.outcome is not None:
        pairs.append(
            (tr("End"), tr("Ended well") if row.outcome is Outcome.OK else capital(translated(str(row.outcome))))
        )
        pairs.append((tr("Exit code"), "" if row.exit_code is None else str(row.exit_code)))
        pairs.append((tr("Ran for"), "" if row.duration is None else phrases.span(row.duration)))
    pairs.append((tr("Digest"), _halves(row.digest)))
    return [(name, value) for name, value in pairs if value]


def entries(error: ContentRemoved) -> words.Named:
    """Return each entry with its time and the hash of its body."""
    return [
        (tr("Entry {seq}", seq=one.seq), f"{_kind(one.kind)}, {phrases.when(one.seconds)}\n{_halves(one.body_sha256)}")
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
        parts.append(
            tr("Content older than {days} days", days=numeral(days, "g"))
            + (" (history.keep_days)" if by_setting else "")
        )
    if isinstance(kept := rule.get("keep_bytes"), int):
        parts.append(
            tr("Content beyond the newest {size_words}", size_words=size_words(kept))
            + (" (history.keep_mb)" if by_setting else "")
        )
    return "; ".join(parts) or tr("This request was selected by hand")
