"""Tables of pandas as text, with all that is needed to have them back; used in sandboxes and by the Python API.

A table is three blocks: its values, its index and the names of its columns, which may be an index of several levels as
well. A block is a CSV with numbers for names, and the type of each of its columns. Nothing is pickled, and what is read
may come from a stranger: types and time zones are known ones, and all else raises ValueError.
"""

import csv
import io
import json
import re
import zoneinfo

TYPE_CHECKING = False  # this file is loaded by every run that has tables
if TYPE_CHECKING:
    from typing import Any

PLAIN = re.compile(r"u?int(?:8|16|32|64)|float(?:32|64)|U?Int(?:8|16|32|64)|Float(?:32|64)|bool|boolean")
"""Types whose values are in the CSV as pandas writes them."""
TIMES = re.compile(r"(datetime|timedelta)64\[(s|ms|us|ns)(?:, ([^\]]{1,64}))?\]")
"""Types whose values are in the CSV as whole numbers."""
ZONE = re.compile(r"(?!dateutil)[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,2}")
OFFSET = re.compile(r"UTC[+-]\d\d:\d\d")
TEXTS = ("str", "string", "object")
"""Types whose values are in the CSV with a letter for what each of them is."""
MOST_ROWS = 50_000_000
"""Rows of a table without columns, whose number alone is given."""


def encode(pandas: "Any", value: "Any") -> "tuple[dict[str, Any], list[str]]":
    """Return a DataFrame or Series as JSON data, and in words what of it is text from now on."""
    series = isinstance(value, pandas.Series)
    columns = [value] if series else [value.iloc[:, place] for place in range(value.shape[1])]
    lost: list[str] = []
    titles = [value.name] if series else list(value.columns)
    table = {
        "values": _block(pandas, columns, [f"Column {title}" for title in titles], lost),
        "index": _index(pandas, value.index, "The index", lost),
        "columns": _index(pandas, pandas.Index([value.name]) if series else value.columns, "The columns", lost),
        "series": series,
    }
    return table, lost


def decode(pandas: "Any", table: "Any") -> "Any":
    """Return the DataFrame or Series. Raises ValueError and what pandas raises for what is none."""
    values = _values(pandas, _of(table, "values", dict))
    index = _read_index(pandas, _of(table, "index", dict))
    columns = _read_index(pandas, _of(table, "columns", dict))
    if len(columns) != len(values) or (not values and len(index) > MOST_ROWS):
        raise ValueError("names and columns are not the same number")
    frame = pandas.DataFrame(dict(enumerate(values)), index=None if values else index)
    frame.index, frame.columns = index, columns
    if not _of(table, "series", bool):
        return frame
    if len(values) != 1:
        raise ValueError("a series has one column")
    return frame.iloc[:, 0]


def of_numpy(value: "Any") -> object:
    """Return the numbers of numpy, alone or in arrays, as those of Python, for JSON. Raises TypeError for all else."""
    if type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "kind", "O") in "biuf":
        return value.tolist()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _index(pandas: "Any", index: "Any", title: str, lost: "list[str]") -> "dict[str, Any]":
    names = [_name(name) for name in index.names]
    if isinstance(index, pandas.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "names": names}
    levels = [index.get_level_values(level).to_series() for level in range(index.nlevels)]
    block = _block(pandas, levels, [title] * len(levels), lost)
    return {"block": block, "names": names, "multi": isinstance(index, pandas.MultiIndex)}


def _read_index(pandas: "Any", data: "dict[str, Any]") -> "Any":
    names = _of(data, "names", list)
    if not all(name is None or isinstance(name, (str, int, float)) for name in names):
        raise ValueError("a name is none")
    if "range" in data:
        start, stop, step = _of(data, "range", list)
        return pandas.RangeIndex(_whole(start), _whole(stop), _whole(step), name=names[0])
    levels = _values(pandas, _of(data, "block", dict))
    if _of(data, "multi", bool):
        return pandas.MultiIndex.from_arrays(levels, names=names)
    (level,), (name,) = levels, names
    return pandas.Index(level, dtype=level.dtype, name=name)


def _block(pandas: "Any", columns: "list[Any]", titles: "list[str]", lost: "list[str]") -> "dict[str, Any]":
    types, written = [], {}
    for place, (column, title) in enumerate(zip(columns, titles, strict=True)):
        kind, cells, left = _written(pandas, column.reset_index(drop=True))
        types.append(kind)
        written[str(place)] = cells
        if left:
            lost.append(f"{title}: {left} came as text")
    text = pandas.DataFrame(written).to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC) if written else ""
    return {"csv": text, "types": types, "rows": len(columns[0]) if columns else 0}


