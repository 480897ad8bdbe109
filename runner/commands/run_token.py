"""The token with which `assent run` asks: made at the first run, and the same for every later one of this account.

What the person has done to its agent counts: it is never added again once it was revoked, and no run takes away what
another one waits for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.identity.agents import Agents, new_token
from runner.identity.secrets import PATIENCE, Vault
from runner.model.errors import KnownError
from runner.system.durable import replace_file
from runner.system.file_lock import held
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from pathlib import Path

    from runner.identity.agent_file import Agent
    from runner.identity.secrets import Secrets
    from runner.system.places import Places

AGENT = "shell"
"""Name under which the console shows requests of this command."""
SECRET = "token of assent run"
MOST_BYTES = 1000
LOCK_SECONDS = 2 * PATIENCE
"""Another first run may wait for the keyring, to read and to write."""
AGAIN = f"To have it run again: assent agents add {AGENT}"


def file(places: Places) -> Path:
    """Return the file of the token where neither a keyring nor the file with the secrets keeps it.

    It is not in the runtime folder, which is emptied when the person logs out.
    """
    return places.state / "run-token"


def own_token(places: Places, agents: Agents, secrets: Secrets) -> str:
    """Return the token; made and kept at the first call. Raises KnownError, also where its agent may not ask."""
    if (agent := agents.named_by(token := _in_file(places))) is None:
        try:
            with held(file(places), LOCK_SECONDS):
                token = _kept(places, agents, secrets) or _made(places, agents, secrets)
        except OSError as error:
            raise _unwritten(places, error) from error
        agent = agents.named_by(token)
    if agent is not None and agent.paused:
        raise KnownError(f"You paused `{agent.name}`.", f"assent agents resume {agent.name}")
    return token


def add(places: Places, agents: Agents, secrets: Secrets) -> str:
    """Register the agent of this command by the person's word, and keep its token. Raises KnownError."""
    try:
        with held(file(places), LOCK_SECONDS):
            return _added(places, agents, secrets)
    except OSError as error:
        raise _unwritten(places, error) from error


def _kept(places: Places, agents: Agents, secrets: Secrets) -> str:
    """Return the token that is kept, '' where none is in force. Raises KnownError where its agent was revoked."""
    tokens = [token for token in (_in_file(places), secrets.get(SECRET) or "") if token]
    if found := next((token for token in tokens if agents.named_by(token) is not None), ""):
        return found
    for agent in filter(None, map(agents.owner, tokens)):
        raise _revoked(agent)
    return ""


def _made(places: Places, agents: Agents, secrets: Secrets) -> str:
    """Return the token of an agent that is added now. Raises KnownError where there is one, or was one."""
    if agents.problem:
        raise KnownError(agents.problem, "Restore the file, or add the agents again.")
    agent = agents.found(AGENT)
    if agent is None:
        return _added(places, agents, secrets)
    if agent.revoked:
        raise _revoked(agent)
    where = secrets.where
    why = "" if where.kind is Vault.KEYRING else f": {where.explanation.partition(': ')[2].rstrip('.')}"
    raise KnownError(
        f"The token of `{AGENT}` is not at hand{why}.",
        f"Give it a new one: assent agents revoke {AGENT} && assent agents add {AGENT}",
    )


def _added(places: Places, agents: Agents, secrets: Secrets) -> str:
    """Keep a new token and register its agent, in this order: a token without an agent does no harm."""
    if (agent := agents.found(AGENT)) is not None and not agent.revoked:
        return agents.add(AGENT)  # raises KnownError; what is kept stays
    token = new_token()
    if secrets.set(SECRET, token).kind is Vault.MEMORY:
        replace_file(file(places), token)
    return agents.add(AGENT, token)


def _in_file(places: Places) -> str:
    """Return the token in the file of its own, '' where there is none. Raises KnownError."""
    try:
        return read_file(file(places), MOST_BYTES).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise KnownError(
            f"{file(places)} cannot be read: {error.strerror or error}.", "Move it away, then try again."
        ) from error


def _revoked(agent: Agent) -> KnownError:
    if agent.renamed_to:
        return KnownError(f"`{agent.name}` is called {agent.renamed_to} now, and its token is not at hand.", AGAIN)
    return KnownError(f"You revoked `{agent.name}`.", AGAIN)


def _unwritten(places: Places, error: OSError) -> KnownError:
    return KnownError(
        f"The token of `assent run` could not be kept in {file(places)}: {error.strerror or error}.",
        "Free disk space or give yourself the right to write there, then try again.",
    )
