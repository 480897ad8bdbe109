"""What a loop of the shell over a folder spares of what it deletes: the names that it leaves out.

Only what surely holds is noted: the script is plain, the test stands in the same loop before the deletion, it is about
the same file, and both are quoted: of a name with a space in it an unquoted variable makes two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.value import Value, text
from runner.risk.shell.plain import (
    GLOB,
    OPTIONS,
    REMOVES,
    SHOWN,
    TARGET,
    VARIABLE,
    NameShape,
    arguments,
    left_out,
    literal,
    name_of,
    plain_variables,
)
from runner.risk.shell.syntax import parse, place, source

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from tree_sitter import Node

    from runner.risk.model.acts import Act, Place

DEEPEST = 12
MOST_LOOPS = 40
LISTS = frozenset({"", "-1", "-a", "-A", "-1a", "-1A", "-a1", "-A1"})
NONE: frozenset[str] = frozenset()


def note_spared(code: str, acts: Sequence[Act]) -> None:
    """Note at the deletions of a script what its loops spare, where nothing in the script can change that."""
    if not any(act.kind == "delete" for act in acts) or not ("for " in code or "grep " in code):
        return
    root = parse(code)
    bound = None if root.has_error else plain_variables(root)
    if bound is None:
        return
    found: dict[Place, tuple[str, frozenset[str]]] = {}
    waiting, loops = [root], 0
    for node in waiting:  # grows as it is gone through
        if node.type == "for_statement" and loops < MOST_LOOPS:
            loops += 1
            loop = _Loop(node, bound)
            found |= {where: (loop.folder, names) for where, names in loop.found.items()}
        elif node.type == "pipeline":
            found |= {where: ("", names) for where, names in _filtered(node).items()}
        waiting += node.named_children
    for act in acts:
        folder, names = found.get(act.place, ("", NONE))
        if act.kind == "delete" and names:
            act.fields["spares"] = Value(items=[text(name) for name in sorted(names)])
            if folder and "$" not in folder:
                act.fields["within"] = text(folder)


def _filtered(pipeline: Node) -> dict[Place, frozenset[str]]:
    """`ls | grep -v dist | xargs -d '\\n' rm`; without `-d`, quotes and spaces in a name make other names of it."""
    stages = pipeline.named_children
    if len(stages) < 3 or name_of(stages[0]) != "ls" or not set(arguments(stages[0])) <= LISTS:
        return {}
    filters = [left_out(one) for one in stages[1:-1]]
    names = NONE.union(*(one for one in filters if one is not None))
    return {place(stages[-1]): names} if name_of(stages[-1]) == "xargs" and None not in filters else {}


class _Loop:
    """One loop over what is in a folder."""

    def __init__(self, loop: Node, bound: Counter[str]) -> None:
        self.found: dict[Place, frozenset[str]] = {}
        self.folder = ""
        """The folder that it goes over, as it is written; '' for the working folder."""
        self._bound = bound
        self._known: dict[str, NameShape] = {}
        """What variables stand for in this turn."""
        own, over = source(loop.named_children[0]), loop.children_by_field_name("value")
        pattern = GLOB.fullmatch(source(over[0])) if len(over) == 1 else None
        body = loop.child_by_field_name("body")
        if pattern is None or body is None or bound[own] != 1:
            return
        folder = literal(pattern["folder"]) if pattern["folder"] else ""
        if folder is None or not set(VARIABLE.findall(folder)).isdisjoint({own, *_assigned_in(body)}):
            return
        self.folder = folder
        self._known[own] = NameShape(folder, pattern["end"])
        self._block(body.named_children, NONE)

    def _block(self, nodes: Sequence[Node], names: frozenset[str], depth: int = 0) -> frozenset[str]:
        """Go through statements; return the names that are surely left out after them."""
        for node in nodes if depth < DEEPEST else ():
            names = self._statement(node, names, depth + 1)
        return names

    def _statement(self, node: Node, names: frozenset[str], depth: int) -> frozenset[str]:
        match node.type:
            case "variable_assignment":
                if depth == 1:  # deeper down it may not be assigned in every turn
                    self._assigned(node)
            case "command":
                self._deleted(node, names)
            case "redirected_statement" if (body := node.child_by_field_name("body")) is not None:
                self._block([body], names, depth)  # and not at all where a file cannot be opened
            case "compound_statement" if node.children[0].type == "{":
                return self._block(node.named_children, names, depth)
            case "list":
                return self._both(node, names, depth)
            case "if_statement":
                return self._branches(node, names, depth)
            case "case_statement":
                return self._case(node, names, depth)
            case "for_statement" | "while_statement":
                if (body := node.child_by_field_name("body")) is not None:
                    self._block(body.named_children, names, depth)
        return names

    def _both(self, node: Node, names: frozenset[str], depth: int) -> frozenset[str]:
        """`left && right`, `left || right`"""
        [left, right], sign = node.named_children[:2], node.children[1].type
        if len(node.named_children) != 2 or sign not in ("&&", "||"):
            return names
        names = self._block([left], names, depth)
        self._block([right], names | self._left_out(left, sign == "&&", depth), depth)
        return names | self._left_out(left, sign != "&&", depth) if _leaves([right]) else names

    def _branches(self, node: Node, names: frozenset[str], depth: int) -> frozenset[str]:
        after, otherwise = names, names
        left = True
        """Whether every branch so far leaves the turn."""
        for clause in [node, *(one for one in node.named_children if one.type == "elif_clause")]:
            at = next((number for number, one in enumerate(clause.children) if one.type == "then"), 0)
            conditions = [one for one in clause.children[:at] if one.is_named]
            body = [one for one in clause.children[at:] if one.is_named and not one.type.endswith("_clause")]
            if len(conditions) != 1:
                return names
            [condition] = conditions
            self._block(body, otherwise | self._left_out(condition, True, depth), depth)
            otherwise |= self._left_out(condition, False, depth)
            left = left and _leaves(body)
            after = otherwise if left else after
        for clause in node.named_children:
            if clause.type == "else_clause":
                self._block(clause.named_children, otherwise, depth)
        return after

    def _case(self, node: Node, names: frozenset[str], depth: int) -> frozenset[str]:
        items = [one for one in node.named_children if one.type == "case_item"]
        about = node.child_by_field_name("value")
        known = self._shown(source(about)) if about is not None else None
        if known is None or any(child.type in (";&", ";;&") for one in items for child in one.children):
            return names
        before, after = names, names
        for item in items:
            patterns = item.children_by_field_name("value")
            found = [self._name(known, source(one)) for one in patterns]
            body = [one for one in item.named_children if one not in patterns]
            self._block(body, before, depth)
            if not all(found):
                break  # what comes later is about less than it says
            before |= frozenset(found)
            after |= frozenset(found) if _leaves(body) else NONE
        return after

    # ---- conditions ----

    def _left_out(self, node: Node, holds: bool, depth: int) -> frozenset[str]:
        """Return the names that the file surely has not where a condition holds, or where it does not."""
        if depth > DEEPEST:
            return NONE
        inner = node.named_children
        match node.type:
            case "test_command" if len(inner) == 1 and node.children[0].type in ("[", "[["):
                return self._compared(inner[0], holds, depth + 1, quoted=node.children[0].type == "[")
            case "negated_command" if len(inner) == 1:
                return self._left_out(inner[0], not holds, depth + 1)
            case "list" if len(inner) == 2 and node.children[1].type == ("&&" if holds else "||"):
                return self._left_out(inner[0], holds, depth + 1) | self._left_out(inner[1], holds, depth + 1)
            case "command" if name_of(node) == "test" and len(given := arguments(node)) == 3:
                return self._named(given[0], given[1], given[2], holds, quoted=True)
            case _:
                return NONE

    def _compared(self, node: Node, holds: bool, depth: int, *, quoted: bool) -> frozenset[str]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if node.type != "binary_expression" or left is None or right is None or sign is None or depth > DEEPEST:
            return NONE
        if sign.type == ("&&" if holds else "||") and not quoted:
            return self._compared(left, holds, depth + 1, quoted=quoted) | self._compared(
                right, holds, depth + 1, quoted=quoted
            )
        return self._named(source(left), sign.type, source(right), holds, quoted=quoted)

    def _named(self, left: str, sign: str, right: str, holds: bool, *, quoted: bool) -> frozenset[str]:
        known = self._shown(left) if not quoted or left.startswith('"') else None
        differs = sign == "!=" if holds else sign in ("=", "==")
        name = self._name(known, right) if known is not None and differs else ""
        return frozenset((name,)) if name else NONE

    def _name(self, known: NameShape, written: str) -> str:
        plain = literal(written)
        return known.name_in(plain) if plain is not None else ""

    # ---- what variables stand for ----

    def _shown(self, written: str) -> NameShape | None:
        """Return what an expansion stands for, where it is made of the name of the file."""
        match = SHOWN.fullmatch(written)
        if match is None or written.startswith('"') is not written.endswith('"'):
            return None
        known = self._known.get(match["plain"] or match["name"] or match["base"])
        if known is None:
            return None
        if match["base"]:
            return NameShape("", "")
        match match["cut"]:
            case "%/":
                return NameShape(known.before, "")
            case "##*/":
                return None if known.after else NameShape("", "")
            case "#./":
                return NameShape(known.before.removeprefix("./"), known.after)
            case _:
                return known

    def _assigned(self, node: Node) -> None:
        name, value = node.named_children[0], node.child_by_field_name("value")
        known = self._shown(source(value)) if value is not None else None
        if known is not None and self._bound[source(name)] == 1:
            self._known[source(name)] = known

    def _deleted(self, command: Node, names: frozenset[str]) -> None:
        targets = [one for one in arguments(command) if not OPTIONS.fullmatch(one)]
        match = TARGET.fullmatch(targets[0]) if len(targets) == 1 and name_of(command) in REMOVES else None
        known = self._known.get(match["plain"] or match["name"]) if match is not None else None
        if known is None or match is None:
            return
        folder = f"{match['before']}{known.before}"
        if folder == self.folder or (folder == f"./{self.folder}" and not self.folder.startswith(("/", "$"))):
            self.found[place(command)] = names


def _assigned_in(body: Node) -> set[str]:
    """Return the variables that are assigned anywhere in a loop."""
    names: set[str] = set()
    waiting = [body]
    for node in waiting:  # grows as it is gone through
        if node.type in ("variable_assignment", "for_statement"):
            names.add(source(node.named_children[0]))
        waiting += node.named_children
    return names


def _leaves(nodes: Sequence[Node]) -> bool:
    """Return whether statements end the turn."""
    last = nodes[-1] if nodes else None
    if last is None:
        return False
    if last.type == "compound_statement" and last.children[0].type == "{":
        return _leaves(last.named_children)
    given = arguments(last) if last.type == "command" else []
    return name_of(last) in ("continue", "break", "exit") and (not given or name_of(last) == "exit")
