"""What the engine works with: ledger, sandbox, agents, policy, gateway; opened in order, closed in reverse."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from runner.audit import anchor, artifacts
from runner.audit.anchor import AnchorKeeper
from runner.audit.captures import Captures
from runner.audit.ledger import Ledger, LedgerFailed, set_aside
from runner.audit.search import History
from runner.engine.engine import Engine
from runner.identity import signer
from runner.identity.agents import Agents
from runner.identity.secrets import Secrets
from runner.model.errors import KnownError
from runner.model.request import Isolation, Language, Tool
from runner.model.submission import Submission
from runner.policy.decide import Policy
from runner.policy.grantfile import Grants
from runner.policy.rulefile import read
from runner.requests import intake
from runner.risk import own
from runner.risk.worker.assessor import Assessor
from runner.sandbox import available
from runner.sandbox.choose import choose
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Bounds, Collect
from runner.settings.loading import Loaded, load
from runner.system.places import Places
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.audit.search import Record
    from runner.gateway.server import Gateway
    from runner.model.assessment import Assessment
    from runner.model.decision import Decision
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.requests.case import Book
    from runner.sandbox.choose import Choice
    from runner.sandbox.contract import Sandbox


class Rooms:
    """Everything with a life of its own. Opening raises KnownError where the world does not allow it."""

    def __init__(self, places: Places, loaded: Loaded, sandboxes: tuple[Sandbox, ...] | None = None) -> None:
        """`sandboxes` are the ones to choose from; by default what this machine may have."""
        self.places = places
        self.loaded = loaded
        self.settings = loaded.settings
        self.secrets = Secrets(places, loaded.settings)
        self.agents = Agents(places)
        self.rules = read(places, loaded.rules)
        self.dangers = own.read(places.config / own.FOLDER)
        self.assessor = Assessor(places.config / own.FOLDER)
        self.grants = Grants(places)
        self.policy = self._make_policy()
        self._sandboxes: tuple[Sandbox, ...] = sandboxes or available.sandboxes(loaded.settings)
        self._choice: Choice | None = None
        self._looking: asyncio.Event | None = None
        """Set once it is known which sandbox there is; None before anybody looks."""
        self.captures = Captures(places)
        self._ledger: Ledger | None = None
        self._anchors: AnchorKeeper | None = None
        self.doubt: KnownError | None = None
        """Why the history is not the one that was last signed here; it is not signed until a new one is begun."""
        self._gateway: Gateway | None = None

    # ---- the ledger ----

    @property
    def has_ledger(self) -> bool:
        return self._ledger is not None

    @property
    def book(self) -> Book:
        """Where entries go. Raises LedgerFailed while there is no ledger."""
        if self._ledger is None:
            raise LedgerFailed("The history is not open.", "See the message in the window.")
        return self._ledger

    async def open_ledger(self) -> None:
        try:
            self.places.make()
            self.captures.begin()
        except OSError as error:
            what = f"Assent cannot use its folder {self.places.data}: {error}."
            raise KnownError(what, "Give yourself the right to write there.") from error
        if self._ledger is None:
            self._ledger = await asyncio.to_thread(Ledger.open, self.places.ledger)
            await self._ledger.append("opened", "", {"process": os.getpid()})

    async def renew_ledger(self) -> None:
        """Set the ledger file aside and begin a new one, which names it and the last head that was signed."""
        await self._close_ledger()
        signed = await asyncio.to_thread(self._set_aside)
        why = "" if self.doubt is None else self.doubt.what
        await self.open_ledger()
        await self.book.append("renewed", "", {"why": why, "signed": None if signed is None else asdict(signed)})
        self.doubt = None

    def _set_aside(self) -> anchor.Anchor | None:
        """Set the ledger file aside; the last signed head of it, where one is known."""
        try:
            signed = signer.anchor(self.secrets)
        except KnownError:
            signed = None
        # First: a crash between the two must not leave a new ledger beside the mark of the old one.
        signer.forget_anchor(self.secrets)
        try:
            set_aside(self.places.ledger)
        except KnownError:
            if signed is not None:
                signer.set_anchor(self.secrets, signed)
            raise
        return signed

    async def seal(self) -> None:
        """Sign the ledger's heads from now on, unless it is not the one that was last signed: then `doubt` says so.

        The keyring may take its time, so nothing waits for this.
        """
        ledger = self._ledger
        key = await asyncio.to_thread(signer.signing_key, self.secrets)
        try:
            doubt = await asyncio.to_thread(self._difference)
        except KnownError as error:
            doubt = error
        if ledger is None or ledger is not self._ledger:
            return
        self.doubt = self.doubt or doubt
        if self.doubt is None:
            self._anchors = AnchorKeeper(partial(signer.set_anchor, self.secrets))
            await ledger.seal_with(key, self._anchors.signed)

    def _difference(self) -> KnownError | None:
        known = signer.anchor(self.secrets)
        return None if known is None else anchor.difference(self.places.ledger, known)

    async def _close_ledger(self) -> None:
        """Write the last entry, its seal, and the note of it beside the key."""
        if self._ledger is not None:
            ledger, self._ledger = self._ledger, None
            await ledger.close()
        if self._anchors is not None:
            anchors, self._anchors = self._anchors, None
            await asyncio.to_thread(anchors.close)

    async def left_open(self) -> list[Record]:
        """What an earlier process did not bring to its end."""
        if self._ledger is None:
            return []
        return await asyncio.to_thread(self._read_open)

    def _read_open(self) -> list[Record]:
        history = History(self.places.ledger)
        try:
            return list(history.open_cases())
        finally:
            history.close()

    # ---- the sandbox ----

    @property
    def isolation(self) -> Isolation:
        return Isolation.LOCAL if self._choice is None else self._choice.sandbox.isolation

    @property
    def sandbox(self) -> Sandbox:
        """Raises KnownError where none was found."""
        if self._choice is None:
            raise KnownError("There is no sandbox to run in.", "Open Doctor for what is missing.")
        return self._choice.sandbox

    @property
    def why_this_sandbox(self) -> str:
        return "" if self._choice is None else self._choice.why

    async def open_sandbox(self) -> None:
        """Remove what earlier consoles left and choose. A container engine that hangs takes some seconds here."""
        self._looking = asyncio.Event()
        try:
            settings = self.settings
            wanted = choose(settings.sandbox_type, self._sandboxes, fall_back=settings.sandbox_fallback)
            sweeping = asyncio.gather(*(sandbox.sweep() for sandbox in self._sandboxes))
            self._choice, _ = await asyncio.gather(wanted, sweeping)
            await self._warm()
        finally:
            self._looking.set()

    async def look_for_sandbox(self) -> None:
        """Choose again, as images may have been built since; what runs goes on where it is."""
        before = self._choice
        for sandbox in self._sandboxes:
            if isinstance(sandbox, ContainerSandbox):
                sandbox.examine_again()
        await self.open_sandbox()
        if before and isinstance(before.sandbox, ContainerSandbox) and before.sandbox is not self.sandbox:
            before.sandbox.cool()

    async def _warm(self) -> None:
        """Have containers of the settings' own limits ready, where the sandbox is one of containers."""
        sandbox, settings = self.sandbox, self.settings
        if isinstance(sandbox, ContainerSandbox):
            usual = intake.limits(Submission("", Tool.CODE_EXECUTE), settings, sandbox.isolation)
            await sandbox.warm(map(Language, settings.warm_languages), usual, settings.warm_containers, self._bounds())

    async def sandbox_known(self) -> None:
        """Wait until it is known which sandbox there is, or that there is none."""
        if self._looking is not None:
            await self._looking.wait()

    async def image(self, language: Language | None) -> str:
        """The id of the image that code in `language` would run in; '' without one."""
        if self._choice is None or language is None:
            return ""
        return (await self._choice.sandbox.check()).images.get(language, "")

    async def facts(self) -> dict[str, object]:
        """What `code_sandbox_info` tells an agent."""
        await self.sandbox_known()
        if self._choice is None:
            return {"isolation": "none", "problem": "There is no sandbox to run in."}
        sandbox = self._choice.sandbox
        ready = await sandbox.check()
        warmth = sandbox.warmth if isinstance(sandbox, ContainerSandbox) else None
        return {
            "isolation": self.isolation.value,
            "chosen": self._choice.why,
            "warm": None if warmth is None else asdict(warmth),
            "protections": list(ready.protections),
            "missing": list(ready.missing),
            "versions": ready.versions,
            "languages": ["python", "javascript", "shell"],
            "network": "none",
            "limits": {
                "timeout": self.settings.timeout_seconds,
                "max_memory_mb": self.settings.memory_mb,
                "max_disk_mb": self.settings.disk_mb,
                "max_output_bytes": self.settings.max_output_bytes,
            },
        }

    def collect(self, request_id: str) -> Collect | None:
        """Where what a run creates goes, where the settings want it. Raises OSError."""
        bounds = self._bounds()
        return None if bounds is None else Collect(self.captures.draft(request_id), bounds)

    def _bounds(self) -> Bounds | None:
        settings = self.settings
        if not settings.collect_files:
            return None
        return Bounds(settings.collect_most, settings.collect_file_mb << 20, settings.collect_all_mb << 20)

    def store(
        self, request: Request, assessment: Assessment | None, decision: Decision | None, result: Result
    ) -> dict[str, object]:
        """Keep the artifact of a run as `SANDBOX_STORE_CODE` says; what the history says of it. Raises OSError,
        KnownError."""
        path = None
        try:
            path = artifacts.store(self.places, self.settings.store_code, request, assessment, decision, result)
        finally:
            self.captures.keep(request.id, result.files, lasting=path is not None)
        if path is None:
            return {"artifact": ""}
        return {"artifact": str(path), "artifact_sha256": artifacts.fingerprint(path)}

    # ---- assessing ----

    async def assess(self, request: Request, *, person: bool = False) -> Assessment:
        """What `request` would do. Code is read in a process of its own; tools that bring none need no process."""
        if request.tool in (Tool.CODE_EXECUTE, Tool.CODE_WRITE_FILE):
            return await self.assessor.assess(request, person=person)
        return self.dangers.assess(request)

    # ---- settings ----

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the settings and rules files, a sentence each."""
        return (*self.loaded.problems, *self.rules.problems, *self.dangers.problems)

    def reload(self, environment: Mapping[str, str] = os.environ) -> None:
        """Take up saved settings and rules. Port and sandbox type count from the next start."""
        self.loaded = load(self.places, environment)
        self.settings = self.loaded.settings
        self.rules = read(self.places, self.loaded.rules)
        self.dangers = own.read(self.places.config / own.FOLDER)
        self.assessor.reload()
        if self.grants.problem:
            self.grants.read()
        self.policy = self._make_policy()
        if self._choice is not None:
            spawn("warm pool anew", self._warm())

    async def follow_agreement(self) -> None:
        """Keep secrets where the settings say now. The keyring may take its time. Raises KnownError."""
        secrets = self.secrets
        agreed = self.settings.secrets_file
        await asyncio.to_thread(secrets.agree_to_file if agreed else secrets.withdraw_agreement)

    def _make_policy(self) -> Policy:
        unreadable = bool(self.problems or self.grants.problem)
        return Policy(self.settings, self.rules, ask_everything=unreadable)

    # ---- the gateway ----

    @property
    def address(self) -> str:
        return "" if self._gateway is None else self._gateway.address

    async def open_gateway(self, engine: Engine) -> None:
        # Half a second of imports: here, so that the window is painted first.
        from runner.gateway.server import Gateway

        # Known before it opens: whatever becomes of that, somebody closes it.
        if self._gateway is None:
            self._gateway = Gateway(engine, self.agents, self.settings, self.places)
        await self._gateway.open()

    async def close(self, why: str) -> None:
        """In reverse: no more calls, no more runs, then the last entry and its seal."""
        if self._gateway is not None:
            await self._gateway.close(why)
        await self.assessor.close()
        await asyncio.gather(*(sandbox.close() for sandbox in self._sandboxes))
        await self._close_ledger()
        self.captures.close()


def open_engine(places: Places | None = None, environment: Mapping[str, str] = os.environ) -> Engine:
    """An engine on the standard places and settings, built but not started."""
    places = places or Places.standard()
    return Engine(Rooms(places, load(places, environment)))
