"""All that gives, bounds or explains an approval, as one value for those who need several parts of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.approval.absence import Absence
    from runner.approval.checkpoint import Door
    from runner.approval.deciders import RequestDecider
    from runner.approval.desk import Desk
    from runner.approval.editing import Editing
    from runner.approval.hindsight import Hindsight
    from runner.approval.hosts import Hosts
    from runner.approval.late_approval import LateApprovals
    from runner.approval.modes import Modes
    from runner.approval.remembering import Remembering


@dataclass(frozen=True, slots=True)
class Approvals:
    """The parts; all share one desk, one mode and one set of circumstances."""

    desk: Desk
    door: Door
    modes: Modes
    late: LateApprovals
    remembering: Remembering
    deciders: tuple[RequestDecider, ...]
    """In the order in which they are asked."""
    hindsight: Hindsight
    editing: Editing
    hosts: Hosts
    absence: Absence

    def awoke(self) -> None:
        """End what was given until a time that passed while the machine slept."""
        self.modes.awoke()
        self.late.awoke()
        self.desk.awoke()
