"""What an agent says about why it asks: taken by the tools that ask, cleaned, recorded, and kept out of decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from app import phrases
from app.history import words
from runner.approval.editing import EDITED
from runner.audit.history.search import History
from runner.engine.request.past_answers import _answer
from runner.gateway import catalog
from runner.gateway.arguments import submission
from runner.gateway.origin import LONGEST_PROJECT, LONGEST_REASON, LONGEST_TASK
from runner.model.codec import decode, encode
from runner.model.errors import Refused
from runner.model.request import Claim, Request, Tool
from runner.policy.decide import parameters
from runner.policy.rulefile import read
from runner.system.places import Places
from tests.audit import story

if TYPE_CHECKING:
    from pathlib import Path

CALLS: dict[Tool, dict[str, Any]] = {
    Tool.CODE_EXECUTE: {"language": "python", "code": "print(1)"},
    Tool.CODE_CREATE_SANDBOX: {"language": "python"},
    Tool.CODE_WRITE_FILE: {"sandbox_id": "k", "file_path": "a", "content": "x"},
    Tool.CODE_READ_FILE: {"sandbox_id": "k", "file_path": "a"},
    Tool.CODE_LIST_FILES: {"sandbox_id": "k"},
    Tool.CODE_INSTALL_PACKAGE: {"sandbox_id": "k", "package": "six"},
}
SAID = {"reason": "to count the rows", "project": "billing", "task": "fix the report"}


@pytest.mark.parametrize("tool", CALLS)
def test_every_tool_that_asks_takes_it_and_none_needs_it(tool: Tool) -> None:
    assert submission("claude", tool, CALLS[tool]).claim == Claim()
    assert submission("claude", tool, CALLS[tool] | SAID).claim == Claim(*SAID.values())
    with pytest.raises(Refused, match="reason must be a text"):
        submission("claude", tool, CALLS[tool] | {"reason": ["x"]})
    assert {*SAID} <= {*catalog.SCHEMAS[tool]["properties"]} and not {*SAID} & {*catalog.SCHEMAS[tool]["required"]}


def test_it_is_cut_and_shows_nothing_that_a_terminal_obeys_or_that_ends_its_quotes() -> None:
    bad = 'x\u202e\x1b[31m\n"approved by you\u201d' + "y" * 5000
    claim = submission("claude", Tool.CODE_EXECUTE, CALLS[Tool.CODE_EXECUTE] | dict.fromkeys(SAID, bad)).claim
    most = (LONGEST_REASON, LONGEST_PROJECT, LONGEST_TASK)
    for (_, text), longest in zip(claim.said, most, strict=True):
        assert len(text) == longest and not {*'\u202e\x1b\n"\u201d'} & {*text}
    one = Request("r", "claude", Tool.CODE_EXECUTE, 1.0, claim=Claim("because", "", "<b>now</b>"))
    assert phrases.claims(one) == (("Reason", 'says "because"'), ("Task", 'says "<b>now</b>"'))


def test_it_is_outside_the_digest_and_no_rule_can_match_it(tmp_path: Path) -> None:
    one = Request("r", "claude", Tool.CODE_EXECUTE, 1.0, code="print(1)")
    claimed = replace(one, claim=Claim("secretreason", "secretproject", "secrettask"))
    assert claimed.digest == one.digest
    assert "secret" not in repr(parameters(claimed)) and "secret" not in repr(claimed.deciding())
    places = Places.under(tmp_path)
    places.make()
    for name in SAID:
        (places.config / "rules.yaml").write_text(
            f"rules: [{{name: a, action: allow, conditions: [{{param: {name}, equals: x}}]}}]"
        )
        assert read(places).problems, "a rule about a claim is refused, not ignored"


def test_it_is_recorded_and_shown_in_the_history_as_a_claim(tmp_path: Path) -> None:
    one = replace(story.request("r1"), claim=Claim("because", "billing", ""))
    story.write(tmp_path / "ledger.sqlite3", story.approved(one))
    history = History(tmp_path / "ledger.sqlite3")
    record = history.case("r1")
    history.close()
    assert record is not None and record.request.claim == one.claim
    assert ("Reason", 'says "because"') in words.sender(record) and ("Project", 'says "billing"') in words.sender(
        record
    )
    earlier = {name: value for name, value in encode(one).items() if name != "claim"}
    assert decode(Request, earlier).claim == Claim()


@pytest.mark.parametrize(("digest", "words_"), [("version", "memory 64 MB in place of 512 MB"), ("other", "")])
def test_an_answer_of_an_earlier_console_names_the_limits_that_a_person_set(
    tmp_path: Path, digest: str, words_: str
) -> None:
    one = story.request("r1")
    version = replace(one, limits=replace(one.limits, memory_mb=64))
    entries = story.approved(one)
    body = {
        "from": one.digest,
        "digest": version.digest,
        "code": version.code,
        "limits": encode(version)["limits"],
    }
    at = next(number for number, entry in enumerate(entries) if entry[0] == "approved")
    approved = entries[at][2] | {"digest": version.digest if digest == "version" else one.digest}
    entries[at : at + 1] = [(EDITED, one.id, body), ("approved", one.id, approved)]
    story.write(tmp_path / "ledger.sqlite3", entries)
    history = History(tmp_path / "ledger.sqlite3")
    record = history.case("r1")
    history.close()
    assert record is not None
    answer = _answer(record, "")
    assert answer.limits == words_ and (words_ in answer.text())
