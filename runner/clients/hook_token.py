"""The token and time limit of a hook, read from the configurations in which `connect` has put them.

Standard library only, but for clients that write YAML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.clients.client_file import values_of
from runner.clients.entries import ENTRIES, projects
from runner.clients.hook_protocol import HOOK_FAILED
from runner.clients.hooks import HOOKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from runner.clients.hooks import Hook

UNSAID = 60.0
"""Seconds that the quickest of the clients gives a hook whose entry says nothing."""
UNLIMITED = 600.0
"""Seconds that are assumed of a client that waits for its hook for ever."""


def token_of(client: str, environment: Mapping[str, str], home: Path, folder: str) -> str:
    """Return the token for the hook of `client`, which works in `folder`; '' where there is none."""
    entry = ENTRIES[client]
    for path, keys in entry.places(environment, home, folder):
        found = values_of(path)
        for key in (*keys, entry.variables, "ASSENT_TOKEN"):
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, str) and found:
            return found
    return ""


def seconds_of(client: str, environment: Mapping[str, str], home: Path, folder: str) -> float:
    """Return the shortest time limit that any configuration gives the hook of `client`."""
    hook = HOOKS[client]
    if not hook.says_limit:
        return UNLIMITED
    files = [hook.settings.path(environment, home), *((hook.managed.file,) if hook.managed else ())]
    files += [project / name for project in projects(folder) for name in hook.in_project]
    found = [limit for path in dict.fromkeys(files) for limit in limits_in(values_of(path), hook)]
    return min(found, default=UNSAID)


def limits_in(values: object, hook: Hook) -> Iterator[float]:
    """Yield the time limit of each of our hooks in a client's configuration, in seconds."""
    for one in _own(values, hook.event):
        limit = one.get(hook.says_limit)
        given = isinstance(limit, int | float) and not isinstance(limit, bool) and limit > 0
        yield float(limit) * hook.unit if given and limit is not None else UNSAID


def _own(values: object, event: str) -> Iterator[dict[str, Any]]:
    for key in ("hooks", event):
        values = values.get(key) if isinstance(values, dict) else None
    for group in values if isinstance(values, list) else []:
        hooks = group.get("hooks", [group]) if isinstance(group, dict) else None
        yield from (
            one
            for one in (hooks if isinstance(hooks, list) else [])
            if isinstance(one, dict) and any(HOOK_FAILED in str(value) for value in one.values())
        )
