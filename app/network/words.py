"""Hosts in words: what an entry of the list means, what may leave by it, and what came of a try to reach it."""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.parts.amounts import counted, size
from app.parts.text.visible_characters import visible
from runner.model.network import HTTPS_PORT, Destination, UnusableHost, is_address
from runner.model.request import Isolation, NetworkMode, Tool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.kept_sandbox import Kept
    from runner.model.network import Contact
    from runner.model.request import Request

HTTP_PORT = 80
_LONG_WORD = re.compile(r"\S{30,}")
_BREAK = re.compile(r"[^.]{0,15}\.|[^.]{16}")
BY_GRANT = "by your grant"
NO_HOSTS = "No host is on the list, so nothing can be reached."
MORE_HOSTS = "And {more} more: all of them are in the tab Hosts."
KEEPS = "The sandbox keeps this network: every later call in it has it, and asks you."
NOT_LISTED = "(not on the list: refused)"
ONLY_THIS = "The sandbox itself has no network: only this call has."


@dataclass(frozen=True, slots=True)
class ListedHost:
    """One host of the list that a request may reach."""

    name: str
    meaning: str
    """What it stands for where that is more than this name by HTTPS; else empty."""
    unusual: bool
    """Whether it is more than one name by HTTPS: a wildcard, an address, another port."""


def heading(request: Request) -> str:
    """Return what the request may reach, by its kind of network."""
    match request.network:
        case NetworkMode.REGISTRIES:
            return "Network: package registries"
        case NetworkMode.DOMAINS:
            return f"Network: {counted(len(request.domains), 'listed host')}"
        case NetworkMode.NONE:
            return "Network: none"


def entry(text: str, granted: bool = False) -> ListedHost:
    """Return what the entry `text` of a list of hosts means; `granted` where a grant of the person put it there."""
    try:
        destination = Destination.parse(text)
    except UnusableHost as reason:
        return ListedHost(visible(text), f"{reason}: nothing is reached by it", unusual=True)
    meanings = [meaning for meaning in (_host(destination), _port(destination)) if meaning]
    said = [*meanings, BY_GRANT] if granted else meanings
    return ListedHost(visible(text), "; ".join(said), bool(meanings))


def _host(destination: Destination) -> str:
    host = destination.host
    if destination.is_wildcard:
        below = host.removeprefix("*.")
        return f"every name that ends in .{below}, however many there are; not {below} itself"
    if is_address(host):
        return _address(host)
    if host == "localhost" or host.endswith(".localhost"):
        return "this computer"
    return "" if "." in host else "a name of your own network"


def _address(host: str) -> str:
    address = ipaddress.ip_address(host)
    if address.is_loopback:
        return "an address: this computer"
    if address.is_link_local:
        return "an address right around this computer, where clouds also hand out credentials"
    return "an address inside your own network" if address.is_private else "an address: who answers there is not named"


def _port(destination: Destination) -> str:
    if destination.port == HTTPS_PORT:
        return ""
    if destination.port == HTTP_PORT:
        return "port 80: anybody on the way can read along"
    return f"port {destination.port} in place of {HTTPS_PORT}"


def keeps(request: Request, kept: Iterable[Kept]) -> str:
    """Return whether the sandbox of a networked request keeps a network; empty where it keeps nothing at all."""
    if request.tool is Tool.CODE_CREATE_SANDBOX:
        return KEEPS
    if not request.sandbox:
        return ""
    own = next((one for one in kept if one.id == request.sandbox), None)
    if own is not None and own.network is NetworkMode.NONE:
        return ONLY_THIS
    # What a grant adds is added to each call, and is not the sandbox's.
    more = set(request.domains) - set(request.granted) - set(own.domains if own is not None else request.domains)
    return f"The sandbox keeps this network except for {', '.join(map(visible, sorted(more)))}." if more else KEEPS


