"""Says which imports of Python code are not allowed, before it runs (spec R6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.inputs.imported import imported

if TYPE_CHECKING:
    from runner.risk.inputs.imported import Import
    from runner.sandbox.contract import ImportRule

INSTEAD = {
    "os": "pathlib for paths, or the variables handed to the code for its environment",
    "subprocess": "a shell request, which is shown to the person as what it is",
    "shutil": "pathlib to move and remove files",
    "socket": "nothing: there is no network here",
}
"""What does the job of a commonly blocked module. Given only where the rule itself allows it."""


def binds(rule: ImportRule) -> bool:
    """Return whether `rule` forbids anything."""
    return rule.allowed is not None or bool(rule.blocked)


def refused(code: str, rule: ImportRule, found: tuple[Import, ...] | None = None) -> tuple[Import, ...]:
    """Return the imports in `code` that `rule` does not allow, in order; `found` are all, where they are known."""
    if not binds(rule):
        return ()
    return tuple(entry for entry in (imported(code) if found is None else found) if not permitted(entry.module, rule))


def permitted(module: str, rule: ImportRule) -> bool:
    """Return whether `module` may be imported: a rule for `a` is one for `a.b` as well."""
    parts = module.split(".")
    names = {".".join(parts[: count + 1]) for count in range(len(parts))}
    if names & set(rule.blocked):
        return False
    return rule.allowed is None or parts[0] == "__future__" or bool(names & set(rule.allowed))


def hint(rule: ImportRule) -> str:
    """Return what may be imported, in a sentence."""
    if rule.allowed is not None:
        free = [name for name in rule.allowed if permitted(name, rule)]
        return f"Allowed: {', '.join(free) or 'nothing'}."
    return f"Blocked: {', '.join(rule.blocked)}."


def explained(found: tuple[Import, ...], rule: ImportRule) -> str:
    """Return the refusal for whoever sent the code: which module on which line, and what may be used."""
    lines = [f"Blocked import: {entry.module} (line {entry.line})" for entry in found]
    for root in dict.fromkeys(entry.module.partition(".")[0] for entry in found):
        if rule.allowed is None and root in INSTEAD:
            lines.append(f"Instead of {root}: {INSTEAD[root]}.")
    return "\n".join([*lines, hint(rule), "Nothing was run."]) + "\n"
