"""Commands that list, delete, copy, pack and change files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.temporary import TEMPORARY
from runner.risk.model.value import HOLE, UNKNOWN, Value, alternatives, concatenate, each, either, labels_of, text
from runner.risk.shell.command import is_narrowed

if TYPE_CHECKING:
    from runner.risk.shell.command import Command


def listing(command: Command) -> Value | None:
    """ls: names of what is there; a path with a pattern comes out as it went in."""
    options, operands = command.parsed()
    if not any(one[1:2] != "-" and "d" in one for one in options):  # that says something of the folder alone
        for path in operands:
            command.act("walk", path=path)
    shown = [path for path in operands if "*" in path.text]
    found = alternatives([path.text for path in shown] or (HOLE,), labels_of(operands) | {"listed", "found"})
    found.name = "ls"
    return found


def which(command: Command) -> Value | None:
    """`which python`: the command's own name will do for its path."""
    _, operands = command.parsed()
    return operands[0] if len(operands) == 1 and operands[0].exact else None


EVERYTHING = ("*", "./*", ".*", ".", "./")
"""Paths of all that is in the folder where a script is."""


def remove(command: Command) -> Value | None:
    options, operands = command.parsed()
    tree = (
        "yes"
        if options.keys() & {"-r", "-R", "--recursive"}
        or any("r" in o.lower() for o in options if not o.startswith("--"))
        else ""
    )
    if command.name in ("shred", "wipe"):
        tree = ""
    for path in operands:
        content = Value(path.texts, path.name, path.labels)
        placed = command.placed(content)
        if path.text in EVERYTHING and not command.shell.state.surely:
            placed = either((placed, content))
        command.act(
            "delete",
            path=placed,
            tree=text(tree) if tree else UNKNOWN,
            tool=text(command.name),
            narrowed=is_narrowed(path),
        )
    if not operands and command.stdin is not UNKNOWN:
        command.act("delete", path=command.stdin, tree=UNKNOWN, tool=text(command.name))
    return UNKNOWN


def truncate(command: Command) -> Value | None:
    options, operands = command.parsed()
    size = (options.get("-s") or options.get("--size") or UNKNOWN).text
    empties = text("yes") if size.lstrip("0") in ("", "K", "M", "G") else UNKNOWN
    for path in operands:
        command.act("write", path=command.placed(path), data=text(""), empties=empties)
    return UNKNOWN


UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
SIZE = expression(r"(\d{1,12})([KMGTP]?)(?:i?B)?", re.IGNORECASE)
FILLS = 20 << 30
"""Bytes of a file from which on it takes up a disk that others need."""


def bytes_of(size: str) -> int:
    """Return the bytes of `400G`; 0 for what is no size."""
    match = SIZE.fullmatch(size.strip())
    return int(match[1]) * UNITS[match[2].upper()] if match is not None else 0


def allocate(command: Command) -> Value | None:
    """fallocate -l SIZE FILE, mkfile SIZE FILE."""
    options, operands = command.parsed()
    size = (options.get("-l") or options.get("--length") or (operands[0] if operands else UNKNOWN)).text
    if bytes_of(size) >= FILLS:
        command.act("flood", what=text("the disk"))
    for path in operands[-1:]:
        command.act("write", path=command.placed(path))
    return UNKNOWN


def transfer(command: Command) -> Value | None:
    """cp, mv, ln, install: sources, then a target."""
    kind = {"mv": "move", "ln": "link"}.get(command.name, "copy")
    options, operands = command.parsed()
    target = options.get("-t") or options.get("--target-directory")
    if target is None:
        if kind == "link" and len(operands) == 1:
            target = each(operands[0], lambda known: known.rstrip("/").rpartition("/")[2])
            operands.append(target)
        if len(operands) < 2:
            return UNKNOWN
        target, operands = operands[-1], operands[:-1]
    for path in operands:
        empties = text("yes") if kind == "copy" and path.text == "/dev/null" else UNKNOWN
        fields = {"mode": options.get("-m", UNKNOWN), "empties": empties}
        command.act(kind, source=command.placed(path), path=command.placed(target), **fields)
    return UNKNOWN


def change_mode(command: Command) -> Value | None:
    arguments = [argument for argument in command.arguments if not re.fullmatch(r"-[RvcfH]+|--\w+", argument.text)]
    tree = any(re.fullmatch(r"-(?=[^\WR]*+R)\w++|--recursive", argument.text) for argument in command.arguments)
    if len(arguments) < 2:
        return UNKNOWN
    for path in arguments[1:]:
        command.act(
            "chmod",
            path=command.placed(path),
            mode=arguments[0],
            narrowed=is_narrowed(path),
            tree=text("yes") if tree else UNKNOWN,
        )
    return UNKNOWN


def change_owner(command: Command) -> Value | None:
    options, operands = command.parsed()
    tree = text("yes") if options.keys() & {"-R", "--recursive"} else UNKNOWN
    for path in operands[1:]:
        command.act("chown", path=command.placed(path), owner=operands[0], narrowed=is_narrowed(path), tree=tree)
    return UNKNOWN


def copy_blocks(command: Command) -> Value | None:
    """dd if=... of=..."""
    named = dict(argument.text.partition("=")[::2] for argument in command.arguments if "=" in argument.text)
    labels: frozenset[str] = frozenset()
    if "if" in named:
        labels = command.act("read", path=text(named["if"])).labels
    times = int(named["count"]) if named.get("count", "").isdigit() else 1
    if "of" in named and named.get("if", "").startswith("/dev/") and bytes_of(named.get("bs", "512")) * times >= FILLS:
        command.act("flood", what=text("the disk"))
    if "of" in named:
        command.act(
            "write",
            path=text(named["of"]),
            data=Value(labels=labels),
            tool=text("dd"),
            source=text(named.get("if", "")),
        )
        return UNKNOWN
    return Value(labels=labels | labels_of((command.stdin,)))


