"""`assent work CLIENT` with the real programs: calls of their shells, an edit, a file; over a copy, in the rings.

Each reaches its model, which is on this machine and named by the person's own configuration, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.assembly import build
from runner.audit.search import History
from runner.clients.at_work import AT_WORK
from runner.model.request import WorkPlace
from runner.model.work import CommandSeen, HostSeen, WorkEnded
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places
from runner.work.log import WorkReading
from tests.components import AGENTS, CLINE, COPILOT, GOOSE, OPENCODE, require
from tests.path.mock_model import Call, serving
from tests.path.programs import PROVIDER
from tests.path.test_headless import Person
from tests.workspace.trees import look

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.work import WorkEvent
    from tests.path.mock_model import Model

pytestmark = pytest.mark.timeout(300)
ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("cat a.txt && echo 'it is' > made.txt", "curl -sS -m 20 http://example.com/ | head -2", "ls -A ~")
KEY = "some-secret-key"


@dataclass
class Client:
    """How one is driven."""

    component: str
    words: list[str]
    tool: str
    """Of its shell."""
    configure: Callable[[Path, str], dict[str, str]]
    """Writes its configuration; returns the variables of the person."""
    argument: str = "command"
    edits: tuple[Call, ...] = ()
    """With `{project}` for the project; they put `three` in place of `two` in a.txt, and write b.txt."""
    kept: str = ""
    """Pattern below the home folder of what the next session has."""
    more: dict[str, Any] = field(default_factory=dict)
    """Further arguments of the shell."""


def _claude(_home: Path, model: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": KEY, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


def _codex(home: Path, model: str) -> dict[str, str]:
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(PROVIDER.format(model).replace("MOCK_KEY", "OPENAI_API_KEY"))
    return {"OPENAI_API_KEY": KEY}


def _gemini(home: Path, model: str) -> dict[str, str]:
    (home / ".gemini").mkdir()
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}}
    (home / ".gemini/settings.json").write_text(json.dumps(settings))
    return {"GOOGLE_GEMINI_BASE_URL": model, "GEMINI_API_KEY": KEY}


def _goose(_home: Path, model: str) -> dict[str, str]:
    return {"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "mock", "OPENAI_HOST": model, "OPENAI_API_KEY": KEY}


def _copilot(_home: Path, model: str) -> dict[str, str]:
    address = {"COPILOT_PROVIDER_BASE_URL": f"{model}/v1", "COPILOT_PROVIDER_API_KEY": KEY}
    return {**address, "COPILOT_MODEL": "mock", "COPILOT_OFFLINE": "true"}


def _opencode(home: Path, model: str) -> dict[str, str]:
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{model}/v1", "apiKey": KEY}}
    file = home / ".config/opencode/opencode.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"provider": {"mock": {**provider, "models": {"mock": {}}}}, "model": "mock/mock"}))
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _cline(home: Path, model: str) -> dict[str, str]:
    words = [CLINE, "auth", "-p", "openai", "-k", KEY, "-b", f"{model}/v1", "-m", "mock"]
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "CLINE_NO_AUTO_UPDATE": "1"}
    subprocess.run(words, env=environment, check=True, capture_output=True)
    return {}


A, B = "{project}/a.txt", "{project}/b.txt"
CLIENTS = {
    "claude-code": Client(
        "agents",
        [str(AGENTS / "claude"), "-p", "Do it."],
        "Bash",
        _claude,
        edits=(
            ("Read", {"file_path": A}),
            ("Edit", {"file_path": A, "old_string": "two", "new_string": "three"}),
            ("Write", {"file_path": B, "content": "new\n"}),
        ),
        kept=".claude/projects/*/*.jsonl",
    ),
    "codex": Client(
        "agents",
        [str(AGENTS / "codex"), "exec", "--skip-git-repo-check", "Do it."],
        "exec_command",
        _codex,
        argument="cmd",
        # With a model that it does not know it has no tool to edit.
        edits=(("exec_command", {"cmd": "sed -i s/two/three/ a.txt && echo new > b.txt"}),),
        kept=".codex/sessions/*/*/*/*.jsonl",
    ),
    "gemini-cli": Client(
        "agents",
        [str(AGENTS / "gemini"), "--prompt", "Do it.", "--model", "gemini-2.5-flash"],
        "run_shell_command",
        _gemini,
        edits=(
            ("replace", {"file_path": A, "instruction": "x", "old_string": "two", "new_string": "three"}),
            ("write_file", {"file_path": B, "content": "new\n"}),
        ),
        kept=".gemini/tmp/*/chats/*",
    ),
    "goose": Client(
        "goose",
        [GOOSE, "run", "--text", "Do it."],
        "shell",
        _goose,
        edits=(("edit", {"path": A, "before": "two", "after": "three"}), ("write", {"path": B, "content": "new\n"})),
        kept=".local/share/goose/sessions/sessions.db",
    ),
    "copilot-cli": Client(
        "copilot-cli",
        [COPILOT, "-p", "Do it."],
        "bash",
        _copilot,
        edits=(
            ("edit", {"path": A, "old_str": "two", "new_str": "three"}),
            ("create", {"path": B, "file_text": "new\n"}),
        ),
        kept=".copilot/session-store.db",
        more={"description": "d"},
    ),
    "opencode": Client(
        "opencode",
        [OPENCODE, "run", "Do it."],
        "bash",
        _opencode,
        edits=(
            ("read", {"filePath": A}),
            ("edit", {"filePath": A, "oldString": "two", "newString": "three"}),
            ("write", {"filePath": B, "content": "new\n"}),
        ),
        kept=".local/share/opencode/opencode.db",
        more={"description": "d"},
    ),
    "cline": Client(
        "cline",
        [CLINE, "Do it."],
        "run_commands",
        _cline,
        argument="commands",
        edits=(
            ("editor", {"path": A, "old_text": "two", "new_text": "three"}),
            ("editor", {"path": B, "new_text": "new\n"}),
        ),
        kept=".cline/data/db/sessions.db",
    ),
}


class Account:
    """An account with a project, and what it runs."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "src/my project"
        self.project.mkdir(parents=True)
        (self.project / "a.txt").write_text("one\ntwo\n")
        # Not on the command line, where it would be held.
        (self.project / "look.sh").write_text(f"env | grep -c {KEY}\n")
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        (self.home / ".ssh").mkdir()
        (self.home / ".ssh/id").write_text("secret")
        self.variables: dict[str, str] = {}

    @property
    def places(self) -> Places:
        state = self.home / ".local/state/assent"
        return Places(self.home / ".config/assent", self.home / ".local/share/assent", state, state, home=self.home)

    @property
    def work(self) -> Path:
        return self.home / ".local/state/assent/work"

    def assent(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(ROOT), **self.variables}
        command = [sys.executable, "-m", "app", *words]
        return subprocess.run(
            command,
            cwd=self.project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def newest(self) -> str:
        """Return the name of the working copy that was made last."""
        copies: list[dict[str, Any]] = json.loads(self.assent("work", "list", "--json").stdout)
        return str(copies[0]["name"])

    def events(self, name: str) -> list[WorkEvent]:
        return WorkReading(self.work / name).new()

    def outside(self) -> set[str]:
        """Return the files of the real home folder, but for the project and for Assent's own."""
        files = (path for path in self.home.rglob("*") if not path.is_dir())
        aside = (self.project, self.home / ".local/state/assent", self.home / ".config/assent")
        return {str(path) for path in files if not any(path.is_relative_to(one) for one in aside)}

    def kept(self, pattern: str) -> set[Path]:
        return set(self.work.glob(f"homes/*/home/home/{pattern}"))


def _calls(client: Client, account: Account) -> list[Call]:
    shell = [
        (client.tool, {client.argument: [one] if client.argument == "commands" else one, **client.more})
        for one in COMMANDS
    ]
    project = str(account.project)
    edits = [
        (tool, {key: value.replace("{project}", project) for key, value in said.items()}) for tool, said in client.edits
    ]
    return [*shell, *edits]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_works_over_a_copy_and_reaches_its_model_alone(tmp_path: Path, name: str) -> None:
    client = CLIENTS[name]
    require(client.component)
    require("bubblewrap")
    account = Account(tmp_path)
    with serving(*_calls(client, account)) as model:
        account.variables = client.configure(account.home, model.address)
        before, outside = look(account.project), account.outside()
        done = account.assent("work", "--keep", *client.words)
        said = done.stdout + done.stderr
        answers = list(model.answers)
    assert done.returncode == 0, said
    assert len(answers) == len(COMMANDS) + len(client.edits), (answers, said)
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
    assert {one for one in refused if not one.startswith("registry.")} == {"example.com"}  # for news of itself
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
async def test_a_connected_client_has_approved_code_run_over_its_working_copy(tmp_path: Path, name: str) -> None:
    client = CLIENTS[name]
    require(client.component)
    require("bubblewrap")
    account = Account(tmp_path)
    code = "cat made.txt; pwd; echo 'the run' > ran.txt"
    shell, *_ = _calls(client, account)
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
    look_for = "sh look.sh"
    shell = {client.argument: [look_for] if client.argument == "commands" else look_for, **client.more}
    with serving((client.tool, shell)) as model:
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
