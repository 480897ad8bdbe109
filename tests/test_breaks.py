"""Every finding of the attacks has a break or a reason, each break fits the file of today, and its tests exist."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

from tests.breaks.book import FOLDER, Break, Reason, read
from tests.breaks.stage import Run, judged, not_green

ROOT = Path(__file__).resolve().parent.parent
FINDINGS = {
    "attacks.toml": [str(number) for number in range(1, 15)],
    "gallery.toml": [f"gallery-{number}" for number in range(1, 10)],
    "gvisor.toml": [f"gvisor-{number}" for number in range(1, 13)],
    "functional.toml": [f"F{number}" for number in range(1, 13) if number != 7],
    "reliability.toml": [f"R{number}" for number in range(1, 26)],
    "client_tools.toml": [f"A3-{number}" for number in (1, 3, 4, 8, 9, 10, "S2", "S3", "S4", "S5")],
    "hooks26.toml": [f"H26-{number}" for number in range(1, 10)],
    "network.toml": ["third-7", "third-12", *(f"way-{number}" for number in range(1, 7))],
    "pictures.toml": ["S1", "third-11", "N7", "N8", "N12"],
    "page.toml": [f"page-{number}" for number in range(1, 13)],
    "work_hostile.toml": [f"hostile-{number}" for number in range(1, 16)],
    "lighter.toml": [f"lighter-{number}" for number in range(1, 4)],
    "looked.toml": [f"looked-{number}" for number in range(1, 9)],
    "door.toml": [f"door-{number}" for number in range(1, 6)],
    "newcomer26.toml": [f"new26-{number}" for number in range(1, 18)],
    "newcomer29.toml": ["new29-1", "new29-2", "new29-3"],
    "changes.toml": [f"changes-{number}" for number in range(1, 22)],
    "seccomp.toml": [f"seccomp-{number}" for number in range(1, 17)],
    "large.toml": [f"large-{number}" for number in range(1, 5)],
    "languages.toml": [f"language-{number}" for number in range(1, 8)],
    "quick.toml": [f"quick-{number}" for number in range(1, 5)],
    "house.toml": [f"house-{number}" for number in range(1, 5)],
    "drawn.toml": [f"drawn-{number}" for number in range(1, 8)],
    "past.toml": [f"past-{number}" for number in range(1, 16)],
    "calm.toml": [f"stopped-{number}" for number in range(1, 6)],
    "seen.toml": [f"seen-{number}" for number in range(1, 9)],
    "rest.toml": ["S6", "N12-gauges", "further-search"],
    "reading.toml": [
        *(f"read-{number}" for number in range(1, 20)),
        *(f"honest-{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8)),
        *(f"blind-{number}" for number in range(1, 5)),
        *(f"calm-{number}" for number in range(1, 15)),
    ],
    "read.toml": [*(f"proof-{number}" for number in range(1, 6)), *(f"told-{number}" for number in range(1, 5))],
    "said.toml": [f"said-{number}" for number in range(1, 6)],
    "quiet.toml": [f"quiet-{number}" for number in range(1, 12)],
    "grammar.toml": [f"grammar-{number}" for number in range(1, 11)],
    "read2.toml": [f"read2-{number}" for number in range(1, 11)],
    "by_name.toml": [f"by-name-{number}" for number in range(1, 15)],
    "learning.toml": [f"learning-{number}" for number in range(1, 9)],
    "nmend.toml": [f"NMEND-{number}" for number in range(1, 10)],
    "compiled.toml": [f"compiled-{number}" for number in range(1, 12)],
    "trial.toml": [f"trial-{number}" for number in range(1, 21)],
    "whole.toml": [f"whole-{number}" for number in range(1, 8)],
    "library.toml": ["N3", "N4", "N5", "N9", "N10", "N11", "N12-library", "S2"],
    "execute.toml": [f"execute-{number}" for number in range(1, 15)],
    "atwork.toml": [f"atwork-{number}" for number in range(1, 17)],
    "sandboxes.toml": [
        "N1",
        "N2",
        "N6",
        "N12-kill",
        "N12-node",
        "N12-shell-packages",
        "N12-info",
        "N12-images",
        "N12-packages",
        "N12-prune",
        "N12-help",
        "N12-pull",
        "N12-folder",
    ],
    "results.toml": [f"results-{number}" for number in range(1, 8)],
    "runs_read.toml": [f"runs-{number}" for number in range(1, 8)],
    "terminal.toml": [f"terminal-{number}" for number in range(1, 9)],
    "merge.toml": [f"merge-{number}" for number in range(1, 13)],
    "further.toml": ["further-1", "further-2", "further-3", "further-4", "further-5", "further-6"],
    "readjs.toml": [f"readjs-{number}" for number in range(1, 9)],
    "meant.toml": [f"meant-{number}" for number in range(1, 10)],
    "attack26.toml": [f"ring-{number}" for number in range(1, 9)],
    "attack27.toml": [f"attack27-{number}" for number in range(1, 14)],
    "engines.toml": [f"engines-{number}" for number in range(1, 13)],
    "attack28.toml": [f"attack28-{number}" for number in range(1, 15)],
    "one_word.toml": ["one-word-1"],
    "fast.toml": [f"fast-{number}" for number in range(1, 9)],
    "suite.toml": ["suite-1", "suite-2"],
    "speed.toml": [f"speed-{number}" for number in range(2, 12)],
    "fifth.toml": [f"fifth-{number}" for number in range(1, 15)],
    "marks.toml": [f"marks-{number}" for number in range(1, 12)],
    "e2b.toml": [f"e2b-{number}" for number in range(1, 43)],
    "plugin.toml": [f"plugin-{number}" for number in range(1, 10)],
    "held.toml": [f"held-{number}" for number in range(1, 23)],
    "window.toml": [f"window-{number}" for number in range(1, 24)],
    "xmend.toml": [f"xmend-{number}" for number in range(1, 8)],
    "tmend.toml": [f"tmend-{number}" for number in range(1, 18)],
    "first_hour.toml": [f"hour-{number}" for number in range(1, 10)],
    "words.toml": [f"words-{number}" for number in range(1, 15)],
    "clients26.toml": [f"W-{name}" for name in ("home", "log-in", "link", "secrets", "shell", "hook")],
    "loop.toml": [f"loop-{number}" for number in range(1, 4)],
    "not_bash.toml": [f"not-bash-{number}" for number in range(1, 5)],
    "self_test_e2b.toml": ["self-test-e2b-1"],
    "asked.toml": [f"asked-{number}" for number in range(1, 14)],
    "last_look.toml": [f"last-{number}" for number in range(1, 7)],
}
"""Each file, and the findings that it has to speak of."""
REPORT = """<testsuites><testsuite>
<testcase classname="tests.a.test_b" name="test_one"/>
<testcase classname="tests.a.test_b" name="test_one_more[1 - 2]"><failure message="no"/></testcase>
<testcase classname="tests.a.test_b" name="test_one_more[3]"/>
<testcase classname="tests.a.test_b" name="test_two"><skipped/></testcase>
<testcase classname="tests.a.test_b" name="test_five[1]"><skipped/></testcase>
<testcase classname="tests.a.test_b" name="test_five[2]"/>
<testcase classname="tests.a.test_b" name="test_three"><failure/></testcase>
<testcase classname="tests.a.test_b" name="test_three"><error/></testcase>
</testsuite></testsuites>"""


@functools.cache
def entries() -> tuple[list[Break], list[Reason]]:
    return read()


@functools.cache
def functions(file: str) -> set[str]:
    """What is defined in a file of tests."""
    body = ast.parse((ROOT / file).read_text("utf-8")).body
    return {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


FILES = sorted(path.name for path in FOLDER.glob("*.toml"))


def test_there_is_a_file_for_each_part() -> None:
    assert {*FILES} == {*FINDINGS}


@pytest.mark.parametrize("file", FILES)
def test_every_finding_has_a_break_or_a_reason(file: str) -> None:
    breaks, reasons = read([FOLDER / file])
    assert {one.finding for one in breaks} | {one.finding for one in reasons} == {*FINDINGS[file]}
    assert not {one.finding for one in breaks} & {one.finding for one in reasons}
    assert all(one.why for one in reasons)


def test_each_text_to_break_stands_once_in_its_file() -> None:
    for one in entries()[0]:
        one.without_mend((ROOT / one.file).read_text("utf-8"))


def test_the_tests_named_there_exist() -> None:
    named = {tuple(test.partition("[")[0].split("::")) for one in entries()[0] for test in one.tests}
    assert not {(file, name) for file, name in named if name not in functions(file)}


def test_a_text_that_stands_twice_or_not_at_all_is_no_break() -> None:
    one = Break("1", "It was possible.", "a.py", "old", "new", ("tests/a.py::test",))
    assert one.without_mend("an old text") == "an new text"
    for text in ("old and old", ""):
        with pytest.raises(ValueError, match="the text to break stands"):
            one.without_mend(text)


def test_only_what_failed_is_red(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT, "utf-8")
    run = judged(1, "", report)
    test = "tests/a/test_b.py::test_"
    assert run.red == (f"{test}one_more[1 - 2]", f"{test}three")
    ids = [f"{test}{name}" for name in ("one", "one_more", "one_more[3]", "five", "two", "three", "four")]
    assert not_green(run, ids) == [ids[1], *ids[4:]]
    assert judged(2, "it cannot be collected", tmp_path / "none.xml") == Run(2, said="it cannot be collected")
