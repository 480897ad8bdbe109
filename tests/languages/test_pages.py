"""In another language the pages hold what they hold in English: no text is the key of anything."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.languages.catalogues import FOLDER
from tests.languages.texts import ROOT
from tests.patience import HANGS

SCENES = (
    "today",
    "queue-many",
    "queue-limited",
    "running",
    "history",
    "history-compare",
    "agents",
    "rules",
    "rules-offers",
    "settings",
    "palette",
)


def shapes(language: str) -> dict[str, object]:
    run = subprocess.run(
        [sys.executable, "-m", "tests.languages.shape", language, *SCENES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=20 * HANGS,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    found: dict[str, object] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("language", sorted(file.stem for file in FOLDER.glob("*.po")))
def test_pages_hold_the_same_in_every_language(language: str) -> None:
    with ThreadPoolExecutor() as threads:
        english, other = threads.map(shapes, ("en", language))
    for name in SCENES:
        assert other[name] == english[name], name
    assert all(any(rows for _, rows in english[name]["rows"]) for name in ("history", "agents", "palette"))  # type: ignore[index]
