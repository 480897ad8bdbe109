"""`assent work CLIENT` with the real programs: calls of their shells, an edit, a file; over a copy, in the rings.

Each reaches its model, which is on this machine and named by the person's own configuration, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.audit.history.search import History
from runner.clients.at_work import AT_WORK
from runner.model.request import WorkPlace
from runner.model.work import CommandSeen, HostSeen, WorkEnded
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from tests.components import require
from tests.path.at_work import CLIENTS, KEY, Account, Client, accounts_place, ordinary_account
from tests.path.mock_model import serving
from tests.path.test_headless import Person
from tests.workspace.trees import look

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.path.mock_model import Model

pytestmark = pytest.mark.timeout(300)
COMMANDS = ("cat a.txt && echo 'it is' > made.txt", "curl -sS -m 20 http://example.com/ | head -2", "ls -A ~")


@pytest.fixture
def place() -> Iterator[Path]:
    with accounts_place() as made:
        yield made


def _project(account: Account) -> None:
    (account.project / "a.txt").write_text("one\ntwo\n")
    # Not on the command line, where it would be held.
    (account.project / "look.sh").write_text(f"env | grep -c {KEY}\n")
    subprocess.run(["git", "init", "-q"], cwd=account.project, check=True)


@pytest.mark.parametrize(
    ("name", "is_ordinary"), [*((name, True) for name in CLIENTS), ("claude-code", False), ("opencode", False)]
)
def test_a_client_works_over_a_copy_and_reaches_its_model_alone(place: Path, name: str, is_ordinary: bool) -> None:
    client = CLIENTS[name]
    require(client.component)
    require("bubblewrap")
    account = Account(place, ordinary_account() if is_ordinary else os.geteuid())
    _project(account)
    file = account.project / "a.txt"
    edits = client.reads(file), client.edits(file, "two", "three"), client.writes(account.project / "b.txt", "new\n")
    with serving(*map(client.shell, COMMANDS), *edits) as model:
        account.variables = client.configure(account.home, model.address)
        account.own()
        before, outside = look(account.project), account.outside()
        done = account.assent("work", "--keep", *client.words)
        said = done.stdout + done.stderr
        answers = list(model.answers)
    assert done.returncode == 0, said
    assert len(answers) == len(COMMANDS) + len(edits), (answers, said)
    assert look(account.project) == before
    assert account.outside() == outside
    assert "one" in answers[0] and "Blocked by Assent" in answers[1]
    assert ".ssh" not in answers[2]

    copy = account.newest()
    events = account.events(copy)
    seen = [one for one in events if isinstance(one, CommandSeen)]
    assert [one.text for one in seen if one.text in COMMANDS] == list(COMMANDS)
    assert not [one.text for one in seen if one.held]
    refused = {
        one.contact.host
        for one in events
        if isinstance(one, HostSeen) and one.contact.allowed is False and not one.quiet
    }
    # opencode looks for a newer plug-in of its own.
    assert {one for one in refused if not one.startswith("registry.")} == {"example.com"}
    assert isinstance(events[-1], WorkEnded)
    changes = json.loads(account.assent("work", "changes", copy, "--json").stdout)["changes"]
    # Some look at the repository, which writes its index.
    files = [one for one in changes if one["path"] != ".git/index"]
    assert {one["path"]: one["how"] for one in files} == {"a.txt": "changed", "b.txt": "added", "made.txt": "added"}

    first = account.kept(client.kept)
    assert first
    _leaves_no_key_to_its_shells(account, client)
    assert account.kept(client.kept) >= first


@pytest.mark.asyncio
@pytest.mark.parametrize("name", CLIENTS)
async def test_a_connected_client_has_approved_code_run_over_its_working_copy(
    place: Path, tmp_path: Path, name: str
) -> None:
    client = CLIENTS[name]
    require(client.component)
    require("bubblewrap")
    account = Account(place)
    _project(account)
    code = "cat made.txt; pwd; echo 'the run' > ran.txt"
    shell = client.shell(COMMANDS[0])
    places = account.places
    engine = build(places, load(places, {"ASSENT_PORT": "0"}), (LocalSandbox(tmp_path / "runs"),))
    await engine.start()
    person = Person(engine)
    try:
        with serving(shell, ("code_execute", {"language": "shell", "code": code})) as model:
            account.variables = client.configure(account.home, model.address)
            connected = await asyncio.to_thread(account.assent, "connect", name, "--yes", "--no-wait")
            assert connected.returncode == 0, connected.stdout + connected.stderr
            done = await asyncio.to_thread(account.assent, "work", "--keep", *client.words)
            answers, said = list(model.answers), done.stdout + done.stderr
    finally:
        await engine.close("the test is over")
    assert len(answers) == 2, (answers, said)
    assert "it is" in answers[1] and "/workspace" in answers[1], (answers, said)
    copy = account.newest()
    (request_id,) = person.asked
    with contextlib.closing(History(places.ledger)) as history:
        record = history.case(request_id)
    assert record is not None and record.request.work == WorkPlace(copy, str(account.project))
    changes = json.loads(account.assent("work", "changes", copy, "--json").stdout)["changes"]
    assert {"made.txt", "ran.txt"} <= {one["path"] for one in changes}
    assert not (account.project / "ran.txt").exists()


def _leaves_no_key_to_its_shells(account: Account, client: Client) -> None:
    """Run a second session, in which the shell looks for the key."""
    with serving(client.shell("sh look.sh")) as model:
        _repoint(account, model)
        done = account.assent("work", "--discard", *client.words)
        assert model.answers, done.stdout + done.stderr
        assert "0" in model.answers[0].split() or "0\\n" in model.answers[0], model.answers


def _repoint(account: Account, model: Model) -> None:
    """Name the address of another model wherever the first one's is."""
    files = [account.home / one for facts in AT_WORK.values() for one in facts.settings]
    old = next(
        filter(
            None,
            (
                _address(text)
                for text in (*account.variables.values(), *(one.read_text() for one in files if one.exists()))
            ),
        )
    )
    account.variables = {key: value.replace(old, model.address) for key, value in account.variables.items()}
    for one in files:
        if one.exists():
            one.write_text(one.read_text().replace(old, model.address))


def _address(text: str) -> str:
    start = text.find("http://127.0.0.1:")
    return (
        ""
        if start < 0
        else text[start : start + len("http://127.0.0.1:")] + "".join(_digits(text[start + len("http://127.0.0.1:") :]))
    )


def _digits(text: str) -> str:
    end = next((at for at, one in enumerate(text) if not one.isdigit()), len(text))
    return text[:end]
