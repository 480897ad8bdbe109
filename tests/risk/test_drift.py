"""The table of the classifier's figures: a change that loses too much is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.risk import drift
from tests.risk.drift import Figures

if TYPE_CHECKING:
    from pathlib import Path

GOOD = Figures("a", 99.0, 95.0, 90.0)


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([GOOD], []),
        ([GOOD, Figures("b", 98.7, 95.5, 90.0)], []),
        ([GOOD, Figures("b", 98.69, 95.0, 90.0)], ["depth_2"]),
        ([GOOD, Figures("b", 98.8, 95.0, 90.0), Figures("c", 98.6, 94.0, 90.0)], ["depth_2", "depth_4"]),
        ([GOOD, Figures("b", 99.0, 95.0, 89.0), Figures("c", 99.0, 95.0, 90.0)], []),
        ([GOOD, Figures("b", 100.0, 100.0, 89.6)], ["sources"]),
        ([GOOD, Figures("b", 99.0, 95.0, 90.0, 99.8, 98.0)], []),
        ([replace(GOOD, spared_2=99.8), Figures("b", 99.0, 95.0, 90.0, 99.4, 98.0)], ["spared_2"]),
        ([replace(GOOD, spared_4=98.0), GOOD], ["spared_4"]),
    ],
)
def test_the_last_row_is_held_against_the_best(rows: list[Figures], names: list[str]) -> None:
    assert [line.partition(" ")[0] for line in drift.lost(rows)] == names


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    table = tmp_path / "drift.csv"
    table.write_text(",".join(drift.NAMES) + "\n")
    drift.append(table, GOOD)
    assert drift.read(table) == [GOOD]
    assert drift.main([str(table)]) == 0
    drift.append(table, Figures("b", 90.0, 95.0, 90.0))
    assert drift.main([str(table)]) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1"),
        ("after,depth_2\n", "line 1"),
        (",".join(drift.NAMES) + "\n", "no row"),
        (",".join(drift.NAMES) + "\na,1,2\n", "line 2"),
        (",".join(drift.NAMES) + "\na,nan,2,3,,\n", "line 2"),
        (",".join(drift.NAMES) + "\na,1,2,101,,\n", "line 2"),
        (",".join(drift.NAMES) + "\na,1,2,3,4\n", "line 2"),
        (",".join(drift.NAMES) + "\na,1,2,3,4,5,6\n", "line 2"),
    ],
)
def test_a_table_that_says_nothing_fails(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "drift.csv"
    table.write_text(text)
    assert drift.main([str(table)]) == 1
    assert why in capsys.readouterr().err


def test_the_table_itself_can_be_read() -> None:
    assert drift.read(drift.TABLE)
