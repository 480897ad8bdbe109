"""Redirections: what a command reads, and where its output goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import Source
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, either, text
from runner.risk.shell.command import Redirect
from runner.risk.shell.syntax import place, source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from runner.risk.model.acts import Place
    from runner.risk.shell.command import ShellContext

LATEST = 40
"""Acts that are looked at for the reading of a file that is written in the same line."""
EMPTYING = (":", "true", "cat /dev/null", "echo -n", "printf ")
ADDRESSES = frozenset({Source.ASSEMBLED, "argument"})
"""Labels of an address that tell nobody anything: it is put together, or stands in an argument."""
PROBE = expression(
    r"\(\s*+(?:exec\s++\d{0,3}+[<>]{1,2}+|(?:(?:echo|:|true)\s++)?+[<>])\s*+[\"']?+/dev/(?:tcp|udp)/[^\s;|&()<>`]*+\s*+\)\Z"
)
"""A subshell that opens a connection and ends, as scripts do that wait for a server."""
LEAVES = expression(r"\b(?:exit|return|die|fail|abort)\b")
"""What a script does that cannot change to a folder."""
SILENT = frozenset((":", "true", "echo"))
"""Commands that say nothing to whoever is connected."""
SOCKET = expression(r"/dev/(tcp|udp)/")


def redirects_of(node: Node, value: Callable[[Node], Value]) -> list[Redirect]:
    """Return the redirections that one node stands for; `value` gives the value of a target."""
    operator = next((child.type for child in node.children if not child.is_named), "")
    broken = next((child for child in node.children if child.type == "ERROR"), None)
    if broken is not None:
        operator += source(broken)
    descriptor = next((source(child) for child in node.named_children if child.type == "file_descriptor"), "")
    targets = node.children_by_field_name("destination")[:1]
    return [Redirect(operator, descriptor, value(target), place(node)) for target in targets]


def behind(node: Node) -> list[Node]:
    """Return the words of the command that stand behind a redirection, which the grammar takes for a part of it."""
    return node.children_by_field_name("destination")[1:]


def read_redirects(shell: ShellContext, redirects: Sequence[Redirect], stdin: Value) -> Value:
    """Record what the redirections read; return the standard input that they leave."""
    for redirect in redirects:
        if redirect.operator.startswith("<&"):
            stdin = _opened(shell, redirect.target, stdin)
        elif redirect.operator.startswith("<"):
            content = (redirect.target.fields or {}).get("content")
            if content is not None:
                stdin = content
                continue
            _connects(shell, redirect)
            act = shell.trail.add("read", "<", {"path": redirect.target}, redirect.place)
            stdin = shell.nested.content(redirect.target).labelled(shell.nested.done(act))
    return stdin


def _opened(shell: ShellContext, descriptor: Value, stdin: Value) -> Value:
    """Return what `<&3` reads; where the number is not known, whatever is open."""
    opened = shell.state.descriptors
    if descriptor.exact is not None and descriptor.exact.isdigit():
        return opened.get(descriptor.exact, stdin)
    return either(opened.values()) if opened else stdin


def keep_open(shell: ShellContext, redirects: Sequence[Redirect], names: Sequence[Value]) -> None:
    """Remember what `exec 3< file` opens for the commands after it; `names` may hold a `0` or `{name}` before it."""
    for redirect in redirects:
        if redirect.operator.startswith("<") and redirect.operator != "<>":
            found = read_redirects(shell, [redirect], UNKNOWN)
            number = redirect.descriptor or (names[0].text.strip("{}") if names else "") or "0"
            shell.state.descriptors[number] = found if found is not UNKNOWN else Value((HOLE,))


def write_redirect(shell: ShellContext, redirect: Redirect, data: Value, command: Value) -> None:
    """Record that something printed goes into a file, a device or a connection."""
    operator = redirect.operator
    if operator.startswith("<") and operator != "<>":
        return
    if operator in (">&", "&>", "&>>") and redirect.target.text.isdigit():
        return
    if _connects(shell, redirect):
        if shell.probing and all(label in ADDRESSES or label.startswith("$") for label in redirect.target.labels):
            return
        address = each(redirect.target, lambda known: "tcp://" + ":".join(known.split("/")[3:5]))
        shell.trail.add("send", ">", {"url": address, "data": data, "command": command}, redirect.place)
        return
    kind = "append" if ">>" in operator else "write"
    fields = {"path": redirect.target, "data": data, "command": command}
    if kind == "write":
        fields.update(overwriting(shell, redirect.target, redirect.place))
        if data.exact == "" or command.text in EMPTYING or (command.unknown and data is UNKNOWN):
            fields["empties"] = text("yes")
    shell.nested.done(shell.trail.add(kind, operator, fields, redirect.place))


def overwriting(shell: ShellContext, path: Value, where: Place) -> dict[str, Value]:
    """Return the field that says that the commands of one line read the file that they write, and so empty it."""
    known = path.exact
    if known is None or known.startswith("/dev/"):
        return {}
    for act in shell.trail.acts[:-LATEST:-1]:
        if act.kind == "read" and act.place[0] == where[0] and act.get("path").exact == known:
            return {"itself": text("yes")}
    return {}


def _connects(shell: ShellContext, redirect: Redirect) -> bool:
    """Record the connection that a target such as `/dev/tcp/host/port` opens; return whether it does."""
    target = redirect.target.text
    if not SOCKET.match(target):
        return False
    fields = {"host": text(target.split("/")[3])}
    if not shell.probing:
        fields["shell"] = text("yes")
    shell.trail.add("connect", target, fields, redirect.place)
    return True


def shown(redirects: Sequence[Redirect]) -> Value:
    """Return the redirections as one text."""
    written = [text(f"{r.descriptor}{r.operator}{r.target.text}") for r in redirects]
    return concatenate(written, " ") if written else UNKNOWN
