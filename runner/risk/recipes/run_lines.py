"""Commands of a file as lines of a script, each in the line where it stands in the file."""

from __future__ import annotations

MOST_COMMANDS = 500


class CommandLines:
    """Commands in the lines where they stand in a file."""

    def __init__(self, count: int) -> None:
        self._lines = [""] * count
        self._taken = 0

    def put(self, line: int, command: str) -> None:
        """Put a command of one or more lines at `line`, from 0."""
        self._taken += 1
        if self._taken > MOST_COMMANDS:
            return
        for at, part in enumerate(command.rstrip("\n").split("\n"), max(line, 0)):
            if at >= len(self._lines):
                self._lines.append("")
            self._lines[at] = f"{self._lines[at]}; {part}" if self._lines[at].strip() else part

    @property
    def code(self) -> str:
        return "\n".join(self._lines)

    @property
    def cut(self) -> bool:
        """Whether there were more commands than are read."""
        return self._taken > MOST_COMMANDS
