"""The lines of `assent history --follow`, whatever the file holds; the command itself is tried in test_history."""

from __future__ import annotations

import json
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from runner.audit.export.source import body_text
from runner.commands.follow import HistoryFeed
from runner.model.request import canonical
from tests.audit.story import approved, remove, request, tamper, write

if TYPE_CHECKING:
    from pathlib import Path


def followed(path: Path) -> list[str]:
    with closing(HistoryFeed(path, 0)) as feed:
        return feed.lines()


def test_each_line_is_canonical_json_whatever_became_of_the_body(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    write(path, [*approved(request("r1")), *approved(request("r2"))])
    remove(path, "r1")
    tamper(path, 'UPDATE bodies SET data = \'{"seen":\n"\u2028"}\' WHERE seq = 9')
    tamper(path, "UPDATE bodies SET data = '{\"seen\":' WHERE seq = 10")
    lines = followed(path)
    for line in lines:
        assert line.endswith("}\n") and line.count("\n") == 1 and line.isascii()
        assert canonical(json.loads(line)).decode() + "\n" == line
    found = {one["seq"]: one for one in map(json.loads, lines)}
    assert {seq for seq, one in found.items() if one.get("content") == "gone"} == set(range(2, 9))
    assert (found[9]["body"], found[10]["body"]) == ({"seen": "\u2028"}, None)
    assert found[11]["body"] and "content" not in found[10]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a":1}', '{"a":1}'),
        ('{"a":\n1}', '{"a":1}'),
        ('{"a":"\u2028"}', '{"a":"\\u2028"}'),
        ("[1]", None),
        ("{\n", None),
    ],
)
def test_a_body_is_one_line_or_nothing_also_where_its_hash_fits(text: str, said: str | None) -> None:
    digest = sha256(text.encode()).hexdigest()
    for noted in (digest, "0" * 64):
        assert body_text(text, noted) == said
