"""The person's own profiles around containers: enforced by the engine, or refused in words."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language, Limits
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.own_profiles import OwnProfiles
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.container.shape import ContainerProfiles, Shape, config
from runner.sandbox.contract import Job
from runner.sandbox.seccomp.own import PROFILE, OwnProfile
from tests import container_engine as engine
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = Limits(memory_mb=256, disk_mb=8, seconds=HANGS, cpu_cores=2.0)
FORBIDS = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [{"names": ["mkdir", "mkdirat", "socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13}],
}
TRIES = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def traced():
    if libc.ptrace(0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "ptrace")
for act in (lambda: os.mkdir("d"), lambda: socket.socket(), lambda: open("f", "w").close(), traced):
    try:
        act()
        print("done")
    except OSError as error:
        print(error.errno)
"""
WITH_APPARMOR = {"SecurityOptions": ["name=apparmor", "name=seccomp,profile=default"]}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    engine.have_patience(monkeypatch)


def put(folder: Path, said: dict[str, Any]) -> str:
    path = folder / "own.json"
    path.write_text(json.dumps(said), "utf-8")
    path.chmod(0o600)
    return str(path)


def test_code_in_a_container_is_held_to_it(tmp_path: Path) -> None:
    path = put(tmp_path, FORBIDS)
    profiles, client = OwnProfiles(OwnProfile(path)), engine.client()

    async def body() -> None:
        sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, client, profiles=profiles)
        ready = await sandbox.check()
        assert ready.ready, ready
        assert any(one.startswith(f"{PROFILE}own.json, SHA-256 ") for one in ready.protections)
        await sandbox.warm([Language.PYTHON], LIMITS, 1)
        for _ in range(2):  # a cold container, or one that waits
            run = await sandbox.start(Job("t", Language.PYTHON, TRIES, LIMITS), lambda _usage: None)
            result = await run.finished()
            assert (result.stdout, result.stderr) == ("13\n13\ndone\n1\n", "")
            assert result.meta.protections == ready.protections
        put(tmp_path, {"defaultAction": "SCMP_ACT_ALLOW"})
        assert "it has changed since it was checked" in (await sandbox.check()).missing[0]
        session = await sandbox.open(Language.PYTHON, LIMITS, "")
        result = await (await session.start(Job("t", Language.PYTHON, TRIES, LIMITS), lambda _usage: None)).finished()
        assert result.stdout == "13\n13\ndone\n1\n"
        await sandbox.close()

    asyncio.run(body())


def test_a_call_that_was_agreed_to_is_let_through(tmp_path: Path) -> None:
    said = {**FORBIDS, "syscalls": [*FORBIDS["syscalls"], {"names": ["ptrace"], "action": "SCMP_ACT_ALLOW"}]}

    client = engine.client()

    async def printed(*agreed: str) -> str:
        profiles = OwnProfiles(OwnProfile(put(tmp_path, said), agreed))
        sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, client, profiles=profiles)
        if not (ready := await sandbox.check()).ready:
            return ready.problem
        run = await sandbox.start(Job("t", Language.PYTHON, TRIES, LIMITS), lambda _usage: None)
        result = await run.finished()
        await sandbox.close()
        return result.stdout

    assert "allows a call that Assent's own filter forbids: ptrace" in asyncio.run(printed())
    assert asyncio.run(printed("ptrace")) == "13\n13\ndone\ndone\n"


def test_one_with_which_nothing_works_is_named_as_the_cause(tmp_path: Path) -> None:
    said = {**FORBIDS, "syscalls": [{"names": ["getdents64", "statx", "newfstatat"], "action": "SCMP_ACT_ERRNO"}]}
    client, profiles = engine.client(), OwnProfiles(OwnProfile(put(tmp_path, said)))

    async def body() -> None:
        sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, client, profiles=profiles)
        ready = await sandbox.check()
        assert not ready.ready and ready.problem.startswith("With your profile own.json: ")
        await sandbox.close()

    asyncio.run(body())


def test_an_engine_without_apparmor_says_so_and_runs_nothing() -> None:
    client = engine.client()

    async def body() -> None:
        info = await client.call(lambda api: api.info())
        if "name=apparmor" in [one.split(",")[0] for one in info["SecurityOptions"]]:
            pytest.skip("this machine has AppArmor")
        sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, client, profiles=OwnProfiles(None, "mine"))
        ready = await sandbox.check()
        assert not ready.ready
        assert ready.problem == "The container engine has no AppArmor, so its profile mine cannot be enforced."
        await sandbox.close()

    asyncio.run(body())


# No kernel of the machines that test has AppArmor: what an engine says of itself is given here.


def test_a_profile_of_apparmor_is_named_to_the_engine_that_has_it() -> None:
    profiles, words = asyncio.run(OwnProfiles(None, "mine/strict.v2").taken(Isolation.DOCKER, WITH_APPARMOR))
    assert profiles == ContainerProfiles("", "mine/strict.v2")
    assert words("ours") == ("ours", "AppArmor profile mine/strict.v2 of the engine's machine")
    made = config(Shape(Isolation.DOCKER, "runc", "image", Language.PYTHON, Limits(), profiles=profiles), "run-1-2-x")
    assert "apparmor=mine/strict.v2" in made["HostConfig"]["SecurityOpt"]


@pytest.mark.parametrize("name", ["unconfined", "a b", "a=b", "-x", "x" * 200, "x\ny"])
def test_what_is_no_profile_of_apparmor_is_refused(name: str) -> None:
    with pytest.raises(KnownError):
        asyncio.run(OwnProfiles(None, name).taken(Isolation.DOCKER, WITH_APPARMOR))


@pytest.mark.parametrize("isolation", [Isolation.GVISOR, Isolation.GVISOR_DIRECT])
def test_in_gvisor_neither_is_said_to_protect(tmp_path: Path, isolation: Isolation) -> None:
    own = OwnProfiles(OwnProfile(put(tmp_path, FORBIDS)), "mine")
    profiles, words = asyncio.run(own.taken(isolation, {}))
    assert profiles == ContainerProfiles() and words("kernel of its own") == ("kernel of its own",)
    seccomp, apparmor = own.inactive(isolation)
    assert seccomp == "your seccomp profile own.json: gVisor answers system calls itself, and does not read it"
    assert apparmor.startswith("your AppArmor profile mine: gVisor")
    assert own.inactive(Isolation.DOCKER) == ()


def test_containers_of_another_profile_are_others() -> None:
    """None that waits with one profile is taken for another."""
    plain = Shape(Isolation.DOCKER, "runc", "image", Language.PYTHON, Limits())
    other = Shape(
        Isolation.DOCKER,
        "runc",
        "image",
        Language.PYTHON,
        Limits(),
        profiles=ContainerProfiles('{"defaultAction":"x"}'),
    )
    assert plain != other
    assert 'seccomp={"defaultAction":"x"}' in config(other, "run-1-2-x")["HostConfig"]["SecurityOpt"]
