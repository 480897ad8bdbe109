"""The steps of `assent self-test` that are about the window: drawn without a display, with its fonts and icons."""

from __future__ import annotations

from PySide6.QtGui import QFontDatabase, QImage
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.look.look import FONTS, Look
from app.parts.plain import plain_label
from app.parts.text.bounded_lexers import tokens
from app.start.pyside import prepare
from runner.commands import selftest
from runner.commands.selftest import SelfCheck
from runner.model.language_support import LANGUAGES
from runner.system.places import resources

FAMILIES = ("Inter", "JetBrains Mono")
FEWEST_COLORS = 20
"""Of a picture with smooth letters; an empty one has one or two."""


def main() -> int:
    """Run the whole self-test; return 0 when everything that can be tried here works."""
    prepare()
    return selftest.main((("window", _window), ("highlighting", _lexers)))


def _window() -> SelfCheck:
    """Draw a window with a line in each font and every icon."""
    app = QApplication.instance() or QApplication(["assent", "-platform", "offscreen"])
    assert isinstance(app, QApplication)
    look = Look(app)
    # The files one by one: the system may have a family of the same name, of another version.
    absent = [name for name in FONTS if QFontDatabase.addApplicationFont(str(resources() / "fonts" / name)) < 0]
    absent += [name for name in FAMILIES if name not in QFontDatabase.families()]
    if absent:
        return SelfCheck("window", f"these fonts do not load: {', '.join(absent)}")
    window = QWidget()
    rows = QVBoxLayout(window)
    for font in (look.font(), look.mono()):
        line = plain_label("Approve")
        line.setFont(font)
        rows.addWidget(line)
    names = sorted(file.stem for file in (resources() / "icons").glob("*.svg"))
    if blank := [name for name in names if len(_colors(look.pixmap(name, "text", 32).toImage())) < 2]:
        return SelfCheck("window", f"these icons are not drawn: {', '.join(blank)}")
    if len(_colors(window.grab().toImage())) < FEWEST_COLORS:
        return SelfCheck("window", "its letters are not drawn")
    return SelfCheck("window", words=f"drawn without a display, {len(names)} icons, {', '.join(FAMILIES)}")


def _colors(image: QImage) -> set[int]:
    return {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}


def _lexers() -> SelfCheck:
    """Find the kinds of words in a line of each language."""
    for language, support in LANGUAGES.items():
        if len({kind for kind, _ in tokens(support.sample[0], language)}) < 2:
            return SelfCheck("highlighting", f"nothing is found in {language}")
    return SelfCheck("highlighting", words=f"{len(LANGUAGES)} languages")
