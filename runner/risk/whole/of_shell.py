"""Parts of a shell script that are not understood: unknown programs, and those that run what they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.executing.running import ANYTHING, FIXED_WORDS
from runner.risk.model.outline_data import words
from runner.risk.verdict.naming import one_word, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.risk.model.acts import Trail

KNOWN = (ANYTHING | FIXED_WORDS.keys()) | words(
    "test [ find xargs sh bash dash python python2 python3 node nodejs sed gsed awk gawk mawk perl time timeout nice "
    "nohup stdbuf env command builtin exec cd pushd popd seq expr bc shift trap alias tar gzip gunzip zcat zip "
    "unzip ln chmod mktemp tree which type hostname whoami id uname arch nproc free uptime ps sudo install truncate "
    "rmdir unlink split look cal yes less more strings comm curl wget print printenv getopts let"
)
"""Commands of which it is known what they do."""
ODD = expression(
    r"\beval\b|\$\{!|@P\}|\bdeclare\s+-\w*n|\blocal\s+-\w*n|\btypeset\s+-\w*n|\bhash\s+-p|\benable\b|\bcompgen\b|\bfc\b|"
    r"\bshopt\b|\bcoproc\b|\bselect\b|\balias\b|\bgetopts\b"
)
"""What gives things other names, or runs texts."""


def of_commands(trail: Trail) -> Iterator[str]:
    """Yield what is not understood of the commands of a program in any language."""
    for act in trail.acts:
        if act.kind == "command":
            if act.get("defined").texts:
                yield f"Calls {one_word(act.name, 40)}, a function and a program; which of them runs is not known."
            if act.get("runs").texts:
                yield f"Runs {one_word(act.name, 40)}, which can run what it reads."
            elif not {act.name, act.name.rstrip("0123456789.")} & KNOWN:
                yield f"Runs {one_word(act.name, 40) if act.name else 'a program without a name'}, which is not known."
        if act.kind in ("run", "execute"):
            yield from of_shell("\n".join(act.get("command" if act.kind == "run" else "code").texts))


def of_shell(code: str) -> Iterator[str]:
    """Yield what gives things other names in a script."""
    if (odd := ODD.search(code)) is not None:
        yield f"Uses {shown(odd[0].strip(), 30)}, by which a name may stand for something else."
