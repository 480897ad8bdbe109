"""The accounts that tests run programs as: this one, and an ordinary one where this one is root."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NUMBER = 4321
"""Of an account that nobody has."""
THIS, ORDINARY = NAMES = ("this account", "ordinary account")


def account_of(name: str) -> int:
    """Return the number of an account by its name in NAMES; skips where it cannot run the code of this one."""
    if name == THIS:
        return os.geteuid()
    folders = [ROOT, *ROOT.parents, *(Path(one) for one in sys.path if one.endswith("site-packages"))]
    # The interpreter of this account may be anywhere; that of the system has to be of the same version.
    if os.geteuid() or not all(one.stat().st_mode & 1 for one in folders) or sys.version_info[:2] != (3, 11):
        pytest.skip("another account cannot run the tests' own code here")
    return NUMBER
