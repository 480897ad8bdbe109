"""From the text of a shell script to its syntax tree, and from a node to its text and place."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from tree_sitter import Node, Parser, Query, QueryCursor

from runner.model.expression import expression
from runner.risk.executing.executing_shell import BASH, root_of
from runner.risk.model.acts import TooMuch
from runner.risk.model.held import until_forgotten
from runner.risk.model.outline_data import words

if TYPE_CHECKING:
    import re

    from runner.risk.model.acts import Place

TEST = expression(rb"(?<![^\s;&|(!])\[(?= )([^\[\]\n]*[^\s\[\]] )\](?=\s*(?:&&|\|\||;|\n|$))")
"""A test in single brackets."""
GOES_ON = expression(rb"(?m)^[^\n]*?\S\\\n(?=\S)(?:[^\n]*\S\\\n(?=\S))*[^\n]*\n?")
"""Lines that are broken in the middle of a word."""
EMPTY = expression(rb"`#[^`\n]*`")
"""A comment that is run for its output, which is nothing."""
CLOSED_AND_OPENED = expression(rb"`[ \t]*`")
LINE_ENDS = expression(rb"[ \t]*+(?:#[^\n]*+)?+\n")
"""The end of a line that is not broken."""
MOST_PASSES = 8
"""Over a script of which the grammar takes two commands for one: the first may reveal others."""
TWO_NAMES = expression(rb"\$\w++[^\s\w\"'`$(){};&|<>]++\$\w")
"""Two variables in one word, as `$a/$b.txt`: the grammar ends the word at the second `$`."""
NAME = expression(rb"[A-Za-z_]\w*|\d")
MOST_PIPES = 3000
"""Of one pipeline: parsing one takes time that grows with the square of its length, and nothing can interrupt it."""
PIPE_OR_END = expression(rb"\||;|[^\s|\\][^\S\n]*+\n")
LONGEST_HELD = 10_000
"""Characters of a script whose tree is held: as programs start the same command again and again."""


HALTS = expression(r"set (?:-[a-z]{0,6}e[a-z]{0,6}(?: pipefail)?|-o errexit)(?:\s.{0,40})?")
GOES_ON_AGAIN = expression(r"\bset\s[^\n]{0,60}\+[a-z]{0,6}[eo]|\btrap\b[^\n]{0,200}\bERR\b")


def halts_from(root: Node) -> int:
    """Return the line from which on a script ends where a plain command fails; 0 where it may continue anywhere."""
    if GOES_ON_AGAIN.search(source(root)) is not None:
        return 0
    first = next((one for one in root.named_children if one.type not in ("comment", "variable_assignment")), None)
    return first.start_point[0] + 1 if first is not None and HALTS.fullmatch(source(first).strip()) else 0


def parse(code: str) -> Node:
    """Return the root of the syntax tree; the last ones of short scripts are held in memory until `forget`.

    Raises TooMuch for a pipeline that would take too long to parse, and for commands that cannot be distinguished.
    """
    return _held(code) if len(code) <= LONGEST_HELD else _parsed(code)


@lru_cache(maxsize=8)
def _held(code: str) -> Node:
    return _parsed(code)


until_forgotten(_held.cache_clear)


def _parsed(code: str) -> Node:
    whole = data = code.encode("utf-8", "surrogatepass")
    if b"\\\n" in data:
        data = GOES_ON.sub(_joined, data)
    if _longest_pipeline(data) > MOST_PIPES:
        raise TooMuch
    root = root_of(code) if data is whole else Parser(BASH).parse(data).root_node
    for _ in range(MOST_PASSES if TWO_NAMES.search(data) is not None else 0):
        if (braced := _braced(root, data)) == data:
            break
        data = braced
        root = Parser(BASH).parse(data).root_node
    for _ in range(MOST_PASSES if b"|" in data else 0):
        if (ended := _ended(root, data)) == data:
            break
        data = ended
        root = Parser(BASH).parse(data).root_node
    else:
        if b"|" in data and _ended(root, data) != data:
            raise TooMuch
    if b"\n\\" in data or CLOSED_AND_OPENED.search(data):
        for _ in range(MOST_PASSES):
            mended = _mended(root, data)
            if mended == data:
                break
            data = mended
            root = Parser(BASH).parse(data).root_node
    if root.has_error:
        # The grammar takes `[ -d / ] && rm` for one long test. A test does nothing itself.
        plainer = EMPTY.sub(b"", TEST.sub(lambda match: b":" + match[1] + b" ", data))
        again = Parser(BASH).parse(plainer).root_node
        root = root if again.has_error else again
    return root


@cache
def _cut_short() -> Query:
    return Query(BASH, '(concatenation "$" @open .)')


def _braced(root: Node, data: bytes) -> bytes:
    """Return the script with `${b}` in place of each `$b` at whose `$` the grammar ends a word too early.

    Columns after it are further to the right.
    """
    parts: list[bytes] = []
    last = 0
    opened = QueryCursor(_cut_short()).captures(root).get("open", ())
    for at in sorted({node.end_byte for node in opened}):
        if (name := NAME.match(data, at)) is not None:
            parts += (data[last:at], b"{", name[0], b"}")
            last = name.end()
    return b"".join((*parts, data[last:])) if parts else data


@cache
def _of_one_line() -> Query:
    return Query(BASH, "[(file_redirect) (command)] @part")


def _ended(root: Node, data: bytes) -> bytes:
    """Return the script with a `;` at the end of each line whose command the grammar continues in the next one.

    After a long pipeline it takes the words of the next command for more arguments, or for more files to write to.
    """
    places: list[int] = []
    for node in QueryCursor(_of_one_line()).captures(root).get("part", ()):
        if node.start_point[0] == node.end_point[0]:
            continue
        for one, after in pairwise(child for child in node.named_children if child.type != "comment"):
            if LINE_ENDS.match(data, one.end_byte, after.start_byte) is not None:
                places.append(one.end_byte)
    parts: list[bytes] = []
    last = 0
    for at in sorted(set(places)):
        parts += (data[last:at], b";")
        last = at
    return b"".join((*parts, data[last:])) if parts else data


def _mended(root: Node, data: bytes) -> bytes:
    """Return the script written so that the grammar reads each command by itself.

    It takes a backslash at the start of a line for the next argument of the command before it, and `a` `b` for one
    command. A backslash before a letter becomes a space, which means the same there; else something is inserted, and
    columns after it are further to the right.
    """
    changes: list[tuple[int, int, bytes]] = []
    todo = [(root, False)]
    while todo:
        node, quoted = todo.pop()
        if node.type == "word" and (written := node.text or b"").startswith(b"\n") and b"\n\\" in written:
            at = node.start_byte + written.rindex(b"\n") + 1
            changes.append((at, at + data[at + 1 : at + 2].isalpha(), b" "))
        elif node.type == "``" and quoted:
            between = b"\\" if node.end_byte - node.start_byte > 2 else b"''"
            changes.append((node.start_byte + 1, node.start_byte + 1, between))
        quoted = quoted or (node.type == "command_substitution" and data[node.start_byte : node.start_byte + 1] == b"`")
        todo += ((child, quoted) for child in node.children)
    parts: list[bytes] = []
    last = 0
    for start, end, instead in sorted(changes):
        parts += (data[last:start], instead)
        last = end
    return b"".join((*parts, data[last:]))


def is_broken(root: Node) -> bool:
    """Return whether a part of the script could not be read: not `3<>file`, which is read though the grammar errs."""
    todo = [root] if root.has_error else []
    for node in todo:  # grows as it is gone through
        if node.is_missing:
            return True
        if node.type == "ERROR":
            above = node.parent
            if above is None or above.type != "file_redirect" or node.text != b">":
                return True
        todo += (child for child in node.children if child.has_error or child.is_missing)
    return False


UNTIL_THE_END = frozenset(["exit", "exec", "return"])
"""Commands after which Bash need not read on: a script may carry anything behind them."""
BEFORE_SUBSHELL = frozenset(["time", "coproc", "function", "select"])
"""Words that a subshell may follow."""
CALLED = expression(rb"[A-Za-z_][\w.:-]*+")
"""A name that no pattern, expansion or assignment makes part of something else."""
STATEMENTS_INSIDE = words(
    "program list pipeline negated_command redirected_statement subshell compound_statement if_statement elif_clause "
    "else_clause while_statement for_statement c_style_for_statement do_group case_statement case_item "
    "function_definition"
)
ALWAYS = frozenset(["program", "compound_statement", "redirected_statement"])
"""What runs all its parts."""


def stops_at(root: Node) -> Place | None:
    """Return where Bash stops with a syntax error although the grammar reads on; None also where that is not sure.

    After the name of a command, `(` is the start of `()` and nothing else: `print('a')`, `f (a)`. A script with an
    alias, which may put any words there, is not judged, and neither is what stands behind `exit`.
    """
    if root.has_error or b"alias" in (root.text or b""):
        return None
    todo = [(root, True)]
    while todo:
        node, always = todo.pop()
        if node.type == "command":
            name = node.child_by_field_name("name")
            called = (name.text or b"") if name is not None else b""
            if _is_call(node, called):
                return place(node)
            if always and called.decode("utf-8", "replace") in UNTIL_THE_END:
                return None
        elif node.type in STATEMENTS_INSIDE:
            always = always and node.type in ALWAYS
            todo += ((child, always) for child in reversed(node.named_children))
    return None


def _is_call(node: Node, called: bytes) -> bool:
    parts = node.children
    return (
        len(parts) > 1
        and parts[0].type == "command_name"
        and parts[1].type == "subshell"
        and parts[1].start_point[0] == parts[0].end_point[0]
        and CALLED.fullmatch(called) is not None
        and called.decode() not in BEFORE_SUBSHELL
    )


BEGINNINGS = frozenset(["if", "while", "until", "for", "case", "select", "{", "("])
"""What a statement begins with, and what must follow."""
MIDDLES = frozenset(["then", "elif", "else", "in", "do", "$("])
"""What something must follow as well."""
ENDS = frozenset(["fi", "done", "esac", ")"])


def is_cut_off(root: Node) -> bool:
    """Return whether statements were begun of which nothing could be read, or ended that were not begun.

    The grammar does not know all of bash. Where it fails, the commands that it saw are followed all the same; this is
    about what no shell takes either.
    """
    todo = [root]
    while todo:
        node = todo.pop()
        if node.is_missing and node.type in ENDS:
            return True
        if node.type == "ERROR" and _is_cut_off([child for child in node.children if child.type != "comment"]):
            return True
        todo += (child for child in node.children if child.has_error or child.is_missing)
    return False


def _is_cut_off(parts: list[Node]) -> bool:
    kinds = [part.type for part in parts]
    if kinds == ["(", ")"]:
        return False  # of a function whose body is no group, which the grammar does not know
    for part, after in zip(parts, [*parts[1:], None], strict=False):
        if part.type in BEGINNINGS | MIDDLES and (after is None or not (after.is_named or after.type in BEGINNINGS)):
            return True
        if part.type in ENDS or (part.type == "word" and source(part) in {"then", "do", *ENDS}):
            return True
    return False


def _joined(match: re.Match[bytes]) -> bytes:
    """Return broken lines as one, with the same number of lines after them: what follows keeps its place."""
    whole = match[0].replace(b"\\\n", b"")
    return whole + b"\n" * match[0].count(b"\\\n")


def _longest_pipeline(data: bytes) -> int:
    """Return how many pipes follow each other at most; a line that ends with one continues."""
    longest = now = 0
    for match in PIPE_OR_END.finditer(data):
        now = now + 1 if match[0] == b"|" else 0
        longest = max(longest, now)
    return longest


def source(node: Node) -> str:
    """Return the text of the node."""
    return (node.text or b"").decode("utf-8", "replace")


def place(node: Node) -> Place:
    """Return where the node stands."""
    start, end = node.start_point, node.end_point
    return start[0] + 1, start[1], end[0] + 1, end[1]
