"""Finds whether code can run what it reads: whatever runs text, starts programs, or is not understood.

Each answer is the part of the code that can, in a few words; '' where nothing can. In doubt it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.request import Language
from runner.risk.executing.executing_fed import fed_calls
from runner.risk.executing.executing_javascript import of_javascript
from runner.risk.executing.executing_shell import of_shell
from runner.risk.model.bounds import excerpt
from runner.risk.model.outline_data import LOADED, words
from runner.risk.model.value import HOLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.risk.model.acts import Act

ACTS = words(
    "execute run start starts shell command module native unpickle reduce worker evaluates remote-run container "
    "connect-shell listen-shell builtins-by-class install package-setup schedule"
)
"""What the classifier has found that ends in another program or in more code."""
PUTS = frozenset({"write", "append", "copy", "move", "link", "extract"})


def executes(language: Language | None, code: str, acts: Iterable[Act], *, writes: bool = True) -> str:
    """Return what in `code` can run a text that it gets; `acts` are those that following it has found. Never raises.

    With `writes`, writing a file that may be a program counts as well.
    """
    try:
        match language:
            case Language.SHELL:
                return of_shell(code)
            case Language.PYTHON:
                from runner.risk.executing.executing_python import of_python

                fed = fed_calls(code)
                others = (one for one in acts if one.kind not in ("run", "command") or one.place not in fed)
                return _of_acts(others, writes) or of_python(code, writes, fed=bool(fed))
            case Language.JAVASCRIPT:
                return _of_acts(acts, writes) or of_javascript(code)
            case None:
                return "its language is not known"
            case _:
                from runner.risk.by_calls.walker import not_followed

                found = [*acts]
                return _of_acts(found, writes) or not_followed(found)
    except RecursionError:
        return "it is nested too deeply"


def _of_acts(acts: Iterable[Act], writes: bool) -> str:
    for act in acts:
        if act.kind in ACTS:
            return excerpt(act.name, 60) or act.kind
        if writes and act.kind in PUTS:
            path = act.get("path").text.rpartition(HOLE)[2] if act.get("path").texts else ""
            if LOADED.search(path.rpartition("/")[2]):
                return f"{excerpt(act.name, 60)} to a file that may be a program"
    return ""
