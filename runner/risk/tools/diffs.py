"""Files that a shell command changes by a diff which stands in it: `git apply`, `git am` and `patch`.

What these programs take for the name of a file depends on options, and on what is on the disk. So every name that may
be meant is returned: as it stands, without its first folder, and below each folder that the command names.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.tools.codex_patch import DELETES, UPDATES, Patch, Patched

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLIES = expression(
    r"\bgit\b[^\n;|&]{0,200}?\s(?:apply|am)\b"
    r"|(?:^|[;&|({`\n!]|\b(?:then|do|else|exec|env|command|sudo|time|xargs|busybox|nice|nohup)\s)\s{0,40}[\w./-]{0,200}\bg?patch(?=[\s<;]|$)"
)
MAY_APPLY = expression(r"\b(?:g?patch|apply|am)\b")
OPERANDS = expression(r"(?:^|[\s;&|({`/])g?patch\s([^\n;|&<>]*)")
BELOW = expression(r"(?:\b(?:cd|pushd)\s+|--(?:directory|output|work-tree)[= ]|\s-[dCo]\s*)[\"']?([^\s\"';&|<>]+)")
STRIPPED = expression(r"\s(?:-p\s*|--strip[= ])(\d{1,2})")
HEAD = expression(r"(?:---|\+\+\+|\*\*\*|Index:|rename (?:to|from)|copy to|diff --git) +(\S.*)")
NOT_SEEN = "It applies a patch that does not stand in the command, so the files that change are not known."
TOO_MANY = "It applies a patch of which too many files may be meant to name them."
MOST_FILES = 200


def changed_by(command: str) -> Patch | None:
    """Return the files that may be changed by diffs in the command; None where it applies none."""
    # Behind a wrapper that is not known here, what looks like a diff is taken for one.
    may_apply = MAY_APPLY.search(command) is not None and any(True for _ in _files(command))
    if not may_apply and APPLIES.search(command) is None:
        return None
    folders = list(dict.fromkeys(found[1] for found in BELOW.finditer(command)))
    strips = {0, 1, *(int(found[1]) for found in STRIPPED.finditer(command))}
    operands = [word for found in OPERANDS.finditer(command) for word in found[1].split() if word[0] not in "-'\""]
    texts: dict[str, list[str]] = {}
    deletes, seen = set(), False
    for path, text, deleted in _files(command):
        seen = True
        for name in _meant(path, strips, folders):
            texts.setdefault(name, []).append(text)
            deletes.update([name] if deleted else [])
        if len(texts) > MOST_FILES:
            break
    for word in (*operands, *folders)[:MOST_FILES]:
        texts.setdefault(word, [])
    if len(texts) > MOST_FILES:
        return Patch((), TOO_MANY)
    files = (Patched(DELETES if name in deletes else UPDATES, name, "\n".join(texts[name])) for name in texts)
    return Patch(tuple(files), "" if seen else NOT_SEEN)


def _meant(path: str, strips: set[int], folders: list[str]) -> Iterator[str]:
    """Yield the names that a path in a diff may stand for."""
    parts = path.split("/")
    for count in sorted(strips):
        if count < len(parts):
            name = "/".join(parts[count:])
            if name.strip("/"):
                yield name
                yield from (posixpath.join(folder, name) for folder in folders)


def _files(command: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each name in the heads of diffs, the lines that come behind it, and whether the file is deleted."""
    names: list[str] = []
    added: list[str] = []
    deleted = False
    in_head = False
    for line in (*command.split("\n"), "diff --git"):
        head = HEAD.match(line)
        if head is None and line != "diff --git":
            in_head = False
            if line.startswith("+"):
                added.append(line[1:])
            continue
        if not in_head:
            yield from ((name, "\n".join(added), deleted) for name in dict.fromkeys(names))
            names, added, deleted = [], [], False
        in_head = True
        for name in () if head is None else _names(line, head[1]):
            deleted = deleted or (name == "/dev/null" and line.startswith("+++"))
            names += [name] if name != "/dev/null" else []


def _names(line: str, rest: str) -> tuple[str, ...]:
    """Return the names in the head of a diff."""
    if line.startswith("diff --git") and " b/" in rest:
        one, _, other = rest.partition(" b/")
        return one.strip('" '), f"b/{other}".strip('" ')
    return (rest.partition("\t")[0].strip('" \r'),)
