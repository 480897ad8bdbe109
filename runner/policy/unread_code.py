"""The test for a request with network that may run code nobody has read: that is no plain download."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.assessment import Capability
from runner.model.expression import expression
from runner.model.language_support import LANGUAGES
from runner.model.verdict import MOST_ACTS, Verb

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.request import Request

RUNS = frozenset(
    (
        Capability.STARTS_PROCESSES,
        Capability.PACKAGES,
        Capability.OBFUSCATION,
        Capability.HIDDEN_TEXT,
        Capability.UNREADABLE,
        Capability.PERSISTENCE,
        Capability.PRIVILEGES,
    )
)
"""What a finding of lets the code run more than was read."""
EXCHANGE = expression(
    r"(?:Fetches something|Sends something|Connects somewhere|Answers what connects) in a way that is not followed, "
    r"by (?:curl|wget|fetch|fetch\(\)\.[a-z]+|urllib\.request\.(?:urlopen|Request)|http\.client\.[\w.()]+)\."
    r"|Calls (?:urllib\.request\.urlopen|http\.client\.HTTPS?Connection\.getresponse|fetch\(\))(?:\.[a-z]+)*, "
    r"which is not known\."
    r"|Calls fetch, which may be several things\."
)
"""What reading leaves open of a plain download: what it gets from the hosts that a person allows, and sends there."""
MOST_UNREAD = 6
"""As many sentences as an assessment holds: there may be more."""
ONLY_LOOKS = frozenset((Verb.SENDS, Verb.CONNECTS, Verb.FETCHES, Verb.READS, Verb.LISTS))


def runs_unread(request: Request, assessment: Assessment) -> str:
    """Return in a sentence why this may run more than was read; empty where it cannot."""
    if assessment.unread is None:
        return "Nobody looked whether it was read whole."
    if worst := [one for one in assessment.findings if one.capability in RUNS]:
        return max(worst, key=lambda one: one.level).reason
    if left := [one for one in assessment.unread if EXCHANGE.fullmatch(one) is None]:
        return left[0]
    acts = assessment.verdict.acts
    if len(assessment.unread) >= MOST_UNREAD or len(acts) >= MOST_ACTS:
        return "It does more than was written down of it."
    loads = request.language is not None and LANGUAGES[request.language].loads
    if loads and any(one.verb not in ONLY_LOOKS for one in acts):
        return "It changes files, and may load them as code."
    return ""
