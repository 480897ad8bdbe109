"""Making old or loose Python readable for `ast`, line by line, so that places stay what they are."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from typing import TYPE_CHECKING

from runner.model.expression import expression

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_LINES_GIVEN_UP = 40
"""Lines that may be left out before the text counts as no Python at all."""

LONGEST = 200_000
"""Characters beyond which nothing is repaired: each attempt parses the whole again."""


def _line_of(name: str) -> str:
    """Return the expression of a statement `name` with what follows it on its line."""
    return rf"(?m)(^{GAP}|[:;]{GAP}){name}[ \t]++(?![=,.)\]])([^\n]*)$"


def _printed(match: re.Match[str]) -> str:
    return f"{match[1]}print({match[2].rstrip(BLANKS).removesuffix(',')})"


def _executed(match: re.Match[str]) -> str:
    scope = SCOPE.search(match[2])
    code = match[2] if scope is None else match[2][: scope.start()]
    return f"{match[1]}exec({code.rstrip(BLANKS)})"


BLANKS = " \t"
GAP = r"[^\S\n]*+"
"""Space within a line. An expression that may run over empty lines takes quadratic time for them."""
REST = rf"([^\n]*\S){GAP}$"
SCOPE = expression(r"(?<![ \t])[ \t]++in[ \t]")
# A line at a time: what was a statement in Python 2 becomes the call of Python 3.
REPAIRS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (
        expression(rf"(?m)^({GAP}(?:[^\s#'\"][^#'\"\n]*:{GAP})?)print{GAP}>>{GAP}([\w.]++){GAP},{GAP}{REST}"),
        r"\1\2.write(\3)",
    ),
    (expression(_line_of("print")), _printed),
    (expression(rf"(?m)(^{GAP}|[:;]{GAP})print[ \t]*+$"), r"\1print()"),
    (expression(_line_of("exec")), _executed),
    (expression(rf"(?m)^({GAP}except[^\n:,]*+),{GAP}(\w++){GAP}:"), r"\1 as \2:"),
    (expression(rf"(?m)^({GAP}except{GAP}\([^\n:]*\)),{GAP}(\w++){GAP}:"), r"\1 as \2:"),
    (expression(rf"(?m)^({GAP}raise[^\S\n]++[\w.]++){GAP},{GAP}{REST}"), r"\1(\2)"),
    # Type parameters and `type` statements, which came after the Python that reads them here.
    (
        expression(rf"(?m)^({GAP}(?:class|(?:async[^\S\n]++)?def)[^\S\n]++\w++)\[[^\]\n]*+\](?={GAP}[(:])"),
        r"\1",
    ),
    (expression(rf"(?m)^({GAP})type[^\S\n]++(\w++)(?:\[[^\]\n]*+\])?{GAP}="), r"\1\2 ="),
    (expression(r"<>"), "!="),
    (expression(r"\b[uU]([rR]?)(?=['\"])"), r"\1"),
    (expression(r"\b0([0-7]+)[lL]?\b(?![.\w])"), r"0o\1"),
    (expression(r"\b(\d+|0x[0-9a-fA-F]+)[lL]\b"), r"\1"),
    (expression(r"`([^`\n]+)`"), r"repr(\1)"),
)
# Notebook cells: `!command` runs in a shell, `%magic` does not matter, `%%bash` takes the rest.
NOTEBOOK_SCRIPT = expression(r"\A\s*+%%(?:bash|sh|script|system|!)[^\n]*+\n(.*)\Z", re.DOTALL)
BANG = expression(rf"(?m)^({GAP})(?:\w++{GAP}={GAP})?!(.+)$")
MAGIC = expression(rf"(?m)^({GAP})%{{1,2}}(\w++)([^\n]*+)$")
PROMPT = expression(r"(?m)^(?:>>>|\.\.\.) ?")


def modern(code: str) -> tuple[str, bool]:
    """Return `code` with old statements rewritten and, where that is not enough, broken lines emptied.

    The second value says whether a line was emptied that is no statement by itself.
    """
    if len(code) > LONGEST:
        return code, False
    if (magic := NOTEBOOK_SCRIPT.match(code)) is not None:
        return f"__import__('os').system({magic.group(1)!r})", False
    code = code.replace("\0", " ").replace("\f", " ")
    if code.lstrip().startswith(">>>"):
        code = "\n".join(line for line in code.split("\n") if line.startswith((">>>", "...")))
        code = PROMPT.sub("", code)
    code = BANG.sub(lambda m: f"{m[1]}__import__('os').system({m[2]!r})", code)
    code = MAGIC.sub(lambda m: f"{m[1]}pass", code)
    candidate = _unindented(code.expandtabs(8) if "\t" in code else code)
    if _broken(candidate) == 0:
        return candidate, False
    for pattern, into in REPAIRS:
        candidate = pattern.sub(into, candidate)
    return _without_broken_lines(candidate)


def _unindented(code: str) -> str:
    first = next((line for line in code.split("\n") if line.strip() and not line.lstrip().startswith("#")), "")
    if first[:1] not in (" ", "\t"):
        return code
    even = textwrap.dedent(code)
    return even if even[:1] not in (" ", "\t") else "if True:\n" + code


def _without_broken_lines(code: str) -> tuple[str, bool]:
    """Mend or empty the line of each syntax error in turn; given up, and returned as it is, after many.

    The second value is that of `modern`.
    """
    lines = code.split("\n")
    left_out = False
    allowed = min(MOST_LINES_GIVEN_UP, max(2, len(lines) // 4))
    for _ in range(allowed):
        line = _broken("\n".join(lines))
        if line == 0:
            break
        at = min(line, len(lines)) - 1
        while at > 0 and not lines[at].strip():
            at -= 1
        if not _dedented(lines, at):
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            kept = indent + "pass"
            left_out = left_out or not _is_statement(lines[at].strip())
            lines[at] = "" if lines[at] == kept else kept
    return "\n".join(lines), left_out


def _is_statement(line: str) -> bool:
    """Return whether a line is valid by itself, so that only its indentation was wrong."""
    return _broken(f"async def _():\n  while True:\n    {line}") == 0


def _dedented(lines: list[str], at: int) -> bool:
    """Move an indented block that nothing introduces back to the line before it. Whether there was one."""
    before = next((line for line in reversed(lines[:at]) if line.strip() and not line.lstrip().startswith("#")), None)
    if before is not None and before.rstrip().endswith((":", ",", "(", "[", "{", "\\")):
        return False
    outer, inner = _indent(before or ""), _indent(lines[at])
    if inner <= outer:
        return False
    for i in range(at, len(lines)):
        if lines[i].strip() and _indent(lines[i]) < inner:
            break
        lines[i] = lines[i][inner - outer :]
    return True


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _broken(code: str) -> int:
    """Return the line of the first syntax error; 0 when there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, MemoryError, RecursionError):
        return 1
    return 0
