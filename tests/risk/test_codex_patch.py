"""Patches are read as Codex reads them; what differs is said to be unread."""

from __future__ import annotations

import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from runner.risk.tools.codex_patch import ADDS, DELETES, MOVES, UPDATES, Patched, read_patch
from tests.components import AGENTS, require

if TYPE_CHECKING:
    from pathlib import Path

BEGIN, END = "*** Begin Patch\n", "\n*** End Patch"


def inside(text: str) -> str:
    return BEGIN + text + END


def test_each_kind_of_change_is_read() -> None:
    text = inside(
        "*** Add File: a b\n+one\n++two\n*** Delete File: c\n"
        "*** Update File: d\n*** Move to: e\n@@ def f():\n x\n-y\n+z\n\n*** End of File\n*** Update File: g\n-h\n+i"
    )
    assert read_patch(text).unread == ""
    assert read_patch(text).files == (
        Patched(ADDS, "a b", "one\n+two"),
        Patched(DELETES, "c", ""),
        Patched(UPDATES, "d", ""),
        Patched(MOVES, "e", "z"),
        Patched(UPDATES, "g", "i"),
    )
    assert read_patch(f"<<'EOF'\n{text}\nEOF").files == read_patch(text).files
    assert read_patch(text.replace("\n", "\r\n")).files == read_patch(text).files


@pytest.mark.parametrize("lead", [" ", "\t", "   ", "\xa0", "\x85", "\u3000"])
def test_a_head_behind_blanks_is_a_head(lead: str) -> None:
    text = inside(f"*** Add File: docs/notes.md\n+a\n{lead}*** Add File: .git/hooks/x\n+b\n{lead}*** Delete File: m.py")
    read = read_patch(text)
    assert [one.path for one in read.files] == ["docs/notes.md", ".git/hooks/x", "m.py"] and not read.unread


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*** Add File: a\n+b",
        BEGIN + "*** Add File: a\n+b",
        inside(""),
        inside("*** Add File: a\n+b\n\n*** Add File: c"),
        inside("*** Add File: a\n b"),
        inside("*** Add File: a\n+b\n*** End Patch\n*** Add File: c"),
        inside("*** Add File: a\n+b") + "\nmore",
        inside("*** Environment ID: x\n*** Add File: a"),
        inside("*** Update File: a"),
        inside("*** Update File: a\n@@"),
        inside("*** Update File: a\n-b\n+c\n *** Add File: d\n+e"),
        inside("*** Update File: a\n-b\n+c\n \u200b*** Add File: d\n+e"),
        inside("*** Update File: a\n-b\n+c\n\t*** Add File: d"),
        inside("*** Update File: a\n-b\n+c\n*** Move to: d"),
        inside("*** Update File: a\n-b\n+c\n*** End of File\n+d"),
        inside("\x1c*** Add File: a\n+b"),
        inside("*** add file: a\n+b"),
    ],
)
def test_what_has_no_place_is_unread(text: str) -> None:
    assert read_patch(text).unread


def test_what_is_unread_names_all_that_may_be_meant() -> None:
    text = inside("*** Update File: a\n-b\n+c\n \u200b*** Add File: .github/d\n+e\nodd\n\x1c*** Move to: f")
    assert [one.path for one in read_patch(text).files] == ["a", ".github/d", "f"]


def codex() -> str:
    require("agents")
    found = sorted(AGENTS.parent.glob("@openai/codex-linux-*/vendor/*/bin/codex"))
    if not found:
        pytest.skip("Codex's own binary not found")
    return str(found[0])


LEADS = [" ", "\t", "  ", "\xa0", "\x85", "\x1c", "\u200b", "\r", "+", "\u3000"]
TRAILS = [" ", "\t", "\r", "\r\r", "\xa0", "\x1f", "\u200b", "\u2003", "\u2028", "\v"]
ODD = [
    "",
    "***",
    "*** End Patch",
    "*** Begin Patch",
    "*** Environment ID: e",
    "odd",
    "*** Move to: n9",
    "*** Add File: n8",
]


def some_file(choose: random.Random) -> list[str]:
    """Lines about one file, as a model writes them."""
    name = f"n{choose.randrange(8)}"
    match choose.randrange(3):
        case 0:
            return [f"*** Add File: {choose.choice(['', './', 'old/'])}{name}", "+one", "++two"]
        case 1:
            return [f"*** Delete File: old/{choose.choice('abcde')}"]
        case _:
            moves = choose.choice([[], [f"*** Move to: {name}"]])
            ends = choose.choice([[], ["*** End of File"]])
            hunk = choose.choice([["@@"], ["@@ one"], []])
            return [f"*** Update File: old/{choose.choice('abcde')}", *moves, *hunk, "-two", "+x", *ends]


def some_patch(choose: random.Random) -> str:
    """A patch in which a line in six or so is odd."""
    lines = [line for _ in range(choose.randrange(1, 4)) for line in some_file(choose)]
    lines = ["*** Begin Patch", *lines, "*** End Patch"]
    for at in range(len(lines)):
        if choose.random() < 0.1:
            lines[at] = choose.choice(LEADS) + lines[at]
        if choose.random() < 0.1:
            lines[at] += choose.choice(TRAILS)
    if choose.random() < 0.2:
        lines.insert(choose.randrange(len(lines) + 1), choose.choice(LEADS + [""]) + choose.choice(ODD))
    if choose.random() < 0.1:
        lines.insert(choose.randrange(len(lines)), lines.pop(choose.randrange(len(lines))))
    return choose.choice(["\n", "\n", "\n", "\r\n"]).join(lines) + choose.choice(["", "\n", " \n\n"])


def tree(folder: Path) -> dict[str, str]:
    return {str(at.relative_to(folder)): at.read_text("utf-8") for at in folder.rglob("*") if at.is_file()}


def test_codex_itself_changes_no_file_that_is_not_named(tmp_path: Path) -> None:
    """Random blanks, ends and orders: whatever Codex changes is among the files, and what it takes is mostly read."""
    program, choose = codex(), random.Random(7)
    taken = unread = 0
    for number in range(1000):
        text = some_patch(choose)
        work = tmp_path / str(number)
        (work / "old").mkdir(parents=True)
        for name in "abcde":
            (work / "old" / name).write_text("one\ntwo\n")
        before = tree(work)
        command = [program, "--codex-run-as-apply-patch", text]
        ran = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        after, read = tree(work), read_patch(text)
        changed = {name for name in before | after if before.get(name) != after.get(name)}
        assert changed <= {one.path.removeprefix("./") for one in read.files}, text
        # Otherwise what is left to fail is what only the disk knows.
        assert ran.returncode == 0 or read.unread or "Invalid patch" not in ran.stderr, (text, ran.stderr)
        if ran.returncode == 0:
            taken += 1
            unread += bool(read.unread)
    assert taken > 300
    assert unread < taken / 10
