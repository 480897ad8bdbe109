"""The examples of the help: each is on its page as it is in its file, and does what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from runner.system.places import resources

FOLDER = resources() / "help" / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
PRINTS = {
    "once": "6 from the caller",
    "kept": "6 numbers.txt",
    "asking": "hello\nNothing was run.",
    "levels": "True 3",
    "tables": "Oslo     15",
}


def test_every_example_is_on_the_page_and_the_page_has_no_other() -> None:
    page = (resources() / "help" / "python.md").read_text()
    shown = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert sorted(shown) == sorted(one.read_text() for one in EXAMPLES)
    assert {one.stem for one in EXAMPLES} == PRINTS.keys()


@pytest.mark.parametrize("name", PRINTS)
def test_an_example_does_what_it_shows(name: str) -> None:
    if name == "tables":
        pytest.importorskip("pandas")
    environment = dict(os.environ)
    if python := os.environ.get("PANDAS_PYTHON"):
        environment["ASSENT_PYTHON"] = python
    ran = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py"],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert PRINTS[name] in ran.stdout
