"""A person's version of the request under review: code, limits, files that are sent; assessed again as they change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.link.page_tasks import PageTasks
from app.review.editor import can_edit
from runner.approval.draft import Draft
from runner.approval.editing import Version, included_files
from runner.model.errors import KnownError
from runner.model.translation import plural, tr
from runner.risk.tools.writes import language_of

if TYPE_CHECKING:
    from asyncio import Future

    from app.link.bridge import EngineLink
    from app.review.foot import Foot
    from app.review.reading import ReadingPane
    from app.review.under_review import UnderReview
    from app.state.cards import Card
    from runner.model.request import Limits

ASSESSING = tr("Assessing your version\N{HORIZONTAL ELLIPSIS}")


class VersionEditing(QObject):
    """Sends one version at a time to be assessed, and the newest once that has come back."""

    limits_chosen = Signal()
    """Other limits, or files, have been chosen: what is on screen is no longer what would run."""
    version_changed = Signal()
    """Another version is what would run; it has been assessed."""
    assessing_changed = Signal()
    """Outside the editor: an assessment began, or the version is as it was sent."""
    limits_refused = Signal(str)
    """Why there can be no version with the limits that were chosen; they are as before."""
    impossible = Signal(str)
    """Why the code cannot be changed here."""
    ended = Signal()
    """The editor is to be left."""

    def __init__(
        self, under_review: UnderReview, pane: ReadingPane, foot: Foot, bridge: EngineLink, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._under_review = under_review
        self._pane = pane
        self._editor = pane.editor
        self._foot = foot
        self._bridge = bridge
        self._tasks = PageTasks("version", self)
        self._limits: Limits | None = None
        """Those that the person chose; None for the request's own."""
        self._included: tuple[str, ...] = ()
        """Files of a project that may hold a secret, and which the person wants to be sent all the same."""
        self._assessing: Version | None = None
        """What is being assessed; one at a time."""
        self._finishing = False
        """The editor is left as soon as the newest version has been assessed."""
        foot.edit_wanted.connect(self.press)
        foot.edit_done.connect(self._finish)
        foot.edit_discarded.connect(self._discard)
        self._editor.textChanged.connect(self._typing)
        self._editor.changed.connect(self._edited)
        self._editor.done.connect(self._finish)
        self._editor.discarded.connect(self._discard)

    @property
    def assessing(self) -> bool:
        """Whether a version is being assessed."""
        return self._assessing is not None

    def forget(self) -> None:
        """Drop what was chosen and what is being assessed."""
        self._limits = self._assessing = None
        self._included = ()
        self._finishing = False

    # ---- the editor ----

    @Slot()
    def press(self) -> None:
        """Open the code in its place, by the button or its key."""
        if self._foot.edit.isEnabled() and self._foot.edit.isVisible():
            self._begin()

    def _begin(self) -> None:
        shown = self._under_review.shown
        if shown is None or not shown.waiting or self._under_review.sent:
            return
        if why_not := can_edit(shown.request.code):
            self.impossible.emit(why_not)
            return
        self._under_review.pause_countdown()
        self._pane.edit()
        self._foot.show_editing()
        request = shown.request
        self._editor.open(request.code, request.language or language_of("".join(request.files), request.code) or "")
        self._editor.show_findings(shown.assessment.findings if shown.assessment else ())
        self._say()

    @Slot()
    def _typing(self) -> None:
        if self._pane.editing:
            self._say()

    @Slot()
    def _finish(self) -> None:
        """Leave the editor: at once where the newest version has been assessed, else as soon as it has been."""
        shown = self._under_review.shown
        if not self._pane.editing or shown is None:
            return
        if shown.request.code == self._editor.code and self._assessing is None:
            self._end()
        else:
            self._finishing = True
            self._edited()

    @Slot()
    def _discard(self) -> None:
        self._under_review.draft = None
        self._limits = self._assessing = None
        self._included = ()
        self._end()

    def _end(self) -> None:
        self._finishing = False
        self.ended.emit()

    def _say(self) -> None:
        """Say what the version has become."""
        shown = self._under_review.shown
        assert shown is not None
        if not self._pane.editing:
            self.assessing_changed.emit()
        elif self._assessing is not None or shown.request.code != self._editor.code:
            self._foot.say_of_edit(ASSESSING, False)
        elif shown is self._under_review.card:
            self._foot.say_of_edit(tr("Nothing has been changed."), True)
        elif shown.blocked:
            self._foot.say_of_edit(shown.blocked, True)
        else:
            found = (
                plural("{count} finding", "{count} findings", len(shown.assessment.findings))
                if shown.assessment
                else ""
            )
            level = shown.level.name if shown.level else ""
            self._foot.say_of_edit(
                tr(
                    "Your version: {level}, {found}. You see it as a whole before you approve.",
                    level=level,
                    found=found,
                ),
                True,
            )

    # ---- limits ----

    @Slot(object)
    def choose_limits(self, limits: Limits) -> None:
        """Take other limits: what is on screen is not what would run until that has been assessed."""
        card = self._under_review.card
        if card is None or not card.waiting or self._under_review.sent:
            return
        self._under_review.pause_countdown()
        self._limits = None if limits == card.request.limits else limits
        self.limits_chosen.emit()
        self._edited()

    # ---- files that are sent ----

    @Slot(tuple)
    def choose_files(self, included: tuple[str, ...]) -> None:
        """Have these files sent as well, and no others that may hold a secret. As `choose_limits`."""
        card = self._under_review.card
        if card is None or not card.waiting or self._under_review.sent:
            return
        self._under_review.pause_countdown()
        self._included = included
        self.limits_chosen.emit()
        self._edited()

    # ---- assessing ----

    @Slot()
    def _edited(self) -> None:
        """Have the newest version assessed, unless something is being assessed already."""
        card = self._under_review.card
        if card is None or not card.waiting or self._under_review.sent or self._assessing is not None:
            return
        wanted = self._wanted(card)
        if wanted == Version(card.request.code, card.request.limits):
            self._take(None)
        else:
            self._assessing = wanted
            answer = self._bridge.decisions.draft(card.id, wanted)
            self._tasks.start("draft", self._await_draft(card.id, wanted, answer))
            self._say()

    def _wanted(self, card: Card) -> Version:
        """Return what the person has made of the request by now."""
        shown = self._under_review.draft or card
        code = self._editor.code if self._pane.editing else shown.request.code
        return Version(code, self._limits or card.request.limits, self._included)

    async def _await_draft(self, request_id: str, version: Version, answer: Future[Draft]) -> None:
        found: Draft | str
        try:
            found = await answer
        except KnownError as error:
            found = str(error)
        self._drafted(request_id, version, found)

    def _drafted(self, request_id: str, version: Version, found: Draft | str) -> None:
        card = self._under_review.card
        if card is None or card.id != request_id or version != self._assessing:
            return
        self._assessing = None
        if not card.waiting:
            return
        if self._wanted(card) != version:
            self._edited()
        elif isinstance(found, Draft):
            self._take(found)
        else:
            self._finishing = False
            self._refuse(found)

    def _take(self, found: Draft | None) -> None:
        """Let header, digest, badge and facts be those of the person's version from here on."""
        self._under_review.take_version(found)
        self.version_changed.emit()
        if not self._pane.editing:
            return
        shown = self._under_review.shown
        assert shown is not None
        self._editor.show_findings(shown.assessment.findings if shown.assessment else ())
        self._say()
        if self._finishing:
            self._end()

    def _refuse(self, why: str) -> None:
        """Say that there is no such version: the limits go back to what is shown, the code stays as it was typed."""
        if self._pane.editing:
            self._foot.say_of_edit(why, False)
            return
        draft = self._under_review.draft
        self._limits = draft.request.limits if draft else None
        self._included = included_files(draft.request) if draft else ()
        self.limits_refused.emit(why)
