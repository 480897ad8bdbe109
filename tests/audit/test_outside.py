"""Heads that are noted outside of the ledger: a file, a git repository, a time stamping service of our own."""

from __future__ import annotations

import asyncio
import http.server
import os
import shutil
import sqlite3
import subprocess
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from runner.audit.ledger.anchor import Anchor, AnchorKeeper
from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.seal import Seal
from runner.audit.outside.git_anchor import BRANCH, GitAnchor
from runner.audit.outside.outside import FileAnchor, SignedHead, compare
from runner.audit.outside.stamps import TimeStamps
from runner.model.errors import KnownError
from tests.audit.story import KEY, denied, remove, request, tell, write
from tests.patience import HANGS
from tests.small_disk import fill, small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.audit.outside.outside import OutsideAnchor

PUBLIC = Seal(KEY).public


@pytest.fixture(name="path")
def with_story(tmp_path: Path) -> Path:
    folder = tmp_path / "home/data"
    folder.mkdir(parents=True)
    write(folder / "ledger.sqlite3", denied(request("r1")), KEY)
    return folder / "ledger.sqlite3"


def head(path: Path, key: bytes = KEY) -> SignedHead:
    with closing(sqlite3.connect(path)) as connection:
        (first,) = connection.execute("SELECT hash FROM entries WHERE seq = 1").fetchone()
        return SignedHead.of(Anchor(first, *connection.execute("SELECT seq, hash FROM head").fetchone()), Seal(key))


