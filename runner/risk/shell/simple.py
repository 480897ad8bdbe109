"""One simple command: functions and aliases of the script, known commands, programs that are not known."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.risk.executing.running import Obeys
from runner.risk.model import fold
from runner.risk.model.acts import Source
from runner.risk.model.bounds import excerpt
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, either, labels_of, text
from runner.risk.shell.command import ELSEWHERE, Command
from runner.risk.shell.commands.dry import is_dry
from runner.risk.shell.commands.table import commands, known_as
from runner.risk.shell.obeying import FROM_OUTSIDE, how_it_runs, note_obeyed
from runner.risk.shell.redirects import shown
from runner.risk.shell.strangers import is_stranger, note_removal, note_replacing, note_stranger
from runner.risk.shell.subscripts import given_to, worked_out
from runner.risk.shell.syntax import place, source
from runner.risk.trace.machine import TooDeep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from runner.risk.model.acts import Place
    from runner.risk.shell.command import Redirect, ShellContext

COMMAND_STEPS = 25
"""What a command costs beside its words and acts, in steps of some 1.3 microseconds."""
LONGEST_PATTERN = 200
"""Of a command's name with `?` and `[...]` in it: making an expression of one takes quadratic time."""
MOST_ALIASES = 50
"""Aliases that stand for each other, one after the other."""
SEES_FUNCTIONS = frozenset(("then", "do", "else", "time"))
"""Words before a command that leave the functions of the script in force."""
BOMB = 2
"""Copies of itself that a function starts, from which there are more and more."""
PIECES = expression(r"(?:[\w'\"\\]|\$\{?+\w++(?::[^}]*+)?+\}?+){2,}+|\$\{?+\w++:[^}]*+(?<=[\w'\"\\])")
"""Letters, quotes and variables in a row; or one variable whose slice is not closed, which ends in such a one."""
ABOUT_HOST = """
    whoami hostname id uname ifconfig ip who w last lastlog hostnamectl dmidecode lscpu systeminfo
    ipconfig logname users arp netstat ss lsb_release getmac sw_vers system_profiler
"""
INFORMERS = {
    **dict.fromkeys(ABOUT_HOST.split(), frozenset({"host-info"})),
    **dict.fromkeys(("whoami", "hostname", "logname", "hostnamectl"), frozenset({"host-info", "who"})),
    "date": frozenset({"clock"}),
    **dict.fromkeys(("ps", "pgrep", "pidof", "top", "lsof", "fuser", "tasklist"), frozenset({"process"})),
    **dict.fromkeys(("env", "printenv"), frozenset({"environment"})),
}
"""Commands that report something worth following, and the label of their output."""
NOT_READING = """
    ls ll dir stat test [ mkdir touch file ssh-keygen ssh-add ssh-copy-id git -l which type whereis du
    df realpath readlink dirname basename export cmake make gcc g++ npm pip pip3 install chattr lsattr
    umask mount umount mv cp rm ln chmod chown cd pushd
"""
NO_READERS = frozenset(NOT_READING.split())
"""Commands that do not use the content of a file that they are given."""


@dataclass(slots=True)
class _OwnCalls:
    """The calls of a function to itself that no condition decides about."""

    branches: int
    """Branches around the first call of the function."""
    number: int = 0
    at_once: bool = False
    """Whether one of them is not over when the next one begins."""


class _Call(NamedTuple):
    """What a command is started with."""

    words: list[Value]
    stdin: Value
    where: Place
    redirects: Sequence[Redirect]
    hidden: frozenset[str]
    through: str
    """The command that starts this one; '' for none."""


