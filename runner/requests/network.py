"""The network part of a call, and the complete list of hosts that its request names (spec N1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.errors import Refused
from runner.model.network import Destination, UnusableHost
from runner.model.request import Isolation, NetworkMode, Tool
from runner.model.tool_facts import NEW_PLACE
from runner.network.registries import of_this_machine
from runner.policy.decide import WITH_GATE
from runner.sandbox.networked import PROTECTION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.kept_sandbox import Kept
    from runner.model.submission import Submission
    from runner.settings.loading import Settings

QUOTED = 80
"""Characters of an entry that are repeated in an error."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Hosts that come to a networked request without being named by the agent."""

    registries: tuple[Destination, ...] = ()
    """Those of the package registries of this machine."""
    granted: tuple[Destination, ...] = ()
    """Those that a person granted to the agent."""


@dataclass(frozen=True, slots=True)
class Network:
    """The network of a request; the fields are those of the request."""

    mode: NetworkMode = NetworkMode.NONE
    domains: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()


def network(
    submission: Submission, settings: Settings, isolation: Isolation, kept: Kept | None, offered: Offered
) -> Network:
    """Return the network that a call asks for. Raises Refused, naming the entry that is no host.

    A call in a kept sandbox has the sandbox's network unless it asks for none; hosts that it names itself are added.
    That of `code_install_package` is for builds alone.
    """
    named = _named(submission.allowed_domains)
    builds = submission.tool is Tool.CODE_INSTALL_PACKAGE
    if (submission.tool not in NEW_PLACE and not builds) or submission.network_enabled is False:
        return Network()
    # A build has none of the sandbox's own network: it reaches what is asked for it alone.
    mode, domains = _given(None if builds else kept)
    if named:
        mode, domains = NetworkMode.DOMAINS, {*domains, *named}
    elif mode is NetworkMode.NONE and submission.network_enabled:
        mode, domains = NetworkMode.REGISTRIES, _registries(offered)
    elif mode is NetworkMode.NONE and _by_default(settings, isolation, kept) and offered.registries:
        mode, domains = NetworkMode.REGISTRIES, set(offered.registries)
    if mode is NetworkMode.NONE:
        return Network()
    # A sandbox outlives a grant: it is added to each run, and seen in each.
    runs = submission.tool is Tool.CODE_EXECUTE
    granted = {*offered.granted} - domains if runs or builds else set[Destination]()
    return Network(mode, _texts(domains | granted), _texts(granted))


def usual_mode(isolation: Isolation, settings: Settings) -> NetworkMode:
    """Return the network of a run in `isolation` whose agent does not ask for any."""
    by_default = settings.network_by_default and isolation.is_container and isolation in WITH_GATE
    return NetworkMode.REGISTRIES if by_default else NetworkMode.NONE


def network_facts(isolation: Isolation, registries: tuple[Destination, ...], settings: Settings) -> dict[str, object]:
    """Return the facts for agents about the network of `isolation`, by name."""
    if isolation not in WITH_GATE:
        return {"network": "none; this sandbox cannot give any", "network_modes": ["none"]}
    usual = "package registries" if usual_mode(isolation, settings) is NetworkMode.REGISTRIES else "none"
    asking = (
        "network_enabled alone reaches package_registries; with allowed_domains the hosts named there, "
        "as name, name:port or *.name. Every other host is refused. Always CRITICAL."
    )
    return {
        "network": f"{usual} unless you ask",
        "network_modes": [mode.value for mode in NetworkMode],
        "package_registries": list(_texts(registries)),
        "network_asking": asking,
        "network_limits": {
            "sent_mb": settings.network_sent_mb,
            "received_mb": settings.network_received_mb,
            "connections": settings.network_connections,
        },
    }


def registry_hosts(settings: Settings) -> tuple[Destination, ...]:
    """Return the hosts of the package registries of this machine, as pip, npm and the settings name them.

    Reads files: call it on a thread.
    """
    return of_this_machine(settings.pypi_registries, settings.npm_registries).destinations


def through_gate(protections: tuple[str, ...], mode: NetworkMode) -> tuple[str, ...]:
    """Return the protections of a sandbox for a run with the network `mode`."""
    if mode is NetworkMode.NONE:
        return protections
    return tuple(PROTECTION if one.startswith("no network") else one for one in protections)


def _named(entries: tuple[str, ...]) -> set[Destination]:
    """Return the hosts that an agent names. Raises Refused for an entry that is none."""
    found = set()
    for entry in entries:
        try:
            found.add(Destination.parse(entry))
        except UnusableHost as reason:
            raise Refused(
                f"allowed_domains has {entry[:QUOTED]!a}, which cannot be used: {reason}.",
                "Send names such as example.com, example.com:8443 or *.example.com, without https:// and path.",
            ) from None
    return found


def _given(kept: Kept | None) -> tuple[NetworkMode, set[Destination]]:
    """Return the network of a kept sandbox."""
    if kept is None:
        return NetworkMode.NONE, set()
    return kept.network, {Destination.parse(domain) for domain in kept.domains}


def _registries(offered: Offered) -> set[Destination]:
    """Return the hosts of the package registries. Raises Refused where this machine has none."""
    if not offered.registries:
        raise Refused(
            "network_enabled without allowed_domains asks for the package registries, and this machine names none.",
            "Name the hosts in allowed_domains, or ask the person to name a registry in the settings of Assent or in "
            "the configuration of pip or npm.",
        )
    return set(offered.registries)


def _by_default(settings: Settings, isolation: Isolation, kept: Kept | None) -> bool:
    """Return whether a call that says nothing about the network gets it; a kept sandbox was created without."""
    return settings.network_by_default and isolation.is_container and kept is None


def _texts(destinations: Iterable[Destination]) -> tuple[str, ...]:
    return tuple(sorted(map(str, destinations)))
