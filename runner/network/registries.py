"""The package registries that this machine is configured with: "registries" as a network mode means their hosts."""

from __future__ import annotations

import base64
import binascii
import netrc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from runner.model.network import HTTPS_PORT, Destination, UnusableHost, canonical_host
from runner.network import npm_settings, pip_settings
from runner.network.authorities import SYSTEM_ONLY
from runner.network.config_files import Surroundings
from runner.network.heads import HTTP_PORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.network.authorities import Authorities

NO_PIP = "There is no pip that could say where Python packages come from."
NO_NPM = "There is no npm that could say where Node.js packages come from."
NO_INDEX = "pip is told to use no index, so there are no Python packages."
_PORTS = {"https": HTTPS_PORT, "http": HTTP_PORT}


@dataclass(frozen=True, slots=True)
class Registries:
    """What pip and npm are configured with here, and what the settings name besides. Shows no credentials."""

    pypi: tuple[str, ...] = ()
    """Index URLs without credentials, in the order in which they count for a name that several have.

    Those of the settings, then pip's further ones, then its main one, and the one that pip has by default last. pip
    itself takes the highest version of all, which is for whoever publishes one: what a person has named counts more.
    """
    npm: tuple[str, ...] = ()
    """Registry URLs without credentials, the one for all packages first."""
    scopes: tuple[tuple[str, str], ...] = ()
    """Registries of npm for one scope alone: (`@scope`, URL), also one that cannot be asked."""
    pypi_authorities: Authorities = SYSTEM_ONLY
    npm_authorities: Authorities = SYSTEM_ONLY
    pypi_hosts: tuple[Destination, ...] = ()
    npm_hosts: tuple[Destination, ...] = ()
    problems: tuple[str, ...] = ()
    """Why something is missing, each a sentence for a person."""
    absent: tuple[str, ...] = ()
    """Which of pip and npm would say where packages come from, if they were here; no host is named by the code."""
    _credentials: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """All hosts, sorted, without doubles. They may lead to private addresses."""
        return tuple(sorted({*self.pypi_hosts, *self.npm_hosts}))

    def authorization(self, url: str) -> str:
        """Return the value of the Authorization header for `url`, a secret; empty where it has none.

        Credentials count for the address, the port and the folder that they were written down for, and what is below.
        """
        place = _place(url)
        fitting = [known for known in self._credentials if place == known or place.startswith(known.rstrip("/") + "/")]
        return self._credentials[max(fitting, key=len)] if fitting else ""


def of_this_machine(
    pypi_settings: Iterable[str] = (), npm_hosts: Iterable[str] = (), around: Surroundings | None = None
) -> Registries:
    """Read the configuration of pip and npm, and add the hosts or URLs that the settings name. Reads files: blocks."""
    around = around or Surroundings()
    credentials: dict[str, str] = {}
    reading = _Reading(around, credentials)
    default = pip_settings.built_in(around)
    pypi = reading.urls(pypi_settings, pip_settings.indexes(around))
    by_default = {url for url in pypi if default is not None and _place(url) == _place(default[0])}
    pypi = tuple(sorted(pypi, key=lambda url: url in by_default))  # which keeps the order of the others
    pypi_found = reading.hosts(pypi, pypi_settings)
    if default and by_default and default[1]:
        # Its pages lead to files on a second host.
        pypi_found |= reading.hosts((), (default[1],))
    found = npm_settings.settings(around)
    named = npm_settings.registries(found)
    npm = reading.urls(named.values(), npm_hosts)
    reading.take_tokens(found, npm)
    reading.take_netrc((*pypi, *npm))
    npm_found = reading.hosts(npm, npm_hosts)
    absent = {"pip": NO_PIP} if not pypi_found and default is None else {}
    absent |= {} if npm_found else {"npm": NO_NPM}
    no_index = () if pypi_found or absent.get("pip") else (NO_INDEX,)
    return Registries(
        pypi,
        npm,
        tuple((scope, reading.usable(url) if _is_web(url) else "") for scope, url in named.items() if scope),
        pip_settings.authorities(around),
        npm_settings.authorities(around, found),
        tuple(sorted(pypi_found)),
        tuple(sorted(npm_found)),
        tuple(dict.fromkeys((*around.problems, *no_index, *absent.values()))),
        tuple(absent),
        credentials,
    )


@dataclass(frozen=True, slots=True)
class ToolHosts:
    """Where one package manager of this machine takes packages from."""

    counts: tuple[str, ...]
    """Hosts that count by now."""
    default: tuple[str, ...] = ()
    """What its own default would add to the setting: an address, and a host of files where it has one."""
    problem: str = ""
    """Why there is no default, in a sentence; empty where there is one."""


def of_tools(found: Registries, around: Surroundings | None = None) -> tuple[ToolHosts, ToolHosts]:
    """Return pip's and npm's, of which `found` is what counts. No host is named here: the tools say it. Blocks."""
    around = around or Surroundings()
    pip, npm = pip_settings.built_in(around), npm_settings.built_in(around)
    return (
        _tool_hosts(found.pypi_hosts, pip or (), NO_PIP),
        _tool_hosts(found.npm_hosts, (npm,) if npm else (), NO_NPM),
    )


