"""Effects on data of the SQL statements in a text."""

from __future__ import annotations

import re
from enum import IntEnum
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.risk.model.bounds import bounded, excerpt
from runner.risk.model.value import HOLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.risk.model.bounds import Notes

LONGEST_SQL = 200_000
"""Characters that are looked at."""
MOST_STATEMENTS = 5_000
# Comments and texts; each alternative ends at the end of the text at the latest, so none is tried again.
ASIDE = expression(r"--[^\n]*|/\*(?s:.*?)(?:\*/|\Z)|'[^']*(?:'|\Z)|(?m:^)\\[a-z][^\n]*")
"""Comments, texts, and lines that psql takes for itself, as `\\copy a FROM 'b'`: they end without a semicolon."""
NAME_WITH_END = expression(r"[\"`][^\"`;\n]{0,100};[^\"`\n]{0,100}[\"`]")
"""A name in quotes with what else ends a statement."""
NAME = rf"(?:ONLY\s+)?([\w.{HOLE}\"`\[\]$-]{{1,120}})"
DROP = expression(
    rf"DROP\s+(TABLE|DATABASE|SCHEMA|VIEW|MATERIALIZED\s+VIEW|INDEX|COLLECTION|KEYSPACE|USER|ROLE|TRIGGER|SEQUENCE)"
    rf"\s+(?:CONCURRENTLY\s+)?(?:IF\s+EXISTS\s+)?{NAME}",
    re.IGNORECASE,
)
TRUNCATE = expression(rf"TRUNCATE\s+(?:TABLE\s+)?{NAME}", re.IGNORECASE)
OF_DELETE = rf"DELETE\s+FROM\s+{NAME}"
OF_UPDATE = rf"UPDATE\s+(?:OR\s+\w+\s+)?{NAME}(?:\s+(?:AS\s+)?\w+)?\s+SET\b"
DELETE = expression(OF_DELETE, re.IGNORECASE)
UPDATE = expression(OF_UPDATE, re.IGNORECASE)
ALTER = expression(rf"ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?{NAME}(.*)", re.IGNORECASE | re.DOTALL)
INSERT = expression(rf"(?:INSERT\s+(?:OR\s+\w+\s+|IGNORE\s+)?INTO|REPLACE\s+INTO|MERGE\s+INTO)\s+{NAME}", re.IGNORECASE)
CREATE = expression(
    rf"CREATE\s+(?:(?:TEMP|TEMPORARY|UNIQUE|OR\s+REPLACE)\s+){{0,3}}(?:TABLE|VIEW|INDEX)\s+(?:IF\s+NOT\s+EXISTS\s+)?{NAME}",
    re.IGNORECASE,
)
ONLY_ADDS = expression(r"\s*+ADD\b", re.IGNORECASE)
CHANGED = expression(r"\b(?:DROP|ALTER|RENAME|MODIFY|CHANGE|OWNER|DISABLE|DETACH)\b", re.IGNORECASE)
REPLACE = expression(rf"CREATE\s+OR\s+REPLACE\s+(?:TEMP\s+|TEMPORARY\s+)?(TABLE)\s+{NAME}", re.IGNORECASE)
WHERE = expression(r"\b(?:WHERE|LIMIT)\b", re.IGNORECASE)
ALWAYS = expression(r"\bWHERE\s+(?:1\s*=\s*1|TRUE|1)\s*(?:$|;)", re.IGNORECASE)
TAKEN_BACK = expression(r"\bROLLBACK(?:\s+(?:TRANSACTION|WORK))?[\s;]*\Z", re.IGNORECASE)
"""The end of statements of which nothing stays."""
PUT_TOGETHER = expression(
    r"\bEXECUTE\s{1,20}+(?:IMMEDIATE\b|FORMAT\s{0,9}\(|'|CONCAT\s{0,9}\(|\w{1,60}+\s{0,9}\|\|)"
    r"|\bPREPARE\s{1,9}\w{1,60}\s{1,9}FROM\s{1,9}[@C]|\bEXEC(?:UTE)?\s{0,9}\(|\bsp_executesql\b",
    re.IGNORECASE,
)
"""A text that a statement runs as one."""
CONDITION = expression(r"\bWHERE\b", re.IGNORECASE)
OF_ONE = expression(
    r"WHERE\s++(?:\w{1,60}+\.)?+[\"`\[]?+_?(?:id|uuid|guid|pk|rowid)[\"`\]]?+\s*+=\s*+"
    rf"(?:\?|:\w{{1,60}}+|%s|%\(\w{{1,60}}+\)s|[$@]\w{{1,60}}+|\d{{1,20}}+|'[^'{HOLE}]{{1,60}}+'|{HOLE})"
    r"\s*+(?:RETURNING\b[^;]{0,200}+)?+;?+\s*+",
    re.IGNORECASE,
)
"""The end of a statement about the row with one key."""
INNER = expression(rf"\b(?:{OF_DELETE}|{OF_UPDATE})", re.IGNORECASE)


