"""Approved code over the working copy of a program at work, on another machine: what goes there, what comes back."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.request import PROMISED, Isolation, Language, Limits, Request, Tool
from runner.model.result import Outcome
from runner.sandbox.contract import Job, NotPermitted
from runner.sandbox.output import Stream
from runner.sandbox.remote.quota import Quota
from runner.sandbox.remote.sandbox import E2BSandbox
from runner.sandbox.remote.service import Service
from runner.workspace import returning
from tests.e2b_server.server import KEY, Loopback
from tests.engine.test_session_layers import Session, session
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from runner.engine.work.layers import OpenLayer, SessionLayers
    from runner.model.result import Result

__all__ = ["session"]
pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(os.geteuid() != 0, reason="the server on loopback has accounts only as root"),
]
WAITS = "echo there >a; echo begun; read x </dev/zero"
LIMITS = Limits(seconds=HANGS, memory_mb=256, disk_mb=16)


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@asynccontextmanager
async def elsewhere(
    server: Loopback, session: Session, quota: Quota | None = None, included: tuple[str, ...] = ()
) -> AsyncIterator[tuple[E2BSandbox, SessionLayers, OpenLayer]]:
    """A layer that is open for a run, of which the files that are there now were approved to be sent."""
    sandbox = E2BSandbox(Service(api_url=server.url, sandbox_url=server.url, key=KEY), quota)
    (session.copy.shown / "f").unlink()  # a pipe, which nobody sends
    (session.copy.shown / ".env").write_text("SECRET")
    with session.running() as layers:
        sends = await layers.sends(Isolation.E2B, session.work)
        assert sends is not None
        async with layers.entered(session.work, lambda: None, sends.including(included)) as opened:
            try:
                yield sandbox, layers, opened
            finally:
                await sandbox.close()
    assert not server.boxes


def job(code: str, permit: Callable[[], None] = lambda: None) -> Job:
    return Job("test", Language.SHELL, code, LIMITS, permit=permit, agent="claude")


async def ran(sandbox: E2BSandbox, opened: OpenLayer, code: str) -> Result:
    return await (await sandbox.start_over(job(code), opened.layer, lambda _: None)).finished()


async def test_the_code_sees_the_project_there_and_its_changes_land_in_the_layer(
    server: Loopback, session: Session
) -> None:
    async with elsewhere(server, session) as (sandbox, layers, opened):
        asked = await layers.protections(sandbox, session.work)
        assert asked[0] == f"{PROMISED}{server.url[7:]}"
        sends = await layers.sends(Isolation.E2B, session.work)
        assert sends is not None and [one.file.name for one in sends.behind] == [".env"]
        request = Request("1", "claude", Tool.CODE_EXECUTE, 0.0, isolation=Isolation.E2B, sends=sends)
        assert request.files_sent.endswith("; 1 that may hold a secret stays here")
        assert await layers.sends(Isolation.LOCAL, session.work) is None
        result = await ran(sandbox, opened, "cat a; ls -A; echo n >new; rm b; echo there >.env")
        assert result.outcome is Outcome.FAILED and f".env {returning.NOT_SENT}" in result.error, result
        assert result.stdout.startswith("a\n") and "SECRET" not in result.stdout
        assert set(asked) <= set(result.meta.protections)
        assert result.meta.rented_seconds > 0
        assert (session.copy.shown / ".env").read_text() == "SECRET"
        now = await layers.sends(Isolation.E2B, session.work)
        async with layers.entered(session.work, lambda: None, now) as again:
            assert (await ran(sandbox, again, "cat new")).stdout == "n\n", "a second run sees what the first has done"
    found = {one.path: one.how.value for one in session.copy.changes().changes}
    assert (found[b"new"], found[b"b"]) == ("added", "deleted")
    assert (session.copy.project / "b").exists() and not (session.copy.project / "new").exists()


async def test_what_a_person_included_is_sent_and_nothing_else_that_may_hold_a_secret(
    server: Loopback, session: Session
) -> None:
    (session.copy.shown / "token.txt").write_text("OTHER")
    async with elsewhere(server, session, included=(".env",)) as (sandbox, _, opened):
        assert (await ran(sandbox, opened, "cat .env; ls token.txt 2>&1")).stdout.startswith("SECRETls: ")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda top: (top / "put there").write_text("x"), "put there came"),
        (lambda top: (top / "a").write_text("longer\n"), "a is not as it was"),
        (lambda top: (top / "a").write_text("A\n"), "a is not as it was"),
        (lambda top: (top / "a").chmod(0o755), "a is not as it was"),
        (lambda top: ((top / "a").unlink(), (top / "a").symlink_to("/etc/passwd")), "a is not as it was"),
        (lambda top: ((top / "a").unlink(), os.mkfifo(top / "a")), "a is no file that can be sent any more"),
        (lambda top: (top / "a").unlink(), "a is no file that can be sent any more"),
        (lambda top: (top / "a").write_text("key = AKIA" + "IOSFODNN7EXAMPLE\n"), "a is not as it was"),
    ],
)
async def test_what_is_not_as_it_was_approved_is_not_sent(
    server: Loopback, session: Session, change: Callable[[Path], object], why: str
) -> None:
    async with elsewhere(server, session) as (sandbox, _, opened):
        await sandbox.check()
        server.seen.clear()
        change(session.copy.shown)
        with pytest.raises(KnownError, match=f"since this was asked.*{why}|{why} since this was asked"):
            await ran(sandbox, opened, "true")
        assert not server.seen


async def test_nothing_is_sent_that_nobody_approved(server: Loopback, session: Session) -> None:
    async with elsewhere(server, session) as (sandbox, layers, _), layers.entered(session.work, lambda: None) as opened:
        with pytest.raises(KnownError, match="Nobody has approved"):
            await ran(sandbox, opened, "true")


async def test_what_the_program_at_work_changes_meanwhile_stays(server: Loopback, session: Session) -> None:
    async with elsewhere(server, session) as (sandbox, _, opened):
        run = await sandbox.start_over(job(WAITS), opened.layer, lambda _: None)
        while "begun" not in run.transcript.text(Stream.OUT)[0]:
            await asyncio.sleep(0.01)
        (session.copy.shown / "a").write_text("here\n")
        run.stop("A person ended it")
        result = await run.finished()
        assert result.outcome is Outcome.KILLED
        assert "A person ended it" in result.error and f"a {returning.CHANGED}" in result.error
        assert (session.copy.shown / "a").read_text() == "here\n"


async def test_a_sandbox_that_is_gone_in_the_middle_changes_nothing(server: Loopback, session: Session) -> None:
    async with elsewhere(server, session) as (sandbox, _, opened):
        run = await sandbox.start_over(job(WAITS), opened.layer, lambda _: None)
        while "begun" not in run.transcript.text(Stream.OUT)[0]:
            await asyncio.sleep(0.01)
        for id in list(server.boxes):
            server.kill(id)
        result = await run.finished()
        assert result.outcome is Outcome.ENGINE_LOST
        assert "What it changed there is lost" in result.error
        assert (session.copy.shown / "a").read_text() == "a\n"


async def test_nothing_leaves_where_the_approval_is_gone_or_the_minutes_are_used(
    server: Loopback, session: Session
) -> None:
    def gone() -> None:
        raise NotPermitted("Withdrawn.")

    spent = Quota(most_at_once=1, minutes_a_day=60)
    async with elsewhere(server, session, spent) as (sandbox, _, opened):
        await sandbox.check()
        server.seen.clear()
        with pytest.raises(NotPermitted, match="Withdrawn"):
            await sandbox.start_over(job("true", gone), opened.layer, lambda _: None)
        assert not any(one.path.endswith("SendInput") for one in server.seen)
        number = spent.begin("claude")
        with pytest.raises(KnownError, match="claude has 1 sandboxes at E2B"):
            await sandbox.start_over(job("true"), opened.layer, lambda _: None)
        spent.end(number)


async def test_a_layer_that_is_mounted_for_the_program_alone_is_not_sent(server: Loopback, session: Session) -> None:
    async with elsewhere(server, session) as (sandbox, _, opened):
        mounted = replace(opened.layer, mounts=0, journey=None)
        with pytest.raises(KnownError, match="`assent work --copy` works over a copy, which can be sent"):
            await sandbox.start_over(job("true"), mounted, lambda _: None)
