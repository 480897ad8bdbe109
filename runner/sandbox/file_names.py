"""Names of files in a workspace, as code has given them: bytes, of which nothing is known."""

from __future__ import annotations

from runner.model.shown import hides


def is_inside(path: bytes) -> bool:
    """Return whether `path` names a file below the workspace; no walk over folders gives any other."""
    return b"\0" not in path and {b"", b".", b".."}.isdisjoint(path.split(b"/"))


def shown(path: bytes) -> str:
    """Return a path as text in which nothing hides: what is no text, or shows nothing, is written as an escape."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(one if _is_seen(one) else one.encode("unicode_escape").decode() for one in text)


def _is_seen(character: str) -> bool:
    return character.isprintable() and not hides(character)
