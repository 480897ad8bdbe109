"""A record of what Assent put into clients' configuration, so that it takes back that and nothing else."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients.client import ConfigScope
from runner.clients.config_file import PRIVATE
from runner.clients.settings_change import Made
from runner.model.errors import KnownError
from runner.system.durable import replace_file
from runner.system.plain_file import read_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.system.places import Places

SCHEMA = 1
LOCK_SECONDS = 5.0
"""Time limit for the lock: another connection writes its files in some milliseconds."""
BROKEN = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class FileReceipt:
    """What was put into one file. `created`: there was none before."""

    path: str
    created: bool
    made: tuple[Made, ...]
    mode: int = PRIVATE
    """Of before: others may not read a file with a token, and may again without it."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """One client that was connected. `folder` is the project; '' for the whole account."""

    client: str
    scope: ConfigScope
    folder: str
    agent: str
    files: tuple[FileReceipt, ...]

    def about(self, client: str, scope: ConfigScope, folder: str) -> bool:
        return (self.client, self.scope, self.folder) == (client, scope, folder)


class Receipts:
    """The receipts in a file of this account. One that cannot be read counts as none."""

    def __init__(self, places: Places) -> None:
        self._file = places.state / "connections.json"

    def all(self) -> tuple[Receipt, ...]:
        try:
            data = json.loads(read_file(self._file))
            return tuple(_receipt(one) for one in data["connections"]) if data["schema"] == SCHEMA else ()
        except (OSError, *BROKEN):
            return ()

    def find(self, client: str, scope: ConfigScope, folder: str) -> Receipt | None:
        return next((one for one in self.all() if one.about(client, scope, folder)), None)

    def replace(self, receipt: Receipt) -> None:
        """Write a receipt in the place of the one about the same. Raises KnownError."""
        others = [one for one in self.all() if not one.about(receipt.client, receipt.scope, receipt.folder)]
        self._write([*others, receipt])

    def remove(self, client: str, scope: ConfigScope, folder: str) -> None:
        """Raises KnownError."""
        found = self.all()
        rest = [one for one in found if not one.about(client, scope, folder)]
        if len(rest) != len(found):
            self._write(rest)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock under which configurations are changed. Raises KnownError."""
        path = self._file.with_name(f"{self._file.name}.lock")
        try:
            make_folder(path.parent)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise KnownError(f"{path} cannot be opened: {error.strerror or error}.") from error
        try:
            end = time.monotonic() + LOCK_SECONDS
            while not _taken(descriptor):
                if time.monotonic() > end:
                    raise KnownError("Another connection is being made.", "Try again when it is done.")
                time.sleep(0.02)
            yield
        finally:
            os.close(descriptor)

    def _write(self, receipts: list[Receipt]) -> None:
        data = {"schema": SCHEMA, "connections": [_data(one) for one in receipts]}
        try:
            replace_file(self._file, json.dumps(data, indent=2) + "\n")
        except OSError as error:
            raise KnownError(f"{self._file} cannot be written: {error.strerror or error}.") from error


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _data(receipt: Receipt) -> dict[str, object]:
    files = [
        {
            "path": file.path,
            "created": file.created,
            "mode": file.mode,
            "made": [
                {"path": one.path, "listed": one.listed, "sha256": one.sha256, "containers": one.containers}
                for one in file.made
            ],
        }
        for file in receipt.files
    ]
    return {
        "client": receipt.client,
        "scope": receipt.scope.value,
        "folder": receipt.folder,
        "agent": receipt.agent,
        "files": files,
    }


def _receipt(data: dict[str, object]) -> Receipt:
    files = data["files"]
    assert isinstance(files, list)
    return Receipt(
        str(data["client"]),
        ConfigScope(str(data["scope"])),
        str(data["folder"]),
        str(data["agent"]),
        tuple(
            FileReceipt(
                str(Path(file["path"])),
                bool(file["created"]),
                tuple(
                    Made(tuple(map(str, one["path"])), bool(one["listed"]), str(one["sha256"]), int(one["containers"]))
                    for one in file["made"]
                ),
                int(file["mode"]) & 0o777,
            )
            for file in files
        ),
    )
