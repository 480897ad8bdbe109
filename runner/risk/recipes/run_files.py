"""Commands in files that are no programs by their ending: recipes, steps of CI, units, hooks, SQL, notebooks.

Each kind is known by its name, and becomes code in a language that can be assessed, every command in its own line.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.model.expression import expression
from runner.model.request import Language
from runner.risk.model.outline_data import words
from runner.risk.recipes.run_lines import MOST_COMMANDS, CommandLines
from runner.risk.recipes.run_notebook import python_of
from runner.risk.recipes.run_settings import pipeline, project, settings, tox
from runner.risk.recipes.run_terraform import terraform
from runner.risk.recipes.tool_files import MAKEFILE, recipes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST_RUN_FILE = 1 << 18
"""Characters of a file of one of these kinds that are read."""
DEEPEST_DATA = 40


@dataclass(frozen=True, slots=True)
class RunFile:
    """What a tool runs of a file."""

    language: Language
    code: str
    by_itself: int = 0
    """The line of what runs without being asked for, such as a script at installation; 0 for none."""
    unread: bool = False
    """Whether the file, or a part of it, could not be read."""
    image: bool = False
    """Whether its commands make an image."""
    spliced: int = 0
    """The line in which a server of CI puts a text of anybody into a command; 0 for none."""


PROGRAM = expression(r"(?i)file\.(?:pyw?|sh|bash|[cm]?[jt]sx?)\Z")
"""Programs by their ending, whatever stands before it: an interpreter runs all of `Dockerfile.py`."""


def run_file(path: str, content: str) -> RunFile | None:
    """Return what a tool runs of a file at `path`; None for a file of another kind. Never raises."""
    plain = path.replace("\\", "/")
    if PROGRAM.search(plain) is not None:
        return None
    read = next((read for pattern, read in KINDS_OF_FILES if pattern.search(plain)), None)
    if read is None and plain.endswith((".yaml", ".yml")):
        read = _of_unnamed(content)
    if read is None:
        return None
    if len(content) > LONGEST_RUN_FILE:
        return RunFile(Language.SHELL, "", unread=True)
    try:
        return read(content)
    except (ValueError, TypeError, RecursionError):
        return RunFile(Language.SHELL, _piece(content), unread=True)


PAIR = expression(r'\A[ \t]*+(?:-[ \t]++)?+"?([\w.:-]++)"?[ \t]*+:[ \t]++"?((?:[^"\\]|\\.)*+)')
LISTED = expression(r"\A[ \t]*+-[ \t]++([^{}\[\]:]++)\Z")


def _piece(content: str) -> str:
    """Return the commands of a piece of data, as an edit has it: values of one line each, in their lines."""
    found = []
    for line in content.split("\n"):
        pair, listed = PAIR.match(line), LISTED.match(line)
        if pair is not None and not pair[2].strip().startswith(("{", "[", "|", ">", "&", "*")):
            found.append(EXPRESSION.sub("$EXPRESSION", pair[2].replace('\\"', '"').strip(" ,")))
        else:
            found.append(listed[1] if listed is not None else "")
    return "\n".join(found)


# ---- Data with commands in it ----

COMMAND_KEYS = words(
    "run script before_script after_script command commands cmd cmds entry entrypoint bash pwsh powershell args "
    "onCreateCommand postCreateCommand postStartCommand postAttachCommand updateContentCommand initializeCommand "
    "before_install install before_deploy deploy_script exec shellCommand build_command start_command"
)
"""Names under which tools keep commands; `args` follows the command beside it."""
EXPRESSION = expression(r"\$\{\{[^{}]{0,500}\}\}|\$\[\[[^\[\]]{0,500}\]\]")
"""What a server of CI puts in before the shell reads the line."""


def _of_yaml(content: str) -> RunFile:
    """Steps of CI, services of Docker Compose, tasks, hooks of pre-commit."""
    # Imported here: few programs come with such a file.
    from runner.risk.recipes.run_yaml import commands, containers

    found = CommandLines(content.count("\n") + 1)
    spliced = 0
    for line, command in commands(content, COMMAND_KEYS, MOST_COMMANDS):
        if not spliced and (anybody := OF_ANYBODY.search(command)) is not None:
            spliced = line + command.count("\n", 0, anybody.start()) + 1
        found.put(line, EXPRESSION.sub("$EXPRESSION", command))
    for line, command in containers(content, MOST_COMMANDS):
        found.put(line, command)
    return RunFile(Language.SHELL, found.code, unread=found.cut, spliced=spliced)


def _of_manifest(content: str) -> RunFile:
    """What a cluster is asked to run: the commands of its containers, and what of the machine they are given."""
    from runner.risk.recipes.run_yaml import commands, containers

    found = CommandLines(content.count("\n") + 1)
    given = (*commands(content, frozenset({"command"}), MOST_COMMANDS), *containers(content, MOST_COMMANDS))
    for line, command in given:
        found.put(line, command)
    return RunFile(Language.SHELL, found.code, unread=found.cut)


TASKS = words("shell command raw cmd ansible.builtin.shell ansible.builtin.command ansible.builtin.raw")
"""Names under which tasks of Ansible keep commands."""
FILLED_IN = expression(r"\{\{[^{}]{0,500}\}\}")


def _of_playbook(content: str) -> RunFile:
    """Commands of the tasks of Ansible."""
    from runner.risk.recipes.run_yaml import commands

    found = CommandLines(content.count("\n") + 1)
    for line, command in commands(content, TASKS, MOST_COMMANDS):
        found.put(line, FILLED_IN.sub("$FILLED_IN", command))
    return RunFile(Language.SHELL, found.code, unread=found.cut)


OF_ANYBODY = expression(
    r"\$\{\{[^{}]{0,200}?(?:github\.head_ref|github\.event\.(?:issue|pull_request|comment|review|review_comment|discussion"
    r"|head_commit|commits|pages)\b[\w.\[\]*-]{0,80}\.(?:title|body|message|name|email|ref|label|default_branch))"
)
"""Texts that strangers write, which a server of CI puts into a command as they are."""


COMMENT_IN_JSON = expression(r'("(?:[^"\\\n]|\\.)*+"?)|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)')
LAST_COMMA = expression(r",(\s*+[}\]])")
AT_INSTALLATION = (
    "preinstall",
    "install",
    "postinstall",
    "prepare",
    "prepublish",
    "post-install-cmd",
    "post-update-cmd",
)


def _of_json(content: str) -> RunFile:
    """Scripts of a package, tasks of an editor, hooks of an agent's program, commands of a development container."""
    data = json.loads(LAST_COMMA.sub(r"\1", COMMENT_IN_JSON.sub(lambda match: match[1] or "", content)))
    found = CommandLines(content.count("\n") + 1)
    by_itself = 0
    for name, command in _in_data(data, 0):
        line = _line_of(content, name, command)
        by_itself = by_itself or (line + 1 if name in AT_INSTALLATION else 0)
        found.put(line, command.replace("\n", " "))
    return RunFile(Language.SHELL, found.code, by_itself, unread=found.cut)


