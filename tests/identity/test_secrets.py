"""Where secrets go: a real keyring, a silent one, none, an untrusted one, and the agreed file (spec K5)."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from runner.assembly import build
from runner.identity.secrets import Secrets, Vault
from runner.model.errors import KnownError
from runner.settings.loading import Settings, load, save
from runner.system.places import Places
from tests.components import require
from tests.doubles import HeldSandbox

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
PLAINTEXT = '''
from pathlib import Path
from keyring.backend import KeyringBackend

class PlaintextKeyring(KeyringBackend):
    """What `keyrings.alt` has: chosen by itself where nothing better is there, and readable by everybody."""
    priority = 0.5

    def get_password(self, service, username):
        return None

    def set_password(self, service, username, password):
        Path({told!r}).write_text(password)
'''


class Answer(NamedTuple):
    kind: str
    explanation: str
    remedy: str
    answers: list[object]


class Session:
    """Runs tests/in_session.py with a home of its own, so that nothing of this desktop is touched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        run = folder / "run"
        run.mkdir(mode=0o700)
        strangers = ("PYTHON_KEYRING", "DBUS_", "XDG_", "GNOME_", "KDE_", "ASSENT_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(strangers)}
        self.environment = {**kept, "HOME": str(folder), "XDG_RUNTIME_DIR": str(run), "ASSENT_HOME": str(folder / "a")}
        self.places = Places.under(folder / "a")

    def ask(
        self,
        *steps: str,
        keyring: str = "none",
        bus: bool = False,
        patience: float = 60,
        agreed: bool = False,
        more: Mapping[str, str] = {},
    ) -> Answer:
        own = [sys.executable, "-m", "tests.in_session", keyring, str(patience), "agreed" if agreed else "no", *steps]
        command = ["dbus-run-session", "--", *own] if bus else own
        run = subprocess.run(
            command,
            cwd=ROOT,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return Answer(**json.loads(run.stdout.splitlines()[-1]))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    folder = tmp_path / "s"
    folder.mkdir()
    return Session(folder)


def files_with(folder: Path, secret: str) -> list[str]:
    found = [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    return [str(path.relative_to(folder)) for path in found]


# ---- a real keyring ----


def test_a_real_keyring_keeps_secrets_over_a_restart_and_nothing_else_does(session: Session) -> None:
    require("keyring")
    first = session.ask("get,token", "set,token,hunter-two", "get,token", keyring="pass", bus=True, agreed=True)
    assert first.answers == [None, "keyring", "hunter-two"]
    assert first.explanation == "Secrets are kept in the keyring (SecretService)."
    assert first.remedy == ""
    assert files_with(session.folder, "hunter-two") == []
    assert not session.places.secrets.exists()
    second = session.ask("get,token", "items", "delete,token", "get,token", "items", keyring="pass", bus=True)
    assert second.answers == ["hunter-two", 1, None, None, 0]


def test_deleting_what_is_not_there_does_no_harm(session: Session) -> None:
    require("keyring")
    told = session.ask("delete,nothing", "set,a,b", "get,a", keyring="pass", bus=True)
    assert (told.kind, told.answers) == ("keyring", [None, "keyring", "b"])


def test_two_homes_do_not_share_their_secrets(session: Session, tmp_path: Path) -> None:
    require("keyring")
    session.ask("set,token,first", keyring="pass", bus=True)
    other = {"ASSENT_HOME": str(tmp_path / "other")}
    assert session.ask("get,token", keyring="pass", bus=True, more=other).answers == [None]


def test_what_the_file_kept_is_still_known_once_there_is_a_keyring(session: Session) -> None:
    require("keyring")
    session.ask("set,token,from-file", agreed=True)
    told = session.ask("get,token", "delete,token", "get,token", keyring="pass", bus=True)
    assert (told.kind, told.answers) == ("keyring", ["from-file", None, None])
    assert files_with(session.folder, "from-file") == []


def test_a_keyring_that_never_answers_is_given_up_after_its_time(session: Session) -> None:
    require("keyring")
    told = session.ask("set,token,s", "get,token", keyring="silent", bus=True, patience=0.5)
    assert (told.kind, told.answers) == ("memory", ["memory", "s"])
    assert told.explanation == (
        "The history cannot be verified after a restart, and a PIN is forgotten: "
        "the keyring did not answer within 0.5 s."
    )
    assert "Unlock" in told.remedy


def test_a_keyring_that_cannot_be_opened_says_so(session: Session) -> None:
    """A session without anybody to ask for the password."""
    require("keyring")
    session.ask("set,token,s", keyring="right", bus=True)
    told = session.ask("get,token", keyring="wrong", bus=True, patience=5)
    assert (told.kind, told.answers) == ("memory", [None])
    assert told.explanation == (
        "The history cannot be verified after a restart, and a PIN is forgotten: "
        "the keyring is locked, and it was not unlocked."
    )


def test_the_keyring_knows_how_far_the_history_was_signed(session: Session) -> None:
    require("keyring")
    places = session.places
    assert session.ask("console", "verify", keyring="pass", bus=True).answers == [[True, "", None]]
    with closing(sqlite3.connect(places.ledger)) as connection:
        ((last,),) = connection.execute("SELECT max(seq) FROM entries")
    old = shutil.copy(places.ledger, session.folder / "old")
    assert session.ask("console", "verify", keyring="pass", bus=True).answers == [[True, "", None]]
    Path(old).replace(places.ledger)
    assert session.ask("verify", keyring="pass", bus=True).answers == [[False, "", last + 1]]
    # Starting on it signs nothing, so it does not become good.
    assert session.ask("console", "verify", keyring="pass", bus=True).answers[0][0] is False  # type: ignore[index]


# ---- none ----


def test_without_a_keyring_secrets_stay_in_memory_and_it_is_said(session: Session) -> None:
    told = session.ask("set,token,hunter-two", "get,token", "delete,token", "get,token")
    assert (told.kind, told.answers) == ("memory", ["memory", "hunter-two", None, None])
    assert told.explanation == (
        "The history cannot be verified after a restart, and a PIN is forgotten: there is no keyring here."
    )
    assert "Or agree in Settings to a file that only you can read." in told.remedy
    assert session.ask("get,token").answers == [None]
    assert files_with(session.folder, "hunter-two") == []


def test_a_keyring_that_would_write_plain_text_is_not_taken_by_itself(session: Session) -> None:
    told = session.ask("set,token,hunter-two", more=_plaintext(session))
    assert (told.kind, told.answers) == ("memory", ["memory"])
    assert files_with(session.folder, "hunter-two") == []


def test_a_keyring_that_would_write_plain_text_is_refused_by_name(session: Session) -> None:
    chosen = {"PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring"}
    told = session.ask("set,token,hunter-two", more={**_plaintext(session), **chosen})
    assert (told.kind, told.answers) == ("memory", ["memory"])
    assert "the keyring set up here, keyrings.alt.file, is not one that Assent trusts." in told.explanation
    assert files_with(session.folder, "hunter-two") == []


def _plaintext(session: Session) -> dict[str, str]:
    """An installed `keyrings.alt`, as far as `keyring` looks at it."""
    site = session.folder / "site"
    package = site / "keyrings" / "alt"
    package.mkdir(parents=True)
    (package / "file.py").write_text(PLAINTEXT.format(told=str(session.folder / "plain.txt")))
    info = site / "keyrings.alt-5.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: keyrings.alt\nVersion: 5.0\n")
    (info / "entry_points.txt").write_text("[keyring.backends]\nfile = keyrings.alt.file\n")
    return {"PYTHONPATH": str(site)}


# ---- the file ----


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    return places


def test_the_agreed_file_is_its_owners_alone_and_says_where_it_is(places: Places) -> None:
    secrets = Secrets(places, Settings(secrets_file=True))
    assert secrets.set("token", "s").kind is Vault.FILE
    assert secrets.where.explanation.startswith(f"Secrets are kept in {places.secrets}, which only you can read: ")
    assert stat.S_IMODE(places.secrets.stat().st_mode) == 0o600
    assert Secrets(places, Settings()).get("token") == "s"
    places.secrets.chmod(0o644)
    secrets.set("other", "t")
    assert stat.S_IMODE(places.secrets.stat().st_mode) == 0o600
    secrets.delete("token")
    assert (secrets.get("token"), secrets.get("other")) == (None, "t")


def test_what_was_in_memory_goes_to_the_file_once_agreed(places: Places) -> None:
    secrets = Secrets(places, Settings())
    secrets.set("token", "s")
    assert not places.secrets.exists()
    secrets.agree_to_file()
    assert secrets.where.kind is Vault.FILE
    assert Secrets(places, Settings()).get("token") == "s"


@pytest.mark.asyncio
async def test_an_agreement_counts_as_soon_as_it_is_saved(places: Places) -> None:
    engine = build(places, load(places, {}), (HeldSandbox(),))
    await engine.start(gateway=False)
    engine.parts.secrets.set("token", "s")
    save(places, {"secrets_file": True})
    await engine.take_up_settings()
    assert engine.parts.secrets.where.kind is Vault.FILE
    assert Secrets(places, Settings()).get("token") == "s"
    save(places, {"secrets_file": False})
    await engine.take_up_settings()
    engine.parts.secrets.set("other", "t")
    await engine.close("the test is over")
    assert Secrets(places, Settings()).get("other") is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"schema": 2, "secrets": {}}', '{"schema": 1}', '{"schema": 1, "secrets": 3}', "[" * 100_000],
    ids=range(7),
)
def test_a_broken_file_is_reported_and_never_written_over(places: Places, text: str) -> None:
    places.secrets.write_text(text)
    secrets = Secrets(places, Settings(secrets_file=True))
    for attempt in (lambda: secrets.get("token"), lambda: secrets.set("token", "s")):
        with pytest.raises(KnownError, match="cannot be read"):
            attempt()
    assert places.secrets.read_text() == text
