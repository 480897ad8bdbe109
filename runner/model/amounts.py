"""Amounts in words."""

from __future__ import annotations


def readable_size(size: int) -> str:
    """Return a number of bytes in words; a thousand of each make one of the next."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"
