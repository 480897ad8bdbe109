"""Doctor says of the person's own profiles which count, and where they are enforced; never where they are not."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from runner.commands import doctor
from runner.commands.check import State
from runner.commands.own_profiles import checks
from runner.model.request import Isolation
from runner.sandbox.contract import Readiness
from runner.sandbox.seccomp import libseccomp
from runner.sandbox.seccomp.own import check
from runner.settings.declared import Settings
from runner.settings.loading import Loaded
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(libseccomp._library() is None, reason="libseccomp is not installed")


def put(folder: Path, *allowed: str) -> Path:
    rules: list[dict[str, Any]] = [{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]
    rules += [{"names": [one], "action": "SCMP_ACT_ALLOW"} for one in allowed]
    path = folder / "own.json"
    path.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}))
    path.chmod(0o600)
    return path


def test_it_is_said_where_a_profile_is_enforced_and_where_not(tmp_path: Path) -> None:
    path = put(tmp_path)
    lines = check(path, ()).protections("ours")
    works, without, broken = Readiness(True, lines), Readiness(True, ("kernel of its own",)), Readiness(False)
    settings = Settings(seccomp_profile=str(path))
    for found, words, state in (
        ({Isolation.LOCAL: works, Isolation.DOCKER: works}, "enforced in the local sandbox and Docker.", State.OK),
        ({Isolation.LOCAL: works, Isolation.DOCKER: broken}, "enforced in the local sandbox. An open", State.OK),
        ({Isolation.GVISOR: without, Isolation.DOCKER: broken}, "enforced nowhere now", State.WARN),
        ({Isolation.PROCESS: without}, "enforced nowhere now", State.WARN),
    ):
        (said,) = checks(settings, found)
        assert words in said.what and said.state is state
        assert "nothing in gVisor" in said.what


def test_what_it_allows_beyond_and_names_that_nobody_knows_are_named(tmp_path: Path) -> None:
    path = put(tmp_path, "ptrace", "newer_than_all")
    (refused,) = checks(Settings(seccomp_profile=str(path)), {})
    assert refused.state is State.BAD and "forbids: ptrace" in refused.what and "seccomp_allows" in refused.fix
    ready = Readiness(True, check(path, ("ptrace",)).protections("ours"))
    (said,) = checks(Settings(seccomp_profile=str(path), seccomp_allows=("ptrace",)), {Isolation.LOCAL: ready})
    assert said.state is State.WARN
    assert "allows more than Assent's own filter: ptrace." in said.what and "newer_than_all" in said.what


def test_a_profile_of_apparmor_is_said_to_be_enforced_only_where_it_is() -> None:
    settings = Settings(apparmor_profile="mine")
    ready = Readiness(True, ("AppArmor profile mine of the engine's machine",))
    (said,) = checks(settings, {Isolation.DOCKER: ready})
    assert said.state is State.OK and "enforced in Docker." in said.what and "SELinux" in said.what
    problem = "The container engine has no AppArmor, so its profile mine cannot be enforced."
    (said,) = checks(settings, {Isolation.DOCKER: Readiness(False, problem=problem)})
    assert said.state is State.WARN and "enforced nowhere" in said.what and problem in said.what


def test_the_whole_doctor_has_it_and_says_why_nothing_is_run(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    path = put(tmp_path)
    path.write_text("{")
    loaded = Loaded(Settings(seccomp_profile=str(path)))
    found = {one.name: one for one in asyncio.run(doctor.sandboxes(Places.under(home), loaded))}
    assert found["Seccomp profile"].state is found["Local sandbox"].state is State.BAD
    for name in ("Seccomp profile", "Local sandbox"):
        assert "not JSON" in found[name].what
        assert found[name].fix == "Correct the profile, or take it out of the settings."
        assert "Nothing is run in the local sandbox and in Docker until it does." in found[name].what
