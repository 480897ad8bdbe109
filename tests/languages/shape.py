"""What a page holds, without its words: rows, choices and buttons. Printed for one language, as JSON.

python -m tests.languages.shape LANGUAGE SCENE ...
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model import translation
from runner.system.shipped import resources

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

Shape = dict[str, list[list[object]]]


def main(language: str, names: list[str]) -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    assert translation.choose(language, resources() / "languages") == language
    # The texts of the window are made as its modules are loaded.
    from PySide6.QtWidgets import QApplication

    from app.look.look import Look
    from app.start.language import dress
    from runner.system.places import Places
    from tests.gui.gallery import MORE
    from tests.gui.loop import in_loop
    from tests.gui.scenes.shots import SCENES, Scene, settle

    found = {}
    with in_loop(app := QApplication(sys.argv)), tempfile.TemporaryDirectory() as home:
        dress(app)
        places = Places.under(Path(home))
        places.make()
        look = Look(app)
        for name in names:
            scene = Scene(look, places)
            scene.window.frame.resize(1280, 800)
            scene.window.frame.show()
            settle(0.05)
            {**SCENES, **MORE}[name](scene)
            settle(0.9)
            found[name] = shape_of(scene.window)
            scene.window.frame._may_close = True
            scene.window.frame.close()
            scene.window.frame.deleteLater()
    sys.stdout.write(json.dumps(found))
    return 0


def shape_of(window: QWidget) -> Shape:
    """Return the rows of each list, the choices of each box, and which buttons are there and can be pressed."""
    from PySide6.QtCore import QModelIndex
    from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QComboBox

    shape: Shape = {"rows": [], "choices": [], "buttons": []}
    for view in window.findChildren(QAbstractItemView):
        if view.isVisible() and (model := view.model()) is not None:
            shape["rows"].append([type(view).__name__, model.rowCount(QModelIndex())])
    for box in window.findChildren(QComboBox):
        if box.isVisible():
            shape["choices"].append([box.count(), box.currentIndex()])
    for button in window.findChildren(QAbstractButton):
        if button.isVisible():
            shape["buttons"].append([type(button).__name__, button.isEnabled(), button.isChecked()])
    return shape


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
