"""Runs whose sandbox reports what they did: live, in the history, and in what is worth a look."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.model.behaviour import A_NAME, NOT_REPORTED, Behaviour, Deed, DeedKind
from runner.model.codec import encode
from runner.model.decision import Decider, Decision, Verdict
from runner.model.events import RunObserved
from runner.model.request import Isolation, Language, Limits, Request, Tool
from runner.risk.assess import assess
from runner.risk.explain.foreseen import with_unforeseen
from tests.gui import feed, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.result import Result
    from tests.audit.story import Told
    from tests.gui.scenes.shots import Scene

CODE = """\
git status --short | wc -l
rm -rf build/
make all > out.txt
chmod +x out.txt
curl https://files.example/report
"""
DEEDS = (
    Deed(DeedKind.PROGRAM, "git status --short", 0.02, name="git", failed=1, problem="exit 128"),
    Deed(DeedKind.PROGRAM, "wc -l", 0.03, name="wc"),
    Deed(DeedKind.PROGRAM, "rm -rf build/", 0.05, name="rm"),
    Deed(DeedKind.PROGRAM, "make all", 0.08, name="make"),
    Deed(DeedKind.FILE, "out.txt", 0.08),
    Deed(DeedKind.PROGRAM, "gcc -O2 -o \\x1b[2Jx " + "-Wall " * 40, 0.2, 12, "x86_64-linux-gnu-gcc-14", 3, "exit 1"),
    Deed(DeedKind.RIGHTS, "fchmodat 755", 0.9),
    Deed(DeedKind.PROGRAM, "curl https://files.example/report", 1.0, name="curl", failed=1, problem="exit 6"),
    Deed(DeedKind.CONNECTION, A_NAME, 1.1, 2),
    Deed(DeedKind.CONNECTION, "203.0.113.9:4444", 1.2, name="203.0.113.9"),
)
BEHAVIOUR = Behaviour(DEEDS, ended=18)


def asked(name: str = "b1") -> Request:
    return Request(
        name, "claude-code", Tool.CODE_EXECUTE, time.time(), Language.SHELL, CODE, title="Build the report",
        isolation=Isolation.GVISOR_DIRECT, limits=Limits(),
    )  # fmt: skip


def ended(one: Request, behaviour: Behaviour = BEHAVIOUR) -> Result:
    return with_unforeseen(replace(feed.result(stdout="3\n"), observed=behaviour), one, assess(one))


def recorded(one: Request, behaviour: Behaviour = BEHAVIOUR, grant: str = "") -> list[Told]:
    """What the ledger says of a run, let pass by a grant where one is named."""
    told = record.ran(one, ended(one, behaviour))
    by = Decider.GRANT if grant else Decider.PERSON
    decision = encode(Decision(Verdict.APPROVED, by, "Fine.", grant, 0.0, one.digest))
    bodies = {"assessed": encode(assess(one)), "approved": decision}
    return [(kind, name, bodies.get(kind, body)) for kind, name, body in told if not (grant and kind == "asked")]


def running(scene: Scene, over: bool = False) -> None:
    from tests.gui.scenes.shots import settle

    one = asked()
    assessed = assess(one)
    scene.hear(feed.asked(one, assessed), feed.decided(one), feed.started(one))
    scene.hear((RunObserved(one.id, replace(BEHAVIOUR, deeds=DEEDS[:5])),))
    if over:
        scene.hear(feed.finished(one, ended(one)))
    scene.window.show_page("Running")
    panel: Any = scene.window.page("Running")
    panel.tabs.setCurrentWidget(panel.behaviour)
    settle(0.2)


def history(scene: Scene, behaviour: Behaviour = BEHAVIOUR) -> None:
    from tests.gui.gallery import history_of
    from tests.gui.scenes.shots import until

    told = recorded(asked(), behaviour)
    panel = history_of(
        scene, f"behaviour-{len(behaviour.deeds)}-{behaviour.lost}", lambda places: record.ledger(places.ledger, told)
    )
    until(lambda: panel.list.model.rowCount() == 1)
    panel.list.view.setCurrentIndex(panel.list.model.index(0, 0))
    until(lambda: panel.detail.record is not None)
    panel.detail.tabs.setCurrentWidget(panel.detail.behaviour)


SCENES: dict[str, Callable[[Scene], None]] = {
    "behaviour-running": running,
    "behaviour-over": lambda scene: running(scene, over=True),
    "behaviour-history": history,
    "behaviour-flood": lambda scene: history(scene, replace(BEHAVIOUR, lost=18_230, left_out=40)),
    "behaviour-absent": lambda scene: history(scene, Behaviour(absent=NOT_REPORTED)),
}
