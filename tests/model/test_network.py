"""Names of hosts: one form for each, and nothing that two programs read differently."""

from __future__ import annotations

import pytest

from runner.model.network import Contact, Destination, UnusableHost, canonical_host, is_address

UNUSABLE = (
    "",
    ".",
    "a..b",
    "-a.example",
    "a-.example",
    "exam ple.com",
    "example.com\0.evil.example",
    "example.com%00.evil.example",
    "[fe80::1%25eth0]",
    "::1%x",
    "user@example.com",
    "example.com/path",
    "2130706433",
    "0x7f.1",
    "127.1",
    "0x7f000001",
    "1.2.3.04",
    "ex\u00e4mple.com",
    "a" * 64 + ".example",
    "a." * 130 + "example",
)


@pytest.mark.parametrize("text", UNUSABLE)
def test_no_host(text: str) -> None:
    with pytest.raises(UnusableHost):
        canonical_host(text)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.COM.", "example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::FFFF:10.0.0.1]", "::ffff:a00:1"),
        ("2001:DB8::0", "2001:db8::"),
        ("_dmarc.example.com", "_dmarc.example.com"),
    ],
)
def test_one_form(text: str, host: str) -> None:
    assert canonical_host(text) == host
    assert is_address(host) is (host != "example.com" and not host.startswith("_"))


@pytest.mark.parametrize(
    ("text", "destination", "written"),
    [
        ("example.com", Destination("example.com"), "example.com"),
        (" Example.com:8443 ", Destination("example.com", 8443), "example.com:8443"),
        ("*.example.com", Destination("*.example.com"), "*.example.com"),
        ("*.Example.com:80", Destination("*.example.com", 80), "*.example.com:80"),
        ("[2001:db8::1]:80", Destination("2001:db8::1", 80), "[2001:db8::1]:80"),
        ("2001:db8::1", Destination("2001:db8::1"), "[2001:db8::1]"),
        ("[2001:db8::1]", Destination("2001:db8::1"), "[2001:db8::1]"),
    ],
)
def test_destinations(text: str, destination: Destination, written: str) -> None:
    assert Destination.parse(text) == destination
    assert str(destination) == written
    assert Destination.parse(written) == destination


@pytest.mark.parametrize(
    "text", ["*", "*.", "*.com", "*.1.2.3.4", "a.*.example", "example.com:0", "example.com:65536", "example.com:x"]
)
def test_no_destination(text: str) -> None:
    with pytest.raises(UnusableHost):
        Destination.parse(text)


def test_what_fits() -> None:
    wildcard = Destination.parse("*.example.com")
    assert wildcard.fits("a.example.com", 443)
    assert wildcard.fits("a.b.example.com", 443)
    assert not wildcard.fits("example.com", 443)
    assert not wildcard.fits("notexample.com", 443)
    assert not wildcard.fits("a.example.com", 80)
    assert not Destination("example.com").fits("example.com.evil.example", 443)


def test_a_contact_is_named_with_its_port_where_it_is_unusual() -> None:
    assert Contact("example.com", 443, allowed=True).name == "example.com"
    assert Contact("example.com", 80, allowed=False).name == "example.com:80"
