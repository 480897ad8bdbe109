"""Following a shell script by its syntax tree: words expanded, pipes and redirections joined up, commands looked at."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from runner.risk.model import fold
from runner.risk.model.acts import Place, Source, TooMuch
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, either, labels_of, text
from runner.risk.shell.commands.table import COMMANDS, Command
from runner.risk.shell.expansion import ansi, brace_words, expand, glob_word
from runner.risk.trace.machine import TooDeep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Trail
    from runner.risk.trace.nested import Nested

GRAMMAR = Language(tree_sitter_bash.language())
DEEPEST = 110
"""Levels of nesting that are followed; each costs up to five Python frames."""
MOST_WORDS = 2000


@dataclass(slots=True)
class Word:
    """One argument as written: its value, and whether the shell splits it at white space."""

    value: Value
    splits: bool = False


@dataclass(slots=True)
class Redirect:
    operator: str
    descriptor: str
    target: Value
    place: Place


@dataclass(slots=True)
class State:
    """Variables and functions of the shell. Subshells share them: nothing is gained by telling them apart."""

    variables: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, Value] = field(default_factory=dict)
    arguments: list[Value] = field(default_factory=list)
    active: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    directory: str = ""
    names: dict[str, str] = field(default_factory=dict)
    """Variables that stand for another one (`declare -n`)."""


INFORMERS = {
    **dict.fromkeys(
        (
            "whoami",
            "hostname",
            "id",
            "uname",
            "ifconfig",
            "ip",
            "who",
            "w",
            "last",
            "lastlog",
            "hostnamectl",
            "dmidecode",
            "lscpu",
            "systeminfo",
            "ipconfig",
            "logname",
            "users",
            "arp",
            "netstat",
            "ss",
            "lsb_release",
            "getmac",
            "sw_vers",
            "system_profiler",
        ),
        frozenset({"host-info"}),
    ),
    **dict.fromkeys(("ps", "pgrep", "pidof", "top", "lsof", "fuser", "tasklist"), frozenset({"process"})),
    **dict.fromkeys(("env", "printenv"), frozenset({"environment"})),
}
"""Commands that tell something worth following, and the label of what they tell."""
EVERYTHING = re.compile(rb'"\$(@|\{\w+\[@\]\}|\{@\})"')
TEST = re.compile(rb"(?<![^\s;&|(!])\[(?= )([^\[\]\n]*[^\s\[\]] )\](?=\s*(?:&&|\|\||;|\n|$))")
"""A test in single brackets."""
GOES_ON = re.compile(rb"(?m)^[^\n]*?\S\\\n(?=\S)(?:[^\n]*\S\\\n(?=\S))*[^\n]*\n?")
"""Lines that are broken in the middle of a word."""
EMPTY = re.compile(rb"`#[^`\n]*`")
"""A comment that is run for its output, which is nothing."""
MOST_TURNS = 100
LONGEST_PATTERN = 200
"""Of a command's name with `?` and `[...]` in it: making an expression of one takes quadratic time."""
MOST_PIPES = 3000
"""Of one pipeline: parsing one takes time that grows with the square of its length, and nothing can interrupt it."""
PIPE_OR_END = re.compile(rb"\||;|[^\s|\\][^\S\n]*+\n")
MOST_ALIASES = 50
"""Aliases that stand for each other, one after the other."""
GROWS = re.compile(rb"\bprintf\b|\+=|echo -n|=[\"']?\$\{?\w+\}?[\"']?\$")
PIECES = re.compile(r"(?:[\w'\"\\]|\$\{?+\w++(?::[^}]*+)?+\}?+){2,}+|\$\{?+\w++:[^}]*+(?<=[\w'\"\\])")
"""Letters, quotes and variables in a row; or one variable whose slice is not closed, which ends in such a one."""
NO_READERS = frozenset(
    [
        "ls",
        "ll",
        "dir",
        "stat",
        "test",
        "[",
        "mkdir",
        "touch",
        "file",
        "ssh-keygen",
        "ssh-add",
        "ssh-copy-id",
        "git",
        "ls",
        "-l",
        "which",
        "type",
        "whereis",
        "du",
        "df",
        "realpath",
        "readlink",
        "dirname",
        "basename",
        "export",
        "cmake",
        "make",
        "gcc",
        "g++",
        "npm",
        "pip",
        "pip3",
        "install",
        "chattr",
        "lsattr",
        "umask",
        "mount",
        "umount",
        "mv",
        "cp",
        "rm",
        "ln",
        "chmod",
        "chown",
        "cd",
        "pushd",
    ]
)


