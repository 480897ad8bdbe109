"""What counts for a program at work at this moment: the person's settings and rules, and what its agent may do.

Read from the files at each use: so it counts with and without a console, and for programs that are at work already.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.identity.agents import Agents
from runner.identity.allowance import Allowance, forbidden
from runner.model.assessment import Level
from runner.model.request import ClientTool, Isolation, Language, NetworkMode, Request, Tool
from runner.policy import rulefile
from runner.policy.decide import Policy
from runner.settings.loading import load
from runner.system.bucket import Bucket
from runner.system.clock import since_boot
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.identity.agents import Agent
    from runner.model.network import Destination
    from runner.settings.loading import Settings
    from runner.system.places import Places

PAUSED = "A person has paused this agent: its commands are refused until it is resumed."
UNKNOWN = "The list of agents cannot be read, so nobody knows whether this agent was revoked or paused."
ASK = "Wait for that to change, or ask the person."
REVOKED = "A person revoked its agent {}."
LEAVE_OUT = "Leave it out, or ask the person to change that."
ASKS_ALL = "Your settings or rules cannot be read whole, so every command is asked about."
LONGEST_TURN = 10.0
"""Seconds for which a command above the agent's rate waits for its turn; later ones are refused."""
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


class InForce:
    """For one program. Any thread may call it."""

    def __init__(
        self,
        places: Places,
        name: str,
        found: Callable[[Agents], Agent | None] = lambda _agents: None,
        tools: tuple[str, ...] = (),
        environment: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = since_boot,
    ) -> None:
        """`name` is what it is called where it belongs to no agent; `found` returns the agent that it belongs to, which
        may be revoked; `tools` are the names by which its client calls its shell, for rules that name them.
        """
        self._places = places
        self._found = found
        self._tools = tools or ("",)
        self._environment = environment
        self._clock = clock
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._agents = Agents(places)
        self._known: tuple[Agent, ...] | None = None
        """The agents among which its own was looked for last."""
        self._token = ""
        """Hash of the token of its agent, which stays where that is renamed; '' for none."""
        self._name = name
        self._read: tuple[object, ...] = ()
        """Content of the files that the policy is of."""
        self._settings, self._policy = self._load()
        self._bucket: tuple[int, Bucket] = (0, Bucket(1.0, 1.0, clock))

    def close(self) -> None:
        """Let nothing wait for its turn any more."""
        self._over.set()

    # ---- its agent ----

    @property
    def agent(self) -> str:
        """The name of its agent now; that of the client or program where it belongs to none."""
        with self._lock:
            self._look()
            return self._name

    def ended(self) -> str:
        """Return why it may not be at work any more: its agent was revoked. '' where it may."""
        with self._lock:
            agent = self._look()
            return REVOKED.format(self._name) if self._token and agent is None and not self._agents.problem else ""

    def standing(self) -> str:
        """Return why its commands are refused, whatever they do; '' where they are not."""
        with self._lock:
            agent = self._look()
            if self._agents.problem:
                return UNKNOWN
            if self._token and agent is None:
                return REVOKED.format(self._name)
            return PAUSED if agent is not None and agent.paused else ""

    @property
    def allowance(self) -> Allowance:
        """What a person allows its agent."""
        with self._lock:
            agent = self._look()
            return Allowance() if agent is None else agent.allowance

    def _look(self) -> Agent | None:
        """Return its agent as it is now; None where it belongs to none that is in force."""
        self._agents.refresh()
        known = self._agents.all()
        if not self._token and known != self._known:
            self._known = known
            if (found := self._found(self._agents)) is not None:
                self._token, self._name = found.token_sha256, found.name
        agent = next((one for one in known if one.token_sha256 == self._token and not one.revoked), None)
        if agent is not None:
            self._name = agent.name
        return agent

    # ---- settings and rules ----

    def of_command(self, text: str, folder: str) -> CommandTerms:
        """Return what counts for a command."""
        if why := self.standing():
            return CommandTerms(f"{why} {ASK}")
        return self._by_rules(text, folder)

    def denied(self, text: str, folder: str) -> str:
        """Return why rules or limits deny a command, whether its agent is paused or not; '' where they do not."""
        return self._by_rules(text, folder).refused

    def _by_rules(self, text: str, folder: str) -> CommandTerms:
        agent, allowance = self.agent, self.allowance
        with self._lock:
            settings, policy = self._now()
        raised, reason = None, ""
        for tool in self._tools:
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

    def refuses_host(self, destination: Destination) -> str:
        """Return why a host may not be opened for it; '' where it may."""
        request = host_request(self.agent, 0.0, destination)
        allowance = self.allowance
        with self._lock:
            settings, policy = self._now()
        return policy.denied(request) or forbidden(request, allowance, settings)

    def stronger(self, level: Level) -> str:
        """Return that the settings want a stronger sandbox than the rings for `level`, in a sentence; '' where not."""
        with self._lock:
            _, policy = self._now()
        wanted = policy.stronger(level, Isolation.LOCAL)
        if wanted is None:
            return ""
        return f"For {level.name} your policy asks for {wanted.label} or stronger; this would run in the local sandbox."

    def turn(self) -> str:
        """Wait for the turn of a command of its agent; return why it may not run: more came than a person allows."""
        rate = self.allowance.rate_per_minute
        if not rate:
            return ""
        with self._lock:
            settings, _ = self._now()
            if self._bucket[0] != rate:
                self._bucket = rate, Bucket(rate / 60, float(min(settings.burst, rate)), self._clock)
            seconds = self._bucket[1].reserve(LONGEST_TURN)
        if seconds > LONGEST_TURN:
            return (
                f"A person lets this agent start {rate:,} commands a minute. Try again in {max(1, round(seconds))} s."
            )
        self._over.wait(seconds)
        return ""

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
        from runner.risk import own

        return own.read(self._places.own_rules).problems

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
