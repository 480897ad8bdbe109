"""Containers that a script starts for itself, with nothing of this machine in them: what is in them goes with them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words as set_of
from runner.risk.model.value import HOLE, Value, concatenate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.shell.command import Command

ALONE = expression(r"-[dit]{1,3}|--(?:rm|detach|interactive|tty|init|quiet|no-healthcheck|publish-all)|-[PTq]")
"""Options of `docker run` and `docker exec` that take no value and reach for nothing."""
HARMLESS = expression(
    r"-[ep]|--(?:name|env|publish|tmpfs|label|memory|shm-size|platform|pull|health-[a-z]{1,20}|hostname|workdir)"
)
"""Options of `docker run` with a value by which a container gets nothing of this machine, and of no other."""
NAMES_HOST = expression(
    r"(?i)host|url|uri|dsn|addr|server|://|\bconnect\b|\\[a-z!]|\bmongo\(|dblink|_fdw|federated|\b(?:migrate|replicaof|slaveof"
    r"|system|program)\b"
)
"""Words in what a client in a container is given by which it may work on a database elsewhere."""
CLIENTS = set_of("mysql mariadb psql mongosh mongo redis-cli sqlite3 clickhouse-client dropdb createdb mysqladmin")
"""Clients that work on the database beside them, in the same container, where nothing names another."""
STATEMENT = set_of("-e -c --eval --execute --command --query")
OF_CLIENT = expression(
    r"-[uUp][\w.-]{0,60}|-[dDnNtTAqXvwabsB]{1,4}|--(?:user|username|password|dbname|database|quiet|batch|silent|no-psqlrc"
    r"|tuples-only|if-exists|set|skip-ssl|authenticationDatabase)(?:=[\w.-]{0,60})?|[A-Za-z_][\w-]{0,60}|ON_ERROR_STOP=[01]"
)
"""Words of such a client beside its statement that surely name no other machine."""
OTHER_ENGINE = set_of("DOCKER_HOST DOCKER_CONTEXT CONTAINER_HOST")
FRESH = frozenset(("$RANDOM", "$BASHPID", "$$"))
"""Labels of a name that no other container has."""


def note_own_container(command: Command) -> None:
    """Note the name of a container that `docker run` starts, where no other one can be meant by it from here on.

    The name is new by a random number, or the script ends where there is a container of that name.
    """
    name = _name_of_run(command)
    if name is None:
        return
    fresh = bool(name.labels) and name.labels <= FRESH and HOLE in name.text and command.shell.keeps_random
    inline = name.text.startswith("--name=")
    if fresh or (name.exact and not inline and command.shell.ends_here):
        command.shell.containers[name.text.removeprefix("--name=")] = name.labels


def _name_of_run(command: Command) -> Value | None:
    """Return the name that `docker run` gives a container; None for none, and where it may reach for something."""
    given = list(command.arguments)
    if [word.text for word in given[:1]] != ["run"] or not OTHER_ENGINE.isdisjoint(command.shell.state.variables):
        return None
    name, at = None, 1
    while at < len(given) and given[at].text.startswith("-"):
        option, equals, inline = given[at].text.partition("=")
        if ALONE.fullmatch(given[at].text) is not None:
            at += 1
            continue
        value = given[at] if equals else given[at + 1] if at + 1 < len(given) else None
        if HARMLESS.fullmatch(option) is None or value is None:
            return None
        if option in ("-e", "--env"):
            setting = inline if equals and option == "--env" else value.text
            if "=" not in setting or NAMES_HOST.search(setting) is not None:
                return None
        if option == "--name":
            name = value
        at += 1 if equals else 2
    return name


def is_own_container(command: Command, words: Sequence[Value]) -> bool:
    """Return whether `words`, a container and a command for it, are about one that the script has started."""
    container = words[0]
    known = command.shell.containers.get(container.text)
    if known is None or known != container.labels or (container.exact is None and not known):
        return False
    if command.stdin.exact is None and (command.stdin.labels or command.stdin.texts):
        return False
    before = list(command.arguments[: len(command.arguments) - len(words)])
    if [word.text for word in before[:1]] != ["exec"] or not all(ALONE.fullmatch(one.text) for one in before[1:]):
        return False
    if not OTHER_ENGINE.isdisjoint(command.shell.state.variables) or words[1].text not in CLIENTS:
        return False
    whole = concatenate((*words[1:], command.stdin), " ").text
    return NAMES_HOST.search(whole) is None and all(
        before.text in STATEMENT or OF_CLIENT.fullmatch(word.text) is not None
        for before, word in pairwise(words[1:])
        if word.text not in STATEMENT
    )
