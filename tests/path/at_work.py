"""The clients that `assent work` knows, as tests start them: with a model on loopback, in an account of their own."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.clients.at_work import AT_WORK
from runner.clients.programs import client_of
from runner.system.places import Places
from runner.work.log import WorkReading
from tests.components import AGENTS, CLINE, COPILOT, GOOSE, NODE_22, OPENCODE, QWEN
from tests.path.programs import PROVIDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.model.work import WorkEvent
    from runner.work.facts import WorkFacts
    from tests.path.mock_model import Call

ROOT = Path(__file__).resolve().parents[2]
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
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
    read: Call | None = None
    """Its tool that reads a file, with `{file}`; None where it reads by its shell. The same for the next two."""
    edit: Call | None = None
    """With `{old}` and `{new}`."""
    write: Call | None = None
    """With `{content}`."""
    kept: str = ""
    """Pattern below the home folder of what the next session has."""
    more: dict[str, Any] = field(default_factory=dict)
    """Further arguments of the shell."""
    varies: str = ""
    """Matches what its answers say of the run itself, such as how long it took."""

    @property
    def facts(self) -> WorkFacts:
        return AT_WORK[client_of(self.words[0])]

    def shell(self, command: str) -> Call:
        """Return the call of its shell with a command."""
        return self.tool, {self.argument: [command] if self.argument == "commands" else command, **self.more}

    def reads(self, file: Path) -> Call:
        """Return the call that reads a file."""
        return _filled(self.read, file) if self.read else self.shell(f"cat {shlex.quote(str(file))}")

    def edits(self, file: Path, old: str, new: str) -> Call:
        """Return the call that puts one text in place of another; both as `sed` takes them as they are."""
        return (
            _filled(self.edit, file, old=old, new=new)
            if self.edit
            else self.shell(f"sed -i {shlex.quote(f's/{old}/{new}/')} {shlex.quote(str(file))}")
        )

    def writes(self, file: Path, content: str) -> Call:
        """Return the call that writes a new file."""
        return (
            _filled(self.write, file, content=content)
            if self.write
            else self.shell(f"printf %s {shlex.quote(content)} >{shlex.quote(str(file))}")
        )


def _filled(call: Call, file: Path, **values: str) -> Call:
    tool, said = call
    given = {"file": str(file), **values}
    return tool, {key: given.get(value[1:-1], value) for key, value in said.items()}


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


def _qwen(home: Path, model: str) -> dict[str, str]:
    (home / ".qwen").mkdir()
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        # Without a terminal it loses what a short command prints.
        "tools": {"shell": {"enableInteractiveShell": True}},
        # It would add a note of its own to each commit, with the time.
        "general": {"gitCoAuthor": {"commit": False, "pr": False}},
    }
    (home / ".qwen/settings.json").write_text(json.dumps(settings))
    address = {"OPENAI_BASE_URL": f"{model}/v1", "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "mock"}
    return {"PATH": f"{NODE_22}:{SYSTEM_PATH}", **address}


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


CLIENTS = {
    "claude-code": Client(
        "agents",
        [str(AGENTS / "claude"), "-p", "Do it."],
        "Bash",
        _claude,
        read=("Read", {"file_path": "{file}"}),
        edit=("Edit", {"file_path": "{file}", "old_string": "{old}", "new_string": "{new}"}),
        write=("Write", {"file_path": "{file}", "content": "{content}"}),
        kept=".claude/projects/*/*.jsonl",
    ),
    "codex": Client(
        "agents",
        [str(AGENTS / "codex"), "exec", "--skip-git-repo-check", "Do it."],
        "exec_command",
        _codex,
        argument="cmd",
        # With a model that it does not know it has no tool to edit.
        kept=".codex/sessions/*/*/*/*.jsonl",
        # It comes back before the end of a command that takes longer, in milliseconds.
        more={"yield_time_ms": 30_000},
        varies=r"Chunk ID: \w+\nWall time: [\d.]+ seconds\n",
    ),
    "gemini-cli": Client(
        "agents",
        [str(AGENTS / "gemini"), "--prompt", "Do it.", "--model", "gemini-2.5-flash"],
        "run_shell_command",
        _gemini,
        read=("read_file", {"file_path": "{file}"}),
        edit=("replace", {"file_path": "{file}", "instruction": "x", "old_string": "{old}", "new_string": "{new}"}),
        write=("write_file", {"file_path": "{file}", "content": "{content}"}),
        kept=".gemini/tmp/*/chats/*",
        varies=r"Process Group PGID: \d+\n",
    ),
    "qwen-code": Client(
        "qwen-code",
        [QWEN, "--prompt", "Do it."],
        "run_shell_command",
        _qwen,
        read=("read_file", {"file_path": "{file}"}),
        edit=("edit", {"file_path": "{file}", "old_string": "{old}", "new_string": "{new}"}),
        write=("write_file", {"file_path": "{file}", "content": "{content}"}),
        kept=".qwen/projects/*/chats/*",
        more={"is_background": False},
        varies=r"(?:Signal|Process Group PGID): [^\n]*\n?",
    ),
    "goose": Client(
        "goose",
        [GOOSE, "run", "--text", "Do it."],
        "shell",
        _goose,
        edit=("edit", {"path": "{file}", "before": "{old}", "after": "{new}"}),
        write=("write", {"path": "{file}", "content": "{content}"}),
        kept=".local/share/goose/sessions/sessions.db",
    ),
    "copilot-cli": Client(
        "copilot-cli",
        [COPILOT, "-p", "Do it."],
        "bash",
        _copilot,
        read=("view", {"path": "{file}"}),
        edit=("edit", {"path": "{file}", "old_str": "{old}", "new_str": "{new}"}),
        write=("create", {"path": "{file}", "file_text": "{content}"}),
        kept=".copilot/session-store.db",
        more={"description": "d", "initial_wait": 120},  # the same, in seconds
    ),
    "opencode": Client(
        "opencode",
        [OPENCODE, "run", "Do it."],
        "bash",
        _opencode,
        read=("read", {"filePath": "{file}"}),
        edit=("edit", {"filePath": "{file}", "oldString": "{old}", "newString": "{new}"}),
        write=("write", {"filePath": "{file}", "content": "{content}"}),
        kept=".local/share/opencode/opencode.db",
        more={"description": "d"},
    ),
    "cline": Client(
        "cline",
        [CLINE, "Do it."],
        "run_commands",
        _cline,
        argument="commands",
        edit=("editor", {"path": "{file}", "old_text": "{old}", "new_text": "{new}"}),
        write=("editor", {"path": "{file}", "new_text": "{content}"}),
        kept=".cline/data/db/sessions.db",
    ),
}


class Account:
    """A home folder with a project, and who runs what there: this account, or an ordinary one."""

    def __init__(self, root: Path, uid: int | None = None) -> None:
        """`root` has to be open to the account."""
        self.uid = os.geteuid() if uid is None else uid
        self.home = root / "home"
        self.project = self.home / "src/my project"
        self.project.mkdir(parents=True)
        (self.home / ".ssh").mkdir()
        (self.home / ".ssh/id").write_text("secret")
        self.variables: dict[str, str] = {}

    @property
    def places(self) -> Places:
        state = self.home / ".local/state/assent"
        return Places(self.home / ".config/assent", self.home / ".local/share/assent", state, state, home=self.home)

    @property
    def work(self) -> Path:
        return self.places.work

    def own(self) -> None:
        """Give the account what was made for it."""
        if self.uid != os.geteuid():
            for path in (self.home, *self.home.rglob("*")):
                os.lchown(path, self.uid, self.uid)

    def command(self, *words: str) -> list[str]:
        """Return the command by which the account runs `words`."""
        become = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups"]
        return [*(become if self.uid != os.geteuid() else ()), *words]

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": SYSTEM_PATH, "HOME": str(self.home), "LANG": "C.UTF-8", **self.variables, **more}

    def assent(self, *words: str, driver: str = "") -> subprocess.CompletedProcess[str]:
        """Run Assent's command in the project to its end; `driver` is code that starts it in another way."""
        begun = self.begin(*words, driver=driver)
        said, errors = begun.communicate()
        return subprocess.CompletedProcess(begun.args, begun.returncode, said, errors)

    def begin(self, *words: str, driver: str = "") -> subprocess.Popen[str]:
        """Start Assent's command in the project."""
        other = self.uid != os.geteuid()
        packages = (one for one in sys.path if one.endswith("site-packages"))
        path = os.pathsep.join((str(ROOT), *(packages if other else ())))
        start = ("-c", driver) if driver else ("-m", "app")
        return subprocess.Popen(
            self.command("/usr/bin/python3" if other else sys.executable, *start, *words),
            cwd=self.project,
            env=self.environment(PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
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


ORDINARY = 4321
"""An account that is nobody's."""


def ordinary_account() -> int:
    """Return an ordinary account that can run the tests' own code: this one, or where this is root's, another.

    Root's own where no other can: then its packages are in a folder of root's.
    """
    folders = [ROOT, *ROOT.parents, AGENTS, *(Path(one) for one in sys.path if one.endswith("site-packages"))]
    is_open = all(one.stat().st_mode & stat.S_IXOTH for one in folders if one.exists())
    return ORDINARY if os.geteuid() == 0 and is_open and sys.version_info[:2] == (3, 11) else os.geteuid()


@contextmanager
def accounts_place() -> Iterator[Path]:
    """A folder that other accounts may enter."""
    with tempfile.TemporaryDirectory(prefix="assent-test-") as made:
        os.chmod(made, 0o755)
        yield Path(made)
