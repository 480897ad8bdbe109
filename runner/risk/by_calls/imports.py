"""The names that a program gets by its imports, in any of the ways that grammars write these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.bounds import excerpt
from runner.risk.model.value import text

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.by_calls.reading import CallReading
    from runner.risk.model.acts import Trail

DEEPEST = 12
LONGEST_NAME = 60
RAW = "r#"
"""Before a word of Rust that is the same without it."""
LIKE_STD = ("core.", "alloc.")
"""Parts of Rust's own library that are in `std` by the same names."""


class Imports:
    """What each word that was imported stands for."""

    def __init__(self, reading: CallReading, trail: Trail) -> None:
        self._reading = reading
        self._trail = trail
        self._names: dict[str, str] = {}
        self._wild: list[str] = []

    def resolved(self, name: str, *, whole: bool = True) -> str:
        """Return `name` with its first word as it was imported; it is not `whole` where more may follow."""
        first, dot, rest = name.partition(".")
        plain = first.removesuffix("()")
        if plain in self._names and (dot or self._names[plain] != plain):
            name = self._reading.short(self._names[plain] + first[len(plain) :] + dot + rest)
        else:
            # A module that does nothing counts as having any name: then `java.nio.file` would be one of its own.
            alone = not dot or (self._reading.separator == "::" and first[:1].isupper())
            name = self._of_everything(self._reading.short(name), brings=whole and alone)
        for other in LIKE_STD:
            if name.startswith(other) and self._reading.separator == "::":
                return f"std.{name[len(other) :]}"
        return name

    def _of_everything(self, name: str, *, brings: bool) -> str:
        """Return `name` as it is called in a module of which everything was imported; as it is where that is none.

        One that does something is always found; one that does nothing only where such a module `brings` names.
        """
        brought = [self._reading.short(f"{module}.{name}") for module in self._wild]
        if found := next(filter(self._reading.vocabulary.knows, (name, *brought)), ""):
            return found
        if not brings or self._reading.is_harmless(name):
            return name
        return next(filter(self._reading.is_harmless, brought), name)

    def take(self, node: Node) -> None:
        """Note what an import brings."""
        path, alias = node.child_by_field_name("path"), node.child_by_field_name("name")
        if path is not None and path.type.endswith("string_literal"):
            whole = _text(path).strip('"`')
            word = _text(alias) or _package(whole)
            self._note(whole, "" if word == "." else word)
            return
        inner = node.child_by_field_name("argument")
        if inner is not None:
            self._tree(inner, "", 0)
            return
        if named := [one for one in node.named_children if one.type not in ("asterisk", "visibility_modifier")]:
            whole = self._path(named[0])
            wild = any(one.type == "asterisk" for one in node.children)
            self._note(whole, "" if wild else whole.rpartition(".")[2])

    def _tree(self, node: Node, before: str, depth: int) -> None:
        """Take in `std::{fs, process::Command as C, io::*}`."""
        if depth > DEEPEST:
            what = {"what": text("imports what is nested too deeply to be followed")}
            self._trail.add("unfollowed", "use", what, (1, 0, 1, 0))
            return
        path = node.child_by_field_name("path")
        match node.type:
            case "use_list":
                for one in node.named_children:
                    self._tree(one, before, depth + 1)
            case "scoped_use_list":
                under = _joined(before, self._path(path))
                if (inner := node.child_by_field_name("list")) is not None:
                    self._tree(inner, under, depth + 1)
            case "use_as_clause":
                self._note(_joined(before, self._path(path)), _text(node.child_by_field_name("alias")))
            case "use_wildcard":
                self._note(_joined(before, self._path(node.named_children[0]) if node.named_children else ""), "")
            case "self":
                self._note(before, before.rpartition(".")[2])
            case _:
                whole = _joined(before, self._path(node))
                self._note(whole, whole.rpartition(".")[2])

    def _path(self, node: Node | None) -> str:
        return "".join(_text(node).replace(RAW, "").replace("::", ".").split())

    def _note(self, whole: str, word: str) -> None:
        """Note one name; `word` is '' where everything of the module is imported."""
        first = whole.replace("/", ".").partition(".")[0]
        standard = self._reading.words["standard"]
        if standard and first not in standard:
            shown = excerpt(whole.replace(".", self._reading.separator), LONGEST_NAME)
            self._trail.cut_off(
                f"Uses {shown}, which is not of the standard library: it will not be found.", grave=False
            )
        if not word:
            self._wild.append(whole)
        elif word != "_":
            self._names[word.removeprefix(RAW)] = whole


def _joined(before: str, after: str) -> str:
    return ".".join(filter(None, (before, after)))


def _package(path: str) -> str:
    """Return the word by which a package of Go is called: the last of its path that is no version."""
    parts = [one for one in path.split("/") if one]
    if len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit():
        parts.pop()
    return parts[-1] if parts else ""


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