def _in_data(data: Any, depth: int) -> Iterator[tuple[str, str]]:
    if depth > DEEPEST_DATA:
        raise ValueError("nested too deeply")
    if isinstance(data, list):
        for one in data:
            yield from _in_data(one, depth + 1)
    if not isinstance(data, dict):
        return
    scripts = data.get("scripts")
    for name, one in scripts.items() if isinstance(scripts, dict) else ():
        for command in one if isinstance(one, list) else [one]:
            if isinstance(command, str):
                yield name, command
    for name, one in data.items():
        listed = [word for word in one if isinstance(word, str)] if isinstance(one, list) else []
        if name in COMMAND_KEYS and name != "args" and isinstance(one, str):
            given = data.get("args")
            more = [word for word in given if isinstance(word, str)] if isinstance(given, list) else []
            yield name, " ".join([one, *map(shlex.quote, more)])
        elif name in COMMAND_KEYS and name != "args" and listed:
            yield name, shlex.join(listed)
        elif name != "scripts":
            yield from _in_data(one, depth + 1)


def _line_of(content: str, name: str, command: str) -> int:
    """Return the line, from 0, in which JSON names a command."""
    written = json.dumps(command, ensure_ascii=False)[1:-1]
    at = max(content.find(f'"{name}"', content.find('"scripts"') + 1), 0)
    exact = content.find(written, at)
    return content.count("\n", 0, exact if exact >= 0 else at)


def _of_terraform(content: str) -> RunFile:
    found = terraform(content)
    return RunFile(Language.SHELL, found.code, unread=found.cut)


def _of_unnamed(content: str) -> Callable[[str], RunFile] | None:
    """Return the reader of a file of YAML whose name says nothing: by what it begins with."""
    if "\nkind:" in content and "apiVersion:" in content:
        return _of_manifest
    is_playbook = "\n  hosts:" in content or content.startswith("- hosts:") or "\n- hosts:" in content
    is_tasks = "ansible.builtin." in content or "\n  become:" in content
    return _of_playbook if is_tasks or (is_playbook and "tasks:" in content) else None


def _of_notebook(content: str) -> RunFile:
    return RunFile(Language.PYTHON, python_of(content))


# ---- Lines with commands in them ----


