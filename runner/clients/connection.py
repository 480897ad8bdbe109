"""Connects clients: what would be changed, as a difference; writing it; and taking it back."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from runner.clients import config_file
from runner.clients.client import HOOK_SECONDS, TOKEN_VARIABLE, ConfigScope, Setup
from runner.clients.committed import check_not_committed
from runner.clients.differences import MASKED, unified
from runner.clients.hook_token import limits_in
from runner.clients.json_tree import Unparsable
from runner.clients.receipts import FileReceipt, Receipt, Receipts
from runner.clients.settings_change import SYNTAXES, applied, hooks_in, own_edits, taken_back
from runner.identity.agents import NAME
from runner.model.errors import KnownError
from runner.system.places import variables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from runner.clients.client import Client
    from runner.clients.config_file import ConfigFile
    from runner.clients.hooks import Hook
    from runner.clients.settings_change import FileEdits
    from runner.identity.agents import Agent, Agents
    from runner.system.places import Places

Outcome = TypeVar("Outcome")
CHANGED = "What would be changed is not what was shown any more. Nothing was changed."
MOST_NAMES = 1000


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file with its new text. `receipt` is what is remembered of it."""

    file: ConfigFile
    after: str
    receipt: FileReceipt
    removes: bool = False
    """Whether the file goes: it was made for the connection and nothing else is in it."""

    @property
    def is_needed(self) -> bool:
        return self.removes or self.file.data is None or self.after != self.file.text

    @property
    def difference(self) -> str:
        """The change as `diff -u` shows it, with the token masked."""
        return unified(str(self.file.path), self.file.text, "" if self.removes else self.after)


@dataclass(frozen=True, slots=True)
class ConnectionPlan:
    """What connecting or disconnecting a client would change. `token` is '' where `agent` gets a new one."""

    client: Client
    setup: Setup
    agent: str
    changes: tuple[FileChange, ...]
    token: str = ""

    @property
    def needed(self) -> tuple[FileChange, ...]:
        return tuple(change for change in self.changes if change.is_needed)

    @property
    def difference(self) -> str:
        return "\n".join(change.difference for change in self.needed)


@dataclass(frozen=True, slots=True)
class Connected:
    """How a client is connected: by which token, and whether its own tools are asked for as well."""

    file: Path
    agent: Agent | None
    """None where the token is no longer valid."""
    hooked: bool
    outdated: str = ""
    """What is wrong with the hook, that connecting again mends; '' for nothing."""


