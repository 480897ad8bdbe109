"""Tables in and out as text; skipped without pandas. `PANDAS_PYTHON` names an interpreter with it for the sandbox."""

from __future__ import annotations

import copy
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner import Refused, create_runner, execute
from runner.library import frames
from runner.model.request import Language
from runner.model.result import Outcome, Result
from runner.sandbox import report
from runner.sandbox.contract import Job
from runner.sandbox.inside import python, tables
from runner.sandbox.programs import inside
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable


def test_without_tables_nothing_is_changed() -> None:
    framed = frames.packed({"x": 1})
    result = Result(Outcome.OK, "", "", 0, 0.1, value={frames.OUT: {"values": {}}})
    assert framed.context == {"x": 1} and framed.variables('{"x": 1}') == '{"x": 1}'
    assert framed.unpacked(result) is result, "code that was given no table hands out data and no table"


def test_agents_get_no_tables_and_their_key_breaks_nothing() -> None:
    """Else a module that lies in a kept sandbox under the name of pandas would be imported unseen."""
    table = {"df": {"values": {"csv": "0\n1\n", "types": ["int64"], "rows": 1}}}
    result = execute("import sys\nprint('df' in globals(), 'pandas' in sys.modules)", context={frames.KEY: table})
    assert result.stdout == "False False\n", result.stderr


def test_numbers_of_numpy_are_handed_out_as_numbers() -> None:
    """Without numpy: what counts is the name of the module and what the value says of itself."""
    code = (
        "class Number:\n"
        "    dtype = type('', (), {'kind': 'i'})\n"
        "    def tolist(self):\n"
        "        return 6\n"
        "Number.__module__ = 'numpy'\n"
        "result = {'sum': Number(), 'all': [Number()]}"
    )
    result = execute(code)
    assert (result.value, result.stderr) == ({"sum": 6, "all": [6]}, "")


@pytest.fixture
def pandas(monkeypatch: pytest.MonkeyPatch) -> Any:
    found = pytest.importorskip("pandas")
    if python := os.environ.get("PANDAS_PYTHON"):
        monkeypatch.setenv("ASSENT_PYTHON", python)
    return found


def sample(pandas: Any) -> Any:
    return pandas.DataFrame({"g": ["a", "b", "a"], "x": [1, 2, 3], "f": [0.1, None, float("inf")]})


def there_and_back(pandas: Any, value: Any) -> Any:
    found, lost = tables.encode(pandas, value)
    assert not lost
    return tables.decode(pandas, json.loads(json.dumps(found)))


MADE: dict[str, Callable[[Any, Any], Any]] = {
    "plain": lambda pd, df: df,
    "described": lambda pd, df: df[["x"]].describe(),
    "grouped": lambda pd, df: df.groupby("g").sum(),
    "grouped by two": lambda pd, df: df.groupby(["g", "x"]).sum(),
    "columns of two levels": lambda pd, df: df.groupby("g").agg({"x": ["min", "max"], "f": ["sum"]}),
    "pivoted": lambda pd, df: df.pivot_table(index="g", columns="x", values="f"),
    "numbers for names": lambda pd, df: pd.DataFrame([[1, 2], [3, 4]]),
    "names twice": lambda pd, df: pd.DataFrame([[1, "x"]], columns=["a", "a"]),
    "filtered": lambda pd, df: df[df.x > 1],
    "a named range": lambda pd, df: df.set_index(pd.RangeIndex(5, 8, name="n")),
    "numbers with gaps": lambda pd, df: pd.DataFrame(
        {"i": pd.array([1, None], dtype="Int64"), "b": pd.array([True, None], dtype="boolean")}
    ),
    "small numbers": lambda pd, df: df[["x"]].astype("int8").assign(f=df.f.astype("float32")),
    "floats": lambda pd, df: pd.DataFrame({"f": [0.1 + 0.2, 1e-300, 5e-324, -0.0, 1 / 3]}),
    "categories": lambda pd, df: pd.DataFrame(
        {
            "c": pd.Categorical(["x", None, "y"], categories=["y", "x", "z"], ordered=True),
            "n": pd.Categorical([3, 1, 3]),
        }
    ),
    "times": lambda pd, df: pd.DataFrame(
        {
            "t": [pd.Timestamp("2026-01-01 01:02:03.123456789"), pd.NaT],
            "z": pd.to_datetime(["2026-01-01", "2026-07-01"]).tz_localize("Europe/Oslo"),
            "o": pd.to_datetime(["2026-01-01", "2026-07-01"]).tz_localize("UTC+02:00"),
            "d": pd.to_timedelta(["1s", None]),
        }
    ),
    "days for an index": lambda pd, df: df.set_index(pd.DatetimeIndex(["2026-01-01"] * 3, name="day")),
    "texts": lambda pd, df: pd.DataFrame(
        {"s": ["", None, "a\r\nb", "\r", 'q"x', ",", "NA", "001", "\\", "é\u2028", " x ", "a\0b", "\0"]}
    ),
    "all kinds": lambda pd, df: pd.DataFrame({"o": [1, "1", 2.5, True, None, float("inf")]}, dtype=object),
    "no columns": lambda pd, df: pd.DataFrame(index=["a", "b"]),
    "no rows": lambda pd, df: df[:0],
    "nothing": lambda pd, df: pd.DataFrame(),
    "one gap": lambda pd, df: pd.DataFrame({"a": [None, 1.0, None]}),
}


