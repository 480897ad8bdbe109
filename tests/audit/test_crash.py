"""A writing process is killed in the middle: what was acknowledged is there, and nothing is half there."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.verify import verify
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from pathlib import Path


def start(path: Path, mark: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.audit.writer", str(path), mark], stdout=subprocess.PIPE, text=True
    )


def kill_after(process: subprocess.Popen[str], lines: int) -> list[str]:
    """Let it acknowledge so many, kill it, and take what it had said up to then."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(lines)]
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    return [*said, *(line for line in rest.splitlines(keepends=True) if line.endswith("\n"))]


def texts(path: Path) -> dict[int, str]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT seq, data ->> '$.text' FROM bodies WHERE data ->> '$.text' IS NOT NULL"))


def test_kill_nine_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    acknowledged: dict[int, str] = {}
    for number, lines in enumerate((1, 17, 200, 900)):
        for line in kill_after(start(path, f"run{number}"), lines):
            seq, text = line.split()
            acknowledged[int(seq)] = text
        found = verify(path)
        assert found.ok, found.what
        stored = texts(path)
        assert acknowledged.items() <= stored.items()
        groups: dict[str, list[str]] = {}
        for _, text in sorted(stored.items()):
            group, _, part = text.rpartition("-")
            groups.setdefault(group, []).append(part)
        # Of a group that was cut off, what came first is there.
        assert all(parts == ["0", "1", "2"][: len(parts)] for parts in groups.values())
    asyncio.run(Ledger.open(path).close())
    assert verify(path).ok
    assert len(acknowledged) >= 1118


def test_a_process_that_is_gone_keeps_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    process = start(path, "one")
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(KnownError, match=f"process {process.pid}") as caught:
        Ledger.open(path)
    assert caught.value.remedy
    kill_after(process, 0)
    asyncio.run(Ledger.open(path).close())


def test_verifying_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    process = start(path, "busy")
    try:
        assert process.stdout is not None
        process.stdout.readline()
        counts = []
        for _ in range(5):
            found = verify(path)
            assert found.ok, found.what
            counts.append(found.entries)
            process.stdout.readline()
        assert counts == sorted(counts)
    finally:
        kill_after(process, 0)
