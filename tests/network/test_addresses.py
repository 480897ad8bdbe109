"""Which addresses are public, in every form in which an address can be written."""

from __future__ import annotations

import pytest

from runner.network.addresses import Reach, is_public, may_lead, parsed

PRIVATE = (
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "198.18.0.1",
    "240.0.0.1",
    "fc00::1",
    "fd12:3456::1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::10.0.0.1",
    "2002:a00:1::1",
    "::ffff:10.0.0.1",
    "::10.0.0.1",
    "192.0.2.1",
    "2001:db8::1",
    "fec0::1",
)
OWN = (
    "127.0.0.1",
    "127.66.0.1",
    "0.0.0.0",
    "169.254.169.254",
    "169.254.1.1",
    "168.63.129.16",
    "224.0.0.1",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b::168.63.129.16",
    "64:ff9b:1::127.0.0.1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::1",
)
PUBLIC = ("93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2002:808:808::1")


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(parsed(address))
    assert may_lead("a.example", address, Reach.PUBLIC)


@pytest.mark.parametrize("address", [*PRIVATE, *OWN])
def test_no_other_is(address: str) -> None:
    assert not is_public(parsed(address))
    assert not may_lead("a.example", address, Reach.PUBLIC)
    assert not may_lead(address, address, Reach.PUBLIC)


@pytest.mark.parametrize("address", PRIVATE)
def test_a_persons_word_leads_into_private_networks(address: str) -> None:
    assert may_lead("a.example", address, Reach.PRIVATE)
    assert may_lead("a.example", address, Reach.CONFIGURED)


@pytest.mark.parametrize("address", OWN)
def test_no_word_leads_to_this_machine_or_its_link(address: str) -> None:
    assert not may_lead("a.example", address, Reach.PRIVATE)
    assert not may_lead("a.example", address, Reach.CONFIGURED)
    assert not may_lead(address, address, Reach.PRIVATE)
    assert not may_lead("localhost", address, Reach.PRIVATE)


def test_this_machine_is_reached_where_its_own_configuration_names_it() -> None:
    assert may_lead("localhost", "127.0.0.1", Reach.CONFIGURED)
    assert may_lead("localhost", "::1", Reach.CONFIGURED)
    assert may_lead("127.0.0.1", "127.0.0.1", Reach.CONFIGURED)
    assert not may_lead("127.0.0.1", "127.0.0.2", Reach.CONFIGURED)


@pytest.mark.parametrize("address", ["169.254.169.254", "168.63.129.16", "fe80::1", "224.0.0.1", "0.0.0.0"])
def test_localhost_never_means_a_metadata_service(address: str) -> None:
    assert not may_lead("localhost", address, Reach.CONFIGURED)


@pytest.mark.parametrize("text", ["", "a", "1.2.3", "1.2.3.4.5", "::g", "%eth0"])
def test_what_is_no_address_leads_nowhere(text: str) -> None:
    assert not may_lead("a.example", text, Reach.CONFIGURED)
