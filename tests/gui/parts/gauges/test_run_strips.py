"""Readings of a run as strips, and the lines of output that belong to a moment."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from app.parts.gauges.run_strips import OutputTimes, files_written, strips, written
from app.parts.gauges.timeline import RunTimeline
from runner.model.request import Isolation, Limits
from runner.model.result import CapturedFile, Outcome, OutputOrder, Result, Usage
from tests.gui import feed

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look

LIMITS = Limits(memory_mb=100)
OUT, ERR = "one\ntwo\nthr\u00e9e\nfour", "wrong\nworse\n"
READINGS = (
    Usage(0.5, 10.0, 20 << 20, 0, 1, stdout_bytes=4, stderr_bytes=0),
    Usage(1.0, 90.0, 80 << 20, 9000, 1, stdout_bytes=8, stderr_bytes=0),
    Usage(1.5, 20.0, 80 << 20, 9000, 1, stdout_bytes=8, stderr_bytes=6),
    Usage(2.0, 20.0, 30 << 20, 9000, 1, stdout_bytes=19, stderr_bytes=12),
)


def ended(out: str = OUT, err: str = ERR, curve: tuple[Usage, ...] = READINGS) -> Result:
    return replace(feed.result(Outcome.OK, out, stderr=err), curve=curve)


def test_each_resource_that_was_read_has_a_strip() -> None:
    found = {one.name: one for one in strips(READINGS, LIMITS, Isolation.DOCKER)}
    assert list(found) == ["CPU", "Memory", "Output"]
    assert found["Memory"].limit_shown and found["Memory"].top >= 100 << 20
    assert found["CPU"].limit is not None
    assert found["Memory"].said == "80 MB of 100 MB"
    assert found["Output"].points[0] == (0.5, 8.0)
    assert found["CPU"].at(0.2) is None
    assert found["CPU"].at(1.2) == 90.0
    assert {one.name: one.limit for one in strips(READINGS, LIMITS, Isolation.LOCAL)}["CPU"] is None


def test_a_limit_far_above_the_curve_is_left_out_of_it() -> None:
    (memory,) = [one for one in strips(READINGS, Limits(memory_mb=4096), Isolation.LOCAL) if one.name == "Memory"]
    assert not memory.limit_shown
    assert memory.top < 100 << 20


@pytest.mark.parametrize("readings", [(), READINGS[:1], (Usage(1.0), Usage(2.0))])
def test_too_few_readings_have_no_strip(readings: tuple[Usage, ...]) -> None:
    assert strips(readings, LIMITS, Isolation.LOCAL) == []


def test_a_rise_of_the_disk_is_marked_when_it_was_seen() -> None:
    assert written(READINGS) == [(1.0, "8.8 KB written")]


def test_a_moment_has_the_line_that_was_printed_last() -> None:
    times = OutputTimes(ended())
    assert times.known
    assert [times.line_at(at) for at in (0.1, 0.5, 1.0, 1.4, 1.5, 2.0, 9.0)] == [None, 0, 1, 1, 4, 5, 5]
    assert [times.moment_of(line) for line in range(-1, 7)] == [None, 0.5, 1.0, 2.0, 2.0, 1.5, 2.0, None]


def test_lines_in_their_order_have_the_same_moments() -> None:
    result = replace(ended(), order=OutputOrder((2, 1, 1, 1), whole=True))
    # one, two, wrong, three, worse, four
    times = OutputTimes(result)
    assert [times.line_at(at) for at in (0.1, 0.5, 1.0, 1.4, 1.5, 2.0)] == [None, 0, 1, 1, 2, 4]
    assert [times.moment_of(line) for line in range(-1, 7)] == [None, 0.5, 1.0, 1.5, 2.0, 2.0, 2.0, None]


def test_a_remark_among_the_lines_has_no_moment() -> None:
    times = OutputTimes(replace(ended(), order=OutputOrder((1,), whole=False)))
    # one, the remark, two, three, four, wrong, worse
    assert [times.moment_of(line) for line in range(7)] == [0.5, None, 1.0, 2.0, 2.0, 1.5, 2.0]
    assert times.line_at(1.5) == 5


def test_a_record_with_less_than_was_printed_binds_nothing() -> None:
    for result in (ended(OUT[:-1]), ended(err=""), ended(curve=(Usage(1.0),)), ended("", "", ())):
        times = OutputTimes(result)
        assert not times.known
        assert times.line_at(1.0) is None and times.moment_of(0) is None


def test_every_line_is_found_again_at_its_moment() -> None:
    chance = random.Random(3)
    lines = ["x" * chance.randrange(30) + "\n" for _ in range(50)]
    amounts = [sum(map(len, lines[: place + 1])) for place in range(50)]
    curve = tuple(
        Usage(float(place), 1.0, 1, stdout_bytes=amount, stderr_bytes=0) for place, amount in enumerate(amounts)
    )
    times = OutputTimes(ended("".join(lines), "", curve))
    assert [times.line_at(float(place)) for place in range(50)] == list(range(50))
    assert [times.moment_of(place) for place in range(50)] == [float(place) for place in range(50)]


def test_files_stand_where_each_was_changed_last() -> None:
    files = (
        CapturedFile("b.csv", 1, "1" * 64, 1.25),
        CapturedFile("a\u202e.png", 1, "2" * 64, 0.5),
        CapturedFile("old", 1, "3" * 64),
        CapturedFile("late", 1, "4" * 64, 99.0),
    )
    result = replace(ended(), files=files, duration=2.0)
    assert files_written(result) == [
        (0.5, "a\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}U+202E\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}.png"),
        (1.25, "b.csv"),
    ]


def test_the_cursor_names_the_files_of_its_moment(qtbot: QtBot, look: Look) -> None:
    timeline = RunTimeline(look)
    qtbot.addWidget(timeline)
    timeline.resize(600, 200)
    timeline.begin(LIMITS, Isolation.LOCAL, READINGS)
    at_one = timeline._x(1.0)
    assert timeline._wrote_at(at_one) == "8.8 KB written"
    files = tuple(CapturedFile(f"part-{n}.csv", 1, str(n) * 64, 1.0) for n in range(4))
    timeline.show_result(replace(ended(), files=files, duration=2.0))
    assert timeline._wrote_at(timeline._x(1.0)) == "part-0.csv, part-1.csv and 2 more"
    assert timeline._wrote_at(timeline._x(0.1)) == ""
    assert "part-3.csv at 1.0 s" in timeline.accessibleDescription()
    timeline.begin(LIMITS, Isolation.LOCAL, READINGS)
    assert "part-3.csv" not in timeline.accessibleDescription(), "files of the run before"
