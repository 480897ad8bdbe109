"""Clients are connected: their files are changed as it was shown, taken back, and left alone where they are hostile."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import tomllib
from typing import TYPE_CHECKING

import pytest

from runner.clients import config_file, connection
from runner.clients.client import ConfigScope
from runner.clients.connection import ClientConnections
from runner.clients.differences import MASKED, TOKEN
from runner.clients.known import BY_ID, CLIENTS
from runner.identity.agents import Agents
from runner.model.errors import KnownError
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE, CODEX = BY_ID["claude-code"], BY_ID["codex"]
THEIRS = '# mine\nmodel = "x" # c\n'


class House:
    """An account: its home, the agents of its console, and connections of its clients."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True)
        self.home = home
        self.places = Places.under(home / "assent")
        self.agents = Agents(self.places)
        self.connections = ClientConnections(self.places, self.agents, {}, home)
        self.codex = home / ".codex/config.toml"

    def write(self, text: str, mode: int = 0o644) -> None:
        self.codex.parent.mkdir()
        self.codex.write_text(text)
        self.codex.chmod(mode)

    def connect(self, client: connection.Client = CODEX, **more: bool) -> connection.ConnectionPlan:
        plan = self.connections.plan(client, self.connections.setup(**more))
        return self.connections.connect(plan, self.agents.add)

    def disconnect(self, client: connection.Client = CODEX) -> None:
        plan = self.connections.removal(client, self.connections.setup())
        self.connections.disconnect(plan, self.agents.revoke)

    def token(self) -> str:
        return str(tomllib.loads(self.codex.read_text())["mcp_servers"]["assent"]["env"]["ASSENT_TOKEN"])


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / 'ho me\'s "é" $x')


def test_what_was_shown_is_written_and_hides_the_token(house: House) -> None:
    house.write(THEIRS)
    plan = house.connections.plan(CODEX, house.connections.setup())
    assert "+[mcp_servers.assent]" in plan.difference and MASKED in plan.difference
    assert house.codex.read_text() == THEIRS and house.agents.all() == ()
    final = house.connections.connect(plan, house.agents.add)
    known = house.agents.named_by(house.token())
    assert known is not None and known.name == "codex" == final.agent
    assert not TOKEN.search(final.difference), "a token is shown"
    (backup,) = house.codex.parent.glob("*.before-assent-*")
    assert backup.read_text() == THEIRS
    assert house.codex.stat().st_mode & 0o777 == 0o600, "others can read the token"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_each_client_is_connected_once_and_disconnected_without_a_trace(
    house: House, client: connection.Client
) -> None:
    before = {path for path in house.home.rglob("*") if path.is_file()}
    hooked = client.hook is not None
    plan = house.connect(client, hook=hooked)
    setup = house.connections.setup(hook=hooked)
    found = house.connections.connected(client, setup)
    assert found is not None and found.agent is not None and found.hooked is hooked and not found.outdated
    assert not house.connections.plan(client, setup).needed, "a second time changes something"
    house.disconnect(client)
    left = {path for path in house.home.rglob("*") if path.is_file() and "assent/" not in str(path)}
    assert left == before
    assert [agent.revoked for agent in house.agents.all()] == [True]
    assert house.connections.connected(client, setup) is None
    assert plan.token


def test_the_rest_and_the_mode_are_as_before_when_it_is_disconnected(house: House) -> None:
    house.write(THEIRS, 0o640)
    house.connect(hook=True)
    house.disconnect()
    assert house.codex.read_text() == THEIRS
    assert house.codex.stat().st_mode & 0o777 == 0o640


def test_a_hook_that_is_added_later_is_taken_back_too(house: House) -> None:
    house.write(THEIRS)
    house.connect()
    token = house.token()
    house.connect(hook=True)
    assert house.token() == token, "a second agent for one client"
    house.disconnect()
    assert house.codex.read_text() == THEIRS


def test_without_a_receipt_only_what_is_surely_ours_is_removed(house: House) -> None:
    house.connect(CLAUDE, hook=True)
    (house.places.state / "connections.json").write_text("garbage")
    house.disconnect(CLAUDE)
    assert json.loads((house.home / ".claude.json").read_text()) == {"mcpServers": {}}
    settings = json.loads((house.home / ".claude/settings.json").read_text())
    assert settings == {"hooks": {"PreToolUse": []}, "permissions": {"allow": ["mcp__assent"]}}


def test_a_link_stays_a_link(house: House, tmp_path: Path) -> None:
    house.codex.parent.mkdir()
    real = tmp_path / "dot files.toml"
    real.write_text(THEIRS)
    house.codex.symlink_to(real)
    house.connect()
    assert house.codex.is_symlink() and "assent" in real.read_text()


def _a_pipe(path: Path) -> None:
    os.mkfifo(path)


def _a_folder(path: Path) -> None:
    path.mkdir()


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(config_file.MOST_BYTES + 1)


def _not_text(path: Path) -> None:
    path.write_bytes(b"a = 1\n\xff\n")


def _no_toml(path: Path) -> None:
    path.write_text("a = \n")


