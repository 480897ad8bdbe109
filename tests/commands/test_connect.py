"""`assent connect` as a person at a terminal, or a script without one, uses it."""

from __future__ import annotations

import io
import os
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from runner.clients.differences import TOKEN
from runner.clients.libraries import LIBRARIES
from runner.commands import connect as command
from runner.commands.cli import main
from runner.identity.agents import Agents
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path


class Terminal(io.StringIO):
    """A person at the keyboard who typed these answers."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path / "assent"))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return tmp_path


def places(home: Path) -> Places:
    return Places.under(home / "assent")


def test_without_a_terminal_nothing_is_written_unasked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", "codex"]) == 1
    assert "--yes" in capsys.readouterr().err
    assert not (home / ".codex").exists() and Agents(places(home)).all() == ()


def test_show_changes_nothing_and_yes_writes_what_it_showed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", "codex", "--show"]) == 0
    shown = capsys.readouterr().out
    assert "[mcp_servers.assent]" in shown and not (home / ".codex").exists()
    assert main(["connect", "codex", "--yes"]) == 0
    said = capsys.readouterr().out
    assert shown in said and not TOKEN.search(said)
    assert f'ASSENT_HOME = "{home / "assent"}"' in (home / ".codex/config.toml").read_text()
    assert main(["connect", "codex", "--yes"]) == 0
    assert "already" in capsys.readouterr().out
    assert main(["connect", "codex", "--remove", "--yes"]) == 0
    assert not (home / ".codex/config.toml").exists()
    assert main(["connect", "codex", "--remove", "--yes"]) == 0
    assert "not connected" in capsys.readouterr().out


def test_no_is_the_answer_of_a_person_who_only_presses_enter(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("\n"))
    assert main(["connect", "codex"]) == 1
    assert not (home / ".codex").exists()


def test_it_waits_for_the_first_call_and_says_when_it_came(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []

    def called(_seconds: float) -> None:
        calls.append(1)
        config = (home / ".codex/config.toml").read_text()
        found = TOKEN.search(config)
        assert found is not None
        Agents(places(home)).recognize(found[0])

    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    monkeypatch.setattr(command, "time", SimpleNamespace(time=time.time, sleep=called))
    assert main(["connect", "codex"]) == 0
    said = capsys.readouterr().out
    assert "Ctrl+C stops waiting" in said and said.endswith("Codex has called. It is connected.\n")
    assert calls == [1]


def test_stopping_to_wait_leaves_what_was_written(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    # Not of the module itself: that is everybody's, also of threads that sleep.
    monkeypatch.setattr(command, "time", SimpleNamespace(time=time.time, sleep=interrupted))
    assert main(["connect", "codex"]) == 0
    assert "Not waiting any more." in capsys.readouterr().out
    assert (home / ".codex/config.toml").exists()


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_gets_a_program_that_is_python(home: Path, library: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", library, "--show"]) == 0
    assert not TOKEN.search(capsys.readouterr().out) and Agents(places(home)).all() == ()
    assert main(["connect", library]) == 0
    text = capsys.readouterr().out
    compile(text, library, "exec")
    found = TOKEN.search(text)
    assert found is not None and Agents(places(home)).named_by(found[0]) is not None


def test_a_hook_of_a_client_without_hooks_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", "zed", "--hook", "--yes"]) == 1
    assert "no hook that" in capsys.readouterr().err
    assert os.listdir(home) == []
