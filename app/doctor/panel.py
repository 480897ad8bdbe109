"""The page of the doctor: what was checked here, what does not work, and the fix to copy."""

from __future__ import annotations

import asyncio
import os
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.doctor.building import Building
from app.doctor.row import CheckRow
from app.link.background import Errands
from app.parts.column import ScrollColumn
from app.parts.empty import EmptyState
from app.parts.notice import Notice, Tone
from app.parts.plain import plain_label
from app.parts.text.to_clipboard import to_clipboard
from runner.commands.check import stronger
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from PySide6.QtGui import QShowEvent

    from app.look.look import Look
    from runner.commands.check import Check
    from runner.identity.secrets import Secrets
    from runner.sandbox.images.build import Progress
    from runner.system.places import Places

WORST_FIRST = ("bad", "warn", "ok", "unused")
LEAVING_SECONDS = 1.5
"""For a build to clean up when the console is left."""


class Led(Enum):
    """To what a person was led here from another page."""

    NOWHERE = auto()
    THERE = auto()
    INSTALLING = auto()


class DoctorPanel(QWidget):
    """Examines when it is first shown and whenever asked; the window stays usable meanwhile."""

    built = Signal()
    """Images may be there that were not before."""
    asked = Signal()
    """The person wants to know how things are now: what runs code is to be looked for again, too."""

    def __init__(
        self,
        look: Look,
        places: Places,
        examine: Callable[[Places], tuple[Check, ...]] | None = None,
        build: Callable[[Sequence[str]], AsyncGenerator[Progress]] | None = None,
        bring_gvisor: Callable[[], AsyncGenerator[Progress]] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`examine` may block: it is called on a thread of the panel's own, and so are the others.

        By default the real doctor, the real builder of images, and what really fetches gVisor.
        """
        super().__init__(parent)
        self._look = look
        self._places = places
        self._examine = examine or examine_here
        self._errands = Errands("doctor", self)
        self._build = build or build_here
        self._bring_gvisor = bring_gvisor or bring_gvisor_here
        self._building: Building | None = None
        self._at: CheckRow | None = None
        """Where what is under way was begun."""
        self._led = Led.NOWHERE
        self._working = False
        self._checks: tuple[Check, ...] = ()
        self.rows: list[CheckRow] = []
        self.summary = plain_label(role="muted", wrap=True)
        self.again = QPushButton(tr("Run again"))
        self.again.setToolTip("F5")
        self.again.setAutoDefault(False)
        look.dress(self.again, "refresh-cw", size=14)
        self.copy = QPushButton(tr("Copy report"))
        self.copy.setToolTip(tr("Copy all checks as text, to send to somebody"))
        self.copy.setAutoDefault(False)
        self.notice = Notice(look, Tone.BAD, "")
        self.trouble = Notice(look, Tone.BAD, "")
        self.working = EmptyState(look, "stethoscope", tr("Examining"), tr("Starting the sandbox takes a few seconds."))
        self._lay_out()
        self.again.clicked.connect(self.look_again)
        self.copy.clicked.connect(self._copy)
        QCoreApplication.instance().aboutToQuit.connect(self.leave)  # type: ignore[union-attr]
        self._show_state()

    @Slot()
    def look_again(self) -> None:
        """Examine now, as the person wants it, unless that or a build is under way."""
        if self._begin_examining():
            self.asked.emit()

    def _begin_examining(self) -> bool:
        """Begin to examine; return False where that or a build is under way."""
        if self._working or self._building is not None:
            return False
        self._working = True
        self._show_state()
        self._errands.send(lambda: self._examine(self._places), self._examined, self._failed)
        return True

    def _examined(self, checks: tuple[Check, ...]) -> None:
        self._working = False
        self._checks = tuple(sorted(checks, key=lambda check: WORST_FIRST.index(str(check.state))))
        self.notice.hide()
        self._show_checks()
        self._show_state()
        self._arrive()

    def _failed(self, error: Exception) -> None:
        self._working = False
        self.notice.say(Tone.BAD, tr("The examination itself failed: {error}", error=error or type(error).__name__))
        self.notice.show()
        self._show_state()

    # ---- what is missing ----

    @Slot()
    def lead_to_stronger(self) -> None:
        """Bring what gets a stronger sandbox into view, once it is known."""
        self._lead(Led.THERE)

    @Slot()
    def install_gvisor(self) -> None:
        """Do the same, and begin to install gVisor where Assent can do that by itself."""
        self._lead(Led.INSTALLING)

    def _lead(self, how: Led) -> None:
        self._led = how
        if self._checks and not self._working:
            self._arrive()

    def _arrive(self) -> None:
        how, self._led = self._led, Led.NOWHERE
        worth = None if how is Led.NOWHERE else stronger(self._checks)
        if worth is None:
            return
        row = self.rows[self._checks.index(worth)]
        # Later: rows that have come just now have no place yet.
        QTimer.singleShot(0, row, lambda: self._scroll.ensureWidgetVisible(row))
        (row.build if row.build.isVisibleTo(row) else row.copy).setFocus(Qt.FocusReason.OtherFocusReason)
        if how is Led.INSTALLING and worth.gvisor:
            self._begin(row)

    def _begin(self, row: CheckRow) -> None:
        """Build or fetch what a row says, unless something is under way."""
        check = row.check
        if self._working or self._building is not None or check is None or not row.can_build:
            return
        steps = self._bring_gvisor if check.gvisor else partial(self._build, check.images)
        building = self._building = Building(steps)
        self._at = row
        self.trouble.hide()
        self._step(0.0, "starting")
        self._show_state()

        def tell(step: Progress) -> None:
            self._errands.tell(lambda now: self._step(now.part, f"{now.image}: {now.doing}"), step)

        self._errands.send(lambda: building.run(tell), lambda _: self._over(), self._not_built)

    @Slot()
    def stop(self) -> None:
        """End the build; it says when it has cleaned up."""
        if self._building is not None:
            self._building.stop()
            if self._at is not None:
                self._at.show_stopping()

    @Slot()
    def leave(self) -> None:
        """End a build that is under way, where that is quick, because the console is closing."""
        if self._building is not None:
            self._building.stop()
            self._building.over.wait(LEAVING_SECONDS)

    def _step(self, part: float, doing: str) -> None:
        if self._at is not None and self._at.stop.isEnabled():
            self._at.show_step(part, doing)

    def _not_built(self, error: Exception) -> None:
        check = None if self._at is None else self._at.check
        what = tr("gVisor was not installed") if check is not None and check.gvisor else tr("Not built")
        self.trouble.say(Tone.BAD, f"{what}: {error or type(error).__name__}")
        self.trouble.show()
        self._over()

    def _over(self) -> None:
        self._building = self._at = None
        for row in self.rows:
            row.show_built()
        self.built.emit()
        self._begin_examining()

    @Slot()
    def _copy(self) -> None:
        to_clipboard("\n".join(map(_line, self._checks)) + "\n")

    # ---- painting the state ----

    def _show_state(self) -> None:
        self.again.setEnabled(not self._working and self._building is None)
        for row in self.rows:
            row.build.setEnabled(not self._working and self._building is None)
        self.copy.setEnabled(bool(self._checks))
        self.summary.setText(self._words())
        first = self._working and not self._checks
        self._pages.setCurrentWidget(self.working if first else self._scroll)

    def _words(self) -> str:
        if self._building is not None:
            return tr("Fetching and building\N{HORIZONTAL ELLIPSIS}")
        if self._working:
            return tr("Examining\N{HORIZONTAL ELLIPSIS}")
        bad = sum(str(check.state) == "bad" for check in self._checks)
        warned = sum(str(check.state) == "warn" for check in self._checks)
        if not self._checks:
            return ""
        if not bad and not warned:
            works = sum(str(check.state) == "ok" for check in self._checks)
            return (
                plural(
                    "{works} of {count} check work, the others are not in use. Nothing to do.",
                    "{works} of {count} checks work, the others are not in use. Nothing to do.",
                    len(self._checks),
                    works=numeral(works),
                )
                if works < len(self._checks)
                else plural("{count} check, nothing to do.", "{count} checks, nothing to do.", len(self._checks))
            )
        parts = [tr("{bad} not working", bad=bad)] * bool(bad) + [tr("{warned} to look at", warned=warned)] * bool(
            warned
        )
        return plural(
            "{parts}, of {count} check.", "{parts}, of {count} checks.", len(self._checks), parts=", ".join(parts)
        )

    def _show_checks(self) -> None:
        """Show checks in the rows that exist, so that the focus stays where it was."""
        while len(self.rows) < len(self._checks):
            self.rows.append(CheckRow(self._look))
            self.rows[-1].build_wanted.connect(partial(self._begin, self.rows[-1]))
            self.rows[-1].stop_wanted.connect(self.stop)
            self._scroll.column.addWidget(self.rows[-1])
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(self._checks))
            if number < len(self._checks):
                row.show_check(self._checks[number])

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(plain_label(tr("Doctor"), "title"), 1)
        head.addWidget(self.copy)
        head.addWidget(self.again)
        self._scroll = ScrollColumn(tr("Checks"))
        self._scroll.column.setContentsMargins(0, 0, px(6), 0)
        self._scroll.column.setSpacing(px(2))
        self._pages = QStackedWidget()
        self._pages.addWidget(self.working)
        self._pages.addWidget(self._scroll)
        card = QFrame()
        card.setProperty("card", True)
        column = QVBoxLayout(card)
        column.setContentsMargins(px(16), px(14), px(10), px(12))
        column.setSpacing(px(10))
        column.addLayout(head)
        column.addWidget(self.summary)
        column.addWidget(self.notice)
        column.addWidget(self.trouble)
        column.addWidget(self._pages, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(card)
        self.notice.hide()
        self.trouble.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous() and not self._checks:
            self._begin_examining()


def examine_here(places: Places, secrets: Callable[[], Secrets | None] = lambda: None) -> tuple[Check, ...]:
    """Return the real examination, to its end. Blocks for as long as it takes to start a sandbox.

    `secrets` returns those of the engine, None as long as there is none.
    """
    from runner.commands.doctor import examine
    from runner.settings.loading import load

    return asyncio.run(examine(places, load(places, os.environ), secrets()))


def build_here(images: Sequence[str]) -> AsyncGenerator[Progress]:
    """The real builder, for the sandboxes of this machine."""
    from runner.sandbox import image_stores
    from runner.settings.loading import load
    from runner.system.places import Places

    return image_stores.build(images, load(Places.standard(), os.environ).settings)


def bring_gvisor_here() -> AsyncGenerator[Progress]:
    """What really fetches gVisor, for the sandboxes of this machine."""
    from runner.sandbox import image_stores
    from runner.settings.loading import load
    from runner.system.places import Places

    return image_stores.bring_gvisor(load(Places.standard(), os.environ).settings)


def _line(check: Check) -> str:
    fix = tr(" Fix: {fix}", fix=check.fix) if check.fix else ""
    return f"[{check.state}] {check.name}: {check.what}{fix}"
