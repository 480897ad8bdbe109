"""The terms in force for a program at work: what its agent may do, and the person's settings and rules."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from runner.identity.agents import Agents
from runner.identity.allowance import Allowance
from runner.system.bucket import Bucket
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.identity.agents import Agent
    from runner.model.assessment import Level
    from runner.model.network import Destination
    from runner.system.places import Places
    from runner.work.terms import CommandTerms, WorkTerms

PAUSED = "A person has paused this agent: its commands are refused until it is resumed."
UNKNOWN = "The list of agents cannot be read, so nobody knows whether this agent was revoked or paused."
ASK = "Wait for that to change, or ask the person."
REVOKED = "A person revoked its agent {}."
LONGEST_TURN = 10.0
"""Seconds for which a command above the agent's rate waits for its turn; later ones are refused."""


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
        self._read_terms: WorkTerms | None = None
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

    def load(self) -> None:
        """Read them, so that the first command need not wait for that. Blocks."""
        with self._lock:
            self._terms()

    def of_command(self, text: str, folder: str) -> CommandTerms:
        """Return what counts for a command."""
        if why := self.standing():
            from runner.work.terms import CommandTerms  # as below

            return CommandTerms(f"{why} {ASK}")
        return self._by_rules(text, folder)

    def denied(self, text: str, folder: str) -> str:
        """Return why rules or limits deny a command, whether its agent is paused or not; '' where they do not."""
        return self._by_rules(text, folder).refused

    def _by_rules(self, text: str, folder: str) -> CommandTerms:
        agent, allowance = self.agent, self.allowance
        with self._lock:
            return self._terms().of_command(agent, allowance, self._tools, text, folder)

    def refuses_host(self, destination: Destination) -> str:
        """Return why a host may not be opened for it; '' where it may."""
        agent, allowance = self.agent, self.allowance
        with self._lock:
            return self._terms().refuses_host(agent, allowance, destination)

    def stronger(self, level: Level) -> str:
        """Return that the settings want a stronger sandbox than the rings for `level`, in a sentence; '' where not."""
        with self._lock:
            return self._terms().stronger(level)

    def _terms(self) -> WorkTerms:
        if self._read_terms is None:
            # Loaded here: what reads settings and rules takes long, and until its program runs nobody asks for them.
            from runner.work.terms import WorkTerms

            self._read_terms = WorkTerms(self._places, self._environment, self._over)
        return self._read_terms

    def turn(self) -> str:
        """Wait for the turn of a command of its agent; return why it may not run: more came than a person allows."""
        rate = self.allowance.rate_per_minute
        if not rate:
            return ""
        with self._lock:
            burst = self._terms().settings.burst
            if self._bucket[0] != rate:
                self._bucket = rate, Bucket(rate / 60, float(min(burst, rate)), self._clock)
            seconds = self._bucket[1].reserve(LONGEST_TURN)
        if seconds > LONGEST_TURN:
            return (
                f"A person lets this agent start {rate:,} commands a minute. Try again in {max(1, round(seconds))} s."
            )
        self._over.wait(seconds)
        return ""