class Shell:
    """One shell script. `run` goes through it; what it does is on the trail afterwards."""

    def __init__(
        self, trail: Trail, nested: Nested, state: State | None = None, holes: frozenset[str] = frozenset()
    ) -> None:
        """`holes` are the labels of what stands at the holes of the script, put there by an outer program."""
        self.holes = holes
        self.trail = trail
        self.nested = nested
        self.budget = trail.budget
        self.state = state or State()
        self.depth = 0
        self.branches = 0
        self.background = False
        self.fed = UNKNOWN
        """What goes into the command that is looked at."""

    def run(self, code: str, stdin: Value = UNKNOWN) -> Value:
        """Go through a script; what it would print, as far as that is known."""
        data = code.encode("utf-8", "surrogatepass")
        if b"\\\n" in data:
            data = GOES_ON.sub(_joined, data)
        if _longest_pipeline(data) > MOST_PIPES:
            raise TooMuch
        root = Parser(GRAMMAR).parse(data).root_node
        if root.has_error:
            # The grammar takes `[ -d / ] && rm` for one long test. A test does nothing itself.
            plainer = EMPTY.sub(b"", TEST.sub(lambda match: b":" + match[1] + b" ", data))
            again = Parser(GRAMMAR).parse(plainer).root_node
            root = root if again.has_error else again
        self.broken = root.has_error
        result = self.block(root.named_children, stdin)
        for name, body in list(self.state.functions.items()):
            if name not in self.state.called:
                self.follow(name, body, [], UNKNOWN)
        return result

    def block(self, nodes: Sequence[Node], stdin: Value = UNKNOWN) -> Value:
        """Statements in order; what they print, put together."""
        outputs: list[Value] = []
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        for node in nodes:
            output = self.statement(node, stdin)
            if output is not UNKNOWN and len(outputs) < 50:
                outputs.append(output)
        self.depth -= 1
        return outputs[0] if len(outputs) == 1 else concatenate(outputs, "\n") if outputs else UNKNOWN

    def branch(self, nodes: Sequence[Node], stdin: Value = UNKNOWN) -> Value:
        self.branches += 1
        try:
            return self.block(nodes, stdin)
        finally:
            self.branches -= 1

    def statement(self, node: Node, stdin: Value) -> Value:
        """One statement; what it prints."""
        self.budget.spend(2)
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        try:
            return self._statement(node, stdin)
        finally:
            self.depth -= 1

    def _statement(self, node: Node, stdin: Value) -> Value:
        match node.type:
            case "command":
                return self.command(node, stdin, [])
            case "comment" | "heredoc_body" | "heredoc_end" | "heredoc_start" | "variable_name" | "test_command":
                return self._inside(node) if node.type == "test_command" else UNKNOWN
            case "list":
                return self.listed(node, stdin)
            case "pipeline":
                return self.pipeline(node.named_children, stdin)
            case "redirected_statement":
                return self.redirected(node, stdin)
            case "variable_assignment":
                self.assignment(node)
                return UNKNOWN
            case "variable_assignments":
                return self.block(node.named_children)
            case "declaration_command" | "unset_command":
                return self.declaration(node)
            case "compound_statement" if (words := _braces(node)) is not None:
                return self.simple([Word(text(part)) for part in words], stdin, place(node), node)
            case "if_statement" | "elif_clause" | "else_clause" | "case_statement" | "case_item" | "do_group":
                return self.branch(node.named_children, stdin)
            case "while_statement":
                return self._while(node, stdin)
            case "for_statement":
                return self._for(node, stdin)
            case "c_style_for_statement":
                return self.branch(
                    [child for child in node.named_children if child.type in ("do_group", "compound_statement")], stdin
                )
            case "function_definition":
                return self._define(node)
            case (
                "word" | "string" | "raw_string" | "concatenation" | "simple_expansion" | "expansion" | "ansi_c_string"
            ):
                if node.parent is not None and node.parent.type not in ("program", "ERROR"):
                    return self.word(node).value
                return self.simple([self.word(node)], stdin, place(node), node)
            case "ERROR":
                return self.broken_part(node, stdin)
            case _:
                return self.block(node.named_children, stdin)

    def _inside(self, node: Node) -> Value:
        """In a test only the substitutions do something; what it compares with is noted."""
        if node.type == "test_command":
            words = text(re.sub(r"[\[\]\"'*]", " ", _source(node))[:300])
            self.trail.add("compare", "", {"text": words, "with": Value(labels=frozenset({"shell"}))}, place(node))
        for child in node.named_children:
            if child.type in ("command_substitution", "process_substitution"):
                self.block(child.named_children)
            elif child.named_child_count:
                self._inside(child)
        return UNKNOWN

    def broken_part(self, node: Node, stdin: Value) -> Value:
        """What the grammar could not place: still looked at, as statements or as one command of words."""
        words = [
            child
            for child in node.children
            if child.type in ("word", "string", "raw_string", "concatenation", "command_name")
        ]
        if words and len(words) == node.named_child_count:
            return self.simple([self.word(child) for child in words], stdin, place(node), node)
        return self.block(node.named_children, stdin)

    # Compound statements.

    def listed(self, node: Node, stdin: Value) -> Value:
        """`a && b || c`: with `||` the first one's output is as good as any."""
        parts = node.named_children
        outputs = [output for part in parts if (output := self.statement(part, stdin)) is not UNKNOWN]
        if any(child.type == "||" for child in node.children) and outputs:
            return either(outputs) if all(output.exact is not None for output in outputs) else outputs[0]
        return outputs[0] if len(outputs) == 1 else concatenate(outputs, "\n") if outputs else UNKNOWN

    def pipeline(self, stages: Sequence[Node], stdin: Value) -> Value:
        value = stdin
        for stage in stages:
            value = self.statement(stage, value)
        return value

    def redirected(self, node: Node, stdin: Value) -> Value:
        body = node.child_by_field_name("body")
        redirects: list[Redirect] = []
        rest: list[Node] = []
        for child in node.named_children:
            if child.type == "file_redirect":
                redirects += self.redirect(child)
            elif child.type == "herestring_redirect":
                stdin = self.word(child.named_children[-1]).value if child.named_children else UNKNOWN
            elif child.type == "heredoc_redirect":
                stdin = self.heredoc(child)
                for part in child.named_children:
                    if part.type == "file_redirect":
                        redirects += self.redirect(part)
                    elif part.type not in ("heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor"):
                        rest.append(part)
        stdin = self.input_of(redirects, stdin)
        if body is None:
            for redirect in redirects:
                self.output(redirect, UNKNOWN, Value())
            return UNKNOWN
        words = [part for part in rest if part.type in ("word", "string", "raw_string", "concatenation")]
        if body.type == "command":
            output = self.command(body, stdin, redirects, words)
        else:
            output = self.statement(body, stdin)
            for redirect in redirects:
                self.output(redirect, output, text(_source(body)[:200]))
        for part in rest:
            if part not in words:
                output = self.statement(part, output)
        return UNKNOWN if any(r.operator in (">", ">>", ">|", "&>") for r in redirects) and not rest else output

    def heredoc(self, node: Node) -> Value:
        start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
        body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
        if body is None:
            return UNKNOWN
        whole = _source(body)
        quoted = start is not None and any(mark in _source(start) for mark in "'\"\\")
        if quoted or not body.named_children:
            return text(whole)
        return self.pieces(body, whole)

    def _while(self, node: Node, stdin: Value) -> Value:
        self.branches += 1
        try:
            value = stdin
            for child in node.named_children:
                if child.type == "do_group":
                    first = node.named_children[0]
                    if first.type == "command" and _source(first).strip() in ("true", ":", "1"):
                        self.trail.add("forever", "while", {}, place(first))
                    return self.block(child.named_children, value)
                self.statement(child, value)
            return UNKNOWN
        finally:
            self.branches -= 1

    def _for(self, node: Node, stdin: Value) -> Value:
        variable = node.child_by_field_name("variable")
        given = node.children_by_field_name("value")
        values = [word for child in given for word in self.words(child)] if given else list(self.state.arguments)
        if variable is not None:
            met = either(values[:40]) if values else UNKNOWN
            name = _source(variable)
            self.state.variables[name] = met.labelled((f"${name}",)) if not met.texts else met
        body = node.child_by_field_name("body")
        if body is None:
            return UNKNOWN
        if variable is not None and 1 < len(values) <= MOST_TURNS and GROWS.search(body.text or b""):
            # A text that grows turn by turn.
            outputs = []
            for value in values:
                self.state.variables[_source(variable)] = value
                outputs.append(self.block(body.named_children, stdin))
            return concatenate(outputs)
        return self.branch(body.named_children, stdin)

    def _define(self, node: Node) -> Value:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            known = _source(name)
            self.state.functions[known] = body
            if f"{known}|{known}" in _source(body).replace(" ", "") or re.fullmatch(r"\W*", known):
                self.trail.add("fork-bomb", known, {"line": text(_source(node)[:200])}, place(node))
        return UNKNOWN

    def follow(self, name: str, body: Node, arguments: list[Value], stdin: Value) -> Value:
        """Call a function of the script."""
        state = self.state
        state.called.add(name)
        if name in state.active:
            return UNKNOWN
        outside = state.arguments
        state.arguments = arguments
        state.active.add(name)
        try:
            return self.statement(body, stdin)
        finally:
            state.arguments = outside
            state.active.discard(name)

    # Assignments.

    def assignment(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        target = _source(name)
        if (real := self.state.names.get(target)) is not None:
            target = real
        made = self._assigned(value) if value is not None else text("")
        if b"+=" in (node.text or b"")[: len(target) + 4]:
            old = self.state.variables.get(target, UNKNOWN)
            made = (
                Value(items=[*(old.items or []), *made.items]) if made.items is not None else concatenate((old, made))
            )
        if "[" in target:
            target, _, key = target.partition("[")
            old = self.state.variables.get(target, UNKNOWN)
            made = Value(
                items=[*(old.items or []), made], fields={**(old.fields or {}), key.rstrip("]").strip("\"'"): made}
            )
        if self.branches and (known := self.state.variables.get(target)) is not None and made.items is None:
            made = either((made, known))
        self.state.variables[target] = made if made.texts or made.items is not None else made.labelled((f"${target}",))

    def _assigned(self, value: Node) -> Value:
        if value.type == "array" and (named := self._keyed(value)):
            return Value(items=list(named.values()), fields=named)
        if value.type == "array":
            return Value(items=[word for child in value.named_children for word in self.words(child)])
        return self.word(value).value

    def _keyed(self, array: Node) -> dict[str, Value]:
        """The values of `([a]=x [b]="y z")` by their keys; nothing for a plain list."""
        found: dict[str, Value] = {}
        for child in array.named_children:
            match = re.match(r"\[([^\]]*)\]=", _source(child))
            if match is None:
                return {}
            last = child.named_children[-1] if child.named_children else child
            quoted = last.type in ("string", "raw_string", "ansi_c_string")
            found[match[1].strip("\"'")] = self.word(last).value if quoted else text(_source(child)[match.end() :])
        return found

    def declaration(self, node: Node) -> Value:
        source = _source(node)
        if refers := re.match(r"(?:declare|typeset|local)\s+-\w*n\w*\s+(\w+)=(\w+)", source):
            self.state.names[refers[1]] = refers[2]
            return UNKNOWN
        for child in node.named_children:
            if child.type == "variable_assignment":
                self.assignment(child)
        words = [text(_source(node).split()[0])] if _source(node).split() else []
        for child in node.named_children:
            if child.type not in ("variable_assignment",):
                words += self.words(child)
            elif child.type == "variable_assignment" and (name := child.child_by_field_name("name")) is not None:
                value = self.state.variables.get(_source(name), UNKNOWN)
                words.append(concatenate((text(_source(name) + "="), value)))
        self.trail.add("command", words[0].text if words else "", {"line": concatenate(words, " ")}, place(node))
        return UNKNOWN

    # Words.

    def words(self, node: Node) -> list[Value]:
        """The arguments that one word becomes."""
        if node.type in ("word", "concatenation") and b"{" in (node.text or b""):
            spread = brace_words(_source(node))
            if spread is not None and not any(mark in _source(node) for mark in "$`'\""):
                return [text(part) for part in spread]
        word = self._list(node) or self.word(node)
        value = word.value
        if value.items is not None:
            return value.items[:MOST_WORDS]
        if word.splits and value.texts and any(c in value.text for c in self.separators):
            parts = re.split(f"[{re.escape(self.separators)}]+", value.text.strip(self.separators))[:MOST_WORDS]
            return [text(part, labels=value.labels) for part in parts]
        return [value]

    def _list(self, node: Node) -> Word | None:
        """`"$@"` and `"${a[@]}"`: all of a list, each as a word of its own, quotes or not."""
        if node.type == "command_name" and len(node.named_children) == 1:
            node = node.named_children[0]
        if node.type != "string" or not EVERYTHING.fullmatch(node.text or b""):
            return None
        value = self.expansion(node.named_children[0])
        return Word(value) if value.items is not None else None

    @property
    def separators(self) -> str:
        """The characters at which the shell splits words."""
        known = self.state.variables.get("IFS")
        return (known.exact if known is not None else None) or " \t\n"

    def word(self, node: Node) -> Word:
        """The value of one word."""
        self.budget.left -= 1
        match node.type:
            case "word" | "number" | "command_name" | "variable_name" | "string_content" | "regex" | "test_operator":
                if node.type == "command_name" and node.named_children:
                    first = node.named_children[0]
                    if first.type != "word" or len(node.named_children) > 1:
                        return self.word(first)
                return Word(text(glob_word(_source(node))))
            case "raw_string":
                return Word(text(_source(node)[1:-1]))
            case "ansi_c_string":
                return Word(text(ansi(_source(node)[2:-1]), labels=fold.ASSEMBLED))
            case "translated_string":
                return self.word(node.named_children[0]) if node.named_children else Word(UNKNOWN)
            case "string":
                return Word(self.pieces(node, _source(node), 1))
            case "simple_expansion" | "expansion":
                return Word(self.expansion(node), splits=True)
            case "command_substitution":
                return Word(self.substitution(node), splits=True)
            case "process_substitution":
                return Word(self._process(node))
            case "arithmetic_expansion":
                return Word(Value((HOLE,)))
            case "concatenation":
                return self._concatenation(node)
            case "array":
                return Word(Value(items=[value for child in node.named_children for value in self.words(child)]))
            case _:
                self._inside(node)
                return Word(text(glob_word(_source(node))))

    def _concatenation(self, node: Node) -> Word:
        depth_kept = self.depth
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        parts = [self.word(child) for child in node.children if child.is_named or child.type not in ('"',)]
        self.depth = depth_kept
        whole = concatenate([part.value for part in parts])
        pieces = [part.value.text for part in parts]
        if len(pieces) > 1 and _cut_up(node):
            whole = whole.labelled(fold.ASSEMBLED)
        return Word(whole, any(part.splits for part in parts))

    def pieces(self, node: Node, whole: str, margin: int = 0) -> Value:
        """A quoted text: the literal stretches as they stand, the expansions worked out."""
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
                separator = self.state.variables.get("IFS", text(" ")).text[:1]
                value = concatenate(value.items, separator)
            parts.append(value)
            at = child.end_byte - node.start_byte
        end = len(data) - margin if margin else len(data)
        parts.append(text(_unescaped(data[at:end].decode("utf-8", "replace"))))
        return parts[0] if len(parts) == 1 else concatenate(parts)

    def expansion(self, node: Node) -> Value:
        for child in node.named_children:
            if (
                child.type in ("command_substitution", "string", "concatenation")
                and child is not node.named_children[0]
            ):
                self.word(child)
        source = _source(node)
        if self.state.names and (real := self.state.names.get(source.strip("${}"))) is not None:
            source = f"${{{real}}}"
        return expand(source, self.state.variables, self.state.arguments)

    def substitution(self, node: Node) -> Value:
        if len(node.named_children) == 1 and node.named_children[0].type == "file_redirect":
            redirects = self.redirect(node.named_children[0])
            return self.input_of(redirects, UNKNOWN)
        output = self.block(node.named_children)
        return each(output, lambda known: known.rstrip("\n")) if output.texts else output

    def _process(self, node: Node) -> Value:
        into = (node.text or b"").startswith(b">")
        output = self.block(node.named_children, self.fed if into else UNKNOWN)
        if into:
            return Value(("/dev/fd/63",), labels=output.labels)
        made = Value(("/dev/fd/63",), labels=output.labels)
        made.fields = {"content": output}
        return made

    # Redirections.

    def redirect(self, node: Node) -> list[Redirect]:
        operator = next((child.type for child in node.children if not child.is_named), "")
        broken = next((child for child in node.children if child.type == "ERROR"), None)
        if broken is not None and not operator:
            operator = _source(broken)
        elif broken is not None:
            operator += _source(broken)
        descriptor = next((_source(child) for child in node.named_children if child.type == "file_descriptor"), "")
        targets = node.children_by_field_name("destination")
        made = []
        for target in targets:
            made.append(Redirect(operator, descriptor, self.word(target).value, place(node)))
        return made

    def input_of(self, redirects: Sequence[Redirect], stdin: Value) -> Value:
        for redirect in redirects:
            if redirect.operator.startswith("<") and not redirect.operator.startswith("<&"):
                content = (redirect.target.fields or {}).get("content")
                if content is not None:
                    stdin = content
                    continue
                self._socket(redirect)
                act = self.trail.add("read", "<", {"path": redirect.target}, redirect.place)
                stdin = self.nested.content(redirect.target).labelled(self.nested.done(act))
        return stdin

    def _socket(self, redirect: Redirect) -> bool:
        target = redirect.target.text
        if re.match(r"/dev/(tcp|udp)/", target):
            self.trail.add("connect", target, {"host": text(target), "shell": text("yes")}, redirect.place)
            return True
        return False

    def output(self, redirect: Redirect, data: Value, command: Value) -> None:
        """Something printed goes into a file, a device or a connection."""
        operator = redirect.operator
        if operator.startswith("<") and operator != "<>":
            return
        if operator in (">&", "&>", "&>>") and redirect.target.text.isdigit():
            return
        if self._socket(redirect):
            self.trail.add("send", ">", {"url": redirect.target, "data": data, "command": command}, redirect.place)
            return
        kind = "append" if ">>" in operator else "write"
        fields = {"path": redirect.target, "data": data, "command": command}
        act = self.trail.add(kind, operator, fields, redirect.place)
        self.nested.done(act)

    # Commands.

    def command(self, node: Node, stdin: Value, redirects: list[Redirect], extra: Sequence[Node] = ()) -> Value:
        self.fed = stdin
        words: list[Value] = []
        redirects = list(redirects)
        # Assignments in front of a command hold for it alone, but a script that sets one may mean it.
        for child in node.named_children:
            match child.type:
                case "variable_assignment":
                    self.assignment(child)
                case "file_redirect":
                    redirects += self.redirect(child)
                case "herestring_redirect":
                    stdin = self.word(child.named_children[-1]).value if child.named_children else UNKNOWN
                case "heredoc_redirect":
                    stdin = self.heredoc(child)
                case "comment" | "ERROR":
                    if child.type == "ERROR":
                        words += [value for part in child.named_children for value in self.words(part)]
                case _:
                    words += self.words(child)
        for child in extra:
            words += self.words(child)
        if any(redirect.operator.startswith("<") for redirect in redirects):
            stdin = self.input_of([r for r in redirects if r.operator.startswith("<")], stdin)
        if not words:
            for redirect in redirects:
                self.output(redirect, UNKNOWN, UNKNOWN)
            return UNKNOWN
        self.background = self._in_background(node)
        hidden = fold.ASSEMBLED if _hides_name(node, words[0]) else frozenset[str]()
        output = self.simple_values(words, stdin, place(node), redirects, hidden)
        for redirect in redirects:
            self.output(redirect, output, concatenate(words[:30], " "))
        return (
            UNKNOWN if any(r.operator in (">", ">>", ">|") and r.descriptor in ("", "1") for r in redirects) else output
        )

    @staticmethod
    def _in_background(node: Node) -> bool:
        """Whether the command is followed by `&`."""
        while node.parent is not None and node.parent.type in ("redirected_statement", "pipeline", "list"):
            node = node.parent
        return node.next_sibling is not None and node.next_sibling.type == "&"

    def simple(self, words: list[Word], stdin: Value, where: Place, node: Node) -> Value:
        return self.simple_values([word.value for word in words], stdin, where, [])

    def simple_values(
        self,
        words: list[Value],
        stdin: Value,
        where: Place,
        redirects: Sequence[Redirect] = (),
        hidden: frozenset[str] = frozenset(),
        through: str = "",
    ) -> Value:
        """One command with its arguments; what it prints. Also how other languages start processes."""
        self.budget.spend(5)
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        try:
            return self._simple(words, stdin, where, redirects, hidden, through)
        finally:
            self.depth -= 1

    def _simple(
        self,
        words: list[Value],
        stdin: Value,
        where: Place,
        redirects: Sequence[Redirect],
        hidden: frozenset[str],
        through: str = "",
    ) -> Value:
        name = words[0].text
        if not name and not words[0].labels:
            return labels_only(words, stdin)
        known = name.replace("\\", "/").rpartition("/")[2] if not name.startswith("\\") else name[1:]
        if len(known) <= LONGEST_PATTERN and ("?" in known or "[" in known[:-1]):
            matching = next((program for program in COMMANDS if fnmatch.fnmatchcase(program, known)), None)
            if matching is not None and known != "[":
                known, hidden = matching, hidden | fold.ASSEMBLED
        known = known.removesuffix(".exe") if known.endswith(".exe") else known
        body = self.state.functions.get(name)
        if body is not None:
            return self.follow(name, body, words[1:], stdin)
        alias = self.state.aliases.get(name)
        if alias is not None and alias.exact and name not in self.state.active:
            if len(self.state.active) >= MOST_ALIASES:
                raise TooDeep
            self.budget.spend(len(words))
            words = [*(text(part) for part in alias.exact.split()), *words[1:]]
            self.state.active.add(name)
            try:
                return self._simple(words, stdin, where, redirects, hidden)
            finally:
                self.state.active.discard(name)
        if self.holes:
            words = [word.labelled(self.holes) if HOLE in word.text else word for word in words]
        if self.nested.mentions is not None:
            for word in words:
                self.nested.mentioned(word.text, where)
        command = Command(self, known, words, stdin, where, redirects, words[0].labels | hidden, through)
        self.trail.add(
            "command",
            known,
            {
                "line": concatenate(words[:60], " "),
                "stdin": stdin,
                "name": words[0],
                "redirects": _redirect_text(redirects),
                "background": text("yes") if self.background else UNKNOWN,
            },
            where,
            command.labels,
        )
        handler = COMMANDS.get(known)
        if handler is not None:
            output = handler(command)
            if output is not None:
                return output
        elif words[0].labels or not words[0].exact or "/" in name or self.nested.origin(words[0]):
            self.nested.started(words[0], command.labels, where)
        self._mentioned(command)
        if known in INFORMERS:
            return Value(labels=labels_of((*words, stdin)) | INFORMERS[known])
        return labels_only(words, stdin)

    def _mentioned(self, command: Command) -> None:
        """A program that is not known and gets a file's name will use the file."""
        if command.name in NO_READERS:
            return
        for word in command.arguments[:40]:
            if word.text.startswith(("/", "~", "./", "../")) or "/." in word.text:
                act = self.trail.add("use", command.name, {"path": word}, command.place, command.labels)
                self.nested.done(act)


def labels_only(words: Sequence[Value], stdin: Value) -> Value:
    """The output of a command that is not known: made of what went in."""
    labels = labels_of((*words, stdin))
    return Value(labels=labels) if labels else UNKNOWN


def _redirect_text(redirects: Sequence[Redirect]) -> Value:
    return (
        concatenate([text(f"{r.descriptor}{r.operator}{r.target.text}") for r in redirects], " ")
        if redirects
        else UNKNOWN
    )


def _joined(match: re.Match[bytes]) -> bytes:
    """Broken lines as one, with the same number of lines after them, so that what follows keeps its place."""
    whole = match[0].replace(b"\\\n", b"")
    return whole + b"\n" * match[0].count(b"\\\n")


def _longest_pipeline(data: bytes) -> int:
    """Return how many pipes follow each other at most; a line that ends with one goes on."""
    longest = now = 0
    for match in PIPE_OR_END.finditer(data):
        now = now + 1 if match[0] == b"|" else 0
        longest = max(longest, now)
    return longest


def _braces(node: Node) -> list[str] | None:
    """`{rm,-rf,/}`, which the grammar takes for a group: the words that it becomes."""
    whole = _source(node).strip()
    return None if re.search(r"[\s;$`'\"]", whole) else brace_words(whole)


def _hides_name(node: Node, name: Value) -> bool:
    """Whether the command's name is pieced together so that it cannot be read."""
    first = node.child_by_field_name("name")
    if first is None:
        return False
    written = _source(first).strip('"')
    if (
        "$" in written
        and name.exact is not None
        and PIECES.fullmatch(written)
        and not re.fullmatch(r"\$\{?\w+(:?[-=][^}]*)?\}?", written)
    ):
        return True
    return Source.ASSEMBLED in name.labels or (
        bool(re.search(r"\w(''|\"\"|\\(?=\w)|'\w+'|\"\w+\"|\$@|\$\*|\$\{?[a-z]\b)\w", written))
        and name.exact is not None
    )


def _cut_up(node: Node) -> bool:
    """`r''m`, `"r"m`: quotes inside a word that only serve to break it up."""
    written = _source(node)
    return (
        bool(re.search(r"[a-z](''|\"\"|'[a-z]{1,3}'|\"[a-z]{1,3}\")[a-z]?", written))
        and "=" not in written
        and " " not in written
    )


def _source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _unescaped(raw: str) -> str:
    return re.sub(r"\\([$`\"\\])", r"\1", raw.replace("\\\n", "")) if "\\" in raw else raw


def place(node: Node) -> Place:
    start, end = node.start_point, node.end_point
    return start[0] + 1, start[1], end[0] + 1, end[1]