@pytest.mark.parametrize("name", MADE)
def test_a_table_comes_back_whole(pandas: Any, name: str) -> None:
    frame = MADE[name](pandas, sample(pandas))
    pandas.testing.assert_frame_equal(there_and_back(pandas, frame), frame, check_freq=False)


def test_a_series_goes_in_as_one(pandas: Any) -> None:
    for series in (sample(pandas)["x"], pandas.Series([1.5, None]), sample(pandas)["g"].value_counts()):
        pandas.testing.assert_series_equal(there_and_back(pandas, series), series)


def test_a_table_goes_in_and_another_comes_out(pandas: Any) -> None:
    df = sample(pandas)
    result = execute("df['twice'] = df['x'] * factor\nresult = df", context={"df": df, "factor": 2})
    assert (result.outcome, result.stderr) == (Outcome.OK, "")
    pandas.testing.assert_frame_equal(result.value, df.assign(twice=[2, 4, 6]))
    described = execute("result = df.describe()", context={"df": df[["x"]]}).value
    pandas.testing.assert_frame_equal(described, df[["x"]].describe())
    with create_runner() as runner:
        grouped = runner.execute("result = df.groupby(['g', 'x']).sum()", {"df": df}).result
    pandas.testing.assert_frame_equal(grouped, df.groupby(["g", "x"]).sum())


def test_numbers_and_series_come_out_as_what_they_are(pandas: Any) -> None:
    df = sample(pandas)
    total = execute("result = df['x'].sum()", context={"df": df})
    assert (total.value, type(total.value), total.stderr) == (6, int, "")
    found = execute("result = {'most': df['x'].max(), 'all': df['x'].to_numpy()}", context={"df": df}).value
    assert found == {"most": 3, "all": [1, 2, 3]}
    column = execute("result = s * 2", context={"s": df["x"]}).value
    pandas.testing.assert_frame_equal(column, (df[["x"]] * 2))
    import numpy

    with pytest.raises(Refused, match="context is not JSON data"):
        execute("print(1)", context={"f": numpy.add})
    assert execute("result = [n, *many]", context={"n": numpy.int64(1), "many": numpy.arange(2)}).value == [1, 0, 1]


def test_what_becomes_text_is_said(pandas: Any) -> None:
    df = pandas.DataFrame({"p": pandas.period_range("2026-01", periods=2, freq="M")})
    noted = execute("result = df.assign(l=[[1], [2]])", context={"df": df})
    assert noted.stderr == "Note: Column l: list came as text\nNote: df: Column p: Period came as text.\n"
    assert list(noted.value["p"]) == ["2026-01", "2026-02"] and list(noted.value["l"]) == ["[1]", "[2]"]


