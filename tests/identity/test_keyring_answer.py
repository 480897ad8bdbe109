"""The keyring of a new installation is left alone until its person has been asked; the answer stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from keyring.errors import KeyringLocked

from runner.identity import secrets as secrets_module
from runner.identity import signer
from runner.identity.keyring_answer import KeyringAnswer, begin_unasked, read_answer, write_answer
from runner.identity.secrets import Secrets, Vault
from runner.model.errors import KnownError
from runner.settings.loading import Settings
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path


class Backend:
    """A keyring that works; it counts how often anything of it was touched."""

    def __init__(self) -> None:
        self.stored: dict[str, str] = {}
        self.touched = 0
        self.locked = False

    def __call__(self) -> Backend:
        self.touched += 1
        return self

    def get_password(self, _service: str, account: str) -> str | None:
        self.touched += 1
        if self.locked:
            raise KeyringLocked
        return self.stored.get(account)

    def set_password(self, _service: str, account: str, value: str) -> None:
        self.stored[account] = value


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Backend:
    backend = Backend()
    monkeypatch.setattr(secrets_module, "_trusted_backend", backend)
    return backend


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    return places


def test_nothing_of_the_keyring_is_touched_before_the_answer(places: Places, backend: Backend) -> None:
    begin_unasked(places)
    secrets = Secrets(places, Settings())
    assert secrets.undecided and secrets.get("x") is None
    assert secrets.set("x", "1").kind is Vault.MEMORY and secrets.get("x") == "1"
    secrets.delete("x")
    assert "has not asked yet" in secrets.where.explanation and "First steps" in secrets.where.remedy
    signer.vouching(places)
    assert backend.touched == 0


def test_what_is_in_memory_goes_to_the_keyring_with_the_answer(places: Places, backend: Backend) -> None:
    begin_unasked(places)
    secrets = Secrets(places, Settings())
    secrets.set("pin", "1")
    where = secrets.take_answer(KeyringAnswer.ALLOWED)
    assert (where.kind, list(backend.stored.values()), secrets.undecided) == (Vault.KEYRING, ["1"], False)
    assert Secrets(places, Settings()).get("pin") == "1"


def test_a_keyring_that_stays_locked_leaves_the_secrets_in_memory(places: Places, backend: Backend) -> None:
    begin_unasked(places)
    secrets = Secrets(places, Settings())
    secrets.set("pin", "1")
    backend.locked = True
    where = secrets.take_answer(KeyringAnswer.ALLOWED)
    assert where.kind is Vault.MEMORY and "is locked" in where.explanation and "start Assent again" in where.remedy
    asked = backend.touched
    assert secrets.get("pin") == "1" and secrets.where.kind is Vault.MEMORY
    assert backend.touched == asked, "it was cancelled once and is not asked again"


def test_a_refusal_stays_and_another_answer_counts_from_the_next_start(places: Places, backend: Backend) -> None:
    begin_unasked(places)
    secrets = Secrets(places, Settings())
    assert "you chose not to" in secrets.take_answer(KeyringAnswer.REFUSED).explanation
    again = Secrets(places, Settings())
    assert not again.undecided and again.where.kind is Vault.MEMORY
    where = again.take_answer(KeyringAnswer.ALLOWED)
    assert where.kind is Vault.MEMORY and where.remedy.startswith("Start Assent again.") and backend.touched == 0
    assert Secrets(places, Settings()).where.kind is Vault.KEYRING


def test_whether_there_is_a_pin_is_not_known_without_the_keyring(places: Places, backend: Backend) -> None:
    backend.stored[f"pin {places.data}"] = "1"
    write_answer(places, KeyringAnswer.REFUSED)
    with pytest.raises(KnownError, match="cannot be read"):
        Secrets(places, Settings()).find("pin")


def test_with_an_agreed_file_signing_waits_for_nothing(places: Places, backend: Backend) -> None:
    begin_unasked(places)
    secrets = Secrets(places, Settings(secrets_file=True))
    assert not secrets.undecided and secrets.set("x", "1").kind is Vault.FILE and backend.touched == 0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"keyring": 3}', '{"keyring": "yes"}', "[" * 100_000])
def test_a_broken_answer_opens_no_keyring(places: Places, backend: Backend, text: str) -> None:
    places.keyring_answer.write_text(text)
    assert read_answer(places) is KeyringAnswer.UNASKED
    assert Secrets(places, Settings()).where.kind is Vault.MEMORY and backend.touched == 0


def test_an_answer_that_is_there_is_not_asked_for_again(places: Places) -> None:
    assert read_answer(places) is KeyringAnswer.ALLOWED
    write_answer(places, KeyringAnswer.REFUSED)
    begin_unasked(places)
    assert read_answer(places) is KeyringAnswer.REFUSED


def test_an_answer_that_cannot_be_written_changes_nothing(places: Places, backend: Backend) -> None:
    begin_unasked(places)
    secrets = Secrets(places, Settings())
    places.keyring_answer.unlink()
    places.keyring_answer.mkdir()
    with pytest.raises(KnownError, match="could not be written"):
        secrets.take_answer(KeyringAnswer.ALLOWED)
    assert secrets.undecided and backend.touched == 0
