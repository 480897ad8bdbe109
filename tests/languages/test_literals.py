"""No word of the window escapes the catalogues."""

from __future__ import annotations

import ast

from tests.languages.literals import literals
from tests.languages.texts import ROOT

FILES = {
    "app/demo/": "what the demonstration prints on the terminal and has its agents send",
    "app/start/selftest.py": "printed on the terminal",
    "app/start/opening.py": "printed on the terminal, where no window can be opened",
    "app/start/single.py": "printed on the terminal, where no window can be opened",
    "app/start/login.py": "what is written into the file of the desktop",
    "app/look/look.py": "names of fonts",
    "app/files/vector.py": "names of fonts, and a picture",
}
"""Files whose literals nobody reads in the window, and why."""
TEXTS = {
    "app/agents/model.py": {"Today", "Hours", "State", "Refused"},  # keys of columns
    "app/agents/panel.py": {"Added", "Hours"},  # keys of columns
    "app/agents/settings.py": {" MB"},  # units
    "app/chrome/banners.py": {"refused ", "sandbox chosen"},  # names of notices
    "app/chrome/pages.py": {"Queue"},  # names of pages
    "app/chrome/window.py": {"Queue", "Running", "Work", "first steps", "Assent", ") Assent"},
    "app/files/apart.py": {" MB"},
    "app/first_start/isolation.py": {"sudo ", "assent "},  # beginnings of commands
    "app/first_start/panel.py": {" work claude"},
    "app/help/panel.py": {"Assent "},
    "app/history/exporting.py": {"JSON Lines (*.jsonl)"},  # the name of a format
    # What is recorded or reported, in English as the engine writes it.
    "app/link/bridge.py": {
        "Stopped by a person.",
        "A person removed it.",
        "Revoked by a person.",
        "in the engine, asked by the window",
    },
    "app/link/page_tasks.py": {"in the task "},
    "app/notify/desktop.py": {"Assent"},
    "app/notify/notices.py": {"work ", "refused ", "connected "},  # names of notices
    "app/packages/words.py": {"PyPI"},
    "app/parts/gauges/timeline.py": {" min"},
    "app/parts/plain.py": {'<span style="white-space: pre-wrap">'},
    "app/parts/text/code_tools.py": {"About line ", " of your code:\n"},  # what an agent gets
    # What an agent gets.
    "app/phrases.py": {
        "Denied by a person.",
        'print("Assent works: this was shown to you before it ran.")\n',
        "Test request, sent from this window",
    },
    "app/review/denial.py": {
        "Not needed for the task.",
        "Too risky: choose a narrower way.",
        "Explain first what this is for.",
        "Do not use the network.",
    },
    "app/review/limits.py": {" MB", " KB"},
    "app/settings/panel.py": {"Ctrl+S", "Ctrl+F"},  # what is pressed
    "app/settings/removing.py": {" MB"},
    "app/settings/words.py": {"JavaScript", "Bash", "English", "Deutsch"},  # each in its own
    "app/start/crash.py": {"in Qt"},
    "app/start/leave.py": {"The console was closed. Ask again when it is back."},  # what an agent gets
    "app/state/allowances.py": {" MB"},
    "app/today/overview.py": {"1–2 min", "2–8 min", ">8 min"},
    "app/today/panel.py": {"First steps"},  # the name of a page
    "app/work/change_rows.py": {"left out"},  # a kind of row
    "app/work/session_card.py": {"Ended by a person in the window."},  # what an agent gets
    "app/work/starting.py": {"cd "},
    "app/work/words.py": {" min"},
}
"""Literals that are the same in every language, or that nobody reads in the window."""
UNSHOWN = ("import sys; ", "# Rules, checked ", 'cd -- "$1"', "Ctrl+", "Alt+")
"""How what is run, written or pressed begins."""
KEYS = "app/chrome/keys.py"
"""Its keys go through `key_text`."""


def test_no_literal_escapes() -> None:
    escaped = []
    for file in sorted((ROOT / "app").rglob("*.py")):
        place = file.relative_to(ROOT).as_posix()
        if place.startswith(tuple(FILES)) or place == KEYS:
            continue
        escaped += [
            f"{place}:{line}: {text}"
            for line, text in literals(ast.parse(file.read_text("utf-8")))
            if text not in TEXTS.get(place, ()) and not text.startswith(UNSHOWN)
        ]
    assert escaped == [], "put these through `tr`, or name them here with the reason"


def test_every_exception_is_one() -> None:
    unused = {name for name in FILES if not any(ROOT.glob(f"{name.rstrip('/')}*"))}
    for place, texts in TEXTS.items():
        found = {text for _, text in literals(ast.parse((ROOT / place).read_text("utf-8")))}
        unused |= {f"{place}: {text}" for text in texts - found}
    assert unused == set()


def test_the_search_finds_what_it_is_for() -> None:
    code = '''
"""A sentence about the module."""
button.setText("save")
label = QLabel(f"{count} files")
words = "Not found" if nothing else tr("Found")
name = tr("Deny {what}", what="twice")
page = shelf.page("Two words")
if state == "Not this": pass
'''
    assert sorted(text for _, text in literals(ast.parse(code))) == [" files", "Not found", "save", "twice"]
