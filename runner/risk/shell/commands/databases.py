"""Clients of databases: psql, mysql, sqlite3 and their kin, with the statements that they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.value import UNKNOWN, Value, concatenate, labels_of, text
from runner.risk.shell.commands.escapes import statement_runs
from runner.risk.trace.files import is_temporary

if TYPE_CHECKING:
    from runner.risk.shell.command import Command, Handler

CHANGES_MANY = expression(r"\.(?:updatemany|bulkwrite|remove|renamecollection)\b|\.deletemany\(\{\s*[^}\s]")
"""Calls of mongosh that change more than one document."""


def client(statements: str, files: str = "", *, operands: bool = False) -> Handler:
    """Return the handler of a client.

    `statements` are the options whose value is SQL, `files` those that name a file of it. With `operands` what follows
    the database is SQL, as sqlite3 takes it.
    """

    def handle(command: Command) -> Value | None:
        options, words = command.parsed(f"{statements} {files} {command.valued}")
        given = [options[name] for name in statements.split() if name in options]
        given += [command.read(options[name]) for name in files.split() if name in options]
        database = words[0] if words else UNKNOWN
        if operands and is_temporary(database):
            return None
        if operands:
            given += words[1:]
        if not given and command.stdin is not UNKNOWN:
            given = [command.stdin]
        where = text(database.text or command.name)
        labels = labels_of(words) | (command.uses(command.arguments) if given else frozenset())
        for statement in given:
            statement_runs(command, statement)
            labels |= command.act("query", sql=statement, at=where).labels
            if any(map(ASKS_FOR_PEOPLE.search, statement.texts)):
                labels |= {"rows", "of-people"}
        return Value(labels=labels | {"rows"}) if given else None

    return handle


ASKS_FOR_PEOPLE = expression(
    r"(?is)\bselect\b(?!\s{1,9}(?:count|sum|avg|min|max)\b)[^;]{0,2000}?\b(?:birth_?da(?:te|y)|date_of_birth|dob|ssn|iban|phone\w{0,9}|mobile"
    r"|e?_?mail(?:_?address)?|(?:last|first|full|sur)_?name|passport\w{0,9}|home_?address|salary|password\w{0,9})\b[^;]{0,2000}?\bfrom\b"
)
"""A statement that asks for what only people have."""
OF_DATABASE = "of-database"
"""The label of what a database holds, as a whole."""
DUMPS_TO = "-f --file -r --result-file -o --out --archive --tab"


def dump(command: Command) -> Value | None:
    """pg_dump, mysqldump and others: a copy of a database, as output or in the file that an option names."""
    options, _ = command.parsed(DUMPS_TO)
    copied = Value(labels=frozenset({OF_DATABASE}))
    for path in [options[name] for name in DUMPS_TO.split() if name in options]:
        command.act("write", path=command.placed(path), data=copied)
    return copied


def key_client(command: Command) -> Value | None:
    """redis-cli: keys that a pattern finds, settings of the server, and all that is kept there."""
    options, operands = command.parsed()
    words = [word.text.lower() for word in operands[:3]]
    if is_temporary(options.get("-s", UNKNOWN)):
        command.noted("own", text("yes"))
        return None
    where = text(f"a database ({command.name})")
    found = any(word.labels & {"listed", "keys-found"} or "(" in word.text for word in operands[1:])
    match words:
        case ["del" | "unlink", *_] if found:
            command.act("destroy", what=text("whatever entries it finds"), at=where)
        case ["config", "set", *_] | ["acl" | "cluster", "setuser" | "reset", *_] | ["replicaof" | "slaveof", *_]:
            command.act("configure", target=text(" ".join(words)), at=text("the server"))
        case ["shutdown", *_] | ["script" | "function", "flush", *_] | ["xtrim" | "debug", *_]:
            command.act("destroy", what=text(" ".join(words[:2])), at=where)
        case _:
            return document_client(command)
    return None


def document_client(command: Command) -> Value | None:
    """mongosh --eval: commands that empty or change a database."""
    line = concatenate([*command.arguments, command.stdin], " ").text
    lowered = line.lower()
    if CHANGES_MANY.search(lowered):
        command.act("query", effect=text("CHANGES"), at=text(command.name))
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
