"""The page of settings: a form made from their declarations, saved into the person's own file."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.link.background import Errands
from app.link.page_tasks import PageTasks
from app.look.look import Motion, Theme
from app.parts.clearing import clearable
from app.parts.column import ScrollColumn
from app.parts.confirm import ConfirmDialog
from app.parts.empty import EmptyState
from app.parts.notice import Notice, Tone
from app.parts.plain import plain_label
from app.settings.consent import Consent
from app.settings.form import Form
from app.settings.own_seccomp import SeccompCheck
from app.settings.pin import PinRow
from app.settings.registry_hosts import TOOLS, RegistryHosts, read_hosts
from app.settings.row import SettingRow
from app.settings.section_list import SectionList
from app.settings.words import problems_of, title_of
from runner.approval.deliberate import ApproveBy
from runner.model.errors import KnownError
from runner.model.translation import plural, tr, translated
from runner.settings.loading import Loaded, load, save

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Mapping

    from PySide6.QtGui import QResizeEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from runner.network.registries import ToolHosts
    from runner.system.places import Places

NARROW = 620
"""Width below which the fields stand under the words."""
BESIDE = 860
"""Width from which on the list of sections stands beside the form."""


class SettingsPanel(QWidget):
    """Reads and writes the file on a thread of its own. What was typed stays until it is saved or reverted."""

    saved = Signal()
    """They are in the file."""
    reloaded = Signal()
    """The engine has taken up those that need no restart."""

    def __init__(self, bridge: EngineLink, look: Look, places: Places, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._look = look
        self._places = places
        self._environment: Mapping[str, str] = dict(os.environ)
        self._errands = Errands("settings", self)
        self._tasks = PageTasks("settings", self)
        self._form: Form | None = None
        self._saving = False
        self._wanted = ""
        self.rows: dict[str, SettingRow] = {}
        self._groups: list[tuple[QFrame, list[SettingRow]]] = []
        self._scroll = ScrollColumn(tr("Settings"))
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.sections = SectionList(look, self._scroll)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search settings"))
        self.search.setAccessibleName(tr("Search settings"))
        clearable(self.search, look)
        self.problems = Notice(look, Tone.WARN, "")
        self.remarks = Notice(look, Tone.INFO, "", closable=True)
        self.notice = Notice(look, Tone.INFO, "", closable=True)
        self.pin = PinRow(bridge, look)
        self.registries: dict[str, RegistryHosts] = {}
        self._tool_hosts: dict[str, ToolHosts] = {}
        self._consent = Consent(self, bridge, look)
        self._seccomp = SeccompCheck(self, look)
        self.state = plain_label(role="muted", wrap=True)
        self.revert = QPushButton(tr("Revert"))
        self.save = QPushButton(tr("Save"))
        self.save.setProperty("kind", "primary")
        for button in (self.revert, self.save):
            button.setAutoDefault(False)
        self.reading = EmptyState(look, "settings", tr("Reading the settings"), tr("This takes a moment."))
        self.nothing = EmptyState(look, "search", tr("No setting found"), tr("Try another word, or clear the search."))
        self._lay_out()
        self._connect()
        self._show_state()

    @property
    def form(self) -> Form | None:
        """None until the settings have been read."""
        return self._form

    @Slot()
    def look_again(self) -> None:
        """Read the file again; what was typed stays."""
        self.pin.look_again()
        self._errands.send(self._load, self._loaded, self._not_loaded)

    def reveal(self, name: str) -> None:
        """Bring one setting into view, with the focus on its field; also where they are still being read."""
        self._wanted = name
        self.search.clear()
        if self._form is not None:
            # After the layout has had its turn: before that nothing has a place yet.
            QTimer.singleShot(0, self, self._go_to_wanted)

    # ---- reading ----

    def _load(self) -> Loaded:
        return load(self._places, self._environment)

    def _loaded(self, loaded: Loaded) -> None:
        if self._form is None:
            self._form = Form(loaded, self._environment, self._places.settings.name)
            self._build_rows(self._form)
        else:
            self._form.take_over(loaded)
        for row in self.rows.values():
            row.show_state(fill=True)
        _tell(self.problems, Tone.WARN, problems_of(loaded))
        _tell(self.remarks, Tone.INFO, "\n".join(loaded.remarks))
        self._filter()
        self._show_state()
        named: dict[str, tuple[str, ...]] = {name: getattr(loaded.settings, name) for name in TOOLS}
        self._errands.send(lambda: read_hosts(named), self._know_hosts, self._not_loaded)
        if self._wanted:
            self.reveal(self._wanted)

    def _not_loaded(self, error: Exception) -> None:
        self._saving = False
        self._show_state()
        _tell(self.notice, Tone.BAD, str(error))

    # ---- what the tools of this machine say ----

    def _know_hosts(self, found: dict[str, ToolHosts]) -> None:
        self._tool_hosts = found
        self._show_hosts()

    def _show_hosts(self) -> None:
        for name, hosts in self._tool_hosts.items():
            self.registries[name].show_hosts(hosts, self._hosts_in(name))

    def _hosts_in(self, name: str) -> tuple[str, ...]:
        assert self._form is not None
        value = self._form.value(name)
        return value if isinstance(value, tuple) else ()

    @Slot(str, object)
    def _add_hosts(self, name: str, more: tuple[str, ...]) -> None:
        """Type the default of a tool into the field; it counts once it is saved, which asks as for any setting."""
        assert self._form is not None
        here = self._hosts_in(name)
        self._form.put(name, (*here, *(one for one in more if one not in here)))
        self.notice.hide()
        self.rows[name].show_state(fill=True)
        self._show_state()
        self.save.setFocus()

    # ---- typing ----

    @Slot(str, object)
    def _typed(self, name: str, raw: object) -> None:
        assert self._form is not None
        self._form.put(name, raw)
        self.notice.hide()
        self._show_state()
        if name in ("theme", "motion"):
            self._show_theme()
        elif name == "secrets_file" and raw is True:
            self._ask_agreement()

    @Slot(str)
    def _reset(self, name: str) -> None:
        assert self._form is not None
        self._form.reset(name)
        self.rows[name].show_state(fill=True)
        self.rows[name].focus_field()
        self._show_state()
        if name in ("theme", "motion"):
            self._show_theme()

    @Slot()
    def _revert(self) -> None:
        assert self._form is not None
        self._form.revert()
        for row in self.rows.values():
            row.show_state(fill=True)
        self._show_state()
        self._show_theme()
        self.search.setFocus()

    def _show_theme(self) -> None:
        """Show the chosen theme at once, before it is saved, so that one can choose by looking."""
        assert self._form is not None
        self._look.choose(Theme(self._form.value("theme")))
        self._look.choose_motion(Motion(self._form.value("motion")))

    def _ask_agreement(self) -> None:
        what = tr(
            "Where this system has no keyring, secrets will be in {secrets}, not encrypted. Only "
            "your user may read the file (mode 0600), and so may every program that runs as you.",
            secrets=self._places.secrets,
        )
        ConfirmDialog(self.window(), tr("Keep secrets in a file?"), what, tr("I agree"), self._agreed).open()

    def _agreed(self, yes: bool) -> None:
        if not yes and self._form is not None:
            self._form.put("secrets_file", self._form.in_force("secrets_file"))
            self.rows["secrets_file"].show_state(fill=True)
            self._show_state()

    # ---- saving ----

    @Slot()
    def _save(self) -> None:
        form = self._form
        if form is None or self._saving or form.wrong or not form.changes:
            return
        refuse = partial(_tell, self.notice, Tone.BAD)

        def confirm(changes: Mapping[str, object]) -> None:
            declared = [self.rows[name].declared for name in changes]
            self._consent.ask(form, declared, lambda: self._write(changes), refuse)

        self._seccomp.ask(form, confirm, refuse)

    def _write(self, changes: Mapping[str, object]) -> None:
        if self._saving:
            return
        restart = [title_of(name) for name in changes if self.rows[name].declared.restart]

        def work() -> Loaded:
            save(self._places, changes)
            return self._load()

        self._saving = True
        self._show_state()
        self._errands.send(work, lambda loaded: self._saved(loaded, restart), self._not_saved)

    def _saved(self, loaded: Loaded, restart: list[str]) -> None:
        self._saving = False
        self._loaded(loaded)
        self._tasks.start("reload", self._reload(self._bridge.reload_settings()))
        self._show_theme()
        self._look.next_scale = int(loaded.settings.text_size) / 100
        words = tr("Saved.")
        if restart:
            words = tr("Saved. Start Assent again for {listed} to count.", listed=_listed(restart))
        _tell(self.notice, Tone.INFO if restart else Tone.GOOD, words)
        self.saved.emit()

    async def _reload(self, answer: Future[None]) -> None:
        try:
            await answer
        except KnownError as error:
            _tell(self.notice, Tone.BAD, tr("Saved, but not in use yet: {error}", error=error))
        else:
            self.reloaded.emit()

    def _not_saved(self, error: Exception) -> None:
        self._saving = False
        self._show_state()
        what = str(error) if isinstance(error, KnownError) else tr("The settings were not saved: {error}", error=error)
        _tell(self.notice, Tone.BAD, what)

    # ---- painting the state ----

    def _show_state(self) -> None:
        form = self._form
        changes = len(form.changes) if form else 0
        wrong = form.wrong if form else ()
        for row in self.rows.values():
            row.show_state()
        if form is not None:
            self._show_hosts()
        self.pin.want(form is not None and form.value("approve_by") == ApproveBy.PIN)
        if self._saving:
            words = tr("Saving\N{HORIZONTAL ELLIPSIS}")
        elif wrong:
            words = tr("Cannot be saved yet: {listed}.", listed=_listed([title_of(name) for name in wrong]))
        elif changes:
            words = plural("{count} change not saved.", "{count} changes not saved.", changes)
        else:
            words = tr("File: {settings}", settings=self._places.settings)
        self.state.setText(words)
        self.save.setEnabled(bool(changes) and not wrong and not self._saving)
        self.revert.setEnabled(bool(changes) and not self._saving)

    @Slot()
    def _filter(self) -> None:
        words = self.search.text().lower().split()
        found = False
        for frame, rows in self._groups:
            matching = [row for row in rows if row.matches(words)]
            for row in rows:
                row.setVisible(row in matching)
            frame.setVisible(bool(matching))
            found = found or bool(matching)
        self.sections.follow()
        page: QWidget = self.reading if self._form is None else self._scroll if found else self.nothing
        self._pages.setCurrentWidget(page)

    @Slot()
    def _go_to_wanted(self) -> None:
        row = self.rows.get(self._wanted)
        self._wanted = ""
        if row is not None:
            self._scroll.ensureWidgetVisible(row, 0, self._scroll.viewport().height() // 3)
            row.focus_field()
            self.sections.reach(row)

    # ---- building ----

    def _build_rows(self, form: Form) -> None:
        px = self._look.px
        column = self._scroll.column
        column.setContentsMargins(0, 0, px(6), 0)
        column.setSpacing(px(10))
        for one in form.offered:
            row = self.rows[one.name] = SettingRow(one, form, self._look)
            row.typed.connect(self._typed)
            row.reset_wanted.connect(self._reset)
            row.fold(self._folded)
            if one.name == "approve_by":
                row.attach(self.pin)
            elif one.name in TOOLS:
                hosts = self.registries[one.name] = RegistryHosts(one.name, self._look)
                hosts.wanted.connect(self._add_hosts)
                row.attach(hosts)
            if not self._groups or self._groups[-1][1][-1].declared.group != one.group:
                frame = self._make_group(one.group)
                self._groups.append((frame, []))
                column.addWidget(frame)
            self._groups[-1][1].append(row)
            layout = self._groups[-1][0].layout()
            assert layout is not None
            layout.addWidget(row)
        self.sections.show_sections((translated(rows[0].declared.group), frame) for frame, rows in self._groups)
        self._fold()

    def _make_group(self, name: str) -> QFrame:
        px = self._look.px
        frame = QFrame()
        frame.setProperty("card", True)
        inner = QVBoxLayout(frame)
        inner.setContentsMargins(px(16), px(12), px(16), px(10))
        inner.setSpacing(px(4))
        inner.addWidget(plain_label(translated(name), "title"))
        return frame

    def _lay_out(self) -> None:
        px = self._look.px
        head, foot = QHBoxLayout(), QHBoxLayout()
        for line in (head, foot):
            line.setContentsMargins(px(4), 0, px(6), 0)
            line.setSpacing(px(8))
        head.addWidget(plain_label(tr("Settings"), "title"))
        head.addStretch(1)
        head.addWidget(self.search, 2)
        foot.addWidget(self.state, 1)
        foot.addWidget(self.revert)
        foot.addWidget(self.save)
        self._pages = QStackedWidget()
        for page in (self.reading, self.nothing, self._scroll):
            self._pages.addWidget(page)
        both = QHBoxLayout()
        both.setSpacing(px(12))
        both.addWidget(self.sections)
        both.addWidget(self._pages, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(8))
        column.addLayout(head)
        for notice in (self.problems, self.remarks):
            column.addWidget(notice)
        column.addLayout(both, 1)
        column.addWidget(self.notice)  # above the rows it would move them
        column.addLayout(foot)
        for notice in (self.problems, self.remarks, self.notice):
            notice.hide()
        self.sections.hide()

    def _connect(self) -> None:
        self.search.textChanged.connect(self._filter)
        self.revert.clicked.connect(self._revert)
        self.save.clicked.connect(self._save)
        for keys, act in (("Ctrl+S", self._save), ("Ctrl+F", self.search.setFocus)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)

    @property
    def _folded(self) -> bool:
        return self.width() < self._look.px(NARROW)

    def _fold(self) -> None:
        """Show the list of sections where there is room for it; else the fields under the words where need be."""
        self.sections.setVisible(bool(self._groups) and self.width() >= self._look.px(BESIDE))
        for row in self.rows.values():
            row.fold(self._folded)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.look_again()


def _tell(notice: Notice, tone: Tone, text: str) -> None:
    notice.say(tone, text)
    notice.setVisible(bool(text))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else tr("{names} and {names_2}", names=", ".join(names[:-1]), names_2=names[-1])