class ClientConnections:
    """Connects clients of this account. Every method reads and writes files; call it on a thread."""

    def __init__(
        self, places: Places, agents: Agents, environment: Mapping[str, str], home: Path | None = None
    ) -> None:
        self._agents = agents
        self._receipts = Receipts(places)
        self._environment = environment
        self._home = home or Path.home()

    def setup(self, scope: ConfigScope = ConfigScope.USER, folder: Path | None = None, *, hook: bool = False) -> Setup:
        """Return the circumstances of a connection on this machine."""
        project = Path(os.path.realpath(folder)) if folder is not None and scope is ConfigScope.PROJECT else Path()
        needed = variables(self._environment)
        return Setup(MASKED, self._home, self._environment, scope, project, hook, needed)

    def plan(self, client: Client, setup: Setup, name: str = "") -> ConnectionPlan:
        """Return what connecting would change. Raises KnownError for a file that cannot be changed."""
        if setup.scope is ConfigScope.PROJECT and not client.entry.has_projects:
            raise KnownError(f"{client.name} has no configuration for a project.", "Leave the scope `project` out.")
        if setup.hook and (why := client.too_old(setup.home, setup.environment)):
            raise KnownError(why, "Install a newer one, or leave its own tools unasked (without --hook).")
        token, agent = self._present(client, setup)
        if agent is None or (name and name != agent.name):
            return self._planned(client, setup, self._free_name(name, client.id), "")
        return self._planned(client, setup, agent.name, token)

    def connect(self, plan: ConnectionPlan, new_token: Callable[[str], str]) -> ConnectionPlan:
        """Write what `plan` shows; `new_token` registers an agent and returns its token. Return what was written.

        Raises KnownError, also where the files have changed so that something else than was shown would be written.
        """
        with self._receipts.locked():
            now = self.plan(plan.client, plan.setup, plan.agent)
            if _lines(now) != _lines(plan) and now.needed:
                raise KnownError(CHANGED, "Look at it again.")
            if not now.needed:
                return now
            token = now.token or new_token(now.agent)
            try:
                final = self._planned(plan.client, plan.setup, now.agent, token)
                _write(final)
                self._remember(final)
            except KnownError:
                if not now.token:
                    with contextlib.suppress(KnownError):
                        self._agents.revoke(now.agent)
                raise
        return final

    def removal(self, client: Client, setup: Setup) -> ConnectionPlan:
        """Return what disconnecting would change. Raises KnownError."""
        receipt = self._receipts.find(client.id, setup.scope, _folder(setup))
        changes = []
        if receipt is not None:
            for file in receipt.files:
                changes.append(_without(Path(file.path), file))
        else:
            for wanted in client.files(replace(setup, hook=client.hook is not None)):
                changes.append(_without_own(wanted))
        _, agent = self._present(client, setup)
        return ConnectionPlan(client, setup, agent.name if agent else "", tuple(changes))

    def disconnect(self, plan: ConnectionPlan, revoke: Callable[[str], None]) -> None:
        """Write what `plan`, a removal, shows, and `revoke` the agent that the token belongs to. Raises KnownError."""
        with self._receipts.locked():
            now = self.removal(plan.client, plan.setup)
            if _lines(now) != _lines(plan):
                raise KnownError(CHANGED, "Look at it again.")
            _write(now)
            self._receipts.remove(plan.client.id, plan.setup.scope, _folder(plan.setup))
        if plan.agent:
            revoke(plan.agent)

    def connected(self, client: Client, setup: Setup) -> Connected | None:
        """Return how the client is connected; None where it is not. Raises KnownError for an unreadable file."""
        token, agent = self._present(client, setup)
        if not token:
            return None
        hooked, outdated = False, ""
        if client.hook is not None:
            for wanted in client.files(replace(setup, hook=True)):
                values = _values(wanted.path)
                if found := hooks_in(values, wanted.edits(values)):
                    hooked, outdated = True, outdated or _outdated(client.hook, values, found)
            if hooked:
                outdated = client.too_old(setup.home, setup.environment) or outdated
        return Connected(client.server(setup)[0], agent, hooked, outdated)

    def owner(self, client: Client, setup: Setup) -> Agent | None:
        """Return the agent that the token in the client's configuration is or was of: it may be revoked.

        None where the client is not connected. Raises KnownError for an unreadable file.
        """
        token = self._token(client, setup)
        return self._agents.owner(token) if token else None

    def _present(self, client: Client, setup: Setup) -> tuple[str, Agent | None]:
        """Return the token in the client's configuration and its agent; '' and None where there is none."""
        token = self._token(client, setup)
        return token, self._agents.named_by(token) if token else None

    def _token(self, client: Client, setup: Setup) -> str:
        path, keys = client.server(setup)
        entry: object = _values(path)
        for key in (*keys, client.entry.variables, TOKEN_VARIABLE):
            entry = entry.get(key) if isinstance(entry, dict) else None
        return entry if isinstance(entry, str) else ""

    def _planned(self, client: Client, setup: Setup, agent: str, token: str) -> ConnectionPlan:
        if setup.scope is ConfigScope.PROJECT and not (setup.folder.is_dir() and setup.folder.is_absolute()):
            raise KnownError(f"There is no folder {setup.folder}.")
        complete = replace(setup, token=token or MASKED)
        changes = tuple(_with(wanted, complete) for wanted in client.files(complete))
        return ConnectionPlan(client, setup, agent, changes, token)

    def _free_name(self, name: str, usual: str) -> str:
        """Return a name for a new agent. Raises KnownError for one that cannot be used."""
        used = {agent.name for agent in self._agents.all() if not agent.revoked}
        if name and not NAME.fullmatch(name):
            raise KnownError(f"{name[:60]!r} cannot be an agent's name.", "Use letters, digits, dots and hyphens.")
        if name and name in used:
            raise KnownError(f"There is an agent called {name} already.", "Choose another name.")
        numbered = (usual if number == 1 else f"{usual}-{number}" for number in range(1, MOST_NAMES))
        return name or next(one for one in numbered if one not in used)

    def _remember(self, plan: ConnectionPlan) -> None:
        setup = plan.setup
        before = self._receipts.find(plan.client.id, setup.scope, _folder(setup))
        known = {} if before is None else {file.path: file for file in before.files}
        files = {
            change.receipt.path: _joined(known.get(change.receipt.path), change.receipt) for change in plan.changes
        }
        whole = tuple({**known, **files}.values())
        self._receipts.replace(Receipt(plan.client.id, setup.scope, _folder(setup), plan.agent, whole))