class SimpleCommands:
    """Follows the simple commands of one script."""

    def __init__(self, shell: ShellContext, statement: Callable[[Node, Value], Value]) -> None:
        """`statement` follows the body of a function."""
        self.shell = shell
        self.statement = statement
        self._own_calls: dict[str, _OwnCalls] = {}

    def start(
        self,
        words: list[Value],
        stdin: Value,
        where: Place,
        redirects: Sequence[Redirect] = (),
        hidden: frozenset[str] = frozenset(),
        through: str = "",
    ) -> Value:
        """Follow one command with its arguments; return what it prints."""
        self.shell.trail.budget.spend(COMMAND_STEPS)
        with self.shell.deeper():
            return self._start(_Call(words, stdin, where, redirects, hidden, through))

    def _start(self, call: _Call) -> Value:
        state, words = self.shell.state, call.words
        if len(words[0].texts) > 1:
            names = [text(one, labels=words[0].labels) for one in words[0].texts]
            return either(self._start(call._replace(words=[one, *words[1:]])) for one in names)
        name = words[0].text
        if not name and not words[0].labels:
            return self._nameless(call)
        program, matched = program_of(name)
        if matched:
            call = call._replace(hidden=call.hidden | fold.ASSEMBLED)
        bodies, alias = state.functions.get(name, ()), state.aliases.get(name)
        aliased = alias is not None and bool(alias.exact) and name not in state.active
        if not bodies and not aliased:
            own = self._own_program(call) if self.shell.stand_ins else None
            return self._as_program(program, call) if own is None else own
        before, outside = (state.directory, state.folder, state.surely), name not in state.active
        outputs: list[Value] = []
        # A program that starts others sees no functions: inside the function of that name it starts the program.
        sees_functions = not call.through or call.through in SEES_FUNCTIONS
        if bodies and (outside or sees_functions):
            for word in words[1:]:
                worked_out(self.shell, word, call.where)
            outputs += [self.follow(name, body, words[1:], call.stdin, given=True) for body in list(bodies)]
        if alias is not None and aliased:
            outputs.append(self._aliased(name, alias, call))
        if sees_functions and (is_stranger(program) or (name in self.shell.replaced and outside and alias is None)):
            self._instead(call)
            return either(outputs)
        if not outside and not aliased:
            return self._as_program(program, call)
        after = state.directory, state.folder, state.surely
        state.directory, state.folder, state.surely = before
        with self.shell.branch():
            outputs.append(self._as_program(program, call))
        if state.folder is before[1]:
            state.directory, state.folder, state.surely = after
        elif after[1] is not before[1] and after[0] == state.directory:
            state.folder, state.surely = after[1], after[2]
        else:
            state.directory, state.folder, state.surely = "", ELSEWHERE, False
        return either(outputs)

    def _own_program(self, call: _Call) -> Value | None:
        """Follow a program of the script's own that surely is in the place of another; None where there is none."""
        known = self.shell.stand_ins.get(call.words[0].exact or "")
        if known is None or call.through not in ("", *SEES_FUNCTIONS) or call.where[0] <= known.line:
            return None
        self._instead(call)
        with self.shell.trail.inside(call.where, excerpt(known.body, 200), "shell"):
            return self.shell.inner(known.body, call.words[1:], call.stdin)

    def _instead(self, call: _Call) -> None:
        """Note a command that is not the program of its name, but what the script has surely put in its place."""
        name = call.words[0].text
        if is_stranger(name) or name not in (self.shell.replaced | self.shell.stand_ins.keys()):
            return  # a function of the script's own is in nothing's place
        fields = {"line": call.words[0], "name": call.words[0], "instead": text("yes")}
        self.shell.trail.add("command", "stand-in", fields, call.where)

    def _aliased(self, name: str, alias: Value, call: _Call) -> Value:
        """Follow a command whose name is an alias."""
        active = self.shell.state.active
        if len(active) >= MOST_ALIASES:
            raise TooDeep
        self.shell.trail.budget.spend(len(call.words))
        active.add(name)
        try:
            meant = [*(text(part) for part in (alias.exact or "").split()), *call.words[1:]]
            return self._start(call._replace(words=meant, through=""))
        finally:
            active.discard(name)

    def _as_program(self, program: str, call: _Call) -> Value:
        """Follow a command as the program that it names, whatever functions and aliases there are."""
        words = call.words
        if self.shell.holes:
            words = [word.labelled(self.shell.holes) if HOLE in word.text else word for word in words]
        if self.shell.nested.mentions is not None:
            for word in words:
                self.shell.nested.mentioned(word.text, call.where)
        labels = words[0].labels | call.hidden
        return self._carry_out(
            Command(
                self.shell, self.start, program, words, call.stdin, call.where, call.redirects, labels, call.through
            )
        )

    def _nameless(self, call: _Call) -> Value:
        """Follow a command whose first word is empty or not known: one that is empty leaves the next in its place."""
        words = call.words
        if words[0].exact is None:
            self.shell.nested.started(words[0], call.hidden, call.where)
        if len(words) > 1 and (words[0].exact is not None or known_as(words[1].text) is not None):
            return self._start(call._replace(words=words[1:]))
        return labels_only(words, call.stdin)

    def _carry_out(self, command: Command) -> Value:
        """Record the command and what it does; return what it prints."""
        shell, words = self.shell, command.words
        known = words[0].text[:1] == "/" and words[0].exact is not None and not is_stranger(command.name)
        called = text(command.name, labels=words[0].labels) if known else words[0]
        fields = {
            "line": concatenate((called, *command.arguments), " "),
            "stdin": command.stdin,
            "name": words[0],
            "words": Value(items=command.arguments),
            "redirects": shown(command.redirects),
            "background": text("yes") if shell.background else UNKNOWN,
        }
        how = how_it_runs(command.name, command.arguments)
        if how >= Obeys.CAN:
            fields["runs"] = text(how.name)
        if words[0].text in shell.state.functions:
            fields["defined"] = text("yes")
        if is_dry(command.name, [word.text for word in words[1:]]):
            fields["dry"] = text("yes")
        shell.trail.add("command", command.name, fields, command.place, command.labels)
        if how is Obeys.DOES:
            note_obeyed(command)
        elif not words[0].texts and words[0].labels & FROM_OUTSIDE:
            command.act("execute", code=words[0], language=text("shell"))
        given_to(shell, command.name, command.arguments, command.place)
        known_command = known_as(command.name)
        if known_command is not None:
            command.valued = known_command.valued
            output = known_command.handler(command)
            if output is not None:
                return output
        elif words[0].labels or not words[0].exact or "/" in words[0].text or shell.nested.origin(words[0]):
            shell.nested.started(words[0], command.labels, command.place)
        if known_command is None:
            note_removal(command)
            note_replacing(command)
        self._uses(command, strange=note_stranger(command))
        if command.name == "printenv" and (asked := [word.text for word in words[1:] if word.text[:1] != "-"]):
            return Value(labels=frozenset(f"${name}" for name in asked))
        if command.name in INFORMERS:
            return Value(labels=labels_of((*words, command.stdin)) | INFORMERS[command.name])
        return labels_only(words, command.stdin)

    def follow(self, name: str, body: Node, arguments: list[Value], stdin: Value, *, given: bool = False) -> Value:
        """Call a function of the script; `given` says whether these are its arguments."""
        state = self.shell.state
        state.called.add(name)
        if name in state.active:
            self._starts_itself(name, body)
            return UNKNOWN
        outside = state.arguments, state.given
        state.arguments, state.given = arguments, given
        state.active.add(name)
        self._own_calls[name] = _OwnCalls(len(self.shell.former))
        try:
            return self.statement(body, stdin)
        finally:
            state.arguments, state.given = outside
            state.active.discard(name)

    def _starts_itself(self, name: str, body: Node) -> None:
        """Note a function that starts itself twice, whatever happens, without waiting for the end of the first one."""
        calls = self._own_calls.get(name)
        if calls is None or len(self.shell.former) > calls.branches:
            return
        calls.number += 1
        calls.at_once = calls.at_once or self.shell.piped or self.shell.background
        if calls.number == BOMB and calls.at_once and f"{name}|{name}" not in source(body).replace(" ", ""):
            self.shell.trail.add("fork-bomb", name, {"line": text(excerpt(source(body), 200))}, place(body))

    def _uses(self, command: Command, *, strange: bool) -> None:
        """Record that a program which is not known uses the files that it gets."""
        if command.name in NO_READERS:
            return
        command.uses(command.arguments, strange=strange)


def program_of(name: str) -> tuple[str, bool]:
    """Return the program that a command's name stands for, without its folder, and whether a pattern hides it."""
    known = name.replace("\\", "/").rpartition("/")[2] if not name.startswith("\\") else name[1:]
    matching = _matching(known)
    return (matching or known).removesuffix(".exe"), matching is not None


def _matching(known: str) -> str | None:
    """Return the first known command that a name with `?` or `[...]` in it matches."""
    if len(known) > LONGEST_PATTERN or known == "[" or ("?" not in known and "[" not in known[:-1]):
        return None
    return next((program for program in commands() if fnmatch.fnmatchcase(program, known)), None)


def labels_only(words: Sequence[Value], stdin: Value) -> Value:
    """Return the output of a command that is not known: made of what went in."""
    labels = labels_of((*words, stdin))
    return Value(labels=labels) if labels else UNKNOWN


def hides_name(node: Node, name: Value) -> bool:
    """Return whether the command's name is pieced together so that it cannot be read."""
    first = node.child_by_field_name("name")
    if first is None:
        return False
    written = source(first).strip('"')
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
