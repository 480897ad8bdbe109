"""Answers to requests, the PIN that some need, and what is removed from the history, as awaitable engine calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from app import phrases
from runner.approval.deliberate import ApproveBy
from runner.model.decision import Verdict
from runner.requests.bounds import bounds
from runner.system.tasks import in_daemon

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Coroutine, Mapping

    from runner.approval.draft import Draft
    from runner.approval.editing import Earlier, Version
    from runner.audit.retention.retention import Pruned, RetentionPlan, RetentionRule
    from runner.engine.engine import Engine
    from runner.identity.keyring_answer import KeyringAnswer
    from runner.identity.pin import PinState
    from runner.identity.secrets import Where
    from runner.model.embedded_picture import EmbeddedPicture
    from runner.model.request import Request
    from runner.requests.bounds import Bound

T = TypeVar("T")


class EngineCaller(Protocol):
    """The link to the engine, as far as answers need it."""

    @property
    def engine(self) -> Engine | None:
        """For what can be read at once; None before it is there."""

    def call(self, work: Callable[[Engine], Coroutine[Any, Any, T]]) -> Future[T]:
        """Have the engine do `work` now."""

    def post(self, work: Callable[[Engine], object]) -> None:
        """Have the engine do something short of which nothing comes back."""


class Decisions:
    """Answers to requests, and what a person looks at before answering."""

    def __init__(self, link: EngineCaller) -> None:
        self._link = link

    def approve(self, request_id: str, digest: str, pin: str = "") -> Future[str]:
        """Approve exactly what `digest` stands for. The future gives why that was not accepted, or ''.

        `pin` is given where that is asked for: the future of any approval raises PinRefused for a wrong one.
        """
        return self._answer(request_id, digest, Verdict.APPROVED, "", pin)

    def approve_below_minimum(self, request_id: str, digest: str, accepted: str, pin: str = "") -> Future[str]:
        """Approve in the sandbox `accepted`, which is weaker than the minimum, and is accepted for this request alone.

        The future gives why that was not accepted, or ''.
        """

        async def work(engine: Engine) -> str:
            return engine.approve_below_minimum(request_id, digest, accepted, proven=await engine.proven(pin))

        return self._link.call(work)

    def hand_over(self, request_id: str, digest: str, outcome: str, pin: str = "") -> Future[str]:
        """Give the agent exactly the outcome of a rehearsal with the digest `outcome`.

        The future gives why that was not accepted, or ''.
        """

        async def work(engine: Engine) -> str:
            return engine.hand_over(request_id, digest, outcome, proven=await engine.proven(pin))

        return self._link.call(work)

    def try_it(self, request_id: str) -> Future[str]:
        """Try the code of a request among decoys. The future gives why that does not begin, or ''."""

        async def work(engine: Engine) -> str:
            return engine.try_it(request_id)

        return self._link.call(work)

    def deny(self, request_id: str, digest: str, reason: str) -> Future[str]:
        """Deny exactly what `digest` stands for. The future gives why that was not accepted, or ''."""
        return self._answer(request_id, digest, Verdict.DENIED, reason or phrases.NO_REASON)

    def approve_edited(self, request_id: str, digest: str, version: Version, edited: str, pin: str = "") -> Future[str]:
        """Approve a person's version in place of the request; `digest` is the request's, `edited` the version's."""

        async def work(engine: Engine) -> str:
            proven = await engine.proven(pin)
            return await engine.editing.approve(
                request_id, digest, version.code, edited, version.limits, version.included, proven=proven
            )

        return self._link.call(work)

    def arm(self, request_id: str, digest: str, pin: str = "") -> Future[str]:
        """Approve a missed request for when its agent comes back. The future gives why that was not accepted, or ''."""

        async def work(engine: Engine) -> str:
            return await engine.late.arm(request_id, digest, proven=await engine.proven(pin))

        return self._link.call(work)

    def take_back(self, request_id: str) -> Future[str]:
        """Revoke the late approval of a request. The future gives why that came too late, or ''."""
        return self._link.call(lambda engine: engine.late.take_back(request_id))

    def look_at(self, request_id: str) -> None:
        """Pause the countdown of an open request: a person does something with it."""
        self._link.post(lambda engine: engine.look_at(request_id))

    def attend(self) -> None:
        """Let the countdowns of all open requests stand for a moment: a person is active in the queue."""
        self._link.post(lambda engine: engine.attend())

    def bounds(self, request: Request) -> Mapping[str, Bound]:
        """Return how far the limits of `request` may be changed; nothing before the engine is there."""
        engine = self._link.engine
        return bounds(request, engine.parts.configuration.settings) if engine is not None else {}

    def approve_by(self) -> ApproveBy:
        """What a person approves with; a key before the engine is there, as nothing can be approved then."""
        engine = self._link.engine
        return ApproveBy.of(engine.parts.configuration.settings) if engine is not None else ApproveBy.KEY

    def draft(self, request_id: str, version: Version) -> Future[Draft]:
        """Assess a person's version of a request."""
        return self._link.call(
            lambda engine: engine.editing.draft(request_id, version.code, version.limits, version.included)
        )

    def earlier(self, request_id: str) -> Future[Earlier | None]:
        """Look up what was approved before for the same purpose. The future gives it, or None."""
        return self._link.call(lambda engine: engine.editing.earlier(request_id))

    def pictures(self, request: Request) -> Future[tuple[EmbeddedPicture, ...]]:
        """Look for pictures that stand in the code of `request` as text."""
        return self._link.call(lambda engine: engine.parts.assessor.pictures(request.language, request.code))

    def _answer(self, request_id: str, digest: str, verdict: Verdict, reason: str, pin: str = "") -> Future[str]:
        async def work(engine: Engine) -> str:
            return engine.answer(request_id, digest, verdict, reason, proven=await engine.proven(pin))

        return self._link.call(work)


