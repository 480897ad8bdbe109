"""Hosts in words: what an entry of the list means, what may leave by it, and what came of a try to reach it."""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.parts.amounts import size
from app.parts.text.visible_characters import visible
from runner.model import engine_texts
from runner.model.network import HTTPS_PORT, Destination, UnusableHost, is_address
from runner.model.request import Isolation, NetworkMode, Tool
from runner.model.translation import numeral, plural, to_translate, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.kept_sandbox import Kept
    from runner.model.network import Contact
    from runner.model.request import Request

HTTP_PORT = 80
_LONG_WORD = re.compile(r"\S{30,}")
_BREAK = re.compile(r"[^.]{0,15}\.|[^.]{16}")
BY_GRANT = tr("by your grant")
NO_HOSTS = tr("No host is on the list, so nothing can be reached.")
MORE_HOSTS = to_translate("And {more} more: all of them are in the tab Hosts.")
KEEPS = tr("The sandbox keeps this network: every later call in it has it, and asks you.")
NOT_LISTED = tr("(not on the list: refused)")
ONLY_THIS = tr("The sandbox itself has no network: only this call has.")


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
            return tr("Network: package registries")
        case NetworkMode.DOMAINS:
            return plural("Network: {count} listed host", "Network: {count} listed hosts", len(request.domains))
        case NetworkMode.NONE:
            return tr("Network: none")


def entry(text: str, granted: bool = False) -> ListedHost:
    """Return what the entry `text` of a list of hosts means; `granted` where a grant of the person put it there."""
    try:
        destination = Destination.parse(text)
    except UnusableHost as reason:
        return ListedHost(visible(text), tr("{reason}: nothing is reached by it", reason=reason), unusual=True)
    meanings = [meaning for meaning in (_host(destination), _port(destination)) if meaning]
    said = [*meanings, BY_GRANT] if granted else meanings
    return ListedHost(visible(text), "; ".join(said), bool(meanings))


def _host(destination: Destination) -> str:
    host = destination.host
    if destination.is_wildcard:
        below = host.removeprefix("*.")
        return tr("every name that ends in .{below}, however many there are; not {below} itself", below=below)
    if is_address(host):
        return _address(host)
    if host == "localhost" or host.endswith(".localhost"):
        return tr("this computer")
    return "" if "." in host else tr("a name of your own network")


def _address(host: str) -> str:
    address = ipaddress.ip_address(host)
    if address.is_loopback:
        return tr("an address: this computer")
    if address.is_link_local:
        return tr("an address right around this computer, where clouds also hand out credentials")
    return (
        tr("an address inside your own network")
        if address.is_private
        else tr("an address: who answers there is not named")
    )


def _port(destination: Destination) -> str:
    if destination.port == HTTPS_PORT:
        return ""
    if destination.port == HTTP_PORT:
        return tr("port 80: anybody on the way can read along")
    return tr("port {port} in place of {https_port}", port=destination.port, https_port=HTTPS_PORT)


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
    return (
        tr("The sandbox keeps this network except for {map}.", map=", ".join(map(visible, sorted(more))))
        if more
        else KEEPS
    )


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
        later = tr("may receive whatever code reads that runs in it later. You are asked about each such run.")
        return f"{_these(request)} {later}"
    known = [part for part in (*_sandbox(request, kept), *_handed(request)) if part]
    start = tr("{these} may receive whatever the code has read", these=_these(request))
    if not known:
        return tr("{start}. It is handed no input, no variables and no files.", start=start)
    listed = ", ".join(known[:-1])
    return (
        tr("{start}: {listed} and {known}.", start=start, listed=listed, known=known[-1])
        if listed
        else f"{start}: {known[-1]}."
    )


def _these(request: Request) -> str:
    return tr("This host") if len(request.domains) == 1 and "*" not in request.domains[0] else tr("These hosts")


def _handed(request: Request) -> tuple[str, ...]:
    variables = _variables(request.context)
    return (
        tr("the input ({size})", size=size(len(request.stdin.encode()))) if request.stdin else "",
        f"{plural('{count} variable', '{count} variables', variables)}" if variables else "",
        tr("every file that your account can read") if request.isolation is Isolation.PROCESS else "",
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
        return (tr("the files of {project}, as its program at work sees them", project=visible(request.work.project)),)
    if not request.sandbox:
        return ()
    own = next((one for one in kept if one.id == request.sandbox), None)
    calls = (
        plural(", as {count} call left them", ", as {count} calls left them", own.uses)
        if own is not None and own.uses
        else ""
    )
    if own is not None and own.put_back_to:
        calls = tr(", put back to before run {put_back_to}", put_back_to=own.put_back_to)
    files = len(request.known)
    read = plural(", {count} file of them shown here", ", {count} files of them shown here", files) if files else ""
    return (tr("the files of the kept sandbox{calls}{read}", calls=calls, read=read),)


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
    times = "" if contact.times == 1 else tr(", {times} times", times=numeral(contact.times))
    word = {True: tr("reached"), False: tr("refused"), None: tr("not reached")}[contact.allowed]
    return f"{word}{times}"


def ink(contact: Contact) -> str:
    """Return the token for `outcome`."""
    return {True: "low", False: "high", None: "medium"}[contact.allowed]


def below(contact: Contact) -> str:
    """Return why it was refused, or how much went which way."""
    amounts = ""
    if contact.sent or contact.received:
        amounts = tr("{size} sent, {size_2} received", size=size(contact.sent), size_2=size(contact.received))
    # What has no port is no host: "further connections were dropped".
    why = visible(
        tr("it {why}", why=engine_texts.in_words(contact.why)) if contact.port and contact.why else contact.why
    )
    return "; ".join(part for part in (why, amounts) if part)


def spoken(contact: Contact) -> str:
    """Return all of a contact in one line."""
    return ", ".join(part for part in (f"{place(contact)} {outcome(contact)}", below(contact)) if part)


def more(count: int) -> str:
    """Return how many more hosts there are than are listed."""
    return plural("and {count} more host", "and {count} more hosts", count) if count else ""
