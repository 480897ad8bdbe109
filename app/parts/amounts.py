"""Amounts in words for a person: sizes, times and counts."""

from __future__ import annotations

from runner.model.translation import numeral, tr


def size(count: float) -> str:
    """Return bytes as `312 MB`; a thousand and twenty-four of each make one of the next, as limits are counted."""
    amount = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 999.5 or unit == "GB":
            break
        amount /= 1024
    whole = unit == "B" or amount >= 99.95 or amount == int(amount)
    return f"{numeral(amount, '.0f')} {unit}" if whole else f"{numeral(amount, '.1f')} {unit}"


def percent(share: float) -> str:
    """Return `37 %`, where 100 is one core busy."""
    return f"{numeral(share, '.0f')} %"


def clock(seconds: float) -> str:
    """Return a countdown as `0:24`. Rounds up, so that `0:00` means over."""
    whole = max(0, -int(-seconds // 1))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


def short_clock(seconds: float) -> str:
    """Return a countdown as `0:24`, from an hour on as `11 h`."""
    return clock(seconds) if seconds < 3600 else f"{int(seconds // 3600)} h"


def time_left(seconds: float) -> str:
    """Return `24 s left`, `2 min left`."""
    whole = max(0, -int(-seconds // 1))
    return tr("{whole} s left", whole=whole) if whole < 120 else tr("{whole} min left", whole=whole // 60)
