"""What a JavaScript or TypeScript loop over a folder spares of what it deletes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.plain import as_python
from runner.risk.javascript.plain_scopes import NotPlain
from runner.risk.javascript.syntax import parse
from runner.risk.python.spared import note_spared as note_of_python

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Act


def note_spared(code: str, acts: Sequence[Act]) -> None:
    """Note at the deletions of a program what their loops spare, where nothing in the program can change that."""
    if not any(act.kind == "delete" for act in acts):
        return
    try:
        program = as_python(parse(code))
    except NotPlain:
        return
    note_of_python(program, acts)