def _two_names(path: Path) -> None:
    path.write_text(THEIRS)
    os.link(path, path.with_name("other"))


def _a_circle(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [_a_pipe, _a_folder, _huge, _not_text, _no_toml, _two_names, _a_circle])
def test_a_file_that_cannot_be_changed_is_left_alone(house: House, make: object) -> None:
    house.codex.parent.mkdir()
    assert callable(make)
    make(house.codex)
    with pytest.raises(KnownError, match=r"Nothing was changed\.") as refusal:
        house.connect()
    assert str(house.codex) in str(refusal.value)
    assert house.agents.all() == ()


def test_a_file_of_another_account_is_left_alone(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write(THEIRS)
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    with pytest.raises(KnownError, match="belongs to another account"):
        house.connect()
    assert house.codex.read_text() == THEIRS


def test_a_change_between_showing_and_writing_is_kept(house: House) -> None:
    house.write(THEIRS)
    plan = house.connections.plan(CODEX, house.connections.setup())
    house.codex.write_text("new = 1\n" + THEIRS)
    house.connections.connect(plan, house.agents.add)
    assert house.codex.read_text().startswith("new = 1\n" + THEIRS)
    assert house.agents.named_by(house.token()) is not None


def test_a_change_of_what_was_shown_is_not_written(house: House) -> None:
    house.write(THEIRS)
    plan = house.connections.plan(CODEX, house.connections.setup())
    other = THEIRS + '\n[mcp_servers.assent]\ncommand = "evil"\n'
    house.codex.write_text(other)
    with pytest.raises(KnownError, match="not what was shown"):
        house.connections.connect(plan, house.agents.add)
    assert house.codex.read_text() == other and house.agents.all() == ()


def test_a_change_in_the_last_moment_is_not_overwritten(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write(THEIRS)
    back_up = config_file._back_up

    def changed(file: config_file.ConfigFile) -> Path:
        file.target.write_text("late = 1\n")
        return back_up(file)

    monkeypatch.setattr(config_file, "_back_up", changed)
    with pytest.raises(KnownError, match="changed by another program"):
        house.connect()
    assert house.codex.read_text() == "late = 1\n"
    assert [agent.revoked for agent in house.agents.all()] == [True], "a token nobody has is valid"
    assert not [path for path in house.codex.parent.iterdir() if path.name.endswith(".new")]


def test_where_the_second_file_fails_the_first_is_put_back(house: House) -> None:
    first = house.home / ".claude.json"
    first.write_text('{"mine": 1}')
    plan = house.connections.plan(CLAUDE, house.connections.setup())
    write = config_file.write

    def failing(file: config_file.ConfigFile, text: str) -> Path | None:
        if file.path.name == "settings.json":
            raise KnownError("The disk is full.")
        return write(file, text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config_file, "write", failing)
        with pytest.raises(KnownError, match="full"):
            house.connections.connect(plan, house.agents.add)
    assert first.read_text() == '{"mine": 1}'
    assert all(agent.revoked for agent in house.agents.all())


def test_two_connections_at_once_make_one_agent(house: House) -> None:
    house.write(THEIRS)
    others = [ClientConnections(house.places, house.agents, {}, house.home) for _ in range(4)]
    plans = [one.plan(CODEX, one.setup()) for one in others]
    made = []

    def run(one: ClientConnections, plan: connection.ConnectionPlan) -> None:
        made.append(one.connect(plan, house.agents.add).agent)

    threads = [threading.Thread(target=run, args=pair) for pair in zip(others, plans, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["codex"] * 4
    assert [agent.name for agent in house.agents.all()] == ["codex"]
    assert house.codex.read_text().count("[mcp_servers.assent]") == 1


def test_a_name_that_is_taken_gets_a_number(house: House) -> None:
    house.agents.add("codex")
    assert house.connect().agent == "codex-2"


def test_a_token_is_not_written_where_it_would_be_committed(house: House) -> None:
    project = house.home / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    setup = house.connections.setup(ConfigScope.PROJECT, project)
    with pytest.raises(KnownError, match="would be committed"):
        house.connections.plan(CODEX, setup)
    (project / ".git/info/exclude").write_text("/.codex/config.toml\n")
    assert house.connections.plan(CODEX, setup).needed
    plan = house.connections.plan(CLAUDE, setup)
    house.connections.connect(plan, house.agents.add)
    inside = [path for path in project.rglob("*") if path.is_file() and ".git" not in path.parts]
    assert inside and not any(TOKEN.search(path.read_text()) for path in inside)


def test_a_token_that_is_no_longer_valid_is_replaced(house: House) -> None:
    house.connect()
    old = house.token()
    house.agents.revoke("codex")
    house.connect()
    assert house.token() != old and house.agents.named_by(house.token()) is not None


def test_old_backups_go(house: House) -> None:
    house.write(THEIRS)
    for _ in range(3):
        house.connect()
        house.disconnect()
    assert len(list(house.codex.parent.glob("*.before-assent-*"))) == config_file.MOST_BACKUPS
