"""Calls: what is called, with which arguments, and what answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.javascript.conditions import SOON, note_flood
from runner.risk.javascript.literals import template_string, unescaped
from runner.risk.javascript.modules import require
from runner.risk.javascript.properties import PROXY
from runner.risk.javascript.syntax import code_of, place
from runner.risk.model import fold
from runner.risk.model.value import UNKNOWN, Value, reference, text
from runner.risk.trace.machine import OF_HTTP, TOOLS, VISITORS
from runner.risk.trace.values import each_of, member_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import JavaScript
    from runner.risk.model.acts import Place
    from runner.risk.model.value import Function

UNCURRIED = frozenset(("Function.prototype.call", "Function.call"))
"""Functions that call the one they are bound to."""
HANDING_ON = OF_HTTP | TOOLS | {"use", "createServer"}
"""Methods that hand functions on to answer requests with."""
REQUEST = reference("~req")
CONTEXT = reference("~ctx")
"""What such a function gets first: by what its parameter is called nobody can tell where it is named otherwise."""
LISTENING = frozenset(("on", "once", "addListener", "addEventListener"))
KEYS = frozenset(("keydown", "keypress", "keyup"))
OF_SCRIPTS = frozenset(("$", "$.sync"))
"""What scripts that zx starts have without an import: a template behind it is a command of the shell."""
LOADERS = frozenset(
    (
        "require",
        "module.require",
        "module._load",
        "module.Module._load",
        "globalThis.require",
        "process.mainModule.require",
        "require.main.require",
        "createRequire()",
        "module.createRequire()",
        "process.binding",
        "process.getBuiltinModule",
    )
)

"""Functions that load a module by its name."""


def call_expression(walker: JavaScript, node: Node) -> Value:
    function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None:
        return UNKNOWN
    declared, walker.declared = walker.declared, None
    called = reference("require") if function.type == "import" else walker.value(function)
    if listed is not None and listed.type == "template_string" and called.name in OF_SCRIPTS:
        called = reference(f"zx.{called.name}", called.labels)
    args = _arguments(walker, listed)
    if listed is not None and listed.type == "template_string" and args and STATEMENT.match(args[0].text) is not None:
        _statement(walker, called, args, place(node))
    if called.name == "setInterval" and listed is not None and len(args) > 1 and args[0].function is not None:
        every = args[1].number
        note_flood(walker, listed.named_children[0], every if every is not None else SOON)
    if function.type == "subscript_expression":
        _by_data(walker, function, called, place(node))
    if function.type == "super" and walker.this:
        return _base_made(walker, args, place(node))
    if declared is not None and declared[1] == node:
        walker.machine.expected = declared[0]
    walker.machine.awaits = node.parent is not None and node.parent.type == "await_expression"
    made = invoke(walker, called, args, place(node), listed)
    walker.machine.expected = ""
    return made


STATEMENT = expression(
    r"(?i)\s{0,99}(?:delete\s+from|truncate|drop\s+(?:table|database|schema)|update\s+\S+\s+set|alter\s+(?:table|role|user)|"
    r"insert\s+into|grant\s|create\s+(?:role|user))"
)
"""How a statement of SQL begins that changes something."""


def _statement(walker: JavaScript, called: Value, args: list[Value], where: Place) -> None:
    """Note a statement of SQL that a function gets as a template: sql`DELETE FROM a`."""
    if not walker.vocabulary.of(called.name):
        sql = Value(args[0].texts, labels=args[0].labels)
        act = walker.trail.add("query", called.name, {"sql": sql, "at": called}, where, called.labels)
        walker.nested.done(act)


def _base_made(walker: JavaScript, args: list[Value], where: Place) -> Value:
    """`super(...)`: what the class that is extended makes of the object."""
    this, kind = walker.this[-1], walker.within[-1]
    base = kind.bases[0] if kind is not None and kind.bases else UNKNOWN
    if base.kind is not None:
        start = member_of(base.kind, walker.constructor)
        if start is not None and start.function is not None:
            walker.machine.follow(start.function, walker.filled(start.function, args), {}, this)
    elif base.name:
        made = walker.machine.call(base, args, {}, where)
        if this.fields is not None:  # an object of the program, and not one of which nothing is known
            this.labels |= made.labels
    return UNKNOWN


def _by_data(walker: JavaScript, function: Node, called: Value, where: Place) -> None:
    """Note a call of whatever method a value names: `tasks[name]()`."""
    index = function.child_by_field_name("index")
    if index is not None and index.type not in ("string", "number") and called.function is None:
        key = walker.value(index)
        if key.labels and key.exact is None:
            walker.trail.add("by-data", called.name, {"what": Value(labels=key.labels)}, where)


def invoke(walker: JavaScript, called: Value, args: list[Value], where: Place, listed: Node | None = None) -> Value:
    """Call a function, whether directly, by `call`, `apply` or `Reflect.apply`, or bound before."""
    owner = called.owner
    if called.name == PROXY and called.fields is not None:
        return _proxied(walker, called.fields, args, where)
    if called.name == "Reflect.apply" and len(args) >= 3:
        return invoke(walker, args[0], args[2].items or [args[2]], where)
    if owner is not None and (owner.name or owner.function):
        match called.attribute:
            case "call":
                return invoke(walker, owner, args[1:], where)
            case "apply":
                return invoke(walker, owner, list(args[1].items or [args[1]]) if len(args) > 1 else [], where)
            case "bind" if owner.name in UNCURRIED and args:
                return _bound(args[0], args[2:])
            case "bind" if owner.name != "dgram.createSocket()":
                return _bound(owner, args[1:])
    _events(walker, called, args, where)
    _routes(walker, called, args)
    if called.name == "bound" and called.items:
        return invoke(walker, called.items[0], [*called.items[1:], *args], where)
    if called.name in LOADERS:
        return require(walker, called, args, where, listed)
    if called.name == "constructor":
        called = reference("Function", called.labels | fold.ASSEMBLED)
    return walker.machine.call(called, args, {}, where)


def _proxied(walker: JavaScript, proxy: dict[str, Value], args: list[Value], where: Place) -> Value:
    """Call what a `new Proxy(target, handler)` stands for, or the handler that is called instead."""
    handler = (proxy["handler"].fields or {}).get("apply")
    if handler is None:
        return invoke(walker, proxy["target"], args, where)
    return invoke(walker, handler, [proxy["target"], UNKNOWN, Value(items=args)], where)


def _bound(function: Value, args: list[Value]) -> Value:
    """Return what `function.bind(this, ...args)` gives."""
    if function.function is not None or not args:
        return function
    return Value(name="bound", items=[function, *args], labels=function.labels)


def _routes(walker: JavaScript, called: Value, args: list[Value]) -> None:
    """Follow the functions that answer requests: `app.get('/x', (a, b) => ...)`."""
    if called.attribute not in HANDING_ON or (called.owner is not None and called.owner.fields is not None):
        return
    path = args[0].text if args else ""
    if called.attribute in TOOLS and "mcp" in called.name.lower():
        for one in args[1:]:
            if one.function is not None:
                walker.machine.follow(one.function, [], {}, one.owner, VISITORS)
        return
    if path[:1] != "/" and called.attribute not in ("use", "createServer"):
        return
    for one in args:
        if one.function is not None and 0 < len(one.function.parameters) <= 3:
            only = len(one.function.parameters) == 1 and one.function.parameters[0] not in ("req", "request")
            walker.machine.follow(one.function, [CONTEXT if only else REQUEST], {}, one.owner)


def _events(walker: JavaScript, called: Value, args: list[Value], where: Place) -> None:
    """Remember the functions that wait for an event, and call them when it is emitted."""
    event = args[0].exact if args else None
    if not event:
        return
    if called.attribute in LISTENING and len(args) > 1 and args[1].function is not None:
        walker.listeners.setdefault(event, []).append(args[1])
        if event in KEYS:
            walker.machine.follow(args[1].function, [Value(labels=frozenset({"captured"}))], {}, args[1].owner)
    if called.attribute == "emit":
        for listener in walker.listeners.get(event, []):
            walker.machine.call(listener, list(args[1:]), {}, where)


def _arguments(walker: JavaScript, listed: Node | None) -> list[Value]:
    if listed is None:
        return []
    if listed.type == "template_string":
        return _pieces(walker, listed)
    args: list[Value] = []
    for child in listed.named_children:
        if child.type == "spread_element" and child.named_children:
            spread = walker.value(child.named_children[0])
            args += spread.items if spread.items is not None else [each_of(spread)]
        elif child.type != "comment":
            args.append(walker.value(child))
    return args


def _pieces(walker: JavaScript, template: Node) -> list[Value]:
    """Return what a function gets that stands before a template: the pieces of text, and the values between them."""
    whole = template_string(walker, template)
    holes = [child for child in template.named_children if child.type == "template_substitution"]
    values = [walker.value(hole.named_children[0]) if hole.named_children else UNKNOWN for hole in holes]
    if not values:
        return [Value(whole.texts, labels=whole.labels, items=[whole])]
    texts = [""]
    for child in template.named_children:
        if child.type == "template_substitution":
            texts.append("")
        else:
            texts[-1] += unescaped(code_of(child))
    return [Value(whole.texts, labels=whole.labels, items=[text(one) for one in texts]), *values]


def new_expression(walker: JavaScript, node: Node) -> Value:
    made = node.child_by_field_name("constructor")
    called = walker.value(made) if made is not None else UNKNOWN
    args = _arguments(walker, node.child_by_field_name("arguments"))
    if called.name == "Array" and len(args) == 1 and isinstance(args[0].number, int) and 0 <= args[0].number <= 1000:
        return Value(items=[UNKNOWN] * args[0].number)
    if called.function is not None and called.function.prototype:
        return _constructed(walker, called.function, args)
    return invoke(walker, called, args, place(node))


def _constructed(walker: JavaScript, function: Function, args: list[Value]) -> Value:
    """Return what `new F()` gives for a function with a prototype."""
    made = Value(fields=dict(function.prototype))
    function.self_name = "this"
    given = walker.machine.follow(function, args, {}, made)
    return made if given.unknown else given
