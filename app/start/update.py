"""Notices that an update has replaced the files of Assent while it is open (an upgrade of the package)."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.look import drawings
from runner.risk.on_demand import ON_DEMAND
from runner.system import installed

if TYPE_CHECKING:
    from pathlib import Path

    from app.link.background import Errands

LOOK_MS = 10_000
LATER = (
    "app.agents.panel",
    "app.host_access.run_hosts",
    "app.chrome.faultview",
    "app.chrome.keys",
    "app.chrome.past",
    "app.doctor.panel",
    "app.first_start.panel",
    "app.help.panel",
    "app.history.panel",
    "app.look.motion",
    "app.notify.desktop",
    "app.notify.notices",
    "app.notify.tray",
    "app.parts.text.bounded_lexers",
    "app.prompt.window",
    "app.remembering.dialog",
    "app.remembering.panel",
    "app.remembering.words",
    "app.results.thumbnails",
    "app.review.batch",
    "app.running.panel",
    "app.settings.panel",
    "app.settings.removing",
    "app.settings.words",
    "app.start.login",
    "app.today.agent_days",
    "app.today.panel",
    "app.work.panel",
    "app.work.project_hosts",
    "app.work.starting",
    "detect_secrets.core.plugins.util",
    "detect_secrets.filters.heuristic",
    "detect_secrets.plugins.base",
    "detect_secrets.plugins.high_entropy_strings",
    "detect_secrets.plugins.keyword",
    "keyring.backends.chainer",
    "keyring.errors",
    "pygments.token",
    "ruamel.yaml",
    "ruamel.yaml.comments",
    "ruamel.yaml.error",
    "runner.audit.files.captures",
    "runner.commands.doctor",
    "runner.commands.fixes",
    "runner.engine.foundation.opening",
    "runner.gateway.server",
    "runner.gateway.own_command",
    "runner.gateway.snippets",
    "runner.sandbox.docker.sdk",
    "runner.sandbox.image_stores",
    "tomlkit",
    "tomlkit.exceptions",
    "yaml",
    "runner.risk.javascript.erased",
    "runner.risk.rules.written",
    *ON_DEMAND,
)
"""Modules that the console imports only when they are wanted: after an update that would be other code than the rest.

A test holds this list against the imports inside functions.
"""


class Update(QObject):
    """Looks at the file that the last step of an update replaces. In a checkout it does nothing."""

    replaced = Signal(str)
    """The version that is installed now; once for each."""

    def __init__(self, errands: Errands, version_file: Path | None = None, parent: QObject | None = None) -> None:
        """`version_file` is that of the installed folder by default."""
        super().__init__(parent)
        folder = installed.folder()
        self._file = version_file or (folder / installed.VERSION_FILE if folder is not None else None)
        self._errands = errands
        self._known = self._identity()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)

    def begin(self) -> None:
        """Load what would be imported later, and look from now on."""
        if self._file is not None:
            self._errands.send(load_all, lambda _: None, lambda _: None)
            self._timer.start()

    @Slot()
    def look(self) -> None:
        """Look now; while an update is under way the file may not be there."""
        now = self._identity()
        if now is not None and now != self._known:
            self._known = now
            self.replaced.emit(now[-1])

    def _identity(self) -> tuple[int, int, str] | None:
        """Return what changes with every update: of two with the same version, the file's own number."""
        if self._file is None:
            return None
        try:
            facts = self._file.stat()
            return facts.st_ino, facts.st_mtime_ns, self._file.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None


def load_all() -> None:
    """Import everything in `LATER`, and read the drawings; what this system lacks is left out, as it would be later."""
    drawings.read_all()
    for name in LATER:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
