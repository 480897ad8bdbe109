"""Proof that acts which stand out cannot happen where code would run: only as far as it was read, act by act.

What the reader is not sure of is never called stopped, although the sandbox may hold that too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.assessment import Capability, Level
from runner.model.verdict import MOST_ACTS, Verb
from runner.policy.unread_code import EXCHANGE, MOST_UNREAD

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.containment import Containment
    from runner.model.verdict import VerdictAct

NOT_THERE = frozenset(
    (
        Capability.DESTROYS_FILES,
        Capability.READS_CREDENTIALS,
        Capability.NETWORK,
        Capability.EXFILTRATION,
        Capability.FILES,
    )
)
"""What findings let code do only to files or hosts that an empty sandbox without network has not."""
CHANGES = frozenset((Verb.DELETES, Verb.REWRITES, Verb.MOVES, Verb.WRITES, Verb.MAKES))
"""Changes only what is removed with the sandbox, at whatever path."""
REACHES = frozenset((Verb.SENDS, Verb.CONNECTS, Verb.FETCHES))
LOOKS = frozenset((Verb.READS_SECRETS, Verb.READS, Verb.LISTS))


def is_stopped(assessment: Assessment, where: Containment) -> bool:
    """Return whether nothing of what stands out in the code can happen in a sandbox that is `where`.

    False too where nothing stands out, and where the code may do anything that was not read.
    """
    if where.network or where.files != frozenset() or assessment.unread is None:
        return False
    if assessment.attention is None or len(assessment.unread) >= MOST_UNREAD:
        return False
    # What is left open of an exchange with a host: there is none.
    if any(EXCHANGE.fullmatch(one) is None for one in assessment.unread):
        return False
    graver = [one for one in assessment.findings if one.level > Level.LOW]
    acts = assessment.verdict.acts
    return (
        all(one.capability in NOT_THERE for one in graver)
        and 0 < len(acts) < MOST_ACTS
        and all(_is_stopped(one) for one in acts)
    )


def _is_stopped(act: VerdictAct) -> bool:
    if act.verb in LOOKS:
        # The system is there to be read: only what is below the home, or in the folder of the run, is known not to be.
        home = act.place == "~" or act.place.startswith("~/")
        own = bool(act.place) and not act.place.startswith(("/", "~", "..")) and "$" not in act.place
        return not act.computed and (home or own)
    return act.verb in CHANGES or act.verb in REACHES
