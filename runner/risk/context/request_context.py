"""Findings about what a request asks for besides its code: network, domains, packages (spec R1)."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Capability, Finding, Level
from runner.model.expression import expression
from runner.model.request import Language, NetworkMode, Request
from runner.risk.model.bounds import excerpt
from runner.risk.rules.packages import PackageOrigin, fixed, mistaken_for, name_of, source_of
from runner.risk.rules.trojan_source import LOOK_ALIKE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST = 200
NUMBER = expression(r"^(?:0x[0-9a-f]+|\d+)$")
OWN_NETWORK = "Reaches your local network or this computer."
LOCAL = (".local", ".internal", ".lan", ".localhost", ".home.arpa")


def surroundings(request: Request) -> Iterator[Finding]:
    """Findings about what the request asks for; they belong to no line of the code."""
    if request.network is not NetworkMode.NONE:
        shown = excerpt(", ".join(request.domains), LONGEST)
        yield _finding(
            "request.network", Level.CRITICAL, Capability.NETWORK, shown, "The code would have network access.", "T1071"
        )
        yield from domains(request.domains)
    if request.plan is not None:
        from runner.risk.context.planned import planned

        yield from planned(request.plan, request.received_at)
    elif request.packages:
        ecosystem = "javascript" if request.language is Language.JAVASCRIPT else "python"
        yield from packages(request.packages, ecosystem)


def domains(names: Sequence[str]) -> Iterator[Finding]:
    """What is unusual about the network domains that are asked for."""
    for name in names:
        host = _host(name)
        if (reason := _of_host(host)) is not None:
            yield _finding("request.domain", Level.CRITICAL, Capability.NETWORK, name, reason, "T1071")
        below = host.removeprefix("*.")
        if below != host and "." in below:
            reason = f"Every name below {below}; whoever owns it can receive data in the names themselves."
            yield _finding("request.wildcard", Level.CRITICAL, Capability.NETWORK, name, reason, "T1071.004")


def _host(name: str) -> str:
    """Return the host of a domain without scheme, path, port and brackets."""
    host = name.strip().lower().rstrip(".").partition("://")[2] or name.strip().lower().rstrip(".")
    host = host.partition("/")[0]
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _of_host(host_only: str) -> str | None:
    address = _address(host_only)
    if address is not None:
        if address.is_loopback or address.is_private or address.is_link_local:
            return OWN_NETWORK
        return "This is a numeric network address: its owner is not known."
    if NUMBER.match(host_only):
        return "Writes a network address as one number, so that it cannot be recognised."
    if host_only == "localhost" or host_only.endswith(LOCAL) or "." not in host_only.strip("*."):
        return "Opens every address below a top-level domain." if "*" in host_only else OWN_NETWORK
    if any(part.startswith("xn--") for part in host_only.split(".")) or not host_only.isascii():
        alike = any(character in LOOK_ALIKE for character in host_only)
        return (
            "This name mixes in letters that look like Latin ones, so it is not the name it seems to be."
            if alike
            else "This name is written in letters that can be mistaken for others."
        )
    return None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def packages(written: Sequence[str], ecosystem: str) -> Iterator[Finding]:
    """What is to be known of these packages, each written as installers take it (`name==1.0`, `git+https://...`)."""
    for one in written:
        match source_of(one, ecosystem):
            case PackageOrigin.OPTION:
                reason = "This is an option for the installer, not a package."
                yield _package("option", Level.CRITICAL, one, reason)
                continue
            case PackageOrigin.ADDRESS:
                reason = "The package comes from an address of its own, not from a registry."
                yield _package("address", Level.CRITICAL, one, reason)
            case PackageOrigin.FOLDER:
                yield _package("folder", Level.CRITICAL, one, "The package comes from a file, not a registry.")
                continue
            case PackageOrigin.REGISTRY:
                if not fixed(one, ecosystem):
                    yield _package("version", Level.HIGH, one, "No version is named, so the newest one counts.")
        if known := mistaken_for(name_of(one, ecosystem), ecosystem):
            yield _package(
                "look-alike", Level.CRITICAL, one, f"The name looks like {known}, but it is another package."
            )


def _package(what: str, level: Level, written: str, reason: str) -> Finding:
    return _finding(f"package.{what}", level, Capability.PACKAGES, written, reason, "T1195.001")


def _finding(id: str, level: Level, capability: Capability, evidence: str, reason: str, reference: str) -> Finding:
    return Finding(id, level, capability, WHOLE, excerpt(evidence, LONGEST), reason, reference)
