"""Network and packages where nothing is decided: the gauge of a run, the history, and the page of rules."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from app.history import words
from app.history.detail import Detail
from app.parts.gauges.meters import Meters
from app.remembering.panel import RulesPanel
from runner.model.network import Destination
from runner.model.request import Isolation, Limits
from runner.model.result import Usage
from runner.policy.host_grants import for_host
from tests.gui import feed, record
from tests.gui.scenes import network_scenes
from tests.gui.scenes.network_scenes import REACHED, refused
from tests.recorded import record_in

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.audit.history.search import CaseRecord
    from runner.system.places import Places
    from tests.gui.conftest import Desk


@pytest.fixture
def meters(look: Look, qtbot: QtBot) -> Meters:
    made = Meters(look)
    qtbot.addWidget(made)
    made.resize(600, 200)
    made.show()
    return made


@pytest.fixture
def shown(places: Places) -> CaseRecord:
    record.ledger(places.ledger, network_scenes.recorded())
    return record_in(places.ledger, "n1")


def use(at: float, sent: int | None, received: int | None = None, connections: int = 0) -> Usage:
    return Usage(at, 10.0, 1 << 20, 0, 1, sent, received, connections)


def test_the_gauge_says_bytes_both_ways_hosts_and_connections(meters: Meters) -> None:
    meters.begin(Limits(), Isolation.LOCAL, (), networked=True)
    assert "Nothing sent or received yet." in meters.network.accessibleName()
    meters.add(use(1.0, 0, 0))
    meters.add(use(2.0, 2048, 1 << 20, 2))
    meters.network.set_hosts(1)
    said = meters.network.accessibleName()
    assert said == "Network: 1 MB received, 2 KB sent, 1 host, 2 connections open, 1.0 MB a second at most"
    assert meters.network._below.text() == "1 MB in \N{MIDDLE DOT} 2 KB out \N{MIDDLE DOT} 1 host \N{MIDDLE DOT} 2 open"


def test_only_a_networked_run_has_the_gauge(meters: Meters) -> None:
    meters.begin(Limits(), Isolation.LOCAL, (), networked=True)
    assert meters.network.isVisible()
    meters.begin(Limits(), Isolation.LOCAL, ())
    assert not meters.network.isVisible()


def test_readings_at_one_moment_and_counts_that_fall_draw_no_nonsense(meters: Meters) -> None:
    meters.begin(Limits(), Isolation.LOCAL, (), networked=True)
    for reading in (use(1.0, 100, 0), use(1.0, 200, 0), use(2.0, 50, 0), use(3.0, None)):
        meters.add(reading)
    assert [value for _, value in meters.network._curve._points] == [0.0, 0.0, 0.0]


def test_a_finished_run_shows_its_curve_and_hosts(meters: Meters) -> None:
    meters.begin(Limits(), Isolation.LOCAL, (), networked=True)
    contacts = (REACHED, refused("a.example"))
    meters.show_result(replace(feed.result(), curve=(use(0.0, 0, 0), use(2.0, 0, 4096)), contacts=contacts))
    assert meters.network.peak == 2048.0
    assert "1 host" in meters.network.accessibleName()


def test_the_history_has_the_hosts_the_packages_and_who_allowed_what(
    look: Look, qtbot: QtBot, shown: CaseRecord
) -> None:
    detail = Detail(look, lambda _folder: True, lambda _file: b"")
    qtbot.addWidget(detail)
    detail.show()
    detail.show_record(shown)
    tabs = detail.tabs
    visible = [tabs.tabText(n) for n in range(tabs.count()) if tabs.isTabVisible(n)]
    assert {"Network (1 refused)", "Packages"} <= set(visible)
    assert [one.host for one in detail.hosts.model.contacts] == ["blocked.example", "api.example.com"]
    assert detail.hosts.left_out.text() == "and 12 more hosts"
    assert detail.plan.list.count == 5
    assert any("allowed a host for this run, blocked.example:443" in text for _, text in words.ledger(shown))
    assert ("Network", words.phrases.network(shown.request)) in words.run(shown)


def test_a_record_without_network_has_neither_tab(look: Look, qtbot: QtBot, shown: CaseRecord) -> None:
    detail = Detail(look, lambda _folder: True, lambda _file: b"")
    qtbot.addWidget(detail)
    plain = feed.request()
    detail.show_record(replace(shown, request=plain, result=feed.result()))
    assert not detail.tabs.isTabVisible(detail.tabs.indexOf(detail.hosts))
    assert not detail.tabs.isTabVisible(detail.tabs.indexOf(detail.plan))


def test_a_grant_for_a_host_is_listed_in_words_and_revoked(desk: Desk) -> None:
    grant = for_host("claude-code", Destination("wiki.example", 8443), "Fetch", time.time(), private="10.20.0.7")
    desk.bridge.kept = (grant,)
    desk.window.show_page("Rules")
    panel = desk.window.page("Rules")
    assert isinstance(panel, RulesPanel)
    row: Any = panel.grants.rows[0]
    said = row.accessibleName()
    assert said.startswith("Host wiki.example:8443 for claude-code")
    assert "may lead to an address inside your own network" in said
    row.button.click()
    assert ("revoke_grant", grant.name) in desk.bridge.calls


def test_gauges_of_gvisor_say_what_their_figures_hold_and_which_limits_are_unseen(meters: Meters) -> None:
    meters.begin(Limits(), Isolation.GVISOR, ())
    meters.add(Usage(at=0.1, cpu_percent=1.0, memory_bytes=563 << 20))
    assert "with gVisor's kernel" in meters.memory.accessibleName()
    assert meters.disk.accessibleName() == "Disk: At most 1 GB; what is used cannot be seen from outside."
    meters.begin(Limits(), Isolation.LOCAL, ())
    meters.add(Usage(at=0.1, cpu_percent=1.0, memory_bytes=1 << 20))
    assert "kernel" not in meters.memory.accessibleName()
