"""The network of a request under review: what each host means, what may leave, and that no host goes unseen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from app import phrases
from app.network import words
from runner.model.assessment import Level
from runner.model.events import SandboxesChanged
from runner.model.network import Contact
from runner.model.request import HOSTS, MOST_HOSTS_BESIDE, Isolation, NetworkMode
from tests.gui import feed
from tests.gui.scenes import network_scenes

if TYPE_CHECKING:
    from tests.gui.conftest import Desk


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("api.example.com", ""),
        ("*.example.com", "every name that ends in .example.com"),
        ("*.example.com", "not example.com itself"),
        ("api.example.com:8443", "port 8443 in place of 443"),
        ("api.example.com:80", "anybody on the way can read along"),
        ("10.1.2.3", "inside your own network"),
        ("127.0.0.1", "this computer"),
        ("localhost:8000", "this computer"),
        ("169.254.169.254", "clouds also hand out credentials"),
        ("192.0.2.300", "nothing is reached by it"),
        ("8.8.8.8", "who answers there is not named"),
        ("intranet", "a name of your own network"),
    ],
)
def test_each_host_says_what_it_means(host: str, said: str) -> None:
    entry = words.entry(host)
    assert said in entry.meaning
    assert entry.unusual is bool(said)


def test_what_a_grant_put_there_is_marked() -> None:
    assert words.entry("api.example.com", granted=True) == words.ListedHost("api.example.com", words.BY_GRANT, False)


def test_what_hides_in_a_host_is_shown() -> None:
    assert words.entry("a\u202eb.example").name == "a\u2039U+202E\u203ab.example"


def test_what_may_leave_is_what_is_known() -> None:
    one = network_scenes.networked()
    assert words.may_leave(one).endswith("It is handed no input, no variables and no files.")
    handed = replace(one, stdin="a\n" * 400, context='{"a": 1, "b": 2}', sandbox=network_scenes.KEPT)
    said = words.may_leave(handed, (network_scenes.keep(),))
    assert said.endswith(
        "has read: the files of the kept sandbox, as 5 calls left them, the input (800 B) and 2 variables."
    )
    assert "every file that your account can read" in words.may_leave(replace(one, isolation=Isolation.PROCESS))


def test_a_host_that_the_code_names_and_the_list_does_not_is_marked() -> None:
    one = replace(network_scenes.networked(), domains=("*.example.com", "api.example.org:8443"))
    named = ("*.example.com", "a.example.com", "example.com", "other.example", "api.example.org:8443", "$HOST")
    marked = [host.partition(" ")[0] for host in words.named(one, named) if host.endswith(words.NOT_LISTED)]
    assert marked == ["example.com", "other.example"]
    assert words.named(replace(one, network=NetworkMode.NONE, domains=()), named) == named


def test_one_host_is_not_called_hosts() -> None:
    one = network_scenes.networked()
    assert words.may_leave(replace(one, domains=("a.example.com",))).startswith("This host may")
    assert words.may_leave(replace(one, domains=("*.example.com",))).startswith("These hosts may")


def test_a_kept_sandbox_says_whether_it_keeps_the_network() -> None:
    one = network_scenes.networked(sandbox=network_scenes.KEPT)
    own = network_scenes.keep()
    assert words.keeps(one, (own,)) == words.ONLY_THIS
    asked = tuple(host for host in one.domains if host not in one.granted)
    assert words.keeps(one, (replace(own, network=one.network, domains=asked),)) == words.KEEPS
    fewer = replace(own, network=NetworkMode.DOMAINS, domains=asked[1:])
    assert words.keeps(one, (fewer,)) == f"The sandbox keeps this network except for {asked[0]}."
    assert words.keeps(network_scenes.networked(), ()) == ""


def test_the_review_shows_hosts_and_what_may_leave(desk: Desk) -> None:
    desk.hear((SandboxesChanged((network_scenes.keep(),)),))
    desk.ask(network_scenes.networked(sandbox=network_scenes.KEPT), feed.assessment(Level.CRITICAL))
    reach = desk.page.facts.reach
    desk.page.reading.show_details()
    assert reach.isVisibleTo(desk.page)
    assert reach.lines[2] == "api.example.com"
    assert reach.lines[4] == f"stats.example.net: {words.BY_GRANT}"
    assert "5 calls" in reach.leave.text()
    assert reach.keeps.text() == words.ONLY_THIS
    desk.ask(feed.request("print(2)"), feed.assessment())
    desk.review.show_card(desk.cases.waiting()[-1])
    desk.page.reading.show_details()
    assert not reach.isVisibleTo(desk.page)


def test_many_hosts_are_a_part_that_must_be_seen(desk: Desk) -> None:
    hosts = tuple(f"host-{number:02}.example.com" for number in range(MOST_HOSTS_BESIDE + 1))
    one = desk.ask(network_scenes.networked(domains=hosts, granted=()), feed.assessment(Level.CRITICAL))
    reading = desk.page.reading
    assert [part.name for part in one.parts] == ["Code", HOSTS]
    assert HOSTS in reading.unseen
    assert "And 1 more" in desk.page.facts.reach.none.text()
    reading.tabs.setCurrentIndex(reading.tabs.count() - 2)
    desk.qtbot.waitUntil(lambda: HOSTS not in reading.unseen)


def test_few_hosts_are_beside_the_parts() -> None:
    one = network_scenes.networked()
    assert HOSTS not in [part.name for part in one.parts]
    assert ("Domains", ", ".join(one.domains)) in [(part.name, part.text) for part in one.beside]


def test_the_network_in_one_line_names_its_hosts() -> None:
    one = network_scenes.networked(domains=("a.example", "b.example"))
    assert phrases.network(one) == "listed hosts: a.example, b.example"
    assert phrases.network(replace(one, network=NetworkMode.REGISTRIES)) == "registries (a.example, b.example)"
    assert "none is set up" in phrases.network(replace(one, network=NetworkMode.REGISTRIES, domains=()))


def test_a_contact_in_words() -> None:
    refused = Contact("blocked.example", 443, allowed=False, why="is not allowed for this sandbox", times=3)
    assert words.spoken(refused) == "blocked.example:443 refused, 3 times, it is not allowed for this sandbox"
    assert words.place(Contact("2001:db8::1", 80, allowed=True)) == "[2001:db8::1]:80"
    assert words.outcome(Contact("a.example", 443, allowed=None)) == "not reached"
    dropped = Contact("further connections", 0, allowed=None, why="were dropped: 128 are on their way already")
    assert words.spoken(dropped) == "further connections not reached, were dropped: 128 are on their way already"
