"""Modules that a program loads, by `require` and by `import`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from runner.risk.javascript.syntax import code_of, place
from runner.risk.model import fold
from runner.risk.model.acts import Source
from runner.risk.model.value import HOLE, NO_LABELS, UNKNOWN, Value, each, readable, reference, text

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import JavaScript
    from runner.risk.model.acts import Place

SAME = {
    "fs-extra": "fs",
    "graceful-fs": "fs",
    "promise-fs": "fs",
    "fs/promises": "fs",
    "node-fetch": "fetch",
    "cross-fetch": "fetch",
    "isomorphic-fetch": "fetch",
    "undici": "undici",
    "cross-spawn": "child_process.spawn",
    "promisify-child-process": "child_process",
    "bun": "Bun",
    "path/posix": "path",
    "timers/promises": "timers",
    "dns/promises": "dns.promises",
}
"""Packages that are another module with more around it."""

WHOLE = {"@deno/shim-deno.Deno": "Deno", "@deno/shim-deno.default": "Deno"}
"""What packages give that is a global thing elsewhere."""
FROM_ELSEWHERE = frozenset({"decoded", "downloaded", "input", "remote"})
"""Labels of a text that a module is made of and that does not stand in the program."""


def module(name: str) -> str:
    """Return the module that a name in `require` stands for."""
    name = name.removeprefix("node:")
    return SAME.get(name, name)


def import_statement(walker: JavaScript, node: Node) -> Value:
    alias = next((child for child in node.named_children if child.type == "import_require_clause"), None)
    source = (alias or node).child_by_field_name("source")
    if source is None or any(child.type == "type" for child in node.children):
        # `import type` is gone when the code runs.
        return UNKNOWN
    wanted = walker.value(source)
    if wanted.text.startswith("data:"):
        return _from_text(walker, wanted, place(node), NO_LABELS)
    name = module(wanted.text)
    walker.trail.add("import", name, {"module": wanted}, place(node))
    if alias is not None and alias.named_children:
        walker.machine.assign(code_of(alias.named_children[0]), reference(name))
    clause = next((child for child in node.named_children if child.type == "import_clause"), None)
    for child in clause.named_children if clause is not None else ():
        if child.type == "identifier":
            walker.machine.assign(code_of(child), reference(name))
        elif child.type == "namespace_import" and child.named_children:
            walker.machine.assign(code_of(child.named_children[0]), reference(name))
        elif child.type == "named_imports":
            for one in child.named_children:
                original, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                if original is not None:
                    known = code_of(original)
                    whole = name if known == "default" else f"{name}.{known}"
                    walker.machine.assign(code_of(alias or original), reference(WHOLE.get(whole, whole)))
    return UNKNOWN


def _from_text(walker: JavaScript, address: Value, where: Place, labels: frozenset[str]) -> Value:
    """Follow the code of a module that its own address holds."""
    head, _, data = address.text.partition(",")
    code = text(unquote(data), labels=address.labels)
    if address.exact is None:
        code = Value((HOLE,), labels=address.labels)
    elif head.endswith(";base64"):
        code = each(code, lambda known: readable(fold.base64_text(known)), labels=fold.DECODED)
    fields = {"code": code, "language": text("javascript")}
    walker.nested.done(walker.trail.add("execute", "import", fields, where, labels))
    return UNKNOWN


def export_statement(walker: JavaScript, node: Node) -> Value:
    """Note what `export ... from` loads; go through what else is exported."""
    source = node.child_by_field_name("source")
    if source is None:
        return walker.block(node.named_children)
    wanted = walker.value(source)
    walker.trail.add("import", module(wanted.text), {"module": wanted}, place(node))
    return UNKNOWN


def require(walker: JavaScript, called: Value, args: list[Value], where: Place, listed: Node | None) -> Value:
    wanted = args[0] if args else UNKNOWN
    known = wanted.exact
    if wanted.text.startswith("data:"):
        return _from_text(walker, wanted, where, called.labels)
    walker.trail.add("import", module(known or ""), {"module": wanted}, where, called.labels)
    # What the program has written out of itself is read where it is written.
    if not wanted.text.endswith(".json") and walker.nested.origin(wanted) & FROM_ELSEWHERE:
        walker.nested.started(wanted, called.labels, where, "javascript")
    if known is None:
        return Value(name="require()", labels=wanted.labels)
    written = listed.named_children[0] if listed is not None and listed.named_children else None
    plain = written is not None and written.type in ("string", "identifier") and b"\\" not in (written.text or b"")
    hidden = NO_LABELS if plain and not wanted.labels else fold.ASSEMBLED
    name = module(known)
    if called.name == "process.binding":
        name = f"process.binding.{name}"
    if name.endswith(".json"):
        return reference(name, wanted.labels | {Source.FILE})
    return reference(name, (wanted.labels & {Source.DECODED, Source.ASSEMBLED}) | hidden)
