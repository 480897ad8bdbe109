"""Exports of requests: what they hold, how they end, and that nothing in them is obeyed by what opens them."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import tracemalloc
from contextlib import closing
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from runner.audit.export import source
from runner.audit.export.begun import sweep_noted
from runner.audit.export.exporting import ExportFormat, HistoryExport
from runner.audit.export.shown import cell
from runner.audit.export.target import exported_file
from runner.audit.history.search import Filter, History, Interrupted
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from tests.audit.story import KEY, approved, denied, request, tamper, write
from tests.small_disk import fill, small_disk

if TYPE_CHECKING:
    from pathlib import Path

NASTY = "=1+1;@SUM(A1)\t<script>alert(1)</script>\u202egnp.exe\x1b[2J"
"""A title: two formulas, markup, a reversal and a control sequence."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    requests = [
        *approved(request("r1", code="</pre><script>x</script>\udc80\n")),
        *denied(request("r2", agent="other")),
    ]
    write(path, [*requests, *approved(request("r3", title=NASTY, agent="-agent"))], KEY)
    return path


def written(ledger: Path, kind: ExportFormat, folder: Path, wanted: Filter | None = None) -> str:
    path = folder / f"out.{kind}"
    HistoryExport(ledger, kind, wanted or Filter()).write(path)
    assert path.stat().st_mode & 0o777 == 0o600
    return path.read_bytes().decode("utf-8")


def test_json_lines_have_each_request_whole(ledger: Path, tmp_path: Path) -> None:
    text = written(ledger, ExportFormat.JSON_LINES, tmp_path)
    lines = [json.loads(line) for line in text.splitlines()]
    assert text.isascii() and [line["id"] for line in lines] == ["r3", "r2", "r1"]
    first = lines[-1]
    with closing(History(ledger)) as history:
        record = history.case("r1")
    assert record is not None
    bodies = {step.entry.kind: step.body for step in record.steps}
    assert (first["request"], first["assessment"]) == (bodies["arrived"], bodies["assessed"])
    assert (first["decision"], first["result"]) == (bodies["approved"], bodies["finished"])
    assert [step["kind"] for step in first["steps"]] == [step.entry.kind for step in record.steps]
    assert lines[1]["result"] is None and lines[1]["decision"]["verdict"] == "denied"


def test_a_filter_and_pages_leave_out_and_repeat_nothing(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PAGE", 1)
    assert written(ledger, ExportFormat.JSON_LINES, tmp_path).count("\n") == 3
    (tmp_path / "out.jsonl").unlink()
    text = written(ledger, ExportFormat.JSON_LINES, tmp_path, Filter(verdict=Verdict.DENIED))
    assert [json.loads(line)["id"] for line in text.splitlines()] == ["r2"]
    chosen = HistoryExport(ledger, ExportFormat.JSON_LINES, names=["r1", "r9"]).write(tmp_path / "chosen.jsonl")
    assert chosen.count == 1 and chosen.sentence == f"1 request was written to {tmp_path / 'chosen.jsonl'}."


def test_no_cell_of_the_table_is_a_formula(ledger: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader(written(ledger, ExportFormat.CSV, tmp_path).splitlines()))
    nasty = rows[0]
    assert nasty["title"].startswith("'=1+1;'@SUM(A1)\\u{9}<script>") and nasty["agent"] == "'-agent"
    assert "\\u{202e}gnp.exe\\u{1b}[2J" in nasty["title"]
    assert not [value for row in rows for value in row.values() if re.match(r"\s*[=+\-@\t\r]", value)]
    assert (rows[2]["exit_code"], rows[2]["duration_seconds"], rows[2]["verdict"]) == ("0", "0.25", "approved")
    assert rows[2]["arrived_at"].endswith("+00:00") and rows[2]["findings"] == "python.subprocess"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("sum; =1+1", "sum; '=1+1"),
        ("1;\N{FULLWIDTH EQUALS SIGN}1", "1;'\N{FULLWIDTH EQUALS SIGN}1"),
        ("  +1", "  '+1"),
        ("a\t=1", "a\\u{9}=1"),
    ],
)
def test_a_cell_that_begins_harmlessly_is_read_to_its_end(text: str, shown: str) -> None:
    assert cell(text) == shown


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_report_runs_and_fetches_nothing(ledger: Path, tmp_path: Path) -> None:
    text = written(ledger, ExportFormat.HTML, tmp_path)
    page = Elements()
    page.feed(text)
    tags = {tag for tag, _ in page.found}
    assert not tags & {"script", "img", "link", "iframe", "object", "form", "a", "base", "svg"}
    assert not [name for _, given in page.found for name in given if name.startswith("on") or name in ("src", "href")]
    policy = next(given["content"] for tag, given in page.found if "http-equiv" in given)
    assert policy is not None and policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert "&lt;/pre&gt;&lt;script&gt;x" in text and "\\u{202e}gnp.exe\\u{1b}[2J" in text and "\\u{dc80}" in text
    assert not set(text) & {"\u202e", "\x1b", "\udc80"} and "3 requests, newest first" in text


