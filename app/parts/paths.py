"""Long paths in sentences, short enough to be read."""

from __future__ import annotations

LONGEST = 30
"""Letters of a path that stay as they are."""
_BEFORE, _AFTER = "(\"'", ".,:;)\"'"


def short_paths(text: str, home: str) -> str:
    """Return `text` with `~` for the folder `home` in its paths, and without the middle of those that are long.

    A path here is a word that begins with a slash: a space in one ends what is shortened, and nothing is lost.
    """
    lines = (line.split(" ") for line in text.split("\n"))
    return "\n".join(" ".join(_short(word, home.rstrip("/")) for word in line) for line in lines)


def _short(word: str, home: str) -> str:
    bare = word.lstrip(_BEFORE)
    path = bare.rstrip(_AFTER)
    if not path.startswith("/") or path.count("/") < 2:
        return word
    shown = f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path
    if len(shown) > LONGEST:
        parts = shown.split("/")
        first = 1 if shown.startswith("~") else 2
        if len(parts) > first + 2:
            shown = "/".join((*parts[:first], "\N{HORIZONTAL ELLIPSIS}", *parts[-2:]))
    return f"{word[: len(word) - len(bare)]}{shown}{bare[len(path) :]}"