def _of_recipes(content: str) -> RunFile:
    """Makefiles: recipes, and what `$(shell ...)` and `!=` run when the file is read."""
    lines = recipes(content).split("\n")
    for at, line in enumerate(content.split("\n")):
        if not line.startswith("\t"):
            at_reading = [match[1] for match in MAKE_SHELL.finditer(line)]
            if (assigned := MAKE_RUNS.match(line)) is not None:
                at_reading.append(assigned[1])
            lines[at] = "; ".join(filter(None, (lines[at], *at_reading)))
    return RunFile(Language.SHELL, "\n".join(lines))


MAKE_SHELL = expression(r"\$\(shell ([^()]*+(?:\([^()]*+\)[^()]*+)*+)")
MAKE_RUNS = expression(r"[\w.-]++[ \t]*+!=[ \t]*+(.+)")
INDENTED = expression(r"\A[ \t]++(?:@|-)?+(.+)")


def _of_just(content: str) -> RunFile:
    """Recipes of a justfile: whatever is indented."""
    matches = map(INDENTED.fullmatch, content.split("\n"))
    return RunFile(Language.SHELL, "\n".join(match[1] if match is not None else "" for match in matches))


INSTRUCTION = expression(
    r"(?i)\s*+(?:ONBUILD\s++)?(RUN|CMD|ENTRYPOINT|HEALTHCHECK|ADD|ENV|ARG)\s++((?:--\S++\s++)*+)(.*)"
)
HERE_DOCUMENT = expression(r"<<-?['\"]?(\w++)['\"]?")


def _of_dockerfile(content: str) -> RunFile:
    """RUN, CMD, ENTRYPOINT and what ADD downloads, with continued lines and here-documents."""
    found: list[str] = []
    goes_on, until, in_command = False, "", False
    for line in content.split("\n"):
        if until:
            found.append("" if line.strip() == until else line)
            until = "" if line.strip() == until else until
        elif goes_on:
            comment = line.lstrip().startswith("#")
            found.append("\\" if comment and in_command else line if in_command else "")
            goes_on = comment or line.rstrip().endswith("\\")
        else:
            match = INSTRUCTION.fullmatch(line)
            in_command = match is not None
            found.append(_instruction(match[1].upper(), match[3]) if match is not None else "")
            goes_on = line.rstrip().endswith("\\")
            document = HERE_DOCUMENT.search(line) if match is not None and match[1].upper() == "RUN" else None
            if document is not None and not match[3][: match[3].find("<<")].strip():  # type: ignore[index]
                found[-1], until = "", document[1]
    return RunFile(Language.SHELL, "\n".join(found), image=True)


def _instruction(name: str, rest: str) -> str:
    if name in ("ENV", "ARG"):
        return f"export {rest}" if "=" in rest.split(" ")[0] else ""
    if name == "ADD":
        given = rest.split()
        remote = [word for word in given[:-1] if "://" in word or word.startswith("git@")]
        return "; ".join(f"curl -o {shlex.quote(given[-1])} {shlex.quote(word)}" for word in remote)
    rest = rest.removeprefix("CMD ") if name == "HEALTHCHECK" else rest
    if rest.lstrip().startswith("["):
        try:
            return shlex.join(map(str, json.loads(rest)))
        except ValueError:
            return rest
    return "" if rest == "NONE" else rest


UNIT_LINE = expression(r"(?i)\A[ \t]*+Exec\w*+\s*+=\s*+[-@:+!|]*+(.+)")
DESKTOP_LINE = expression(r"(?i)\A[ \t]*+(?:Try)?Exec\s*+=\s*+(.+)")
PROCESS_LINE = expression(r"\A[\w-]++:\s*+(.+)")
SCHEDULED_LINE = expression(r"\A[ \t]*+(?:@\w++|(?:[\d*/,A-Za-z-]++\s++){5})\s*+(.+)")


def _of_lines(command: re.Pattern[str]) -> Callable[[str], RunFile]:
    """Return the reader of files in which a command is the first group of what an expression matches of a line."""

    def read(content: str) -> RunFile:
        matches = map(command.match, content.split("\n"))
        return RunFile(Language.SHELL, "\n".join(match[1] if match is not None else "" for match in matches))

    return read


def _scripted(commands: Callable[[str], str]) -> Callable[[str], RunFile]:
    """Return the reader of files whose commands are those of a script of the same lines."""
    return lambda content: RunFile(Language.SHELL, commands(content))


def _of_shell(content: str) -> RunFile:
    """Hooks and settings that a shell reads; a hook may name another interpreter."""
    first = content.partition("\n")[0]
    if first.startswith("#!") and "python" in first:
        return RunFile(Language.PYTHON, content)
    return RunFile(Language.JAVASCRIPT if first.startswith("#!") and "node" in first else Language.SHELL, content)


