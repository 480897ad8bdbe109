"""The agents that may connect, and what a person sets for each, as awaitable calls of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import phrases
from runner.identity.allowance import most_of
from runner.settings.loading import Settings

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Mapping

    from app.link.decisions import EngineCaller
    from runner.engine.engine import Engine
    from runner.identity.agents import Agent
    from runner.identity.allowance import Allowance
    from runner.model.submission import Submission


class AgentRegistry:
    """The agents that may connect."""

    def __init__(self, link: EngineCaller) -> None:
        self._link = link

    def all(self) -> tuple[Agent, ...]:
        """Return registered agents, revoked ones too; none before the engine is there."""
        engine = self._link.engine
        return engine.parts.agents.all() if engine is not None else ()

    def add_agent(self, name: str) -> Future[str]:
        """Register an agent. The future gives its token, which is shown only once."""
        return self._link.call(lambda engine: engine.membership.add(name))

    def send_test(self, agent: str) -> Future[str]:
        """Ask for something harmless in the name of `agent`, so that a person sees what asking is like.

        The future gives the request's id.
        """

        async def work(engine: Engine) -> str:
            return (await engine.submit(phrases.test_request(agent))).request_id

        return self._link.call(work)

    def ask(self, submission: Submission) -> Future[None]:
        """Make a request in the person's own name: it is assessed, decided and run like any other."""

        async def work(engine: Engine) -> None:
            await engine.submit(submission)

        return self._link.call(work)

    def look_again(self) -> None:
        """Have the list read again: its file has changed."""
        if self._link.engine is not None:
            self._link.post(lambda engine: engine.membership.look_again())

    def revoke_agent(self, name: str) -> Future[None]:
        """Revoke an agent's token."""
        return self._link.call(lambda engine: engine.membership.revoke(name))

    def rename_agent(self, name: str, new: str) -> Future[None]:
        """Give an agent another name."""
        return self._link.call(lambda engine: engine.membership.rename(name, new))

    def pause_agent(self, name: str) -> Future[None]:
        """Refuse the calls of an agent."""
        return self._link.call(lambda engine: engine.membership.pause(name))

    def resume_agent(self, name: str) -> Future[None]:
        """Take the calls of an agent again."""
        return self._link.call(lambda engine: engine.membership.resume(name))

    def allow_agent(self, name: str, allowance: Allowance) -> Future[None]:
        """Set what an agent may ask for."""
        return self._link.call(lambda engine: engine.membership.allow(name, allowance))

    def paint_agent(self, name: str, ink: int) -> Future[None]:
        """Give an agent another ink."""
        return self._link.call(lambda engine: engine.membership.paint(name, ink))

    def most(self) -> Mapping[str, float]:
        """Return the limits of the settings, above which no limit of an agent counts, by name."""
        engine = self._link.engine
        return most_of(Settings() if engine is None else engine.parts.configuration.settings)
