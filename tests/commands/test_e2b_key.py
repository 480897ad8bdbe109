"""`assent e2b-key`: the key is kept where secrets are, and found there."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from runner.commands.cli import main
from runner.sandbox.remote import keys
from runner.settings.loading import Settings
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    return Places.under(tmp_path)


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_the_key_is_kept_and_taken_out_again(
    kept: Places, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSENT_SECRETS_FILE", "true")
    given(monkeypatch, "e2b_0123456789\n")
    assert main(["e2b-key"]) == 0
    said = capsys.readouterr().out
    assert "only where e2b is the sandbox in Settings" in said and "e2b_0123456789" not in said
    settings = Settings(secrets_file=True)
    assert keys.find(kept, settings) == "e2b_0123456789"
    monkeypatch.setenv("E2B_API_KEY", "e2b_other")
    assert keys.find(kept, settings) == "e2b_other", "the environment counts more"
    monkeypatch.delenv("E2B_API_KEY")
    assert main(["e2b-key", "--remove"]) == 0
    assert keys.find(kept, settings) == ""


@pytest.mark.parametrize("text", ["", "two words\n", "\x1b[31mred\n", "ü\n"])
def test_what_is_no_key_is_refused(
    kept: Places, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    monkeypatch.setenv("ASSENT_SECRETS_FILE", "true")
    given(monkeypatch, text)
    assert main(["e2b-key"]) == 1
    assert "That is no key" in capsys.readouterr().err
    assert keys.find(kept, Settings(secrets_file=True)) == ""


def test_a_key_that_would_be_lost_is_not_taken(
    kept: Places, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, "e2b_0123456789\n")
    assert main(["e2b-key"]) == 1
    assert "cannot be kept" in capsys.readouterr().err
