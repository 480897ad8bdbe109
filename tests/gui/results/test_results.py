"""The results of a run on cards: what is drawn, what is bounded, what is said of the rest."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from app import phrases
from app.behaviour import words
from app.files import json_nodes, markdown
from app.files.apart import ReadingProcess
from app.files.found import MOST_BLOCKS, MOST_NODES, JsonRows, Picture, PieceKind, Preview, Table, Text
from app.files.picture import PictureView
from app.files.preview import shares
from app.files.result_card import MOST_COLUMNS, MOST_ROWS, card
from app.files.table import SHARE, TableView
from app.history.compare import CompareDialog
from app.parts.text.lines import SUMMARY
from app.parts.text.output import OutputView
from app.results import thumbnails
from app.results.choosing import MOST_BYTES, MOST_CARDS, choose, thumbnail_of
from app.results.page import MarkdownView
from app.results.tree import JsonView
from app.results.view import VALUE, ResultsView
from app.running.model import summary
from runner.audit.files import captures
from runner.audit.history.search import CaseRecord
from runner.audit.ledger.row import Row
from runner.model.behaviour import NOT_REPORTED, Behaviour
from runner.model.lifecycle import Phase
from runner.model.result import CapturedFile, Outcome
from tests.audit import story
from tests.gui import feed
from tests.gui.files.test_files import png_of
from tests.gui.record import ledger
from tests.gui.scenes import result_scenes

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.system.places import Places
    from tests.gui.conftest import Desk

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 90 30">{}</svg>'


def read(data: bytes | str, path: str) -> Preview:
    """What the process of its own finds for a card."""
    content = data.encode() if isinstance(data, str) else data
    return ReadingProcess(seconds=2, for_card=True).preview(lambda: content, path)


@pytest.fixture
def view(qtbot: QtBot, look: Look, places: Places) -> ResultsView:
    view = ResultsView(look, lambda file: captures.read(places, file), OutputView(look))
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show()
    return view


def show(view: ResultsView, qtbot: QtBot, places: Places, contents: dict[str, bytes], **others: Any) -> None:
    files = result_scenes.stored(places, contents)
    view.show_result(replace(feed.result(files=files), **others))
    qtbot.waitUntil(lambda: not view._waiting, timeout=60_000)


# ---- what is made of the bytes ----


def test_a_table_comes_with_the_shares_of_its_numbers() -> None:
    found = card(b"name,n,cost\na,5,-1\nb,10,0.5\nc,,\n", "t.csv")
    assert isinstance(found, Table)
    assert found.shares == ((None, 0.5, -1.0), (None, 1.0, 0.5), (None, None, None))
    assert shares([("a",), ("1e999",), ("2",)]) == (), "no number of infinite size"
    assert shares([("a", "b"), ("1", "x"), ("1,200", "2")]) == ((1 / 1200, None), (1.0, None))
    assert shares([("a",), ("0",)]) == ()


def test_of_a_large_table_the_beginning_stands_on_the_card() -> None:
    line = ",".join(map(str, range(40)))
    found = card((line + "\n").encode() * 60_000, "t.csv")
    assert isinstance(found, Table) and found.said.startswith("The first 1,000 rows of 60,000 lines")
    assert len(found.rows) == MOST_ROWS + 1 and {len(row) for row in found.rows} == {MOST_COLUMNS}
    assert len(found.shares) == MOST_ROWS and {len(row) for row in found.shares} == {MOST_COLUMNS}


def test_json_is_a_tree_in_which_nothing_is_altered() -> None:
    found = card(b'{"b": 1.10, "a": [true, null, "x\\u202ey"], "b": 12345678901234567890123}', "a.json")
    assert isinstance(found, JsonRows)
    assert [(one.depth, one.text, one.kind) for one in found.nodes] == [
        (0, "{ 3 names }", ""),
        (1, "b: 1.10", "number"),
        (1, "a: [ 3 items ]", ""),
        (2, "0: true", "builtin"),
        (2, "1: null", "builtin"),
        (2, '2: "x\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}U+202E\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}y"',
         "string"),
        (1, "b: 12345678901234567890123", "number"),
    ]  # fmt: skip


def test_json_is_bounded_in_number_depth_and_length() -> None:
    many = json_nodes.tree(list(range(1_000_000)))
    assert len(many.nodes) == MOST_NODES and many.said == "The first 2,000 values"
    deep: object = 1
    for _ in range(900):
        deep = [deep]
    assert max(one.depth for one in json_nodes.tree(deep).nodes) == json_nodes.DEEPEST
    assert len(json_nodes.tree({"n" * 9999: "v" * 9999}).nodes[1].text) < 3 * json_nodes.LONGEST
    assert json_nodes.tree(10**5000).nodes[0].text == "a number too long to be shown"
    assert isinstance(card(b"[" * 200_000, "a.json"), Text)


def test_markdown_fetches_nothing_and_leads_nowhere() -> None:
    found = markdown.page('See [the <b>page</b>](https://evil.example/x) ![pic](http://evil.example/p.png "t")\n')
    pieces = found.blocks[0].pieces
    assert "".join(one.text for one in pieces) == (
        "See the <b>page</b> (https://evil.example/x) Picture, not fetched: pic (http://evil.example/p.png)"
    )
    assert [one.text for one in pieces if one.kind is PieceKind.ADDRESS] == [
        "(https://evil.example/x)",
        "(http://evil.example/p.png)",
    ]


def test_markdown_shows_hidden_characters_and_is_bounded() -> None:
    found = markdown.page("# a\u202eb\n\x1b[2J `c\u200bd`\n")
    text = "".join(piece.text for block in found.blocks for piece in block.pieces)
    assert "U+202E" in text and "U+001B" in text and "U+200B" in text
    many = markdown.page("- x\n" * 100_000)
    assert len(many.blocks) <= MOST_BLOCKS and many.said == "The beginning of 100,000 lines"
    for hostile in ("[" * 500_000, "*" * 500_000, "`" * 499_999, "![](" * 200_000, "> " * 200_000, "`a`" * 200_000):
        page = markdown.page(hostile)
        assert sum(len(block.pieces) for block in page.blocks) <= 4000


def test_an_svg_is_drawn_with_its_letters(qapp: object) -> None:
    found = read(SVG.format('<rect width="30" height="30" fill="#ff0000"/>'), "a.svg")
    assert isinstance(found, Picture) and found.said == "90 \N{MULTIPLICATION SIGN} 30, drawn from SVG"
    assert (found.width, found.height) == (1280, 427)
    assert found.pixels[:3] == b"\0\0\xff"
    words = SVG.format('<text x="2" y="20" font-family="Nowhere Sans" font-size="20">lll</text>')
    drawn = read(words, "a.svg")
    assert isinstance(drawn, Picture) and len(set(drawn.pixels)) > 2, "letters of a font that no file was opened for"
    named = '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">'
    assert isinstance(read(named + SVG.format(""), "a.svg"), Picture)


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<script>alert(1)</script>", "a script"),
        ("<svg:script>alert(1)</svg:script>", "a script"),
        ('<image href="file:///etc/passwd"/>', "another picture"),
        ('<use xlink:href="http://evil.example/a.svg#b"/>', "outside"),
        ('<rect fill="url(http://evil.example/a#b)"/>', "outside"),
        ("<style>@import 'http://evil.example/a.css';</style>", "outside"),
        ("<foreignObject/>", "no picture"),
    ],
)
def test_an_svg_that_does_or_fetches_something_stays_text(inside: str, said: str) -> None:
    found = read(SVG.format(inside), "a.svg")
    assert isinstance(found, Text) and said in found.said and found.text == SVG.format(inside)


def test_bombs_of_svg_end_alone() -> None:
    entities = '<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + SVG.format("<text>&b;</text>")
    found = read(entities, "a.svg")
    assert isinstance(found, Text) and "declarations of its own" in found.said
    groups = '<g id="a0"><rect width="1" height="1"/></g>' + "".join(
        f'<g id="a{n}">' + f'<use xlink:href="#a{n - 1}"/>' * 9 + "</g>" for n in range(1, 20)
    )
    found = read(SVG.format(groups), "a.svg")
    assert isinstance(found, Text) and "it needs more than 2 s" in found.said


def test_a_picture_that_would_fill_all_memory_is_said_to_be(qapp: object) -> None:
    found = read(png_of(60_000, 60_000), "bomb.png")
    assert isinstance(found, Text) and "too large to be drawn" in found.said


# ---- which files, and what is said of the others ----


def test_of_a_million_files_a_few_are_shown_and_the_rest_is_counted() -> None:
    files = (CapturedFile(f"{number}.png", 10, "0" * 64) for number in range(1_000_000))
    chosen = choose(files)
    assert len(chosen.shown) == MOST_CARDS and chosen.said == "999,988 more files under Files"


def test_files_stand_in_their_order_and_large_ones_are_not_read() -> None:
    late, early = CapturedFile("b.png", 9, "0" * 64, 5.0), CapturedFile("a.csv", 9, "1" * 64, 1.0)
    huge, odd = CapturedFile("big.csv", 1 << 30, "2" * 64, 0.5), CapturedFile("model.bin", 9, "3" * 64, 2.0)
    chosen = choose((late, huge, odd, early, CapturedFile("none.txt", 0, "4" * 64)))
    assert chosen.shown == (early, late)
    assert chosen.said == "3 more files under Files, 1 of them too large to draw here"
    assert huge.size > MOST_BYTES and thumbnail_of((huge, early, late)) is late
    assert choose((early,)).said == ""


# ---- on the screen ----


def test_each_kind_stands_on_its_card(view: ResultsView, qtbot: QtBot, places: Places) -> None:
    show(view, qtbot, places, result_scenes.files(), value=result_scenes.VALUE)
    kinds = [type(one.view) for one in view.cards]
    assert kinds == [PictureView, TableView, MarkdownView, PictureView, JsonView, JsonView]
    assert [one.accessibleName() for one in view.cards][-1] == VALUE
    assert all(
        one.view is not None and one.view.accessibleName().startswith(one.accessibleName()) for one in view.cards
    )
    assert view.more.text() == "1 more file under Files" and view.more.isVisible()
    assert view.printed.text().endswith("1 line") and view.output.isVisible()
    order: list[int] = []
    stop: QWidget | None = view.cards[0].open
    while stop is not None and stop is not view.output.pane:
        if stop.focusPolicy() & Qt.FocusPolicy.TabFocus:
            order += [place for place, one in enumerate(view.cards) if one.isAncestorOf(stop)]
        stop = stop.nextInFocusChain()
    assert order == sorted(order) and {*order} == {*range(len(view.cards))}, "Tab goes from card to card"
    table = view.cards[1]
    assert table.view is not None and isinstance(table.view, TableView)
    assert table.view.model_.index(11, 1).data(SHARE) == 1.0
    table.chart.click()
    chart = table._place.currentWidget()
    assert chart.accessibleName().startswith("Chart: minutes, largest 71, cost, largest 12.78")
    table.chart.click()
    assert table._place.currentWidget() is table.view
    value = view.cards[-1]
    value.copy.click()
    assert json.loads(QApplication.clipboard().text()) == result_scenes.VALUE


def test_a_card_leads_to_its_file(view: ResultsView, qtbot: QtBot, places: Places) -> None:
    show(view, qtbot, places, {"a.csv": b"a,b\n1,2\n", "x.bin": b"\0"})
    with qtbot.waitSignal(view.file_wanted) as found:
        view.cards[0].open.click()
    assert found.args is not None and found.args[0].path == "a.csv"
    with qtbot.waitSignal(view.files_wanted):
        view.more.click()


def test_what_cannot_be_read_says_so_and_the_next_is_read(view: ResultsView, qtbot: QtBot, places: Places) -> None:
    files = result_scenes.stored(places, {"a.csv": b"a\n1\n", "b.csv": b"b\n2\n"})
    (places.captures / files[0].sha256).write_bytes(b"altered")
    view.show_result(feed.result(files=files))
    qtbot.waitUntil(lambda: not view._waiting, timeout=60_000)
    assert view.cards[0].said.text() == "Not shown" and isinstance(view.cards[1].view, TableView)


def test_names_show_what_hides(view: ResultsView, qtbot: QtBot, places: Places) -> None:
    show(view, qtbot, places, {"a\u202egnp.csv": b"a\n1\n"})
    assert "U+202E" in view.cards[0].accessibleName() and "\u202e" not in view.cards[0].name.text()


def test_another_run_ends_what_is_read_for_this_one(view: ResultsView, qtbot: QtBot, places: Places) -> None:
    files = result_scenes.stored(places, {f"{n}.csv": b"a\n1\n" for n in range(9)})
    view.show_result(feed.result(files=files))
    reading = view._reading
    assert reading is not None and not reading._ended
    view.show_result(feed.result(files=result_scenes.stored(places, {"other.csv": b"b\n2\n"})))
    assert reading._ended
    qtbot.waitUntil(lambda: not view._waiting, timeout=60_000)
    assert [one.accessibleName() for one in view.cards] == ["other.csv"]
    assert isinstance(view.cards[0].view, TableView)


def test_nothing_is_read_while_nobody_looks(view: ResultsView, qtbot: QtBot, places: Places) -> None:
    view.hide()
    view.show_result(feed.result(files=result_scenes.stored(places, {"a.csv": b"a\n1\n"})))
    assert view._reading is None and len(view._waiting) == 1
    view.show()
    qtbot.waitUntil(lambda: not view._waiting, timeout=60_000)
    assert isinstance(view.cards[0].view, TableView)


def test_without_cards_the_output_has_all_of_the_room(view: ResultsView) -> None:
    view.show_result(feed.result(stdout="x\n"))
    assert not view.cards and not view.printed.isVisible() and view.output.height() > 600


# ---- as foreseen, or not ----


def test_only_what_is_known_is_called_foreseen() -> None:
    assert words.foreseen(Behaviour(), assessed=True) == (words.AS_FORESEEN, "ok")
    assert words.foreseen(Behaviour(), assessed=False)[0] == ""
    assert words.foreseen(None, assessed=True)[0] == ""
    assert words.foreseen(Behaviour(absent=NOT_REPORTED), assessed=True)[0] == ""
    odd = Behaviour(unforeseen=("started curl",))
    assert words.foreseen(odd, assessed=True) == ("Not foreseen: started curl.", "bad")
    assert words.foreseen(Behaviour(lost=3), assessed=True)[0].startswith("Not complete.")


# ---- in lists ----


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("x.js:1\nSyntaxError: Unexpected identifier 'Order'\n    at wrapSafe\n\nNode.js v20.20.2\n", "SyntaxError: U"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'a'\n", "KeyError: 'a'"),
        ("ValueError: a\n\nDuring handling\n\nmod.OwnError: b\nwarning: left\n", "mod.OwnError: b"),
        ("make: *** [all] Error 2\n", "make: *** [all]"),
        ("# command-line-arguments\n./main.go:7:14: undefined: sum\n./main.go:9:1: x\n", "./main.go:7:14: undefined"),
        (
            "error[E0308]: mismatched types\n --> main.rs:2:22\nerror: aborting due to 1 previous error\n\n"
            "For more information about this error, try `rustc --explain E0308`.\n",
            "error[E0308]: mismatched",
        ),
        (
            "/tmp/.build/Main.java:3: error: incompatible types\n1 error\nerror: compilation failed\n",
            "/tmp/.build/Main.java:3",
        ),
        (
            'Exception in thread "main" java.net.ConnectException\n\tat Send.main(Main.java:10)\n'
            "Caused by: java.nio.channels.UnresolvedAddressException\n\tat java.base/x\n\t... 30 more\n",
            "Caused by: java.nio.channels.UnresolvedAddressException",
        ),
        (
            "node:internal/modules/esm/resolve:873\n  throw new ERR_MODULE_NOT_FOUND(packageName);\n        ^\n\n"
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'cheerio'\n    at packageResolve (node:1:2) {\n"
            "  code: 'ERR_MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n",
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'cheerio'",
        ),
        (
            "Error: no rows\n    at main (/workspace/main.js:3:9) {\n  rows: []\n}\n\nNode.js v20.20.2\n",
            "Error: no rows",
        ),
        ("thread 'main' panicked at main.rs:6:64:\nno key\nnote: run with `RUST_BACKTRACE=1`\n", "no key"),
        ("panic: no key\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/main.go:4 +0x1d\n", "panic: no key"),
        ("Node.js v20.20.2\n", "Node.js v20"),
        ("\n \n", ""),
    ],
)
def test_the_error_that_matters_is_said(stderr: str, said: str) -> None:
    found = phrases.error_line(stderr)
    assert found.startswith(said) and bool(found) is bool(said)


def test_a_failed_run_says_its_error_in_its_row(desk: Desk) -> None:
    one = feed.request("x")
    desk.hear(feed.asked(one), feed.decided(one), feed.started(one))
    failed = feed.result(Outcome.FAILED, stdout="", stderr="TypeError: a\u202eb\nNode.js v20.20.2\n")
    desk.hear(feed.finished(one, failed))
    card = desk.cases.card(one.id)
    assert card is not None
    row = summary(card)
    assert row.below.startswith("TypeError: a\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}U+202E")
    assert row.state == "failed, exit 1"


def test_small_pictures_come_one_at_a_time_and_are_kept_in_bounds(
    qtbot: QtBot, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def content(file: CapturedFile) -> bytes:
        read.append(file.path)
        return captures.read(places, file)

    monkeypatch.setattr(thumbnails, "MOST_KEPT", 2)
    pictures = thumbnails.Thumbnails(content)
    plot = feed.result(files=result_scenes.stored(places, {"a.csv": b"a\n1\n", "b.png": result_scenes.plot()}))
    with qtbot.waitSignal(pictures.changed, timeout=60_000):
        assert pictures.of(plot) is None
    found = pictures.of(plot)
    assert found is not None and (found.width(), found.height()) == (160, 95)
    assert pictures.of(feed.result()) is None and pictures.of(None) is None
    bomb = feed.result(files=result_scenes.stored(places, {"c.png": png_of(60_000, 60_000)}))
    with qtbot.waitSignal(pictures.changed, timeout=60_000):
        assert pictures.of(bomb) is None
    assert pictures.of(bomb) is None and read == ["b.png", "c.png"], "what is no picture is not read again"
    many = [CapturedFile(f"{number}.png", 9, f"{number:064}") for number in range(1000)]
    for one in many:
        pictures.of(feed.result(files=(one,)))
    assert len(pictures._waiting) <= thumbnails.MOST_WAITING and len(pictures._kept) <= 2


def test_rows_show_the_picture_that_a_run_made(desk: Desk, places: Places) -> None:
    one = feed.request("x")
    files = result_scenes.stored(places, {"b.png": result_scenes.plot()})
    desk.hear(feed.asked(one), feed.decided(one), feed.started(one), feed.finished(one, feed.result(files=files)))
    desk.window.show_page("Running")
    panel: Any = desk.window.page("Running")
    desk.qtbot.waitUntil(lambda: panel.model.index(0, 0).data(SUMMARY).picture is not None, timeout=60_000)


def test_the_history_shows_the_picture_that_a_run_made(desk: Desk, places: Places) -> None:
    drawn = feed.result(files=result_scenes.stored(places, {"b.png": result_scenes.plot(), "c.csv": b"a\n1\n"}))
    gone = feed.result(files=(CapturedFile("d.png", 9, f"{1:064}"),))
    plain = feed.result(files=result_scenes.stored(places, {"e.csv": b"a\n1\n"}))
    told = [
        entry
        for name, one in (("a", drawn), ("b", gone), ("c", plain))
        for entry in story.approved(story.request(name), one)
    ]
    ledger(places.ledger, told)
    desk.window.show_page("History")
    panel: Any = desk.window.page("History")
    model = panel.list.model
    desk.qtbot.waitUntil(lambda: model.rowCount() == 3)
    assert [line.picture and line.picture.path for line in model.lines] == [None, "d.png", "b.png"]
    desk.qtbot.waitUntil(lambda: model.index(2, 0).data(SUMMARY).picture is not None, timeout=60_000)
    assert [model.index(row, 0).data(SUMMARY).picture is None for row in (0, 1)] == [True, True]
    panel._reader.close()
    panel.list._reader.close()


# ---- in the window ----


def test_running_shows_the_cards_and_the_peaks_in_a_line(desk: Desk, places: Places) -> None:
    one = feed.request("print(1)")
    files = result_scenes.stored(places, {"a.csv": b"a\n1\n"})
    desk.hear(feed.asked(one, feed.assessment()), feed.decided(one), feed.started(one))
    desk.window.show_page("Running")
    panel: Any = desk.window.page("Running")
    assert not panel.meters.peaks.isVisible() and panel.meters.cpu.isVisible()
    desk.hear(feed.finished(one, feed.result(files=files)))
    assert panel.meters.peaks.isVisible() and not panel.meters.cpu.isVisible()
    assert "Memory 60 MB of 512 MB" in panel.meters.peaks.text()
    assert panel.results.foreseen.isHidden(), "nothing is known of what it did"
    desk.qtbot.mouseClick(panel.meters.curves, Qt.MouseButton.LeftButton)
    assert panel.meters.cpu.isVisible() and panel.meters.curves.text() == "Hide curves"
    assert [card.accessibleName() for card in panel.results.cards] == ["a.csv"]
    panel.results.cards[0].open.click()
    assert panel.tabs.currentWidget() is panel.files and panel.files._chosen == files[0]


def test_the_results_of_two_runs_stand_beside_each_other(desk: Desk, places: Places) -> None:
    def recorded(name: str, contents: dict[str, bytes]) -> CaseRecord:
        one = story.request(name)
        result = feed.result(files=result_scenes.stored(places, contents))
        row = Row(1, name, one.agent, one.tool, one.language, one.title, "0" * 64, Phase.FINISHED, 1.0)
        return CaseRecord(row, one, None, None, result, ())

    older, newer = recorded("a", {"t.csv": b"a\n1\n"}), recorded("b", {"t.csv": b"a\n2\n"})
    dialog = CompareDialog(desk.window, desk.window._look, older, newer, lambda file: captures.read(places, file))
    dialog.open()
    assert dialog.tabs.tabText(2) == "Results"
    dialog.tabs.setCurrentIndex(2)
    for results, number in zip(dialog.results, ("1", "2"), strict=True):
        desk.qtbot.waitUntil(lambda results=results: not results._waiting, timeout=60_000)
        (one,) = results.cards
        assert isinstance(one.view, TableView) and one.view.model_.index(0, 0).data() == number
        assert one.open.isHidden()


def test_what_was_not_foreseen_stands_on_top(desk: Desk) -> None:
    one = feed.request("x")
    desk.hear(feed.asked(one, feed.assessment()), feed.decided(one), feed.started(one))
    desk.window.show_page("Running")
    panel: Any = desk.window.page("Running")
    odd = Behaviour(unforeseen=("started curl",))
    desk.hear(feed.finished(one, replace(feed.result(), observed=odd)))
    assert panel.results.foreseen.isVisible() and panel.results.foreseen.text() == "Not foreseen: started curl."
    other = feed.request("y")
    desk.hear(feed.asked(other, feed.assessment()), feed.decided(other), feed.started(other))
    panel.show_run(desk.cases.card(other.id))
    assert panel.results.foreseen.isHidden(), "what is on top is of another run"
    desk.hear(feed.finished(other, replace(feed.result(), observed=Behaviour())))
    assert panel.results.foreseen.text() == words.AS_FORESEEN
