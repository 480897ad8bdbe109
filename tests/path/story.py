"""A real agent plots a CSV with a package and reaches two hosts; a person reads, approves and allows with real input.

`python -m tests.path.story WAY SANDBOX` plays it on the screen of DISPLAY; the last line that it prints is JSON with
what the agent and the person saw. With `--real PACKAGES` what is plotted with comes from the registries of this
machine in place of a stand-in on loopback, and with `--shots FOLDER` pictures are taken at two sizes, light and dark.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.demo.stage import PATIENCE, play, xdotool
from app.host_access.dialog import AllowDialog
from app.host_access.hosts import ASKING
from app.look.look import Theme
from app.running.panel import RunningPanel
from runner.gateway.snippets import configurations
from runner.model.assessment import Level
from runner.network.registries import of_this_machine
from tests.path.mock_model import SAID, TOOL, serving
from tests.path.programs import WAYS, started
from tests.path.stand_ins import ALLOWED, CHART, PLOT, REAL_PLOT, REFUSED, registry_and_hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtCore import QRect
    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QAbstractItemView, QTabWidget, QWidget

    from app.demo.stage import Stage
    from app.files.picture import PictureView
    from app.review.panel import ReviewPanel

PROMPT = "Plot visitors.csv with pandas, then fetch the two pages."
SETTINGS = {
    "ASSENT_PORT": "0",
    "ASSENT_COMPACT_PROMPT": "false",
    "ASSENT_SECRETS_FILE": "true",
    "ASSENT_WEAKEST_ISOLATION_CRITICAL": "local",
    "ASSENT_WINDOW_CRITICAL": "400",
    "ASSENT_WINDOW_HIGH": "400",
    "ASSENT_MEMORY_MB": "1024",
}
SIZES = ((960, 600), (1280, 800))
FETCH = """\
import os, time, urllib.request

def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return len(answer.read(100_000))
    except OSError as error:
        return print("  refused:", error, flush=True)

print("allowed:", fetch("{allowed}"), "bytes", flush=True)
while (got := fetch("{refused}")) is None:
    time.sleep(1)
