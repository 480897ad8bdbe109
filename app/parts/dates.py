"""Dates with the names of months and days in the language of the window."""

from __future__ import annotations

from PySide6.QtCore import QDate, QLocale

from runner.model.translation import chosen, tr

DAY = tr("dddd, d MMMM yyyy")
"""How a day is written, as Qt's QDate takes it: `Friday, 21 November 2025`."""
SHORT_DAY = tr("d MMM")
"""`21 Nov`"""
MONTH = tr("MMMM yyyy")
SHORT_MONTH = tr("MMM yy")


def written(moment: tuple[int, ...], pattern: str) -> str:
    """Return the date that begins `moment` (year, month, day), after one of the patterns above."""
    return QLocale(chosen()).toString(QDate(*moment[:3]), pattern)
