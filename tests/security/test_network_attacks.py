"""Attacks on the merged network of runs: each of these went through once, or gave an agent what it should not know."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from runner.approval.private_addresses import PrivateAddress
from runner.model.network import Destination
from runner.network.addresses import Reach
from runner.network.config_files import Surroundings
from runner.network.contacts import MOST_CONTACTS
from runner.network.dialing import DirectDialer
from runner.network.proxies import ProxiedDialer, ProxySettings
from runner.network.refusals import Blocked
from runner.network.registries import of_this_machine
from tests.engine.network_stage import INNER, PERSISTENT, networked
from tests.network.stage import EVIL, GOOD, PATIENCE, PUBLIC, echo, free_port, greeting, staged
from tests.network.test_proxies import behind, small_proxy
from tests.security.test_egress import UNRECOGNIZED, everything_listens

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio


def own_address() -> str:
    """Return an address of this machine that other machines reach it at; skips where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.250", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address but its own loopback")
        address: str = probe.getsockname()[0]
    return address


# ---- out to a host, or into this machine ----


@pytest.mark.parametrize("reach", [Reach.PUBLIC, Reach.PRIVATE])
async def test_no_name_leads_to_this_machine_by_its_outer_address(reach: Reach) -> None:
    """What listens here is behind the firewall for everybody else; a connection from here passes that."""
    address = own_address()
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        for form in (address, f"::ffff:{address}"):
            dialer = DirectDialer(lambda *_, form=form: [form], seconds=PATIENCE)  # type: ignore[misc]
            with pytest.raises(Blocked, match="private"):
                await dialer.open("a.example", port, reach)


async def test_a_configured_registry_may_be_on_this_machine() -> None:
    address = own_address()
    with socket.create_server(("0.0.0.0", 0)) as server:
        dialer = DirectDialer(lambda *_: [address], seconds=PATIENCE)
        _, writer = await dialer.open("mirror.example", server.getsockname()[1], Reach.CONFIGURED)
        writer.transport.abort()


@pytest.mark.parametrize("target", [f"{GOOD}:0443", GOOD, f" {GOOD}:443 "])
async def test_another_spelling_of_the_port_gives_no_unchecked_connection(target: str) -> None:
    """The relay runs beside the code and may be the code: what it names as target is the code's word."""
    async with everything_listens(GOOD) as (stage, sent):
        for data in (b"SSH-2.0-x\r\n", b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", greeting(EVIL)):
            async with stage.code(target) as code:
                assert (await code.asked(data))[:1] in (UNRECOGNIZED[:1], b"H")
        await stage.idle()
        assert sent == []


@pytest.mark.parametrize("host", ["localhost", "metadata.localhost"])
async def test_a_companys_proxy_is_not_asked_for_its_own_machine(host: str) -> None:
    async with small_proxy() as proxy:
        with pytest.raises(Blocked):
            await behind(proxy).open(host, 7000, Reach.PUBLIC)
        assert proxy.heads == []


# ---- what the code and the agent get to know ----


async def test_a_failure_does_not_name_the_address() -> None:
    dialer = DirectDialer(lambda *_: ["127.0.0.1"], seconds=PATIENCE)
    with pytest.raises(Blocked, match="refused") as raised:
        await dialer.open("localhost", free_port(), Reach.CONFIGURED)
    assert "127.0.0.1" not in raised.value.why


@pytest.mark.parametrize(
    "place",
    ["user:pa/secret@p.example:8080", "user:secret#x@p.example:1", "user:secret?x@p.example:1", "user:secret:8080"],
)
async def test_no_password_of_a_proxy_is_told(place: str) -> None:
    """Such a password is one that was not written as a URL has it: a part of it stands where the port should."""
    for text in (place, f"http://{place}"):
        settings = ProxySettings.of({"HTTPS_PROXY": text})
        assert settings.problem
        with pytest.raises(Blocked) as raised:
            await ProxiedDialer(settings).open("a.example", 443, Reach.PUBLIC)
        for said in (settings.problem, settings.sentence, raised.value.why):
            assert "secret" not in said and "pa'" not in said


async def test_what_is_wrong_with_a_proxy_is_not_said_of_the_host() -> None:
    """Else a person is asked to allow the host into the own network, for the address of the proxy."""
    settings = ProxySettings.of({"HTTPS_PROXY": "http://p.example:3128"})
    dialer = ProxiedDialer(settings, DirectDialer(lambda *_: ["127.0.0.1"]), seconds=PATIENCE)
    with pytest.raises(Blocked, match=r"the proxy p\.example:3128") as raised:
        await dialer.open(GOOD, 443, Reach.PUBLIC)
    assert raised.value.allowed is None and not raised.value.address and not raised.value.can_be_allowed


@pytest.mark.parametrize(
    "url",
    [
        "https://user:pa/secret@index.example/simple",
        "https://user:secret#x@index.example/simple",
        "https://user:secret?x@index.example/simple",
        "https://user:secret@[index.example/simple",
        "https://user:secret@ex\u2100mple.example/simple",
        "https://user:secret@index.example:99999/simple",
    ],
)
@pytest.mark.parametrize("variable", ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "npm_config_registry"])
async def test_a_registry_that_cannot_be_read_ends_nothing_and_tells_nothing(
    variable: str, url: str, tmp_path: Path
) -> None:
    environ = {"HOME": str(tmp_path), "PATH": "", variable: url, "npm_config_@own:registry": url}
    found = of_this_machine((), ("good.example",), Surroundings(environ, tmp_path))
    assert Destination(GOOD) in found.destinations
    assert any("cannot be used" in one for one in found.problems)
    for said in (found.pypi, found.npm, found.scopes, found.problems, found.destinations, repr(found)):
        assert "secret" not in str(said)


