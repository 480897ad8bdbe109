"""Below the hosts of packages: which ones pip or npm of this machine adds, and its own default by one press."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.parts.elide import ElidedLabel
from app.parts.plain import set_tip
from app.parts.text.visible_characters import visible
from runner.model.translation import tr
from runner.network.registries import of_this_machine, of_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from app.look.look import Look
    from runner.network.registries import ToolHosts

TOOLS = {"pypi_registries": "pip", "npm_registries": "npm"}
"""The tool that says where packages come from, by setting."""


class RegistryHosts(QWidget):
    """Says what counts besides the setting. A press only types into the field; it counts once it is saved."""

    wanted = Signal(str, object)
    """Name of the setting, and what is to be added."""

    def __init__(self, name: str, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._hosts: ToolHosts | None = None
        # Of one height: what it says comes after the page was laid out.
        self.said = ElidedLabel()
        self.said.setProperty("role", "small")
        self.add = QPushButton()
        self.add.setAutoDefault(False)
        kept = self.add.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.add.setSizePolicy(kept)
        self.add.hide()
        self.add.clicked.connect(self._press)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.px(4))
        column.addWidget(self.said)
        column.addWidget(self.add)

    def show_hosts(self, hosts: ToolHosts, typed: Iterable[str]) -> None:
        """Show what the tool says; `typed` is what stands in the field, saved or not."""
        self._hosts = hosts
        tool = TOOLS[self._name]
        counts = ", ".join(map(visible, hosts.counts))
        words = [hosts.problem] if hosts.problem else []
        words += (
            [tr("By now packages come from {counts}.", counts=counts)]
            if counts
            else [tr("By now packages come from nowhere.")]
        )
        new = [one for one in hosts.default if one not in typed]
        words += [tr("Added above; it counts once you save.")] if hosts.default and not new else []
        self.said.setText(" ".join(words))
        set_tip(self.said, self.said.text())
        named = visible(urlsplit(hosts.default[0]).hostname or hosts.default[0]) if hosts.default else ""
        self.add.setText(tr("Add {named}", named=named))
        self.add.setToolTip(
            tr(
                "{map}: what {tool} on this machine has by default",
                map=", ".join(map(visible, hosts.default)),
                tool=tool,
            )
        )
        self.add.setAccessibleName(tr("Add {named}, which {tool} has by default", named=named, tool=tool))
        self.add.setVisible(bool(new))

    @Slot()
    def _press(self) -> None:
        if self._hosts is not None:
            self.wanted.emit(self._name, self._hosts.default)


def read_hosts(settings: Mapping[str, tuple[str, ...]]) -> dict[str, ToolHosts]:
    """Return what the tools say, by setting; `settings` is what is in force. Reads files: blocks."""
    found = of_this_machine(settings["pypi_registries"], settings["npm_registries"])
    return dict(zip(TOOLS, of_tools(found), strict=True))
