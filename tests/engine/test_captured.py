"""Files that a run created, from the code to the answer, the ledger and the store (spec F2)."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from runner.assembly import build
from runner.audit.files.captures import read
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.lifecycle import Phase
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places
from tests.patience import HANGS
from tests.recorded import record_in

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.answer import Answer

CODE = "printf 'a,b\\n' >table.csv; ln -s /etc/passwd link"
DIGEST = hashlib.sha256(b"a,b\n").hexdigest()


async def approved(places: Places, root: Path, environment: dict[str, str]) -> Answer:
    engine = build(places, load(places, environment), (LocalSandbox(root),))
    await engine.start(gateway=False)
    try:
        ticket = await engine.submit(Submission("claude", Tool.CODE_EXECUTE, Language.SHELL, CODE))
        async with asyncio.timeout(HANGS):
            while ticket.case.phase is not Phase.ASKED:
                await asyncio.sleep(0)
        digest = engine.desk.waiting()[0].digest
        assert engine.answer(ticket.request_id, digest, Verdict.APPROVED, "") == ""
        answer = await ticket.answered(HANGS)
        assert answer is not None
        return answer
    finally:
        await engine.close("over")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.under(tmp_path / "home")


def run(places: Places, tmp_path: Path, **environment: str) -> Answer:
    tmp_path.chmod(0o755)
    return asyncio.run(approved(places, tmp_path / "runs", {"SANDBOX_STORE_CODE": "always", **environment}))


def recorded(places: Places, answer: Answer) -> Any:
    return record_in(places.ledger, answer.request_id).result


def test_the_agent_the_ledger_and_the_store_know_the_file(places: Places, tmp_path: Path) -> None:
    answer = run(places, tmp_path)
    assert answer.text().splitlines()[-1] == "Files created: table.csv (4 bytes). Left out: links: link"
    data = answer.structured()
    assert data["files"] == {"table.csv": 4}
    assert data["files_left_out"] == "links: link"
    result = recorded(places, answer)
    (file,) = result.files
    assert (file.path, file.size, file.sha256) == ("table.csv", 4, DIGEST)
    assert read(places, file) == b"a,b\n"
    assert [path.name for path in places.captures.iterdir()] == [DIGEST]


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"SANDBOX_STORE_CODE": "never"}, True),
        ({"SANDBOX_STORE_CODE": "on_error"}, True),
        ({"ASSENT_COLLECT_FILES": "no"}, False),
    ],
)
def test_what_is_not_to_be_kept_goes_with_the_console(
    places: Places, tmp_path: Path, environment: dict[str, str], named: bool
) -> None:
    answer = run(places, tmp_path, **environment)
    files = recorded(places, answer).files
    assert bool(files) is named
    assert list(places.captures.iterdir()) == []
    for file in files:
        with pytest.raises(KnownError, match="no longer there"):
            read(places, file)