def _values(pandas: "Any", block: "dict[str, Any]") -> "list[Any]":
    types = _of(block, "types", list)
    if not types:
        return []
    text, rows = _of(block, "csv", str), _of(block, "rows", int)
    # A row with too few values is filled up: a short text must not become a table that no memory holds.
    if rows * len(types) > len(text):
        raise ValueError("there are not as many values as rows and columns")
    kinds = {str(place): _read_as(kind) for place, kind in enumerate(types)}
    frame = pandas.read_csv(
        io.StringIO(text),
        nrows=rows,
        dtype=kinds,
        keep_default_na=False,
        na_values=[""],
        skip_blank_lines=False,
        index_col=False,
        **({"float_precision": "round_trip"} if _version(pandas) < (3, 1) else {}),  # the only one since
    )
    if list(frame.columns) != list(kinds) or len(frame) != rows:
        raise ValueError("there are other rows or columns than it says")
    return [_restored(pandas, frame[str(place)].rename(None), kind) for place, kind in enumerate(types)]


def _written(pandas: "Any", column: "Any") -> "tuple[Any, Any, str]":
    """Return the type of a column, the values for the CSV, and what among them becomes text in words."""
    kind = str(column.dtype)
    if PLAIN.fullmatch(kind):
        return kind, column, ""
    if (times := TIMES.fullmatch(kind)) and _is_zone(times[3]):
        return kind, column.astype("int64"), ""
    if isinstance(column.dtype, pandas.CategoricalDtype):
        unwritten: list[str] = []
        categories = _block(pandas, [column.cat.categories.to_series()], [""], unwritten)
        if not unwritten:
            return {"categories": categories, "ordered": bool(column.cat.ordered)}, column.cat.codes, ""
    if kind == "float16":
        return "float32", column.astype("float32"), ""
    left: set[str] = set()
    cells = [_cell(pandas, value, left) for value in column]
    return kind if kind in TEXTS else "object", pandas.Series(cells, dtype="object"), ", ".join(sorted(left))


def _read_as(kind: "Any") -> str:
    """Return the type by which the CSV is read."""
    if isinstance(kind, dict) or (isinstance(kind, str) and TIMES.fullmatch(kind)):
        return "int64"
    if isinstance(kind, str) and (kind in TEXTS or PLAIN.fullmatch(kind)):
        return "object" if kind in TEXTS else kind
    raise ValueError("a type is not known")


def _restored(pandas: "Any", column: "Any", kind: "Any") -> "Any":
    if isinstance(kind, dict):
        (labels,) = _values(pandas, _of(kind, "categories", dict))
        categories = pandas.Index(labels, dtype=labels.dtype)
        codes = pandas.Categorical.from_codes(column, categories=categories, ordered=_of(kind, "ordered", bool))
        return pandas.Series(codes)
    if times := TIMES.fullmatch(kind):
        letter = "M" if times[1] == "datetime" else "m"
        moments = pandas.Series(column.to_numpy("int64").view(f"{letter}8[{times[2]}]"))
        if times[3] is None:
            return moments
        if letter == "m" or not _is_zone(times[3]):
            raise ValueError("a time zone is not known")
        return moments.dt.tz_localize("UTC").dt.tz_convert(times[3])
    if kind not in TEXTS:
        return column
    cells = pandas.Series([_read_cell(cell) for cell in column], dtype="object")
    # Before version 3 there is no such type, and texts are objects.
    if kind == "string" or (kind == "str" and _version(pandas) >= (3, 0)):
        return cells.astype(kind)
    return cells


def _cell(pandas: "Any", value: "Any", left: "set[str]") -> "str | None":
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0 and value.dtype.kind in "biuf":
        value = value.item()
    match value:
        case None:
            return None
        case bool():
            return f"b{value:d}"
        case str():
            return f"t{value}" if _is_clean(value) else f"j{json.dumps(value)}"
        case int():
            return f"i{value:d}"
        case float():
            return None if value != value else f"f{value!r}"
        case _ if value is pandas.NA or value is pandas.NaT:
            return None
        case _:
            left.add(type(value).__name__)
            return f"t{value}"


def _read_cell(cell: "Any") -> "str | int | float | bool | None":
    if not isinstance(cell, str):  # nothing stood there
        return None
    match cell[:1]:
        case "t":
            return cell[1:]
        case "j":
            return str(json.loads(cell[1:]))
        case "b":
            return cell == "b1"
        case "i":
            return int(cell[1:])
        case "f":
            return float(cell[1:])
        case _:
            raise ValueError("a value is none")


def _is_clean(text: str) -> bool:
    """Return whether a CSV can hold a text: no NUL, at which its reader ends a value, and no half of a surrogate."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _version(pandas: "Any") -> "tuple[int, ...]":
    return tuple(map(int, pandas.__version__.split(".")[:2]))


def _name(name: "Any") -> "str | int | float | None":
    """Return the name of a level, which is no part of any block."""
    return name if name is None or isinstance(name, (str, int, float)) else str(name)


def _is_zone(name: "str | None") -> bool:
    if name is None or OFFSET.fullmatch(name):
        return True
    if not ZONE.fullmatch(name):
        return False
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return name == "UTC"
    return True


def _of(data: "Any", name: str, kind: type) -> "Any":
    """Return a part of what was read. Raises ValueError where it is of another type."""
    found = data.get(name) if isinstance(data, dict) else None
    if not isinstance(found, kind):
        raise ValueError(f"{name} is missing")
    return found


def _whole(value: "Any") -> int:
    if not isinstance(value, int) or abs(value) >= 1 << 62:
        raise ValueError("a range is none")
    return value
