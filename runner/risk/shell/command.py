"""One command with its words, and what every part of a script shares: variables, functions, depth and trail."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, either, text
from runner.risk.trace.machine import TooDeep
from runner.risk.trace.remote import opened_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tree_sitter import Node

    from runner.risk.model.acts import Place, Trail
    from runner.risk.shell.stand_ins import StandIn
    from runner.risk.trace.world import World

DEEPEST = 110
"""Levels of nesting that are followed; each costs up to five Python frames."""


ELSEWHERE = text(HOLE)
"""A folder that only the run decides about."""


@dataclass(slots=True)
class Redirect:
    """One redirection, such as `2> file`."""

    operator: str
    descriptor: str
    target: Value
    place: Place


@dataclass(slots=True)
class ShellState:
    """Variables and functions of a shell. Subshells share them.

    Where a function or an alias is in force is therefore not known: every body that a name was given counts, and so
    does the program of that name.
    """

    variables: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, list[Node]] = field(default_factory=dict)
    """The bodies that each name was given."""
    aliases: dict[str, Value] = field(default_factory=dict)
    arguments: list[Value] = field(default_factory=list)
    given: bool = False
    """Whether the arguments are known, so that none are none."""
    active: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    directory: str = ""
    folder: Value = UNKNOWN
    """The same with its labels."""
    former: tuple[str, Value] = ("", UNKNOWN)
    """Where the script was before: `cd -`."""
    stack: list[tuple[str, Value]] = field(default_factory=list)
    """Where it was at each `pushd`."""
    surely: bool = True
    """Whether the script is in that folder for sure: one that is not there leaves it where it was."""
    stops: bool = False
    """Whether the script ends when a command fails (`set -e`)."""
    names: dict[str, str] = field(default_factory=dict)
    """Variables that stand for another one (`declare -n`)."""
    late: list[tuple[Value, dict[str, Value]]] = field(default_factory=list)
    """What runs when the script ends (`trap`), and the variables when that was said."""
    descriptors: dict[str, Value] = field(default_factory=dict)
    """What `exec` has opened for reading, by number or by the variable that holds it; "0" is the standard input."""


@dataclass(slots=True)
class ShellContext:
    """What the parts of one script share while it is followed."""

    trail: Trail
    nested: World
    state: ShellState
    holes: frozenset[str]
    """Labels of what stands at the holes of the script, put there by an outer program."""
    inner: Callable[[str, Sequence[Value], Value], Value]
    """Goes through a script inside this one, with arguments of its own and what stands on its standard input."""
    depth: int = 0
    former: list[dict[str, Value]] = field(default_factory=list)
    """For each branch around the current command what the variables set in it held before."""
    background: bool = False
    """Whether the current command is followed by `&`."""
    piped: bool = False
    """Whether the current command is a part of a pipeline."""
    probing: bool = False
    """Whether the current command only finds out whether somebody listens: what it opens closes with its subshell."""
    fed: Value = UNKNOWN
    """The standard input of the current command."""
    stand_ins: Mapping[str, StandIn] = field(default_factory=dict)
    """Programs in the place of which there surely are files of the script, which only say their arguments."""
    containers: dict[str, frozenset[str]] = field(default_factory=dict)
    """Containers that the script has surely started itself, by their names, and the labels of these."""
    halts: int = 0
    """Line from which on the script ends where a plain command fails; 0 where that is not sure."""
    keeps_random: bool = False
    """Whether nothing in the script takes numbers out of what has a random one, or sets where they come from."""
    asking: int = 0
    """Operators and conditions around the current command by which the script continues where it fails."""
    replaced: set[str] = field(default_factory=set)
    """Programs in the place of which there surely is a function of the script, which only says its arguments."""

    @property
    def ends_here(self) -> bool:
        """Whether the script surely ends where the current command fails."""
        return bool(self.halts) and not (self.asking or self.former or self.piped or self.background)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count one level of nesting. Raises TooDeep beyond DEEPEST."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        try:
            yield
        finally:
            self.depth -= 1

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Follow what changes to other folders for itself only."""
        state = self.state
        kept = state.directory, state.folder, state.surely
        try:
            yield
        finally:
            state.directory, state.folder, state.surely = kept

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Follow code that may not run: after it a variable holds what was set there, or what it held before."""
        self.former.append({})
        before = self.state.folder
        try:
            yield
        finally:
            self.meet()
            self.former.pop()
            if self.state.folder is not before:
                self.state.folder = ELSEWHERE

    def meet(self) -> None:
        """Let each variable set in the innermost branch hold either value: its end, or an alternative to it."""
        former, self.former[-1] = self.former[-1], {}
        variables = self.state.variables
        for name, known in former.items():
            variables[name] = either((variables.get(name, UNKNOWN), known))
            if len(self.former) > 1:
                self.former[-2].setdefault(name, known)

    def set(self, name: str, value: Value) -> None:
        """Set a variable."""
        if self.former and value.items is None and (known := self.state.variables.get(name)) is not None:
            self.former[-1].setdefault(name, known)
        self.state.variables[name] = value


class Start(Protocol):
    """Follow one command given as words; return what it prints."""

    def __call__(
        self,
        words: list[Value],
        stdin: Value,
        where: Place,
        redirects: Sequence[Redirect] = (),
        hidden: frozenset[str] = frozenset(),
        through: str = "",
    ) -> Value: ...


@dataclass(slots=True)
class Command:
    """One command with its words."""

    shell: ShellContext
    start: Start
    name: str
    words: list[Value]
    stdin: Value
    place: Place
    redirects: Sequence[Redirect]
    labels: frozenset[str]
    through: str = ""
    """The command that starts this one, such as `find` or `env`."""
    valued: str = ""
    """The options that take a value, as `-o --output`."""

    @property
    def arguments(self) -> list[Value]:
        """The words after the name."""
        return self.words[1:]

    def parsed(self, valued: str | None = None, stop: bool = False) -> tuple[dict[str, Value], list[Value]]:
        """Return options and operands.

        `valued` are the options that take a value, where they are others than the table of commands says; with `stop`
        the first operand ends the options, as for commands that run another one.
        """
        takes = set((self.valued if valued is None else valued).split())
        options: dict[str, Value] = {}
        operands: list[Value] = []
        arguments = self.arguments
        at = 0
        while at < len(arguments):
            word = arguments[at].text
            at += 1
            if word == "--":
                operands += arguments[at:]
                break
            if len(word) < 2 or word[0] not in "-" or HOLE in word[:2]:
                operands.append(arguments[at - 1])
                if stop:
                    operands += arguments[at:]
                    break
                continue
            name, equals, inline = word.partition("=")
            if word.startswith("--") and equals:
                options[name] = text(inline, labels=arguments[at - 1].labels)
            elif word in takes:
                options[word] = arguments[at] if at < len(arguments) else UNKNOWN
                at += 1
            elif word.startswith("--"):
                options[word] = UNKNOWN
            else:
                at = self._letters(word, takes, options, arguments, at)
        return options, operands

    @staticmethod
    def _letters(word: str, takes: set[str], options: dict[str, Value], arguments: list[Value], at: int) -> int:
        """Read `-xvf file`: each letter an option, the last one perhaps with a value. Return where to go on."""
        for i, letter in enumerate(word[1:], 1):
            option = "-" + letter
            if option in takes:
                rest = word[i + 1 :]
                if rest:
                    options[option] = text(rest, labels=arguments[at - 1].labels)
                else:
                    options[option] = arguments[at] if at < len(arguments) else UNKNOWN
                    at += 1
                break
            options[option] = UNKNOWN
        options.setdefault(word, UNKNOWN)
        return at

    def act(self, kind: str, **fields: Value) -> Value:
        """Record an act; return a value with the labels that it gives."""
        if kind == "configure" and (opened := opened_by([word.text for word in self.arguments])):
            fields["opens"] = text(opened)
        done = self.shell.trail.add(kind, self.name, fields, self.place, self.labels)
        return Value(labels=self.shell.nested.done(done))

    def noted(self, field: str, value: Value) -> None:
        """Add a field to the act of the command itself, which is there before those of what it does."""
        act = next((act for act in reversed(self.shell.trail.acts) if act.kind == "command"), None)
        if act is not None:
            act.fields[field] = value

    def again(self, words: Sequence[Value], stdin: Value | None = None) -> Value:
        """Run other words as a command in this one's place."""
        if not words:
            return UNKNOWN
        fed = self.stdin if stdin is None else stdin
        return self.start(list(words), fed, self.place, self.redirects, self.labels, self.name)

    def script(self, code: Value, arguments: Sequence[Value] = (), stdin: Value = UNKNOWN) -> Value:
        """Run `code` as a shell script in this one's place."""
        return self.shell.nested.shell_text(self, code, arguments, stdin)

    def code(self, language: str, code: Value) -> Value:
        """Run `code` in another language; return what it prints, as far as that is known."""
        fields = {"code": code, "language": text(language)}
        done = self.shell.trail.add("execute", self.name, fields, self.place, self.labels)
        given = self.shell.nested.done(done)
        return done.get("printed").labelled(given)

    def read(self, path: Value) -> Value:
        """Record that the file is read; return its content, as far as it is known."""
        content = (path.fields or {}).get("content")
        if content is not None:
            return content
        if path.text == "-":
            return self.stdin
        path = self.placed(path)
        given = self.act("read", path=path)
        return self.shell.nested.content(path).labelled(given.labels | (path.labels & {"found"}))

    def uses(self, given: Sequence[Value], *, strange: bool = False) -> frozenset[str]:
        """Record that files among the words are given to the program; return the labels of what they hold.

        `strange` says that nothing is known of what it does with them.
        """
        labels: frozenset[str] = frozenset()
        for word in given:
            if word.text.startswith(("/", "~", "./", "../")) or "/." in word.text:
                labels |= self.act("use", path=word, strange=text("yes") if strange else UNKNOWN).labels
        return labels

    def searched(self, path: Value) -> Value:
        """Return where a search below a relative path looks, in the folder that the script changed to."""
        folder = self.shell.state.folder
        if path.text not in ("", ".", "./") or not folder.texts or folder.text == ".":
            return path
        changed = folder.labelled(path.labels)
        return changed if self.shell.state.surely else either((changed, path))

    def placed(self, path: Value) -> Value:
        """Return a relative path below the folder that the script changed to."""
        folder = self.shell.state.directory
        if not folder or not path.texts or path.text.startswith(("/", "~", HOLE, "-", "$")) or ":" in path.text[:3]:
            return path
        below = Value(tuple(known.removeprefix("./") or "." for known in path.texts), labels=path.labels)
        return concatenate((text(folder.rstrip("/") + "/"), below)).labelled(path.labels)


Handler = Callable[[Command], Value | None]
"""What a command does. Returns what it prints, or None where the command counts as one that is not known."""


def is_narrowed(value: Value) -> Value:
    """Return the field that says whether a search for certain files gave the path."""
    return text("yes") if "narrowed" in value.labels else UNKNOWN
