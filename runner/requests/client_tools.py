"""Turns the use of a tool of the agent's own program into a submission, by what the tool does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from runner.model.errors import Refused
from runner.model.network import Destination, UnusableHost
from runner.model.request import ClientTool, Language, Tool
from runner.model.submission import Submission
from runner.risk.client_tools import addresses, destination, patched

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_NAME = 200
LONGEST_FOLDER = 4096
MOST_FILES = 200
SHELL = {"Bash": "command", "run_shell_command": "command", "shell": "command", "exec_command": "cmd"}
"""Name of a tool that runs command lines -> name of the argument that is the command line."""
WRITES = {"Write": "content", "write_file": "content", "NotebookEdit": "new_source"}
CHANGES = {"Edit": ("old_string", "new_string"), "replace": ("old_string", "new_string")}
FETCHES = {"WebFetch": "url", "web_fetch": "prompt"}
PATHS = ("file_path", "notebook_path")


class _Use(NamedTuple):
    """What a tool would do. `used` are the arguments that are in it; the others are shown beside it."""

    tool: Tool
    code: str
    used: tuple[str, ...]
    files: tuple[str, ...] = ()
    replaced: str = ""
    language: Language | None = None


def client_submission(agent: str, name: str, given: Mapping[str, object], folder: str) -> Submission:
    """Return the submission for the tool `name` with the arguments `given`, in `folder`. Raises Refused."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise Refused("tool_name is not the name of a tool.", "Send it as the client has it.")
    if len(folder) > LONGEST_FOLDER:
        raise Refused("folder is too long.", "Send the folder that the client works in.")
    use = _use(name, given) or _Use(Tool.CLIENT_TOOL, _json(given), tuple(given))
    if len(use.files) > MOST_FILES:
        raise Refused(f"It would change {len(use.files)} files; at most {MOST_FILES} are taken.", "Change fewer.")
    described = given.get("description")
    rest = {key: value for key, value in given.items() if key not in (*use.used, "description")}
    hosts = _hosts(use.code) if use.tool is Tool.CLIENT_FETCH else ()
    return Submission(
        agent,
        use.tool,
        language=use.language,
        code=use.code,
        title=described if isinstance(described, str) else _title(name, use),
        allowed_domains=hosts,
        client=ClientTool(name, folder, use.replaced, _json(rest) if rest else ""),
        files=use.files,
    )


def _use(name: str, given: Mapping[str, object]) -> _Use | None:
    """Return what a known tool would do; None for another, or where its arguments are not those that are known."""
    if (argument := SHELL.get(name)) and (command := _command(given.get(argument))):
        return _Use(Tool.CLIENT_SHELL, command, (argument,), language=Language.SHELL)
    if name == "apply_patch" and (patch := _text(given, "command", "input", "patch")):
        files = tuple(dict.fromkeys(part.path for part in patched(patch[1])))
        return _Use(Tool.CLIENT_EDIT, patch[1], (patch[0],), files)
    if (argument := FETCHES.get(name)) and isinstance(asked := given.get(argument), str):
        return _Use(Tool.CLIENT_FETCH, asked, (argument,))
    path = _text(given, *PATHS)
    if path is None:
        return None
    if (argument := WRITES.get(name)) and isinstance(text := given.get(argument), str):
        return _Use(Tool.CLIENT_EDIT, text, (path[0], argument), (path[1],))
    if pair := CHANGES.get(name):
        old, new = (given.get(argument) for argument in pair)
        if isinstance(old, str) and isinstance(new, str):
            return _Use(Tool.CLIENT_EDIT, new, (path[0], *pair), (path[1],), old)
    if name == "MultiEdit":
        return _several(path, given.get("edits"))
    return None


def _several(path: tuple[str, str], edits: object) -> _Use | None:
    """Return several changes of one file as one."""
    if not isinstance(edits, list):
        return None
    pairs = []
    for edit in edits:
        texts = (edit.get("old_string"), edit.get("new_string")) if isinstance(edit, dict) else (None, None)
        if not all(isinstance(text, str) for text in texts) or len(edit) > len(texts):
            return None
        pairs.append(tuple(map(str, texts)))
    new, old = "\n".join(pair[1] for pair in pairs), "\n".join(pair[0] for pair in pairs)
    return _Use(Tool.CLIENT_EDIT, new, (path[0], "edits"), (path[1],), old)


def _command(value: object) -> str:
    """Return a command line; '' for what is none. Codex sends words, of which the shell's own come first."""
    if isinstance(value, str):
        return value if value.strip() else ""
    if isinstance(value, list) and len(value) == 3 and all(isinstance(word, str) for word in value):
        shell, flag, text = value
        if shell.rpartition("/")[2] in ("bash", "sh", "zsh") and flag in ("-c", "-lc"):
            return str(text)
    return ""


def _text(given: Mapping[str, object], *names: str) -> tuple[str, str] | None:
    """Return the first of these arguments that is a text, with its name."""
    for name in names:
        if isinstance(value := given.get(name), str) and value:
            return name, value
    return None


def _hosts(text: str) -> tuple[str, ...]:
    found = []
    for address in addresses(text):
        try:
            found.append(str(Destination.parse(destination(address))))
        except UnusableHost:
            # Without a host that can be named the assessment says so.
            continue
    return tuple(sorted(dict.fromkeys(found)))


def _title(name: str, use: _Use) -> str:
    if use.tool is Tool.CLIENT_SHELL:
        return ""  # the first line that says something
    return f"{name} {', '.join(use.files)}".strip() if use.files else f"{name}: {use.code}"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