def repository(folder: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


@pytest.fixture(name="place", params=["file", "git"])
def at_a_place(request: pytest.FixtureRequest, tmp_path: Path) -> OutsideAnchor:
    if request.param == "file":
        return FileAnchor(tmp_path / "heads.jsonl")
    return GitAnchor(repository(tmp_path / "repository"))


def test_what_was_noted_fits(path: Path, place: OutsideAnchor) -> None:
    (before,) = compare(path, [place])
    assert (before.broken, "There are no heads" in before.words) == (None, True)
    place.note(head(path))
    write(path, denied(request("r2")), KEY)
    place.note(head(path))
    remove(path, "r1")
    (found,) = compare(path, [place], PUBLIC)
    assert (found.broken, found.same, found.what) == (None, 2, "")
    assert "2 heads in" in found.words


def test_an_older_copy_a_rewritten_one_and_another_are_told_apart(path: Path, place: OutsideAnchor) -> None:
    copy = shutil.copy(path, path.with_name("copy.sqlite3"))
    place.note(head(path))
    write(path, denied(request("r2")), KEY)
    place.note(head(path))
    (older,) = compare(copy, [place], PUBLIC)
    assert (older.broken, "an older copy, or its end was removed" in older.words) == (head(copy).seq + 1, True)
    write(copy, denied(request("r9", code="something else")), KEY)
    (rewritten,) = compare(copy, [place], PUBLIC)
    assert (rewritten.broken, "the history was rewritten" in rewritten.words) == (head(path).seq, True)
    another = path.with_name("another.sqlite3")
    write(another, denied(request("r1")), KEY)
    (replaced,) = compare(another, [place], PUBLIC)
    assert (replaced.broken, "replaced by this one" in replaced.words) == (1, True)


def test_heads_of_other_keys_neither_vouch_nor_alarm(path: Path, place: OutsideAnchor) -> None:
    place.note(head(path, bytes(range(2, 34))))
    (found,) = compare(path, [place], PUBLIC)
    assert (found.broken, "Nothing in" in found.words) == (None, True)


def test_a_line_that_was_cut_off_swallows_nothing(path: Path, tmp_path: Path) -> None:
    place = FileAnchor(tmp_path / "heads.jsonl")
    place.note(head(path))
    with (tmp_path / "heads.jsonl").open("a") as file:
        file.write('{"assent": "head", "seq')
    place.note(head(path))
    assert [one is not None for one in place.heads()] == [True, False, True]
    assert (tmp_path / "heads.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_reached_is_said(path: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (FileAnchor(tmp_path / "pipe"), FileAnchor(tmp_path / "no/heads"), GitAnchor(tmp_path)):
        with pytest.raises(KnownError, match="cannot be noted in"):
            place.note(head(path))
        (found,) = compare(path, [place])
        assert found.broken is None and found.what


def test_a_full_disk_is_said(path: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path) as room:
        fill(room)
        with pytest.raises(KnownError, match="No space left"):
            FileAnchor(room / "heads.jsonl").note(head(path))


def test_a_repository_runs_nothing_of_its_own(path: Path, tmp_path: Path) -> None:
    """Hooks, a monitor and a remote of a repository that somebody else prepared."""
    folder = repository(tmp_path / "repository")
    ran = tmp_path / "ran"
    for name in ("reference-transaction", "post-commit", "pre-commit", "post-index-change"):
        hook = folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
    for name, value in {
        "core.fsmonitor": f"touch {ran}",
        "core.hooksPath": str(folder / ".git/hooks"),
        "commit.gpgSign": "true",
        "gpg.program": f"touch {ran}",
        "remote.origin.url": f"ext::touch {ran}",
        "protocol.ext.allow": "always",
        "extensions.partialClone": "origin",
    }.items():
        subprocess.run(["git", "-C", str(folder), "config", name, value], check=True)
    (folder / "tracked").write_text("mine")
    place = GitAnchor(folder)
    place.note(head(path))
    (found,) = compare(path, [place], PUBLIC)
    assert (found.same, ran.exists()) == (1, False)
    status = subprocess.run(
        ["git", "-C", str(folder), "-c", "core.fsmonitor=false", "status", "--porcelain"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert status.stdout == "?? tracked\n", "neither index nor files were touched"
    command = ["git", "-C", str(folder), "log", "--format=%s", BRANCH]
    log = subprocess.run(command, capture_output=True, text=True, check=True)
    assert log.stdout == f"Note entry {head(path).seq} of history {head(path).ledger[:12]}\n"


def test_a_place_that_hangs_holds_up_no_entry(path: Path) -> None:
    """The writer of the history does not wait for it."""
    hangs, written = threading.Event(), threading.Event()

    def write_slowly(_head: Anchor) -> None:
        written.set()
        hangs.wait(3 * HANGS)

    async def work() -> None:
        keeper = AnchorKeeper(write_slowly, 0.01)
        ledger = Ledger.open(path)
        await ledger.seal_with(KEY, keeper.signed)
        await asyncio.wait_for(asyncio.to_thread(written.wait, HANGS), HANGS + 1)
        await asyncio.wait_for(tell(ledger, denied(request("r5"))), HANGS)
        await ledger.close()
        assert not keeper.close(0.01)
        hangs.set()
        assert keeper.close(HANGS)

    asyncio.run(work())


# ---- time stamps ----

CONFIGURATION = """
[tsa]
default_tsa = here
[here]
serial = {folder}/serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ordering = no
tsa_name = no
ess_cert_id_chain = no
ess_cert_id_alg = sha256
"""


def openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """A time stamping service on this machine, by `openssl ts`; gives its address."""
    folder.mkdir()
    (folder / "serial").write_text("01")
    (folder / "tsa.conf").write_text(CONFIGURATION.format(folder=folder))
    extension = ("-addext", "extendedKeyUsage=critical,timeStamping")
    key, certificate = str(folder / "key.pem"), str(folder / "ca.pem")
    openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2"),
        *("-subj", "/CN=Test TSA", *extension),
    )

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query, answer = folder / "query.tsq", folder / "answer.tsr"
            query.write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            openssl(
                *("ts", "-reply", "-queryfile", str(query), "-config", str(folder / "tsa.conf"), "-section", "here"),
                *("-inkey", key, "-signer", certificate, "-out", str(answer)),
            )
            self.send_response(200)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.end_headers()
            self.wfile.write(answer.read_bytes())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_time_stamp_proves_a_head_and_only_that(path: Path, tmp_path: Path) -> None:
    with service(tmp_path / "tsa") as address:
        stamps = TimeStamps(tmp_path / "stamps", address, tmp_path / "tsa/ca.pem")
        stamps.note(head(path))
    (found,) = compare(path, [stamps], PUBLIC)
    assert (found.same, found.what) == (1, "")
    (untrusted,) = compare(path, [TimeStamps(tmp_path / "stamps", address)], PUBLIC)
    assert "no certificates are named" in untrusted.what
    # A head of their own beside a stamp of another: what is stamped is the line.
    (file,) = (tmp_path / "stamps").glob("*.head.json")
    file.write_text(SignedHead.of(Anchor(head(path).ledger, 3, "0" * 64), Seal(KEY)).line)
    assert [*stamps.heads()] == [None]


def test_a_service_that_does_not_answer_is_said(path: Path, tmp_path: Path) -> None:
    for address in ("http://127.0.0.1:1/", "file:///etc/passwd", "127.0.0.1"):
        with pytest.raises(KnownError, match="was not stamped by"):
            TimeStamps(tmp_path / "stamps", address).note(head(path))
    assert not (tmp_path / "stamps").exists()
