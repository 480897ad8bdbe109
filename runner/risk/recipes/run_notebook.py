"""The code of a notebook: its cells, with what they hand to a shell, in the lines of the file where possible."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runner.model.expression import expression

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELL_LINE = expression(r"\A([ \t]*+)[!%](?:!|(?=pip |conda |sx |sh ))(.*)|\A([ \t]*+)!(.*)")
SHELL_CELL = expression(r"\A%%(?:bash|sh|script (?:bash|sh))\b.*")
MAGIC = expression(r"\A([ \t]*+)%.*")


def python_of(content: str) -> str:
    """Return the Python of all cells. Raises ValueError for what is no notebook."""
    data = json.loads(content)
    cells = [cell for cell in data.get("cells", ()) if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    lines = [line for cell in cells for line in _cell(cell.get("source", ""))]
    return "\n".join(_in_place(content, lines) or [said for _, said in lines])


def _cell(source: object) -> Iterator[tuple[str, str]]:
    """Yield the lines of a cell, as they are written and as Python."""
    written = ("".join(map(str, source)) if isinstance(source, list) else str(source)).split("\n")
    if SHELL_CELL.fullmatch(written[0]):
        yield written[0], f"import os; os.system({chr(10).join(written[1:])!r})"
        return
    for line in written:
        yield line, _as_python(line)


def _as_python(line: str) -> str:
    match = SHELL_LINE.fullmatch(line)
    if match is not None:
        before, command = (match[1], match[2]) if match[1] is not None else (match[3], match[4])
        return f"{before}import os; os.system({command!r})"
    return line if (magic := MAGIC.fullmatch(line)) is None else f"{magic[1]}pass"


def _in_place(content: str, lines: list[tuple[str, str]]) -> list[str] | None:
    """Return the lines where they stand in the file; None where several stand in one line of it."""
    placed = [""] * (content.count("\n") + 1)
    at, row, last = 0, 0, -1
    for written, said in lines:
        if not written:
            continue
        found = content.find(json.dumps(written, ensure_ascii=False)[1:-1], at)
        if found < 0:
            found = content.find(json.dumps(written)[1:-1], at)
        row += content.count("\n", at, max(found, at))
        if found < 0 or row == last:
            return None
        placed[row], at, last = said, found, row
    return placed
