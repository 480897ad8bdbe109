"""`python -m tests.bench.speed_page > resources/help/speed.md`: the page of the help on speed, from the last run.

`make bench` without names writes it at its end. What was not measured there is named as such and has no figure.
"""

from __future__ import annotations

import json
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RESULT = Path("build/bench.json")
PAGE = Path("resources/help/speed.md")
BUSY = 0.5
"""Load average for each processor, before or after, from which on a machine is said to have been busy."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the page: what a person does, and the row of the bench that says how long that takes."""

    does: str
    row: str
    beside: str = ""
    """What the floor of the row is: what they would use otherwise; "" where there is nothing to compare with."""
    swapped: bool = False
    """Whether the floor of the row is Assent, and its figure what they would use otherwise."""


@dataclass(frozen=True, slots=True)
class Part:
    heading: str
    lines: tuple[Line, ...]


def _contained(kind: str, name: str) -> tuple[Line, ...]:
    return (
        Line(f"Python in {name}, a fresh container", f"{kind} run, cold (p50)", "the same by the engine's own API"),
        Line(f"Python in {name}, fresh, beside llm-sandbox", f"llm-sandbox on {kind}, cold, until removed",
             "llm-sandbox, until removed", swapped=True),
        Line(f"Python in {name}, one that waits already", f"{kind} run, warm, submit to exit and removed (p50)",
             "the same by the engine's own API"),
        Line(f"20 at once in {name}", f"{kind} runs, 20 at once, cold", "the same by the engine's own API"),
    )  # fmt: skip


PARTS = (
    Part(
        "Running code",
        (
            Line("Python in the local sandbox", "local run, python, bubblewrap (p50)", "the interpreter, no sandbox"),
            *_contained("docker", "Docker"),
            *_contained("gvisor", "gVisor of an engine"),
            Line("Python in gVisor without an engine, fresh", "gvisor-direct run, cold, against runsc by hand (p50)",
                 "`runsc run` by hand"),
            Line("20 at once in gVisor without an engine", "gvisor-direct runs, 20 at once, cold",
                 "`runsc run` by hand"),
        ),
    ),
    Part(
        "What an agent waits for",
        (
            Line("A call that asks nobody and runs nothing, HTTP", "HTTP: a call that needs nobody (p50)",
                 "an MCP server that does nothing"),
            Line("The same through `assent mcp`", "stdio bridge: a call that needs nobody (p50)",
                 "an MCP server that does nothing"),
            Line("A call that runs remembered code", "HTTP: a call that runs remembered code (p50)",
                 "the run alone, and that server"),
            Line("`assent mcp`, from start to `initialize`", "assent mcp answers initialize (p50)", "`python -c pass`"),
            Line("A hook about a tool that nobody is asked about",
                 "a hook about a tool that nobody is asked about (p50)", "a shell that does nothing"),
            Line("A hook that asks you, until it asks", "a hook that starts Python, without the question (p50)",
                 "`python -c pass`"),
            Line("Approval to answer in a kept sandbox, with Undo",
                 "kept sandbox of 1,000 files, approval to answer, with Undo (p50)", "without Undo"),
        ),
    ),
    Part(
        "The window",
        (
            Line("From start to the first window", "first window painted (p50)", "an empty window of Qt"),
            Line("Work while nothing happens", "idle console", "an empty window of Qt"),
            Line("Today, opened, with 100,000 entries", "opening Today"),
            Line("Today, updated", "one update of Today"),
            Line("The first page of the history", "first page of the history"),
            Line("A search of the history", "search of the history"),
        ),
    ),
)  # fmt: skip

HEAD = """\
# Speed

What to expect, beside what you would use otherwise: both were measured in the same run, in turns, on the same machine.
Figures in milliseconds depend on the machine; the last column hardly does. Figures are medians unless they say p95.
"""
E2B = """
## E2B's own service

Not measured here, as it needs an account and depends on your line to it. E2B's documentation says that a sandbox of its
service "can be started very quickly (~150ms)" (`e2b.dev/docs`); each call to it takes the way there and back as well.
"""
HOW = """
## How it was measured

`make bench` in a checkout measures all of this and more, and writes this page. In each row Assent and what is beside
it do the same in turns, so that both meet the same machine: the code prints one line, the images and limits are the
same, and the containers are removed. llm-sandbox is installed as its users install it, and its containers have no
limits. A row that starts processes counts from the call until the result is there, and where it says so until all is
removed.
"""


def page(result: Mapping[str, Any]) -> str:
    """Return the page in Markdown. `result` is what `make bench` left in `build/bench.json`.

    Raises KeyError where that is of an older bench, which did not say when and where it was.
    """
    rows = {str(row["name"]): row for row in result["rows"]}
    missing: list[str] = []
    parts = [HEAD, f"\n{_where(result)}\n"]
    for part in PARTS:
        lines = [*_lines(part.lines, rows, missing)]
        if lines:
            parts += [f"\n## {part.heading}\n\n| | Assent | beside it | |\n|---|---|---|---|\n", *lines]
    parts += [E2B, HOW]
    if missing:
        said = f"Not measured in that run: {'; '.join(missing)}."
        parts.append(f"\n{_filled(said)}\n")
    return "".join(parts)


def _where(result: Mapping[str, Any]) -> str:
    cores, before, after = int(result["cores"]), str(result["load_before"]), str(result["load_after"])
    said = (
        f"Measured on {result['date']} on {result['processor']}, {cores} processors, {result['memory_gb']} GB, "
        f"{result['system']}. Load average before {before}, after {after}."
    )
    # The load that the bench itself makes stays for minutes: the one before it counts.
    if float(before.split()[0]) > BUSY * cores:
        said += " **The machine had other work to do**: these figures say little until it is measured on a quiet one."
    return _filled(said)


def _filled(text: str) -> str:
    return textwrap.fill(text, 118, break_on_hyphens=False, break_long_words=False)


def _lines(lines: Sequence[Line], rows: Mapping[str, Any], missing: list[str]) -> Iterator[str]:
    for line in lines:
        row = rows.get(line.row)
        if row is None or row["failed"] or row["skipped"]:
            missing.append(line.does)
            continue
        value, floor, unit = float(row["value"]), row["floor"], str(row["unit"])
        ours, theirs = (float(floor), value) if line.swapped and floor else (value, floor)
        beside = f"{_figure(float(theirs), unit)}, {line.beside}" if theirs and line.beside else ""
        ratio = f"{ours / float(theirs):.2f}x" if beside and theirs else ""
        yield f"| {line.does} | {_figure(ours, unit)} | {beside} | {ratio} |\n"


def _figure(value: float, unit: str) -> str:
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{shown} {unit}"


def main() -> int:
    """Print the page; 1 where there was no run."""
    if not RESULT.exists():
        print(f"There is no {RESULT}. Run `make bench` first.", file=sys.stderr)
        return 1
    print(page(json.loads(RESULT.read_text())), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
