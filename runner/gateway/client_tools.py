"""The tool `approve`: a client asks before it uses a tool of its own, and gets yes or no in the form it knows.

What the client would do becomes a submission, by the tool's name and arguments.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from typing import TYPE_CHECKING, NamedTuple

from runner.gateway import catalog
from runner.gateway.arguments import Arguments
from runner.gateway.replies import Reply
from runner.model.decision import Verdict
from runner.model.errors import Refused
from runner.model.network import Destination, UnusableHost
from runner.model.request import ClientTool, Language, Tool, canonical
from runner.model.submission import Submission
from runner.risk.addresses import hosts_of
from runner.risk.tools.client_tools import USUAL_SHELLS, asked_addresses
from runner.risk.tools.codex_patch import SHELLS_OF_CODEX, ShellPatch, patch_in, read_patch
from runner.risk.tools.diffs import changed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.answer import Answer

NOBODY = "Nobody has answered in time. Nothing was run. Ask again later, or do without."
TOO_LATE = "The agent's program waits no longer."
MAY_HAVE_RUN = "The agent's program no longer waits for an answer; it may have run this."
"""Of one that went away: some run their tool where the answer takes too long."""
LONGEST_NAME = 200
LONGEST_FOLDER = 4096
MOST_FILES = 200
SHELL = {
    "Bash": ("command",),
    "run_shell_command": ("command",),
    "shell": ("command",),
    "exec_command": ("cmd", "command"),
    "bash": ("command",),
    "developer__shell": ("command",),
}
"""Name of a tool that runs command lines -> names of the argument that is the command line, of which one is there."""
PATCHES = ("apply_patch", "applypatch")
WRITES = {
    "Write": (("file_path", "content"),),
    "write_file": (("file_path", "content"),),
    "NotebookEdit": (("notebook_path", "new_source"),),
    "write": (("filePath", "content"),),
    "create": (("path", "file_text"),),
    "developer__write": (("path", "content"),),
}
"""Name of a tool that writes files -> the arguments that are path and text, for each client that has one."""
CHANGES = {
    "Edit": (("file_path", "old_string", "new_string"),),
    "replace": (("file_path", "old_string", "new_string"),),
    "edit": (
        ("file_path", "old_string", "new_string"),
        ("filePath", "oldString", "newString"),
        ("path", "old_str", "new_str"),
    ),
    "developer__edit": (("path", "before", "after"),),
}
"""The same for a tool that replaces a text by another."""
PATHS = frozenset(
    {"file_path", "filePath", "notebook_path", "path", "filename", "file", "absolute_path", "target_file"}
)
"""Arguments that name a file. With one that is not its own a tool is unknown: which of both counts is not known."""
FETCHES = {"WebFetch": ("url",), "webfetch": ("url",), "web_fetch": ("prompt", "url")}


class _Use(NamedTuple):
    """What a tool would do. `used` are the arguments that are in it; the others are shown beside it."""

    tool: Tool
    code: str
    used: tuple[str, ...]
    files: tuple[str, ...] = ()
    replaced: str = ""
    language: Language | None = None
    base: str = ""
    """The folder, below that of the client, which relative names are meant below."""


def is_of_assent(given: Mapping[str, object] | None) -> bool:
    """Return whether a call of `approve` is about a tool of Assent, which asks for itself."""
    return str((given or {}).get("tool_name", "")) in catalog.OWN_NAMES


def allowed(given: Mapping[str, object] | None) -> Reply:
    """Return the reply that lets the client use its tool as it said it would."""
    return _reply({"behavior": "allow", "updatedInput": (given or {}).get("input") or {}})


def denied(why: str) -> Reply:
    return _reply({"behavior": "deny", "message": why})


def decided(answer: Answer, given: Mapping[str, object] | None) -> Reply:
    """Return the reply with the decision of a person or a rule."""
    if answer.decision.verdict is Verdict.APPROVED and not answer.problem:
        return allowed(given)
    return denied(answer.text())


def _reply(data: dict[str, object]) -> Reply:
    """Return a reply of text alone: it is what clients read a permission from."""
    return Reply(json.dumps(data, ensure_ascii=False), {})


def asked(agent: str, given: Mapping[str, object] | None) -> Submission:
    """Return the submission of a call of `approve`. Raises Refused."""
    arguments = Arguments(catalog.APPROVE, given)
    values = arguments.table("input")
    if values is None:
        raise Refused("input is missing.", "Send what the tool would be called with.")
    return client_submission(agent, arguments.required("tool_name"), values, arguments.text("folder") or "")


def client_submission(agent: str, name: str, given: Mapping[str, object], folder: str) -> Submission:
    """Return the submission for the tool `name` with the arguments `given`, in `folder`. Raises Refused."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise Refused("tool_name is not the name of a tool.", "Send it as the client has it.")
    if len(folder) > LONGEST_FOLDER:
        raise Refused("folder is too long.", "Send the folder that the client works in.")
    use = _use(name, given) or _Use(Tool.CLIENT_TOOL, _json(given), tuple(given))
    if len(use.files) > MOST_FILES:
        raise Refused(f"It would change {len(use.files)} files; at most {MOST_FILES} are taken.", "Change fewer.")
    described = given.get("description") if name in SHELL else None
    rest = {key: value for key, value in given.items() if key not in (*use.used, "description")}
    if "description" in given and not isinstance(described, str) and use.tool is not Tool.CLIENT_TOOL:
        rest["description"] = given["description"]
    hosts = _hosts(name, use.code) if use.tool is Tool.CLIENT_FETCH else ()
    base = posixpath.normpath(posixpath.join("/", folder, use.base)) if use.base else ""
    more = _json(rest) if rest else ""
    return Submission(
        agent,
        use.tool,
        language=use.language,
        code=use.code,
        title=described if isinstance(described, str) else _title(name, use),
        allowed_domains=hosts,
        client=ClientTool(name, folder, use.replaced, more, _hashed(given, isinstance(described, str)), base),
        files=use.files,
    )