def _outdated(hook: Hook, values: dict[str, object], found: Sequence[tuple[object, object]]) -> str:
    """Return what is wrong with the hooks in a configuration, each with the one that is right; '' for nothing."""
    shortest = min(limits_in(values, hook), default=HOOK_SECONDS) if hook.says_limit else HOOK_SECONDS
    if shortest < HOOK_SECONDS:
        return f"It gives its hook {shortest:g} s in place of {HOOK_SECONDS}: a question is given up as No before that."
    if any(there != right for there, right in found):
        return "Its hook is not as this version sets it up, and may be slower or let something pass."
    return ""


def _folder(setup: Setup) -> str:
    return str(setup.folder) if setup.scope is ConfigScope.PROJECT else ""


def _lines(plan: ConnectionPlan) -> list[tuple[str, list[str]]]:
    """Return what a person was shown of a plan: what comes and goes, without what is around it."""
    shown = []
    for change in plan.needed:
        lines = [line for line in change.difference.splitlines() if line[:1] in "+-"]
        shown.append((str(change.file.path), lines))
    return shown


def _values(path: Path) -> dict[str, object]:
    """Return the values in a file; none where it is empty or not there. Raises KnownError."""
    file = config_file.read(path)
    return {} if not file.text.strip() else _tried(path, SYNTAXES[path.suffix].read, file.text)


def _tried(path: Path, function: Callable[..., Outcome], *given: object) -> Outcome:
    """Return what `function` returns. Raises KnownError, naming the file, for a text that it cannot change."""
    try:
        return function(*given)
    except Unparsable as error:
        raise KnownError(
            f"{path}: {error.what} {config_file.ALONE}", "Correct the file, or put in yourself what --show prints."
        ) from error


def _with(wanted: FileEdits, setup: Setup) -> FileChange:
    """Return the change that connects. Raises KnownError."""
    if wanted.private and setup.scope is ConfigScope.PROJECT and wanted.path.is_relative_to(setup.folder):
        check_not_committed(wanted.path)
    file = config_file.read(wanted.path)
    mode = file.mode
    if wanted.private:
        # Others may not read a token.
        file = replace(file, mode=mode & 0o700)
    edits = wanted.edits(_values(wanted.path))
    after, made = _tried(wanted.path, applied, wanted.syntax, file.text, edits)
    return FileChange(file, after, FileReceipt(str(wanted.path), file.data is None, made, mode))


def _without(path: Path, receipt: FileReceipt) -> FileChange:
    """Return the change that takes back what `receipt` says. Raises KnownError."""
    file = config_file.read(path)
    if file.data is None:
        return FileChange(file, "", receipt, removes=True)
    syntax = SYNTAXES[path.suffix]
    after = _tried(path, taken_back, syntax, file.text, receipt.made)
    empty = receipt.created and not (after.strip() and _tried(path, syntax.read, after))
    return FileChange(replace(file, mode=receipt.mode), after, receipt, removes=empty)


def _without_own(wanted: FileEdits) -> FileChange:
    """Return the change that removes what is ours by its form, as nothing is known of how it got there."""
    values, mode = _values(wanted.path), config_file.read(wanted.path).mode
    return _without(wanted.path, FileReceipt(str(wanted.path), False, own_edits(values, wanted.edits(values)), mode))


def _joined(before: FileReceipt | None, now: FileReceipt) -> FileReceipt:
    """Return the receipt of two connections, one after the other."""
    if before is None:
        return now
    renewed = {(one.path, one.listed): one for one in now.made}
    kept = [
        replace(renewed.pop((one.path, one.listed)), containers=one.containers)
        if (one.path, one.listed) in renewed
        else one
        for one in before.made
    ]
    return FileReceipt(now.path, before.created, (*kept, *renewed.values()), before.mode)


def _write(plan: ConnectionPlan) -> None:
    """Write all files, or none: what was written is put back where a later one fails. Raises KnownError."""
    done: list[FileChange] = []
    try:
        for change in plan.needed:
            if change.removes:
                config_file.remove(change.file)
            else:
                config_file.write(change.file, change.after)
            done.append(change)
    except KnownError:
        for change in reversed(done):
            with contextlib.suppress(KnownError):
                _put_back(change)
        raise


def _put_back(change: FileChange) -> None:
    now = config_file.read(change.file.path)
    if change.file.data is None:
        config_file.remove(now)
    else:
        config_file.write(replace(now, mode=change.file.mode), change.file.text)
