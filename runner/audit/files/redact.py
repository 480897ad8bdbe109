"""Removes credentials from what is stored of a run; never used on what a person must see to decide.

The detectors are those of detect-secrets (Yelp), which read line by line. Importing them takes about 150 ms, so that
happens with the first artifact, and reading 1 MiB about half a second: call this off every loop.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detect_secrets.plugins.base import BasePlugin
    from detect_secrets.plugins.high_entropy_strings import HighEntropyStringsPlugin
    from detect_secrets.plugins.keyword import KeywordDetector

PIECE = 2048
"""Characters searched together. Some detectors take quadratic time, and code chooses what it prints."""
OVERLAP = 512
LINE = 400
"""Characters of a line that the slowest detector searches together."""
LINE_OVERLAP = 100
SHORTEST = 4
"""Least characters of a credential: removing shorter ones everywhere would only garble the text."""
NAME = 16
"""Longest name of a value that is not searched: no token is that short, and field names must stay."""
PREFIX = 7
"""A detector's group of so many characters or fewer may be a prefix such as `ghp`: the whole match is taken."""
NAMED = "Secret Keyword"
"""Kind of what stands under a telling name."""
QUOTES = "'\"`"
NOT_CREDENTIALS = frozenset({"Public IP (ipv4)"})
LEFT_OUT = "[left out: too much to look through for credentials]"

_MORE = {
    "Bearer Token": r"(?i)\bbearer\s+([a-z0-9._~+/=-]{16,})",
    "Token": r"(?i)\b\w*token['\"]?\s*[:=]\s*['\"]?([a-z0-9._~+/=-]{16,})",
    "JSON Web Token": r"\beyJ[\w=-]+\.eyJ[\w=-]+\.[\w=-]*",
    "Anthropic Key": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "Google Key": r"\bAIza[0-9A-Za-z_-]{35}",
    "GitHub Fine-grained Token": r"\bgithub_pat_[0-9A-Za-z_]{22,}",
    "Hugging Face Token": r"\bhf_[A-Za-z0-9]{30,}",
    "Assent Token": r"\bassent_[A-Za-z0-9_-]{20,}",
    "Basic Credentials": r"(?i)\bauthorization['\"]?\s*[:=]\s*['\"]?basic\s+([a-z0-9+/]{8,}={0,2})",
    "Vault Token": r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}",
    "npm Token": r"\bnpm_[A-Za-z0-9]{36}",
    "Docker Token": r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}",
    "PyPI Token": r"\bpypi-[A-Za-z0-9_-]{40,}",
    "Age Key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "AWS Secret Key": (
        r"(?<![\w/+=-])(?=[A-Za-z0-9]{0,39}[/+])(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Z0-9/+]{0,39}[a-z])(?=[A-Za-z/+]{0,39}[0-9])"
        r"[A-Za-z0-9/+]{40}(?![\w/+=-])"
    ),
}
"""Credentials of common services that detect-secrets 1.5 does not know, or knows in part.

A group, where there is one, is the secret.
"""

_WIDE = re.compile(r" {2,}")
"""Runs for which some detectors take cubic time; tokens have no spaces in them."""
_KEY_ENDS = re.compile(r"-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|\Z")


@dataclass(frozen=True, slots=True)
class Redacted:
    data: dict[str, Any]
    kinds: tuple[str, ...]
    """Kinds of credentials that were removed."""
    complete: bool
    """False where text was left out because there was no time to search it."""


SOURCE = frozenset({"code", "evidence"})
"""Names of texts that are source code by default."""


def redacted(data: dict[str, Any], source: frozenset[str] = SOURCE, seconds: float = 5.0) -> Redacted:
    """Return a copy of JSON data in which credentials are replaced by the names of their kinds.

    Texts named in `source` are in a language that quotes its strings; in others `password=x` counts too. Text that
    cannot be searched within `seconds` is left out.
    """
    search = _Search(source, time.monotonic() + seconds)
    search.look(data)
    return Redacted(search.clean(data), tuple(sorted(set(search.found.values()))), search.complete)


def kinds() -> frozenset[str]:
    """Return the kinds of credentials that are known."""
    return frozenset({kind for kind, _ in _detectors().patterns} | {"Private Key", "High Entropy String", NAMED})


def patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the kinds of credentials that have a form of their own, each with what finds it."""
    detectors = _detectors()
    return (*detectors.patterns, ("Private Key", detectors.private_key))


def pieces(text: str) -> Iterator[str]:
    """Return pieces of whole lines, as many as fit; longer lines in overlapping parts."""
    held: list[str] = []
    size = 0
    for line in text.splitlines(keepends=True):
        if held and size + len(line) > PIECE:
            yield "".join(held)
            held, size = [], 0
        if len(line) > PIECE:
            yield from _parts(line, PIECE, OVERLAP)
        else:
            held.append(line)
            size += len(line)
    if held:
        yield "".join(held)


class _OutOfTime(Exception):
    pass


class _Search:
    """First everything is looked at, then all that was found is taken out wherever it stands: what code names, its
    output may print.
    """

    def __init__(self, source: frozenset[str], deadline: float) -> None:
        self._source = source
        self._deadline = deadline
        self._too_late: set[str] = set()
        self.found: dict[str, str] = {}
        """Kind of each credential that was met."""

    @property
    def complete(self) -> bool:
        return not self._too_late

    def look(self, data: Any, name: str = "") -> None:
        """Find the credentials in `data`; `name` is its key in a mapping."""
        match data:
            case dict():
                for key, value in data.items():
                    if len(key) > NAME:
                        self.look(key)
                    self.look(value, key)
            case list():
                for value in data:
                    self.look(value, name)
            case str():
                try:
                    self.found |= self._met(data, name)
                except _OutOfTime:
                    self._too_late.add(data)
            case _:
                pass

    def clean(self, data: Any, name: str = "") -> Any:
        """`data` without what was found; `name` is its key in a mapping."""
        match data:
            case dict():
                return {
                    self.clean(key) if len(key) > NAME else key: self.clean(value, key) for key, value in data.items()
                }
            case list():
                return [self.clean(value, name) for value in data]
            case str() if data in self._too_late:
                return LEFT_OUT
            case str():
                return self._clean_text(data, name in self._source)
            case _:
                return data

    def _clean_text(self, text: str, source: bool) -> str:
        try:
            for value in sorted(self.found, key=len, reverse=True):
                self._check_time()
                kind = self.found[value]
                if source and kind == NAMED:
                    # Only as a whole string: code that calls something dangerous its password must not hide it.
                    for quote in QUOTES:
                        text = text.replace(f"{quote}{value}{quote}", f"{quote}[redacted: {kind}]{quote}")
                else:
                    text = text.replace(value, f"[redacted: {kind}]")
        except _OutOfTime:
            self._too_late.add(text)
            return LEFT_OUT
        return text

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise _OutOfTime

    def _met(self, text: str, name: str) -> dict[str, str]:
        detectors = _detectors()
        met = {text[start:end]: "Private Key" for start, end in _private_keys(text, detectors.private_key)}
        for piece in pieces(text):
            narrow = _WIDE.sub(" ", piece)
            for kind, pattern in detectors.patterns:
                self._check_time()
                met |= {_secret(match): kind for match in pattern.finditer(narrow)}
            met |= dict.fromkeys(detectors.entropic(piece), "High Entropy String")
            if detectors.keywords.search(piece):
                for line in _lines(piece):
                    self._check_time()
                    met |= dict.fromkeys(detectors.named(line, quoted=name in self._source), NAMED)
        if detectors.keywords.search(name) and len(text) < LINE:
            met |= dict.fromkeys(detectors.named(f'{name} = "{text}"', quoted=True), NAMED)
        return {value: kind for value, kind in met.items() if len(value) >= SHORTEST}


@dataclass(frozen=True, slots=True)
class _Detectors:
    """The library's detectors, grouped by how they are called."""

    patterns: tuple[tuple[str, re.Pattern[str]], ...]
    private_key: re.Pattern[str]
    keyword: KeywordDetector
    keywords: re.Pattern[str]
    """Finds whether the slow keyword detector has to run at all."""
    entropy: tuple[HighEntropyStringsPlugin, ...]

    def named(self, line: str, *, quoted: bool) -> Iterator[str]:
        """Return values assigned to names such as `password`; those without quotes only unless `quoted` is set."""
        from detect_secrets.plugins.keyword import CONFIG_DENYLIST_REGEX_TO_GROUP

        while self.keywords.search(line):
            values = [*self.keyword.analyze_string(line)]
            if not values and not quoted:
                values = [*self.keyword.analyze_string(line, CONFIG_DENYLIST_REGEX_TO_GROUP)]
            if not values:
                return
            yield from (value.strip() for value in values)
            # The detector reports one value at a time: continue behind it.
            line = line[max(line.index(value) + len(value) for value in values) :]

    def entropic(self, piece: str) -> Iterator[str]:
        """Return quoted strings that look random."""
        from detect_secrets.filters.heuristic import is_potential_uuid, is_sequential_string

        for plugin in self.entropy:
            for value in plugin.analyze_string(piece):
                random = plugin.calculate_shannon_entropy(value) > plugin.entropy_limit
                if random and not is_potential_uuid(value) and not is_sequential_string(value):
                    yield value


@cache
def _detectors() -> _Detectors:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector
    from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString, HexHighEntropyString
    from detect_secrets.plugins.keyword import DENYLIST, KeywordDetector

    patterns = [(kind, re.compile(pattern)) for kind, pattern in _MORE.items()]
    private = []
    plugins: Mapping[str, type[BasePlugin]] = get_mapping_from_secret_type_to_class()
    for kind, plugin in plugins.items():
        if not issubclass(plugin, RegexBasedDetector) or kind in NOT_CREDENTIALS:
            continue
        if kind == "Private Key":
            private += [pattern.pattern for pattern in plugin().denylist]
        else:
            patterns += [(kind, pattern) for pattern in plugin().denylist]
    return _Detectors(
        patterns=tuple(patterns),
        private_key=re.compile("(?:-----)?(?:" + "|".join(private) + ")"),
        keyword=KeywordDetector(),
        keywords=re.compile("|".join(DENYLIST), re.IGNORECASE),
        entropy=(Base64HighEntropyString(), HexHighEntropyString()),
    )


def _secret(match: re.Match[str]) -> str:
    """Return the secret: the last group of the match, or the whole match where the group is as short as a prefix."""
    number = match.lastindex
    whole = match[0].strip(" \t\r\n\"'=:")
    return whole if number is None or len(match[number]) <= PREFIX else match[number]


def _private_keys(text: str, begin: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Return the private keys in `text`: the library finds where one begins; it ends at its end line or the end."""
    position = 0
    for match in begin.finditer(text):
        if match.start() < position:
            continue
        end = _KEY_ENDS.search(text, match.end())
        position = end.end() if end else len(text)
        yield match.start(), position


def _lines(piece: str) -> Iterator[str]:
    for line in piece.splitlines():
        yield from _parts(line, LINE, LINE_OVERLAP)


def _parts(line: str, size: int, overlap: int) -> Iterator[str]:
    for start in range(0, max(1, len(line) - overlap), size - overlap):
        yield line[start : start + size]