def test_what_is_damaged_is_named_and_the_rest_exported(ledger: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "data/ledger.sqlite3"
    damaged.parent.mkdir()
    damaged.write_bytes(ledger.read_bytes())
    number = "(SELECT seq FROM entries WHERE kind = 'finished' AND request_id = 'r1')"
    tamper(damaged, f"UPDATE bodies SET data = '{{\"a\":NaN}}' WHERE seq = {number}")
    tamper(damaged, "UPDATE requests SET tool = 'unknown' WHERE id = 'r2'")
    lines = [json.loads(line) for line in written(damaged, ExportFormat.JSON_LINES, tmp_path).splitlines()]
    assert "is missing or damaged" in lines[2]["problem"] and lines[2]["result"] is None
    assert "unknown" in lines[1]["problem"] and lines[1]["request"]["id"] == "r2" and "problem" not in lines[0]
    assert "unknown" in written(damaged, ExportFormat.HTML, tmp_path) + written(damaged, ExportFormat.CSV, tmp_path)


def refused(path: Path, ledger: Path, *, replace: bool = False) -> str:
    with pytest.raises(KnownError) as error:
        HistoryExport(ledger, ExportFormat.CSV).write(path, replace=replace)
    return str(error.value)


def test_nothing_is_replaced_that_was_not_meant(ledger: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("mine")
    assert "exists already" in refused(path, ledger) and path.read_text() == "mine"
    HistoryExport(ledger, ExportFormat.CSV).write(path, replace=True)
    assert path.read_text().startswith('"id"')
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(path)
    os.mkfifo(pipe)
    for special in (link, pipe, tmp_path):
        assert "not a plain file" in refused(special, ledger, replace=True)
    assert "holds the history itself" in refused(ledger, ledger, replace=True)
    assert "cannot be written" in refused(tmp_path / "nowhere/out.csv", ledger)


def test_a_name_that_is_taken_meanwhile_stays(ledger: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"

    def write_late() -> None:
        with exported_file(path, ledger) as file:
            file.write("ours")
            path.write_text("theirs")

    with pytest.raises(KnownError, match="exists already"):
        write_late()
    assert path.read_text() == "theirs" and list(tmp_path.iterdir()) == [path]


def test_what_is_stopped_leaves_nothing(ledger: Path, tmp_path: Path) -> None:
    for kind in ExportFormat:
        export = HistoryExport(ledger, kind)
        export.stop()
        with pytest.raises(Interrupted):
            export.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named_and_leaves_nothing(ledger: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        ballast = fill(disk)
        assert "The disk is full" in refused(disk / "out.csv", ledger)
        assert list(disk.iterdir()) == [ballast]


KILLED = """
import sys
from pathlib import Path
from runner.audit.export.shown import cell
from runner.audit.export.target import exported_file
with exported_file(Path(sys.argv[1]), Path("/ledger"), notes=Path(sys.argv[2])) as file:
    file.write("half" * 1000000)
    print("now", flush=True)
    sys.stdin.read()
"""


def test_a_kill_in_the_middle_leaves_no_file_of_that_name(tmp_path: Path) -> None:
    path, notes = tmp_path / "out.csv", tmp_path.with_name(f"{tmp_path.name}-notes")
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), str(notes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"now\n"
        assert not sweep_noted(notes) and len(list(notes.iterdir())) == 1, "it is being written"
        process.send_signal(signal.SIGKILL)
    assert not path.exists() and [one.suffix for one in tmp_path.iterdir()] == [".part"]
    (tmp_path / "download.part").touch()
    (tmp_path / ".assent-export-0123456789abcdef.part").mkdir()
    with exported_file(tmp_path / "next.csv", tmp_path / "no/ledger"):
        # The next export clears away what was left, and neither what is being written nor what is not ours.
        drafts = [one for one in tmp_path.iterdir() if one.is_file() and one.name.startswith(".assent-export-")]
        assert len(drafts) == 1
        with exported_file(tmp_path / "another.csv", tmp_path / "no/ledger"):
            assert drafts[0].exists()
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {"next.csv", "another.csv", "download.part", ".assent-export-0123456789abcdef.part"}
    assert sweep_noted(notes) == 0 and not list(notes.iterdir()), "what it named is gone"


def test_a_start_removes_what_killed_exports_left_and_nothing_else(tmp_path: Path) -> None:
    notes, folder, away = tmp_path / "notes", tmp_path / "folder", tmp_path / "not mounted"
    for one in (notes, folder):
        one.mkdir()

    def note(name: str, path: Path) -> Path:
        (notes / name).write_bytes(os.fsencode(path))
        return path

    def draft(number: int, where: Path = folder) -> Path:
        return note(f"{number:016x}", where / f".assent-export-{number:016x}.part")

    draft(1).touch()
    note(f"{2:016x}", folder / "letter.txt").touch()
    draft(3).symlink_to(folder / "letter.txt")
    draft(4).mkdir()
    draft(5, away)
    draft(6, away)
    note(f"{7:016x}", folder / f".assent-export-{8:016x}.part").touch()
    os.utime(notes / f"{6:016x}", (0, 0))
    os.mkfifo(notes / "pipe")
    assert sweep_noted(notes) == 1
    assert {one.name for one in folder.iterdir()} == {
        "letter.txt",
        *(f".assent-export-{number:016x}.part" for number in (3, 4, 8)),
    }
    assert {one.name for one in notes.iterdir()} == {"pipe", *(f"{number:016x}" for number in (3, 4, 5))}
    assert sweep_noted(tmp_path / "none") == 0


def test_an_export_is_noted_while_it_is_written(tmp_path: Path) -> None:
    notes = tmp_path / "state/exports"
    with exported_file(tmp_path / "out.csv", tmp_path / "no/ledger", notes=notes):
        (one,) = notes.iterdir()
        assert os.fsdecode(one.read_bytes()) == str(tmp_path / f".assent-export-{one.name}.part")
    assert not list(notes.iterdir())
    (tmp_path / "file").touch()
    with exported_file(tmp_path / "two.csv", tmp_path / "no/ledger", notes=tmp_path / "file"):
        pass
    assert (tmp_path / "two.csv").exists(), "a note that cannot be written prevents nothing"


def test_memory_does_not_grow_with_the_history(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data/ledger.sqlite3"
    story: list[Any] = [step for n in range(60) for step in approved(request(f"r{n}", code="x" * 50_000))]
    write(path, story)
    for kind in ExportFormat:
        tracemalloc.start()
        HistoryExport(path, kind).write(tmp_path / f"out.{kind}")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # The buffer of the file, and a few requests at a time; all together hold 3 MB.
        assert peak < 2_500_000, (kind, peak)
