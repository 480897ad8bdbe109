"""The picture of the way of a request: what it claims, to whom it is spoken, and that it decides nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QColor

from app.review.passage import NO_FILES, STOPPED, UNREAD, Passage, passage
from app.review.picture import PassagePicture
from app.review.reading import DETAILS
from app.state.cards import Card
from runner.model.kept_sandbox import Kept
from runner.model.request import ClientTool, Isolation, Language, NetworkMode, Request, Tool
from runner.risk.assess import assess
from tests.gui import feed
from tests.policy.test_stopped import HOME, KEY

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from tests.gui.conftest import Desk

USED = Kept("a1b2", "claude-code", Language.PYTHON, Isolation.LOCAL, 0.0, uses=2)
HELD = ("no network (namespace)", "own folder, removed afterwards")
PLAIN = "print(1)\n"


def asked(code: str = PLAIN, **more: object) -> Card:
    one = replace(feed.request(code), protections=HELD)
    one = replace(one, **more)  # type: ignore[arg-type]
    return Card(one, 0.0, "0" * 64, assessment=assess(one))


def shown(card: Card, *kept: Kept) -> Passage:
    found = passage(card, kept)
    assert found is not None
    return found


def words(found: Passage) -> list[str]:
    return [f"x {one.words}" if one.crossed else one.words for one in found.reaches]


def test_it_shows_what_goes_in_where_it_runs_and_who_gets_it() -> None:
    found = shown(asked(stdin="a\nb\n", context='{"n": 1}'))
    assert [one.words for one in found.stations] == ["input, variables", "Empty sandbox, 30 s", "claude-code"]
    assert words(found) == ["no network", NO_FILES]
    assert next(one.words for one in shown(asked()).stations) == "Empty sandbox, 30 s", "nothing goes in"
    for said in ("Empty sandbox, none of your files", "no network", "ends after 30 s", "input, variables to"):
        assert said in found.spoken


def test_what_it_tries_in_vain_is_crossed_out_and_what_it_reaches_is_not() -> None:
    assert words(shown(asked(KEY))) == ["x files.example", "x ~/.ssh/id_ed25519"]
    assert words(shown(asked(HOME))) == ["no network", "x your home folder"]
    there = asked(KEY, network=NetworkMode.DOMAINS, domains=("files.example:443",))
    found = shown(there)
    assert words(found) == ["files.example:443", "x ~/.ssh/id_ed25519"]
    assert found.reaches[0].ink == "medium" and not found.stopped
    other = shown(asked(KEY, network=NetworkMode.DOMAINS, domains=("a.example:443",)))
    assert words(other) == ["a.example:443", "x files.example", "x ~/.ssh/id_ed25519"]


def test_nothing_is_crossed_out_where_nothing_keeps_it_off() -> None:
    found = shown(asked(KEY, isolation=Isolation.PROCESS, protections=()))
    assert words(found) == ["network not blocked"] and found.stations[0].ink == "medium"
    assert "your files" in found.spoken and not found.stopped
    kept = shown(asked(HOME, sandbox="a1b2"), USED)
    assert words(kept) == ["no network"] and not kept.stopped, "what earlier calls left may be lost"
    afar = shown(asked(HOME, isolation=Isolation.E2B))
    assert not any(one.crossed for one in afar.reaches) and not afar.stopped, "promised, and not found out here"


def test_code_that_was_not_read_is_said_in_the_picture() -> None:
    found = shown(asked("import unheard\nunheard.of(1)\n"))
    assert found.stations[0].remark == UNREAD and "Not read whole" in found.spoken
    assert shown(asked()).stations[0].remark == ""


def test_it_is_not_said_beside_a_grave_deed() -> None:
    card = asked("import unheard\nunheard.of(1)\n" + HOME)
    assert card.assessment is not None and card.assessment.not_whole
    assert shown(card).stations[0].remark == ""


@pytest.mark.parametrize("change", [
    {"isolation": Isolation.PROCESS, "protections": ()},
    {"isolation": Isolation.E2B},
    {"protections": ()},
    {"sandbox": "a1b2"},
    {"packages": ("left-pad",)},
    {"network": NetworkMode.DOMAINS, "domains": ("files.example:443",)},
])  # fmt: skip
def test_it_is_called_stopped_only_where_the_sandbox_was_seen_to_hold_it(change: dict[str, object]) -> None:
    card = asked(HOME)
    assert shown(card).stopped and STOPPED in shown(card).spoken
    assert not shown(asked(HOME, **change)).stopped
    card.blocked = "CRITICAL may not run on the local sandbox."
    assert not shown(card).stopped, "that sandbox counts as too weak for it"
    assert not shown(asked()).stopped, "nothing stands out"


def test_only_what_runs_code_in_a_sandbox_has_a_picture() -> None:
    bash = asked(tool=Tool.CLIENT_SHELL, client=ClientTool("Bash", "/x"), language=Language.SHELL)
    assert passage(bash, ()) is None
    assert passage(asked(tool=Tool.CODE_WRITE_FILE, files=("a.txt",)), ()) is None


# ---- in the window ----


def ask(desk: Desk, one: Request) -> None:
    one = replace(one, protections=HELD)
    desk.hear(feed.asked(one, assess(one)))
    desk.review.show_card(desk.cases.waiting()[0])
    desk.rested()


def test_the_band_is_calm_where_it_is_stopped_and_keeps_its_bar_and_badge(desk: Desk) -> None:
    ask(desk, feed.request(HOME))
    band, tokens = desk.page.band, desk.window._look.tokens
    assert band.is_calm and band.calm.isVisible()
    picture = band.grab().toImage()
    ground = picture.pixelColor(band.width() - 30, band.height() - 3)
    assert ground == QColor(tokens.hover) != QColor(tokens.critical_tint)
    assert picture.pixelColor(1, band.height() // 2) == QColor(tokens.critical)
    assert desk.page.header.badge.accessibleName() == "Risk CRITICAL"
    desk.hear(feed.decided(desk.cases.waiting()[0].request))
    ask(desk, replace(feed.request(HOME), network=NetworkMode.DOMAINS, domains=("a.example:443",)))
    assert not band.is_calm and not band.calm.isVisible()


def test_it_is_reached_by_tab_and_shows_the_details_and_decides_nothing(desk: Desk) -> None:
    ask(desk, feed.request(PLAIN))
    picture = desk.page.band.picture
    spoken = QAccessible.queryAccessibleInterface(picture)
    assert spoken.text(QAccessible.Text.Name) == picture.passage.spoken and "no network" in picture.passage.spoken
    tabs = desk.page.reading.tabs
    for act in (
        lambda: desk.qtbot.keyClick(picture, Qt.Key.Key_Space),
        lambda: desk.qtbot.keyClick(picture, Qt.Key.Key_Return),
        lambda: desk.qtbot.mouseClick(picture, Qt.MouseButton.LeftButton),
    ):
        tabs.setCurrentIndex(0)
        picture.setFocus()
        act()
        assert tabs.tabData(tabs.currentIndex()) == DETAILS
    assert picture.focusPolicy() is Qt.FocusPolicy.TabFocus
    assert not [call for call in desk.bridge.calls if call[0] in ("approve", "deny")]


def test_an_ordinary_request_takes_one_row_in_the_narrowest_window(qtbot: QtBot, look: Look) -> None:
    """As wide as it is at 960 pixels: what is said twice is left out before a line of code is."""
    picture = PassagePicture(look)
    qtbot.addWidget(picture)
    picture.resize(510, 10)
    for card in (asked(), asked(stdin="a\n", context='{"n": 1}'), asked(HOME)):
        picture.show_passage(shown(card))
        assert {one.room.top() for one in picture._drawn()} == {0.0}
        assert picture.height() < 2 * picture._drawn()[0].room.height()
    long = asked(network=NetworkMode.DOMAINS, domains=(f"{'a' * 60}.{'b' * 60}.example:443",))
    picture.show_passage(shown(long))
    assert all(one.room.right() <= picture.width() for one in picture._drawn())
