"""The words of a command: expansions, substitutions and quotes worked out to values."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from runner.model.expression import expression
from runner.risk.model import fold
from runner.risk.model.bounds import bounded, excerpt
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, text
from runner.risk.shell.expansion import ansi, brace_words, expand, glob_word
from runner.risk.shell.redirects import read_redirects, redirects_of
from runner.risk.shell.subscripts import expanded, worked_out
from runner.risk.shell.syntax import place, source
from runner.risk.trace.files import is_temporary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tree_sitter import Node

    from runner.risk.shell.command import ShellContext

MOST_WORDS = 2000
WORD_STEPS = 4
CHARACTERS_A_STEP = 100
"""What a word costs: measured against the time that a step takes elsewhere, some 1.3 microseconds."""
QUOTED = ("raw_string", "ansi_c_string", "string", "concatenation")
PIPE = "/dev/fd/63"
"""What stands in the words for commands that read or write."""
WORDS = words(
    "word string raw_string concatenation number ansi_c_string simple_expansion expansion command_substitution "
    "process_substitution"
)
"""Nodes that are words of a command where they stand behind a redirection or a here-document."""
EVERYTHING = expression(rb'"\$(@|\{\w+\[@\]\}|\{@\})"')


@dataclass(slots=True)
class Word:
    """One argument as written: its value, and whether the shell splits it at white space."""

    value: Value
    splits: bool = False


class Block(Protocol):
    """Follow statements in order; return what they print."""

    def __call__(self, nodes: Sequence[Node], stdin: Value = UNKNOWN) -> Value: ...


class ShellWords:
    """Works out the words of one script."""

    def __init__(self, shell: ShellContext, block: Block) -> None:
        """`block` follows the statements of substitutions."""
        self.shell = shell
        self.block = block
        self.fed_later: list[Node] = []
        """What stands in `> >(...)`, to be followed when it is known what it gets."""

    def words(self, node: Node) -> list[Value]:
        """Return the arguments that one word becomes."""
        if node.type in ("word", "concatenation") and b"{" in (node.text or b""):
            spread = brace_words(source(node), self.shell.trail)
            if spread is not None and not any(mark in source(node) for mark in "$`'\""):
                return [text(part) for part in spread]
        word = self._list(node) or self.word(node)
        value = word.value
        self.shell.trail.budget.spend(WORD_STEPS + len(value.text) // CHARACTERS_A_STEP)
        if value.items is not None:
            return bounded(self.shell.trail, value.items, MOST_WORDS, "words of a list")
        if word.splits and value.texts and any(c in value.text for c in self.separators):
            parts = re.split(f"[{re.escape(self.separators)}]+", value.text.strip(self.separators), maxsplit=MOST_WORDS)
            self.shell.trail.budget.spend(len(parts))
            parts = bounded(self.shell.trail, parts, MOST_WORDS, "words of a value")
            return [text(part, labels=value.labels) for part in parts]
        return [value]

    def _list(self, node: Node) -> Word | None:
        """Read `"$@"` and `"${a[@]}"`: all of a list, each as a word of its own, quotes or not."""
        if node.type == "command_name" and len(node.named_children) == 1:
            node = node.named_children[0]
        if node.type != "string" or not EVERYTHING.fullmatch(node.text or b""):
            return None
        value = self.expansion(node.named_children[0])
        return Word(value) if value.items is not None else None

    @property
    def separators(self) -> str:
        """The characters at which the shell splits words."""
        known = self.shell.state.variables.get("IFS")
        return (known.exact if known is not None else None) or " \t\n"

    def value(self, node: Node) -> Value:
        """Return the value of one word."""
        return self.word(node).value

    def word(self, node: Node) -> Word:
        """Return one word: its value, and whether the shell splits it."""
        self.shell.trail.budget.spend()
        read = READERS.get(node.type)
        if read is not None:
            return read(self, node)
        self.inside(node)
        return self._plain(node)

    def _plain(self, node: Node) -> Word:
        if node.type == "command_name" and node.named_children:
            first = node.named_children[0]
            if first.type != "word" or len(node.named_children) > 1:
                return self.word(first)
        return Word(text(glob_word(source(node))))

    def _raw(self, node: Node) -> Word:
        return Word(text(source(node)[1:-1]))

    def _ansi(self, node: Node) -> Word:
        return Word(text(ansi(source(node)[2:-1]), labels=fold.ASSEMBLED))

    def _translated(self, node: Node) -> Word:
        return self.word(node.named_children[0]) if node.named_children else Word(UNKNOWN)

    def _quoted(self, node: Node) -> Word:
        return Word(self.pieces(node, 1))

    def _expanded(self, node: Node) -> Word:
        return Word(self.expansion(node), splits=True)

    def _substituted(self, node: Node) -> Word:
        with self.shell.elsewhere():
            return Word(self.substitution(node), splits=True)

    def _process(self, node: Node) -> Word:
        """`<(...)` or `>(...)`: a file that holds the output of commands, or is their input."""
        into = (node.text or b"").startswith(b">")
        output = self.block(node.named_children, self.shell.fed if into else UNKNOWN)
        made = Value((PIPE,), labels=output.labels)
        if not into:
            made.fields = {"content": output}
        return Word(made)

    def target(self, node: Node) -> Value:
        """Return where a redirection leads; commands that get what is written are followed when that is known."""
        if node.type == "process_substitution" and (node.text or b"").startswith(b">"):
            self.fed_later.append(node)
            return text(PIPE)
        return self.value(node)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Keep what is to be fed until an inner statement is over."""
        kept, self.fed_later = self.fed_later, []
        try:
            yield
        finally:
            self.fed_later = kept

    def feed(self, output: Value) -> None:
        """Follow the commands of `> >(...)` with what they get."""
        waiting, self.fed_later = self.fed_later, []
        for node in waiting:
            self.block(node.named_children, Value((HOLE,)) if output is UNKNOWN else output)

    def _arithmetic(self, node: Node) -> Word:
        self.inside(node)
        return Word(Value((HOLE,)))

    def _array(self, node: Node) -> Word:
        return Word(Value(items=[value for child in node.named_children for value in self.words(child)]))

    def _concatenation(self, node: Node) -> Word:
        with self.shell.deeper():
            parts = [self.word(child) for child in node.children if child.is_named or child.type != '"']
        whole = concatenate([part.value for part in parts])
        pieces = [part.value.text for part in parts]
        if len(pieces) > 1 and _cut_up(node):
            whole = whole.labelled(fold.ASSEMBLED)
        return Word(whole, any(part.splits for part in parts))

    def pieces(self, node: Node, margin: int = 0) -> Value:
        """Return a quoted text: the literal stretches as they stand, the expansions worked out."""
        data = node.text or b""
        parts: list[Value] = []
        at = margin
        for child in node.named_children:
            if child.type in ("string_content", "heredoc_content"):
                continue
            start = child.start_byte - node.start_byte
            parts.append(text(_unescaped(data[at:start].decode("utf-8", "replace"))))
            value = self.word(child).value
            if value.items is not None:
                separator = self.shell.state.variables.get("IFS", text(" ")).text[:1]
                value = concatenate(value.items, separator)
            parts.append(value)
            at = child.end_byte - node.start_byte
        end = len(data) - margin if margin else len(data)
        parts.append(text(_unescaped(data[at:end].decode("utf-8", "replace"))))
        return parts[0] if len(parts) == 1 else concatenate(parts)

    def expansion(self, node: Node) -> Value:
        """Return the value of `$name` or `${name...}`."""
        for child in node.named_children:
            if (
                child.type in ("command_substitution", "string", "concatenation")
                and child is not node.named_children[0]
            ):
                self.word(child)
        written = source(node)
        if written.strip("${}") in ("@", "*") and self.shell.state.given and not self.shell.state.arguments:
            return Value(items=[])
        if self.shell.state.names:
            name, bracket, rest = written.strip("${}").partition("[")
            if (real := self.shell.state.names.get(name)) is not None:
                written = f"${{{real}{bracket}{rest}}}"
        value = expand(written, self.shell.state.variables, self.shell.state.arguments)
        if written.endswith("@P}"):
            expanded(self.shell, value.text, place(node))
        return value

    def substitution(self, node: Node) -> Value:
        """Return what the commands in `$(...)` print."""
        if (alone := _redirection_alone(node)) is not None:
            return read_redirects(self.shell, redirects_of(alone, self.value), UNKNOWN)
        output = self.block(node.named_children)
        if is_temporary(output):
            return output
        return each(output, lambda known: known.rstrip("\n")) if output.texts else output

    def inside(self, node: Node) -> Value:
        """Follow the substitutions of a test, which does nothing else; record what it compares with."""
        if node.type == "test_command":
            words = text(excerpt(re.sub(r"[\[\]\"'*]", " ", source(node)), 300))
            self.shell.trail.add(
                "compare", "", {"text": words, "with": Value(labels=frozenset({"shell"}))}, place(node)
            )
        for child in node.named_children:
            if child.type in ("command_substitution", "process_substitution"):
                self.block(child.named_children)
            elif child.type in QUOTED and b"[" in (child.text or b""):
                worked_out(self.shell, self.value(child), place(child))
            elif child.named_child_count:
                self.inside(child)
        return UNKNOWN

    def text_fed(self, node: Node) -> Value:
        """Return the text of `<<< word` or of a here-document."""
        if node.type == "heredoc_redirect":
            return self.heredoc(node)
        return self.value(node.named_children[-1]) if node.named_children else UNKNOWN

    def heredoc(self, node: Node) -> Value:
        """Return the text of a here-document."""
        start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
        body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
        if body is None:
            return UNKNOWN
        whole = source(body)
        quoted = start is not None and any(mark in source(start) for mark in "'\"\\")
        if quoted or not body.named_children:
            return text(whole)
        return self.pieces(body)


