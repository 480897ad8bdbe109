"""The store of files that runs created: kept as long as it says, private, and never shown when altered."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from runner.audit.files.captures import Captures, read
from runner.audit.files.evidence import Evidence
from runner.model.errors import KnownError
from runner.model.result import CapturedFile
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = b"a,b\n1,2\n"
FILE = CapturedFile("table.csv", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.under(tmp_path)


@pytest.fixture
def captures(places: Places) -> Iterator[Captures]:
    captures = Captures(places)
    yield captures
    captures.close()


def keep(captures: Captures, *, lasting: bool, name: str = "r1") -> None:
    draft = captures.draft(name) / FILE.sha256
    draft.touch(0o600)
    draft.write_bytes(CONTENT)
    captures.keep(name, (FILE,), lasting=lasting)


@pytest.mark.parametrize("lasting", [True, False])
def test_kept_for_good_or_for_the_session(places: Places, captures: Captures, lasting: bool) -> None:
    keep(captures, lasting=lasting)
    assert read(places, FILE) == CONTENT
    assert not list(places.captures.rglob("run-*")), "the draft stayed"
    assert {path.stat().st_mode & 0o077 for path in places.captures.rglob("*")} == {0}
    captures.close()
    if lasting:
        assert read(places, FILE) == CONTENT
    else:
        with pytest.raises(KnownError, match="no longer there"):
            read(places, FILE)
    assert [path.name for path in places.captures.iterdir()] == ([FILE.sha256] if lasting else [])


def test_what_a_rehearsal_left_can_be_read_before_it_is_in_a_history(places: Places, captures: Captures) -> None:
    draft = captures.draft("r1") / FILE.sha256
    draft.write_bytes(CONTENT)
    assert read(places, FILE) == CONTENT
    draft.write_bytes(CONTENT[::-1])
    with pytest.raises(KnownError, match="altered"):
        read(places, FILE)
    captures.drop("r1")
    with pytest.raises(KnownError, match="no longer there"):
        read(places, FILE)


@pytest.mark.parametrize("other", [b"a,b\n1,3\n", b"a,b\n1,2\n!", b""])
def test_an_altered_file_is_never_shown(places: Places, captures: Captures, other: bytes) -> None:
    keep(captures, lasting=True)
    (places.captures / FILE.sha256).write_bytes(other)
    with pytest.raises(KnownError, match="altered after it was collected"):
        read(places, FILE)


def test_what_a_killed_console_left_goes_and_what_an_open_one_has_stays(places: Places, captures: Captures) -> None:
    keep(captures, lasting=False)
    dead = places.captures / "session-dead"
    dead.mkdir()
    (dead / "0").write_text("x")
    second = Captures(places)
    second.begin()
    assert not dead.exists()
    assert read(places, FILE) == CONTENT
    second.close()


def test_only_what_was_recorded_is_kept(places: Places, captures: Captures) -> None:
    (captures.draft("r1") / "other").write_bytes(b"x")
    captures.keep("r1", (FILE,), lasting=True)
    assert [path for path in places.captures.iterdir() if path.is_file()] == []


def finished(*files: CapturedFile) -> dict[str, object]:
    return {"files": [{"size": file.size, "sha256": file.sha256} for file in files]}


def test_verify_names_altered_files_once_and_no_missing_ones(places: Places, captures: Captures) -> None:
    keep(captures, lasting=True)
    gone = CapturedFile("gone", 1, "0" * 64)
    good = Evidence(places)
    good.check(7, finished(FILE, gone))
    assert good.summary == ""
    (places.captures / FILE.sha256).write_bytes(b"a,b\n1,3\n")
    bad = Evidence(places)
    bad.check(7, finished(FILE, gone))
    bad.check(9, finished(FILE))
    assert bad.summary.endswith(f"{FILE.sha256} (entry 7).")


@pytest.mark.parametrize(
    "body",
    [
        {"files": 3},
        {"files": [None, {"sha256": 3}, {"sha256": "../../agents.json"}]},
        {"artifact": 3, "artifact_sha256": "x"},
        {"artifact": "/etc/passwd", "artifact_sha256": 3},
        {"artifact": "/etc/passwd", "artifact_sha256": "x"},
    ],
)
def test_a_forged_entry_points_nowhere_else(places: Places, body: dict[str, object]) -> None:
    evidence = Evidence(places)
    evidence.check(1, body)
    assert evidence.summary == ""
