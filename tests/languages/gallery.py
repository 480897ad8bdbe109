"""Draw the gallery in another language: python -m tests.languages.gallery LANGUAGE [part of a name]"""

from __future__ import annotations

import sys

from runner.model import translation
from runner.system.shipped import resources


def main() -> int:
    language = sys.argv.pop(1)
    if translation.choose(language, resources() / "languages") != language:
        print(f"There is no catalogue of {language}.")
        return 2
    # The texts of the window are made as its modules are loaded.
    from tests.gui.gallery import main as draw

    return draw()


if __name__ == "__main__":
    sys.exit(main())
