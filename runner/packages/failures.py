"""The reasons for which a package cannot be planned or installed."""

from __future__ import annotations

from runner.model.errors import Refused


class Unusable(Exception):
    """A file or an answer of a registry that is not used; the text says why, as the end of a sentence."""


class NoPlan(Refused):
    """There is no plan for a request: what it asks for is not there, does not fit, or is not to be trusted."""
