"""A person's changes to code before it was approved, in words for the agent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.model.difference import as_text, difference

if TYPE_CHECKING:
    from runner.risk.worker.assessor import Assessor

LONGEST_CHANGES = 20_000
"""Characters of a person's changes that are sent to the agent."""


async def changed_code(assessor: Assessor, old: str, new: str, *, agent: str) -> str:
    """Return the difference between two versions as text; empty where they are the same.

    They are compared in a process of the classifier, in the turn of `agent`: that takes quadratic time or worse.
    """
    if old == new:
        return ""
    changes = await assessor.compare(old, new, agent=agent)
    return as_text(await asyncio.to_thread(difference, old, new, changes=changes), LONGEST_CHANGES)
