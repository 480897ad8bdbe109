"""Assignments and declarations: what the variables of a script hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.risk.executing.running import Obeys
from runner.risk.model.value import UNKNOWN, Value, concatenate, text
from runner.risk.shell.expansion import expand
from runner.risk.shell.obeying import how_it_runs
from runner.risk.shell.steering import steers
from runner.risk.shell.subscripts import PROMPTS, expanded, worked_out
from runner.risk.shell.syntax import place, source
from runner.risk.trace.shown import note_written

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.shell.words import ShellWords


WRITTEN = frozenset(("word", "raw_string", "string"))
"""Nodes of values that stand in the script as they are, where nothing is worked out in them."""


class Assignments:
    """Sets the variables of one script."""

    def __init__(self, words: ShellWords) -> None:
        self.shell = words.shell
        self.words = words

    def assign(self, node: Node) -> None:
        """Set the variable of one assignment."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        target = source(name)
        if (real := self.shell.state.names.get(target)) is not None:
            target = real
        made = self._assigned(value) if value is not None else text("")
        if b"+=" in (node.text or b"")[: len(target) + 4]:
            old = self.shell.state.variables.get(target, UNKNOWN)
            made = (
                Value(items=[*(old.items or []), *made.items]) if made.items is not None else concatenate((old, made))
            )
        if value is not None and value.type in WRITTEN:
            note_written(self.shell.trail, target, made.text, place(node))
        if target.isupper():
            steers(self.shell, target, made, place(node))
        if target in PROMPTS:
            expanded(self.shell, made.text, place(node))
        else:
            worked_out(self.shell, made, place(node))
        if "[" in target:
            target, _, key = target.partition("[")
            old = self.shell.state.variables.get(target, UNKNOWN)
            made = Value(
                items=[*(old.items or []), made], fields={**(old.fields or {}), key.rstrip("]").strip("\"'"): made}
            )
        if made.items:
            # A list is copied whenever it grows.
            self.shell.trail.budget.spend(len(made.items) // 10)
        self.shell.set(target, made if made.texts or made.items is not None else made.labelled((f"${target}",)))

    def _assigned(self, value: Node) -> Value:
        if value.type == "array" and (named := self._keyed(value)):
            return Value(items=list(named.values()), fields=named)
        if value.type == "array":
            return Value(items=[word for child in value.named_children for word in self.words.words(child)])
        return self.words.value(value)

    def _keyed(self, array: Node) -> dict[str, Value]:
        """Return the values of `([a]=x [b]="y z")` by their keys; nothing for a plain list."""
        found: dict[str, Value] = {}
        for child in array.named_children:
            match = re.match(r"\[([^\]]*)\]=", source(child))
            if match is None:
                return {}
            last = child.named_children[-1] if child.named_children else child
            quoted = last.type in ("string", "raw_string", "ansi_c_string")
            found[match[1].strip("\"'")] = self.words.value(last) if quoted else text(source(child)[match.end() :])
        return found

    def declare(self, node: Node) -> Value:
        """Follow `declare`, `export`, `local`, ..., with what they assign."""
        written = source(node)
        if refers := re.match(r"(?:declare|typeset|local)\s+-[^\Wn]*+n\w*+\s++(\w++)=\"?([$\w{}]++)", written):
            named = refers[2]
            if "$" in named:
                named = expand(named, self.shell.state.variables, self.shell.state.arguments).text
            self.shell.state.names[refers[1]] = named
            return UNKNOWN
        for child in node.named_children:
            if child.type == "variable_assignment":
                self.assign(child)
        words = [text(first) for first in written.split(None, 1)[:1]]
        for child in node.named_children:
            if child.type != "variable_assignment":
                given = self.words.words(child)
                words += given
                for word in given:
                    worked_out(self.shell, word, place(child))
            elif (name := child.child_by_field_name("name")) is not None:
                value = self.shell.state.variables.get(source(name), UNKNOWN)
                words.append(concatenate((text(source(name) + "="), value)))
        fields = {"line": concatenate(words, " ")}
        if words and how_it_runs(words[0].text, words[1:]) >= Obeys.CAN:
            fields["runs"] = text(Obeys.CAN.name)
        self.shell.trail.add("command", words[0].text if words else "", fields, place(node))
        return UNKNOWN