TAR_RUNS = ("--to-command", "-I", "--use-compress-program", "--checkpoint-action")
"""Options of tar whose value is a command."""


@dataclass(frozen=True, slots=True)
class Packing:
    """What an archiver is asked to do."""

    options: dict[str, Value]
    target: Value
    """The archive."""
    paths: list[Value]
    creates: bool


def archive(command: Command) -> Value | None:
    """tar, zip, 7z: what is packed, and where to."""
    packing = _tar(command) if command.name == "tar" else _packer(command)
    options, paths = packing.options, packing.paths
    if not packing.creates:
        folder = options.get("-C") or options.get("--directory") or options.get("-d")
        if folder is not None:
            command.act("extract", path=folder)
        return Value(labels=labels_of((command.stdin,)))
    labels = (
        frozenset[str]() if paths and all(_is_built(command.placed(path)) for path in paths) else frozenset({"archive"})
    )
    within = options.get("-C") or options.get("--directory") if command.name == "tar" else None
    if within is not None and within.texts:
        paths = [one if one.text.startswith(("/", "~")) else concatenate((within, one), "/") for one in paths]
    for path in paths:
        labels |= command.act("read", path=command.placed(path), tree=text("yes")).labels
    plain = {word.text for word in command.arguments}
    letters = {letter for option in options if option[1:2] != "-" for letter in option[1:]}
    removes = plain & {"--remove-files", "-sdel", "-df"} or (command.name == "zip" and "m" in letters)
    for path in paths if removes else ():
        command.act("delete", path=command.placed(path), tree=text("yes"), tool=text(command.name))
    if packing.target.text not in ("", "-"):
        command.act("write", path=packing.target, data=Value(labels=labels))
    return Value(labels=labels)


BUILT = expression(
    r"(?:\./)?(?:[A-Za-z0-9_][\w-]{0,60}/){0,3}(?:dist|build|public|site|_site|out|output|docs?|html|www|static|coverage"
    r"|reports?|artifacts?|release|target)/?"
)
"""Folders below the one where a script stands into which tools put what others are to have."""


def _is_built(path: Value) -> bool:
    return path.exact is not None and BUILT.fullmatch(path.exact) is not None


def unzip(command: Command) -> Value | None:
    """unzip: files over those of a folder, unless it only lists, tests or prints them."""
    options, operands = command.parsed()
    letters = {letter for option in options if option[1:2] != "-" for letter in option[1:]}
    if not letters & set("ltpZvz") and operands:
        command.act("extract", path=options.get("-d") or text("."))
    return Value(labels=labels_of((command.stdin,)))


def _tar(command: Command) -> Packing:
    options, operands = command.parsed()
    first = command.arguments[0].text if command.arguments else ""
    if first and not first.startswith("-") and operands and re.fullmatch(r"[a-zA-Z]+", first):
        # `tar cf archive files`: options without a dash.
        operands = operands[1:]
        if "f" in first and operands:
            options["-f"], operands = operands[0], operands[1:]
        options["-" + first] = UNKNOWN
    for name in TAR_RUNS:
        if name in options and options[name].texts:
            command.script(each(options[name], lambda known: known.removeprefix("exec=")))
    target = options.get("-f") or options.get("--file") or UNKNOWN
    creates = any("c" in option for option in options if not option.startswith("--")) or "--create" in options
    return Packing(options, target, operands, creates)


def _packer(command: Command) -> Packing:
    """zip, 7z, rar."""
    line = concatenate(command.arguments, " ").text
    options, operands = command.parsed()
    creates = not re.match(r"[xel] ", line) and command.name in ("zip", "7z", "7za", "rar")
    if command.name != "zip":
        operands = operands[1:]
    target = operands[0] if operands else UNKNOWN
    return Packing(options, target, operands[1:], creates)


def make(command: Command) -> Value | None:
    """mkdir, touch: folders and empty files."""
    _, operands = command.parsed()
    for path in operands:
        folder = text("yes") if command.name == "mkdir" else UNKNOWN
        command.act("make", path=command.placed(path), folder=folder)
    return None


def temporary(command: Command) -> Value | None:
    """mktemp: a name that is not known, but the same wherever it turns up."""
    line, column = command.place[:2]
    options, operands = command.parsed()
    folder = options.get("-p") or options.get("--tmpdir") or UNKNOWN
    folder = folder if folder.texts and folder.text else text("/tmp")
    template = operands[0] if operands else UNKNOWN
    if not template.texts or options.keys() & {"-t", "-p", "--tmpdir"}:
        return command.shell.trail.own.made(line, column, folder)
    named = each(template, lambda known: re.sub("X{3,}", HOLE, known)) if template.exact is not None else template
    return command.shell.trail.own.named(f"{TEMPORARY}{line}:{column}", named)


def mkfifo(command: Command) -> Value | None:
    _, operands = command.parsed()
    for path in operands[:1]:
        command.act("pipe", path=path)
    return UNKNOWN


def make_node(command: Command) -> Value | None:
    _, operands = command.parsed()
    if len(operands) > 1 and operands[1].text == "p":
        command.act("pipe", path=operands[0])
    return UNKNOWN
