"""The kind of a file by its name, in a word for a person."""

from __future__ import annotations

from runner.model.language_support import LANGUAGES as SUPPORTED
from runner.model.translation import tr

TABLES = (".csv", ".tsv")
PICTURES = (".png", ".jpg", ".jpeg")
VECTORS = (".svg",)
PAGES = (".md", ".markdown")
JSON = (".json", ".geojson", ".ipynb")
LANGUAGES = {ending: language.value for language, support in SUPPORTED.items() for ending in support.endings}
TEXTS = (".txt", ".md", ".log", ".html", ".xml", ".svg", ".yaml", ".yml", ".toml", ".ini", ".css", ".sql", ".jsonl")


def ending(path: str) -> str:
    """Return the ending of its name with the dot, in small letters; '' without one."""
    name = path.rpartition("/")[2]
    stem, dot, last = name.rpartition(".")
    return f".{last.lower()}" if dot and stem else ""


def kind(path: str) -> str:
    match ending(path):
        case one if one in PICTURES:
            return tr("Picture")
        case one if one in TABLES:
            return tr("Table")
        case one if one in JSON:
            return "JSON"
        case one if one in LANGUAGES:
            return tr("Code")
        case one if one in TEXTS:
            return tr("Text")
        case one:
            known = one[1:].isalnum() and len(one) <= 6
            return tr("{ending} file", ending=one[1:].upper()) if known else tr("File")