def _of_start_of_python(content: str) -> RunFile:
    """A `.pth` file: lines that begin with `import` run at every start of Python."""
    lines = content.split("\n")
    return RunFile(Language.PYTHON, "\n".join(line if line.startswith(AT_START) else "" for line in lines))


AT_START = ("import ", "import\t")
SQL_END = expression(r"'(?:[^']|'')*+'|--[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)|(;)")


def _of_sql(content: str) -> RunFile:
    """The statements of SQL, as a client of a database is given them."""
    found = CommandLines(content.count("\n") + 1)
    start = 0
    ends = [match.end() for match in SQL_END.finditer(content) if match[1]]
    for end in (*ends, len(content)):
        statement = content[start:end]
        plain = re.sub(r"(?m)^[ \t]*+--.*", lambda match: " " * len(match[0]), statement)
        if plain.strip(" \t\r\n;"):
            line = content.count("\n", 0, start + len(plain) - len(plain.lstrip()))
            found.put(line, f"psql -c {shlex.quote(' '.join(statement.split()))}")
        start = end
    return RunFile(Language.SHELL, found.code, unread=found.cut)


KINDS_OF_FILES: tuple[tuple[re.Pattern[str], Callable[[str], RunFile]], ...] = (
    (MAKEFILE, _of_recipes),
    (expression(r"(?i)(?:\A|/)\.?justfile\Z"), _of_just),
    (expression(r"(?i)(?:\A|/)(?:[\w-]++\.)?(?:docker|container)file(?:\.[\w-]++)?\Z"), _of_dockerfile),
    (expression(r"(?i)(?:\A|/)(?:package|composer)\.json\Z"), _of_json),
    (expression(r"(?i)(?:\A|/)\.vscode/(?:tasks|launch|settings|mcp)\.json\Z"), _of_json),
    (expression(r"(?i)(?:\A|/)(?:\.devcontainer/)?\.?devcontainer\.json\Z"), _of_json),
    (expression(r"(?i)(?:\A|/)\.(?:claude|codex|gemini|cursor|mcp)(?:/[\w.-]+)?\.json\Z"), _of_json),
    (expression(r"(?i)(?:\A|/)\.mcp\.json\Z"), _of_json),
    (
        expression(
            r"(?i)(?:\A|/)\.(?:github/(?:workflows|actions/[^/]+)/[^/]+|gitlab-ci[^/]*|circleci/[^/]+|travis|drone|woodpecker[^/]*)\.ya?ml\Z"
        ),
        _of_yaml,
    ),
    (
        expression(
            r"(?i)(?:\A|/)(?:azure-pipelines[^/]*|bitbucket-pipelines|action|appveyor|cloudbuild|buildspec[^/]*|lefthook)\.ya?ml\Z"
        ),
        _of_yaml,
    ),
    (
        expression(
            r"(?i)(?:\A|/)(?:\.pre-commit-(?:config|hooks)|taskfile[^/]*|(?:docker-)?compose[^/]*|skaffold|render|fly)\.ya?ml\Z"
        ),
        _of_yaml,
    ),
    (expression(r"(?i)\.sql\Z"), _of_sql),
    (expression(r"(?i)\.(?:service|timer|socket|mount|path)\Z"), _of_lines(UNIT_LINE)),
    (expression(r"(?i)\.desktop\Z"), _of_lines(DESKTOP_LINE)),
    (expression(r"(?i)(?:\A|/)procfile(?:\.\w+)?\Z"), _of_lines(PROCESS_LINE)),
    (
        expression(r"(?i)(?:(?:\A|/)crontab|\.cron(?:tab)?)\Z"),
        _of_lines(SCHEDULED_LINE),
    ),
    (expression(r"(?i)(?:\A|/)(?:\.envrc|\.husky/[^/.][^/]*|(?:\.git/)?hooks/[a-z-]+)\Z"), _of_shell),
    (expression(r"(?i)\.pth\Z"), _of_start_of_python),
    (expression(r"(?i)\.tf\Z"), _of_terraform),
    (expression(r"(?i)(?:\A|/)\.npmrc\Z"), _scripted(settings("npm"))),
    (expression(r"(?i)(?:\A|/)pip\.(?:conf|ini)\Z"), _scripted(settings("pip"))),
    (expression(r"(?i)(?:\A|/)tox\.ini\Z"), _scripted(tox)),
    (expression(r"(?i)(?:\A|/)(?:pyproject|pixi)\.toml\Z"), _scripted(project)),
    (expression(r"(?i)(?:\A|/)jenkinsfile(?:\.[\w-]++)?\Z"), _scripted(pipeline)),
    (expression(r"(?i)\.ipynb\Z"), _of_notebook),
)
"""Expressions over a path, and what reads a file of that kind; the first that is found counts."""
