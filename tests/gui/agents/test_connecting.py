"""A program is connected in the window: its tile, the difference, Connect, the first call, Undo."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from app.agents.connecting import GUARDED, HOOKED, UNGUARDED, UNHOOKED, Connecting
from app.state.cards import Cards
from runner.clients.differences import TOKEN
from tests.gui.client_files import ClientFiles
from tests.gui.feed import turn

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from app.look.look import Look

THEIRS = "# mine\n"


@pytest.fixture
def files(tmp_path: Path) -> ClientFiles:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text(THEIRS)
    return ClientFiles(tmp_path)


@pytest.fixture
def page(qtbot: QtBot, look: Look, files: ClientFiles) -> Connecting:
    page = Connecting(files, Cards(), look)
    qtbot.addWidget(page)
    page.resize(900, 500)
    page.show()
    page.open()
    turn()
    return page


def test_the_tiles_take_the_room_there_is_and_no_more(page: Connecting) -> None:
    for width in (1280, 2000, 700):
        page.resize(width, 500)
        turn()
        assert page.width() == width, "they keep it wider"
        edges = [tile.mapTo(page, tile.rect().topRight()).x() for tile in page.tiles]
        assert max(edges) < width - page._look.px(16)


def click(page: Connecting, text: str) -> None:
    """Press a tile or a button by its first line."""
    buttons: list[Any] = [*page.tiles, page.back, page.undo, page.go]
    next(button for button in buttons if button.text().split("\n")[0] == text).click()
    turn()


def test_installed_programs_come_first(page: Connecting) -> None:
    assert [tile.text().split("\n")[0] for tile in page.tiles[:3]] == ["Codex", "Gemini CLI", "Claude Code"]
    assert page.tiles[0].text().endswith("installed") and page.tiles[2].text().endswith("not found")
    assert not page.go.isVisible()


def test_it_is_shown_written_called_and_undone(page: Connecting, files: ClientFiles) -> None:
    config = files.home / ".codex/config.toml"
    click(page, "Codex")
    assert "\n+[mcp_servers.assent]\n" in page.text.toPlainText() and config.read_text() == THEIRS
    click(page, "Connect")
    found = TOKEN.search(config.read_text())
    assert found is not None and not TOKEN.search(page.text.toPlainText())
    assert page.title.text() == "Codex: waiting for its first call"
    (agent,) = files.agents.all()
    page._cases.know_agents((agent,))
    assert page.title.text().endswith("waiting for its first call"), "it has not called"
    page._cases.know_agents((replace(agent, last_seen=time.time() + 1),))
    assert page.title.text() == "Codex is connected"
    click(page, "Undo")
    assert "-[mcp_servers.assent]" in page.text.toPlainText() and found[0] in config.read_text()
    click(page, "Disconnect")
    assert config.read_text() == THEIRS
    assert [agent.revoked for agent in files.agents.all()] == [True]
    assert page.tiles[0].text() == "Codex\ninstalled"


def test_the_hook_is_shown_before_it_is_written(page: Connecting, files: ClientFiles) -> None:
    click(page, "Codex")
    assert page.hook.isVisible() and "hook codex" not in page.text.toPlainText()
    assert page.about_hook.isVisible() and page.about_hook.text() == UNGUARDED
    page.hook.click()
    turn()
    assert page.about_hook.text().startswith(GUARDED)
    assert "A project can switch the guard off: .codex/config.toml (features.hooks)" in page.about_hook.text()
    assert "hook codex" in page.text.toPlainText()
    click(page, "Connect")
    assert "hook codex" in (files.home / ".codex/config.toml").read_text()
    click(page, "Back")
    click(page, "Codex")
    assert not page.hook.isVisible() and page.about_hook.text().startswith(HOOKED), "no box that is off for what is on"


def test_a_file_that_cannot_be_changed_is_explained_and_nothing_can_be_connected(
    page: Connecting, files: ClientFiles
) -> None:
    (files.home / ".codex/config.toml").write_text("a = \n")
    click(page, "Codex")
    assert "Nothing was changed." in page.sentence.text()
    assert page.go.text() != "Connect" and not page.text.isVisible()


def test_a_program_without_hooks_offers_none(page: Connecting) -> None:
    click(page, "Zed")
    assert not page.hook.isVisible() and page.about_hook.text() == UNHOOKED
    click(page, "Back")
    assert not page.about_hook.isVisible()


def test_back_leads_to_the_tiles_and_out(page: Connecting, qtbot: QtBot) -> None:
    click(page, "Codex")
    click(page, "Back")
    assert page.tiles[0].isVisible()
    with qtbot.waitSignal(page.done):
        click(page, "Back")
