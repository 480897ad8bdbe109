"""Draws every page and dialog in its states at three sizes, light, dark and at 200 % text, into build/gallery.

Run: make gallery, or python -m tests.gui.gallery [part of a name]
"""

from __future__ import annotations

import os
import sys
import time
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QApplication

from app.chrome.palette import Palette
from app.parts.notice import Tone
from app.remembering.dialog import RememberDialog
from runner.identity.agents import Agent
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError
from runner.model.events import ApprovalArmed
from runner.model.request import Language
from runner.model.result import Outcome
from runner.sandbox.output import Stream, Transcript
from runner.system.clock import since_boot
from runner.system.places import Places
from tests.gui import feed, record
from tests.gui.shots import SCENES, Scene, draw, page, remembering, settle, waiting

if TYPE_CHECKING:
    from collections.abc import Callable

OUT = Path(__file__).resolve().parents[2] / "build" / "gallery"
SIZES = ((960, 600), (1280, 800), (2560, 1440))
ARABIC = "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645"
HEBREW = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd"
LONGEST = "A title that says more than any place for a title can hold, and then some more of the same " * 3


def right_to_left(scene: Scene) -> None:
    code = (
        f"# {ARABIC}\nname = '{HEBREW}'\nprint(f'{ARABIC} {{name}}')\nif access != 'user\u202e \u2066# admin\u2069':\n"
    )
    one = feed.request(f"{code}    run()\n", title=f"{ARABIC} {HEBREW}")
    found = feed.finding(4, "Characters that change the order of others hide what runs.", Level.CRITICAL)
    scene.hear(feed.asked(one, feed.assessment(Level.CRITICAL, found)))


def longest(scene: Scene) -> None:
    code = f"x = '{'very long ' * 300}'\n{'    ' * 30}print(x)\n" + "y = 1\n" * 40
    one = feed.request(code, "a" * 40, title=LONGEST, context='{"rows": 3}', stdin="yes\n")
    found = [feed.finding(line, f"{LONGEST}.", level) for line, level in ((1, Level.HIGH), (2, Level.MEDIUM))]
    why = f"{LONGEST}. Choose another sandbox in Settings."
    scene.hear(feed.asked(one, feed.assessment(Level.HIGH, *found), blocked=why))


def armed(scene: Scene) -> None:
    waiting(scene)
    card = scene.window.deciding.review.card
    assert card is not None
    scene.hear(feed.decided(card.request, Verdict.EXPIRED, Decider.ENGINE))
    scene.hear((ApprovalArmed(card.id, since_boot() + 560, 600.0),))


def said(scene: Scene) -> None:
    scene.window.toolbar.say("There is no system tray here, so notices appear only in this window and in the task bar.")
    scene.window.banners.say("done", Tone.GOOD, "Remembered. It ends in 10 minutes.", "Rules")


def running(scene: Scene, ended: Outcome | None = None) -> None:
    one = feed.request("for n in range(60): print(n)\n", title="Count to sixty", language=Language.PYTHON)
    transcript = Transcript(1 << 20)
    for number in range(60):
        transcript.append(Stream.OUT, f"line {number} of the output \x1b[32mgreen\x1b[0m\n".encode())
    transcript.append(Stream.ERR, b"warning: something\n" + b"a long line without an end " * 200 + b"\n")
    scene.bridge.transcripts[one.id] = transcript
    scene.hear(feed.asked(one), feed.decided(one), feed.started(one))
    for number in range(40):
        cpu, memory = 20 + 15 * (number % 5), (60 + 9 * number) << 20
        scene.hear(feed.measured(one, number / 4, cpu, memory, number << 20))
    if ended is not None:
        transcript.end()
        scene.hear(feed.finished(one, feed.result(ended, error="It went on for too long.")))
    scene.window.show_page("Running")


def ran(ended: Outcome) -> Callable[[Scene], None]:
    return lambda scene: running(scene, ended)


def stopping(scene: Scene) -> None:
    running(scene)
    panel: Any = scene.window.page("Running")
    panel.stop.click()


def history(scene: Scene) -> None:
    places = scene.window._places
    if not places.ledger.exists():
        record.ledger(places.ledger, [*record.many(30), *record.varied()])
    scene.window.show_page("History")
    panel: Any = scene.window.page("History")
    settle(0.5)
    panel.list.view.setCurrentIndex(panel.list.model.index(0, 0))


