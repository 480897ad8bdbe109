"""Qt's hook does not look into what other threads import."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from app.start import opening, selftest

if TYPE_CHECKING:
    import pytest


def test_a_console_imports_without_qts_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """It once broke an import that it looked into half-way, and no agent could reach the console."""
    python = builtins.__import__
    for start in (opening.main, selftest.main):
        with monkeypatch.context() as patched:
            patched.setattr(builtins, "__import__", vars(builtins)["__feature_import__"])
            patched.setattr(opening, "has_display", lambda _environment: False)
            patched.setattr("runner.commands.selftest.main", lambda _further: 0)
            start()
            assert builtins.__import__ is python
    assert python.__name__ != "__feature_import__"
