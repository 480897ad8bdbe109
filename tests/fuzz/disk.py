"""A disk whose n-th write or flush fails, for every n: nothing runs or is reported as approved that was not written."""

from __future__ import annotations

import itertools
import random
import time

from tests.audit.faulty_disk import Faults
from tests.engine.faults import play, writes_of_a_story

KINDS = ((1, False), (1, True), (4, False))
"""How many fail one after the other, and whether half of what is written reaches the disk."""


def run(seconds: float, seed: int) -> int:
    """Play the story on one disk after the other, in an order by `seed`, each once at the most."""
    cases = list(itertools.product(range(1, writes_of_a_story() + 1), KINDS))
    random.Random(seed).shuffle(cases)
    end = time.monotonic() + seconds
    for count, (first, (many, torn)) in enumerate(cases):
        if time.monotonic() > end:
            return count
        wrong = play(Faults(first, many, torn))
        assert not wrong, f"write or flush {first}, {many} in a row, {'torn' if torn else 'refused'}: {wrong}"
    return len(cases)
