"""Clients of databases: psql, mysql, sqlite3 and their kin, with the statements that they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.value import UNKNOWN, Value, concatenate, text
from runner.risk.shell.commands.escapes import statement_runs

if TYPE_CHECKING:
    from runner.risk.shell.command import Command, Handler

MOST_STATEMENTS = 10


def client(statements: str, files: str, valued: str = "", *, operands: bool = False) -> Handler:
    """Return the handler of a client.

    `statements` are the options whose value is SQL, `files` those that name a file of it; `valued` the others that
    take a value. With `operands` what follows the database is SQL, as sqlite3 takes it.
    """

    def handle(command: Command) -> Value | None:
        options, words = command.parsed(f"{statements} {files} {valued}")
        given = [options[name] for name in statements.split() if name in options]
        given += [command.read(options[name]) for name in files.split() if name in options]
        database = words[0] if words else UNKNOWN
        if operands:
            given += words[1:MOST_STATEMENTS]
        if not given and command.stdin is not UNKNOWN:
            given = [command.stdin]
        where = text(database.text or command.name)
        for statement in given:
            statement_runs(command, statement)
            command.act("query", sql=statement, at=where)
        return None

    return handle


def document_client(command: Command) -> Value | None:
    """mongosh --eval, redis-cli: commands that empty a database."""
    line = concatenate([*command.arguments[:40], command.stdin], " ").text
    lowered = line.lower()
    for sign, what in (
        ("dropdatabase(", "the database"),
        (".drop(", "a collection"),
        ("flushall", "every database of the server"),
        ("flushdb", "the database"),
        ("deletemany({})", "every document of a collection"),
    ):
        if sign in lowered:
            command.act("destroy", what=text(what), at=text(f"a database ({command.name})"))
    return None
