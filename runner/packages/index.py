"""Reads what a registry of Python packages says about one project (PEP 503, 691, 700). All of it is untrusted."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from runner.packages.failures import Unusable

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
MOST_FILES = 50_000
"""Files of one project."""
MOST_CONTAINERS = 1_000_000
MOST_VALUES = 4_000_000
"""Lists, tables and values of one answer in JSON: the longest honest ones have a tenth of that."""
MOST_HTML = 16 << 20
"""Bytes of a page in HTML, which takes a hundred times as long to read as one in JSON."""
LARGEST = 1 << 40
"""Bytes that a file can be said to have."""
LONGEST_TEXT = 500
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,250}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """One file of a project, as its registry announces it."""

    name: str
    url: str
    sha256: str
    """Hex; '' where the registry names none."""
    size: int = 0
    """Bytes; 0 where the registry does not say."""
    released_at: float = 0.0
    """Seconds since the epoch; 0 where the registry does not say."""
    requires_python: str = ""
    yanked: str = ""
    """Why it was withdrawn; '' where it was not."""
    metadata: str = ""
    """SHA-256 of its metadata as a file beside it (PEP 658); '' where there is none."""


def files(data: bytes, kind: str, url: str) -> tuple[ProjectFile, ...]:
    """Return the files that a page of the media type `kind`, fetched from `url`, lists. Raises Unusable."""
    try:
        found = _from_json(data, url) if kind.endswith("json") else _from_html(data, url)
    except (ValueError, RecursionError, AssertionError) as error:
        raise Unusable("its registry answers with a page that cannot be read") from error
    return found


def bounded_json(data: bytes) -> Any:
    """Return what `data` says in JSON. Raises ValueError, also for more values than an honest answer has."""
    # Each takes up to 70 bytes of memory, so that a few megabytes would fill a gigabyte.
    if data.count(b"[") + data.count(b"{") > MOST_CONTAINERS or data.count(b",") > MOST_VALUES:
        raise ValueError("more values than are read")
    return json.loads(data)


def _from_json(data: bytes, url: str) -> tuple[ProjectFile, ...]:
    page = bounded_json(data)
    if not isinstance(page, dict) or not isinstance(listed := page.get("files"), list):
        raise Unusable("its registry answers with a page that cannot be read")
    found = (_entry(one, url) for one in listed[:MOST_FILES] if isinstance(one, dict))
    return tuple(one for one in found if one is not None)


def _entry(one: dict[str, object], url: str) -> ProjectFile | None:
    name, link, hashes = one.get("filename"), one.get("url"), one.get("hashes")
    if not isinstance(name, str) or not isinstance(link, str) or _FILE.fullmatch(name) is None:
        return None
    metadata = one.get("core-metadata", one.get("dist-info-metadata", one.get("data-dist-info-metadata")))
    yanked = one.get("yanked")
    size = one.get("size")
    return ProjectFile(
        name=name,
        url=_absolute(url, link),
        sha256=_digest(hashes.get("sha256") if isinstance(hashes, dict) else None),
        size=size if type(size) is int and 0 <= size < LARGEST else 0,
        released_at=moment(one.get("upload-time")),
        requires_python=_text(one.get("requires-python")),
        yanked=(_text(yanked) or "no reason given") if yanked not in (None, False) else "",
        metadata=_digest(metadata.get("sha256") if isinstance(metadata, dict) else None),
    )


def moment(written: object) -> float:
    """Return a time of ISO 8601 as seconds since the epoch; 0 where it is none."""
    if not isinstance(written, str) or len(written) > 40:
        return 0.0
    try:
        return max(0.0, datetime.fromisoformat(written.replace("Z", "+00:00")).timestamp())
    except (ValueError, OverflowError, OSError):
        return 0.0


class _LinkPage(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.links: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "base" and not self.base:
            self.base = given.get("href", "")
        elif tag == "a" and "href" in given and len(self.links) < MOST_FILES:
            self.links.append(given)


def _from_html(data: bytes, url: str) -> tuple[ProjectFile, ...]:
    if len(data) > MOST_HTML:
        raise ValueError("a longer page than is read")
    page = _LinkPage()
    page.feed(data.decode("utf-8", "replace"))
    base = _absolute(url, page.base) if page.base else url
    found = (_link(one, base) for one in page.links)
    return tuple(one for one in found if one is not None)


def _link(given: dict[str, str], base: str) -> ProjectFile | None:
    whole, _, fragment = _absolute(base, given["href"]).partition("#")
    name = unquote(urlsplit(whole).path.rpartition("/")[2])
    if _FILE.fullmatch(name) is None:
        return None
    return ProjectFile(
        name=name,
        url=whole,
        sha256=_digest(_after_name(fragment)),
        released_at=moment(given.get("data-upload-time")),  # no standard has it; some registries do
        requires_python=_text(given.get("data-requires-python")),
        yanked=(_text(given["data-yanked"]) or "no reason given") if "data-yanked" in given else "",
        metadata=_digest(_after_name(given.get("data-core-metadata", given.get("data-dist-info-metadata", "")))),
    )


def _after_name(text: str) -> str:
    """Return the hash of `sha256=...`; '' for another."""
    return text.removeprefix("sha256=") if text.startswith("sha256=") else ""


def _absolute(base: str, link: str) -> str:
    return urljoin(base, link)[:2_000]


def _digest(value: object) -> str:
    return value if isinstance(value, str) and _SHA256.fullmatch(value) else ""


def _text(value: object) -> str:
    return plain(value) if isinstance(value, str) else ""


def plain(text: str) -> str:
    """Return text of a stranger on one line, without what cannot be seen, within bounds."""
    shown = "".join(one if one.isprintable() else " " for one in text[: 4 * LONGEST_TEXT])
    return " ".join(shown.split())[:LONGEST_TEXT]