READERS: dict[str, Callable[[ShellWords, Node], Word]] = {
    **dict.fromkeys(
        ("word", "number", "command_name", "variable_name", "string_content", "regex", "test_operator"),
        ShellWords._plain,
    ),
    "raw_string": ShellWords._raw,
    "ansi_c_string": ShellWords._ansi,
    "translated_string": ShellWords._translated,
    "string": ShellWords._quoted,
    "simple_expansion": ShellWords._expanded,
    "expansion": ShellWords._expanded,
    "command_substitution": ShellWords._substituted,
    "process_substitution": ShellWords._process,
    "arithmetic_expansion": ShellWords._arithmetic,
    "concatenation": ShellWords._concatenation,
    "array": ShellWords._array,
}
"""How each kind of node becomes a word."""


def _redirection_alone(node: Node) -> Node | None:
    """Return what `$(<file)` or `<file` in back-quotes reads from; None where a command is in it."""
    inner = node.named_children
    if len(inner) == 1 and inner[0].type == "redirected_statement":
        inner = inner[0].named_children
    return inner[0] if len(inner) == 1 and inner[0].type == "file_redirect" else None


def _cut_up(node: Node) -> bool:
    """Return whether quotes inside a word only serve to break it up: `r''m`, `"r"m`."""
    written = source(node)
    return (
        bool(re.search(r"[a-z](''|\"\"|'[a-z]{1,3}'|\"[a-z]{1,3}\")[a-z]?", written))
        and "=" not in written
        and " " not in written
    )


def _unescaped(raw: str) -> str:
    return re.sub(r"\\([$`\"\\])", r"\1", raw.replace("\\\n", "")) if "\\" in raw else raw