def _hashed(given: Mapping[str, object], described: bool) -> str:
    """Return the SHA-256 of the whole input, but for what only describes it. Raises Refused."""
    deciding = {key: value for key, value in given.items() if not (described and key == "description")}
    try:
        return hashlib.sha256(canonical(deciding)).hexdigest()
    except (ValueError, TypeError, RecursionError) as error:
        raise Refused(f"input is not JSON data: {error}.", "Send what the tool would be called with.") from None


def _use(name: str, given: Mapping[str, object]) -> _Use | None:
    """Return what a known tool would do; None for another, or where its arguments are not those that are known."""
    if name in SHELL:
        return _shell(name, given)
    if name == "apply_patch" and (patch := _text(given, "command", "input", "patch")):
        return _patch(patch[1], (patch[0],))
    if (arguments := FETCHES.get(name)) is not None:
        there = [key for key in arguments if key in given]
        asked = given[there[0]] if len(there) == 1 else None
        return _Use(Tool.CLIENT_FETCH, asked, tuple(there)) if isinstance(asked, str) else None
    path = _text(given, *PATHS)
    if path is None or len(given.keys() & PATHS) != 1:
        return None
    for used in (*WRITES.get(name, ()), *CHANGES.get(name, ())):
        texts = [given.get(argument) for argument in used]
        if used[0] == path[0] and all(isinstance(text, str) for text in texts):
            return _Use(Tool.CLIENT_EDIT, str(texts[-1]), used, (path[1],), str(texts[1]) if len(texts) > 2 else "")
    if name == "MultiEdit" and path[0] == "file_path":
        return _several(path, given.get("edits"))
    return None


def _shell(name: str, given: Mapping[str, object]) -> _Use | None:
    """Return the use of a shell: a command line, or the patch that Codex would take it for."""
    there = [key for key in SHELL[name] if key in given]
    if len(there) != 1:
        return None
    argument, value = there[0], given[there[0]]
    folder = _text(given, "workdir", "cwd", "dir_path", "directory")
    base = folder[1] if folder is not None else ""
    if name in SHELLS_OF_CODEX and isinstance(value, list) and len(value) == 2 and value[0] in PATCHES:
        return _patch(value[1], (argument,), base) if isinstance(value[1], str) else None
    command = _command(value)
    if not command:
        return None
    if name in SHELLS_OF_CODEX and patch_in(command) is not None:
        return _patch(command, (argument,), base)
    diff = changed_by(command)
    files = () if diff is None else tuple(one.path for one in diff.files)
    return _Use(Tool.CLIENT_SHELL, command, (argument,), files, language=Language.SHELL, base=base)


def _patch(text: str, used: tuple[str, ...], base: str = "") -> _Use:
    """Return the use of a patch, which may stand in the command that hands it to Codex."""
    found = patch_in(text) or ShellPatch(text)
    files = tuple(dict.fromkeys(one.path for one in read_patch(found.patch).files))
    return _Use(Tool.CLIENT_EDIT, text, used, files, base=posixpath.join(base, found.folder))


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
        if shell in USUAL_SHELLS and flag in ("-c", "-lc"):
            return str(text)
    return ""


def _text(given: Mapping[str, object], *names: str) -> tuple[str, str] | None:
    """Return the first of these arguments that is a text, with its name."""
    for name in names:
        if isinstance(value := given.get(name), str) and value:
            return name, value
    return None


def _hosts(name: str, text: str) -> tuple[str, ...]:
    found = []
    for address in asked_addresses(name, text):
        for host in hosts_of(address, raw=name == "web_fetch"):
            try:
                found.append(str(Destination.parse(host)))
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
