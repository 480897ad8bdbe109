"""Follows a shell script by its syntax tree: statements, pipes, loops and functions, down to simple commands."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model import fold
from runner.risk.model.bounds import excerpt
from runner.risk.model.broken import first_broken
from runner.risk.model.value import UNKNOWN, Value, concatenate, either, text
from runner.risk.shell.assignments import Assignments
from runner.risk.shell.command import ELSEWHERE, ShellContext, ShellState
from runner.risk.shell.expansion import brace_words
from runner.risk.shell.noted import MANY, MANY_TURNS, depends_on, note_flood, note_output
from runner.risk.shell.redirects import LEAVES, PROBE, SILENT, behind, read_redirects, redirects_of, write_redirect
from runner.risk.shell.replaced import keeps_functions, surely_replaces
from runner.risk.shell.simple import SimpleCommands, hides_name
from runner.risk.shell.stand_ins import keeps_random, stand_ins
from runner.risk.shell.subscripts import worked_out
from runner.risk.shell.syntax import halts_from, is_broken, is_cut_off, parse, place, source, stops_at
from runner.risk.shell.words import WORDS, ShellWords
from runner.risk.trace.conditions import note_condition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from runner.risk.model.acts import Place, Trail
    from runner.risk.shell.command import Redirect
    from runner.risk.trace.world import World

MOST_TURNS = 100
MOST_BODIES = 8
"""Functions of one name in a script, each of which is followed where the name is called."""
GROWS = expression(rb"\bprintf\b|\+=|echo -n|=[\"']?\$\{?\w+\}?[\"']?\$")
ALTERNATIVES = ("elif_clause", "else_clause")
TO_FILE = (">", ">>", ">|")


class Shell:
    """One shell script. `run` goes through it; what it does is on the trail afterwards."""

    def __init__(
        self, trail: Trail, nested: World, state: ShellState | None = None, holes: frozenset[str] = frozenset()
    ) -> None:
        """`holes` are the labels of what stands at the holes of the script, put there by an outer program."""
        self.shell = ShellContext(trail, nested, state or ShellState(), holes, self._inner)
        self.broken = False
        """Whether a part of the script could not be parsed."""
        self.broken_at: Place | None = None
        self.cut_off = False
        """Whether a statement in such a part was not read at all."""
        self.stops_at: Place | None = None
        """Where Bash stops though all could be parsed."""
        self._keeps_functions: bool | None = None
        """Whether nothing in the script goes around its functions; None while nobody has asked."""
        self.words = ShellWords(self.shell, self.block)
        self.assignments = Assignments(self.words)
        self.simple = SimpleCommands(self.shell, self.statement)

    def run(self, code: str, stdin: Value = UNKNOWN, *, inner: bool = False) -> Value:
        """Go through a script, perhaps one inside another; return what it would print, as far as that is known."""
        root = parse(code)
        self.broken = is_broken(root)
        self.broken_at = first_broken(root) if self.broken else None
        self.cut_off = self.broken and is_cut_off(root)
        self.stops_at = stops_at(root) if self.shell.trail.depth == 0 else None
        if not inner and not self.broken and self.shell.trail.depth == 0:
            self.shell.stand_ins = stand_ins(root)
            self.shell.halts = halts_from(root)
            self.shell.keeps_random = keeps_random(source(root))
        result = self.block(root.named_children, stdin)
        state = self.shell.state
        for name, bodies in list(state.functions.items()):
            if name not in state.called:
                for body in list(bodies):
                    self.simple.follow(name, body, [], UNKNOWN)
        self._end()
        return result

    def _end(self) -> None:
        """Follow what runs at the end once more, where variables that it may use have changed since it was said."""
        state = self.shell.state
        for code, before in state.late:
            whole = " ".join([code.text, *map(source, chain(*state.functions.values()))])
            changed = [name for name, value in state.variables.items() if before.get(name) is not value]
            if code.text and any(f"${name}" in whole or f"${{{name}" in whole for name in changed):
                self._inner(code.text, state.arguments, UNKNOWN)
        state.late.clear()

    def _inner(self, code: str, arguments: Sequence[Value], stdin: Value) -> Value:
        """Go through a script inside this one, with arguments of its own."""
        ours = self.shell.state
        state = ShellState(ours.variables, ours.functions, ours.aliases, list(arguments))
        state.active, state.called = ours.active, ours.called
        state.descriptors = dict(ours.descriptors)
        inner = Shell(self.shell.trail, self.shell.nested, state)
        inner.shell.probing = PROBE.match(f"({code.strip()})") is not None
        return inner.run(code, stdin, inner=True)

    def simple_values(self, words: list[Value], stdin: Value, where: Place) -> Value:
        """Follow one command that another language starts with these arguments; return what it prints."""
        return self.simple.start(words, stdin, where)

    def block(self, nodes: Sequence[Node], stdin: Value = UNKNOWN) -> Value:
        """Follow statements in order; return what they print, put together."""
        outputs: list[Value] = []
        with self.shell.deeper():
            for node in nodes:
                output = self.statement(node, stdin)
                if output is not UNKNOWN:
                    outputs.append(output)
        return _together(outputs)

    def statement(self, node: Node, stdin: Value) -> Value:
        """Follow one statement; return what it prints."""
        self.shell.trail.budget.spend(2)
        with self.shell.deeper():
            follow = STATEMENTS.get(node.type, Shell._parts)
            return follow(self, node, stdin)

    # Statements by kind.

    def _parts(self, node: Node, stdin: Value) -> Value:
        return self.block(node.named_children, stdin)

    def _if(self, node: Node, stdin: Value) -> Value:
        """Follow `if`, and note what is done only on a certain machine or at a certain time."""
        start = len(self.shell.trail.acts)
        result = self._branch(node, stdin)
        condition = node.child_by_field_name("condition")
        if condition is not None:
            note_condition(self.shell.trail, depends_on(self.shell, condition), start, place(condition))
        return result

    def _branch(self, node: Node, stdin: Value) -> Value:
        if node.type in ALTERNATIVES and self.shell.former:
            self.shell.meet()
        with self.shell.branch():
            return self.block(node.named_children, stdin)

    def _subshell(self, node: Node, stdin: Value) -> Value:
        """Follow `( ... )`, which leaves the folder of the script as it is."""
        with self.shell.elsewhere():
            self.shell.probing = PROBE.match(source(node)) is not None
            try:
                return self.block(node.named_children, stdin)
            finally:
                self.shell.probing = False

    def _negated(self, node: Node, stdin: Value) -> Value:
        """Follow `! ...`, after which a script continues whatever its result."""
        self.shell.asking += 1
        try:
            return self.block(node.named_children, stdin)
        finally:
            self.shell.asking -= 1

    def _test(self, node: Node, stdin: Value) -> Value:
        return self.words.inside(node)

    def _pipeline(self, node: Node, stdin: Value) -> Value:
        value, piped = stdin, self.shell.piped
        self.shell.piped = True
        for stage in node.named_children:
            with self.shell.elsewhere():
                value = self.statement(stage, value)
        self.shell.piped = piped
        return value

    def _assignment(self, node: Node, stdin: Value) -> Value:
        self.assignments.assign(node)
        return UNKNOWN

    def _assignments(self, node: Node, stdin: Value) -> Value:
        return self.block(node.named_children)

    def _declaration(self, node: Node, stdin: Value) -> Value:
        return self.assignments.declare(node)

    def _compound(self, node: Node, stdin: Value) -> Value:
        """Follow `{ ...; }`, or `{rm,-rf,/}`, which the grammar takes for one."""
        words = _braces(node)
        if words is None:
            return self.block(node.named_children, stdin)
        return self.simple.start([text(part) for part in words], stdin, place(node))

    def _word(self, node: Node, stdin: Value) -> Value:
        """Follow a word that stands alone: a command where it is a statement."""
        value = self.words.value(node)
        if node.parent is not None and node.parent.type not in ("program", "ERROR"):
            return value
        return self.simple.start([value], stdin, place(node))

    def _broken(self, node: Node, stdin: Value) -> Value:
        """Follow what the grammar could not place, as statements or as one command of words."""
        kinds = ("word", "string", "raw_string", "concatenation", "command_name")
        words = [child for child in node.children if child.type in kinds]
        if words and len(words) == node.named_child_count:
            return self.simple.start([self.words.value(child) for child in words], stdin, place(node))
        return self.block(node.named_children, stdin)

    def _list(self, node: Node, stdin: Value) -> Value:
        """Follow `a && b || c`: with `||` the first one's output is as good as any."""
        start = len(self.shell.trail.acts)
        parts = node.named_children
        first, rest = parts[0] if parts else node, parts[1:]
        state = self.shell.state
        was, both = state.folder, any(child.type == "&&" for child in node.children)
        self.shell.asking += 1
        outputs = [self.statement(first, stdin)] if parts else []
        self.shell.asking -= 1
        moved = state.folder is not was
        state.surely = state.surely or (moved and both)
        with self.shell.branch():
            for part in rest:
                before = state.folder
                outputs.append(self.statement(part, stdin))
                if state.folder is not before:
                    # Whether the script has changed to it depends on what stands before.
                    state.folder = ELSEWHERE
        if moved:
            state.surely = state.stops or (not both and any(map(LEAVES.search, map(source, rest))))
        outputs = [output for output in outputs if output is not UNKNOWN]
        if first.type == "test_command":
            note_condition(self.shell.trail, depends_on(self.shell, first), start, place(first))
        if any(child.type == "||" for child in node.children) and outputs:
            return either(outputs) if all(output.exact is not None for output in outputs) else outputs[0]
        return _together(outputs)

    def _while(self, node: Node, stdin: Value) -> Value:
        with self.shell.branch(), self.shell.trail.again():
            for child in node.named_children:
                if child.type == "do_group":
                    first = node.named_children[0]
                    if first.type == "command" and source(first).strip() in ("true", ":", "1"):
                        self.shell.trail.add("forever", "while", {}, place(first))
                        note_flood(self.shell, child)
                    return self.block(child.named_children, stdin)
                self.statement(child, stdin)
            return UNKNOWN

    def _for(self, node: Node, stdin: Value) -> Value:
        variables = self.shell.state.variables
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        name = source(variable) if variable is not None else ""
        given = node.children_by_field_name("value")
        values = (
            [word for child in given for word in self.words.words(child)] if given else list(self.shell.state.arguments)
        )
        if variable is not None:
            met = either(values) if values else UNKNOWN
            variables[name] = met.labelled((f"${name}",)) if not met.texts else met
        if body is None:
            return UNKNOWN
        if variable is not None and 1 < len(values) <= MOST_TURNS and GROWS.search(body.text or b""):
            # A text that grows turn by turn.
            outputs = []
            for value in values:
                variables[name] = value
                outputs.append(self.block(body.named_children, stdin))
            return concatenate(outputs)
        if len(values) >= MANY or (given and MANY_TURNS.match(source(given[0]))):
            note_flood(self.shell, body)
        with self.shell.trail.again():
            return self._branch(body, stdin)

    def _counting(self, node: Node, stdin: Value) -> Value:
        """Follow `for ((...))`: what it computes with, and its body."""
        bodies = [child for child in node.named_children if child.type in ("do_group", "compound_statement")]
        with self.shell.branch(), self.shell.trail.again():
            for child in node.named_children:
                if child not in bodies:
                    worked_out(self.shell, self.words.value(child), place(child))
            return self.block(bodies, stdin)

    def _define(self, node: Node, stdin: Value) -> Value:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            known = source(name)
            bodies = self.shell.state.functions.setdefault(known, [])
            if any(one.text == body.text for one in bodies):
                pass
            elif len(bodies) < MOST_BODIES:
                bodies.append(body)
            else:
                self.shell.trail.cut_off(f"Looks at no more than {MOST_BODIES} functions of one name.")
            if len(bodies) == 1 and self._replaces(node):
                self.shell.replaced.add(known)
            else:
                self.shell.replaced.discard(known)
            if f"{known}|{known}" in source(body).replace(" ", "") or re.fullmatch(r"\W*", known):
                self.shell.trail.add("fork-bomb", known, {"line": text(excerpt(source(node), 200))}, place(node))
        return UNKNOWN

    def _replaces(self, node: Node) -> bool:
        """Return whether the function defined at `node` surely takes the place of a program."""
        if node.parent is None or not surely_replaces(node):
            return False
        if self._keeps_functions is None:
            self._keeps_functions = keeps_functions(node.parent)
        return self._keeps_functions

    # Redirections and commands.

    def _redirected(self, node: Node, stdin: Value) -> Value:
        body, probing = node.child_by_field_name("body"), self.shell.probing
        self.shell.probing = probing or body is None or source(body) in SILENT
        try:
            return self._around_body(node, body, stdin)
        finally:
            self.shell.probing = probing

    def _around_body(self, node: Node, body: Node | None, stdin: Value) -> Value:
        redirects, rest, stdin = self._around(node, stdin)
        stdin = read_redirects(self.shell, redirects, stdin)
        if body is None:
            for redirect in redirects:
                write_redirect(self.shell, redirect, UNKNOWN, Value())
            return UNKNOWN
        words = [part for part in rest if part.type in WORDS]
        if body.type == "command":
            output = self._command(body, stdin, redirects, words)
        else:
            with self.words.waiting():
                output = self.statement(body, stdin)
            for redirect in redirects:
                write_redirect(self.shell, redirect, output, text(excerpt(source(body), 200)))
        for part in rest:
            if part not in words:
                output = self.statement(part, output)
        self.words.feed(output)
        away = any(r.operator in (*TO_FILE, "&>") and r.descriptor in ("", "1") for r in redirects)
        return UNKNOWN if away and not rest else output

    def _around(self, node: Node, stdin: Value) -> tuple[list[Redirect], list[Node], Value]:
        """Return a statement's redirections, what stands behind its here-documents, and its standard input."""
        redirects: list[Redirect] = []
        rest: list[Node] = []
        for child in node.named_children:
            if child.type == "file_redirect":
                redirects += redirects_of(child, self.words.target)
                rest += behind(child)
            elif child.type in ("herestring_redirect", "heredoc_redirect"):
                stdin = self.words.text_fed(child)
                for part in child.named_children if child.type == "heredoc_redirect" else ():
                    if part.type == "file_redirect":
                        redirects += redirects_of(part, self.words.target)
                        rest += behind(part)
                    elif part.type not in ("heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor"):
                        rest.append(part)
        return redirects, rest, stdin

    def _plain_command(self, node: Node, stdin: Value) -> Value:
        return self._command(node, stdin, [])

    def _command(self, node: Node, stdin: Value, outer: Sequence[Redirect], extra: Sequence[Node] = ()) -> Value:
        """Follow a command; `outer` and `extra` are redirections and words that stand outside its node."""
        shell = self.shell
        shell.fed = stdin = shell.state.descriptors.get("0", UNKNOWN) if stdin is UNKNOWN else stdin
        words, redirects, stdin = self._inside(node, stdin, outer)
        for child in extra:
            words += self.words.words(child)
        if inputs := [redirect for redirect in redirects if redirect.operator.startswith("<")]:
            stdin = read_redirects(shell, inputs, stdin)
        if not words:
            for redirect in redirects:
                write_redirect(shell, redirect, UNKNOWN, UNKNOWN)
            return UNKNOWN
        shell.background = _in_background(node)
        hidden = fold.ASSEMBLED if hides_name(node, words[0]) else frozenset[str]()
        output = self.simple.start(words, stdin, place(node), redirects, hidden)
        if output.labels:
            note_output(shell, node, words, output, redirects)
        for redirect in redirects:
            write_redirect(shell, redirect, output, concatenate(words, " "))
        self.words.feed(output)
        return UNKNOWN if any(r.operator in TO_FILE and r.descriptor in ("", "1") for r in redirects) else output

    def _inside(self, node: Node, stdin: Value, outer: Sequence[Redirect]) -> tuple[list[Value], list[Redirect], Value]:
        """Return a command's words, its redirections behind the outer ones, and its standard input."""
        words: list[Value] = []
        redirects = list(outer)
        for child in node.named_children:
            match child.type:
                case "variable_assignment":
                    # It holds for this command alone, but a script that sets a variable may mean it.
                    self.assignments.assign(child)
                case "file_redirect":
                    redirects += redirects_of(child, self.words.target)
                    words += [value for part in behind(child) for value in self.words.words(part)]
                case "herestring_redirect" | "heredoc_redirect":
                    stdin = self.words.text_fed(child)
                case "comment":
                    pass
                case "ERROR":
                    words += [value for part in child.named_children for value in self.words.words(part)]
                case _:
                    words += self.words.words(child)
        return words, redirects, stdin


