"""Artifacts: kept when the policy says so, whole, private and without credentials."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.audit.files.artifacts import store
from runner.model.decision import Decider, Decision, Verdict
from runner.model.request import Language
from runner.model.result import Outcome
from runner.system.places import Places
from tests.audit.story import ASSESSMENT, RESULT, request

if TYPE_CHECKING:
    from pathlib import Path

FAILED = replace(RESULT, outcome=Outcome.FAILED, exit_code=1, stderr="ValueError")
DECISION = Decision(Verdict.APPROVED, Decider.PERSON, "Fine.")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.under(tmp_path)


@pytest.mark.parametrize(
    ("policy", "result", "kept"),
    [
        ("always", RESULT, True),
        ("always", FAILED, True),
        ("on_error", RESULT, False),
        ("on_error", FAILED, True),
        ("on_error", replace(RESULT, outcome=Outcome.TIMED_OUT), True),
        ("never", RESULT, False),
        ("never", FAILED, False),
    ],
)
def test_policy(places: Places, policy: str, result: object, kept: bool) -> None:
    path = store(places, policy, request("r1"), ASSESSMENT, DECISION, result)  # type: ignore[arg-type]
    assert (path is not None) == kept
    assert len(list(places.data.rglob("*.json"))) == kept


def test_an_unknown_policy_is_a_bug(places: Places) -> None:
    with pytest.raises(ValueError, match="sometimes"):
        store(places, "sometimes", request("r1"), None, None, RESULT)


def test_name_place_and_rights(places: Places) -> None:
    asked = request("r1")
    path = store(places, "always", asked, None, None, RESULT, now=1_700_000_000.25)
    assert path == places.data / "artifacts" / "executions" / f"20231114T221320.250000Z_{asked.digest[:16]}.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_two_in_the_same_moment_are_both_kept(places: Places) -> None:
    paths = {store(places, "always", request("r1"), None, None, RESULT, now=1.0) for _ in range(3)}
    assert len(paths) == 3


def test_content(places: Places) -> None:
    path = store(places, "always", request("r1"), ASSESSMENT, DECISION, RESULT, now=0.0)
    assert path is not None
    kept = json.loads(path.read_text())
    assert kept["code"] == "print('hello')"
    assert kept["result"]["stdout"] == "hello\n"
    assert kept["result"]["value"] == {"answer": [42, None, 1.5]}
    assert kept["metadata"]["runtime"] == "local"
    assert kept["timestamp"] == "19700101T000000.000000Z"
    assert kept["decision"]["verdict"] == "approved"
    assert kept["assessment"]["level"] == "HIGH"
    assert kept["digest"] == request("r1").digest
    assert (kept["redacted"], kept["complete"]) == ([], True)


def test_credentials_are_not_kept(places: Places) -> None:
    asked = replace(request("r1", code="password = 'hunter2hunter2'"), context='{"api_key": "abcd1234abcd"}')
    result = replace(RESULT, stdout="hunter2hunter2", value={"password": "topsecret"})
    path = store(places, "always", asked, ASSESSMENT, DECISION, result)
    assert path is not None
    text = path.read_text()
    assert not [secret for secret in ("hunter2", "abcd1234", "topsecret") if secret in text]
    assert json.loads(text)["redacted"] == ["Secret Keyword"]


def test_shell_code_is_looked_through_for_assignments(places: Places) -> None:
    asked = replace(request("r1", code="PASSWORD=swordfish ./x"), language=Language.SHELL)
    path = store(places, "always", asked, None, None, RESULT)
    assert path is not None
    assert "swordfish" not in path.read_text()


def test_text_that_no_file_can_hold_is_escaped(places: Places) -> None:
    path = store(places, "always", request("r1", code="'\ud800\x00'"), None, None, RESULT)
    assert path is not None
    assert json.loads(path.read_text())["code"] == "'\ud800\x00'"


def test_a_folder_that_cannot_be_written_leaves_nothing(places: Places) -> None:
    places.artifacts.parent.mkdir(parents=True)
    places.artifacts.write_text("in the way")
    with pytest.raises(OSError, match="exists"):
        store(places, "always", request("r1"), None, None, RESULT)
