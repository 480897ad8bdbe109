"""The file of grants, private to its owner, written before a grant or a use takes effect."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import stat
import time
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from runner.model.assessment import Level, Touch
from runner.model.errors import KnownError
from runner.model.request import Isolation, Language, Limits, Tool
from runner.policy.grants import LATEST, Grant, Outline, Subject, forbidden, no_outline
from runner.system.clock import ForwardClock
from runner.system.durable import replace_file
from runner.system.plain_file import open_file, read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.system.places import Places

SCHEMA = 1
MOST_GRANTS = 200
MOST_BYTES = 64 << 20
"""Largest size of the file: more than `MOST_GRANTS` grants of the longest kind need."""


class Grants:
    """The grants in force. Changed on one loop only; any thread may call `all`, as the table is replaced as a whole.

    A file that cannot be read does not stop Assent from starting: there are no grants then and `problem` says why.
    """

    def __init__(self, places: Places, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since the epoch; one that is set back brings no expired grant to life again."""
        self._file = places.grants
        self._time_file = places.grants_time
        self._wall = clock
        self._clock = ForwardClock(wall=clock)
        self._grants: dict[str, Grant] = {}
        self._writing = asyncio.Lock()
        self.session = secrets.token_hex(8)
        self.problem = ""
        self.read()

    def read(self) -> None:
        """Read the file; set `problem` where it cannot be read."""
        try:
            self._grants = _read(self._file)
            self._clock = ForwardClock(self._latest(), self._wall)
            self.problem = ""
        except FileNotFoundError:
            self._grants, self.problem = {}, ""
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            self._grants = {}
            self.problem = (
                f"What was remembered cannot be read from {self._file} ({type(error).__name__}: {error}). "
                "Nothing is remembered."
            )

    async def note_time(self) -> None:
        """Write down how late it is while a grant has an end: after a restart it is not earlier."""
        if any(grant.expires_at for grant in self._grants.values()):
            text = json.dumps({"schema": SCHEMA, "latest": self._clock()}) + "\n"
            with contextlib.suppress(OSError):
                await asyncio.to_thread(replace_file, self._time_file, text)

    def _latest(self) -> float:
        """Return the latest time that is known to have been; 0 where no grant has an end."""
        if not any(grant.expires_at for grant in self._grants.values()):
            return 0.0
        known = [max(grant.made_at, grant.last_used) for grant in self._grants.values()]
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            noted = json.loads(read_file(self._time_file))["latest"]
            if type(noted) in (int, float) and 0 <= noted < LATEST:
                known.append(noted)
        return max(known)

    def all(self) -> tuple[Grant, ...]:
        """Return the grants that are valid now, newest first."""
        now = self._clock()
        live = [grant for grant in self._grants.values() if grant.live(now, self.session)]
        return tuple(sorted(live, key=lambda grant: -grant.made_at))

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return self._clock()

    def find(
        self, request: Request, assessment: Assessment, registered: float = 0.0, outline: Outline = no_outline
    ) -> Grant | None:
        """Return the narrowest grant that covers `request` now.

        `registered` is the time at which its agent was added, in seconds since the epoch; an older grant belongs to
        an earlier agent of the same name. `outline` returns what is the same in programs with other literals.
        """
        narrowest = list(Subject)
        covering = [
            grant
            for grant in self.all()
            if (not grant.agent or grant.made_at >= registered) and grant.covers(request, assessment, outline)
        ]
        return min(covering, key=lambda grant: narrowest.index(grant.subject), default=None)

    async def claim(
        self, request: Request, assessment: Assessment, registered: float = 0.0, outline: Outline = no_outline
    ) -> Grant | None:
        """Use the grant that `find` returns once, and return it; None where there is none.

        The use is on disk when this returns, so that no crash gives more uses than were granted. Raises KnownError
        where it cannot be written: then the grant is not used.
        """
        async with self._writing:
            grant = self.find(request, assessment, registered, outline)
            if grant is None:
                return None
            used = replace(grant, used=grant.used + 1, last_used=self._clock())
            await self._write({**self._grants, grant.name: used})
            if grant.name not in self._grants:  # revoked since the await
                return None
            self._grants = {**self._grants, grant.name: used}
            return used

    def hosts(self, agent: str, registered: float = 0.0) -> tuple[Grant, ...]:
        """Return the grants for hosts of `agent`, which was added at `registered`, newest first."""
        mine = (one for one in self.all() if one.subject is Subject.HOST and one.agent == agent)
        return tuple(one for one in mine if one.made_at >= registered)

    async def use(self, names: tuple[str, ...]) -> tuple[Grant, ...]:
        """Use each of these grants once, and return those that still count. Raises KnownError, as `claim` does."""
        async with self._writing:
            now = self._clock()
            used = {one.name: replace(one, used=one.used + 1, last_used=now) for one in self.all() if one.name in names}
            if not used:
                return ()
            await self._write({**self._grants, **used})
            used = {name: one for name, one in used.items() if name in self._grants}  # the others were revoked since
            self._grants = {**self._grants, **used}
            return tuple(used.values())

    async def add(self, grant: Grant) -> None:
        """Add a grant. Raises KnownError where there are too many or it cannot be written."""
        async with self._writing:
            kept = {live.name: live for live in self.all()}
            if self.problem:
                raise KnownError(self.problem, "Repair the file, or start again under Rules.")
            if len(kept) >= MOST_GRANTS:
                raise KnownError(f"{MOST_GRANTS} grants are remembered already.", "Revoke some under Rules first.")
            if grant.name in self._grants:
                raise KnownError(f"There is a grant called {grant.name} already.", "Try again.")
            await self._write({**kept, grant.name: grant})
            # From the present table: a grant may have been revoked since the await.
            self._grants = {**{name: one for name, one in kept.items() if name in self._grants}, grant.name: grant}

    async def revoke(self, names: tuple[str, ...]) -> tuple[Grant, ...]:
        """Revoke grants, in force before the first await, and return those that existed.

        Raises KnownError where the file cannot be written: they are revoked until the next start only.
        """
        gone = tuple(grant for name in names if (grant := self._grants.get(name)) is not None)
        self._grants = {name: grant for name, grant in self._grants.items() if name not in names}
        if gone:
            async with self._writing:
                await self._write(self._grants)
        return gone

    async def start_again(self) -> None:
        """Move an unreadable file aside. Raises KnownError where that is not possible."""
        aside = self._file.with_name(f"{self._file.name}.unreadable-{int(self._clock())}")
        async with self._writing:
            try:
                await asyncio.to_thread(os.replace, self._file, aside)
            except FileNotFoundError:
                pass
            except OSError as error:
                raise KnownError(f"{self._file} cannot be set aside: {error.strerror}.", "Move it away.") from error
            self.read()

    async def _write(self, grants: Mapping[str, Grant]) -> None:
        try:
            await asyncio.to_thread(_save, self._file, tuple(grants.values()))
        except OSError as error:
            raise KnownError(
                f"What is remembered could not be written to {self._file}: {error.strerror}.",
                "Free disk space or give yourself the right to write there.",
            ) from error


