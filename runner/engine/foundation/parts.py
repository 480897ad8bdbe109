"""The long-lived parts of the engine: configuration, agents, ledger, sandbox and gateway."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from runner.audit.files.captures import Captures
from runner.engine.foundation.configuration import Configuration
from runner.engine.foundation.last_isolation import LastIsolation
from runner.engine.foundation.open_ledger import OpenLedger
from runner.engine.foundation.sandbox_choice import SandboxChoice
from runner.engine.shared.run_files import RunFiles
from runner.identity.agents import Agents
from runner.identity.outside import outside_anchors
from runner.identity.pin import PinLock
from runner.identity.secrets import Secrets
from runner.model.request import Tool
from runner.model.tool_facts import CLIENT_TOOLS
from runner.requests.network import registry_hosts
from runner.risk.worker.assessor import Assessor
from runner.sandbox import available
from runner.system.offload import Aside

if TYPE_CHECKING:
    from runner.audit.telemetry.feed import LogStore
    from runner.gateway.server import Gateway
    from runner.gateway.tools import Counter
    from runner.model.assessment import Assessment
    from runner.model.network import Destination
    from runner.model.request import Request
    from runner.sandbox.contract import Sandbox
    from runner.settings.loading import Loaded
    from runner.system.places import Places


class Parts:
    """Own the long-lived parts (ledger, sandbox, agents, gateway); open and close them."""

    def __init__(self, places: Places, loaded: Loaded, sandboxes: tuple[Sandbox, ...] | None = None) -> None:
        """`sandboxes` are the ones to choose from; by default what this machine may have."""
        self.places = places
        self.configuration = Configuration(places, loaded, lambda isolation: self.sandboxes.weaker(isolation))
        self.secrets = Secrets(places, loaded.settings)
        self.pin = PinLock(self.secrets)
        self.agents = Agents(places)
        self.captures = Captures(places)
        self.assessor = Assessor(places.own_rules)
        self.ledger = OpenLedger(places, self.captures, self.secrets)
        self.ledger.places_outside = outside_anchors(loaded.settings, places)
        if address := loaded.settings.history_opentelemetry:
            self.ledger.log_store = partial(_collector, address)
        self.files = RunFiles(places, self.captures, lambda: self.configuration.settings)
        self.sandboxes = SandboxChoice(
            sandboxes
            or available.sandboxes(loaded.settings, places, self.secrets, lambda: self.configuration.settings),
            lambda: self.configuration.settings,
            self.files.bounds,
            LastIsolation(places.last_isolation),
            self.registries,
        )
        self.aside = Aside()
        self._gateway: Gateway | None = None

    async def assess(self, request: Request, *, person: bool = False) -> Assessment:
        """Return the assessment of `request`. Code is parsed in a worker process; tools without code need none.

        `person`: it is a person's version, which is assessed before what agents sent.
        """
        if request.tool in (Tool.CODE_EXECUTE, Tool.CODE_WRITE_FILE, *CLIENT_TOOLS):
            return await self.assessor.assess(request, person=person)
        return self.configuration.dangers.assess(request)

    async def registries(self) -> tuple[Destination, ...]:
        """Return the hosts of the package registries of this machine, as pip, npm and the settings name them."""
        return await asyncio.to_thread(registry_hosts, self.configuration.settings)

    async def follow_agreement(self) -> None:
        """Store secrets where the settings say now. The keyring may be slow. Raises KnownError."""
        agreed = self.configuration.settings.secrets_file
        await asyncio.to_thread(self.secrets.agree_to_file if agreed else self.secrets.withdraw_agreement)

    def reload(self) -> None:
        """Read settings and rules again, and pass them to the parts that use them."""
        self.configuration.reload()
        self.assessor.reload()
        self.sandboxes.warm_again()

    @property
    def address(self) -> str:
        """Address of the gateway for agents; empty while it is closed."""
        return "" if self._gateway is None else self._gateway.address

    @property
    def moved(self) -> str:
        """Why agents reach the gateway at another port than the settings say; empty where they do not."""
        return "" if self._gateway is None else self._gateway.moved

    def _languages(self) -> tuple[str, ...]:
        """Return those that may run at present."""
        return self.configuration.settings.languages

    async def open_gateway(self, counter: Counter) -> None:
        """Open the gateway. Raises KnownError where its port cannot be opened."""
        # On a thread: the loop would stand still meanwhile, and a container engine seem to hang.
        gateway_class = await asyncio.to_thread(_gateway_class)
        # Assigned before it opens, so that it is closed even where opening fails.
        terms = self.configuration.settings
        if self._gateway is None:
            self._gateway = gateway_class(counter, self.agents, terms, self.places, self.aside, self._languages)
        await self._gateway.open()

    async def close(self, why: str) -> None:
        """Close in reverse: no more calls, no more runs, then the last entry and its seal."""
        if self._gateway is not None:
            await self._gateway.close(why)
        self.aside.close()
        await self.assessor.close()
        await self.sandboxes.close()
        await self.ledger.close()
        self.captures.close()


def _collector(address: str) -> LogStore:
    """Import what sends records, half a second, and return the collector at `address`. Raises KnownError."""
    from runner.audit.telemetry.otlp import OtlpLogStore

    return OtlpLogStore(address)


def _gateway_class() -> type[Gateway]:
    """Import the gateway: half a second, seconds on a busy machine. Here so that the window is painted first."""
    from runner.gateway.server import Gateway

    return Gateway
