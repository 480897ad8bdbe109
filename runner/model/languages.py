"""Other names that models and people use for a language; one table for calls, settings and the Python API."""

from __future__ import annotations

SYNONYMS = {
    "py": "python",
    "python3": "python",
    "js": "javascript",
    "node": "javascript",
    "nodejs": "javascript",
    "bash": "shell",
    "sh": "shell",
    "golang": "go",
    "rs": "rust",
}


def canonical(name: str) -> str:
    """Return Assent's own name for a language; a name that is none as it is, in lower case."""
    known = name.strip().lower()
    return SYNONYMS.get(known, known)
