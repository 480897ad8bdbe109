"""Goes through a program once and notes each call: known to be harmless, known to do something, or not known.

What a call is given is known where it stands there, or is a name that the whole program assigns once. Nothing else is
followed, and that is said of every program (`NOT_FOLLOWED`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Parser

from runner.model.expression import expression
from runner.risk.by_calls.imports import RAW, Imports
from runner.risk.model.bounds import bounded, excerpt
from runner.risk.model.broken import first_broken
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, text
from runner.risk.rules.vocabulary import picked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tree_sitter import Node

    from runner.risk.by_calls.reading import CallReading, Mark
    from runner.risk.model.acts import Act, Place, Trail
    from runner.risk.rules.vocabulary import Meaning
    from runner.risk.trace.world import World

NOT_FOLLOWED = "{} is read by its calls alone: what they are given is followed only where it stands beside them."
UNFOLLOWED = "unfollowed"
"""The kind of act by which anything may be done that is not followed."""
DEEPEST = 24
"""Parts of a name, and values within values, that are looked at."""
MOST_UNKNOWN = 200
"""Functions that are not known, which are named; a sentence has room for few."""
LONGEST_NAME = 60
CODED = expression(r"(?<!\\)((?:\\\\)*+)\\u++([0-9a-fA-F]{4})")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", '"': '"', "'": "'", "/": "/", "s": " "}
FIRST_WORD = expression(r"[\w:#]+")
MACRO = b"fn macro_() { macro_(%s); }"
"""How what a macro of Rust is given is read: most macros take expressions with commas between them."""


class Assigned(NamedTuple):
    """What a name stands for in the whole program."""

    value: Node | None
    """None where it is assigned more than once, or to what is not written there."""


def walk(world: World, trail: Trail, reading: CallReading, code: str) -> None:
    """Note what the program does."""
    trail.cut_off(NOT_FOLLOWED.format(reading.title), grave=False)
    if reading.escapes and (plain := CODED.sub(lambda found: found[1] + chr(int(found[2], 16)), code)) != code:
        _note_letters(trail, code)
        # Compilers read these before all else: a line can end, and a comment, by a number.
        code = plain
    root = Parser(reading.grammar).parse(code.encode("utf-8", "replace")).root_node
    if root.has_error:
        trail.add("repaired", reading.title, {}, first_broken(root) or (1, 0, 1, 0))
        if trail.depth == 0:
            trail.add("left-out", reading.title, {}, first_broken(root) or (1, 0, 1, 0))
    walker = Walker(world, trail, reading, root)
    walker.through(root)
    walker.name_unknown()


def not_followed(acts: Iterable[Act]) -> str:
    """Return the first thing that `walk` did not follow of a program, but for what is true of all; '' for nothing."""
    told = (act.get("what").text for act in acts if act.kind in ("cut", UNFOLLOWED))
    return next((one for one in told if not one.endswith(NOT_FOLLOWED[2:])), "")


def _note_letters(trail: Trail, code: str) -> None:
    for number, line in enumerate(code.split("\n"), 1):
        if any(chr(int(found[2], 16)).isascii() for found in CODED.finditer(line)):
            source = {"text": text(excerpt(line.strip(), LONGEST_NAME))}
            trail.add("escaped", "", source, (number, 0, number, len(line.encode())))
            return


class Walker:
    """One program of one language."""

    def __init__(self, world: World, trail: Trail, reading: CallReading, root: Node) -> None:
        self._world = world
        self._trail = trail
        self._reading = reading
        self._words = reading.words
        self._imports = Imports(reading, trail)
        self._assigned: dict[str, Assigned] = {}
        self._own: set[str] = set()
        self._unknown: dict[str, None] = {}
        self._at: Place | None = None
        """Where a macro stands while what it is given is gone through."""
        for node in self._nodes(root):
            self._define(node)

    def _nodes(self, root: Node) -> Iterator[Node]:
        todo = [root]
        while todo:
            node = todo.pop()
            self._trail.budget.spend()
            yield node
            todo += reversed(node.children)

    # ---- names of the program ----

    def _define(self, node: Node) -> None:
        """Note what the program itself gives a name to."""
        kind = node.type
        if kind in self._words["imports"]:
            self._imports.take(node)
        elif kind in self._words["defines"]:
            self._own.add(_word(node.child_by_field_name("name")))
        elif kind in self._words["parameters"]:
            for one in (node, *node.named_children):
                self._assign(_text(one), None)
            self._assign(_text(node.child_by_field_name("name") or node.child_by_field_name("pattern")), None)
        elif (sides := self._reading.fields["assigns"].get(kind)) is not None:
            names, values = (node.child_by_field_name(side) for side in sides)
            left, right = _listed(names), _listed(values)
            for at, name in enumerate(left):
                self._assign(_text(name), right[at] if len(left) == len(right) else None)

    def _assign(self, name: str, value: Node | None) -> None:
        name = name.removeprefix("mut ").strip().removeprefix(RAW)
        if not name or len(name) > LONGEST_NAME:
            return
        self._assigned[name] = Assigned(None if name in self._assigned else value)

    # ---- going through ----

    def through(self, root: Node) -> None:
        """Note what every part of `root` does."""
        left = set[int]()
        for node in self._nodes(root):
            for mark in self._reading.marks.get(node.type, ()):
                self._mark(node, mark)
            if node.type in self._words["imports"]:
                left.update(one.id for one in self._nodes(node))
            elif node.id in left:
                continue
            elif node.type in self._reading.fields["calls"]:
                left.update(one.id for one in self._callee(node) if one.named_child_count == 0 or self._names(one))
                self._call(node)
            elif node.type in self._words["references"]:
                self._refer(node)
            elif self._names(node):
                self._mention(node)
            elif node.type in self._words["strings"]:
                known = _text(node)
                self._world.written_out(known, self._place(node))
                self._world.mentioned(self._string(node).text, self._place(node))
            elif node.type == "identifier" and _word(node) not in self._assigned:
                self._mention(node)

    def _names(self, node: Node) -> bool:
        return node.type in self._reading.fields["names"]

    def _mark(self, node: Node, mark: Mark) -> None:
        source = _text(node)
        if not source.startswith(mark.begins) or not source.endswith(mark.ends) or _first_word(source) in mark.but:
            return
        if mark.act == UNFOLLOWED:
            self._trail.add(UNFOLLOWED, mark.what, {"what": text(mark.what)}, self._place(node))
            return
        rest = source.removeprefix(mark.begins).strip(" \t=\"';()`")
        given = text(rest) if rest and mark.begins else self._inside(node)
        fields = {"path": given, "command": given, "code": given}
        act = self._trail.add(mark.act, mark.what or mark.begins.strip(), fields, self._place(node))
        self._world.done(act)

    def _inside(self, node: Node) -> Value:
        """Return the text of a construct that is written as one, with holes for what is computed."""
        return concatenate([self._content(one) for one in node.named_children]) if node.named_children else UNKNOWN

    def _mention(self, node: Node) -> None:
        """Note a function that is named and not called here: it may be called by whatever gets it."""
        name = self._name(node)
        if self._reading.vocabulary.knows(name):
            self._handed_on(node, name)

    def _refer(self, node: Node) -> None:
        """Note what can only be the name of a function."""
        name = self._name(node)
        if self._reading.vocabulary.of(name):
            self._handed_on(node, name)
        else:
            self._note_unknown(name)

    def _handed_on(self, node: Node, name: str) -> None:
        """Note what a function does that gets who knows what."""
        for meaning in self._reading.vocabulary.of(name):
            if meaning.act:
                fields = {key: UNKNOWN for key, _ in meaning.fields}
                self._world.done(self._trail.add(meaning.act, name, fields, self._place(node)))

    def _call(self, node: Node) -> None:
        name = self._called(node)
        args = self._arguments(node)
        if name.endswith("!"):
            self._macro(node, name)
        if meanings := self._reading.vocabulary.of(name):
            for meaning in meanings:
                self._act(node, name, meaning, args)
            return
        self._note_unknown(name)

    def _note_unknown(self, name: str) -> None:
        last = name.rpartition(".")[2]
        if self._reading.is_harmless(name) or last in self._own or self._is_closure(name):
            return
        self._unknown.setdefault(excerpt(name.replace("()", "") or "?", LONGEST_NAME))

    def _act(self, node: Node, name: str, meaning: Meaning, args: Sequence[Value]) -> None:
        if not meaning.act:
            return
        owner = self._owner(node)
        flat = [inner for one in args for inner in (one.items if one.items is not None else [one])]
        fields = {
            key: self._chained(node, where.partition(":")[2].split(","), args)
            if where.startswith("chain:")
            else picked(where, owner, flat if where.startswith("rest") else args, {})
            for key, where in meaning.fields
        }
        self._world.done(self._trail.add(meaning.act, name, fields, self._place(node)))

    def name_unknown(self) -> None:
        """Say which functions are not known, once all of the program was seen."""
        names = bounded(self._trail, list(self._unknown), MOST_UNKNOWN, "functions that are not known")
        self._trail.called.update(names)
        for name in names:
            self._trail.cut_off(f"Calls {name}, which is not known.", grave=False)

    def _macro(self, node: Node, name: str) -> None:
        """Go through what a macro is given: to the grammar that is a row of words."""
        tree = next((one for one in node.named_children if one.type == "token_tree"), None)
        inner = (tree.text or b"")[1:-1] if tree is not None else b""
        if not inner.strip() or self._trail.is_too_deep(name, self._place(node)):
            return
        for source in (MACRO % inner.replace(b";", b","), MACRO % (b"{" + inner + b"}")):
            root = Parser(self._reading.grammar).parse(source).root_node
            if not root.has_error:
                break
        else:
            what = f"gives {excerpt(name, LONGEST_NAME)} what is not followed"
            self._trail.add(UNFOLLOWED, name, {"what": text(what)}, self._place(node))
            return
        kept, self._at = self._at, self._place(node)
        self._trail.depth += 1
        try:
            for one in self._nodes(root):
                self._define(one)  # also of the function around it, which is called here
            self.through(root)
        finally:
            self._at = kept
            self._trail.depth -= 1

    # ---- what is called ----

    def _callee(self, node: Node) -> list[Node]:
        fields = self._reading.fields["calls"][node.type]
        found = (node.child_by_field_name(one) for one in fields if one[0] not in "=!")
        return [one for one in found if one is not None]

    def _called(self, node: Node) -> str:
        """Return the name of what is called: `os.Remove`, `new.File`, `println!`."""
        fields = self._reading.fields["calls"][node.type]
        parts = self._parts(self._callee(node), 0)
        before = [one[1:] for one in fields if one[0] == "="]
        whole = ".".join(before + parts) + ("!" if "!" in fields else "")
        return self._imports.resolved(whole)

    def _name(self, node: Node, depth: int = 0) -> str:
        """Return the dotted name that a part of the program is; '' where it has none."""
        if depth > DEEPEST:
            return "?"
        kind = node.type
        if kind in self._reading.fields["calls"]:
            parts = self._parts(self._callee(node), depth)
            before = [one[1:] for one in self._reading.fields["calls"][kind] if one[0] == "="]
            return self._imports.resolved(".".join(before + parts)) + "()"
        if (fields := self._reading.fields["names"].get(kind)) is not None:
            if fields == ("*",):
                makes = ["new"] if node.children[-1].type == "new" else []
                return self._imports.resolved(".".join([*makes, *self._parts(node.named_children, depth)]))
            found = (node.child_by_field_name(one) for one in fields)
            return self._imports.resolved(".".join(self._parts([one for one in found if one is not None], depth)))
        if kind in self._words["same"]:
            inner = next((one for one in reversed(node.named_children) if one.type != "comment"), None)
            return "" if inner is None else self._name(inner, depth + 1)
        if node.named_child_count or not node.is_named:
            return ""
        word = _word(node)
        return self._of_variable(word, depth) if len(word) <= LONGEST_NAME and word[:1].isidentifier() else ""

    def _parts(self, nodes: Sequence[Node], depth: int) -> list[str]:
        """Return the parts of a name: only the first may be a variable, or what was imported."""
        rest = (_word(one) if one.named_child_count == 0 else self._name(one, depth + 1) for one in nodes[1:])
        return [one or "?" for one in (*(self._name(one, depth + 1) for one in nodes[:1]), *rest)]

    def _of_variable(self, word: str, depth: int) -> str:
        """Return what a name stands for, where the program says so once."""
        assigned = self._assigned.get(word)
        if assigned is None:
            return self._imports.resolved(word, whole=False)
        if assigned.value is None or assigned.value.type in self._words["functions"]:
            return word
        found = self._name(assigned.value, depth + 4)
        return found if "." in found else word

    def _is_closure(self, name: str) -> bool:
        assigned = self._assigned.get(name)
        value = None if assigned is None else assigned.value
        return value is not None and value.type in self._words["functions"]

    def _owner(self, node: Node) -> Value:
        """Return what a method is called on."""
        callee = self._callee(node)
        if len(callee) > 1:
            return self._value(callee[0])
        if callee and (fields := self._reading.fields["names"].get(callee[0].type)) and fields != ("*",):
            owner = callee[0].child_by_field_name(fields[0])
            return UNKNOWN if owner is None else self._value(owner)
        return UNKNOWN

    # ---- what it is given ----

    def _arguments(self, node: Node) -> list[Value]:
        given = node.child_by_field_name("arguments")
        if given is None:
            given = next((one for one in node.named_children if one.type == "token_tree"), None)
        return [] if given is None else [self._value(one) for one in given.named_children if one.type != "comment"]

    def _chained(self, node: Node, methods: Sequence[str], args: Sequence[Value]) -> Value:
        """Return the arguments of a call and those of the methods called on what it gives, as one list."""
        items = list(args)
        for _ in range(DEEPEST * 2):
            named = node.parent
            outer = None if named is None else named.parent
            if outer is None or outer.type not in self._reading.fields["calls"] or node.id == outer.id:
                break
            given = self._arguments(outer)
            if self._called(outer).rpartition(".")[2] in methods:
                for one in given:
                    items += one.items if one.items is not None else [one]
            node = outer
        if self._is_kept(node):
            items.append(text(HOLE))  # what it is given later is not followed
        return Value(items=items)

    def _is_kept(self, node: Node) -> bool:
        """Return whether what a call gives gets a name, under which it may be given more."""
        above = node.parent
        while above is not None and above.type in self._words["same"]:
            above = above.parent
        return above is not None and above.type in self._reading.fields["assigns"]

    def _value(self, node: Node, depth: int = 0) -> Value:
        if depth > DEEPEST:
            return UNKNOWN
        kind = node.type
        if kind in self._words["strings"]:
            return self._string(node)
        if kind in self._words["lists"]:
            inner = node.child_by_field_name("body") or node.child_by_field_name("value") or node
            return Value(items=[self._value(one, depth + 1) for one in inner.named_children if one.type != "comment"])
        if kind in self._words["joins"]:
            parts = [self._value(one, depth + 1) for one in node.named_children]
            joined = any(one.type == "+" for one in node.children) and any(one.texts for one in parts)
            return concatenate(parts) if joined else UNKNOWN
        if kind in self._reading.fields["calls"]:
            return self._given(node, depth)
        if kind in self._words["same"]:
            inner_node = next((one for one in reversed(node.named_children) if one.type != "comment"), None)
            return UNKNOWN if inner_node is None else self._value(inner_node, depth + 1)
        assigned = self._assigned.get(_word(node)) if node.named_child_count == 0 and node.is_named else None
        if assigned is not None and assigned.value is not None:
            return self._value(assigned.value, depth + 4)
        return UNKNOWN

    def _given(self, node: Node, depth: int) -> Value:
        """Return what a call gives: what it is given itself, for functions that only pass that on."""
        name = self._called(node)
        last = f"*.{name.rpartition('.')[2]}"
        if name not in self._words["passes"] and last not in self._words["passes"]:
            return Value(name=f"{name}()")
        given = node.child_by_field_name("arguments")
        first = given.named_children if given is not None else []
        if len(first) > 1:
            return concatenate([self._value(one, depth + 1) for one in first], "/")
        if first:
            return self._value(first[0], depth + 1)
        callee = self._callee(node)
        owner = callee[0]
        if len(callee) == 1 and (fields := self._reading.fields["names"].get(owner.type)) and fields != ("*",):
            owner = owner.child_by_field_name(fields[0]) or owner
        return self._value(owner, depth + 1)

    def _string(self, node: Node) -> Value:
        parts = [self._content(one) for one in node.named_children]
        return concatenate(parts) if parts else text(_text(node)[1:-1] if node.named_child_count == 0 else "")

    def _content(self, node: Node) -> Value:
        known = _text(node)
        if node.type in self._words["contents"]:
            return text(known)
        if node.type == "escape_sequence":
            body = known[1:]
            if body in ESCAPES:
                return text(ESCAPES[body])
            digits = body.lstrip("xuU").strip("{}")
            if body[:1] in ("x", "u", "U") and len(digits) <= 8:
                try:
                    return text(chr(int(digits, 16)))
                except (ValueError, OverflowError):
                    return text(HOLE)
        return text(HOLE)

    def _place(self, node: Node) -> Place:
        if self._at is not None:
            return self._at
        (line, column), (end, end_column) = node.start_point, node.end_point
        return line + 1, column, end + 1, end_column


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def _word(node: Node | None) -> str:
    return _text(node).removeprefix(RAW)


def _first_word(source: str) -> str:
    """Return what a construct begins with, as far as it is a name with dots or colons."""
    found = FIRST_WORD.match(source)
    return "" if found is None else found[0]


def _listed(node: Node | None) -> list[Node]:
    """Return the parts of one side of an assignment, which may have several."""
    if node is None:
        return []
    several = node.type.endswith("_list") or node.type in ("tuple_pattern", "tuple_expression")
    return node.named_children if several else [node]
