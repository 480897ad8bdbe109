"""The person's settings and rules of this moment on what a program at work does.

Read from the files at each use: so it counts with and without a console, and for programs that are at work already.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.identity.forbidden import forbidden
from runner.model.assessment import Level
from runner.model.request import ClientTool, Isolation, Language, NetworkMode, Request, Tool
from runner.policy import rulefile
from runner.policy.decide import Policy
from runner.settings.loading import load
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping
    from pathlib import Path

    from runner.identity.allowance import Allowance
    from runner.model.network import Destination
    from runner.settings.loading import Settings
    from runner.system.places import Places

LEAVE_OUT = "Leave it out, or ask the person to change that."
ASKS_ALL = "Your settings or rules cannot be read whole, so every command is asked about."
SETTLE_SECONDS = 0.3
"""How long a file has to be as it is before it counts: editors empty a file and write it again."""
MOST_READINGS = 10
HOLDS = {"critical": Level.CRITICAL, "high": Level.HIGH, "none": None}
"""Choice of the setting -> level from which on a command is held."""


@dataclass(frozen=True, slots=True)
class CommandTerms:
    """What counts for one command."""

    refused: str = ""
    """Why it may not run, in a sentence for agent and person; '' where it may."""
    raised: Level | None = None
    """The level that a rule raises it to."""
    why: str = ""
    """That a rule does so, or that every command is asked about; '' for neither."""
    holds: Level | None = None
    """From which level on it is held; None for never."""
    asks: bool = False
    """Whether it is held whatever its level is."""


def host_request(agent: str, at: float, destination: Destination) -> Request:
    """Return the request that opening a host for a program of `agent` stands for, by which rules are asked."""
    return Request(
        id="work",
        agent=agent,
        tool=Tool.CODE_EXECUTE,
        received_at=at,
        language=Language.SHELL,
        network=NetworkMode.DOMAINS,
        domains=(str(destination),),
    )


class WorkTerms:
    """For one program. One thread at a time may call it."""

    def __init__(self, places: Places, environment: Mapping[str, str], over: threading.Event) -> None:
        """`over` is set once nothing is to wait any more."""
        self._places = places
        self._environment = environment
        self._over = over
        self._read: tuple[object, ...] = ()
        """Content of the files that the policy is of."""
        self._settings, self._policy = self._load()

    @property
    def settings(self) -> Settings:
        return self._now()[0]

    def of_command(
        self, agent: str, allowance: Allowance, tools: tuple[str, ...], text: str, folder: str
    ) -> CommandTerms:
        """Return what rules and limits say of a command; `tools` are names of the client's shell."""
        settings, policy = self._now()
        raised, reason = None, ""
        for tool in tools:
            request = Request(
                id="work",
                agent=agent,
                tool=Tool.CLIENT_SHELL,
                received_at=0.0,
                language=Language.SHELL,
                code=text,
                client=ClientTool(tool, folder),
                isolation=Isolation.LOCAL,
            )
            if why := policy.denied(request) or forbidden(request, allowance, settings):
                return CommandTerms(f"{why} {LEAVE_OUT}")
            level, says = policy.raised(request)
            if level is not None and (raised is None or level > raised):
                raised, reason = level, says
        asks = policy.asks_everything
        return CommandTerms("", raised, ASKS_ALL if asks else reason, HOLDS[settings.hold_at_work], asks)

    def refuses_host(self, agent: str, allowance: Allowance, destination: Destination) -> str:
        """Return why a host may not be opened; '' where it may."""
        request = host_request(agent, 0.0, destination)
        settings, policy = self._now()
        return policy.denied(request) or forbidden(request, allowance, settings)

    def stronger(self, level: Level) -> str:
        """Return that the settings want a stronger sandbox than the rings for `level`, in a sentence; '' where not."""
        _, policy = self._now()
        wanted = policy.stronger(level, Isolation.LOCAL)
        if wanted is None:
            return ""
        return f"For {level.name} your policy asks for {wanted.label} or stronger; this would run in the local sandbox."

    def _now(self) -> tuple[Settings, Policy]:
        if self._contents() != self._read:
            self._over.wait(SETTLE_SECONDS)
            self._settings, self._policy = self._load()
        return self._settings, self._policy

    def _load(self) -> tuple[Settings, Policy]:
        """Read the files. While one is being written a part of it may be missing, and a part of the rules with it."""
        for _ in range(MOST_READINGS):
            self._read = self._contents()
            loaded = load(self._places, self._environment)
            rules = rulefile.read(self._places, loaded.rules)
            dangers = self._dangers()
            if self._is_settled() and self._contents() == self._read:
                unreadable = bool(loaded.problems or rules.problems or dangers)
                return loaded.settings, Policy(loaded.settings, rules, ask_everything=unreadable)
            self._over.wait(SETTLE_SECONDS)
        self._read = ()
        return loaded.settings, Policy(loaded.settings, rules, ask_everything=True)

    def _dangers(self) -> tuple[str, ...]:
        """Return what could not be read of the person's own rules of dangers."""
        if not self._own_rules():
            return ()
        # Loaded here: with the classifier, which takes long; most people have no such rules.
        from runner.risk import user_rules

        return user_rules.read(self._places.own_rules).problems

    def _own_rules(self) -> list[Path]:
        return sorted(self._places.own_rules.glob("*.yaml"))

    def _is_settled(self) -> bool:
        """Whether no file was changed in this moment."""
        now = time.time()
        for path in self._files():
            with contextlib.suppress(OSError):
                if 0 <= now - path.stat().st_mtime < SETTLE_SECONDS:
                    return False
        return True

    def _files(self) -> list[Path]:
        config = self._places.config
        return [self._places.settings, config / rulefile.FILE, *self._own_rules()]

    def _contents(self) -> tuple[object, ...]:
        """Return what the files hold, or why they cannot be read."""
        found: list[object] = []
        for path in self._files():
            try:
                found.append((path, read_file(path)))
            except OSError as error:
                found.append((path, error.errno))
        return tuple(found)
