"""What statements of SQL do to data."""

from __future__ import annotations

import pytest

from runner.risk.model.bounds import CUT
from runner.risk.model.value import HOLE
from runner.risk.recipes.sql import LONGEST_SQL, MOST_STATEMENTS, Effect, changes

FOUND = [
    ("DELETE FROM orders", "deletes every row of orders"),
    ("delete from orders where id = 1", "deletes rows of orders"),
    ("DELETE FROM orders WHERE 1 = 1;", "deletes every row of orders"),
    ("DELETE FROM orders -- WHERE id = 1", "deletes every row of orders"),
    ("DELETE /* WHERE */ FROM orders", "deletes every row of orders"),
    ("UPDATE a SET b = 'WHERE'", "changes every row of a"),
    ('UPDATE "a" AS x SET b = 1 WHERE c = 2', "changes a"),
    ("TRUNCATE TABLE a", "deletes every row of a"),
    ("DROP TABLE IF EXISTS shop.a CASCADE", "drops the table shop.a"),
    ("drop materialized view v", "drops the materialized view v"),
    ("ALTER TABLE a DROP COLUMN b", "drops a column of a"),
    ("ALTER TABLE a ADD COLUMN b int", "writes to a"),
    ("ALTER TABLE a ADD COLUMN b int, RENAME TO c", "changes a"),
    ("WITH x AS (SELECT 1) DELETE FROM a", "deletes every row of a"),
    ("INSERT INTO a VALUES (1)", "writes to a"),
    (f"DELETE FROM {HOLE}", "deletes every row of "),
    ("SELECT * FROM a", None),
    ("drop the table", None),
    ("update me, and set it", None),
    ("'; DROP TABLE a", None),
    ("", None),
]


@pytest.mark.parametrize(("statement", "expected"), FOUND)
def test_a_statement(statement: str, expected: str | None) -> None:
    assert next((one.words for one in changes(statement, set())), None) == expected


def test_each_of_several_statements_counts() -> None:
    found = [one.effect for one in changes("INSERT INTO a VALUES (';'); DELETE FROM b; DROP TABLE c", set())]
    assert found == [Effect.ADDS, Effect.DELETES_ALL, Effect.DROPS]


def test_much_text_is_bounded() -> None:
    noted: set[str] = set()
    assert len([*changes("DELETE FROM a;" * LONGEST_SQL, noted)]) <= MOST_STATEMENTS
    assert noted == {CUT}


def test_a_comment_is_no_part_of_a_statement() -> None:
    assert [one.words for one in changes("-- a\n" * 5_000 + "DROP TABLE a;", set())] == ["drops the table a"]
