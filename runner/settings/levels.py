"""The security levels: bundles of settings that count where nothing else sets them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.settings.declaration import Value


def level_values(level: str) -> Mapping[str, Value]:
    """Return what a security level sets where nothing else does (spec E2, R6, R7).

    The standard level is the defaults themselves. `permissive` names no processor limit: all cores.
    """
    if level == "permissive":
        return {
            "timeout_seconds": 60.0,
            "memory_mb": 1024,
            "cpu_cores": float(os.cpu_count() or 1),
            "weakest_isolation_critical": "local",
        }
    if level == "strict":
        return {
            "timeout_seconds": 10.0,
            "memory_mb": 256,
            "cpu_cores": 0.5,
            "weakest_isolation_high": "docker",
            "weakest_isolation_medium": "docker",
        }
    return {}
