"""Agreeing to a file for secrets: the engine's own go there, and the same key signs after a restart."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from app.chrome.keyring_notice import BANNER, VaultNotice
from app.link.background import Errands
from app.link.bridge import EngineLink
from app.parts.confirm import ConfirmDialog
from app.parts.notice import Tone
from app.settings.panel import SettingsPanel
from runner.assembly import build
from runner.commands.cli import main
from runner.engine.thread import EngineThread
from runner.identity import signer
from runner.identity.secrets import Secrets, Vault
from runner.model.errors import KnownError
from runner.settings.loading import Settings, load
from tests.doubles import HeldSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.system.places import Places


class Said:
    """In the place of the banners."""

    def __init__(self) -> None:
        self.tone: Tone | None = None
        self.words = ""

    def say(self, _name: str, tone: Tone, words: str, _action: str = "") -> None:
        self.tone, self.words = tone, words

    def unsay(self, name: str) -> None:
        assert name == BANNER
        self.tone, self.words = None, ""


@contextmanager
def engine(places: Places, qtbot: QtBot) -> Iterator[EngineThread]:
    """An engine with its key at hand."""
    host = EngineThread(lambda: build(places, load(places, os.environ), (HeldSandbox(),)))
    host.start()
    try:
        qtbot.waitUntil(lambda: host.engine.parts.ledger._anchors is not None)
        yield host
    finally:
        assert host.close("the test is over", 30)


def unexpected(error: BaseException, where: str) -> None:
    raise AssertionError(where) from error


def agree(panel: SettingsPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: panel.form is not None)
    panel.rows["secrets_file"].editor.box.click()  # type: ignore[attr-defined]
    question = panel.window().findChild(ConfirmDialog)
    assert question is not None
    question.yes.click()
    with qtbot.waitSignal(panel.reloaded):
        panel.save.click()


def test_the_same_key_signs_after_a_restart(
    qtbot: QtBot, look: Look, places: Places, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSENT_PORT", "0")
    with engine(places, qtbot) as host:
        bridge, said = EngineLink(host, unexpected), Said()
        panel = SettingsPanel(bridge, look, places)
        notice = VaultNotice(said, places, bridge.secrets)  # type: ignore[arg-type]
        panel.reloaded.connect(notice.look_again)
        qtbot.addWidget(panel)
        panel.show()
        panel.look_again()
        first = host.engine.parts.secrets.get(signer.NAME)
        assert first
        assert not places.secrets.exists()
        try:
            agree(panel, qtbot)
            qtbot.waitUntil(lambda: str(places.secrets) in said.words)
            assert said.tone is Tone.INFO
            assert Secrets(places, Settings()).get(signer.NAME) == first
            assert host.engine.parts.secrets.where.kind is Vault.FILE
        finally:
            # Also where that failed: their threads would outlive the test.
            for errands in (*panel.findChildren(Errands), *notice.findChildren(Errands)):
                errands.close()
    with engine(places, qtbot) as host:
        assert host.engine.parts.secrets.get(signer.NAME) == first
    assert main(["verify"]) == 0, capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_not_said_to_hold_them(places: Places) -> None:
    secrets = Secrets(places, Settings())
    secrets.set("token", "s")
    places.secrets.mkdir()
    with pytest.raises(KnownError, match="cannot be read"):
        secrets.agree_to_file()
    assert secrets.where.kind is Vault.MEMORY
    assert secrets._memory == {"token": "s"}


def test_an_agreement_that_is_taken_back_writes_no_more(places: Places) -> None:
    secrets = Secrets(places, Settings(secrets_file=True))
    secrets.set("token", "s")
    secrets.withdraw_agreement()
    secrets.set("other", "t")
    assert Secrets(places, Settings()).get("other") is None
    assert secrets.get("token") == "s"
