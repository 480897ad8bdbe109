"""The variables of a request that may go into the environment of a program."""

from __future__ import annotations

from runner.model.expression import expression

LONGEST = 64
TAKEN = expression(r"[a-z][a-z0-9_]*|INPUT_[A-Z0-9_]+")
"""Names that hardly any program obeys. By convention what steers programs is in upper case."""
STEERING = expression(r"\w*_proxy|npm_\w*|yarn_\w*|histchars|auto_resume")
"""The few in lower case that steer programs all the same."""
NAMES = "Names for shell code are in lower case, or begin with INPUT_ and are in upper case."
"""What to do about another one."""


def is_harmless(name: str) -> bool:
    """Return whether a variable of this name is data for every program that has it in its environment."""
    return len(name) <= LONGEST and TAKEN.fullmatch(name) is not None and STEERING.fullmatch(name) is None
