"""The verifier of exports, as a program without Assent, against bundles that were tampered with."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from runner.audit.export.exporting import ExportFormat, HistoryExport
from runner.audit.ledger.seal import Seal
from runner.model.request import canonical
from runner.system.places import resources
from tests.audit.story import KEY, approved, denied, request, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Lines = list[dict[str, Any]]
PUBLIC = Seal(KEY).public
PROGRAM = "assent_verify.py"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """A bundle of a ledger that was signed, as values."""
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "data").mkdir()
    path = folder / "data/ledger.sqlite3"
    write(path, [*approved(request("r1")), *denied(request("r2"))], KEY)
    HistoryExport(path, ExportFormat.ENTRIES).write(folder / "entries.jsonl")
    return [json.loads(line) for line in (folder / "entries.jsonl").read_text("ascii").splitlines()]


def checked(folder: Path, lines: Lines, *arguments: str, flags: tuple[str, ...] = ("-I",)) -> tuple[int, str]:
    """Run the verifier in a folder that holds nothing but it and the bundle."""
    shutil.copy(resources() / PROGRAM, folder)
    text = "".join(canonical(line).decode() + "\n" for line in lines)
    (folder / "entries.jsonl").write_text(text, "ascii")
    found = subprocess.run(
        [sys.executable, *flags, PROGRAM, "entries.jsonl", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not found.stderr, found.stderr
    return found.returncode, found.stdout


def chained(lines: Lines, seal: Seal | None = None) -> Lines:
    """Fit the hashes together again, as a forger would; with a key of theirs, sign everything again."""
    before = "0" * 64
    for line in lines[1:-1]:
        if seal and line["kind"] in ("key", "sealed"):
            body = {"public": seal.public} if line["kind"] == "key" else None
            body = body or {"key": seal.public, "signature": seal.sign(line["seq"] - 1, before)}
            line["body"] = canonical(body).decode()
        line["prev"] = before
        line["body_sha256"] = hashlib.sha256(line["body"].encode()).hexdigest()
        bound = {name: value for name, value in line.items() if name not in ("hash", "body")}
        before = line["hash"] = hashlib.sha256(canonical(bound)).hexdigest()
    head = lines[-1]["head"]
    head["seq"], head["hash"] = lines[-2]["seq"], before
    if seal:
        head["key"], head["signature"] = seal.public, seal.sign(head["seq"], before)
    return lines


def changed(lines: Lines, at: int = 5) -> None:
    lines[at]["body"] = lines[at]["body"].replace("{", '{"x":1,', 1)


def rewritten(lines: Lines) -> None:
    changed(lines)
    chained(lines)


def replaced(lines: Lines) -> None:
    """Entry 5 alone is made to fit."""
    changed(lines)
    lines[1:7] = chained([lines[0], *lines[1:6], {"head": {}}])[1:-1] + [lines[6]]


def reordered(lines: Lines) -> None:
    lines[5], lines[6] = lines[6], lines[5]


def cut_off(lines: Lines) -> None:
    del lines[-4:]


def shortened(lines: Lines) -> None:
    """The end is cut off, and the last line says what is there now."""
    del lines[9:-1]
    chained(lines)


def added(lines: Lines) -> None:
    lines.insert(-1, dict(lines[-2], seq=lines[-2]["seq"] + 1, kind="opened"))
    before = lines[-1]["head"].copy()
    chained(lines)
    lines[-1]["head"] = before


def test_what_was_not_touched_is_good(tmp_path: Path, bundle: Lines) -> None:
    head = bundle[-1]["head"]
    code, said = checked(tmp_path, bundle, "--key", PUBLIC, "--head", f"{head['seq']}:{head['hash']}")
    assert code == 0, said
    assert f"All {head['seq']} entries are as they were written." in said and PUBLIC in said


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (changed, "The body of entry 5 was changed."),
        (replaced, "Entry 5 was replaced: entry 6 follows from another one."),
        (reordered, "Entry 5 is missing or out of order: entry 6 is in its place."),
        (cut_off, "is missing: the end was cut off."),
        (rewritten, "has a signature that does not fit"),
        (shortened, "Entry 8, the last, has a signature that does not fit."),
        (added, "was not written by Assent."),
    ],
)
def test_the_first_broken_entry_is_named(
    tmp_path: Path, bundle: Lines, tamper: Callable[[Lines], None], said: str
) -> None:
    lines = json.loads(json.dumps(bundle))
    tamper(lines)
    code, found = checked(tmp_path, lines)
    assert (code, said in found) == (1, True), found


def test_a_history_signed_again_is_known_by_the_key_and_by_the_head(tmp_path: Path, bundle: Lines) -> None:
    lines = json.loads(json.dumps(bundle))
    changed(lines)
    chained(lines, Seal(bytes(32)))
    code, said = checked(tmp_path, lines)
    assert code == 2 and "No --key was given" in said
    code, said = checked(tmp_path, lines, "--key", PUBLIC)
    assert code == 1 and "Entry 1 is the first that --key did not sign" in said
    (tmp_path / "head.json").write_bytes(canonical(bundle[-1]) + b"\n")
    code, said = checked(tmp_path, lines, "--head", "head.json")
    assert code == 1 and "is not the one that was noted" in said


def test_an_end_that_was_cut_at_a_signed_place_is_known_by_the_head(tmp_path: Path, bundle: Lines) -> None:
    """The signature in an entry is good for the one before it: without more, that is a whole history."""
    lines = json.loads(json.dumps(bundle))
    sealed = next(place for place, line in enumerate(lines) if line.get("kind") == "sealed")
    seal, before = json.loads(lines[sealed]["body"]), lines[sealed - 1]
    head = {"seq": before["seq"], "hash": before["hash"], **{name: seal[name] for name in ("key", "signature")}}
    lines[sealed:] = [{"head": head}]
    assert checked(tmp_path, lines, "--key", PUBLIC)[0] == 0
    was = bundle[-1]["head"]
    code, said = checked(tmp_path, lines, "--key", PUBLIC, "--head", f"{was['seq']}:{was['hash']}")
    assert code == 1 and f"Entry {head['seq'] + 1} is missing: entries up to {was['seq']} were noted." in said


def test_without_cryptography_the_hashes_are_checked_and_that_is_said(tmp_path: Path, bundle: Lines) -> None:
    code, said = checked(tmp_path, bundle, "--key", PUBLIC, flags=("-I", "-S"))
    assert code == 2 and "`cryptography` is not installed" in said and "signed by" not in said
    lines = json.loads(json.dumps(bundle))
    changed(lines)
    code, said = checked(tmp_path, lines, flags=("-I", "-S"))
    assert code == 1 and "The body of entry 5 was changed." in said


def test_two_ways_to_read_a_line_are_refused(tmp_path: Path, bundle: Lines) -> None:
    assert checked(tmp_path, bundle)[0] == 2
    path = tmp_path / "entries.jsonl"
    path.write_text(path.read_text().replace('"kind":"genesis"', '"kind":"x","kind":"genesis"', 1))
    found = subprocess.run(
        [sys.executable, "-I", PROGRAM, path.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1 and "Line 2 (after entry 0) is not in the form" in found.stdout
