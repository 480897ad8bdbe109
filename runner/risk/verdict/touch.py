"""Things that the code could touch, for the summary beside it (spec R3)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from runner.model.assessment import Touch
from runner.model.expression import expression
from runner.risk.model.bounds import excerpt
from runner.risk.model.value import HOLE, UNKNOWN, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.request import Request
    from runner.risk.model.acts import Trail
    from runner.risk.rules.targets import Targets

MOST = 50
"""Entries of each kind that are listed."""

LONGEST = 120
FILES = frozenset(
    {"read", "write", "append", "delete", "copy", "move", "link", "open", "chmod", "chown", "walk", "search", "archive"}
)
NETWORK = frozenset({"fetch", "send", "connect", "connect-shell", "listen", "listen-shell", "lookup"})
HOST = expression(
    r"^(?:\w+://)?(?:[^/@\s]*@)?([\w.\-]+\.[a-zA-Z]\w+|\d+\.\d+\.\d+\.\d+|localhost|\[[0-9a-fA-F:]+\])(?=[:/?\s]|$)"
)
DEVICE = expression(r"/dev/(?:tcp|udp)/([^/]+)/")
INSTALL = expression(r"\b(?:pip3?|npm|pnpm|yarn|gem|cargo|apt(?:-get)?|brew|conda)\s+(?:install|add|i)\s+(.+)")
SHELL_WORDS = frozenset(
    [
        "cd",
        "echo",
        "printf",
        "read",
        "set",
        "export",
        "local",
        "declare",
        "test",
        "[",
        "true",
        "false",
        ":",
        "exit",
        "return",
        "shift",
        "unset",
        "alias",
        "source",
        ".",
        "eval",
        "exec",
        "trap",
    ]
)
TOKEN = expression(r"(?i)token|secret|passw|api_?key|access_?key|credential|private_?key")


def touched(request: Request, trail: Trail, targets: Targets) -> Touch:
    """Files, hosts, programs, credentials and packages that appear in what the code does."""
    files: dict[str, None] = {}
    hosts: dict[str, None] = dict.fromkeys(request.domains)
    processes: dict[str, None] = {}
    credentials: dict[str, None] = {}
    packages: dict[str, None] = dict.fromkeys(request.packages)
    for act in trail.acts:
        if act.kind in FILES:
            for known in _known(act.get("path"), act.get("source")):
                files[excerpt(known, LONGEST)] = None
                if "secret" in targets.of(known):
                    credentials[excerpt(known, LONGEST)] = None
        elif act.kind in NETWORK:
            for known in _known(*_addresses(act.get("url")), act.get("host")):
                if (host := HOST.match(known) or DEVICE.match(known)) is not None:
                    hosts[excerpt(host[1], LONGEST)] = None
        elif act.kind == "command" and act.name and act.name not in SHELL_WORDS:
            processes[excerpt(act.name, LONGEST)] = None
            if (found := INSTALL.search(act.get("line").text)) is not None:
                packages.update(
                    dict.fromkeys(word for word in found[1].split() if not word.startswith("-") and HOLE not in word)
                )
        elif act.kind == "variable" and TOKEN.search(act.get("key").text):
            credentials[f"${act.get('key').text}"] = None
    return Touch(*map(_bounded, (files, hosts, processes, credentials, packages)))


def _addresses(url: Value) -> Iterable[Value]:
    """Yield an address, or the parts of one that is given as options: `{hostname: ...}`."""
    yield url
    for name in ("url", "hostname", "host") if url.fields else ():
        yield (url.fields or {}).get(name, UNKNOWN)


def _known(*values: Value) -> Iterable[str]:
    for value in values:
        for known in value.texts:
            shown = known.replace(HOLE, "…")
            if shown.strip("…./ ") and "\n" not in shown:
                yield shown


def _bounded(found: dict[str, None]) -> tuple[str, ...]:
    return tuple(islice(found, MOST))