# ---- a word about one address counts for no other ----


@pytest.mark.parametrize("word", ["allow", "allow_always"])
async def test_a_name_that_becomes_another_inside_is_asked_about_again(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever owns the name shows the person a harmless machine, and leads the code to another one."""
    async with networked(tmp_path, monkeypatch) as stage:
        ticket = await stage.running(f"{PERSISTENT}\nprint(insist('{INNER}'), reach('{INNER}'))", f"{GOOD}:80")
        await stage.refused(ticket, INNER)
        allow = getattr(stage.engine.hosts, word)
        with pytest.raises(PrivateAddress, match=r"10\.1\.2\.3"):
            await allow(ticket.request_id, INNER, 80)
        stage.hosts.addresses[INNER] = ["10.0.0.1"]
        with pytest.raises(PrivateAddress, match=r"10\.0\.0\.1"):
            await allow(ticket.request_id, INNER, 80, private="10.1.2.3")
        stage.hosts.addresses[INNER] = ["10.1.2.4", "10.1.2.3"]
        with pytest.raises(PrivateAddress, match=r"10\.1\.2\.3, 10\.1\.2\.4"):
            await allow(ticket.request_id, INNER, 80, private="10.1.2.3")
        stage.hosts.addresses[INNER] = ["10.1.2.3"]
        await allow(ticket.request_id, INNER, 80, private="10.1.2.3")
        permission = stage.engine.runs._networking._open[ticket.request_id].gate._permissions.find(INNER, 80)
        assert permission is not None and permission.inside == {"10.1.2.3"}
        stage.engine.runs.stop(ticket.request_id)
        await stage.answer(ticket)
        if word == "allow":
            return
        stage.hosts.addresses[INNER] = ["10.0.0.1"]
        dialed = len(stage.hosts.dialed)
        later = await stage.running(f"{PERSISTENT}\nprint(reach('{INNER}'))", f"{GOOD}:80")
        answer = await stage.answer(later)
        assert answer.result is not None and "leads to a private address" in answer.result.stdout
        assert len(stage.hosts.dialed) == dialed and "10.0.0.1" not in answer.text()


async def test_names_below_a_wildcard_do_not_push_an_approved_host_out_of_the_record() -> None:
    """Where data went would be hidden otherwise: any name below the wildcard may be invented."""
    async with staged(f"*.{EVIL}:7000", f"{GOOD}:7000") as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        invented = [f"n{number}.{EVIL}" for number in range(MOST_CONTACTS + 5)]
        stage.hosts.addresses |= {name: [PUBLIC] for name in invented}
        for name in invented:
            async with stage.code() as code:
                assert b" 200 " in await code.connected(name, 7000)
        assert stage.gate.contacts_left_out == 5
        async with stage.code() as code:
            assert b" 200 " in await code.connected(GOOD, 7000)
            await code.say(b"hello")
            assert await code.reader.readexactly(5) == b"hello"
        await stage.idle()
        (reached,) = (one for one in stage.gate.contacts if one.host == GOOD)
        assert (reached.sent, reached.received) == (5, 5)
