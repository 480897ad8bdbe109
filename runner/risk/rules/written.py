"""Rule files as people write them: YAML, read with the line of whatever is wrong with it.

Those that come with Assent are read from `table.json`, which `python -m runner.risk.rules.written` makes of them.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import yaml

from runner.risk.rules.knowledge import Knowledge, RulesUnreadable, made
from runner.risk.rules.rule import Compile, DangerRule, compiled, trusted
from runner.risk.rules.targets import Targets
from runner.risk.rules.vocabulary import Vocabulary
from runner.system.document import is_too_deep
from runner.system.plain_file import read_file
from runner.system.shipped import resources

if TYPE_CHECKING:
    from pathlib import Path

# libyaml is ten times as fast; it is part of every wheel of PyYAML, but not of every build.
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
VOCABULARIES = ("python", "javascript")
EXAMPLES = ("match", "clean")


def load(folder: Path) -> Knowledge:
    """Return the files of `folder`, with the examples of the rules. Raises RulesUnreadable, naming file and line."""
    return made(collected(folder))


def collected(folder: Path) -> dict[str, Any]:
    """Return what the files of `folder` say, after all of it was tried. Raises RulesUnreadable."""
    kinds = _section(folder / "targets.yaml", "targets")
    targets = Targets(kinds)
    rules: list[object] = []
    for path in sorted((folder / "dangers").glob("*.yaml")):
        read_rules(path, targets)
        rules += read(path)["rules"]
    return {
        **{name: _vocabulary(folder / f"{name}.yaml") for name in VOCABULARIES},
        "languages": {path.stem: _by_calls(path) for path in sorted((folder / "languages").glob("*.yaml"))},
        "targets": kinds,
        "foreign": read(folder / "foreign.yaml").get("patterns") or [],
        "popular": _section(folder / "popular.yaml", "popular"),
        "running": {name: _section(folder / "running.yaml", name) for name in (*VOCABULARIES, "shell")},
        "commands": _commands(folder / "commands.yaml"),
        "well-known": _section(folder / "commands.yaml", "well-known"),
        "rules": rules,
    }


def table(folder: Path) -> str:
    """Return the files of `folder` as one, without the examples: a line for each entry, so that changes can be seen."""
    found = collected(folder)
    parts = []
    for name, section in found.items():
        if name == "rules":
            section = [{key: value for key, value in one.items() if key not in EXAMPLES} for one in section]
        parts.append(f"{json.dumps(name)}: {_lines(section, whole=name == 'running')}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(section: dict[str, Any] | list[object], *, whole: bool = False) -> str:
    """Return JSON with a line for each entry, and with `whole` for each in these."""
    if not isinstance(section, dict):
        return "[\n" + ",\n".join(map(json.dumps, section)) + "\n]"
    entries = (
        f"{json.dumps(key)}: {_lines(value) if key == 'calls' or whole else json.dumps(value)}"
        for key, value in section.items()
    )
    return "{\n" + ",\n".join(entries) + "\n}"


def read(path: Path) -> dict[str, Any]:
    """Return a rule file as data. Raises RulesUnreadable."""
    try:
        text = read_file(path).decode("utf-8")
        if is_too_deep(text):
            raise RulesUnreadable(f"{path.name} is nested too deeply.", "Correct the file.")
        data = yaml.load(text, Loader)
    except OSError as error:
        raise RulesUnreadable(
            f"{path.name} cannot be read: {error.strerror}.", "Check the file and its rights."
        ) from None
    except UnicodeDecodeError as error:
        raise RulesUnreadable(f"{path.name} is not UTF-8 at byte {error.start}.", "Save it as UTF-8.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise RulesUnreadable(f"{path.name} cannot be read{where}: {problem}.", "Correct the line.") from None
    if not isinstance(data, dict) or data.get("schema") != 1:
        raise RulesUnreadable(f"{path.name} has no `schema: 1`.", "Put it into the first line.")
    return data


def _section(path: Path, name: str) -> dict[str, Any]:
    section = read(path).get(name)
    if not isinstance(section, dict):
        raise RulesUnreadable(f"{path.name} has no `{name}`.", "Add the section.")
    return section


def _commands(path: Path) -> list[dict[str, object]]:
    rows = read(path).get("commands")
    if not isinstance(rows, list):
        raise RulesUnreadable(f"{path.name} has no list `commands`.", "Add it.")
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("names"), str) or {type(one) for one in row} != {str}:
            raise RulesUnreadable(f"{path.name}: a row has no `names`: {row!r:.80}.", "Correct the row.")
    return rows


def _vocabulary(path: Path) -> dict[str, object]:
    data = read(path)
    found = {"calls": data.get("calls"), "attributes": data.get("attributes") or {}}
    try:
        Vocabulary.of_file(found)
    except ValueError as error:
        raise RulesUnreadable(f"{path.name}: {error}.", "Correct the entry.") from None
    return found


def _by_calls(path: Path) -> dict[str, Any]:
    """Return how a language is read that has no part of the classifier to itself."""
    data = read(path)
    for name in ("grammar", "calls", "grave", "harmless"):
        if name not in data:
            raise RulesUnreadable(f"{path.name} has no `{name}`.", "Add the section.")
    try:
        Vocabulary.of_file({"calls": data["grave"], "attributes": {}})
    except ValueError as error:
        raise RulesUnreadable(f"{path.name}: {error}.", "Correct the entry.") from None
    return data


def read_rules(path: Path, targets: Targets, compile: Compile = trusted) -> list[DangerRule]:
    """Return the rules of one file. Raises RulesUnreadable with the line of the rule that is wrong."""
    data = read(path)
    rules = data.get("rules")
    if not isinstance(rules, list):
        raise RulesUnreadable(f"{path.name} has no list `rules`.", "Add it.")
    made = []
    for number, rule in enumerate(rules, 1):
        try:
            made.append(compiled(rule, targets, compile))
        except (ValueError, TypeError, re.error) as error:
            name = rule.get("id", f"number {number}") if isinstance(rule, dict) else f"number {number}"
            line = line_of(path, str(name), number)
            raise RulesUnreadable(
                f"{path.name}, line {line}: rule {name} is wrong: {error}.", "Correct the rule."
            ) from None
    return made


def line_of(path: Path, name: str, number: int) -> int:
    """Return the line on which a rule starts."""
    count = 0
    for at, line in enumerate(read_file(path).decode("utf-8").split("\n"), 1):
        if re.match(r"\s*- ", line) and (indent := len(line) - len(line.lstrip())) <= 2 and indent >= 0:
            count += 1
            if re.match(rf"\s*- id:\s*['\"]?{re.escape(name)}['\"]?\s*$", line) or count == number:
                return at
    return 1


if __name__ == "__main__":
    sys.stdout.write(table(resources() / "rules"))
