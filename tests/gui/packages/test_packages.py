"""A package plan under review: every fact of it in words, and approved only after its last row was on screen."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app import phrases
from app.packages import words
from runner.model.assessment import Level
from runner.model.request import PACKAGES
from tests.gui import feed
from tests.gui.scenes import network_scenes
from tests.gui.scenes.network_scenes import package, plan

if TYPE_CHECKING:
    from tests.gui.conftest import Desk


def test_the_totals_are_one_sentence() -> None:
    said = words.totals(plan())
    assert said == "5 packages, 463 KB, from files.packages.example; planned for Python 3.13, x86_64."
    assert words.totals(replace(plan(), hosts=(), target="")) == "5 packages, 463 KB, from what was fetched before."


def test_the_title_names_what_the_agent_asked_for() -> None:
    one = network_scenes.install(title="Nothing to see here")
    assert phrases.title(one) == "Install requests 2.32.3 and 4 others"
    alone = replace(plan(), packages=plan().packages[3:4])
    assert phrases.installs(alone) == "Install requests 2.32.3"
    assert phrases.title(replace(one, code="print(1)")) == "Nothing to see here"


def test_ages_are_said_and_new_releases_stand_out() -> None:
    now = time.time()
    ages = {days: words.age(package("a", "1", days), now) for days in (0.2, 1.5, 6.9, 59.5, 400, 800)}
    assert list(ages.values()) == [
        "released today",
        "1 day old",
        "6 days old",
        "59 days old",
        "13 months old",
        "2 years old",
    ]
    assert words.age(package("a", "1", 0), now) == "release date not known"
    assert [words.is_new(package("a", "1", days), now) for days in (6.9, 7.1)] == [True, False]


def test_whatever_is_odd_is_a_sentence() -> None:
    odd = plan(odd=True)
    said = " ".join(sentence for one in odd.packages for sentence in words.warnings(one))
    assert "looks like requests" in said
    assert "withdrew this version: Wrong metadata" in said
    assert "install scripts (preinstall, postinstall). They are not run" in said
    assert words.notable(odd) == (
        "Look closer: 1 looks like another name, 1 was withdrawn, 1 has install scripts, 2 are less than a week old."
    )
    assert words.in_order(odd)[0].name == "reqeusts"


def test_texts_of_a_registry_cannot_hide() -> None:
    one = package("a\u202eb", "1", 90, mistaken_for="x", yanked="line\nbreak\u2066")
    said = " ".join((*words.warnings(one), words.spoken(one, time.time())))
    assert "\u202e" not in said and "\u2066" not in said and "\n" not in said


def test_a_plan_is_read_first_and_approved_after_its_end(desk: Desk) -> None:
    many = tuple(package(f"library-{number:03}", "1.0", 40) for number in range(60))
    one = desk.ask(network_scenes.install(plan=replace(plan(), packages=many)))
    reading = desk.page.reading
    assert reading.subject is reading.plan
    assert reading.tabs.tabText(0).startswith(PACKAGES)
    assert desk.page.header.title.text() == phrases.title(one)
    desk.rested()
    assert reading.unseen == [PACKAGES]
    assert not desk.page.foot.approve.isEnabled()
    desk.qtbot.keyClick(reading.plan.list, Qt.Key.Key_End)
    desk.qtbot.waitUntil(lambda: reading.unseen == [] and desk.page.foot.approve.isEnabled())


def test_another_plan_of_the_same_packages_has_not_been_seen(desk: Desk) -> None:
    first, second = network_scenes.install(), network_scenes.install(agent="codex")
    desk.ask(first)
    reading = desk.page.reading
    desk.qtbot.waitUntil(lambda: reading.unseen == [])
    desk.ask(second)
    card = desk.cases.card(second.id)
    assert card is not None
    desk.review.show_card(card)
    assert reading.unseen == [PACKAGES]
    desk.qtbot.waitUntil(lambda: reading.unseen == [])


def test_a_small_window_shows_four_packages(desk: Desk) -> None:
    desk.window.frame.resize(960, 600)
    desk.ask(network_scenes.install(plan=network_scenes.built()), feed.assessment(Level.CRITICAL))
    view = desk.page.reading.plan
    desk.qtbot.waitUntil(lambda: view.height() > 0 and view.list.rows_in_view >= 4)
    assert view.height() < 400 and not view.detail.isVisible()
    chosen = words.in_order(network_scenes.built())[0]
    assert view.brief.text() == f"{chosen.file}, sha256 {chosen.sha256}"
    desk.window.frame.resize(1280, 900)
    desk.qtbot.waitUntil(lambda: view.detail.isVisible() and not view.brief.isVisible())
    assert "Built with setuptools 80.9.0" in view.detail.text()


def test_what_runs_is_said_and_its_text_is_read_before_it_is_approved(desk: Desk) -> None:
    desk.ask(network_scenes.install(plan=network_scenes.built()), feed.assessment(Level.CRITICAL))
    reading = desk.page.reading
    assert "without network" in reading.plan.reach.text()
    assert words.warnings(words.in_order(network_scenes.built())[0]) == (
        "Has to be built by setuptools.build_meta:__legacy__, which runs setup.py.",
    )
    desk.qtbot.waitUntil(lambda: reading.unseen == ["setup.py of docopt"])
    assert not desk.page.foot.approve.isEnabled()
    reading.tabs.setCurrentIndex(2)
    desk.qtbot.waitUntil(lambda: reading.unseen == [])
    (script,) = network_scenes.scripted().built
    assert words.warnings(script) == ("Runs postinstall: node install.js",)
    assert "reach a.example:443 only" in words.reach(network_scenes.scripted(), ("a.example:443",))


def test_a_plan_beside_code_has_its_own_tab(desk: Desk) -> None:
    desk.ask(feed.request("import requests", packages=("requests",), plan=plan(), title="Fetch"))
    reading = desk.page.reading
    tabs = [reading.tabs.tabText(number) for number in range(reading.tabs.count())]
    assert tabs == ["Code", "Changes", "Packages (end not seen)", "Details"]
    reading.tabs.setCurrentIndex(2)
    desk.qtbot.waitUntil(lambda: reading.tabs.tabText(2) == "Packages")


def test_the_chosen_package_can_be_copied_whole(desk: Desk) -> None:
    desk.ask(network_scenes.install())
    view = desk.page.reading.plan
    desk.qtbot.keyClick(view.list, Qt.Key.Key_Down)
    chosen = words.in_order(plan())[1]
    desk.qtbot.keyClick(view.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == words.whole(chosen)
    assert f"sha256:{chosen.sha256}" in words.whole(chosen)