def _nothing(shell: Shell, node: Node, stdin: Value) -> Value:
    return UNKNOWN


STATEMENTS: dict[str, Callable[[Shell, Node, Value], Value]] = {
    "command": Shell._plain_command,
    **dict.fromkeys(("comment", "heredoc_body", "heredoc_end", "heredoc_start", "variable_name"), _nothing),
    "test_command": Shell._test,
    "negated_command": Shell._negated,
    "list": Shell._list,
    "pipeline": Shell._pipeline,
    "redirected_statement": Shell._redirected,
    "variable_assignment": Shell._assignment,
    "variable_assignments": Shell._assignments,
    **dict.fromkeys(("declaration_command", "unset_command"), Shell._declaration),
    "compound_statement": Shell._compound,
    "subshell": Shell._subshell,
    "if_statement": Shell._if,
    **dict.fromkeys(("elif_clause", "else_clause", "case_statement", "case_item", "do_group"), Shell._branch),
    "while_statement": Shell._while,
    "for_statement": Shell._for,
    "c_style_for_statement": Shell._counting,
    "function_definition": Shell._define,
    **dict.fromkeys(
        ("word", "string", "raw_string", "concatenation", "simple_expansion", "expansion", "ansi_c_string"),
        Shell._word,
    ),
    "ERROR": Shell._broken,
}
"""How each kind of node is followed as a statement; the others are followed part by part."""


def _together(outputs: list[Value]) -> Value:
    return outputs[0] if len(outputs) == 1 else concatenate(outputs, "\n") if outputs else UNKNOWN


def _in_background(node: Node) -> bool:
    """Return whether the command is followed by `&`."""
    while node.parent is not None and node.parent.type in ("redirected_statement", "pipeline", "list"):
        node = node.parent
    return node.next_sibling is not None and node.next_sibling.type == "&"


def _braces(node: Node) -> list[str] | None:
    """Return the words that `{rm,-rf,/}` becomes; None for a group of statements."""
    whole = source(node).strip()
    return None if re.search(r"[\s;$`'\"]", whole) else brace_words(whole, set())