print("allowed later:", got, "bytes")
"""
"""It tries until a person lets it."""


@dataclass
class Walk:
    """One way through the story, and what was seen on it."""

    way: str
    packages: Sequence[str]
    plot: str
    urls: tuple[str, str]
    shots: Path | None
    seen: dict[str, Any] = field(default_factory=dict)

    def calls(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        """What the model makes the agent do."""
        allowed, refused = self.urls
        plot = {"language": "python", "title": "Plot visitors.csv", "code": self.plot, "packages": list(self.packages)}
        fetch = {
            "language": "python",
            "title": "Fetch two pages",
            "code": FETCH.format(allowed=allowed, refused=refused),
        }
        network = {"network_enabled": True, "allowed_domains": [_host(allowed)], "timeout": 200}
        return (TOOL, plot | {"timeout": 200}), (TOOL, fetch | network)


async def perform(stage: Stage, walk: Walk) -> None:
    """Play the story; raises where something is not as it should be."""
    address = await stage.until("the console is open", lambda: stage.console.cases.address)
    xdotool("windowfocus", str(stage.do(lambda: int(stage.console.window.winId()))))
    token = await asyncio.wrap_future(stage.console.host.call(lambda engine: engine.membership.add(walk.way)))
    bridge = f"env ASSENT_HOME={os.environ['ASSENT_HOME']} {sys.executable} -m app"
    offered = configurations(walk.way, token, address, bridge)
    configured = next(snippet.text for snippet in offered if snippet.client == WAYS[walk.way])
    with tempfile.TemporaryDirectory(prefix="assent-story-") as folder, serving(*walk.calls()) as model:
        async with started(walk.way, Path(folder), model, configured, PROMPT) as process:
            try:
                await _plot(stage, walk)
                await _fetch(stage, walk)
            except BaseException:
                stage.shot("story-failed")
                raise
            async with asyncio.timeout(PATIENCE):
                out, err = await process.communicate()
        walk.seen |= {"answers": model.answers, "said": out.decode(), "code": process.returncode, "err": err.decode()}
    assert walk.seen["said"].startswith(SAID), walk.seen
    stage.do(lambda: stage.page("History"))
    await _shots(stage, walk, "5-history")


async def _plot(stage: Stage, walk: Walk) -> None:
    """The plan is read and approved by a key; the picture that the run leaves is looked at."""
    shown = await _under_review(stage, walk, "1-plan")
    review = _review(stage)
    walk.seen["plan"] = stage.do(lambda: [part.text for part in _parts(review) if part.name == "Packages"])
    begun = time.monotonic()
    await _approve(stage, shown)
    panel = await _running(stage)
    await stage.until("the run has ended", lambda: panel.shown is not None and panel.shown.result is not None)
    walk.seen["plot seconds"] = round(time.monotonic() - begun, 1)
    walk.seen["files"] = stage.do(lambda: panel.files.title)
    _click(stage, lambda: _tab(panel.tabs, "Files"))
    await asyncio.sleep(0.3)
    _click(stage, lambda: _row(panel.files.view, "visitors.png"))
    await _put_the_next_question_away(stage)
    walk.seen["picture"] = await stage.until(
        "the picture is on the screen", lambda: _color_on(stage, panel.files.picture)
    )
    await _shots(stage, walk, "2-picture")
    stage.do(lambda: stage.page("Queue"))


async def _fetch(stage: Stage, walk: Walk) -> None:
    """What is CRITICAL is approved by holding its keys; the host that was refused is allowed while the run waits."""
    shown = await _under_review(stage, walk, "3-hosts")
    walk.seen["level"] = stage.do(lambda: _review(stage).card.level.name)  # type: ignore[union-attr]
    await _approve(stage, shown)
    panel = await _running(stage)
    row = panel.hosts.strip.rows[0]  # type: ignore[attr-defined]
    await stage.until("a host was refused", lambda: row.allow.isVisible() and row.allow.isEnabled())
    walk.seen["refused"] = stage.do(row.place.text)
    await _shots(stage, walk, "4-refused")
    await asyncio.sleep(1)  # the guard of the row rests
    _click(stage, lambda: _middle(row.allow))
    while not stage.do(lambda: row.became.text() not in ("", ASKING) and not row.allow.isVisible()):
        await asyncio.sleep(0.2)
        if dialog := stage.do(lambda: next((d for d in _dialogs(stage) if d.yes.isEnabled()), None)):
            walk.seen["private"] = stage.do(lambda: [label.text() for label in dialog.texts])
            await _shots(stage, walk, "4-private")
            await asyncio.sleep(1)
            _click(stage, lambda: _middle(dialog.yes))
            await asyncio.sleep(0.5)
    walk.seen["became"] = stage.do(row.became.text)
    await stage.until("the run has ended", lambda: panel.shown is not None and panel.shown.result is not None)
    await _shots(stage, walk, "4-reached")


# ---- what a person does ----


async def _under_review(stage: Stage, walk: Walk, name: str) -> str:
    """Wait for the question, and look at each of its parts to its end; return the request's id."""
    review = _review(stage)
    foot = review.page.foot
    shown = await stage.until(
        "the question is on the screen",
        lambda: review.card.id if review.card is not None and review.card.waiting and foot.deny.isEnabled() else None,
    )
    await _shots(stage, walk, name)
    async with asyncio.timeout(PATIENCE):
        while (unread := stage.do(partial(_unread, review))) is not None:
            _click(stage, lambda: unread)
            await asyncio.sleep(0.3)
            _click(stage, lambda: _middle(review.page.reading), "5", times=8)
            await asyncio.sleep(0.3)
    await _shots(stage, walk, f"{name}-read")
    return shown


def _unread(review: ReviewPanel) -> tuple[int, int] | None:
    """Where the tab is of a part whose end has not been on the screen."""
    reading = review.page.reading
    if not (unseen := reading.unseen):
        return None
    tabs = reading.tabs
    return _on_screen(tabs, tabs.tabRect(next(n for n in range(tabs.count()) if unseen[0] in tabs.tabText(n))))


async def _put_the_next_question_away(stage: Stage) -> None:
    """Press Hide on the card that the agent's next request lays over the page."""
    toast = stage.console.window.toast
    await stage.until("the next request lies over the page", toast.isVisible)
    while stage.do(toast.isVisible):
        _click(stage, lambda: _middle(toast.away))
        await asyncio.sleep(0.3)


async def _approve(stage: Stage, shown: str) -> None:
    """Press A, or hold Ctrl+Shift+A for what is CRITICAL, until it counts."""
    review = _review(stage)
    async with asyncio.timeout(PATIENCE):
        while not stage.do(lambda: stage.taken_up(shown)):
            await asyncio.sleep(1.2)  # the guard rests, and the keyboard is quiet
            if stage.do(lambda: review.card is None or review.card.id != shown):
                continue  # approved, and the next is on the screen: that is not meant
            if stage.do(lambda: review.card is not None and review.card.level is Level.CRITICAL):
                xdotool("keydown", "ctrl", "keydown", "shift", "keydown", "a")
                await asyncio.sleep(1.3)
                xdotool("keyup", "a", "keyup", "shift", "keyup", "ctrl")
            else:
                xdotool("key", "a")
    print("  approved by key", flush=True)