def test_tables_have_a_bound_of_their_own(pandas: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    df = pandas.DataFrame({"n": range(400_000)})
    monkeypatch.setenv("SANDBOX_STORE_CODE", "always")
    result = execute("result = df * 2", context={"df": df})
    assert result.outcome is Outcome.OK, result.stderr
    pandas.testing.assert_frame_equal(result.value, df * 2)
    (artifact,) = Places.standard().artifacts.glob("*.json")
    kept = artifact.read_text()
    assert len(kept) < 10_000 and "bytes of tables" in kept and "a table of " in kept
    monkeypatch.setattr(frames, "TABLES_LIMIT", 1 << 20)
    with pytest.raises(
        Refused, match=r"The tables in context have 3,\d+,\d+ bytes as text; at most 1,048,576 are taken"
    ):
        execute("print(1)", context={"df": df})


def handed_out(pandas: Any, result: Any) -> report.Report:
    """Return what the starter inside a sandbox hands out of `result`, where a table was handed in."""
    most = report.limit(Job("test", Language.PYTHON, "", tables=True))
    channel = report.open_channel(most)
    try:
        orders = {
            "tables": inside("tables.py"),
            "context": {frames.KEY: json.loads(frames.packed({"df": sample(pandas)}).tables)},
            "report": channel,
            "limit": most,
        }
        pandas.testing.assert_frame_equal(python._frames(orders)["df"], sample(pandas))
        python._hand_out(orders, {"result": result}, {})
        return report.read(channel, most)
    finally:
        os.close(channel)


def test_the_starter_hands_out_tables_and_says_what_is_text(pandas: Any) -> None:
    df = sample(pandas)
    found = handed_out(pandas, df["x"])
    assert isinstance(found.value, dict) and found.note == ""
    pandas.testing.assert_frame_equal(frames.read_frame(found.value[frames.OUT]), df[["x"]])
    noted = handed_out(pandas, df.assign(l=[[1], [2], [3]]))
    assert noted.note == "Column l: list came as text"
    large = handed_out(pandas, pandas.DataFrame({"n": range(300_000)}))
    assert large.note == "" and large.value is not None
    assert handed_out(pandas, "text").value == "text"


def test_a_table_that_is_too_large_is_not_handed_out(pandas: Any) -> None:
    result = execute(
        "import pandas\nresult = pandas.DataFrame({'s': ['x' * 1000] * 40_000})", context={"df": sample(pandas)}
    )
    assert result.value is None and "result is larger than 32 MB and was not handed out" in result.stderr
    assert report.LIMIT == 1 << 20, "which holds for everything else"


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "no values": lambda one: one.pop("values"),
    "no text": lambda one: one["values"].update(csv=3),
    "no types": lambda one: one["values"].update(types={}),
    "another type": lambda one: one["values"].update(types=["__import__('os').system"] * 3),
    "a type of numpy's": lambda one: one["values"].update(types=["U100000000"] * 3),
    "too few types": lambda one: one["values"].update(types=["int64"]),
    "no numbers": lambda one: one["values"].update(types=["int64"] * 3),
    "no mark": lambda one: one["values"].update(csv='"0","1","2"\n"x",1,1\n', rows=1),
    "a file for a zone": lambda one: one["values"].update(
        types=["object", "datetime64[ns, dateutil//etc/passwd]", "float64"]
    ),
    "a zone outside": lambda one: one["values"].update(types=["object", "datetime64[ns, ../../etc/passwd]", "float64"]),
    "more rows than it says": lambda one: one["values"].update(rows=1),
    "fewer rows than it says": lambda one: one["values"].update(rows=4),
    "more rows than fit": lambda one: one.update(
        values={"csv": '"0","1","2"\n' + "\n" * 50, "types": ["object"] * 3, "rows": 50},
        index={"range": [0, 50, 1], "names": [None]},
    ),
    "an open quote": lambda one: one["values"].update(csv='"0","1","2"\n"'),
    "an empty text": lambda one: one["values"].update(csv=""),
    "a long index": lambda one: one["index"].update(range=[0, 10**12, 1]),
    "a step of none": lambda one: one["index"].update(range=[0, 3, 0]),
    "half a range": lambda one: one["index"].update(range=[0]),
    "a range of texts": lambda one: one["index"].update(range=["0", "3", "1"]),
    "no names": lambda one: one["index"].update(names=[]),
    "a list for a name": lambda one: one["index"].update(names=[[1]]),
    "codes of nothing": lambda one: one["values"].update(
        types=[
            "object",
            {"categories": {"csv": '"0"\n"tx"\n', "types": ["object"], "rows": 1}, "ordered": False},
            "float64",
        ]
    ),
    "fewer columns": lambda one: one["columns"].update(range=[0, 2, 1]),
    "a series of three": lambda one: one.update(series=True),
    "many rows of nothing": lambda one: one.update(
        values={"csv": "", "types": [], "rows": 0},
        index={"range": [0, 10**15, 1], "names": [None]},
        columns={"range": [0, 0, 1], "names": [None]},
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_table_that_is_none_is_refused(pandas: Any, name: str) -> None:
    found, _ = tables.encode(pandas, sample(pandas))
    broken = copy.deepcopy(found)
    assert frames.read_frame(found) is not None
    BROKEN[name](broken)
    with pytest.raises(Refused):
        frames.read_frame(broken)


@pytest.mark.parametrize("data", [None, {}, [], "x", {"values": None, "index": None, "columns": None, "series": None}])
def test_what_has_nothing_of_a_table_is_refused(pandas: Any, data: object) -> None:
    with pytest.raises(Refused):
        frames.read_frame(data)


def test_no_file_that_the_code_names_is_read_for_a_zone(pandas: Any) -> None:
    """pandas takes the path of any file where it begins with the name of a library."""
    known = Path("/usr/share/zoneinfo/Europe/Oslo")
    if not known.is_file():
        pytest.skip("no zones on this machine")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(known, f"{folder}/zone")
        found, _ = tables.encode(pandas, pandas.DataFrame({"t": pandas.to_datetime(["2026-01-01"])}))
        unit = found["values"]["types"][0].removesuffix("]")
        found["values"]["types"] = [f"{unit}, dateutil/{folder}/zone]"]
        with pytest.raises(Refused):
            frames.read_frame(found)
