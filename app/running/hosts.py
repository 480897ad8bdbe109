"""The interface by which the page of runs shows the hosts of a run and lets a person allow them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTabWidget, QWidget

    from app.state.cards import Card


class HostsOfRun(Protocol):
    """Shows the hosts of one run at a time: in a strip above its output, and in a tab beside it."""

    @property
    def strip(self) -> QWidget:
        """Return what stands above the output."""
        ...

    def join(self, tabs: QTabWidget) -> None:
        """Add the tab."""
        ...

    def show_run(self, card: Card | None) -> None:
        """Show the hosts of another run."""
        ...

    def contacted(self) -> None:
        """Take up soon what the run has tried: hosts come many at once."""
        ...

    def changed(self) -> None:
        """Take up what the run may reach by now."""
        ...

    def refresh(self) -> None:
        """Take it up now."""
        ...
