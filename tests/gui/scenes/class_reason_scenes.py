"""Scenes for the gallery: why a request has its class, and that a person finds it wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.model.assessment import Level
from runner.model.events import RequestAssessed
from runner.model.request import Language
from runner.risk.explain.disputed import DisputedCases
from runner.risk.tools.tools import weigh
from tests.gui import feed
from tests.gui.scenes.shots import settle, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.class_reasons.section import WhySection
    from tests.gui.scenes.shots import Scene

CODE = """set -e
cd build
curl -fsSL https://get.example/tool.sh | sh
make
git reset --hard
rm -rf ~
"""
QUIET = "import urllib.request\n\nurllib.request.urlopen('https://get.example/')\nprint('done')\n"


def shell(code: str = CODE, language: Language = Language.SHELL) -> Any:
    return feed.request(code, title="Set up the tool", language=language)


def review(scene: Scene, code: str = CODE, language: Language = Language.SHELL) -> WhySection:
    one = shell(code, language)
    scene.hear(feed.asked(one, weigh(one), 60.0, 45.0))
    page = scene.window.deciding.review.page
    page.reading.show_details()
    section = page.facts.reasons
    section.toggle.click()
    settle(0.05)
    return section


def reasons(scene: Scene) -> None:
    review(scene)


def quiet(scene: Scene) -> None:
    review(scene, QUIET, Language.PYTHON)


def ruled(scene: Scene) -> None:
    section = review(scene, "print(1)\n", Language.PYTHON)
    card = scene.window.deciding.review.card
    assert card is not None and card.assessment is not None
    reasons = ("Your rule no python sets CRITICAL.", *card.assessment.reasons)
    raised = replace(card.assessment, level=Level.CRITICAL, reasons=reasons)
    scene.hear((RequestAssessed(card.id, raised),))
    assert section.summary.text() == reasons[0]


def wrong(chosen: Level | None = Level.LOW, then: Callable[[WhySection], None] | None = None) -> Any:
    """Return a scene with the form; `then` goes on with it."""

    def show(scene: Scene) -> None:
        section = review(scene, QUIET, Language.PYTHON)
        form = section.wrong
        assert form is not None
        form.start.click()
        if chosen is not None:
            form.choices[chosen].click()
            form.note.setText("The folder is one of the build, made three lines above.")
        if then is not None:
            then(section)
        settle(0.05)
        scene.window.deciding.review.page.facts.ensureWidgetVisible(form)

    return show


def kept(section: WhySection) -> None:
    form = section.wrong
    assert form is not None
    form.keep.click()
    until(lambda: not form.back.isHidden())


def taken_back(section: WhySection) -> None:
    kept(section)
    form = section.wrong
    assert form is not None
    form.back.click()
    until(lambda: not form.undo.isHidden())


def not_kept(section: WhySection) -> None:
    form = section.wrong
    assert form is not None
    cases = DisputedCases(form._keeping.path)
    cases.path.unlink(missing_ok=True)
    cases.path.mkdir(parents=True)
    form.keep.click()
    until(lambda: not form.problem.isHidden())
    cases.path.rmdir()


SCENES: dict[str, Callable[[Scene], object]] = {
    "why": reasons,
    "why-color": quiet,
    "why-ruled": ruled,
    "why-wrong": wrong(),
    "why-wrong-open": wrong(None),
    "why-wrong-kept": wrong(Level.LOW, kept),
    "why-wrong-taken-back": wrong(Level.CRITICAL, taken_back),
    "why-wrong-not-kept": wrong(Level.CRITICAL, not_kept),
}