def is_of_one(statement: str) -> bool:
    """Return whether a text is one statement, about the row with one key."""
    if len(statement) > LONGEST_SQL or ";" in statement.rstrip("; \n\t"):
        return False
    conditions = list(islice(CONDITION.finditer(statement), 2))
    return len(conditions) == 1 and OF_ONE.fullmatch(statement, conditions[0].start()) is not None


SETTING = expression(
    r"[\"`\[]?(?P<column>\w{1,60})[\"`\]]?\s{0,9}=\s{0,9}(?:'(?P<text>[^']{0,100})'|(?P<word>[?\w%$.]{1,60}))"
)
PLACEHOLDER = expression(r"\?|%s|\$\d{1,3}")
UPDATE = expression(OF_UPDATE, re.IGNORECASE)


def settings(text: str, given: Sequence[str] = ()) -> dict[str, str]:
    """Return the columns that statements set in rows that there are, with their values; `given` are those of `?`."""
    found = {}
    for statement in text.split(";"):
        if (begun := UPDATE.search(statement)) is None:
            continue
        end = condition.start() if (condition := CONDITION.search(statement, begun.end())) else len(statement)
        before = len(PLACEHOLDER.findall(statement, 0, begun.end()))
        for one in SETTING.finditer(statement, begun.end(), end):
            value = one["text"] if one["text"] is not None else one["word"]
            if PLACEHOLDER.fullmatch(value) is not None:
                value = given[before] if before < len(given) else ""
                before += 1
            found[one["column"]] = value
    return found


class Effect(IntEnum):
    """What a statement does to data, the gravest last."""

    ADDS = 1
    CHANGES = 2
    """Some rows, or how a table is made."""
    OPENS = 3
    """Who may read or change it, or what protects it."""
    DELETES = 4
    CHANGES_ALL = 5
    DELETES_ALL = 6
    DROPS = 7
    ANYTHING = 8
    """What is only put together while the statement runs."""


class DataChange(NamedTuple):
    """What one statement does to one table."""

    effect: Effect
    table: str
    what: str = "the table"
    """What is dropped."""

    @property
    def words(self) -> str:
        """The change as a clause: "deletes every row of orders"."""
        match self.effect:
            case Effect.ADDS:
                return f"writes to {self.table}"
            case Effect.CHANGES:
                return f"changes {self.what} {self.table}" if self.what == "rows of" else f"changes {self.table}"
            case Effect.OPENS:
                return f"{self.what} {self.table}"
            case Effect.DELETES:
                return f"deletes rows of {self.table}"
            case Effect.CHANGES_ALL:
                return f"changes every row of {self.table}"
            case Effect.DELETES_ALL:
                return f"deletes every row of {self.table}"
            case Effect.DROPS:
                return f"drops {self.what} {self.table}"
            case Effect.ANYTHING:
                return "runs a statement that it puts together"


def changes(text: str, noted: Notes | set[str]) -> Iterator[DataChange]:
    """Yield what the statements in `text` do, in their order; nothing for what is no SQL. Takes linear time."""
    plain = ASIDE.sub(_instead, bounded(noted, text, LONGEST_SQL, "characters of SQL"))
    plain = NAME_WITH_END.sub(lambda name: name[0].replace(";", "_"), plain)
    if TAKEN_BACK.search(plain) is not None and "commit" not in plain.lower():
        return
    for statement in bounded(noted, plain.split(";"), MOST_STATEMENTS, "statements of SQL"):
        found = _of(EXPLAINED.sub("", statement.strip().lstrip("("), count=1))
        if found is not None:
            yield found


EXPLAINED = expression(
    rf"\AEXPLAIN\s{{1,20}}+(?:ANALY[SZ]E\s{{1,20}}+(?:VERBOSE\s{{1,20}}+)?|\((?=[^)]{{0,300}}(?:\bANALY[SZ]E\b|{HOLE}))[^)]{{0,300}}\)\s{{0,20}}+|{HOLE}\s{{0,20}}+)",
    re.IGNORECASE,
)
"""What stands before a statement that a database runs to measure it."""


def _of(statement: str) -> DataChange | None:
    if statement[:4].upper() == "WITH" and (inner := INNER.search(statement)) is not None:
        statement = statement[inner.start() :]
    if PUT_TOGETHER.search(statement) is not None:
        return DataChange(Effect.ANYTHING, "")
    return _opened(statement) or _of_data(statement)


