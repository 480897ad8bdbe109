"""What agents are told of the network of a sandbox."""

from __future__ import annotations

from runner.model.request import Isolation
from runner.requests.network import PROTECTION, network_facts, through_gate, usual_mode
from runner.settings.declared import Settings


def test_protections_and_network_say_the_same_where_there_is_network_by_default() -> None:
    there = Settings(network_by_default=True)
    for isolation, settings, network, protection in (
        (Isolation.DOCKER, there, "package registries unless you ask", PROTECTION),
        (Isolation.DOCKER, Settings(), "none unless you ask", "no network"),
        (Isolation.LOCAL, there, "none unless you ask", "no network"),
    ):
        assert network_facts(isolation, (), settings)["network"] == network
        assert through_gate(("no network",), usual_mode(isolation, settings)) == (protection,)
