"""What a run may reach: nothing, unless it is allowed, and nothing again once it is over."""

from __future__ import annotations

import pytest

from runner.model.network import Destination
from runner.network.addresses import Reach
from runner.network.permissions import Permission, Permissions

HERE = Destination("a.example", 443)
BELOW = Destination("*.a.example", 443)


@pytest.mark.parametrize(
    ("host", "port"),
    [("a.example", 80), ("b.a.example", 443), ("xa.example", 443), ("a.example.evil.example", 443), ("example", 443)],
)
def test_only_the_same_host_and_port_is_meant(host: str, port: int) -> None:
    permissions = Permissions([HERE])
    assert permissions.find("a.example", 443) == Permission(HERE)
    assert permissions.find(host, port) is None


def test_nothing_allowed_means_nothing() -> None:
    assert Permissions().find("a.example", 443) is None
    assert Permissions([]).find("", 0) is None


def test_a_wildcard_means_what_is_below_and_ends_at_a_dot() -> None:
    permissions = Permissions([BELOW])
    assert permissions.find("b.a.example", 443) is not None
    assert permissions.find("c.b.a.example", 443) is not None
    assert permissions.find("a.example", 443) is None
    assert permissions.find("xa.example", 443) is None


def test_what_the_machine_is_configured_with_is_not_allowed_by_that() -> None:
    permissions = Permissions([HERE], private=[HERE, BELOW])
    assert permissions.find("a.example", 443) == Permission(HERE, Reach.CONFIGURED)
    assert permissions.find("b.a.example", 443) is None


def test_the_widest_of_several_counts() -> None:
    here = Destination("b.a.example")
    permissions = Permissions([BELOW, here], private=[here])
    assert permissions.find("b.a.example", 443) == Permission(here, Reach.CONFIGURED)
    assert permissions.find("c.a.example", 443) == Permission(BELOW, Reach.PUBLIC)


def test_allowing_once_more_takes_nothing_away() -> None:
    permissions = Permissions([HERE])
    permissions.allow(HERE, Reach.PRIVATE)
    permissions.allow(HERE, Reach.PUBLIC)
    assert permissions.find(*("a.example", 443)) == Permission(HERE, Reach.PRIVATE)


def test_a_withdrawn_one_is_gone_and_withdrawing_twice_does_no_harm() -> None:
    permissions = Permissions([HERE, BELOW])
    permissions.withdraw(HERE)
    permissions.withdraw(HERE)
    assert permissions.find("a.example", 443) is None
    assert permissions.find("b.a.example", 443) is not None


def test_after_the_end_nothing_can_be_allowed() -> None:
    permissions = Permissions([HERE, BELOW], private=[BELOW])
    permissions.close()
    permissions.allow(HERE, Reach.PRIVATE)
    assert permissions.closed
    assert permissions.find("a.example", 443) is None
    assert permissions.find("b.a.example", 443) is None


def test_what_is_allowed_now_is_told() -> None:
    permissions = Permissions([HERE])
    permissions.allow(BELOW, Reach.PUBLIC)
    assert permissions.destinations == (HERE, BELOW)
    permissions.withdraw(HERE)
    assert permissions.destinations == (BELOW,)
    permissions.close()
    assert permissions.destinations == ()
