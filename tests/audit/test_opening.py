"""What may stand in the ledger's place, what is said about it, and how a new one is begun."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from runner.audit.history.search import History
from runner.audit.ledger.ledger import Ledger, set_aside
from runner.audit.ledger.verify import verify
from runner.model.errors import KnownError
from tests.audit.story import KEY, approved, denied, request, tamper, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite3"
    write(path, [*approved(request("r1")), *denied(request("r2"))], KEY)
    return path


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwrite_first_page(path: Path) -> None:
    path.write_bytes(b"\xa5" * 4096 + path.read_bytes()[4096:])


def overwrite_other_pages(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096] + b"\xa5" * (path.stat().st_size - 4096))


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_other_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")


def lose_the_file_but_not_its_journal(path: Path) -> None:
    path.rename(path.with_name(path.name + "-wal"))


DAMAGES = [
    cut,
    overwrite_first_page,
    overwrite_other_pages,
    make_folder,
    make_other_database,
    lose_the_file_but_not_its_journal,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_text("not a database, and long enough to be taken for one" * 20),
    lambda path: tamper(path, "UPDATE entries SET kind = 'changed' WHERE seq = 5"),
    lambda path: tamper(path, "DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)"),
    lambda path: tamper(path, "DELETE FROM entries"),
    lambda path: tamper(path, "DELETE FROM head"),
    lambda path: tamper(path, "DROP TABLE requests"),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_is_wrong_is_reported_and_can_be_set_aside(path: Path, damage: Callable[[Path], None]) -> None:
    damage(path)
    left = sorted(file.name for file in path.parent.iterdir())
    with pytest.raises(KnownError) as caught:
        Ledger.open(path)
    assert str(path) in caught.value.what
    assert "set this file aside" in caught.value.remedy.lower()
    assert sorted(file.name for file in path.parent.iterdir()) == left, "nothing was touched"

    moved = set_aside(path)
    assert moved.parent == path.parent
    assert moved.name.startswith("ledger-corrupt-")
    assert moved.suffix == ".sqlite3"
    asyncio.run(Ledger.open(path).close())
    assert verify(path).ok


def test_the_new_ledger_names_the_old_one(path: Path) -> None:
    content = path.read_bytes()
    moved = set_aside(path)
    asyncio.run(Ledger.open(path).close())
    with closing(sqlite3.connect(path)) as connection:
        (data,) = connection.execute("SELECT data FROM bodies WHERE seq = 1").fetchone()
    named = {"file": moved.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert json.loads(data)["after"] == named
    assert verify(moved).ok, "a good ledger that was set aside can still be checked"


def test_one_after_another_set_aside_in_the_same_second(path: Path) -> None:
    moved = [set_aside(path)]
    for _ in range(2):
        asyncio.run(Ledger.open(path).close())
        moved.append(set_aside(path))
    assert len({file for file in moved if file.exists()}) == 3
    asyncio.run(Ledger.open(path).close())
    with closing(sqlite3.connect(path)) as connection:
        (data,) = connection.execute("SELECT data FROM bodies WHERE seq = 1").fetchone()
    assert json.loads(data)["after"]["file"] == moved[-1].name


def test_the_journal_moves_along(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    path.write_text("damaged")
    path.with_name("ledger.sqlite3-wal").write_text("its journal")
    moved = set_aside(path)
    assert moved.with_name(moved.name + "-wal").read_text() == "its journal"
    asyncio.run(Ledger.open(path).close())


def test_a_ledger_in_use_is_not_set_aside(path: Path) -> None:
    async def work() -> None:
        ledger = Ledger.open(path)
        with pytest.raises(KnownError, match="has the ledger"):
            set_aside(path)
        with pytest.raises(KnownError, match="has the ledger"):
            Ledger.open(path)
        await ledger.close()
        await Ledger.open(path).close()

    asyncio.run(work())


def test_no_two_ledgers_begin_alike(tmp_path: Path) -> None:
    hashes = set()
    for name in ("one", "two"):
        path = tmp_path / f"{name}.sqlite3"

        async def work(path: Path = path) -> None:
            await Ledger.open(path, clock=lambda: 1.0).close()

        asyncio.run(work())
        with closing(sqlite3.connect(path)) as connection:
            hashes.add(connection.execute("SELECT hash FROM entries").fetchone()[0])
    assert len(hashes) == 2


def test_what_a_crash_left_of_a_beginning_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    for suffix in (".new", ".new-wal", ".new-shm"):
        path.with_name(path.name + suffix).write_text("half")
    asyncio.run(Ledger.open(path).close())
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ledger.sqlite3", "ledger.sqlite3.lock"]
    assert verify(path).ok


def test_odd_names_are_no_trouble(tmp_path: Path) -> None:
    folder = tmp_path / "50% of? #my caf\u00e9"
    folder.mkdir()
    path = folder / "ledger?mode=memory.sqlite3"
    write(path, approved(request("r1")))
    assert verify(path).ok
    with closing(History(path)) as history:
        assert history.count() == 1
    assert path.exists()


def test_the_file_becomes_private_again(path: Path) -> None:
    path.chmod(0o644)
    asyncio.run(Ledger.open(path).close())
    assert path.stat().st_mode & 0o777 == 0o600
