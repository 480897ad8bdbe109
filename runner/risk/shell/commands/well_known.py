"""Programs of which people know what they do with what they are given, though their work is not followed here.

Their names are in `resources/rules/commands.yaml`.
"""

from __future__ import annotations

from functools import cache

from runner.model.expression import expression
from runner.risk.executing.running import ANYTHING, AS_WRITTEN, CERTAIN, FIXED_WORDS, RUNNERS, SCRIPTS, SIGNS
from runner.risk.rules.knowledge import table
from runner.risk.shell.commands.asked import by_name

FAMILIES = expression(
    r"(?:mkfs|fsck)\.\w+|(?:pip|python|perl|ruby|gcc|g\+\+|clang|clang\+\+|php|node|java|lua)-?[\d.]+"
    r"|(?:xz|bz|z|lz|zst)(?:cat|grep|egrep|fgrep|less|more|diff|cmp)|(?:apt|dpkg|systemd|ssh|gpg|docker|update)-[a-z-]+"
    r"|(?:pg_|mysql)(?:dump|dumpall|restore|ctl|basebackup|isready|admin|import|show|check|slap)"
    r"|(?:pdf|ps)(?:2\w+|crop|grep|nup|book|jam|tk)|lp(?:stat|admin|info|options)|ip(?:calc|cs|crm|tables-save)|nmcli"
)
"""Programs of which there are several, by the beginning of their names."""
LISTS = (ANYTHING, FIXED_WORDS, AS_WRITTEN, RUNNERS, SIGNS, CERTAIN, SCRIPTS)


@cache
def _named() -> frozenset[str]:
    return frozenset(name for group in table()["well-known"].values() for name in group.split())


def is_well_known(name: str) -> bool:
    """Return whether a program, or a module that is run as one, is known by its name."""
    plain = name.rstrip("0123456789.") or name
    known = {name, plain, name.lower()} & _named() or any(name in one or plain in one for one in LISTS)
    return bool(known) or by_name(name) is not None or FAMILIES.fullmatch(name) is not None
