"""The hosts that a client needs for its models: those of its service, and those that the person named themselves.

Only what is outside of a project counts: an address in a file of the project is refused, and asked for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from runner.clients.settings_change import SYNTAXES
from runner.model.errors import KnownError
from runner.model.network import Destination, UnusableHost
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from runner.work.facts import WorkFacts

PORTS = {"http": 80, "https": 443}
MOST_BYTES = 8 << 20


def of_service(facts: WorkFacts, environment: Mapping[str, str]) -> tuple[Destination, ...]:
    """Return the hosts of the client's own service, and of those services for which the person has keys."""
    keyed = (host for name, host in facts.keys.items() if host and environment.get(name))
    return tuple(dict.fromkeys(Destination.parse(host) for host in (*facts.hosts, *keyed)))


def named(facts: WorkFacts, home: Path, environment: Mapping[str, str]) -> tuple[Destination, ...]:
    """Return the hosts that variables and settings of the person name for its models; they may be on this machine."""
    texts = [environment[name] for name in facts.addresses if environment.get(name)]
    for name in facts.settings:
        texts += _texts(_values(_where(facts, name, home, environment)), facts.addresses)
    return tuple(dict.fromkeys(found for text in texts if (found := destination(text)) is not None))


def quiet(facts: WorkFacts) -> tuple[Destination, ...]:
    """Return what the client tries by itself and does without."""
    return tuple(map(Destination.parse, facts.quiet))


def destination(address: str) -> Destination | None:
    """Return host and port of an address such as `http://127.0.0.1:11434/v1`; None for what is none."""
    try:
        has_scheme = "://" in address
        parts = urlsplit(address if has_scheme else f"http://{address}")
        port = parts.port or (PORTS.get(parts.scheme, 0) if has_scheme else 0)
        # In the rings each name of this machine leads to the same address.
        host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname
        if not host or not port or parts.scheme not in PORTS:
            return None
        found = Destination.parse(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        return None if found.is_wildcard else found
    except (ValueError, UnusableHost):
        return None


def _where(facts: WorkFacts, name: str, home: Path, environment: Mapping[str, str]) -> Path:
    """Return a file of the state, which a variable may have put elsewhere."""
    for place in facts.state:
        if name.startswith(f"{place.default}/"):
            return place.at(home, environment) / name.removeprefix(f"{place.default}/")
    return home / name


def _values(path: Path) -> object:
    try:
        text = read_file(path, MOST_BYTES).decode("utf-8")
        return json.loads(text) if path.suffix == ".json" else SYNTAXES[path.suffix].read(text)
    except (OSError, ValueError, RecursionError, KnownError):
        return {}


def _texts(values: Any, names: Sequence[str]) -> Iterator[str]:
    """Give the texts that stand, at any depth, under one of these names."""
    if isinstance(values, dict):
        for key, value in values.items():
            if isinstance(value, str) and key in names:
                yield value
            else:
                yield from _texts(value, names)
    elif isinstance(values, list):
        for value in values:
            yield from _texts(value, names)
