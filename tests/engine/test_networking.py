"""A networked run through the real engine, the real gate and the real local sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.approval.private_addresses import PrivateAddress
from runner.model.errors import KnownError, Refused
from runner.model.events import HostContacted, RunMeasured
from runner.model.request import NetworkMode
from runner.model.result import Outcome
from tests.engine.network_stage import AGENT, EVIL, GOOD, INNER, OWN, PERSISTENT, STREAM, NetworkedStage, networked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


pytestmark = pytest.mark.asyncio
STAYS = "\nimport time\ntime.sleep(60)\n"
"""Keeps code that has noticed the end of its connection from ending by itself, before it is stopped."""
SIXES = ("::1", "fe80::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "64:ff9b::7f00:1", "fd00::1", "2001:4860:4860::8888")


@pytest_asyncio.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[NetworkedStage]:
    async with networked(tmp_path, monkeypatch) as stage:
        yield stage


async def test_an_approved_host_is_reached_and_another_is_refused_and_named(stage: NetworkedStage) -> None:
    code = f"{PERSISTENT}\nprint(reach('{GOOD}'))\nprint(reach('{EVIL}'))"
    ticket = await stage.running(code, f"{GOOD}:80")
    answer = await stage.answer(ticket)
    assert answer.result is not None and answer.result.outcome is Outcome.OK
    first, second = answer.result.stdout.splitlines()
    assert first == "hello" and "403: Blocked by Assent" in second
    refused, reached = answer.result.contacts
    assert (refused.host, refused.port, refused.allowed) == (EVIL, 80, False)
    assert (reached.host, reached.allowed) == (GOOD, True) and reached.received > 5
    assert stage.hosts.looked_up == [GOOD], "a name that is not allowed is not even looked up"
    assert answer.text().splitlines()[-2:] == [
        f"Refused by Assent, not reached: {EVIL}:80.",
        "A person decides about these hosts: ask for them in allowed_domains with network_enabled. "
        "Do not try to reach them by other means.",
    ]
    data = answer.details()["network"]
    assert isinstance(data, dict)
    assert [(one["host"], one["outcome"]) for one in data["hosts"]] == [
        (f"{EVIL}:80", "refused"),
        (f"{GOOD}:80", "allowed"),
    ]
    assert data["received"] > 5


async def test_the_record_the_events_and_the_readings_have_what_happened(stage: NetworkedStage) -> None:
    code = f"{PERSISTENT}\nprint(reach('{GOOD}'))\nprint(reach('{EVIL}'))\ntime.sleep(0.5)"
    ticket = await stage.running(code, f"{GOOD}:80")
    answer = await stage.answer(ticket)
    recorded = stage.record(ticket.request_id).result
    assert recorded is not None and answer.result is not None
    assert recorded.contacts == answer.result.contacts
    last = recorded.curve[-1]
    assert last.received is not None and last.received > 5 and last.sent and last.connections == 0
    assert {(one.host, one.allowed) for one in stage.contacts(ticket)} == {(GOOD, True), (EVIL, False)}
    readings = [one.usage for one in stage.heard if isinstance(one, RunMeasured)]
    assert readings and all(one.sent is not None and one.connections is not None for one in readings)


async def test_a_run_without_network_has_no_readings_of_it(stage: NetworkedStage) -> None:
    ticket = await stage.running("print(1)", network_enabled=False)
    answer = await stage.answer(ticket)
    assert answer.result is not None and not answer.result.contacts and "network" not in answer.details()
    assert all(one.sent is None for one in answer.result.curve)


async def test_a_refused_host_is_allowed_for_this_run_and_only_for_it(stage: NetworkedStage) -> None:
    code = f"{PERSISTENT}\nprint(insist('{EVIL}'))"
    ticket = await stage.running(code, f"{GOOD}:80")
    await stage.refused(ticket, EVIL)
    assert stage.engine.runs.reachable(ticket.request_id) == (f"{GOOD}:80",)
    assert await stage.engine.hosts.allow(ticket.request_id, EVIL, 80) == ""
    assert stage.engine.runs.reachable(ticket.request_id) == (f"{GOOD}:80", f"{EVIL}:80")
    answer = await stage.answer(ticket)
    assert stage.engine.runs.reachable(ticket.request_id) is None
    assert answer.result is not None and answer.result.stdout == "hello\n"
    body = next(one.body for one in stage.record(ticket.request_id).steps if one.entry.kind == "host-allowed")
    assert body == {"host": EVIL, "port": 80, "address": "", "by": "person"}
    again = await stage.asks(code, f"{GOOD}:80")
    assert again.case.request.domains == (f"{GOOD}:80",)
    said = await stage.engine.hosts.allow(ticket.request_id, EVIL, 80)
    assert said == "This run is over."


async def test_a_host_inside_needs_a_word_of_its_own(stage: NetworkedStage) -> None:
    ticket = await stage.running(f"{PERSISTENT}\nprint(insist('{INNER}'))", f"{GOOD}:80")
    await stage.refused(ticket, INNER)
    with pytest.raises(PrivateAddress, match=r"inner\.example:80 leads to 10\.1\.2\.3, an address inside") as caught:
        await stage.engine.hosts.allow(ticket.request_id, INNER, 80)
    assert caught.value.address == "10.1.2.3" and "host-allowed" not in stage.entries(ticket.request_id)
    assert await stage.engine.hosts.allow(ticket.request_id, INNER, 80, private="10.1.2.3") == ""
    answer = await stage.answer(ticket)
    assert answer.result is not None and answer.result.stdout == "hello\n"
    body = next(one.body for one in stage.record(ticket.request_id).steps if one.entry.kind == "host-allowed")
    assert body["address"] == "10.1.2.3"


async def test_no_word_opens_this_machine(stage: NetworkedStage) -> None:
    ticket = await stage.running(f"{PERSISTENT}\nprint(insist('{OWN}'))", f"{GOOD}:80")
    await stage.refused(ticket, OWN)
    for private in (False, True):
        with pytest.raises(KnownError, match="this machine"):
            await stage.engine.hosts.allow(ticket.request_id, OWN, 80, private=private)
    stage.engine.runs.stop(ticket.request_id)
    await stage.answer(ticket)
    assert "host-allowed" not in stage.entries(ticket.request_id)


async def test_a_name_that_the_agent_asked_for_never_leads_inside(stage: NetworkedStage) -> None:
    ticket = await stage.running(f"{PERSISTENT}\nprint(reach('{INNER}'))", f"{INNER}:80")
    answer = await stage.answer(ticket)
    assert answer.result is not None and "private address" in answer.result.stdout
    assert stage.hosts.dialed == []


async def test_a_refused_host_is_allowed_always_and_comes_with_the_next_request(stage: NetworkedStage) -> None:
    hosts, grants = stage.engine.hosts, stage.engine.parts.configuration.grants
    ticket = await stage.running(f"{PERSISTENT}\nprint(insist('{EVIL}'))", f"{GOOD}:80")
    await stage.refused(ticket, EVIL)
    grant = await hosts.allow_always(ticket.request_id, EVIL, 80)
    answer = await stage.answer(ticket)
    assert answer.result is not None and answer.result.stdout == "hello\n", "it counts for the run itself"
    assert [one.name for one in grants.all()] == [grant.name] and grant.pattern == f"{EVIL}:80"
    again = await stage.asks(f"{PERSISTENT}\nprint(reach('{EVIL}'))", f"{GOOD}:80")
    request = again.case.request
    assert request.domains == (f"{EVIL}:80", f"{GOOD}:80") and request.granted == (f"{EVIL}:80",)
    assert stage.approve(again) == ""
    assert "hello" in (await stage.answer(again)).text()
    (used,) = grants.all()
    assert used.used == 1 and "grant-used" in stage.entries(again.request_id)


async def test_a_host_is_allowed_always_after_the_run(stage: NetworkedStage) -> None:
    ticket = await stage.running(f"{PERSISTENT}\nprint(reach('{EVIL}'))", f"{GOOD}:80")
    await stage.answer(ticket)
    grant = await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 80)
    assert (grant.agent, grant.pattern) == ("claude", f"{EVIL}:80")
    with pytest.raises(KnownError, match="not refused that host"):
        await stage.engine.hosts.allow_always(ticket.request_id, GOOD, 80)


async def test_the_registries_of_this_machine_are_reached_without_being_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {"ASSENT_PYPI_REGISTRIES": f"{INNER}:80"}
    async with networked(tmp_path, monkeypatch, environment) as stage:
        ticket = await stage.running(f"{PERSISTENT}\nprint(reach('{INNER}'))")
        request = ticket.case.request
        assert request.network is NetworkMode.REGISTRIES and f"{INNER}:80" in request.domains
        answer = await stage.answer(ticket)
        assert answer.result is not None and answer.result.stdout == "hello\n", "what is configured may lie inside"


async def test_registries_without_any_are_refused_with_what_to_do(
    stage: NetworkedStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none() -> tuple[()]:
        return ()

    monkeypatch.setattr(stage.engine.parts, "registries", none)
    with pytest.raises(Refused, match=r"this machine names none\. Name the hosts in allowed_domains"):
        await stage.asks("print(1)")


async def test_stopping_a_run_ends_its_tunnels(stage: NetworkedStage) -> None:
    ticket = await stage.running(STREAM.format(host=GOOD) + STAYS, f"{GOOD}:80")
    await stage.until(stage.streams.is_set)
    stage.engine.runs.stop(ticket.request_id)
    answer = await stage.answer(ticket)
    assert answer.result is not None and answer.result.outcome is Outcome.KILLED
    await stage.until(lambda: not stage.streams.is_set())


async def test_a_lockdown_ends_the_network_of_every_run(stage: NetworkedStage) -> None:
    code = STREAM.format(host=GOOD) + f"{PERSISTENT}\nprint(reach('{EVIL}'))"
    ticket = await stage.running(code, f"{GOOD}:80")
    await stage.until(stage.streams.is_set)
    await stage.engine.modes.lock()
    await stage.until(lambda: not stage.streams.is_set())
    answer = await stage.answer(ticket)
    assert answer.result is not None and "ended" in answer.result.stdout
    await stage.engine.modes.guard()
    assert not any(isinstance(one, HostContacted) and one.contact.host == EVIL for one in stage.heard)


async def test_closing_the_console_ends_open_tunnels(stage: NetworkedStage) -> None:
    ticket = await stage.running(STREAM.format(host=GOOD) + STAYS, f"{GOOD}:80")
    await stage.until(stage.streams.is_set)
    await stage.engine.close("the window was closed")
    await stage.until(lambda: not stage.streams.is_set())
    result = stage.record(ticket.request_id).result
    assert result is not None and result.outcome is Outcome.KILLED
    reached, cut = result.contacts
    assert (reached.host, reached.allowed) == (cut.host, True) and "was ended" in cut.why


async def test_an_agent_that_is_revoked_loses_its_open_tunnels(stage: NetworkedStage) -> None:
    await stage.engine.membership.add(AGENT)
    ticket = await stage.running(STREAM.format(host=GOOD), f"{GOOD}:80")
    await stage.until(stage.streams.is_set)
    await stage.engine.membership.revoke(AGENT)
    await stage.until(lambda: not stage.streams.is_set())
    await stage.until(lambda: stage.record(ticket.request_id).result is not None)


async def test_addresses_of_version_6_that_nobody_approved_are_refused(stage: NetworkedStage) -> None:
    code = f"""{PERSISTENT}
import socket
for host in {SIXES!r}:
    print(reach(f"[{{host}}]"))
try:
    socket.create_connection(("2001:4860:4860::8888", 80), 5)
except OSError as error:
    print("no way:", error.strerror)
"""
    ticket = await stage.running(code, f"{GOOD}:80")
    answer = await stage.answer(ticket)
    assert answer.result is not None
    *refused, raw = answer.result.stdout.splitlines()
    assert len(refused) == len(SIXES) and all("Blocked by Assent" in line for line in refused), refused
    assert raw.startswith("no way: ")
    assert answer.result.contacts and not any(one.allowed for one in answer.result.contacts)
    assert stage.hosts.looked_up == [] == stage.hosts.dialed