def _tool_hosts(counts: tuple[Destination, ...], default: tuple[str, ...], problem: str) -> ToolHosts:
    known = {one.host for one in counts}
    try:
        # As a whole: pages of an index lead to files on the second host.
        missing = any(_destination(one).host not in known for one in default if one)
    except ValueError:  # UnusableHost is one
        default, missing = (), False
    more = tuple(one for one in default if one) if missing else ()
    return ToolHosts(tuple(map(str, counts)), more, "" if default else problem)


class _Reading:
    """What is found on the way: credentials by place, and problems."""

    def __init__(self, around: Surroundings, credentials: dict[str, str]) -> None:
        self._around = around
        self._credentials = credentials

    def urls(self, first: Iterable[str], further: Iterable[str]) -> tuple[str, ...]:
        """Return all URLs of the web among them, without credentials."""
        found: dict[str, str] = {}
        for url in filter(None, map(self.usable, filter(_is_web, (*first, *further)))):
            found.setdefault(_place(url), url)
        return tuple(found.values())

    def usable(self, url: str) -> str:
        """Return `url` without credentials; '' where it cannot be used, which is noted without its text."""
        try:
            clean = urlsplit(url)
            # A password that was not written as a URL has it: a part of it would be left.
            if "@" in clean.path + clean.query + clean.fragment:
                raise ValueError
            _destination(url)
            return self.stripped(url)
        except ValueError as error:  # UnusableHost is one
            self._unusable(error)
            return ""

    def _unusable(self, error: ValueError) -> None:
        why = str(error) if isinstance(error, UnusableHost) else "it is not a URL"
        self._around.problems.append(f"The address of a registry cannot be used: {why}.")

    def stripped(self, url: str) -> str:
        """Return `url` without its credentials, which are noted."""
        parts = urlsplit(url)
        user, at, where = parts.netloc.rpartition("@")
        clean = urlunsplit((parts.scheme.lower(), where, parts.path, "", ""))
        if at:
            name, _, password = user.partition(":")
            self._credentials[_place(clean)] = _basic(unquote(name), unquote(password))
        return clean

    def hosts(self, urls: Iterable[str], named: Iterable[str]) -> set[Destination]:
        """Return where `urls` lead, and what is `named` by host alone."""
        found = set()
        for text in (*urls, *(one for one in named if not _is_web(one))):
            try:
                found.add(_destination(text))
            except ValueError as error:
                self._unusable(error)
        return found

    def take_tokens(self, found: Mapping[str, str], urls: Iterable[str]) -> None:
        """Note the credentials of npm's settings, which stand there by address: `//host/path/:_authToken`."""
        for name, value in found.items():
            place, _, kind = name.rpartition(":")
            if not place.startswith("//") or not value:
                continue
            if kind == "_authToken":
                secret = f"Bearer {value}"
            elif kind == "_auth":
                secret = f"Basic {value}"
            elif kind == "username" and (password := found.get(f"{place}:_password")):
                try:
                    secret = _basic(value, base64.b64decode(password).decode("utf-8", "replace"))
                except binascii.Error:
                    continue
            else:
                continue
            # They are written down without a scheme: unencrypted only where the registry itself is.
            for scheme in ("https", "http"):
                if scheme == "https" or any(url.startswith(f"http:{place.rstrip('/')}") for url in urls):
                    self._credentials.setdefault(_place(f"{scheme}:{place}"), secret)

    def take_netrc(self, urls: Iterable[str]) -> None:
        """Note the credentials of `~/.netrc`, which pip uses too, for hosts that have none."""
        path = self._around.environ.get("NETRC") or self._around.home / ".netrc"
        try:
            known = netrc.netrc(str(path))
        except (OSError, netrc.NetrcParseError, UnicodeDecodeError):
            return
        for url in urls:
            host = urlsplit(url).hostname or ""
            if host in known.hosts and (entry := known.authenticators(host)):
                self._credentials.setdefault(_place(url), _basic(entry[0], entry[2]))


def _is_web(url: str) -> bool:
    """Return whether `url` is one of a host: places for files and hosts by name alone are not."""
    return url.partition("://")[0].lower() in _PORTS and "://" in url


def _destination(text: str) -> Destination:
    """Return the host and port of a URL, or those that a setting names. Raises UnusableHost, ValueError."""
    if not _is_web(text):
        return Destination.parse(text)
    parts = urlsplit(text)
    return Destination(canonical_host(parts.hostname or ""), parts.port or _PORTS[parts.scheme])


def _place(url: str) -> str:
    """Return scheme, host, port and path of a URL: what credentials are kept by."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    where = parts.netloc.rpartition("@")[2].lower().removesuffix(f":{_PORTS.get(scheme, '')}")
    return f"{scheme}://{where}{parts.path.rstrip('/')}"


def _basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()
