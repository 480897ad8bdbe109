"""Hosts that a command tried and did not reach, on the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from runner.model.shown import in_one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.network import Contact


def tell(contacts: Iterable[Contact]) -> None:
    """Print a line for each of those that were refused or not reached."""
    for one in contacts:
        if one.allowed is not True:
            times = "once" if one.times == 1 else f"{one.times} times"
            words = f"assent try: It tried {times} to reach {one.name}, which {one.why}."
            sys.stdout.write(in_one_line(words) + "\n")
