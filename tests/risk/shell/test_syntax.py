"""Scripts of which the grammar alone would take two commands for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.risk.shell.syntax import parse, place, source

if TYPE_CHECKING:
    from tree_sitter import Node


def commands(code: str) -> list[str]:
    """Return the commands of a script as they are written."""
    found: list[str] = []
    todo: list[Node] = [parse(code)]
    while todo:
        node = todo.pop(0)
        if node.type == "command":
            found.append(source(node).strip())
        todo += node.named_children
    return sorted(found)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ls x\n\\rm y\n", ["ls x", "rm y"]),
        ("ls x\n\n\\rm y\n\\\\z\n", ["ls x", "rm y", "\\\\z"]),
        ("ls x\n  \\rm y\n", ["ls x", "\\rm y"]),
        ("`ls a` `ls b`", ["`ls a`\\ `ls b`", "ls a", "ls b"]),
        ("`ls a` `ls b` `ls c`", ["`ls a`\\ `ls b`\\ `ls c`", "ls a", "ls b", "ls c"]),
        ("l` `s x", ["l` `s x"]),
    ],
)
def test_each_command_is_read_by_itself(code: str, expected: list[str]) -> None:
    assert commands(code) == sorted(expected)


def test_texts_keep_their_backslashes() -> None:
    code = "cat <<E\na\n\\b\nE\necho 'a\n\\b'\nls x\n\\rm y\n"
    root = parse(code)
    assert "a\n\\b" in source(root.named_children[0])
    assert source(root.named_children[1]) == "echo 'a\n\\b'"
    assert place(root.named_children[-1])[0] == 8


def test_a_script_of_such_lines_alone_is_read_in_one_turn() -> None:
    assert len(parse("ls\n" + "\\rm y\n" * 5_000).named_children) == 5_001
