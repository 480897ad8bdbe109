"""The sandbox as the engine sees it: readiness, refusals, variables, and what a torrent of output costs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language, NetworkMode
from runner.model.result import Outcome
from runner.sandbox.choose import choose
from runner.sandbox.contract import Readiness
from runner.sandbox.local import leftovers, trusted
from runner.sandbox.local.sandbox import LocalSandbox
from tests.sandbox.conftest import job, only

if TYPE_CHECKING:
    from tests.sandbox.conftest import Lab

JAVASCRIPT, SHELL = Language.JAVASCRIPT, Language.SHELL


def test_says_what_is_active(bwrap: Lab, plain: Lab) -> None:
    behind, without = (asyncio.run(lab.sandbox.check()) for lab in (bwrap, plain))
    # What compiles the other languages is not on every machine.
    assert set(behind.versions) - {"go", "rust", "java"} == {"python", "javascript", "shell", "bubblewrap"}
    assert "no network (namespace)" in behind.protections
    assert not any("network" in text for text in without.protections)
    assert any("network" in text and "switched off" in text for text in without.missing)
    assert any("processor" in text for text in behind.missing)
    assert bwrap.run("pass").meta.protections == behind.protections
    assert plain.run("pass").meta.protections == without.protections


def test_plain_processes_are_a_weaker_isolation_than_bubblewrap(bwrap: Lab, plain: Lab) -> None:
    for lab, isolation in ((bwrap, Isolation.LOCAL), (plain, Isolation.PROCESS)):
        meta = lab.run("pass").meta
        assert lab.sandbox.isolation is meta.isolation is isolation
        assert meta.runtime == isolation.value
        assert lab.run("import os", imports=only("math")).meta.isolation is isolation  # refused before it ran


def test_without_bubblewrap_installed_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "find", lambda *_names: "")
    sandbox = LocalSandbox(tmp_path / "runs", python="/usr/bin/python3", node="/usr/bin/node", bash="/bin/bash")
    ready = asyncio.run(sandbox.check())
    if os.geteuid() == 0:
        assert not ready.ready
        assert "bubblewrap is not installed" in ready.problem
        assert "Install bubblewrap" in ready.remedy
    else:
        assert ready.ready
        assert any(text.endswith("bubblewrap is not installed") for text in ready.missing)


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    sandbox = LocalSandbox(tmp_path / "runs", node="/nowhere/node")
    ready = asyncio.run(sandbox.check())
    assert ready.ready
    assert "javascript" not in ready.versions
    assert any("Node.js was not found at /nowhere/node" in text for text in ready.missing)
    with pytest.raises(KnownError, match=r"Install Node\.js 20"):
        asyncio.run(sandbox.start(job("1", JAVASCRIPT), lambda _usage: None))


def test_no_network_to_give(bwrap: Lab) -> None:
    with pytest.raises(KnownError, match="no gate for the network"):
        bwrap.run("pass", network=NetworkMode.REGISTRIES)


def test_a_root_that_is_somebody_elses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="belongs to somebody else"):
        leftovers.make_root(tmp_path / "link")
    ready = asyncio.run(LocalSandbox(tmp_path / "link").check())
    assert not ready.ready
    assert "belongs to somebody else" in ready.problem


def test_variables_of_javascript(lab: Lab) -> None:
    result = lab.run(
        "console.log(n + 1, s, list.length, o.k)",
        JAVASCRIPT,
        context='{"n": 1, "s": "é", "list": [1], "o": {"k": null}}',
    )
    assert result.stdout == "2 é 1 null\n", result.stderr


def test_javascript_errors_name_the_file_and_line(lab: Lab) -> None:
    result = lab.run("// first\nthrow new Error('went wrong')\n", JAVASCRIPT)
    assert (result.exit_code, result.outcome) == (1, Outcome.FAILED)
    assert "/workspace/main.js:2" in result.stderr
    assert "Error: went wrong" in result.stderr
    assert "node.cjs" not in result.stderr


def test_variables_of_shell(lab: Lab) -> None:
    result = lab.run('echo "$name|$count|$list"', SHELL, context='{"name": "a b;$(id)", "count": 3, "list": [1, "x"]}')
    assert result.stdout == 'a b;$(id)|3|[1, "x"]\n'


@pytest.mark.parametrize("name", ["LD_PRELOAD", "PATH", "NODE_OPTIONS", "a-b", "1x", "", "PAGER", "https_proxy"])
def test_names_that_cannot_be_variables_of_shell(bwrap: Lab, name: str) -> None:
    result = bwrap.run("echo ran", SHELL, context=f'{{"{name}": "x"}}')
    assert (result.outcome, result.stdout) == (Outcome.FAILED, "")
    assert "cannot be an environment variable" in result.error


@pytest.mark.parametrize("context", ["[1]", "{", "null"])
def test_a_context_that_is_no_object(bwrap: Lab, context: str) -> None:
    result = bwrap.run("print('ran')", context=context)
    assert (result.outcome, result.stdout) == (Outcome.FAILED, "")
    assert "context" in result.error


def test_a_shell_context_too_large_is_a_known_error(bwrap: Lab) -> None:
    with pytest.raises(KnownError, match="could not be started"):
        bwrap.run("echo ran", SHELL, context='{"x": "' + "y" * 3_000_000 + '"}')
    assert bwrap.run("print(1)").stdout == "1\n"


def test_a_start_that_fails_since_assent_was_removed_says_that(bwrap: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """`apt remove` while the console is open; it told to free memory."""
    large = '{"x": "' + "y" * 3_000_000 + '"}'
    for replaced, remedy in ((False, "Free memory"), (True, "Quit it, and start it again.")):
        monkeypatch.setattr("runner.system.installed.replaced", lambda now=replaced: now)
        with pytest.raises(KnownError, match=remedy) as raised:
            bwrap.run("echo ran", SHELL, context=large)
        assert ("Assent was removed or updated" in raised.value.what) == replaced


def test_modules_and_commands_of_javascript(lab: Lab) -> None:
    result = lab.run(
        "import fs from 'node:fs'; fs.writeFileSync('a', 'x'); console.log(fs.readFileSync('a', 'utf8'))", JAVASCRIPT
    )
    assert result.stdout == "x\n", result.stderr


def test_shell_errors(lab: Lab) -> None:
    result = lab.run("echo on; nosuchcommand; exit $?", SHELL)
    assert (result.stdout, result.exit_code) == ("on\n", 127)
    assert "main.sh: line 1: nosuchcommand: command not found" in result.stderr


def test_a_torrent_neither_grows_memory_nor_starves_the_loop(bwrap: Lab) -> None:
    """Some 200 MB as fast as the pipe takes them."""
    limit = 1 << 22
    code = "import os\nblock = b'x' * 65535 + b'\\n'\nfor _ in range(3200): os.write(1, block)"
    turns = 0

    async def body() -> tuple[Outcome, int]:
        nonlocal turns
        run = await bwrap.sandbox.start(job(code, output_bytes=limit), lambda _usage: None)
        finished = asyncio.ensure_future(run.finished())  # noqa: TID251 - no engine here to own it
        position = 0
        while not finished.done():
            position = run.transcript.since(position).position
            await asyncio.sleep(0.001)
            turns += 1
        return (await finished).outcome, position

    before = _resident()
    outcome, _ = asyncio.run(body())
    assert outcome is Outcome.OK
    assert _resident() - before < 40 << 20
    # The slower the machine the longer the torrent lasts; a loop that carried it itself would turn a few times.
    assert turns > 20


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Other:
    """A sandbox of a stronger kind that may or may not work."""

    def __init__(self, isolation: Isolation, problem: str = "") -> None:
        self.isolation = isolation
        self._readiness = Readiness(not problem, problem=problem, remedy="Mend it.")

    async def check(self) -> Readiness:
        return self._readiness


ELSEWHERE = Other(Isolation.E2B)
LOCAL = Other(Isolation.LOCAL)
PLAIN = Other(Isolation.PROCESS)
DOCKER = Other(Isolation.DOCKER)
BROKEN = Other(Isolation.GVISOR, "runsc does not start.")


def chosen(wanted: str, *sandboxes: Other, fall_back: bool = False) -> Other:
    return asyncio.run(choose(wanted, sandboxes, fall_back=fall_back)).sandbox  # type: ignore[arg-type,return-value]


def test_auto_takes_the_strongest_that_works() -> None:
    assert chosen("auto", LOCAL, BROKEN, DOCKER) is DOCKER
    assert chosen("auto", LOCAL) is LOCAL
    assert chosen("local", DOCKER, LOCAL) is LOCAL
    assert chosen("local", DOCKER, PLAIN) is PLAIN
    assert chosen("auto", PLAIN, DOCKER) is DOCKER


def test_automatic_never_leaves_this_machine() -> None:
    assert chosen("auto", ELSEWHERE, LOCAL) is LOCAL
    assert chosen("e2b", ELSEWHERE, LOCAL) is ELSEWHERE


@pytest.mark.parametrize(
    ("wanted", "what"),
    [
        ("docker", "Docker daemon not available"),
        ("gvisor", "gVisor"),
        ("e2b", "E2B"),
        ("chroot", "'chroot' is no kind"),
    ],
)
def test_what_is_not_there_is_said_with_what_to_do(wanted: str, what: str) -> None:
    with pytest.raises(KnownError, match=what) as caught:
        chosen(wanted, LOCAL)
    assert "SANDBOX_TYPE" in caught.value.remedy


def test_scenario_7_words() -> None:
    with pytest.raises(KnownError) as caught:
        chosen("docker", LOCAL)
    assert str(caught.value) == "Docker daemon not available. Set SANDBOX_TYPE=local or start the Docker daemon."


def test_what_is_broken_says_why() -> None:
    with pytest.raises(KnownError, match=r"runsc does not start\. Mend it\."):
        chosen("gvisor", LOCAL, BROKEN)


def test_says_why_it_chose() -> None:
    taken = asyncio.run(choose("auto", (LOCAL, BROKEN, DOCKER)))  # type: ignore[arg-type]
    assert taken.why == "Strongest available here. gvisor: runsc does not start."
    gone = tuple(Other(one, "Docker daemon not available.") for one in (Isolation.DOCKER, Isolation.GVISOR))
    taken = asyncio.run(choose("auto", (LOCAL, *gone)))  # type: ignore[arg-type]
    assert taken.why == "Strongest available here. gvisor and docker: Docker daemon not available."
    fallen = asyncio.run(choose("gvisor", (LOCAL, BROKEN), fall_back=True))  # type: ignore[arg-type]
    assert fallen.why == "In place of gvisor, which the settings name: runsc does not start."


def test_falls_back_only_when_allowed() -> None:
    assert chosen("docker", LOCAL, fall_back=True) is LOCAL
    assert chosen("gvisor", LOCAL, BROKEN, DOCKER, fall_back=True) is DOCKER
    with pytest.raises(KnownError, match="does not start"):
        chosen("auto", BROKEN, fall_back=True)
