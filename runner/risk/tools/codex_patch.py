"""Files of a patch in Codex's own format, read by the grammar of its program.

Codex 0.169 reads line by line. Where a file begins or is deleted it takes blanks of any kind off both ends of a line
before it looks for a head; within the hunks of a changed file only off the end, so that ` *** Add File: x` is a head
behind an added file and a line of context in a hunk. What has no place in the grammar makes the patch unread: another
version of Codex may see a head there.
"""

from __future__ import annotations

from typing import NamedTuple

from runner.model.expression import expression

ADDS, DELETES, UPDATES, MOVES = "Add File", "Delete File", "Update File", "Move to"
SHELLS_OF_CODEX = frozenset({"shell", "exec_command"})
OF_CODEX = SHELLS_OF_CODEX | {"apply_patch"}
"""Tools by which Codex changes files: with a patch, or with a command line that hands over one."""
BEGIN, END, END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
HEADS = {f"*** {action}: ": action for action in (ADDS, DELETES, UPDATES)}
MOVE = f"*** {MOVES}: "
BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Codex takes off a line: characters with the property White_Space, which are not those of `str.strip`."""
DOCUMENTS = ("<<EOF", "<<'EOF'", '<<"EOF"')
"""First lines of a patch that came with the here-document around it, which Codex takes off."""


class Patched(NamedTuple):
    """One file of a patch: `text` are the lines that come."""

    action: str
    path: str
    text: str


class Patch(NamedTuple):
    """What a patch changes. `unread` is the line that has no place in it, or what it lacks; '' for neither."""

    files: tuple[Patched, ...]
    unread: str = ""


def read_patch(text: str) -> Patch:
    """Return the files of a patch; where it cannot be read as a whole, those that any of its lines may name."""
    lines = _inside(text)
    if lines is None:
        return Patch(_named(text), f"no {BEGIN!r} or no {END!r}")
    reader = _Reader()
    for line in lines:
        if not reader.take(line):
            return Patch(_named(text), line.strip() or "an empty line")
    if not reader.is_complete:
        return Patch(_named(text), "a change without lines")
    return Patch(tuple(one.whole() for file in reader.files for one in file.both()))


class _File:
    """One file while it is read."""

    def __init__(self, action: str, path: str) -> None:
        self.action = action
        self.path = path
        self.moved = ""
        self.added: list[str] = []
        self.hunks = 0
        self.lines = 0
        """Of the last hunk."""
        self.ended = False
        """Whether the last hunk was said to be at the end of the file."""

    def both(self) -> tuple[_File, ...]:
        """Return the file, and behind it the one that it is moved to, which gets the lines."""
        if not self.moved:
            return (self,)
        target = _File(MOVES, self.moved)
        target.added, self.added = self.added, []
        return self, target

    def whole(self) -> Patched:
        return Patched(self.action, self.path, "\n".join(self.added))


class _Reader:
    """The state between two lines of a patch."""

    def __init__(self) -> None:
        self.files: list[_File] = []

    @property
    def is_complete(self) -> bool:
        """Whether the patch may end here, or another file begin: one that changes has a line in its last hunk."""
        return bool(self.files) and (self.files[-1].action != UPDATES or self.files[-1].lines > 0)

    def take(self, line: str) -> bool:
        """Take one line in; return whether it has a place."""
        file = self.files[-1] if self.files else None
        within = file is not None and file.action == UPDATES
        trimmed = line.rstrip(BLANKS) if within else line.strip(BLANKS)
        for head, action in HEADS.items():
            if trimmed.startswith(head):
                may_begin = file is None or self.is_complete
                self.files.append(_File(action, trimmed.removeprefix(head)))
                return may_begin
        if file is None or file.action == DELETES:
            return False
        if file.action == ADDS:
            file.added.append(line[1:].rstrip("\r"))
            return line.startswith("+")
        return _updated(file, line, trimmed)


def _updated(file: _File, line: str, trimmed: str) -> bool:
    """Take a line of a changed file in; return whether it has a place."""
    if trimmed == "@@" or trimmed.startswith("@@ "):
        empty = file.hunks > 0 and file.lines == 0
        file.hunks, file.lines, file.ended = file.hunks + 1, 0, False
        return not empty
    if file.ended:
        return not trimmed
    if not file.hunks and not file.moved and trimmed.startswith(MOVE):
        file.moved = trimmed.removeprefix(MOVE)
        return True
    if trimmed == END_OF_FILE:
        file.ended = file.lines > 0
        return file.ended
    if line.rstrip("\r") and line[0] not in " +-":
        return False
    if _may_be_head(line):
        return False
    file.hunks, file.lines = max(file.hunks, 1), file.lines + 1
    if line.startswith("+"):
        file.added.append(line[1:].rstrip("\r"))
    return True


def _inside(text: str) -> list[str] | None:
    """Return the lines between begin and end; None where they are not as Codex wants them."""
    lines = text.strip(BLANKS).split("\n")
    if len(lines) >= 4 and lines[0].rstrip("\r") in DOCUMENTS and lines[-1].endswith("EOF"):
        lines = lines[1:-1]
    if len(lines) < 2 or lines[0].strip(BLANKS) != BEGIN or lines[-1].strip(BLANKS) != END:
        return None
    return lines[1:-1]


def _may_be_head(line: str) -> bool:
    """Return whether a line could be taken for a head by a reader that takes more off than Codex does."""
    return _bare(line).startswith("***")


def _bare(line: str) -> str:
    at = next((at for at, letter in enumerate(line) if letter.isprintable() and not letter.isspace()), len(line))
    return line[at:].rstrip()


def _named(text: str) -> tuple[Patched, ...]:
    """Return the files that lines of the text may name, wherever they stand."""
    found = []
    for line in map(_bare, text.split("\n")):
        for head, action in (*HEADS.items(), (MOVE, MOVES)):
            if line.startswith(head) and (path := line.removeprefix(head)):
                found.append(Patched(action, path, ""))
    return tuple(dict.fromkeys(found))


class ShellPatch(NamedTuple):
    """A patch that a shell command hands to Codex, and the folder that the command changes to first."""

    patch: str
    folder: str = ""


PATCH_COMMAND = expression(
    r"\s*(?:cd[ \t]+(?:'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n$`\\!]+)\"|(?P<bare>[\w@%+=:,./][\w@%+=:,./-]*))"
    r"[ \t]*&&\s*)?(?:apply_patch|applypatch)[ \t]*"
)
DOCUMENT = expression(r"<<[ \t]*(?:'(?P<single>\w+)'|\"(?P<double>\w+)\"|(?P<bare>\w+))[ \t]*\n")
ARGUMENT = expression(r"(?:'(?P<single>[^']*)'|\"(?P<double>[^\"$`\\!]*)\")\s*\Z")
RUN = expression(
    r"(?:^|[;&|({`\n!]|\b(?:then|do|else|exec|env|command|sudo|time|xargs|builtin)\s)\s{0,40}[\w./=-]{0,200}apply_?patch\b"
)
"""`apply_patch` where a command stands."""


def patch_in(command: str) -> ShellPatch | None:
    """Return the patch of a command that is nothing else than `apply_patch`; None for every other command.

    Codex takes such a command for its tool and runs no shell.
    """
    opening = PATCH_COMMAND.match(command)
    if opening is None:
        return None
    folder = next(filter(None, opening.groupdict().values()), "")
    rest = command[opening.end() :]
    if (argument := ARGUMENT.match(rest)) is not None:
        return ShellPatch(argument["single"] or argument["double"] or "", folder)
    if (document := DOCUMENT.match(rest)) is None:
        return None
    end = document["single"] or document["double"] or document["bare"]
    lines = rest[document.end() :].split("\n")
    if end not in lines or "".join(lines[lines.index(end) + 1 :]).strip():
        return None
    body = "\n".join(lines[: lines.index(end)])
    # A shell would put values into it, and Codex does not.
    return None if document["bare"] and set("$`\\") & set(body) else ShellPatch(body, folder)


def is_run_otherwise(command: str) -> bool:
    """Return whether a shell command seems to start `apply_patch` in a way that `patch_in` does not read."""
    return RUN.search(command) is not None and patch_in(command) is None
