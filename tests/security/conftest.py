"""The sandboxes of the contract tests, one after the other, and the gateway of its tests."""

from __future__ import annotations

from tests.contract.conftest import lab, patient
from tests.gateway.conftest import era, stage
from tests.sandbox.conftest import bwrap

__all__ = ["bwrap", "era", "lab", "patient", "stage"]