def named(request: Request, hosts: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts that the code names, with a word at those that a networked request will be refused."""
    if request.network is NetworkMode.NONE:
        return tuple(hosts)
    listed = tuple(filter(None, map(_parsed, request.domains)))
    return tuple(host if _may_fit(host, listed) else f"{host} {NOT_LISTED}" for host in hosts)


def _may_fit(host: str, listed: Iterable[Destination]) -> bool:
    """Return whether the name `host` is on the list at any port, or is nothing that could be looked for there."""
    asked = _parsed(host)
    return asked is None or any(str(asked) == str(one) or one.fits(asked.host, one.port) for one in listed)


def _parsed(text: str) -> Destination | None:
    try:
        return Destination.parse(text)
    except UnusableHost:
        return None


# ---- what may leave ----


def may_leave(request: Request, kept: Iterable[Kept] = ()) -> str:
    """Return what the hosts of a request may receive, as far as that is known before it runs."""
    if request.tool is Tool.CODE_CREATE_SANDBOX:
        later = "may receive whatever code reads that runs in it later. You are asked about each such run."
        return f"{_these(request)} {later}"
    known = [part for part in (*_sandbox(request, kept), *_handed(request)) if part]
    start = f"{_these(request)} may receive whatever the code has read"
    if not known:
        return f"{start}. It is handed no input, no variables and no files."
    listed = ", ".join(known[:-1])
    return f"{start}: {listed} and {known[-1]}." if listed else f"{start}: {known[-1]}."


def _these(request: Request) -> str:
    return "This host" if len(request.domains) == 1 and "*" not in request.domains[0] else "These hosts"


def _handed(request: Request) -> tuple[str, ...]:
    variables = _variables(request.context)
    return (
        f"the input ({size(len(request.stdin.encode()))})" if request.stdin else "",
        f"{counted(variables, 'variable')}" if variables else "",
        "every file that your account can read" if request.isolation is Isolation.PROCESS else "",
    )


def _variables(context: str) -> int:
    try:
        found = json.loads(context or "{}")
    except ValueError:
        return 1
    return len(found) if isinstance(found, dict) else 1


def _sandbox(request: Request, kept: Iterable[Kept]) -> tuple[str, ...]:
    """Return what is known to lie in the kept sandbox that the request uses."""
    if request.work is not None:
        return (f"the files of {visible(request.work.project)}, as its program at work sees them",)
    if not request.sandbox:
        return ()
    own = next((one for one in kept if one.id == request.sandbox), None)
    calls = f", as {counted(own.uses, 'call')} left them" if own is not None and own.uses else ""
    if own is not None and own.put_back_to:
        calls = f", put back to before run {own.put_back_to}"
    files = len(request.known)
    read = f", {counted(files, 'file')} of them shown here" if files else ""
    return (f"the files of the kept sandbox{calls}{read}",)


# ---- what came of it ----


def place(contact: Contact) -> str:
    """Return host and port, always with the port; what was no name as it is."""
    host = f"[{contact.host}]" if ":" in contact.host else contact.host
    return visible(f"{host}:{contact.port}" if contact.port else host)


def breakable(text: str) -> str:
    """Return `text` with places at which a label may break long names, which have no blanks: else their end is cut."""
    return _LONG_WORD.sub(lambda word: _BREAK.sub("\\g<0>\u200b", word[0]), text)


def outcome(contact: Contact) -> str:
    """Return what came of it, and how often."""
    times = "" if contact.times == 1 else f", {contact.times:,} times"
    word = {True: "reached", False: "refused", None: "not reached"}[contact.allowed]
    return f"{word}{times}"


def ink(contact: Contact) -> str:
    """Return the token for `outcome`."""
    return {True: "low", False: "high", None: "medium"}[contact.allowed]


def below(contact: Contact) -> str:
    """Return why it was refused, or how much went which way."""
    amounts = ""
    if contact.sent or contact.received:
        amounts = f"{size(contact.sent)} sent, {size(contact.received)} received"
    # What has no port is no host: "further connections were dropped".
    why = visible(f"it {contact.why}" if contact.port and contact.why else contact.why)
    return "; ".join(part for part in (why, amounts) if part)


def spoken(contact: Contact) -> str:
    """Return all of a contact in one line."""
    return ", ".join(part for part in (f"{place(contact)} {outcome(contact)}", below(contact)) if part)


def more(count: int) -> str:
    """Return how many more hosts there are than are listed."""
    return f"and {counted(count, 'more host')}" if count else ""