def history_none(scene: Scene) -> None:
    history(scene)
    panel: Any = scene.window.page("History")
    panel.filters.text.setText("nothing has this in it")


def history_of(scene: Scene, name: str, ledger: bytes) -> None:
    """A page of the history that reads a ledger of its own."""
    from app.history.panel import HistoryPanel

    places = Places.under(scene.window._places.state / name)
    places.make()
    if ledger:
        places.ledger.write_bytes(ledger)
    scene.window.pages.add("History", HistoryPanel(scene.cases, scene.window._look, places))
    scene.window.show_page("History")


def agents_many(scene: Scene) -> None:
    now = time.time()
    names = ["a" * 40, "The-Longest.Name_of-An-Agent.there-may.be", *(f"agent-{number:02}" for number in range(60))]
    scene.bridge.known = tuple(Agent(name, "0" * 64, now - 9e6, now - 5) for name in names)
    scene.cases.know_agents(scene.bridge.known)
    scene.window.show_page("Agents")


def palette_none(scene: Scene) -> None:
    scene.window.commands.open_palette()
    palette = scene.window.findChild(Palette)
    assert palette is not None
    palette.field.setText("nothing has this name")


def searching(scene: Scene) -> None:
    running(scene, Outcome.OK)
    panel: Any = scene.window.page("Running")
    panel.output.open_search()
    panel.output.search.regex.setChecked(True)
    panel.output.search.field.setText("line [35]")


def refused(scene: Scene) -> None:
    remembering(scene)
    settle(0.7)
    card, dialog = scene.window.deciding.review.card, scene.window.findChild(RememberDialog)
    assert card is not None and dialog is not None
    dialog.save.click()
    why = KnownError("This request is over, so it cannot be remembered here any more. Find it in the history. " * 2)
    scene.bridge.fail("remember", why)


def help_page(scene: Scene) -> None:
    scene.window.show_page("Help")


def question_long(scene: Scene) -> None:
    scene.window.overall.ask(f"Stop {LONGEST}?", LONGEST, "Stop all", lambda _yes: None)


MORE: dict[str, Callable[[Scene], None]] = {
    "queue-right-to-left": right_to_left,
    "queue-longest": longest,
    "queue-armed": armed,
    "window-said": said,
    "window-question-long": question_long,
    "running": running,
    "running-ok": ran(Outcome.OK),
    "running-limit": ran(Outcome.TIMED_OUT),
    "running-failed": ran(Outcome.FAILED),
    "running-stopping": stopping,
    "running-empty": page("Running"),
    "history": history,
    "history-none": history_none,
    "history-empty": lambda scene: history_of(scene, "empty", b""),
    "history-broken": lambda scene: history_of(scene, "broken", b"no database " * 500),
    "agents-many": agents_many,
    "palette-none": palette_none,
    "running-search": searching,
    "remember-refused": refused,
    "help": help_page,
}
_STYLE = """
body { font: 14px sans-serif; margin: 24px; background: #f6f7f9; color: #1d2129; }
h2 { margin: 28px 0 8px; font-size: 15px; }
div { display: flex; flex-wrap: wrap; gap: 8px; }
img { width: 460px; border: 1px solid #dfe3e8; }
"""


def write(pictures: list[Path]) -> Path:
    """One page with all of them, those of one scene together."""
    scenes: dict[str, list[str]] = {}
    for picture in pictures:
        name = picture.stem.rsplit("-", 2)[0]
        scenes.setdefault(name, []).append(picture.name)
    parts = [f"<!doctype html><meta charset=utf-8><title>Assent, every state</title><style>{_STYLE}</style>"]
    for name in sorted(scenes):
        images = "".join(
            f'<a href="{escape(file)}"><img loading=lazy src="{escape(file)}" alt="{escape(file)}"></a>'
            for file in sorted(scenes[name])
        )
        parts.append(f"<h2>{escape(name)}</h2><div>{images}</div>")
    index = OUT / "index.html"
    index.write_text("\n".join(parts))
    return index


def main() -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    app, scenes = QApplication(sys.argv), {**SCENES, **MORE}
    draw(app, only, OUT, scenes, SIZES)
    draw(app, only, OUT, scenes, SIZES[:1], large=True)
    # All there are, so that a part drawn again does not lose the others.
    index = write(sorted(OUT.glob("*.png")))
    sys.stdout.write(f"{index}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
