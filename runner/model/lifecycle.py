"""The life of a request as one table (spec, *Life of a request*). Pure data.

The rules behind it:

- A request is in one phase, and `Case.advance` (`runner/requests/case.py`) alone takes it to the next. A step that the
  table does not have is a bug and raises. No phase is skipped over to get where somebody wants to be.
- A step is written before it is announced, and RUNNING before the code is handed to an interpreter: after a crash there
  is no code that ran of which the history says nothing.
- Nothing leads back. ASKED alone follows itself, as a restart asks again what nobody had answered. An approval that no
  history holds, because the disk was full, never was one: its request is denied from the phase before.
- A question ends in one of four ways, and only APPROVED leads to a run. It does not always: the last check may refuse
  it, a sandbox may not start, an outcome may be handed over in place of a run, and most tools run nothing. Then it goes
  to FINISHED at once, never to DENIED: what was decided stays as it was decided.
- Whatever happens, a request ends in CLOSED, which is when its caller has an answer.

A request that a person approves:

    arrived     as it came; nothing has read its code yet
    assessed    level and findings
    asked       a person may see it; from here on a press of Approve counts
    approved    who, why, and the digest of what is approved
    running     written; only now the code is sent to the sandbox
    finished    output, files, how it ended
    closed      answered

Had the console been killed at `asked`, the next start would write `asked` again where the agent comes back for the
answer, and `denied` where its call went with the console. Killed at `running`, it would write `finished`, with the word
that the output is lost, and `closed`; it runs nothing, as nobody knows how far the code got.
"""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    ARRIVED = "arrived"
    ASSESSED = "assessed"
    ASKED = "asked"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    RUNNING = "running"
    FINISHED = "finished"
    CLOSED = "closed"


NEXT: dict[Phase | None, frozenset[Phase]] = {
    None: frozenset({Phase.ARRIVED}),
    Phase.ARRIVED: frozenset({Phase.ASSESSED, Phase.DENIED, Phase.WITHDRAWN}),
    Phase.ASSESSED: frozenset({Phase.ASKED, Phase.APPROVED, Phase.DENIED, Phase.WITHDRAWN}),
    # After a restart the question is asked again; no old decision is replayed (spec I4).
    Phase.ASKED: frozenset({Phase.ASKED, Phase.APPROVED, Phase.DENIED, Phase.EXPIRED, Phase.WITHDRAWN}),
    Phase.APPROVED: frozenset({Phase.RUNNING, Phase.FINISHED}),
    Phase.RUNNING: frozenset({Phase.FINISHED}),
    Phase.FINISHED: frozenset({Phase.CLOSED}),
    Phase.DENIED: frozenset({Phase.CLOSED}),
    Phase.EXPIRED: frozenset({Phase.CLOSED}),
    Phase.WITHDRAWN: frozenset({Phase.CLOSED}),
    Phase.CLOSED: frozenset(),
}


class IllegalMove(Exception):
    """A step that the table does not have: always a bug."""


def check(now: Phase | None, then: Phase) -> None:
    """Raise IllegalMove unless the table has a step from `now` to `then`."""
    if then not in NEXT[now]:
        raise IllegalMove(f"{now or 'nothing'} -> {then}")
