"""Every test: its own home, no keyring, and nothing unexpected left behind or said."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import os
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Before anything imports Qt.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1")
# A console that a test starts speaks English, whatever the desktop does.
os.environ["LANGUAGE"] = "en"
os.environ.setdefault("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")

import hypothesis
import pytest
from PySide6.QtCore import QThread

from app.start.pyside import prepare
from runner.sandbox.local.control_groups import CONTROLLERS, own_group
from runner.system import tasks
from tests import busy, kept, workers
from tests.sharing import SharedByFile, turn

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

# As in the console itself.
prepare()
# The first thread that Qt meets is the main one for it; some tests read pictures on another.
QThread.currentThread()
GRACE_SECONDS = 20.0
"""For threads and processes that are on their way out when a test ends."""


def pytest_addoption(parser: pytest.Parser) -> None:
    busy.add_option(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    busy.configure(config)
    # Its own deadline, 200 ms of the wall clock, passes by itself on a busy machine; tests guard against hanging.
    hypothesis.settings.register_profile("assent", deadline=None)
    hypothesis.settings.load_profile("assent")
    config.addinivalue_line("markers", "errors_expected: this test provokes errors in the log")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Keep the garbage collector from the modules and the thousands of tests: all stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: turn(item.nodeid))
    for item in items:
        busy.patient(item)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SharedByFile:
    return SharedByFile(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Add what every thread was doing to the report of a test that waited in vain."""
    report = yield
    if call.excinfo is not None and "Timeout" in call.excinfo.typename:
        report.sections.append(("threads", _stacks()))
    return report


def _stacks() -> str:
    """Return the innermost calls of every thread of this process."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f"{names.get(number, number)}:\n{''.join(traceback.format_stack(frame)[-8:])}"
        for number, frame in sys._current_frames().items()
        if number != threading.get_ident()
    )


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for everything that Assent keeps."""
    for name in [name for name in os.environ if name.startswith(("ASSENT_", "SANDBOX_", "DOCKER_"))]:
        if name != "ASSENT_REQUIRE_ALL":
            monkeypatch.delenv(name)
    root = tmp_path / "assent-home"
    monkeypatch.setenv("ASSENT_HOME", str(root))
    return root


@pytest.fixture(autouse=True)
def shared_workers() -> Iterator[None]:
    """Processes of the classifier that are there already: most tests that need one are over sooner than it starts."""
    with workers.shared():
        yield


@pytest.fixture(autouse=True)
def nothing_left(home: Path, shared_workers: None) -> Iterator[None]:
    """Fails a test that leaves threads, tasks, child processes, folders of runs or open files behind."""
    threads, children, folders = set(threading.enumerate()), _children(), _folders()
    running = set(tasks.live())  # what an earlier test left is that test's failure alone
    yield
    left = _settled(lambda: [t.name for t in threading.enumerate() if t not in threads and not t.daemon])
    assert not left, f"threads left: {left}"
    left = _settled(
        lambda: [
            f"{pid} {command}"
            for pid, command in _children().items()
            if pid not in children and int(pid) not in kept.PROCESSES
        ]
    )
    assert not left, f"processes left: {left}"
    left = _settled(lambda: sorted(_folders() - folders))
    assert not left, f"folders left: {left}"
    left = _settled(lambda: _open_below(home.parent))
    assert not left, f"files left open: {left}"
    left = [name for name in tasks.live() if name not in running]
    assert not left, f"tasks left: {left}"


@pytest.fixture(autouse=True)
def no_errors_logged(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test in which an error was logged, unless it is marked `errors_expected`."""
    yield
    if request.node.get_closest_marker("errors_expected"):
        return
    errors = [
        r.getMessage() for phase in ("setup", "call") for r in caplog.get_records(phase) if r.levelno >= logging.ERROR
    ]
    assert not errors, f"errors logged: {errors}"


def _settled(leftovers: object) -> list[object]:
    assert callable(leftovers)
    end = time.monotonic() + GRACE_SECONDS
    while (left := leftovers()) and time.monotonic() < end:
        time.sleep(0.02)
    return list(left)


def _folders() -> set[str]:
    """Folders that runs of this process have for temporary files, and their control groups."""
    mine = f"run-{os.getpid()}-"
    found = {path for folder in _below(tempfile.gettempdir(), "assent-") for path in _below(folder, mine)}
    for group in _groups():
        found |= {path for path in _below(group, "assent-") if f"-{mine}" in path}
    return found


def _below(folder: str, prefix: str) -> list[str]:
    """What a folder holds that begins so; nothing where it has gone meanwhile, or is none."""
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder) if name.startswith(prefix)]
    except OSError:
        return []


@functools.cache
def _groups() -> tuple[str, ...]:
    """The control groups of this process, in which those of its runs are: the same as long as it lives."""
    return tuple(str(group) for group in map(own_group, ("", *CONTROLLERS)) if group)


def _open_below(folder: Path) -> list[str]:
    """Files below `folder` that this process holds open."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            target = os.readlink(link)
            if target.startswith(f"{folder}/"):
                found.append(target)
    return found


def _children() -> dict[str, str]:
    """This process's children, with the command of each, from /proc.

    One that has just been started has no command for a moment, so that only its number says which it is.
    """
    found = {}
    for task in Path("/proc/self/task").iterdir():
        try:
            pids = (task / "children").read_text().split()
        except OSError:
            continue
        for pid in pids:
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            found[pid] = command[:80]
    return found
