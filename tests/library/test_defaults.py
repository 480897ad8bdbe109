"""What the settings give every run, in runs of Python programs: network of containers, and packages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from runner import KnownError, Outcome, Result, execute, run_python_code
from runner.library import direct
from runner.model.network import Destination
from runner.model.request import Isolation, NetworkMode
from tests.engine.test_installing import USE, registry

if TYPE_CHECKING:
    from runner.sandbox.contract import Job
    from tests.packages.registry import LoopbackRegistry

__all__ = ["registry"]


class Recording:
    """A sandbox that runs nothing and notes what it was asked for."""

    def __init__(self, isolation: Isolation) -> None:
        self.isolation = isolation
        self.jobs: list[Job] = []
        self.reachable: list[str] = []

    async def start(self, job: Job, _measured: object) -> Recording:
        self.jobs.append(job)
        self.reachable += map(str, job.gate.destinations if job.gate is not None else ())
        return self

    async def finished(self) -> Result:
        return Result(Outcome.OK, "ran\n", "", 0, 0.1)


@pytest.fixture
def container(monkeypatch: pytest.MonkeyPatch) -> Recording:
    return used(Recording(Isolation.DOCKER), monkeypatch)


def used(sandbox: Recording, monkeypatch: pytest.MonkeyPatch) -> Recording:
    async def choose(*_: object, **__: object) -> Any:
        return SimpleNamespace(sandbox=sandbox)

    monkeypatch.setattr(direct, "choose", choose)
    monkeypatch.setattr(direct, "registry_hosts", lambda _settings: (Destination("pypi.example", 443),))
    return sandbox


def test_containers_reach_the_registries_where_the_settings_say_so(
    container: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_NETWORK_ENABLED", "true")
    assert run_python_code("print(1)") == "ran"
    execute("print(1)", network_enabled=False)
    asked, left = container.jobs
    assert (asked.network, left.network) == (NetworkMode.REGISTRIES, NetworkMode.NONE)
    assert container.reachable == ["pypi.example"] and left.gate is None


def test_without_that_setting_nothing_has_network(container: Recording) -> None:
    execute("print(1)")
    assert container.jobs[0].network is NetworkMode.NONE


def test_the_setting_is_for_containers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    local = used(Recording(Isolation.LOCAL), monkeypatch)
    monkeypatch.setenv("DOCKER_NETWORK_ENABLED", "true")
    execute("print(1)")
    assert local.jobs[0].network is NetworkMode.NONE


def test_default_packages_are_there(registry: LoopbackRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    assert execute(USE).outcome is Outcome.FAILED
    monkeypatch.setenv("ASSENT_PYTHON_PACKAGES", "alpha")
    result = execute(USE)
    assert result.stdout == "1.5 2.0\n", result.stderr
    assert run_python_code(USE) == "1.5 2.0"
    assert execute("echo 1", "shell").stdout == "1\n"


def test_default_packages_pass_the_list_of_modules(registry: LoopbackRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSENT_PYTHON_PACKAGES", "alpha")
    monkeypatch.setenv("ASSENT_ENFORCE_ALLOWED_MODULES", "true")
    assert execute(USE).stdout == "1.5 2.0\n"
    assert execute("import socket").meta.blocked_imports == ("socket",)


def test_default_packages_that_are_nowhere_run_nothing(
    registry: LoopbackRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSENT_PYTHON_PACKAGES", "gamma")
    with pytest.raises(KnownError, match="gamma"):
        execute("print(1)")
    assert run_python_code("print(1)").startswith("Error: ")


def test_a_default_package_without_a_wheel_says_what_to_do(
    registry: LoopbackRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add_source("gamma", "1.0")
    monkeypatch.setenv("ASSENT_PYTHON_PACKAGES", "gamma")
    with pytest.raises(KnownError, match=r"gamma 1\.0 would have to be built"):
        execute("print(1)")
