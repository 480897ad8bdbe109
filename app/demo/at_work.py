"""The second part of the demo: a program at work over a copy of a project, and what a person applies of it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from app.demo.stage import PATIENCE, READING, xdotool
from runner.gateway.own_command import own_program
from runner.model.errors import KnownError
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QWidget

    from app.demo.stage import Stage
    from app.work.panel import WorkPanel
    from runner.model.work import WorkSession

AGENT = '''\
"""Stands for an agent: it starts the shell as agents do, and waits before it ends until a person has looked."""
import pathlib, subprocess, sys, time

COMMANDS = [
    "ls -R",
    "sed -i 's/print(total(rows))/print(round(total(rows), 2))/' report.py",
    "printf 'from report import total\\\\n\\\\nassert total([1, 2]) == 3\\\\n' > test_report.py",
    "sh -c 'python3 -B test_report.py || true'",
    "curl -sS -m 5 https://files.example/rates.csv -o rates.csv",
    "rm -rf ~/.ssh notes",
    "printf 'check:\\\\n\\\\tpython3 -B test_report.py\\\\n' > Makefile",
]
for line in COMMANDS:
    subprocess.run(["bash", "-c", line], check=False)
    time.sleep(0.5)
sys.stdin.read()
'''
COMMANDS = 7
FILES = {
    "report.py": "def total(rows):\n    return sum(rows)\n\n\nif __name__ == '__main__':\n"
    "    rows = [float(line) for line in open('sales.csv')]\n    print(total(rows))\n",
    "sales.csv": "12.5\n7.25\n30\n",
    "notes/plan.md": "Round what is printed.\n",
}


async def work_on_a_project(stage: Stage, home: Path) -> None:
    """Start a program at work in a project, look at what it does, and apply what is ticked."""
    project = home / "sales-report"
    for name, text in FILES.items():
        make_folder((project / name).parent)
        (project / name).write_text(text)
    before = _tree(project)
    sys.stdout.write("a program works on a project with assent work:\n")
    async with _at_work(project, home / "bin" / "agent") as program:
        page: WorkPanel = await stage.until("the page Work shows it", lambda: _page(stage))
        await stage.until("a command is held until somebody answers", lambda: _held(page))
        await asyncio.sleep(READING)
        stage.shot("4-held")
        await stage.until("it can be refused", lambda: _held(page))
        # Its row moves where that of a refused host comes above it meanwhile: a click in this moment does not count.
        while place := stage.do(lambda: _held(page)):
            _click(place)
            await asyncio.sleep(READING)
        await stage.until("refused by a click of the mouse", lambda: _did_all(stage))
        await asyncio.sleep(READING)
        stage.shot("4-at-work")
        if _tree(project) != before:
            raise KnownError("The project was changed before anything was applied.")
        sys.stdout.write("  the project is as it was\n")
        program.stdin.close()  # type: ignore[union-attr]
        await asyncio.wait_for(program.wait(), PATIENCE)
    await stage.until("it has ended", lambda: _ended(stage))
    place = await stage.until("Apply can be pressed", lambda: _applied(page))
    await asyncio.sleep(READING)
    stage.shot("5-changes")
    _click(place)
    await stage.until("applied by a click of the mouse", lambda: page.changes.undo.isVisible())
    await asyncio.sleep(READING)
    stage.shot("6-applied")
    after = _tree(project)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    sys.stdout.write(f"  changed in the project: {', '.join(changed)}\n")
    if "report.py" not in changed or "Makefile" in changed:
        raise KnownError("Not what was ticked was applied.")


@asynccontextmanager
async def _at_work(project: Path, agent: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    agent.parent.mkdir()
    agent.write_text(f"#!{sys.executable}\n{AGENT}")
    agent.chmod(0o755)
    program = await asyncio.create_subprocess_exec(
        own_program(),
        "work",
        "--keep",
        "--show",
        str(agent.parent),
        "--",
        str(agent),
        cwd=project,
        stdin=subprocess.PIPE,
    )
    try:
        yield program
    finally:
        if program.returncode is None:
            program.terminate()
            await program.wait()


def _click(place: QPoint) -> None:
    xdotool("mousemove", str(place.x()), str(place.y()), "click", "1")


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- in the window's thread ----


def _page(stage: Stage) -> WorkPanel | None:
    stage.page("Work")
    stage.close_notices()
    page: WorkPanel = stage.console.window.page("Work")  # type: ignore[assignment]
    return page if page.shown else None


def _session(stage: Stage) -> WorkSession | None:
    return next(iter(stage.console.window.work.sessions), None)


def _did_all(stage: Stage) -> bool:
    session = _session(stage)
    return session is not None and session.command_count >= COMMANDS


def _ended(stage: Stage) -> bool:
    session = _session(stage)
    return session is not None and not session.at_work


def _held(page: WorkPanel) -> QPoint | None:
    """Return where to click to refuse the held command."""
    rows = [row for row in page.card.questions.held if row.isVisible() and row.refuse.isEnabled()]
    return _middle(rows[0].refuse) if rows else None


def _applied(page: WorkPanel) -> QPoint | None:
    """Return where to click for Apply, once it can be pressed."""
    button = page.changes.apply
    return _middle(button) if button.isVisible() and button.isEnabled() else None


def _middle(button: QWidget) -> QPoint:
    return button.mapToGlobal(button.rect().center())
