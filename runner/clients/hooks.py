"""The hooks of clients, each as its program was seen to behave. Standard library only: they run before each tool.

Every one of these runs its tool where a hook takes too long, and most where it crashes; the command that `connect`
installs therefore says no however it ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from runner.clients import hook_protocol
from runner.clients.entries import CONFIG, SERVER, AccountFile
from runner.clients.hook_protocol import Members
from runner.gateway import catalog
from runner.system.shipped import resources

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.clients.hook_protocol import Form, ToolUse

NO_MATCH: Mapping[str, str] = {}


def is_on(value: object) -> bool:
    return value is True


def is_off(value: object) -> bool:
    return value is False


def is_there(value: object) -> bool:
    return bool(value)


def names_assent(value: object) -> bool:
    """Return whether a list has an item that names our hook or its command."""
    return isinstance(value, list) and any(SERVER in str(item) for item in value)


class Harm(NamedTuple):
    """What a file of a project does to a hook."""

    possible: str
    """What a project can do; its files follow."""
    does: str
    """What one that is there does."""


OFF = Harm("A project can switch the guard off", "switches the guard off")
REWRITES = Harm("Hooks of a project can change what was approved", "has hooks that can change what was approved")
PLUGINS = Harm(
    "What a project adds to the program runs inside it, where nobody is asked", "runs inside the program, unasked"
)


class Switch(NamedTuple):
    """What in a file of a project keeps the hook from being asked, or from having the last word."""

    file: str
    """Below the project; may be a pattern."""
    keys: tuple[str, ...]
    """Names on the way to the value; none where the file alone does it."""
    counts: Callable[[object], bool] = is_on
    """Whether the value there does it."""
    harm: Harm = OFF
    refused: bool = True
    """Whether the hook says no to all that it is asked about while it is there."""


class Managed(NamedTuple):
    """A file of the administrator, the value with which projects cannot switch the hook off, and its text."""

    file: Path
    keys: tuple[str, ...]
    value: object
    text: str
    but: str = ""
    """What a project can do all the same; '' for nothing."""


class Hook(NamedTuple):
    """How one client asks its hook before it uses a tool."""

    event: str
    form: Form
    settings: AccountFile
    """The file of the account that has it."""
    switches: tuple[Switch, ...]
    own: str = "mcp__assent__"
    """How the names of Assent's own tools begin in this client."""
    members: Members = Members()
    in_project: tuple[str, ...] = ()
    """Files of a project that may have it."""
    unit: float = 1
    """What one of the client's units of time is in seconds."""
    says_limit: str = "timeout"
    """What it calls the time limit; '' where there is none."""
    renamed: Mapping[str, str] = NO_MATCH
    """Tools that go by another name in the hook than in what Assent knows of them."""
    searched: frozenset[str] = frozenset()
    """Tools that look for a file of that name in the whole project where a path is not absolute."""
    managed: Managed | None = None
    reads_output: bool = False
    """Whether it takes the reason from the output also where the exit code says no."""
    since: tuple[int, ...] = ()
    """The first version that heeds a hook's no, where earlier ones are still about."""

    def is_of_assent(self, asked: ToolUse) -> bool:
        """Return whether it is a tool of Assent, which asks for itself."""
        return asked.tool.startswith(self.own) and asked.tool.removeprefix(self.own) in catalog.SCHEMAS

    def ambiguous(self, asked: ToolUse) -> str:
        """Return why a tool is refused without asking: it may change another file; '' where it would not."""
        path = asked.given.get("file_path")
        if asked.tool not in self.searched or (isinstance(path, str) and path.startswith("/")):
            return ""
        return ABSOLUTE.format(asked.tool)


