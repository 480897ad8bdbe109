"""A registry on this machine, and a planner that knows it."""

from __future__ import annotations

import os
import platform
import sys
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.network import Destination
from runner.packages.cache import FileCache
from runner.packages.client import Access
from runner.packages.limits import PlanLimits
from runner.packages.planner import Planner
from runner.packages.target import PythonTarget
from tests.packages.registry import LoopbackRegistry, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


USUAL = PlanLimits()


@pytest.fixture
def registry() -> Iterator[LoopbackRegistry]:
    with served(LoopbackRegistry()) as found:
        yield found


@pytest.fixture
def planner(tmp_path: Path) -> Callable[..., Planner]:
    """Returns a planner for a registry; limits and fields of `Access` may be given."""

    def make(registry: LoopbackRegistry, limits: PlanLimits = USUAL, most: int = 1 << 30, **more: Any) -> Planner:
        also = more.pop("also", frozenset())
        here = frozenset({Destination("127.0.0.1", registry.port)})
        return Planner(
            FileCache(tmp_path / "cache", most),
            lambda kind: Access(registry.url if kind == "pypi" else f"{registry.root}/", here | also, **more),
            lambda: limits,
        )

    return make


@pytest.fixture
def target() -> PythonTarget:
    return PythonTarget(
        {
            "implementation_name": "cpython",
            "implementation_version": "3.13.1",
            "os_name": "posix",
            "platform_machine": platform.machine(),
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": "Linux",
            "platform_version": "",
            "python_full_version": "3.13.1",
            "python_version": "3.13",
            "sys_platform": sys.platform,
        },
        "",
        os.confstr("CS_GNU_LIBC_VERSION") or "",
    )