class PinKeeping:
    """The person's PIN: whether there is one, and changing it. Each call may take as long as the keyring does."""

    def __init__(self, link: EngineCaller) -> None:
        self._link = link

    def state(self) -> Future[PinState]:
        """Ask whether there is a PIN, and where."""
        return self._link.call(lambda engine: engine.parts.pin.state())

    def prove(self, pin: str) -> Future[None]:
        """Check a PIN for what the window itself does, as saving settings. The future raises KnownError."""
        return self._link.call(lambda engine: engine.parts.pin.check(pin))

    def change(self, old: str, new: str) -> Future[Where]:
        """Set `new` in place of `old`, empty where there was none. The future gives where it is stored."""
        return self._link.call(lambda engine: engine.parts.pin.change(old, new))

    def remove(self, old: str) -> Future[None]:
        """Remove the PIN."""
        return self._link.call(lambda engine: engine.parts.pin.remove(old))


class SecretKeeping:
    """Where Assent keeps its secrets, and what the person says about the keyring; a call may take as long as that."""

    def __init__(self, link: EngineCaller) -> None:
        self._link = link

    def secrets_where(self) -> Future[Where]:
        """Ask where secrets are kept; a keyring that is not allowed is not touched for it."""

        async def work(engine: Engine) -> Where:
            return await in_daemon("where secrets are", lambda: engine.parts.secrets.where)

        return self._link.call(work)

    def answer_keyring(self, answer: KeyringAnswer) -> Future[Where]:
        """Allow or refuse the keyring. The future gives where secrets are kept now; it raises KnownError."""

        async def work(engine: Engine) -> Where:
            where = await in_daemon("the keyring", lambda: engine.parts.secrets.take_answer(answer))
            await engine.history.sign()
            return where

        return self._link.call(work)


class HistoryUpkeep:
    """What a person has removed from the history. `pin` is given where approving needs it."""

    def __init__(self, link: EngineCaller) -> None:
        self._link = link

    def plan(self, rule: RetentionRule) -> Future[RetentionPlan]:
        """Ask what a rule would remove."""
        return self._link.call(lambda engine: engine.bounds.plan(rule))

    def carry_out(self, plan: RetentionPlan, pin: str = "") -> Future[Pruned]:
        """Remove what a person saw in `plan`."""

        async def work(engine: Engine) -> Pruned:
            return await engine.bounds.carry_out(plan, proven=await engine.proven(pin))

        return self._link.call(work)

    def remove_content(self, request_id: str, pin: str = "") -> Future[Pruned]:
        """Remove the content of one request."""

        async def work(engine: Engine) -> Pruned:
            return await engine.bounds.remove(request_id, proven=await engine.proven(pin))

        return self._link.call(work)