async def _running(stage: Stage) -> RunningPanel:
    """The page of runs, with the newest on it."""
    stage.do(lambda: stage.page("Running"))
    return await stage.until("the page of runs is open", lambda: stage.console.window.findChild(RunningPanel))


def _click(stage: Stage, place: Callable[[], tuple[int, int]], key: str = "1", times: int = 1) -> None:
    x, y = stage.do(place)
    xdotool("mousemove", str(x), str(y), "click", "--repeat", str(times), key)


# ---- what is on the screen ----


def _review(stage: Stage) -> ReviewPanel:
    return stage.console.window.deciding.review


def _parts(review: ReviewPanel) -> Sequence[Any]:
    assert review.card is not None
    return review.card.request.parts


def _dialogs(stage: Stage) -> list[AllowDialog]:
    return [dialog for dialog in stage.console.frame.findChildren(AllowDialog) if dialog.isVisible()]


def _tab(tabs: QTabWidget, name: str) -> tuple[int, int]:
    number = next(n for n in range(tabs.count()) if tabs.tabText(n).startswith(name))
    return _on_screen(tabs.tabBar(), tabs.tabBar().tabRect(number))


def _row(view: QAbstractItemView, name: str) -> tuple[int, int]:
    model = view.model()
    rows = (model.index(number, 0) for number in range(model.rowCount()))
    return _on_screen(view.viewport(), view.visualRect(next(row for row in rows if name in row.data())))


def _middle(widget: QWidget) -> tuple[int, int]:
    return _on_screen(widget, widget.rect())


def _on_screen(widget: QWidget, part: QRect) -> tuple[int, int]:
    place = widget.mapToGlobal(part.center())
    return place.x(), place.y()


def _color_on(stage: Stage, view: PictureView) -> str:
    """The color in the middle of a picture that is shown; empty where none is."""
    if not view.isVisible():
        return ""
    x, y = _middle(view)
    picture: QImage = stage.console.window.screen().grabWindow(0).toImage()
    return picture.pixelColor(x, y).name()


async def _shots(stage: Stage, walk: Walk, name: str) -> None:
    """Pictures of the window at two sizes, light and dark; it is as before afterwards."""
    if walk.shots is None:
        return
    walk.shots.mkdir(parents=True, exist_ok=True)
    for width, height in SIZES:
        for theme in (Theme.DARK, Theme.LIGHT):
            stage.do(partial(_turn, stage, width, height, theme))
            await asyncio.sleep(0.8)
            stage.do(partial(_save, stage, walk.shots / f"{name}-{width}-{theme.value}.png", width, height))


def _turn(stage: Stage, width: int, height: int, theme: Theme) -> None:
    stage.console.frame.resize(width, height)
    stage.console.frame.move(0, 0)
    stage.console.look.choose(theme)


def _save(stage: Stage, path: Path, width: int, height: int) -> None:
    assert stage.console.window.screen().grabWindow(0, 0, 0, width, height).save(str(path))


def _host(url: str) -> str:
    return url.split("/")[2]


def main(arguments: list[str]) -> int:
    """Play the story; return 0 when it came to its end."""
    parser = argparse.ArgumentParser(
        "story", description="Let a real agent plot and fetch, with a person at the window."
    )
    parser.add_argument("way", choices=list(WAYS))
    parser.add_argument("sandbox", choices=["local", "docker", "gvisor"])
    parser.add_argument("--real", nargs="*", default=[])
    parser.add_argument("--shots", type=Path)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="assent-story-") as home, ExitStack() as stack:
        os.environ |= {"QT_QPA_PLATFORM": "xcb", "ASSENT_HOME": home, "SANDBOX_TYPE": asked.sandbox} | SETTINGS
        if asked.real:
            found = of_this_machine()
            index = found.pypi[0]
            other = next(one.host for one in found.destinations if one.host != _host(index))
            urls = f"{index.rstrip('/')}/six/", f"https://{other}/"
            walk = Walk(asked.way, asked.real, REAL_PLOT, urls, asked.shots)
        else:
            os.environ |= stack.enter_context(registry_and_hosts())
            walk = Walk(asked.way, (CHART,), PLOT, (f"http://{ALLOWED}/", f"http://{REFUSED}/"), asked.shots)
        code = play(lambda stage: perform(stage, walk))
    print(json.dumps(walk.seen), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
