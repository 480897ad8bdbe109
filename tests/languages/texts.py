"""Every text of the window, as the catalogues of `resources/languages` have to have it."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.settings.words import CHOICES, TITLES
from runner.approval.modes import Mode
from runner.model.assessment import NO_FINDINGS, NOTHING_STANDS_OUT, Capability
from runner.model.file_changes import ChangeKind
from runner.model.lifecycle import Phase
from runner.model.request import PARTS, Tool
from runner.model.result import Outcome
from runner.model.tool_facts import FACTS
from runner.model.translation import SAMPLE
from runner.model.verdict import Verb
from runner.risk.explain.class_reasons import RAISING
from runner.risk.rules.knowledge import table
from runner.settings.declared import declared
from runner.workspace.entry import TreeKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
BESIDE = (
    "runner/model/engine_texts.py",
    "runner/model/sentence_translation.py",
    "runner/risk/explain/reason_sentences.py",
)
"""What is in the language of the window too, and not a part of it."""
ONE, SEVERAL = frozenset({"tr", "to_translate"}), "plural"
Text = tuple[str, str]
"""The English text, and its form for several; that is '' where there is but one."""


def texts() -> Mapping[Text, list[str]]:
    """Return every text with the files that it is in."""
    found: dict[Text, list[str]] = defaultdict(list)
    for file in (*sorted((ROOT / "app").rglob("*.py")), *(ROOT / name for name in BESIDE)):
        place = file.relative_to(ROOT).as_posix()
        for text in texts_of(ast.parse(file.read_text("utf-8"))):
            if place not in found[text]:
                found[text].append(place)
    for place, said in of_engine():
        if said and place not in found[said, ""]:
            found[said, ""].append(place)
    return found


def texts_of(tree: ast.AST) -> Iterator[Text]:
    """Yield what the calls in a module have to be translated. Raises ValueError where that is not a literal."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = called(node)
        if name in ONE:
            yield _literal(node.args[0]), ""
        elif name == SEVERAL:
            yield _literal(node.args[0]), _literal(node.args[1])
        elif name == "partial" and isinstance(node.args[0], ast.Name) and node.args[0].id == SEVERAL:
            yield _literal(node.args[1]), _literal(node.args[2])


def called(node: ast.Call) -> str:
    """Return the name of what is called, '' where it is an attribute of something."""
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _literal(node: ast.expr) -> str:
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        raise ValueError(f"line {node.lineno}: {ast.unparse(node)} is no literal")
    return node.value


@cache
def of_engine() -> tuple[tuple[str, str], ...]:
    """Return what the engine says in English and the window shows by `translated`: file and text."""
    found = [("resources/rules", str(rule["reason"])) for rule in table()["rules"]]
    for one in declared():
        if not one.idle:
            found += [("runner/settings/declared.py", text) for text in (one.sentence, one.group, one.unit)]
            if one.name not in TITLES:
                found.append(("runner/settings/declared.py", one.name.replace("_", " ").capitalize()))
            found += [("runner/settings/declared.py", c.capitalize()) for c in one.choices if c not in CHOICES]
    for facts in FACTS.values():
        said = (facts.kind, facts.does, facts.wants, facts.brief, facts.part, facts.empty)
        found += [("runner/model/tool_facts.py", text) for text in said]
    words = (*Outcome, *Phase, *Mode, *Capability, *ChangeKind, *TreeKind, *Verb)
    found += [("runner/model", word.value) for word in words]
    found += [("runner/model", tool.value.replace("_", " ")) for tool in Tool]
    found += [("runner/model", text) for text in (NO_FINDINGS, NOTHING_STANDS_OUT, SAMPLE, "Reason", "Project", "Task")]
    found += [("runner/model/request.py", text) for text in PARTS]
    steps = ("Level", "Rules", "Remembered", "Then", "Mode", "Agent", "Approved late")
    found += [("runner/policy/explain.py", text) for text in steps]
    found += [("runner/risk/explain/class_reasons.py", text) for raising in RAISING.values() for _, text in raising]
    return tuple(found)
