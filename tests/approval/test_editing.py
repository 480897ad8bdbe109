"""Which version of a request the history says was approved; how they are approved: test_deciding.py, test_door.py."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.approval.editing import approved_code
from runner.audit.history.search import History
from tests.audit import story

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("decided", "code"), [("of the original", "print(1)"), ("of the version", "print(2)")])
def test_a_version_in_the_history_counts_only_where_it_was_approved(decided: str, code: str, tmp_path: Path) -> None:
    """An `edited` entry may stand although the original was approved, after a race of the two."""
    path = tmp_path / "ledger.sqlite3"
    one = story.request("r1", code="print(1)")
    edited = replace(one, code="print(2)")
    told = story.approved(one)
    body = {"from": one.digest, "digest": edited.digest, "code": edited.code}
    digest = {"of the original": one.digest, "of the version": edited.digest}[decided]
    told[3:4] = [("edited", one.id, body), ("approved", one.id, told[3][2] | {"digest": digest})]
    story.write(path, told)
    with closing(History(path)) as history:
        record = history.case(one.id)
    assert record is not None
    assert approved_code(record) == code
