"""What the files of this folder hold: mends to take out, the tests that then fail, and why a finding has none.

[[break]]
finding = "F3"
says = "Wrong settings went unnoticed in the library."
file = "runner/library/direct.py"
old = "text that stands once in the file"
new = "what it becomes without the mend"
tests = ["tests/library/test_direct.py::test_name"]

[[reason]]
finding = "F8"
why = "..."
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Break:
    """A mend that is taken out of one file."""

    finding: str
    says: str
    """What was possible without it."""
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def __post_init__(self) -> None:
        if not (self.finding and self.says and self.old and self.tests) or self.old == self.new:
            raise ValueError(f"finding {self.finding}: a break says what was possible, changes a text and names tests")

    def without_mend(self, text: str) -> str:
        """The file's `text` without the mend."""
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"finding {self.finding}: the text to break stands {times} times in {self.file}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Reason:
    """Why a finding has no break."""

    finding: str
    why: str


def read(paths: Iterable[Path] = ()) -> tuple[list[Break], list[Reason]]:
    """All breaks and reasons of `paths`; of this folder where none is given."""
    breaks, reasons = list[Break](), list[Reason]()
    for path in sorted(paths or FOLDER.glob("*.toml")):
        held = tomllib.loads(path.read_text("utf-8"))
        if unknown := held.keys() - {"break", "reason"}:
            raise ValueError(f"{path.name}: {', '.join(sorted(unknown))}")
        breaks += [Break(**{**entry, "tests": tuple(entry["tests"])}) for entry in held.get("break", [])]
        reasons += [Reason(**entry) for entry in held.get("reason", [])]
    return breaks, reasons
