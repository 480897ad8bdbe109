"""Properties of objects: reading them, whichever way they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.literals import unescaped
from runner.risk.javascript.modules import WHOLE
from runner.risk.javascript.syntax import code_of
from runner.risk.model import fold
from runner.risk.model.acts import VALUE_OF, Source
from runner.risk.model.outline_data import words
from runner.risk.model.value import NO_LABELS, UNKNOWN, Value, either, reference, text
from runner.risk.rules.targets import VARIABLES, WHO
from runner.risk.trace.members import member_labels
from runner.risk.trace.values import element

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import JavaScript

PROXY = "Proxy()"
"""The name of an object that stands for another one; it holds that as `target`, beside its `handler`."""
OF_FUNCTIONS = "Function.prototype"
BUILTIN = words("parseInt parseFloat isNaN isFinite setTimeout setInterval setImmediate queueMicrotask fetch require")
HOLDERS = words("Math JSON console Reflect Object Array String Number Promise Date")
"""Functions that everybody has, and objects that hold such; their constructor is `Function`."""
GLOBALS = frozenset(("globalThis", "window", "global", "self", "root", "top", "frames", "parent", "GLOBAL"))


def member_expression(walker: JavaScript, node: Node) -> Value:
    owner, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    if owner is None or name is None:
        return UNKNOWN
    return reach(walker, walker.value(owner), code_of(name))


OF_NODE = words("fs child_process os path process module net http https tls dns vm")
"""Modules whose default export is the module itself."""


def _as_module(walker: JavaScript, owner: Value, name: str, labels: frozenset[str]) -> Value | None:
    """Return the module that a property of one stands for, if it does."""
    if name == "default" and owner.fields is None and (owner.name in OF_NODE or _is_loaded(walker, owner.name)):
        return owner
    main = owner.name == "process" and name == "mainModule"
    same = owner.name == "module" and name in ("constructor", "children")
    return reference("module", labels) if main or same else None


def _is_loaded(walker: JavaScript, name: str) -> bool:
    """Return whether it is the name of a package that the program has loaded, of which `default` is the main thing."""
    known = f"{name}.default"
    return (
        bool(name)
        and known not in WHOLE
        and any(act.kind == "import" and act.name == name for act in walker.trail.acts)
    )


def reach(walker: JavaScript, owner: Value, name: str, labels: frozenset[str] = NO_LABELS) -> Value:
    """Return `owner.name`; the many ways to one thing, such as the global object, give the same."""
    if owner.name == "globalThis":
        known = walker.machine.scope.top.names.get(name)
        return known if known is not None else reference("globalThis" if name in GLOBALS else name, labels)
    if (module := _as_module(walker, owner, name, labels)) is not None:
        return module
    if owner.name == PROXY and owner.fields is not None:
        return _through_proxy(walker, owner.fields, name, labels)
    if "\\u" in name:
        name = unescaped(name)
    if name in OF_EVERY and (made := _of_every(owner, name)) is not None:
        return made
    if owner.name == "process.env" and name in walker.machine.variables:
        return walker.machine.variables[name]
    if owner.name == "process.env" and owner.fields is None:
        return _environment(walker, name)
    return walker.machine.attribute(owner, name, labels)


OF_EVERY = frozenset(("prototype", "__proto__", "length", "constructor"))
"""Properties that objects have without being given them."""


def _of_every(owner: Value, name: str) -> Value | None:
    """Return such a property, where it is known."""
    match name:
        case "prototype" if owner.function is not None:
            return Value(fields=owner.function.prototype)
        case "__proto__" if owner.function is not None:
            return reference(OF_FUNCTIONS, owner.labels)
        case "length" if owner.items is not None or owner.exact is not None:
            return Value(number=len(owner.items if owner.items is not None else owner.text))
        case "length" if owner.labels:
            return UNKNOWN
        case "constructor":
            return _constructor(owner)
    return None


def _constructor(owner: Value) -> Value | None:
    if owner.name == OF_FUNCTIONS or _is_builtin(owner):
        return reference("Function", owner.labels)
    known = owner.name.endswith("constructor") or owner.name in ("Function", "Object", "Array", "String")
    if known or owner.function is not None:
        return reference("Function", owner.labels | fold.ASSEMBLED)
    if owner.kind is None and owner.name in ("", "globalThis"):
        made = reference("constructor", owner.labels)
        made.owner, made.attribute = owner, "constructor"
        return made
    return None


def _is_builtin(owner: Value) -> bool:
    """Return whether a value is a function of the language's own: `[].filter`, `Math.max`, `parseInt`."""
    if owner.function is not None or owner.fields is not None or not owner.name:
        return False
    of = owner.owner
    if of is not None and owner.attribute and (of.items is not None or of.texts or of.number is not None):
        return True
    return owner.name in BUILTIN or (owner.name.partition(".")[0] in HOLDERS and "." in owner.name)


def _through_proxy(walker: JavaScript, proxy: dict[str, Value], name: str, labels: frozenset[str]) -> Value:
    """Return a property of a `new Proxy(target, handler)`: what its handler gives, or the target's."""
    getter = (proxy["handler"].fields or {}).get("get")
    if getter is not None and getter.function is not None:
        return walker.machine.follow(getter.function, [proxy["target"], text(name)], {}, proxy["handler"]).labelled(
            labels
        )
    if getter is not None and getter.name:
        return walker.machine.call(getter, [proxy["target"], text(name)], {}, (1, 0, 1, 0)).labelled(labels)
    return reach(walker, proxy["target"], name, labels)


def _environment(walker: JavaScript, name: str) -> Value:
    folder = VARIABLES.get(name.lower())
    if folder is not None:
        return text(folder)
    labels = {f"${name}", f"{VALUE_OF}{name}"}
    if name in WHO:
        labels |= {Source.HOST_INFO, Source.WHO}
    return Value(name=f"process.env.{name}", labels=frozenset(labels))


def owner_and_key(walker: JavaScript, node: Node) -> tuple[Value, Value]:
    """Return the values of `owner` and `key` in `owner[key]`."""
    owner, index = node.child_by_field_name("object"), node.child_by_field_name("index")
    return (walker.value(owner) if owner is not None else UNKNOWN), (
        walker.value(index) if index is not None else UNKNOWN
    )


def subscript_expression(walker: JavaScript, node: Node) -> Value:
    owner, key = owner_and_key(walker, node)
    index = node.child_by_field_name("index")
    literal = index is not None and index.type in ("string", "number") and b"\\" not in (index.text or b"")
    if key.texts and (owner.name or owner.fields is not None or owner.texts) and not key.text.isdigit():
        labels = NO_LABELS if literal else fold.ASSEMBLED
        return either([reach(walker, owner, known, labels if owner.name else NO_LABELS) for known in key.texts])
    if owner.name == "process.env":
        return Value(name="process.env[]", labels=frozenset({Source.ENVIRONMENT}))
    return by_key(walker, owner, key)


def by_key(walker: JavaScript, owner: Value, key: Value) -> Value:
    """Return `owner[key]` where the key is not known: a member of a module, where it is the name of one."""
    made = element(owner, key)
    return made.labelled(found) if key.labels and (found := member_labels(key)) else made


def key_of(walker: JavaScript, node: Node) -> str:
    """Return the name of a property, as an object literal, a class or a pattern writes it."""
    if node.type in ("string", "template_string", "number"):
        return walker.value(node).text or code_of(node)
    if node.type == "computed_property_name" and node.named_children:
        known = walker.value(node.named_children[0])
        return known.text or (known.name if known.name.startswith("Symbol.") else "?")
    return code_of(node)
