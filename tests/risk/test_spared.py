"""What the sentence says of names and ages that a `find` spares: where it holds, and nowhere else."""

from __future__ import annotations

import pytest

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess


def shell(code: str) -> str:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code)).verdict.sentence


FINDS = [
    ("find logs -mtime +7 -delete", "Deletes what is older than 7 days in “logs”."),
    ("find logs -name '*.log' -mmin +90 -delete", "Deletes what is named *.log and older than 90 minutes in “logs”."),
    ("find -L logs -mtime +7 -delete", "Deletes what is older than 7 days in “logs”."),
    (
        "find . -maxdepth 1 ! -name dist -mtime +7 -exec rm -rf {} +",
        "Deletes what is older than 7 days in its working folder, except “dist”.",
    ),
    ("find . -not -path './dist/*' -delete", "Deletes what it finds in its working folder, except ./dist/*."),
]
NOT_FOUND = [
    "find logs -delete -mtime +7",
    "find logs -mtime -7 -delete",
    "find logs ! -mtime +7 -delete",
    "find logs -mtime +7 -o -delete",
    "find logs -mtime +7 -o -name x -delete",
    r"find logs \( -mtime +7 -o -true \) -delete",
    "find logs ! -name dist -delete",
    "find . ! -path 'dist/*' -delete",
    "find . ! -path ./dist -delete",
    "find src . ! -path './dist/*' -delete",
    "find . -maxdepth 1 ! -name 'dist ' -delete",
    "find logs -maxdepth 1 -name dist -delete",
    "find * -mtime +7 -delete",
    'find "$1" -mtime +7 -delete',
    'find logs -mtime "+$1" -delete',
    "find logs -mtime +7 $1 -delete",
    "find logs -mtime +0 -delete",
    "find logs -mtime +7 -exec sh -c 'rm -rf logs/all' ';'",
    "find logs -mtime +7 -exec rm -rf {} ../other +",
]


@pytest.mark.parametrize(("code", "said"), FINDS)
def test_a_find_spares_what_its_tests_leave_out(code: str, said: str) -> None:
    assert shell(code) == said


@pytest.mark.parametrize("code", NOT_FOUND)
def test_a_find_spares_nothing_else(code: str) -> None:
    said = shell(code)
    assert "eletes" in said
    assert not any(word in said for word in (", except", " older than"))
