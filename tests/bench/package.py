"""The package against the checkout: start and memory of `assent mcp`, the window, sizes, and the time it is made in."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.bridge_start import INITIALIZE
from tests.bench.first_window import FRAME, painted
from tests.bench.row import Row, attempt, skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build/package/assent"
ROUNDS = 15
WINDOWS = 7
BUILD_SECONDS = 120.0
MB = 1e6
CHECKOUT = (sys.executable, "-m", "app")
PACKAGE = (str(TREE / "assent"),)
IN_PACKAGE = (str(TREE / "python/bin/assent"), "-I", "-S", "-X", "utf8", "-c")
"""The package's interpreter with its flags, and a script."""
TOOLS = ("dpkg-deb", "dpkg-shlibdeps", "patchelf", "strip")


def rows() -> Iterator[Row]:
    yield from attempt("package made with FAST=1", _made)
    if not (TREE / "VERSION").is_file():
        skip("no package was built: make package")
    yield from attempt("assent mcp of the package", _bridge)
    yield from attempt("window of the package", _window)
    yield from _sizes()


def _made() -> Iterator[Row]:
    missing = [tool for tool in TOOLS if not any(Path(folder, tool).exists() for folder in os.get_exec_path())]
    if missing:
        skip(f"not there: {', '.join(missing)}; make package brings them")
    with tempfile.TemporaryDirectory() as dist:
        environment = os.environ | {"FAST": "1", "DIST": dist}
        start = time.perf_counter()
        subprocess.run([ROOT / "packaging/linux/package.sh"], env=environment, check=True, stdout=subprocess.DEVNULL)
        yield Row("package made with FAST=1", time.perf_counter() - start, "s", at_most=BUILD_SECONDS)


def _bridge() -> Iterator[Row]:
    # In turn, so that both meet the same machine.
    rounds = [(_answered(CHECKOUT), _answered(PACKAGE)) for _ in range(ROUNDS)]
    checkout, package = ([each[side] for each in rounds] for side in (0, 1))
    for number, (name, unit) in enumerate((("answers initialize (p50)", "ms"), ("takes memory (p50)", "MB"))):
        floor, value = (statistics.median(each[number] for each in side) for side in (checkout, package))
        yield Row(f"assent mcp of the package {name}", value, unit, floor, at_most=1.15)


def _answered(command: Sequence[str]) -> tuple[float, float]:
    """Return milliseconds from start to answer, and the megabytes that the process has had at most by then."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"ASSENT_HOME": home, "ASSENT_TOKEN": "none", "PATH": "/usr/bin:/bin"}
        start = time.perf_counter()
        pipe = subprocess.PIPE
        with subprocess.Popen([*command, "mcp"], stdin=pipe, stdout=pipe, env=environment, cwd=ROOT) as bridge:
            assert bridge.stdin is not None and bridge.stdout is not None
            bridge.stdin.write(INITIALIZE.encode() + b"\n")
            bridge.stdin.flush()
            answer = bridge.stdout.readline()
            took = (time.perf_counter() - start) * 1e3
            memory = Path(f"/proc/{bridge.pid}/status").read_text()
        assert b'"result"' in answer, answer
        (peak,) = [line.split()[1] for line in memory.splitlines() if line.startswith("VmHWM:")]
        return took, int(peak) * 1024 / MB


def _window() -> Iterator[Row]:
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        skip("there is no display, and no Xvfb for a virtual one")
    script = f"import sys\nsys.path.insert(0, {str(TREE / 'app')!r})\n{FRAME}"
    rounds = [(painted((sys.executable, "-c", FRAME)), painted((*IN_PACKAGE, script))) for _ in range(WINDOWS)]
    floor, value = (statistics.median(taken) for taken in zip(*rounds, strict=True))
    yield Row("first window of the package painted (p50)", value, "ms", floor, at_most=1.1)


def _sizes() -> Iterator[Row]:
    site = Path(sysconfig.get_path("platlib"))
    yield Row("installed folder, of the checkout's packages", _size(TREE), "MB", _size(site), at_most=0.45)
    packed = [
        deb for deb in sorted((ROOT / "dist").glob("assent_*.deb")) if b"data.tar.xz" in deb.read_bytes()[: 1 << 20]
    ]
    if not packed:
        yield Row("package", skipped="only make package without FAST=1 makes it as small as it is published")
    for deb in packed[-1:]:
        yield Row("package", deb.stat().st_size / MB, "MB", at_most=50)


def _size(folder: Path) -> float:
    """Return the megabytes of all files below `folder`; of several names of one file, one counts."""
    found = {(facts.st_dev, facts.st_ino): facts.st_size for facts in (f.lstat() for f in folder.rglob("*"))}
    return sum(found.values()) / MB
