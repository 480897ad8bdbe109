"""Hosts that a person opened for a project: its later sessions reach them from the start.

A project is its path with the inode of its folder: another folder at the same path gets nothing.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.codec import decode, encode
from runner.model.errors import KnownError
from runner.model.network import Destination, UnusableHost
from runner.system.durable import replace_file
from runner.system.file_lock import held

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from runner.system.places import Places

NAME = "work-hosts.json"
LOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ProjectHost:
    """One host of one project."""

    project: str
    device: int
    inode: int
    host: str
    port: int
    private: str = ""
    """The addresses in the own network that it may lead to; '' for public ones."""
    at: float = 0.0
    """When it was opened, in seconds since the epoch."""

    @property
    def destination(self) -> Destination:
        return Destination(self.host, self.port)


def all_hosts(places: Places) -> tuple[ProjectHost, ...]:
    """Return all of them, the oldest first. Raises KnownError where the file cannot be read."""
    try:
        found = json.loads(_file(places).read_text("utf-8"))
        hosts = tuple(decode(ProjectHost, one) for one in found)
        for one in hosts:
            Destination.parse(one.destination.with_port)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, UnusableHost) as error:
        raise KnownError(f"{_file(places)} cannot be read: {error}.", "Repair it, or remove it.") from error
    return hosts


def hosts_of(places: Places, project: Path) -> tuple[ProjectHost, ...]:
    """Return those of a project as it is now. Raises KnownError."""
    try:
        found = os.stat(project)
    except OSError:
        return ()
    here = (str(project), found.st_dev, found.st_ino)
    return tuple(one for one in all_hosts(places) if (one.project, one.device, one.inode) == here)


def new(project: str, destination: Destination, private: str) -> ProjectHost:
    """Return a host as it is kept for a project. Raises KnownError where that is gone."""
    try:
        found = os.stat(project)
    except OSError as error:
        raise KnownError(
            f"The project {project} cannot be opened: {error.strerror}.", "Nothing was allowed."
        ) from error
    return ProjectHost(project, found.st_dev, found.st_ino, destination.host, destination.port, private, time.time())


def add(places: Places, new: ProjectHost) -> None:
    """Keep a host, in place of an earlier word about the same. Raises KnownError and OSError."""
    with held(_file(places), LOCK_SECONDS):
        _write(places, [*(one for one in all_hosts(places) if not _is_same(one, new)), new])


def remove(places: Places, old: ProjectHost) -> bool:
    """Forget a host; return whether it was there. Raises KnownError and OSError."""
    with held(_file(places), LOCK_SECONDS):
        before = all_hosts(places)
        left = [one for one in before if not _is_same(one, old)]
        if len(left) < len(before):
            _write(places, left)
    return len(left) < len(before)


def _is_same(one: ProjectHost, other: ProjectHost) -> bool:
    return (one.project, one.inode, one.host, one.port) == (other.project, other.inode, other.host, other.port)


def _write(places: Places, hosts: Iterable[ProjectHost]) -> None:
    replace_file(_file(places), json.dumps([encode(one) for one in hosts], indent=1))


def _file(places: Places) -> Path:
    return places.config / NAME
