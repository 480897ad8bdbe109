"""Tables in and out as text; skipped without pandas. `PANDAS_PYTHON` names an interpreter with it for the sandbox."""

from __future__ import annotations

import os
from typing import Any

import pytest

from runner import Refused, execute
from runner.library import frames
from runner.model.result import Outcome, Result


def test_without_tables_nothing_is_changed() -> None:
    framed = frames.packed({"x": 1})
    result = Result(Outcome.OK, "", "", 0, 0.1, value={frames.OUT: {"csv": "a\n1\n", "types": {}}})
    assert framed.context == {"x": 1}
    assert framed.unpacked(result) is result, "code that was given no table hands out data and no table"


def test_agents_get_no_tables_and_their_key_breaks_nothing() -> None:
    """Else a module that lies in a kept sandbox under the name of pandas would be imported unseen."""
    table = {"df": {"csv": "a\n1\n", "types": {"a": "int64"}}}
    result = execute("import sys\nprint('df' in globals(), 'pandas' in sys.modules)", context={frames.KEY: table})
    assert result.stdout == "False False\n", result.stderr


@pytest.fixture
def pandas(monkeypatch: pytest.MonkeyPatch) -> Any:
    found = pytest.importorskip("pandas")
    if python := os.environ.get("PANDAS_PYTHON"):
        monkeypatch.setenv("ASSENT_PYTHON", python)
    return found


def test_a_table_goes_in_and_another_comes_out(pandas: Any) -> None:
    df = pandas.DataFrame(
        {
            "code": ["001", "", 'x,\n"y'],
            "count": [1, 2, 3],
            "share": [0.5, None, 1.5],
            "open": [True, False, True],
            "day": pandas.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"]),
        }
    )
    result = execute("df['twice'] = df['count'] * factor\nresult = df", context={"df": df, "factor": 2})
    assert result.outcome is Outcome.OK, result.stderr
    pandas.testing.assert_frame_equal(result.value, df.assign(twice=[2, 4, 6]), check_dtype=False)
    assert str(result.value["day"].dtype).startswith("datetime64") and result.value["code"][0] == "001"
    other = execute("result = float(df['count'].mean())", context={"df": df})
    assert other.value == 2.0


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"csv": 3, "types": {}},
        {"csv": "a\n1\n", "types": []},
        {"csv": "a\nx\n", "types": {"a": "int64"}},
        {"csv": "a\n1\n", "types": {"b": "datetime64[ns]"}},
        {"csv": "", "types": {}},
        {"csv": 'a\n"', "types": {}},
    ],
)
def test_a_table_that_is_none_is_refused(pandas: Any, data: object) -> None:
    with pytest.raises(Refused):
        frames.read_frame(data)


def test_types_that_are_not_known_are_not_looked_up(pandas: Any) -> None:
    found = frames.read_frame({"csv": "a\n1\n", "types": {"a": "__import__('os').system"}})
    assert str(found["a"].dtype) == "int64"


def test_columns_that_cannot_be_named_are_refused(pandas: Any) -> None:
    for frame in (pandas.DataFrame({1: [1]}), pandas.DataFrame([[1, 2]], columns=["a", "a"])):
        with pytest.raises(Refused, match="columns"):
            execute("print(1)", context={"df": frame})
