"""Programs that are not known: what they get is handed over, and nobody knows what becomes of it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.executing.running import RUNNERS
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, text
from runner.risk.shell.commands.asked import SAID, VerbKind, asked
from runner.risk.shell.commands.dry import is_dry
from runner.risk.shell.commands.table import known_as
from runner.risk.shell.commands.well_known import is_well_known

if TYPE_CHECKING:
    from runner.risk.shell.command import Command

WORDS_OF_CODE = words("-c -e --eval --exec --command --execute -E --expression")
"""Options that are followed by a text which programs run."""


OF_CODE = expression(r"[^\w./:@-]")
"""What a text that a program may run has, and the name of a setting or a file has not."""


STARTS_PACKAGES = words("npx uvx bunx pipx")
"""Programs that get another one from a registry and start it."""


def is_stranger(name: str) -> bool:
    """Return whether nothing is known of a program of this name."""
    return bool(name) and known_as(name) is None and not is_well_known(name)


def note_stranger(command: Command) -> bool:
    """Note what a program that is not known gets; return whether it is one."""
    first = command.words[0]
    name = "" if first.exact is None or HOLE in first.text else command.name
    if name in STARTS_PACKAGES:
        _, operands = command.parsed("-p --package --python --from --with -c --call", stop=True)
        name = operands[0].text.partition("@")[0] if operands else ""
    if not name or is_stranger(name):
        return _hand(command, name)
    if name in RUNNERS and known_as(name) is None and _is_text(command.stdin):
        command.shell.nested.handed_to_program(name, (), (command.stdin,), command.place)
    return False


def _hand(command: Command, name: str) -> bool:
    given = [command.placed(_operand(word)) for word in command.arguments]
    code = [
        after
        for word, after in pairwise(command.arguments)
        if word.text in WORDS_OF_CODE and any(map(OF_CODE.search, after.texts))
    ]
    if _is_text(command.stdin):
        code.append(command.stdin)
    command.shell.nested.handed_to_program(name, (*given, command.stdin), code, command.place)
    return True


def note_removal(command: Command) -> None:
    """Note that a program whose work is not followed is asked to delete something, by the verb among its words."""
    if command.words[0].exact is None or "/" in command.words[0].text or OF_FILE.search(command.name) is not None:
        return
    arguments = [word.text for word in command.arguments]
    # Few commands have such a word at all, and looking at their grammar takes longer.
    found = asked(command.name, arguments) if any(map(MAY_REMOVE.search, arguments)) else None
    if found is None or found.effect is not VerbKind.REMOVES or is_dry(command.name, arguments):
        return
    if len(arguments) < LEAST_WORDS or "--help" in arguments:
        return
    which = next((word for word in command.arguments if word.text == found.name), None)
    fields = {"name": which} if which is not None and found.name else {} if found.thing else {"name": UNKNOWN}
    command.act("destroy", what=text(found.thing), by=text(command.name), **fields)


MAY_REMOVE = expression("|".join(SAID[VerbKind.REMOVES]["deletes"].split()))
REPLACES = expression(
    r"-{1,2}(?:overwrite|drop|clean|truncate|recreate|replace|delete-existing|force-recreate|drop-existing|if-exists=replace"
    r"|mode=(?:overwrite|replace)|write_disposition=WRITE_TRUNCATE)(?:=(?:true|yes|1))?"
)
"""Options by which a program that loads data takes away first what is there."""
DATABASE = expression(
    r"(?i)(?:PG|MYSQL|MSSQL|OCI|MongoDB):.{1,300}|(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|mssql|redshift|snowflake|clickhouse"
    r"|bigquery)(?:\+\w{1,20})?://.{1,300}|.{0,200}\b(?:dbname|host)=.{1,200}"
)
"""A word that says which database is meant."""
TABLES = frozenset(("-nln", "-t", "--table", "--collection", "--into", "--nsInclude"))
LOCATES = frozenset(("-h", "--host", "--uri", "-d", "--dbname", "--database", "--db", "--dsn"))


def note_replacing(command: Command) -> None:
    """Note that a program is to load data into a database in the place of what is there."""
    given = command.arguments
    if not any(word.text[:1] == "-" and REPLACES.fullmatch(word.text) for word in given):
        return
    named = next((word for word in given if DATABASE.fullmatch(word.text) is not None), None)
    behind = next((after for word, after in pairwise(given) if word.text in LOCATES), None)
    inline = next((word for word in given if word.text.partition("=")[0] in LOCATES and "=" in word.text), None)
    where = named or behind or inline
    table = next((after for word, after in pairwise(given) if word.text in TABLES), UNKNOWN)
    if where is not None and not is_dry(command.name, [word.text for word in given]):
        command.act("destroy", what=table, name=where, by=text(command.name), loads=text("yes"))


LEAST_WORDS = 2
"""Words without which a verb is asked of nothing."""
OF_FILE = expression(r"\.(?:sh|py|js|ts|rb|pl|php)$")


def _is_text(stdin: Value) -> bool:
    return bool(stdin.text.strip(f"{HOLE} \n"))


def _operand(word: Value) -> Value:
    """Return the value of an option that is written with it: `--folder=~/a`."""
    known = word.text
    if known[:1] == "-" and "=" in known:
        return text(known.partition("=")[2], labels=word.labels)
    return word