def _of_data(statement: str) -> DataChange | None:
    if (drops := DROP.match(statement)) is not None:
        return DataChange(Effect.DROPS, _table(drops[2]), f"the {' '.join(drops[1].lower().split())}")
    if (empties := TRUNCATE.match(statement)) is not None:
        return DataChange(Effect.DELETES_ALL, _table(empties[1]))
    whole = WHERE.search(statement) is None or ALWAYS.search(statement) is not None
    if (deletes := DELETE.match(statement)) is not None:
        return DataChange(Effect.DELETES_ALL if whole else Effect.DELETES, _table(deletes[1]))
    if (updates := UPDATE.match(statement)) is not None:
        return DataChange(Effect.CHANGES_ALL if whole else Effect.CHANGES, _table(updates[1]))
    if (alters := ALTER.match(statement)) is not None:
        drops_column = re.search(r"\bDROP\b", alters[2], re.IGNORECASE) is not None
        if ONLY_ADDS.match(alters[2]) is not None and CHANGED.search(alters[2]) is None:
            return DataChange(Effect.ADDS, _table(alters[1]))
        return DataChange(Effect.DROPS if drops_column else Effect.CHANGES, _table(alters[1]), "a column of")
    if (replaces := REPLACE.match(statement)) is not None and "TEMP" not in replaces[0].upper():
        return DataChange(Effect.DELETES_ALL, _table(replaces[2]))
    for pattern, effect in ((INSERT, Effect.ADDS), (CREATE, Effect.ADDS)):
        if (match := pattern.match(statement)) is not None:
            return DataChange(effect, _table(match[1]))
    return None


PRIVILEGES = r"(?:ALL(?:\s+PRIVILEGES)?|SELECT|INSERT|UPDATE|DELETE|USAGE|EXECUTE|CONNECT|CREATE|TRUNCATE|REFERENCES)"
GRANTED = expression(
    rf"GRANT\s+(?P<rights>{PRIVILEGES}(?:\s*,\s*{PRIVILEGES}){{0,9}})\s+ON\s+[\w\s.*\"`{HOLE}]{{0,100}}?(?P<on>[\w.*\"`{HOLE}]{{1,60}})"
    r"\s+TO\s+(?P<who>[\w\"'`%@.,\s]{1,300})",
    re.IGNORECASE,
)
EVERYBODY = expression(
    r"(?i)\W?(?:public|anon|anonymous|everyone|allusers|guest)\W?|['\"`]{2}@.{0,60}|['\"`]?\w{0,60}['\"`]?@['\"`]%['\"`]"
)
"""Names in databases for whoever comes; `''@'%'` is MySQL's."""
PROTECTIONS = (
    (
        expression(rf"(?i)ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?{NAME}\s+DISABLE\s+ROW\s+LEVEL\s+SECURITY"),
        "switches off row level security of",
    ),
    (expression(rf"(?i)ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?{NAME}\s+DISABLE\s+TRIGGER\b"), "switches off triggers of"),
    (
        expression(rf"(?i)DROP\s+(?:NETWORK\s+|MASKING\s+|ROW\s+ACCESS\s+)?POLICY\s+(?:IF\s+EXISTS\s+)?{NAME}"),
        "removes the policy",
    ),
    (expression(r"(?i)ALTER\s+ACCOUNT\s+UNSET\s+(\w{1,60})"), "removes from the whole account the setting"),
    (
        expression(r"(?i)ALTER\s+(?:SYSTEM|INSTANCE)\s+(?:SET|RESET)\s+(\w{1,60})"),
        "changes for the whole server the setting",
    ),
    (expression(r"(?i)SET\s+(?:GLOBAL|PERSIST)\s+(\w{1,60})"), "changes for the whole server the setting"),
    (
        expression(
            rf"(?i)(?:ALTER\s+(?:USER|ROLE|LOGIN)\s+{NAME}[^;]{{0,200}}\bPASSWORD\b|SET\s+PASSWORD\s+FOR\s+{NAME})"
        ),
        "sets another password of",
    ),
    (expression(rf"(?i)(?:ALTER|CREATE)\s+(?:USER|ROLE)\s+{NAME}[^;]{{0,200}}\bSUPERUSER\b"), "gives every right to"),
    (expression(rf"(?i)CREATE\s+(?:USER|LOGIN)\s+(?:IF\s+NOT\s+EXISTS\s+)?{NAME}"), "adds the user"),
)
"""Statements about who may do what, and how a sentence has them before the name."""


def _opened(statement: str) -> DataChange | None:
    """Return what a statement changes of who may read or change something; None for any other."""
    if (granted := GRANTED.match(statement)) is not None and any(
        EVERYBODY.fullmatch(one.split()[0]) for one in granted["who"].split(",") if one.strip()
    ):
        rights = " and ".join(dict.fromkeys(" ".join(one.upper().split()) for one in granted["rights"].split(",")))
        return DataChange(Effect.OPENS, _table(granted["on"]), f"lets everybody {rights} in")
    for pattern, what in PROTECTIONS:
        if (found := pattern.match(statement)) is not None:
            name = next((one for one in found.groups() if one), "")
            return DataChange(Effect.OPENS, _table(name), what)
    return None


def _instead(aside: re.Match[str]) -> str:
    """Return what stands for a text, or for a comment, so that nothing in it is taken for a part of a statement."""
    return "''" if aside[0][0] == "'" else " "


def _table(written: str) -> str:
    """Return a table's name without quotes; '' for one that is worked out at run time."""
    name = written.strip('"`[]')
    return "" if HOLE in name else excerpt(name, 60)
