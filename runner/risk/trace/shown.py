"""Secrets that a program prints, where the agent reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import VALUE_OF, Source
from runner.risk.model.value import Value, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.risk.model.acts import Place, Trail

SECRETIVE = expression(
    r"(?i)token|secret|passw|api_?key|access_?key|private_?key|credential|\bpat\b|connection_?string"
)
NAMED = expression(
    rf"(?:{VALUE_OF}|\$)(?=[A-Z])(?:[A-Z0-9_]*_)?(?:TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS|PAT|DSN)"
)
"""Labels of values of variables in which secrets are kept."""
KINDS = frozenset((Source.ENVIRONMENT, Source.SECRET, "kept-secret", "environment-file", "private-key"))


OF_PASSWORD = expression(r"(?i)(?:\w{1,60}[_-])?(?:password|passwd|passphrase|pgpassword|mysql_pwd|pwd)")
OF_KEY = expression(
    r"(?i)(?:\w{1,60}[_-])?(?:api_?key|secret(?:_access)?_?key|client_secret|access_?token|auth_?token|token)"
)
"""What variables and arguments are called that a password or a key is given to."""
STANDS_FOR = expression(
    r"(?i)(?:x+|\*+|\.+|<.*|\$.*|\{.*|%.*|your\W.*|your|change.?(?:me|it).*|example.*|placeholder.*|dummy.*|fake.*|test.*"
    r"|password|passwd|secret|none|null|true|false|todo|foo.*|bar.*|str|string|text|input|prompt)"
)
"""Values that only stand where a password would."""
ENDINGS = ("password", "passwd", "passphrase", "pwd", "key", "token")
"""How each of these names ends, in small letters."""
LIKE_A_KEY = expression(r"(?=[^\s]*\d)[\w./+=:-]{12,300}")


def note_written(trail: Trail, name: str, value: str, place: Place) -> None:
    """Note that a password or a key stands in the code, as the value of what is called `name`."""
    if not name.lower().endswith(ENDINGS) or not 4 <= len(value) <= 300 or STANDS_FOR.fullmatch(value) is not None:
        return
    if OF_PASSWORD.fullmatch(name) is not None and " " not in value:
        trail.add("written-secret", name, {"what": text("a password")}, place)
    elif OF_KEY.fullmatch(name) is not None and LIKE_A_KEY.fullmatch(value) is not None:
        trail.add("written-secret", name, {"what": text("a key")}, place)


def secrets(labels: Iterable[str]) -> frozenset[str]:
    """Return those of the labels that stand for something secret."""
    return frozenset(label for label in labels if label in KINDS or NAMED.fullmatch(label))


def from_outside(labels: frozenset[str]) -> frozenset[str]:
    """Return the labels without those of the program's own names, which say nothing of where a value comes from."""
    return frozenset(label for label in labels if label[:1] != "$") if labels else labels


def hint_of(part: Value) -> Value:
    """Return a few characters of a value, which are no secret any more."""
    return Value(part.texts, part.name, part.labels - secrets(part.labels), part.items, binary=part.binary)


def note_shown(trail: Trail, name: str, labels: frozenset[str], place: Place) -> None:
    """Note that what carries these labels is printed, if it is secret."""
    if labels and (found := secrets(labels)):
        trail.add("print", name, {"data": Value(labels=found)}, place)
