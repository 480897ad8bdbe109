"""The sandboxes of the contract tests, one after the other."""

from __future__ import annotations

from tests.contract.conftest import lab

__all__ = ["lab"]
