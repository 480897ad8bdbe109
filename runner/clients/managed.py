"""Settings of the whole machine that keep a project from switching a client's hook off."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from runner.clients.client_file import values_of
from runner.clients.project_switches import found_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runner.clients.hooks import Harm, Hook, Managed


def in_force(managed: Managed) -> bool:
    """Return whether the file is there with the value."""
    found = values_of(managed.file)
    for key in managed.keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found is managed.value


def command(managed: Managed) -> str:
    """Return the command that writes it, or what to add to the file that is there."""
    where = shlex.quote(str(managed.file))
    if managed.file.exists():
        return f"sudo editor {where}   # add: {managed.text.strip()}"
    return f"printf '%s\\n' {shlex.quote(managed.text.strip())} | sudo install -D -m 644 /dev/stdin {where}"


def is_held(hook: Hook) -> bool:
    """Return whether no project can switch the hook off."""
    return hook.managed is not None and in_force(hook.managed) and not hook.managed.but


def remedy(hook: Hook) -> str:
    """Return the command that an administrator can run against it; '' where there is none, or it was run."""
    return "" if hook.managed is None or in_force(hook.managed) else command(hook.managed)


def standing(hook: Hook) -> str:
    """Return what a project can do about the hook, in a sentence or two; where nothing prevents it, that too."""
    if is_held(hook) and hook.managed is not None:
        return f"{hook.managed.file} keeps projects from switching the guard off."
    files: dict[Harm, dict[tuple[str, ...], list[str]]] = {}
    for switch in hook.switches:
        files.setdefault(switch.harm, {}).setdefault(switch.keys, []).append(switch.file)
    said = [f"{harm.possible}: {'; '.join(_listed(*each) for each in by.items())}." for harm, by in files.items()]
    if hook.since:
        said.append(f"Versions before {'.'.join(map(str, hook.since))} do not heed the guard at all.")
    if hook.managed is None:
        return " ".join((*said, "An agent can write such a file, and nothing that Assent sets up prevents it."))
    if in_force(hook.managed):
        return f"{hook.managed.file} keeps a project's settings from switching the guard off, but {hook.managed.but}."
    return " ".join((*said, "An agent can write such a file."))


def _listed(keys: tuple[str, ...], files: Sequence[str]) -> str:
    return f"{', '.join(files)} ({'.'.join(keys)})" if keys else ", ".join(files)


def advice(hook: Hook) -> str:
    """Return what to say after a hook was installed: how it stands, and what an administrator can do."""
    if not (fix := remedy(hook)):
        return standing(hook)
    but = f", though {hook.managed.but}" if hook.managed is not None and hook.managed.but else ""
    return f"{standing(hook)} An administrator can prevent it by this{but}:\n\n    {fix}\n"


def here(hook: Hook, folder: Path, home: Path) -> str:
    """Return what is in the project at `folder` that counts against the hook; '' for nothing."""
    if is_held(hook):
        return ""
    return "; ".join(found.sentence for found in found_in(hook, str(folder), home))