def plain(grant: Grant) -> dict[str, Any]:
    """Return a grant as JSON data, for the file and for the ledger."""
    return {**asdict(grant), "level": grant.level.name}


def _save(file: Path, grants: tuple[Grant, ...]) -> None:
    text = json.dumps({"schema": SCHEMA, "grants": [plain(grant) for grant in grants]}, indent=2)
    replace_file(file, text + "\n")


def _read(file: Path) -> dict[str, Grant]:
    with os.fdopen(open_file(file, os.O_RDONLY), "rb") as source:
        status = os.fstat(source.fileno())
        if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o022:
            raise ValueError("others may write this file")
        data = json.loads(source.read(MOST_BYTES))
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']} is not {SCHEMA}")
    grants = [_grant(entry) for entry in data["grants"]]
    if len({grant.name for grant in grants}) != len(grants):
        raise ValueError("a name is there twice")
    return {grant.name: grant for grant in grants}


def _grant(entry: dict[str, Any]) -> Grant:
    """Return the grant of an entry. Raises ValueError, TypeError, KeyError or AttributeError for an invalid one."""
    touch = {kind: tuple(map(_text, entry["touch"][kind])) for kind in (one.name for one in fields(Touch))}
    values: dict[str, Any] = {
        **entry,
        # Once yes or no: a yes to any address counts no more.
        "private": "" if isinstance(entry.get("private"), bool) else entry.get("private", ""),
        "subject": Subject(entry["subject"]),
        "tool": Tool(entry["tool"]),
        "level": Level[entry["level"]],
        "language": None if entry["language"] is None else Language(entry["language"]),
        "isolation": Isolation(entry["isolation"]),
        "touch": Touch(**touch),
        "found": tuple(map(_text, entry.get("found", ()))),
        "limits": Limits(**entry["limits"]),
        "protections": tuple(map(_text, entry.get("protections", ()))),
    }
    grant = Grant(**values)
    for text in (
        grant.name,
        grant.title,
        grant.agent,
        grant.digest,
        grant.session,
        grant.sandbox,
        grant.pattern,
        grant.private,
    ):
        _text(text)
    for number in (grant.made_at, grant.expires_at, grant.last_used, *asdict(grant.limits).values()):
        if type(number) not in (int, float):
            raise TypeError("a number of a grant is none")
    if type(grant.uses) is not int or type(grant.used) is not int:
        raise TypeError("a count of a grant is not whole")
    if why := forbidden(grant):
        raise ValueError(why)
    return grant


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text of a grant is none")
    return value
