"""The pages of the help; the page on settings is made from their declarations."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from runner.settings.declaration import Kind
from runner.settings.declared import declared
from runner.settings.levels import level_values
from runner.settings.module_lists import LEVELS as IMPORTABLE
from runner.system.places import resources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.settings.declaration import Declared

LEVELS = ("permissive", "standard", "strict")
HEAD = """\
# Settings

The page *Settings* changes them. They are kept in `assent.yaml` in Assent's configuration folder, which is
`~/.config/assent` unless `XDG_CONFIG_HOME` or `ASSENT_HOME` says otherwise. Your comments in the file stay.

What counts, strongest first:

1. an environment variable,
2. the file,
3. the security level,
4. the default.

A name below such as `gateway.port` stands for names below one another in the file:

```
schema: 1
gateway:
  port: 17317
```

What is misspelled, written twice or out of bounds is reported with its line, here and by `assent doctor`. Until it is
corrected its default counts and **every request asks you**; programs that use Assent as a library ask nobody, so they
run nothing. Settings marked *next start* count once Assent is started again; others count for the next request.

Your own rules are in `rules.yaml` beside this file; see [Security](security.md).
"""
IDLE = """
## Known and without effect

These are checked and kept, and do nothing.
"""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its name, and its file in `resources/help`."""

    title: str
    file: str

    @property
    def path(self) -> Path:
        return resources() / "help" / self.file

    def text(self) -> str:
        """Markdown. Raises OSError where this Assent lacks the file."""
        return self.path.read_text("utf-8")

    def headings(self) -> tuple[str, ...]:
        """Return the headings of its parts as they are shown; none where this Assent lacks the file."""
        try:
            lines = self.text().split("\n")
        except OSError:
            return ()
        return tuple(line.removeprefix("## ").replace("`", "") for line in lines if line.startswith("## "))


PAGES = (
    Page("Getting started", "getting-started.md"),
    Page("Work on a project", "work.md"),
    Page("Security", "security.md"),
    Page("Settings", "settings.md"),
    Page("Network and packages", "network.md"),
    Page("Beyond this machine", "beyond.md"),
    Page("Languages of code", "code-languages.md"),
    Page("Write a sandbox", "sandboxes.md"),
    Page("History and Today", "history.md"),
    Page("Python", "python.md"),
    Page("Commands", "commands.md"),
    Page("Languages", "languages.md"),
    Page("Speed", "speed.md"),
)


def settings_page() -> str:
    """Return the page on settings, in Markdown."""
    working = [one for one in declared() if not one.idle]
    groups = groupby(working, key=lambda one: one.group)
    parts = [HEAD, *(f"\n## {group}\n{''.join(map(_entry, found))}" for group, found in groups), _levels(), IDLE]
    return "".join([*parts, *map(_entry, (one for one in declared() if one.idle))])


def _entry(one: Declared) -> str:
    names = ", ".join(f"`{name}`" for name in (*one.yaml[1:], *one.environment))
    facts = [f"Default: {_code(one)}.", *_bounds(one), *(["Next start."] if one.restart else [])]
    entry = textwrap.fill(f"{one.sentence} {' '.join(facts)} Also: {names}.", 118, break_on_hyphens=False)
    return f"\n### {one.yaml[0]}\n\n{entry}\n"


def _code(one: Declared) -> str:
    shown = one.shown(one.default)
    return shown if one.kind is Kind.BOOL or shown in ("not set", "none") else f"`{shown}`"


def _bounds(one: Declared) -> list[str]:
    if one.choices:
        words = ", ".join(f"`{choice}`" for choice in one.choices)
        working = ((word, choice) for word, choice in one.synonyms if choice in one.choices)
        synonyms = "; ".join(f"`{word}` means `{choice}`" for word, choice in working)
        many = "Any of" if one.kind is Kind.LIST else "One of"
        named = f", or `{one.named}` and the name of what an installed package brings" if one.named else ""
        return [f"{many} {words}{f' ({synonyms})' if synonyms else ''}{named}."]
    if one.minimum is not None and one.maximum is not None:
        return [f"From {one.minimum:,.10g} to {one.maximum:,.10g}."]
    return []


def _levels() -> str:
    """Return what each security level sets."""
    lines = [f"- **{level}**: {', '.join(_set_by(level)) or 'the defaults above'}." for level in LEVELS]
    table = "\n".join(lines)
    only = ", ".join(IMPORTABLE["strict"])
    return (
        f"\n## Security levels\n\nA level sets what nothing stronger sets.\n\n{table} Python may import only {only}.\n"
    )


def _set_by(level: str) -> Iterator[str]:
    known = {one.name: one for one in declared()}
    for name, value in level_values(level).items():
        # The number of cores depends on the machine, not on the one that makes this page.
        shown = "all" if (level, name) == ("permissive", "cpu_cores") else known[name].shown(value)
        yield f"`{known[name].yaml[0]}` {shown}"


if __name__ == "__main__":
    sys.stdout.write(settings_page())
