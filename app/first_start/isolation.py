"""The sandbox that runs code on this machine, in a sentence, and the one command that gets a stronger one."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from app import phrases
from app.first_start.step import FirstStep
from app.link.background import Errands
from app.parts.gauges.state_ring import RingState
from app.parts.plain import plain_label
from app.parts.text.copying import CopyButton
from runner.commands.check import stronger
from runner.model.request import Isolation
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.look.look import Look
    from app.state.cards import Cards
    from runner.commands.check import Check
    from runner.system.places import Places

WORDS = {
    Isolation.GVISOR: tr("Code runs in gVisor containers: the strongest sandbox, with a kernel of its own."),
    Isolation.GVISOR_DIRECT: tr("Code runs in gVisor without Docker: a kernel of its own, started by Assent itself."),
    Isolation.E2B: tr("Code leaves this machine: it runs at E2B, in a machine of its own that E2B promises."),
    Isolation.PLUGIN: tr(
        "Code runs in a sandbox that an installed package brings. Assent has not checked what it"
        " protects; how good that is, Settings say."
    ),
    Isolation.DOCKER: tr("Code runs in Docker containers, which share the kernel of this machine. gVisor is stronger."),
    Isolation.LOCAL: tr(
        "Code runs in the local sandbox (bubblewrap), which shares the kernel of this machine. Containers"
        " with gVisor are stronger."
    ),
    Isolation.PROCESS: tr(
        "Code runs as plain processes of your account, the weakest way: install bubblewrap or Docker."
    ),
}
STRONGEST = (Isolation.GVISOR, Isolation.GVISOR_DIRECT)
WALLED = tr(
    "Requests with network are CRITICAL, and your settings want a stronger sandbox for those: here you would have to"
    " allow each of them by itself, and what is CRITICAL for its code cannot run at all."
)
NONE = tr("No sandbox works here, so requests to run code are refused.")
LOOKING = tr("Looking for the strongest sandbox on this machine.")
BETTER = tr("To get a stronger one, run this in a terminal:")
HERE = tr("To get a stronger one, let Assent install gVisor, or run this in a terminal:")
ADVICE = tr("To get a stronger one:")
ELSEWHERE = "E2B"
"""The check of the sandbox that is on no machine of the person's."""
COMMANDS = ("sudo ", "assent ", "/")
"""How a fix begins that is a command; others are sentences."""


class IsolationStep(FirstStep):
    """Looks once, on a thread of its own, when the engine has chosen."""

    doctor_wanted = Signal()
    gvisor_wanted = Signal()

    def __init__(
        self,
        cases: Cards,
        look: Look,
        places: Places,
        may_run_critical: Callable[[Isolation], bool],
        examine: Callable[[Places], Sequence[Check]] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`may_run_critical` returns whether the settings allow CRITICAL requests in a sandbox of that kind.

        `examine` returns the doctor's checks of sandboxes; it may block. By default those of this machine.
        """
        super().__init__(look, 5, tr("Where code runs"), parent)
        self._cases = cases
        self._places = places
        self._may_run_critical = may_run_critical
        self._examine = examine or examine_here
        self._errands = Errands("isolation", self)
        self._examined = ""
        self.sentence = plain_label(LOOKING, wrap=True)
        self.elsewhere = plain_label("", "muted", wrap=True)
        self.advice = plain_label(BETTER, "muted", wrap=True)
        self.command = QLineEdit()
        self.command.setReadOnly(True)
        self.command.setFont(look.mono())
        self.command.setAccessibleName(tr("Command for a stronger sandbox"))
        self.copy = CopyButton(tr("Copy"), tr("Copy the command"))
        self.doctor = QPushButton(tr("Doctor"))
        self.doctor.setToolTip(tr("Checks this machine, with a fix for each problem"))
        self.doctor.setAutoDefault(False)
        self.doctor.clicked.connect(self.doctor_wanted)
        self.install = QPushButton(tr("Install gVisor"))
        self.install.setToolTip(tr("Fetched from Debian, whose signature is checked; the Doctor shows how far it is"))
        self.install.setAutoDefault(False)
        self.install.clicked.connect(self.gvisor_wanted)
        row = QHBoxLayout()
        row.setSpacing(look.px(8))
        row.addWidget(self.install)
        row.addWidget(self.command, 1)
        row.addWidget(self.copy)
        row.addWidget(self.doctor)
        row.addStretch()
        self.column.addWidget(self.sentence)
        self.column.addWidget(self.elsewhere)
        self.column.addWidget(self.advice)
        self.column.addLayout(row)
        self._show_fix("")
        self.elsewhere.hide()
        cases.sandbox_known.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Say what the engine has chosen."""
        found = str(self._cases.sandbox.get("isolation", ""))
        if found not in list(Isolation):
            self.sentence.setText(NONE if found else LOOKING)
            self.show_state(RingState.TODO)
        else:
            here = Isolation(found)
            walled = not self._may_run_critical(here)
            self.sentence.setText(f"{WORDS[here]} {WALLED}" if walled and here is not Isolation.PLUGIN else WORDS[here])
            self.show_state(RingState.TODO if walled or here is Isolation.PROCESS else RingState.DONE)
        if found and found != self._examined and self.isVisible():
            self._examined = found
            self._errands.send(lambda: self._examine(self._places), self._show, lambda _: None)

    def _show(self, checks: Sequence[Check]) -> None:
        worth = None if self._examined in STRONGEST else stronger(checks)
        self._show_fix("" if worth is None else worth.fix, worth is not None and worth.gvisor)
        unused = [check.what for check in checks if check.name == ELSEWHERE and self._examined != Isolation.E2B]
        self.elsewhere.setText(phrases.visible("".join(unused)))
        self.elsewhere.setVisible(bool(unused))

    def _show_fix(self, fix: str, here: bool = False) -> None:
        """Show one fix of the doctor; '' where there is none. `here`: Assent can fetch gVisor by itself."""
        command = fix.startswith(COMMANDS)
        self.install.setVisible(here)
        self.advice.setText((HERE if here else BETTER) if command else f"{ADVICE} {phrases.visible(fix)}")
        self.advice.setVisible(bool(fix))
        self.command.setText(fix if command else "")
        self.command.setCursorPosition(0)
        self.copy.set_text_to_copy(fix if command else "")
        for part in (self.command, self.copy):
            part.setVisible(command)


def examine_here(places: Places) -> Sequence[Check]:
    """Return the doctor's checks of the sandboxes of this machine. Blocks for as long as it takes to start one."""
    from runner.commands.doctor import sandboxes
    from runner.commands.fixes import as_typed
    from runner.settings.loading import load

    return as_typed(*asyncio.run(sandboxes(places, load(places, os.environ))))