ABSOLUTE = "Send the absolute path of the file: for another one {} would look in the whole project. Nothing was run."
ALL_OFF = ("disableAllHooks",)
CLAUDE_FILES = (".claude/settings.json", ".claude/settings.local.json")
COPILOT_FILES = (".github/copilot/settings.json", ".github/copilot/settings.local.json", *CLAUDE_FILES)
HOOKS = {
    "claude-code": Hook(
        "PreToolUse",
        hook_protocol.specific,
        AccountFile(".claude", "settings.json", "CLAUDE_CONFIG_DIR"),
        tuple(Switch(file, ALL_OFF) for file in CLAUDE_FILES),
        in_project=CLAUDE_FILES,
        managed=Managed(Path("/etc/claude-code/managed-settings.json"), ALL_OFF, False, '{"disableAllHooks": false}'),
    ),
    "codex": Hook(
        "PreToolUse",
        hook_protocol.specific,
        AccountFile(".codex", "config.toml", "CODEX_HOME"),
        (Switch(".codex/config.toml", ("features", "hooks"), is_off),),
        in_project=(".codex/config.toml",),
        # It tells the command and the folder of its call, and no more.
        renamed={"Bash": "exec_command"},
        managed=Managed(Path("/etc/codex/requirements.toml"), ("features", "hooks"), True, "[features]\nhooks = true"),
    ),
    "gemini-cli": Hook(
        "BeforeTool",
        hook_protocol.decision,
        AccountFile(".gemini", "settings.json"),
        (
            Switch(".gemini/settings.json", ("hooksConfig", "enabled"), is_off),
            Switch(".gemini/settings.json", ("hooksConfig", "disabled"), names_assent),
        ),
        own="mcp_assent_",
        in_project=(".gemini/settings.json",),
        unit=0.001,
        searched=frozenset({"replace", "write_file"}),
    ),
    "qwen-code": Hook(
        "PreToolUse",
        hook_protocol.specific,
        AccountFile(".qwen", "settings.json"),
        (
            Switch(".qwen/settings.json", ALL_OFF),
            *(
                Switch(file, (name,), is_there)
                for file in (".env", ".qwen/.env")
                for name in ("QWEN_CODE_SAFE_MODE", "QWEN_CODE_SIMPLE")
            ),
        ),
        in_project=(".qwen/settings.json",),
        managed=Managed(
            Path("/etc/qwen-code/settings.json"),
            ALL_OFF,
            False,
            '{"disableAllHooks": false}',
            but="its .env can still do that (QWEN_CODE_SAFE_MODE, QWEN_CODE_SIMPLE)",
        ),
    ),
    "copilot-cli": Hook(
        "preToolUse",
        hook_protocol.permission,
        AccountFile(".copilot", "hooks/assent.json", "COPILOT_HOME"),
        (
            *(Switch(file, ALL_OFF) for file in COPILOT_FILES),
            Switch(".github/hooks/*.json", ("hooks", "preToolUse"), is_there, REWRITES),
            *(Switch(file, ("hooks", "preToolUse"), is_there, REWRITES) for file in COPILOT_FILES[:2]),
        ),
        own="assent-",
        members=Members("hookEventName", "toolName", "toolArgs", "cwd", "toolUseId"),
        says_limit="timeoutSec",
        reads_output=True,
    ),
    "goose": Hook(
        "PreToolUse",
        hook_protocol.block,
        AccountFile(".agents/plugins/assent", "hooks/hooks.json"),
        (
            Switch(".config/goose/settings.json", ("disabledPlugins",), names_assent),
            Switch(".agents/plugins/assent/*", ()),
        ),
        own="assent__",
        members=Members("event", "tool_name", "tool_input", "working_dir", "tool_call_id"),
        renamed={name: f"developer__{name}" for name in ("shell", "write", "edit")},
        since=(1, 50),
    ),
    "opencode": Hook(
        "PreToolUse",
        hook_protocol.decision,
        AccountFile(".config", "opencode/plugin/assent.js", CONFIG),
        tuple(
            Switch(f".opencode/{folder}/*.[jt]s", (), harm=PLUGINS, refused=False)
            for folder in ("plugin", "plugins", "tool", "tools")
        )
        + (Switch("opencode.json", ("plugin",), is_there, PLUGINS, refused=False),),
        own="assent_",
        in_project=(".opencode/plugin/assent.js",),
        says_limit="",
    ),
}
"""By the id of a client."""


def unasked(client: str) -> frozenset[str]:
    """Return the tools that change, fetch and run nothing: about these the client decides as it would without Assent.

    The same file is read by the quick part of the hook, a script of the shell, which passes them without Python.
    """
    for line in UNASKED.read_text("ascii").splitlines():
        name, _, tools = line.partition(":")
        if name == client:
            return frozenset(tools.split())
    return frozenset()


FOLDER = resources() / "hooks"
UNASKED, QUICK = FOLDER / "unasked", FOLDER / "quick.sh"
