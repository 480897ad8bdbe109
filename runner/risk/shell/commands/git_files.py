"""Files that git reads by their path, wherever they are, and not as a part of a repository."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.risk.model.value import NO_LABELS, UNKNOWN, Value, concatenate, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.risk.shell.command import Command

VALUED = {
    "blame": "-L -S -M -C --contents --ignore-rev --ignore-revs-file --date",
    "commit": "-m -C -c -F -t --author --date --message --file --template --fixup --squash --cleanup",
    "config": "-f --file --blob --type --default",
    "diff": "-U -S -G -O -l --output --unified --diff-filter --inter-hunk-context",
    "grep": "-A -B -C -e -f -m -O --max-depth --threads --max-count",
    "hash-object": "-t --path",
}
"""Options of commands that take a value."""
NAMED = {
    "annotate": "--contents --ignore-revs-file -S",
    "archive": "--add-file",
    "blame": "--contents --ignore-revs-file -S",
    "commit": "-F --file -t --template",
    "config": "-f --file",
    "grep": "-f",
    "merge": "-F --file",
    "notes": "-F --file",
    "tag": "-F --file",
}
"""Options of commands whose value is a file that is read."""
SILENT = ("hash-object", "commit", "tag", "merge", "notes", "archive")
"""Commands that do not print what they read."""
FROM_ROOT = ("/", "~")
CONTENT = "content-by-path"
"""The label of what a command prints of such a file; without it, git prints nothing that it was given."""


def read_by_path(command: Command) -> Value:
    """Record the files that a git command reads by their path; return what it prints of them."""
    options, rest = command.parsed(stop=True)
    verb = rest[0].text if rest else ""
    if verb not in READERS and verb not in NAMED:
        return UNKNOWN
    inner = replace(command, words=rest, name=command.name if verb in READERS else f"{command.name} {verb}")
    labels = NO_LABELS
    for path in _read(inner, verb):
        placed = _below(options.get("-C", UNKNOWN), path)
        if verb == "config" and _changes(inner):
            inner.act("write", path=command.placed(placed), edit=text("yes"))
        else:
            labels |= inner.read(placed).labels
    return UNKNOWN if verb in SILENT or not labels else Value(labels=labels | {CONTENT})


def _below(folder: Value, path: Value) -> Value:
    """Return a path of a command that was sent to another folder with -C."""
    if not folder.texts or path.text.startswith(FROM_ROOT):
        return path
    return concatenate((text(folder.text.rstrip("/") + "/"), path)).labelled(path.labels)


def _read(command: Command, verb: str) -> Iterator[Value]:
    valued = VALUED.get(verb, "-m -F --message --file --add-file --contents --ignore-revs-file -S -L")
    options, operands = command.parsed(valued)
    yield from (options[name] for name in NAMED.get(verb, "").split() if name in options and options[name].texts)
    outside = "--no-index" in options
    match verb:
        case "diff" if outside or (len(operands) == 2 and any(one.text.startswith(FROM_ROOT) for one in operands)):
            # Two paths of which one is in no repository are compared as with the option.
            yield from (one for one in operands[:2] if one.text != "/dev/null")
        case "grep" if outside:
            yield from operands[0 if options.keys() & {"-e", "-f"} else 1 :] or [text(".")]
        case "hash-object":
            yield from operands


def _changes(command: Command) -> bool:
    """Return whether `git config -f FILE ...` changes the file: it gets a value, or what it takes away."""
    options, operands = command.parsed(VALUED["config"])
    if options.keys() & CHANGING or (operands[:1] and operands[0].text in CHANGING_WORDS):
        return True
    return len(operands) > 1 and not any(name.startswith("--get") for name in options) and operands[0].text != "get"


CHANGING = frozenset(("--add", "--replace-all", "--unset", "--unset-all", "--remove-section", "--rename-section"))
CHANGING_WORDS = ("set", "unset", "remove-section", "rename-section")
READERS = frozenset(("diff", "grep", "hash-object"))
"""Commands whose operands are paths of files, some of them with an option."""
