"""Answers of package registries: read or refused, whatever they say; what is read is within bounds and on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.packages import index, npm_registry
from runner.packages.failures import Unusable
from runner.packages.python_project import project
from runner.packages.semver import NotARange, range_of, version
from runner.packages.target import PythonTarget
from runner.packages.wheel import metadata
from tests.fuzz.mutation import fuzz

if TYPE_CHECKING:
    from runner.packages.index import ProjectFile

URL = "https://index.example/simple/app/"
HERE = PythonTarget(
    {"python_version": "3.13", "python_full_version": "3.13.1", "platform_machine": "x86_64", "sys_platform": "linux"},
    "",
    "glibc 2.36",
)
SEEDS = (
    b'J{"meta":{"api-version":"1.1"},"name":"app","files":[{"filename":"app-1.0-py3-none-any.whl","url":"../a.whl",'
    b'"hashes":{"sha256":"' + b"0" * 64 + b'"},"size":9,"upload-time":"2020-01-02T03:04:05Z","yanked":"x",'
    b'"requires-python":">=3.8","core-metadata":{"sha256":"' + b"1" * 64 + b'"}}]}',
    b'H<!DOCTYPE html><base href="/x/"><a href="app-1.0-py2.py3-none-any.whl#sha256='
    + b"0" * 64
    + b'" data-yanked="x" '
    b'data-requires-python="&gt;=3.8" data-core-metadata="sha256=' + b"1" * 64 + b'">app</a>',
    b'N{"name":"app","dist-tags":{"latest":"1.0.0"},"time":{"1.0.0":"2020-01-02T03:04:05.000Z"},"versions":{"1.0.0":'
    b'{"name":"app","version":"1.0.0","dependencies":{"a":"^1.0.0"},"optionalDependencies":{"b":"*"},"deprecated":"x",'
    b'"peerDependencies":{"@c/d":">=1 <2 || 3.x"},"peerDependenciesMeta":{"@c/d":{"optional":true}},"os":["!win32"],'
    b'"scripts":{"install":"x"},"dist":{"tarball":"https://x.example/a.tgz","integrity":"sha512-'
    + b"A" * 86
    + b'=="}}}}',
    b"MMetadata-Version: 2.1\nName: app\nVersion: 1.0\nSummary: x\nRequires-Python: >=3.8\n"
    b"Requires-Dist: lib[a,b] (>=1.0,<2) ; python_version < '4' and extra == 'x'\nRequires-Dist: c @ https://x/y\n\nbody",
    b"R^1.2.3 || ~0.1 >=1.0.0-rc.1 <2 || 1.0.0 - 2.x || * || =v3.0.0+build",
    b"V1.22.333-alpha.1+build.5",
)
WORDS = (
    *(b"[", b"{", b'"', b"\\", b"null", b"9" * 400, b"1e999", b"\\ud800", b"\\u0000", b"<a href=", b"&#0;", b"<!--"),
    *(
        b"||",
        b"^",
        b"~",
        b">=",
        b" - ",
        b"x",
        b"-",
        b"+",
        b"(",
        b";",
        b"===",
        b"!",
        b"://",
        b"//[",
        b"\n",
        b"\r",
        b"\xff",
    ),
)


def check(data: bytes) -> None:
    """Fail where an answer does anything but being read or refused, or what is read cannot be shown."""
    kind, rest = data[:1], data[1:]
    try:
        match kind:
            case b"J":
                _check_files(index.files(rest, "application/json", URL))
            case b"H":
                _check_files(index.files(rest, "text/html", URL))
            case b"N":
                _check_npm(rest)
            case b"M":
                assert _shown(metadata(rest).summary)
            case _:
                _check_ranges(rest.decode("utf-8", "replace"))
    except (Unusable, NotARange):
        pass


def run(seconds: float, seed: int) -> int:
    return fuzz("registry_pages", check, SEEDS, seconds, seed, WORDS)


def _check_files(found: tuple[ProjectFile, ...]) -> None:
    for one in found:
        assert "/" not in one.name and len(one.url) <= 2_000
        assert one.sha256 == "" or len(one.sha256) == 64
        assert one.size >= 0 <= one.released_at
        assert _shown(one.yanked) and _shown(one.requires_python)
    known = project("app", found, HERE)
    assert len(known.releases) <= known.versions <= len(found)


def _check_npm(data: bytes) -> None:
    for one in npm_registry.read(data, "app", URL).versions:
        assert one.name == "app" and one.text.isascii() and len(one.sha512) == 64
        assert _shown(one.deprecated) and _shown(one.summary)
        for wanted in one.needs.values():
            _check_ranges(wanted)


def _check_ranges(text: str) -> None:
    found = version(text)
    assert found is None or (text.isascii() and found.key >= ((0, 0, 0), False, ()))
    try:
        fits = range_of(text)
    except NotARange:
        assert found is None, "a version is a range, too"
        return
    if found is not None:
        assert fits.allows(found), "a version that is not in the range of itself"


def _shown(text: str) -> bool:
    return text.isprintable() and len(text) <= index.LONGEST_TEXT
