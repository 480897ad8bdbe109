"""Bring the catalogues in resources/languages up to date with the texts of the window.

    python -m tests.languages [LANGUAGE]

What is there stays, what is new comes without a translation, and what no text asks for goes. LANGUAGE, such as `fr`,
begins a catalogue. Each is compiled, which is what the window reads.
"""

from __future__ import annotations

import re
import sys

from tests.languages.catalogues import FOLDER, begun, brought_up_to_date, catalogue, write


def main(arguments: list[str]) -> int:
    wanted = {file.stem for file in FOLDER.glob("*.po")} | {*arguments}
    if odd := [one for one in wanted if not re.fullmatch(r"[a-z]{2,3}(_[A-Z]{2})?", one)]:
        print(f"Not a language: {', '.join(odd)}. Write it like de or pt_BR.")
        return 2
    for language in sorted(wanted):
        file = FOLDER / f"{language}.po"
        made = brought_up_to_date(catalogue(file) if file.exists() else begun(language))
        write(made, file)
        missing = sum(not (all(one.string) if isinstance(one.string, tuple) else one.string) for one in made if one.id)
        print(f"{language}: {len(made)} texts, {missing} without a translation")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
