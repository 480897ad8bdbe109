"""Types of what Python programs hand in: nothing checked them on the way, as the schemas of tools do for agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runner.model.errors import Refused
from runner.model.languages import canonical
from runner.model.request import Language

if TYPE_CHECKING:
    from runner.model.submission import Submission

MOST = 1e12
"""Larger than any meaningful limit; keeps later arithmetic in range."""
TEXTS = ("code", "stdin", "sandbox_id", "file_path", "content", "registry")
NUMBERS = {
    "timeout": "timeout",
    "memory_mb": "max_memory_mb",
    "disk_mb": "max_disk_mb",
    "max_output_bytes": "max_output_bytes",
    "max_bytes": "max_bytes",
    "offset": "offset",
}
"""Names of arguments by those of fields."""
WHOLE = NUMBERS.keys() - {"timeout"}


def checked(submission: Submission) -> Submission:
    """Return `submission`. Raises Refused for a value that is of another type than its argument."""
    for name in TEXTS:
        text(name, getattr(submission, name))
    for field, name in NUMBERS.items():
        value = getattr(submission, field)
        # A bool is an int in Python, and no number of seconds.
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise _wrong(name, "a number", value)
        if value is not None and not -MOST < value < MOST:
            raise Refused(f"{name} is not a usable number.", "Give an ordinary one.")
        if isinstance(value, float) and field in WHOLE and not value.is_integer():
            raise Refused(f"{name} is {value:g}; it must be a whole number.", "Round it and call again.")
    for name in ("network_enabled", "executable"):
        if (flag := getattr(submission, name)) is not None and not isinstance(flag, bool):
            raise _wrong(name, "True or False", flag)
    _check_context(submission.context)
    return submission


def text(name: str, value: object) -> str:
    """Return a value that is a text. Raises Refused for any other."""
    if not isinstance(value, str):
        raise _wrong(name, "a text", value)
    return value


def texts(name: str, value: object) -> tuple[str, ...]:
    """Return the texts of a list, none for None. Raises Refused for what is no list of texts, such as a single one."""
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, (Sequence, set, frozenset)):
        raise _wrong(name, "a list of texts", value)
    return tuple(text(f"An entry of {name}", one) for one in value)


def language_named(name: object) -> Language:
    """Return the language of that name, which may be one that models use for it. Raises Refused."""
    try:
        return Language(canonical(text("language", name)))
    except ValueError:
        raise Refused(f"{name!r} is not a language Assent runs.", f"Use one of {', '.join(Language)}.") from None


def _check_context(context: object) -> None:
    if context is None:
        return
    if not isinstance(context, Mapping):
        raise _wrong("context", "a dictionary", context)
    for name in context:
        if not isinstance(name, str):
            raise Refused(f"context has {name!r} for a name; names of variables are texts.", "Name it by a text.")


def _wrong(name: str, wanted: str, value: object) -> Refused:
    return Refused(f"{name} is of type {type(value).__name__}; it must be {wanted}.", "Change it and call again.")
