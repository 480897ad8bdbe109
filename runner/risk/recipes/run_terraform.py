"""Commands in files of Terraform."""

from __future__ import annotations

import json
import re
import shlex

from runner.model.expression import expression
from runner.risk.recipes.run_lines import CommandLines

TERRAFORM_LINE = expression(r'\A[ \t]*+command[ \t]*+=[ \t]*+(?:"((?:[^"\\]|\\.)*+)"|<<[-~]?(\w++))')
PROGRAM_LINE = expression(r"\A[ \t]*+(?:program|inline)[ \t]*+=[ \t]*+(\[.*\])[ \t]*+\Z")


def terraform(content: str) -> CommandLines:
    """Return the commands that provisioners and data sources run, also from here-documents. Raises ValueError."""
    found = CommandLines(content.count("\n") + 1)
    until = ""
    for at, line in enumerate(content.split("\n")):
        if until:
            until = "" if line.strip() == until else until
            if until:
                found.put(at, line)
        elif (match := TERRAFORM_LINE.match(line)) is not None:
            until = match[2] or ""
            if match[1]:
                found.put(at, re.sub(r"\\(.)", r"\1", match[1]))
        elif (listed := PROGRAM_LINE.match(line)) is not None:
            words_of = [str(one) for one in json.loads(listed[1])]
            found.put(at, shlex.join(words_of) if line.lstrip().startswith("program") else "; ".join(words_of))
    return found
