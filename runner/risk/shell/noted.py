"""Remarks on a script for its reader: secrets it prints, what depends on a place or time, endless loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import Source
from runner.risk.model.outline_data import words
from runner.risk.model.value import text
from runner.risk.shell.commands.git_files import CONTENT
from runner.risk.shell.syntax import place, source
from runner.risk.trace.conditions import telling
from runner.risk.trace.shown import SECRETIVE, note_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from runner.risk.model.value import Value
    from runner.risk.shell.command import Redirect, ShellContext

MANY = 1_000
"""Turns of a loop from which on processes in the background pile up."""
MANY_TURNS = expression(r"\{\d++\.\.\d{4,}\}|[$`]\(?\s*+seq (?:-?\d++ ){0,2}\d{4,}")
COMPARES = expression(r"(?<![\w-])(?:==?|!=|-(?:eq|ne|gt|ge|lt|le))(?![\w-])|=~|[<>]")
ASKS = expression(r"\bhostname\b|\bwhoami\b|\blogname\b|\$\{?(?:HOSTNAME|USER|LOGNAME)\b")
ASKS_CLOCK = expression(r"\bdate\b")
PASSED_TIME = expression(r"(?m:^)(?>[^\n]*?\bdate\b)[^\n]*?(?:-[rd]\b|--reference|--date)|\bstat\b|[-+]\s*+\$")
VARIABLE_NAME = expression(r"\$\{?(\w+)")
PRINTERS = words(
    "echo printf print cat head tail tac less more bat nl env printenv grep egrep sort uniq jq yq cut base64 sed awk "
    "tr column xxd od strings git kubectl oc gh aws az gcloud vault op pass doctl heroku fly"
)
"""Commands whose output is what they were given or have asked for."""
COUNTS = expression(r"-[a-zA-Z]*[cqlL][a-zA-Z]*|--(?:count|quiet|silent|files-with\S*)")
OUTSIDE = ("command_substitution", "process_substitution")
WAITING = expression(r"\b(?:sleep|wait|read|break|exit|return|flock|sem)\b")


def note_output(
    shell: ShellContext, node: Node, given: Sequence[Value], output: Value, redirects: Sequence[Redirect]
) -> None:
    """Note secrets in the output of a command that nothing takes up."""
    name = given[0].text.rpartition("/")[2]
    if name == "git" and CONTENT not in output.labels:
        return
    if name not in PRINTERS or not _is_shown(node) or any(_takes_output(one) for one in redirects):
        return
    if name in ("grep", "egrep"):
        options = [word.text for word in given[1:] if word.text.startswith("-")]
        wanted = next((word.text for word in given[1:] if not word.text.startswith("-")), "")
        if any(map(COUNTS.fullmatch, options)) or (wanted and not SECRETIVE.search(wanted)):
            return
    note_shown(shell.trail, name, output.labels, place(node))


def _takes_output(redirect: Redirect) -> bool:
    return redirect.operator.startswith((">", "&>")) and redirect.descriptor in ("", "1")


def _is_shown(node: Node) -> bool:
    """Return whether what a command prints comes to the end of the script's own output."""
    inner: Node = node
    while (outer := inner.parent) is not None:
        if outer.type in OUTSIDE or (outer.type == "pipeline" and outer.named_children[-1] != inner):
            return False
        inner = outer
    return True


def depends_on(shell: ShellContext, condition: Node) -> frozenset[str]:
    """Return what decides a test, of the machine, its user, the clock and signs of being watched."""
    written = source(condition)
    if not COMPARES.search(written):
        return frozenset()
    on: set[str] = set()
    for name in VARIABLE_NAME.findall(written):
        if (value := shell.state.variables.get(name)) is not None:
            on |= telling(value.labels)
    if ASKS.search(written):
        on.add(Source.WHO)
    if ASKS_CLOCK.search(written):
        on.add(Source.CLOCK)
    return frozenset(on - {Source.CLOCK} if PASSED_TIME.search(written) else on)


def note_flood(shell: ShellContext, body: Node) -> None:
    """Note a loop that starts processes in the background and waits for none."""
    written = source(body)
    job = next((child for child in body.children if child.type == "&"), None)
    if job is not None and not WAITING.search(written):
        shell.trail.add("flood", "while", {"what": text("processes")}, place(job))
