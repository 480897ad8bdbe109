"""The help page on the classifier's rules, made from their files: `python -m runner.risk.rules.manual` prints it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from runner.risk.rules.written import load, read_rules
from runner.system.shipped import resources

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from runner.risk.rules.rule import DangerRule

LONGEST_EXAMPLE = 400
"""Characters of an example; of a longer one the page has the beginning."""
HEAD = """\
# Rules of the classifier

What is looked for in code, as the files in `resources/rules/dangers` have it. A rule looks at what a program *does*,
once its names, variables and the code inside its code were followed; never at words in a comment. Each entry says
the level of what is found, the capability that it gives, the reason as the window shows it, and where to read on (a
technique of ATT&CK, or a weakness by its CWE number). The first example is found by the rule, the second looks like it
and is not found by it. The files have more of both, and the tests try them all.

These are {count} rules. Beside them stand the levels of the tools themselves (running any code is HIGH), what is found
in hidden characters and in packages, and [your own rules](security.md).
"""


def rules_page(folder: Path) -> str:
    """Return the page on the rules below `folder`, in Markdown. Raises RulesUnreadable."""
    targets = load(folder).targets
    parts = []
    count = 0
    for path in sorted((folder / "dangers").glob("*.yaml")):
        rules = read_rules(path, targets)
        count += len(rules)
        parts += [f"\n## {path.stem}\n\n{_head(path)}\n", *map(_entry, rules)]
    return "".join([HEAD.format(count=count), *parts])


def _head(path: Path) -> str:
    """Return the comment with which a file begins."""
    lines = path.read_text("utf-8").splitlines()
    end = next(at for at, line in enumerate(lines) if not line.startswith("#"))
    return "\n".join(line.removeprefix("#").strip() for line in lines[:end])


def _entry(rule: DangerRule) -> str:
    language = _clearest(rule)
    facts = f"{rule.level.name}, {rule.capability}" + (f", {rule.reference}" if rule.reference else "")
    examples = [_example(which, language) for which in (rule.match, rule.clean)]
    return f"\n### {rule.id}\n\n{facts}: {rule.reason}\n\nFound:\n{examples[0]}\nNot found:\n{examples[1]}"


def _clearest(rule: DangerRule) -> str:
    """Return the language whose shortest examples are the shortest of all; one that has both, where there is one."""
    both = [one for one in rule.match if one in rule.clean] or list(rule.match)
    return min(both, key=lambda one: len(min(rule.match[one], key=len)) + len(min(rule.clean.get(one, [""]), key=len)))


def _example(examples: Mapping[str, Sequence[str]], language: str) -> str:
    """Return the shortest example in a language, or in any where that one has none."""
    shown = language if language in examples else min(examples)
    code = min(examples[shown], key=len).strip("\n")
    if len(code) > LONGEST_EXAMPLE:
        code = f"{code[:LONGEST_EXAMPLE]} …"
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", code) or [""]))
    return f"{fence}{shown}\n{_visible(code)}\n{fence}\n"


def _visible(code: str) -> str:
    """Return code with what a reader could not see, or a terminal would obey, written as in a text of Python."""
    return "".join(one if one.isprintable() or one in "\n\t" else one.encode("unicode_escape").decode() for one in code)


if __name__ == "__main__":
    sys.stdout.write(rules_page(resources() / "rules"))
