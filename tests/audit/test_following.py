"""The short look at an entry gives what reading it in full gives, and accepts nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from runner.audit.ledger.bodies import parsed
from runner.audit.ledger.entry import Entry
from runner.audit.ledger.following import _glance
from runner.audit.ledger.row import Row, advance, to_columns
from runner.audit.ledger.verify import verify
from runner.model.bundle import Installed
from runner.model.network import Contact
from runner.model.request import Language, Tool, canonical
from tests.audit import story
from tests.audit.story import RESULT, approved, denied, opening, request, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.audit.story import Told

ASKED = request("r1")
LIVES = {
    "a run": approved(ASKED),
    "denied": denied(ASKED),
    "asked twice": [*opening(ASKED), opening(ASKED)[-1]],
    "hosts": approved(ASKED, replace(RESULT, contacts=(Contact("example.org", 443, True),))),
    "brackets in the output": approved(ASKED, replace(RESULT, stdout='],"duration":9', curve=())),
    "no language": opening(replace(ASKED, tool=Tool.CODE_LIST_FILES, language=None, files=(".",))),
    "a lone surrogate": opening(replace(ASKED, title="\udce9", agent="\ud800", language=Language.SHELL)),
    "packages": opening(replace(ASKED, installed=Installed(("numpy 2",), ("numpy",), "0f"), sandbox="s1", offset=3)),
    "no run": [*approved(ASKED)[:4], ("finished", "r1", {"files": []}), ("closed", "r1", {})],
}


def entry(seq: int, kind: str) -> Entry:
    return Entry(seq, 1_700_000_000_000_000 + seq, kind, "r1", "", "", "")


@pytest.mark.parametrize("life", LIVES.values(), ids=LIVES)
def test_the_short_look_gives_what_reading_in_full_gives(life: list[Told]) -> None:
    row: Row | None = None
    columns: list[Any] | None = None
    for seq, (kind, name, body) in enumerate(life, 1):
        data = canonical(body).decode()
        row = advance(row, entry(seq, kind), json.loads(data))
        columns = _glance(columns, kind, seq, entry(seq, kind).at, name, data)
        assert row is not None
        assert columns == list(to_columns(row)), kind


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("arrived", {"id": "r2"}),
        ("arrived", {"tool": "format_disk"}),
        ("arrived", {"language": "no name"}),
        ("arrived", {"title": 7}),
        ("arrived", {"agent": None}),
        ("assessed", {"level": "HARMLESS"}),
        ("approved", {"verdict": "denied"}),
        ("approved", {"by": "nobody"}),
        ("approved", {"after_seconds": "soon"}),
        ("finished", {"outcome": "great"}),
        ("finished", {"exit_code": 1.5}),
        ("finished", {"duration": None}),
    ],
)
def test_what_looks_different_is_left_to_reading_in_full(kind: str, change: dict[str, object]) -> None:
    columns: list[Any] | None = None
    for seq, (step, name, body) in enumerate(approved(ASKED), 1):
        found = _glance(columns, step, seq, seq, name, canonical(body | change if step == kind else body).decode())
        if step == kind:
            assert found is None
            return
        columns = found


@pytest.mark.parametrize("data", ["", "{", "{}{}", '{"curve":[}', "[", "nonsense"])
def test_what_is_not_json_is_an_error(data: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parsed(data)


def test_only_the_readings_are_left_out() -> None:
    body = json.loads(canonical(LIVES["a run"][5][2]))
    assert body["curve"]
    assert parsed(canonical(body).decode()) == body | {"curve": []}


def test_a_body_as_another_version_wrote_it_is_good(tmp_path: Path) -> None:
    """Without the fields that came later, and with one that this version does not know."""
    (kind, name, body), *rest = approved(ASKED)
    older = {field: value for field, value in body.items() if field not in ("known", "plan", "image")} | {"mood": "x"}
    assert _glance(None, kind, 1, 1, name, canonical(older).decode()) != _glance(
        None, kind, 1, 1, name, canonical(body).decode()
    ), "the short look cannot know its digest"
    write(tmp_path / "ledger.sqlite3", [(kind, name, older), *rest], story.KEY)
    assert verify(tmp_path / "ledger.sqlite3").ok
