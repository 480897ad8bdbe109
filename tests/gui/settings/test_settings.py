"""The page of settings: what it offers, what it takes, and what it writes into the person's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from app.link.background import Errands
from app.look.look import Look, Theme
from app.parts.confirm import ConfirmDialog
from app.settings.form import Form
from app.settings.panel import SettingsPanel
from app.settings.section_list import reading_line
from app.settings.words import TITLES
from runner.network.registries import NO_NPM, ToolHosts
from runner.settings.loading import Settings, SettingSource, declared, load
from tests.gui import feed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from runner.system.places import Places


def write(places: Places, text: str) -> None:
    places.settings.write_text(text)


@pytest.fixture
def bridge() -> feed.RecordingBridge:
    return feed.RecordingBridge()


@pytest.fixture
def opened(
    qtbot: QtBot, look: Look, places: Places, bridge: feed.RecordingBridge
) -> Iterator[Callable[[], SettingsPanel]]:
    """Opens the page, once the file is as the test wants it."""
    made: list[SettingsPanel] = []

    def open_page() -> SettingsPanel:
        panel = SettingsPanel(bridge, look, places)  # type: ignore[arg-type]
        made.append(panel)
        qtbot.addWidget(panel)
        panel.resize(900, 600)
        with qtbot.waitActive(panel):
            panel.show()
        qtbot.waitUntil(lambda: panel.form is not None)
        return panel

    yield open_page
    for panel in made:
        for errands in panel.findChildren(Errands):
            errands.close()


def field(panel: SettingsPanel, name: str) -> Any:
    editor: Any = panel.rows[name].editor
    return editor.field if hasattr(editor, "field") else editor.box


def type_into(qtbot: QtBot, panel: SettingsPanel, name: str, text: str) -> None:
    field(panel, name).selectAll()
    qtbot.keyClicks(field(panel, name), text)


def saved(qtbot: QtBot, panel: SettingsPanel) -> None:
    with qtbot.waitSignal(panel.saved):
        panel.save.click()


# ---- what is offered ----


def test_what_does_nothing_yet_is_not_offered(opened: Callable[[], SettingsPanel]) -> None:
    panel = opened()
    assert set(panel.rows) == {one.name for one in declared() if not one.idle}
    assert "shell_packages" not in panel.rows and "network_by_default" in panel.rows


def test_every_sandbox_is_offered(opened: Callable[[], SettingsPanel], monkeypatch: pytest.MonkeyPatch) -> None:
    box = field(opened(), "sandbox_type")
    assert [box.itemData(index) for index in range(box.count())] == [
        "auto",
        "local",
        "docker",
        "gvisor-direct",
        "gvisor",
        "e2b",
    ]
    monkeypatch.setenv("SANDBOX_TYPE", "e2b")
    assert field(opened(), "sandbox_type").currentText() == "E2B, elsewhere"


def test_groups_are_those_declared_in_their_order(opened: Callable[[], SettingsPanel]) -> None:
    panel = opened()
    groups = [rows[0].declared.group for _, rows in panel._groups]
    assert groups == list(dict.fromkeys(one.group for one in declared() if not one.idle))


def test_titles_are_of_settings_that_exist() -> None:
    assert set(TITLES) <= {one.name for one in declared()}


def test_sources_are_reported(
    opened: Callable[[], SettingsPanel], places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(places, "security:\n  level: strict\n  sandbox:\n    limits: {max_disk_mb: 512}\n")
    monkeypatch.setenv("SANDBOX_MAX_OUTPUT_KB", "20")
    panel = opened()
    assert panel.rows["max_code_kb"].origin.text() == "Default"
    assert panel.rows["memory_mb"].origin.text() == "From security level Strict"
    assert panel.rows["disk_mb"].origin.text() == "Set in assent.yaml"
    assert "SANDBOX_MAX_OUTPUT_KB" in panel.rows["max_output_kb"].origin.text()
    assert field(panel, "memory_mb").text() == "256"


def test_what_the_environment_sets_is_fixed(
    opened: Callable[[], SettingsPanel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_MAX_OUTPUT_KB", "20")
    panel = opened()
    assert not field(panel, "max_output_kb").isEnabled()
    assert field(panel, "max_output_kb").text() == "20"
    assert field(panel, "memory_mb").isEnabled()


def test_problems_of_the_file_are_said(opened: Callable[[], SettingsPanel], places: Places) -> None:
    write(places, "security:\n  sandbox:\n    wrong: 1\n")
    panel = opened()
    assert panel.problems.isVisible()
    assert panel.problems.text.startswith("assent.yaml, line 3: security.sandbox.wrong is no setting.")
    assert "every request asks you" in panel.problems.text


def test_the_search_finds_by_title_name_sentence_and_variable(opened: Callable[[], SettingsPanel]) -> None:
    panel = opened()
    for words, name in (
        ("keep artifacts", "store_code"),
        ("store_code", "store_code"),
        ("keyring file", "secrets_file"),
        ("sandbox_timeout_sec", "timeout_seconds"),
    ):
        panel.search.setText(words)
        assert name in [row.declared.name for row in panel.rows.values() if row.isVisible()], words
        assert not panel.rows["port"].isVisible()
    panel.search.setText("no such thing at all")
    assert panel.nothing.isVisible()
    panel.search.clear()
    assert panel.rows["port"].isVisibleTo(panel)


def test_the_wheel_scrolls_past_a_choice(opened: Callable[[], SettingsPanel]) -> None:
    panel = opened()
    box = field(panel, "sandbox_type")
    box.setFocus()
    turned = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(box, turned)
    assert box.currentData() == "auto"
    assert panel.form is not None
    assert not panel.form.changes


# ---- typing ----


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("timeout_seconds", "abc", "'abc' is not a number."),
        ("timeout_seconds", "0", "0 is not between 0.1 and 86,400."),
        ("memory_mb", "16.5", "'16.5' is not a whole number."),
        ("timeout_seconds", "7200", "This is more than Most time, 3600 s."),
        ("max_memory_mb", "64", "This is less than Memory, 512 MB."),
    ],
)
def test_what_cannot_be_used_is_said_at_once_and_not_saved(
    qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places, name: str, text: str, said: str
) -> None:
    write(places, "security:\n  sandbox:\n    limits: {max_memory_mb: 512}\n")
    panel = opened()
    type_into(qtbot, panel, name, text)
    assert panel.rows[name].error.text() == said
    assert panel.rows[name].error.isVisibleTo(panel)
    assert said in field(panel, name).accessibleDescription()
    assert not panel.save.isEnabled()
    assert panel.revert.isEnabled()


def test_typing_the_same_again_is_no_change(qtbot: QtBot, opened: Callable[[], SettingsPanel]) -> None:
    panel = opened()
    type_into(qtbot, panel, "timeout_seconds", "31")
    assert panel.save.isEnabled()
    type_into(qtbot, panel, "timeout_seconds", "30.0")
    assert not panel.save.isEnabled()


def test_revert_forgets_what_was_typed(qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places) -> None:
    panel = opened()
    type_into(qtbot, panel, "timeout_seconds", "77")
    panel.revert.click()
    assert field(panel, "timeout_seconds").text() == "30"
    assert not panel.save.isEnabled()
    assert not places.settings.exists()


def test_what_was_typed_outlives_another_look_at_the_file(
    qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places
) -> None:
    panel = opened()
    type_into(qtbot, panel, "timeout_seconds", "77")
    write(places, "security:\n  sandbox:\n    limits: {max_memory_mb: 700}\n")
    panel.look_again()
    qtbot.waitUntil(lambda: field(panel, "memory_mb").text() == "700")
    assert field(panel, "timeout_seconds").text() == "77"
    assert panel.save.isEnabled()


# ---- saving ----


def test_saving_writes_only_what_changed_and_keeps_comments(
    qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places, bridge: feed.RecordingBridge
) -> None:
    write(places, "# mine\nsecurity:\n  sandbox:\n    limits:\n      max_memory_mb: 700  # enough\n")
    panel = opened()
    type_into(qtbot, panel, "timeout_seconds", "45")
    saved(qtbot, panel)
    text = places.settings.read_text()
    assert "# mine" in text
    assert "# enough" in text
    assert "max_disk_mb" not in text
    assert load(places, {}).settings.timeout_seconds == 45
    assert bridge.calls == [("reload_settings",)]
    assert panel.rows["timeout_seconds"].origin.text() == "Set in assent.yaml"
    assert panel.notice.text == "Saved."
    assert not panel.save.isEnabled()


def test_what_counts_from_the_next_start_is_said(qtbot: QtBot, opened: Callable[[], SettingsPanel]) -> None:
    panel = opened()
    type_into(qtbot, panel, "port", "18000")
    saved(qtbot, panel)
    assert panel.notice.text == "Saved. Start Assent again for Port to count."


def test_reset_takes_the_entry_out_of_the_file(
    qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places
) -> None:
    write(places, "security:\n  sandbox:\n    limits: {max_memory_mb: 700, max_disk_mb: 600}\n")
    panel = opened()
    row = panel.rows["memory_mb"]
    assert row.reset.isVisibleTo(panel)
    row.reset.click()
    assert field(panel, "memory_mb").text() == "512"
    saved(qtbot, panel)
    found = load(places, {})
    assert found.sources["memory_mb"] is SettingSource.DEFAULT
    assert found.sources["disk_mb"] is SettingSource.YAML
    assert not row.reset.isVisibleTo(panel)


def test_a_file_that_cannot_be_written_is_reported_and_nothing_is_lost(
    qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places, bridge: feed.RecordingBridge
) -> None:
    panel = opened()
    type_into(qtbot, panel, "timeout_seconds", "45")
    places.settings.mkdir()
    panel.save.click()
    qtbot.waitUntil(panel.notice.isVisible)
    assert "assent.yaml" in panel.notice.text
    assert field(panel, "timeout_seconds").text() == "45"
    assert panel.save.isEnabled()
    assert bridge.calls == []


def test_lists_and_choices_are_saved(qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places) -> None:
    panel = opened()
    several: Any = panel.rows["supported_languages"].editor
    several.boxes["javascript"].click()
    type_into(qtbot, panel, "blocked_modules", "os, socket")
    box = field(panel, "security_level")
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    saved(qtbot, panel)
    found = load(places, {}).settings
    assert found.supported_languages == ("python", "shell")
    assert found.blocked_modules == ("os", "socket")
    assert found.security_level == "strict"
    assert field(panel, "memory_mb").text() == "256"


# ---- what takes effect here ----


def test_a_theme_shows_at_once_and_revert_takes_it_back(opened: Callable[[], SettingsPanel], look: Look) -> None:
    panel = opened()
    box = field(panel, "theme")
    box.setCurrentIndex(box.findData("dark"))
    box.activated.emit(box.currentIndex())
    assert look.theme is Theme.DARK
    panel.revert.click()
    assert look.theme is Theme.SYSTEM


def question(panel: SettingsPanel) -> ConfirmDialog:
    found = panel.window().findChild(ConfirmDialog)
    assert found is not None
    return found


def test_a_file_for_secrets_wants_an_agreement(
    qtbot: QtBot, opened: Callable[[], SettingsPanel], places: Places
) -> None:
    panel = opened()
    field(panel, "secrets_file").click()
    assert str(places.secrets) in question(panel).accessibleDescription()
    question(panel).yes.click()
    saved(qtbot, panel)
    assert load(places, {}).settings.secrets_file is True


def test_without_the_agreement_nothing_changes(opened: Callable[[], SettingsPanel]) -> None:
    panel = opened()
    field(panel, "secrets_file").click()
    question(panel).no.click()
    assert not field(panel, "secrets_file").isChecked()
    assert not panel.save.isEnabled()


def test_reveal_goes_to_a_setting_even_before_it_is_there(
    qtbot: QtBot, look: Look, places: Places, bridge: feed.RecordingBridge
) -> None:
    panel = SettingsPanel(bridge, look, places)  # type: ignore[arg-type]
    qtbot.addWidget(panel)
    panel.resize(900, 600)
    panel.reveal("secrets_file")
    with qtbot.waitActive(panel):
        panel.show()
    qtbot.waitUntil(lambda: "secrets_file" in panel.rows and field(panel, "secrets_file").hasFocus())
    row = panel.rows["secrets_file"]
    assert panel._scroll.viewport().rect().contains(row.mapTo(panel._scroll.viewport(), QPoint(0, 0)))
    panel.findChild(Errands).close()  # type: ignore[union-attr]


def test_the_form_never_offers_what_it_cannot_read_back(places: Places) -> None:
    """Every default goes through the declaration's own check."""
    form = Form(load(places, {}), {}, "assent.yaml")
    for one in form.offered:
        assert one.parse(getattr(Settings(), one.name)) == one.default
        assert form.error(one.name) == ""


