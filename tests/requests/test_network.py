"""What a call asks of the network becomes a complete, canonical list of hosts, or is refused with a remedy."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from runner.model.errors import Refused
from runner.model.kept_sandbox import Kept
from runner.model.network import Destination
from runner.model.request import Isolation, Language, NetworkMode, Request, Tool
from runner.model.submission import Submission
from runner.requests import intake
from runner.requests.network import Offered, network_facts, registry_hosts, through_gate
from runner.sandbox.networked import PROTECTION
from runner.settings.loading import Settings

SETTINGS = Settings()
CALL = Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "print(1)", network_enabled=True)
REGISTRY, GRANTED = Destination("index.test"), Destination("granted.example")
OFFERED = Offered((REGISTRY,), (GRANTED,))


def made(
    submission: Submission,
    offered: Offered = OFFERED,
    settings: Settings = SETTINGS,
    isolation: Isolation = Isolation.DOCKER,
    kept: Kept | None = None,
) -> Request:
    return intake.request(submission, settings, isolation, kept=kept, offered=offered)


def sandbox(mode: NetworkMode = NetworkMode.NONE, *domains: str) -> Kept:
    return Kept("k", "claude", Language.PYTHON, Isolation.DOCKER, time.time(), network=mode, domains=domains)


def test_hosts_are_canonical_sorted_and_named_once() -> None:
    asked = ("B.example.", "b.example:443", "a.example:8443", "*.C.Example", " a.example:8443 ", "[::1]:80")
    request = made(replace(CALL, allowed_domains=asked), Offered())
    assert request.domains == tuple(sorted(("*.c.example", "[::1]:80", "a.example:8443", "b.example")))
    again = made(replace(CALL, allowed_domains=tuple(reversed(asked))), Offered())
    assert again.domains == request.domains


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("", "it is not a host name"),
        ("https://a.example/x", "its port is not a number|it is not a host name"),
        ("a.example/x", "it is not a host name"),
        ("a.example\x00.b", "it is not a host name"),
        ("a.example%00", "it is not a host name"),
        ("a b", "it is not a host name"),
        ("2130706433", "it is a number"),
        ("0x7f.1", "it is a number"),
        ("127.1", "it is a number"),
        ("*", "it is not a host name"),
        ("*.com", "a wildcard needs a name of at least two parts"),
        ("*.127.0.0.1", "a wildcard needs"),
        ("a.*.example", "it is not a host name"),
        ("a.example:0", "its port"),
        ("a.example:65536", "its port"),
        ("a.example:", "its port"),
        ("\u0430.example", "it is not a host name"),
    ],
)
def test_an_entry_that_names_no_host_is_refused_with_a_remedy(entry: str, why: str) -> None:
    with pytest.raises(Refused, match=why) as caught:
        made(replace(CALL, allowed_domains=("good.example", entry)))
    assert "Send names such as example.com" in caught.value.remedy and "\x00" not in str(caught.value)


@pytest.mark.parametrize("entry", ["localhost", "127.0.0.1:8080", "10.0.0.1", "[::1]", "*.corp.internal"])
def test_this_machine_and_addresses_can_be_asked_for(entry: str) -> None:
    assert made(replace(CALL, allowed_domains=(entry,)), Offered()).domains == (entry,)


def test_no_domains_means_the_registries_and_never_everything() -> None:
    request = made(CALL)
    assert request.network is NetworkMode.REGISTRIES
    assert request.domains == ("granted.example", "index.test") and request.granted == ("granted.example",)
    assert made(replace(CALL, allowed_domains=())).domains == request.domains


def test_named_domains_do_not_bring_the_registries() -> None:
    request = made(replace(CALL, allowed_domains=("a.example",)))
    assert (request.network, request.domains) == (NetworkMode.DOMAINS, ("a.example", "granted.example"))


def test_registries_without_any_are_refused() -> None:
    with pytest.raises(Refused, match="this machine names none") as caught:
        made(CALL, Offered((), (GRANTED,)))
    assert "allowed_domains" in caught.value.remedy and "pip or npm" in caught.value.remedy


def test_what_was_asked_for_is_not_marked_as_granted() -> None:
    request = made(replace(CALL, allowed_domains=("granted.example",)))
    assert request.domains == ("granted.example",) and request.granted == ()


def test_granted_hosts_are_in_the_digest() -> None:
    with_grant = made(replace(CALL, allowed_domains=("a.example",)))
    without = replace(with_grant, domains=("a.example",), granted=())
    named = replace(with_grant, granted=())
    assert len({with_grant.digest, without.digest, named.digest}) == 3


@pytest.mark.parametrize("asked", [None, False])
def test_nothing_is_granted_to_a_call_without_network(asked: bool | None) -> None:
    request = made(replace(CALL, network_enabled=asked))
    assert (request.network, request.domains, request.granted) == (NetworkMode.NONE, (), ())


@pytest.mark.parametrize("tool", [Tool.CODE_READ_FILE, Tool.CODE_WRITE_FILE, Tool.CODE_LIST_FILES])
def test_tools_without_code_have_no_network(tool: Tool) -> None:
    call = Submission("claude", tool, file_path="a", sandbox_id="k")
    assert made(call, kept=sandbox(NetworkMode.DOMAINS, "a.example")).network is NetworkMode.NONE


@pytest.mark.parametrize(
    ("isolation", "mode"),
    [
        (Isolation.DOCKER, NetworkMode.REGISTRIES),
        (Isolation.GVISOR, NetworkMode.REGISTRIES),
        (Isolation.LOCAL, NetworkMode.NONE),
        (Isolation.PROCESS, NetworkMode.NONE),
    ],
)
def test_containers_get_the_registries_by_default_where_the_settings_say_so(
    isolation: Isolation, mode: NetworkMode
) -> None:
    settings = Settings(network_by_default=True)
    unsaid = replace(CALL, network_enabled=None)
    assert made(unsaid, settings=settings, isolation=isolation).network is mode
    assert made(unsaid, Offered(), settings, isolation).network is NetworkMode.NONE, "there is none to give"
    assert made(replace(CALL, network_enabled=False), settings=settings, isolation=isolation).domains == ()


def test_a_kept_sandbox_gives_its_network_to_the_calls_in_it() -> None:
    kept = sandbox(NetworkMode.DOMAINS, "a.example", "b.example:8443")
    unsaid = made(replace(CALL, network_enabled=None, sandbox_id="k"), kept=kept)
    assert (unsaid.network, unsaid.domains) == (NetworkMode.DOMAINS, ("a.example", "b.example:8443", "granted.example"))
    assert made(replace(CALL, sandbox_id="k"), kept=kept).domains == unsaid.domains, "asking adds no registries"
    more = made(replace(CALL, allowed_domains=("c.example",), sandbox_id="k"), Offered(), kept=kept)
    assert more.domains == ("a.example", "b.example:8443", "c.example")
    less = made(replace(CALL, network_enabled=False, sandbox_id="k"), kept=kept)
    assert (less.network, less.domains) == (NetworkMode.NONE, ())


def test_a_call_in_a_kept_sandbox_without_network_can_ask_for_it() -> None:
    request = made(replace(CALL, sandbox_id="k"), kept=sandbox())
    assert request.network is NetworkMode.REGISTRIES
    by_default = Settings(network_by_default=True)
    silent = made(replace(CALL, network_enabled=None, sandbox_id="k"), settings=by_default, kept=sandbox())
    assert silent.network is NetworkMode.NONE, "it was created without"


def test_creating_a_sandbox_asks_for_its_network_and_leaves_grants_to_its_runs() -> None:
    request = made(replace(CALL, tool=Tool.CODE_CREATE_SANDBOX, code=""))
    assert (request.network, request.domains, request.granted) == (NetworkMode.REGISTRIES, ("index.test",), ())


def test_the_protections_of_a_networked_run_do_not_say_that_there_is_no_network() -> None:
    given = ("no network (namespace)", "read-only system")
    assert through_gate(given, NetworkMode.NONE) == given
    assert through_gate(given, NetworkMode.DOMAINS) == (PROTECTION, "read-only system")
    request = intake.request(CALL, SETTINGS, Isolation.LOCAL, protections=given, offered=OFFERED)
    assert request.protections[0] == PROTECTION


def test_agents_learn_which_modes_there_are_and_how_to_ask() -> None:
    facts = network_facts(Isolation.GVISOR, (REGISTRY,), SETTINGS)
    assert facts["network_modes"] == ["none", "registries", "domains"] and facts["network"] == "none unless you ask"
    assert facts["package_registries"] == ["index.test"] and "allowed_domains" in str(facts["network_asking"])
    assert network_facts(Isolation.PROCESS, (REGISTRY,), SETTINGS)["network_modes"] == ["none"]
    default = network_facts(Isolation.DOCKER, (REGISTRY,), Settings(network_by_default=True))
    assert default["network"] == "package registries unless you ask"


def test_the_settings_name_registries_besides_those_of_the_machine() -> None:
    settings = Settings(pypi_registries=("index.corp.example:8443",), npm_registries=("https://npm.corp.example/x/",))
    found = registry_hosts(settings)
    assert {Destination("index.corp.example", 8443), Destination("npm.corp.example")} <= {*found}
    assert {*registry_hosts(Settings())} < {*found}
