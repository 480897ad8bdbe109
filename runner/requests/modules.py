"""The rule for imports of Python code, from the security level and the settings (spec R6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.sandbox.contract import ImportRule
from runner.settings.module_lists import LEVELS

if TYPE_CHECKING:
    from runner.settings.loading import Settings


def imports(settings: Settings) -> ImportRule:
    """Return the rule for a run. `strict` always applies its list, other levels only with `enforce_allowed_modules`.

    The lists are given (spec E2), the settings say whether they are binding: a console in which a person reads every
    request would be of no use if the default level refused `import sys`.
    """
    blocked = settings.blocked_modules if settings.block_dangerous_imports else ()
    level = settings.security_level
    if level != "strict" and not settings.enforce_allowed_modules:
        return ImportRule(None, blocked)
    return ImportRule(settings.allowed_modules or LEVELS[level], blocked)