def test_where_one_reads_goes_from_the_first_section_to_the_last() -> None:
    assert reading_line(0, 2000, 600) == 0 and reading_line(2000, 2000, 600) == 2600
    lines = [reading_line(value, 2000, 600) for value in range(2001)]
    assert lines == sorted(lines) and lines[1000] == 1200
    assert [reading_line(value, 10, 600) for value in (0, 10)] == [0, 610]
    assert reading_line(0, 0, 600) == 0, "all of it is in view"


def test_the_sections_beside_the_form_go_where_they_say_and_follow_it(
    opened: Callable[[], SettingsPanel], qtbot: QtBot
) -> None:
    panel = opened()
    names = [panel.sections.item(row).text() for row in range(panel.sections.count())]
    assert panel.sections.isVisible() and len(names) == len(set(names)) == len(panel._groups) > 4
    panel.sections.setFocus()
    qtbot.keyClick(panel.sections, Qt.Key.Key_Down)
    bar = panel._scroll.verticalScrollBar()
    assert panel.sections.currentRow() == 1 and bar.value() == panel._groups[1][0].y() > 0
    bar.setValue(bar.maximum())
    assert panel.sections.currentRow() == len(names) - 1
    panel.sections.setCurrentRow(len(names) - 2)
    assert panel.sections.currentRow() == len(names) - 2, "also where it cannot reach the top"
    panel.reveal("secrets_file")
    qtbot.waitUntil(lambda: names[panel.sections.currentRow()] == "Secrets")
    panel.search.setText("theme")
    shown = [name for row, name in enumerate(names) if not panel.sections.isRowHidden(row)]
    assert shown and len(shown) < len(names)
    panel.resize(560, 600)
    assert not panel.sections.isVisible(), "no room for it"


def test_the_default_registry_of_a_tool_is_added_by_one_press_and_counts_once_saved(
    opened: Callable[[], SettingsPanel], qtbot: QtBot, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = ("https://index.example/simple", "files.example")
    hosts = {
        "pypi_registries": ToolHosts(("corp.example",), default),
        "npm_registries": ToolHosts((), (), NO_NPM),
    }
    monkeypatch.setattr("app.settings.panel.read_hosts", lambda _settings: hosts)
    page = opened()
    qtbot.waitUntil(lambda: bool(page.registries["pypi_registries"].said.text()))
    python, node = page.registries["pypi_registries"], page.registries["npm_registries"]
    assert "corp.example" in python.said.text() and python.add.text() == "Add index.example"
    assert NO_NPM in node.said.text() and not node.add.isVisibleTo(node)
    before = places.settings.read_text() if places.settings.exists() else ""
    python.add.click()
    assert page.form is not None and page.form.value("pypi_registries") == default
    assert not python.add.isVisibleTo(python) and page.save.isEnabled()
    assert (places.settings.read_text() if places.settings.exists() else "") == before, "it is typed, not saved"
    page.save.click()
    qtbot.waitUntil(lambda: places.settings.exists() and "index.example" in places.settings.read_text())
