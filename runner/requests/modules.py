"""Which modules Python code may import, from the security level and the settings (spec R6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.sandbox.contract import ImportRule
from runner.settings.module_lists import LEVELS

if TYPE_CHECKING:
    from runner.settings.loading import Settings


def imports(settings: Settings) -> ImportRule:
    """The rule for a run. `strict` always keeps to its list; the others only when told to.

    A console in which a person reads every request would be of no use if the default level
    refused `import sys`: the spec names the lists, the settings say whether they bind.
    """
    blocked = settings.blocked_modules if settings.block_dangerous_imports else ()
    level = settings.security_level
    if level != "strict" and not settings.enforce_allowed_modules:
        return ImportRule(None, blocked)
    return ImportRule(settings.allowed_modules or LEVELS[level], blocked)
