"""`assent history`: figures, what is removed, what is refused; and following from another process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from runner.audit.ledger.ledger import set_aside
from runner.audit.ledger.verify import verify
from runner.commands import cli
from runner.commands.history import _age, _size
from runner.identity import signer
from runner.identity.secrets import Secrets, Vault, Where
from runner.settings.loading import load
from runner.system.places import Places
from tests.audit.story import approved, denied, opening, remove, request, write
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(name="places")
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """An installation whose secrets are in a file, with three requests of long ago, one still open."""
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASSENT_SECRETS_FILE", "true")
    places = Places.standard()
    places.make()
    key = signer.signing_key(Secrets(places, load(places, os.environ).settings))
    told = [*approved(request("r1")), *denied(request("r2")), *opening(request("r3"))]
    write(places.ledger, told, key, lambda: time.time() - 100 * 86_400)
    return places


class Forgetful(Secrets):
    """Secrets that are kept in memory alone."""

    @property
    def where(self) -> Where:
        return Where(Vault.MEMORY, "It is forgotten.", "Keep it.")


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["history", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_dry_run_says_figures_and_removes_nothing(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    before = places.ledger.read_bytes()
    code, out, _ = ran(capsys, "prune", "--dry-run", "--older-than", "90d")
    assert (code, out.startswith("Would remove the content of ")) == (0, True), out
    assert places.ledger.read_bytes() == before


def test_a_dry_run_says_where_the_real_one_would_be_refused(
    places: Places, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSENT_SECRETS_FILE", raising=False)
    monkeypatch.setattr("runner.commands.history.Secrets", Forgetful)
    code, out, err = ran(capsys, "prune", "--dry-run", "--older-than", "90d")
    assert (code, out.startswith("Would remove")) == (1, True)
    assert "Nothing would be removed: the key that signs the history is kept nowhere." in err
    assert ran(capsys, "prune", "--older-than", "90d", "--yes")[0] == 1


def test_what_is_removed_is_signed_by_the_key_of_the_console(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = ran(capsys, "prune", "--older-than", "90d", "--yes", "--compact")
    assert (code, err) == (0, ""), out
    assert "was removed" in out and "The file of the history has" in out
    known = signer.vouching(places)
    found = verify(places.ledger, known.public_key, anchor=known.anchor)
    assert (found.ok, found.unsure, found.removed) == (True, "", 2), found.what
    assert cli.main(["verify"]) == 0
    assert "The content of 2 requests was removed" in capsys.readouterr().out


def test_nobody_is_asked_where_nobody_is(
    places: Places, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115 # closed with the test
    code, _, err = ran(capsys, "prune", "--request", "r2")
    assert (code, "Add --yes" in err) == (1, True)
    sys.stdin.close()
    assert verify(places.ledger).removed == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("prune",), "Say what to remove"),
        (("prune", "--request", "r3", "--yes"), "still open"),
        (("prune", "--request", "none", "--yes"), "no such request"),
        (("prune", "--request", "r1", "--older-than", "1d"), "names one request"),
        ((), "Say what to do"),
    ],
)
def test_what_cannot_be_done_is_said(
    places: Places, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    code, _, err = ran(capsys, *arguments)
    assert (code, words in err) == (1, True), err


def test_where_the_window_asks_for_the_pin_this_does_too(
    places: Places, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program of this account, with no terminal, does not get around it."""
    monkeypatch.setenv("ASSENT_APPROVE_BY", "pin")
    monkeypatch.setattr("runner.commands.history.sys.stdin", SimpleNamespace(isatty=lambda: False))
    code, _, err = ran(capsys, "prune", "--request", "r2", "--yes")
    assert (code, "needs the PIN" in err) == (1, True), err
    monkeypatch.setattr("runner.commands.history.sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("runner.commands.history.getpass.getpass", lambda _prompt: "123456")
    code, _, err = ran(capsys, "prune", "--request", "r2", "--yes")
    assert code == 1 and err, "there is no such PIN"
    assert verify(places.ledger).removed == 0


def test_an_older_copy_is_not_signed_over(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    old = places.ledger.read_bytes()
    assert ran(capsys, "prune", "--request", "r1", "--yes")[0] == 0
    places.ledger.write_bytes(old)
    code, _, err = ran(capsys, "prune", "--request", "r2", "--yes")
    assert (code, "an older copy" in err) == (1, True), err


def test_without_a_place_for_the_key_nothing_is_removed(
    places: Places, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSENT_SECRETS_FILE", "false")
    code, _, err = ran(capsys, "prune", "--request", "r2", "--yes")
    assert (code, "is kept nowhere" in err) == (1, True), err


@pytest.mark.parametrize(("text", "days"), [("12h", 0.5), ("90d", 90.0), ("2w", 14.0), ("1y", 365.0), (" 1.5 D", 1.5)])
def test_ages(text: str, days: float) -> None:
    assert _age(text) == days


@pytest.mark.parametrize(("text", "size"), [("2G", 2 * 10**9), ("500MB", 500 * 10**6), ("7", 7), ("1.5k", 1500)])
def test_sizes(text: str, size: int) -> None:
    assert _size(text) == size


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1e9d", "90dd", "९d"])
def test_what_is_no_age(text: str) -> None:
    with pytest.raises(Exception, match="is no age"):
        _age(text)


# ---- following ----


@pytest.fixture(name="follower")
def started(places: Places) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "app", "history", "--follow", "--since", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    ) as process:
        yield process
        process.kill()


def lines(process: subprocess.Popen[str], count: int) -> list[dict[str, Any]]:
    assert process.stdout is not None
    return [json.loads(process.stdout.readline()) for _ in range(count)]


def test_entries_come_as_they_are_written_and_a_signal_ends_it(places: Places, follower: subprocess.Popen[str]) -> None:
    first = lines(follower, 15)
    assert [line["seq"] for line in first[:3]] == [1, 2, 3]
    assert first[2]["body"]["code"] == "print('hello')"
    key = signer.signing_key(Secrets(places, load(places, os.environ).settings))
    write(places.ledger, denied(request("r9")), key)
    while (line := lines(follower, 1)[0])["request_id"] != "r9":
        pass
    assert [line["kind"], *[one["kind"] for one in lines(follower, 2)]] == ["arrived", "assessed", "asked"]
    # What is removed meanwhile changes nothing for what comes after.
    remove(places.ledger, "r1", key=key)
    while (line := lines(follower, 1)[0])["kind"] != "removed":
        pass
    assert line["body"]["requests_removed"] == 1
    # Another ledger takes the place: from its beginning.
    set_aside(places.ledger)
    write(places.ledger, denied(request("new")), key)
    while (line := lines(follower, 1)[0])["ledger"] == first[0]["ledger"]:
        pass
    assert (line["seq"], line["kind"]) == (1, "genesis")
    follower.send_signal(signal.SIGINT)
    _, err = follower.communicate(timeout=HANGS)
    assert (follower.returncode, err) == (0, "")


def test_a_reader_that_is_gone_ends_it(places: Places, follower: subprocess.Popen[str]) -> None:
    lines(follower, 1)
    assert follower.stdout is not None and follower.stderr is not None
    follower.stdout.close()
    assert follower.wait(timeout=HANGS) == 0
    assert follower.stderr.read() == ""
