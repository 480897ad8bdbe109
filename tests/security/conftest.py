"""The sandboxes of the contract tests, one after the other."""

from __future__ import annotations

from tests.contract.conftest import lab
from tests.sandbox.conftest import bwrap

__all__ = ["bwrap", "lab"]
