"""The two kinds of failure that are not bugs: faults of the environment, and of the caller."""

from __future__ import annotations


class KnownError(Exception):
    """A fault outside Assent: one sentence that describes it, and a remedy.

    Everything else that is raised is a bug and goes to the fault log.
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what} {remedy}".strip())
        self.what = what
        self.remedy = remedy


class Refused(KnownError):
    """A call by an agent that is not accepted at all: no request was made, nothing will run."""
