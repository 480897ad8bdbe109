"""A person's own version of a request, as it would run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.request import Request


@dataclass(frozen=True, slots=True)
class Draft:
    """The person's version of a request, with its own assessment."""

    request: Request
    assessment: Assessment
    blocked: str
    """Why it may not be approved; empty when it may."""
