"""The sandbox as a library: the scenarios (spec S1 to S10) about running Python locally."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path

import pytest

from runner import KnownError, Outcome, Refused, Result, execute, execute_async, run_python_code
from runner.library import direct as library
from runner.sandbox.local.sandbox import LocalSandbox
from runner.system.places import Places
from tests.engine.network_stage import serve
from tests.network.stage import PUBLIC, Hosts


def artifacts() -> list[Path]:
    return sorted(Places.standard().artifacts.glob("*.json"))


def test_hello_without_any_set_up() -> None:
    result = execute("print('Hello')", "python")
    assert (result.stdout, result.exit_code, result.outcome) == ("Hello\n", 0, Outcome.OK)
    assert result.duration > 0
    assert result.meta.runtime == "local"


def test_without_bubblewrap_it_runs_what_its_caller_vouches_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="assent-test-") as root:
        plain = LocalSandbox(Path(root), python="/usr/bin/python3", bubblewrap=False)
        monkeypatch.setattr(library, "_sandboxes", lambda _settings: (plain,))
        monkeypatch.setenv("SANDBOX_TYPE", "local")
        for _ in range(2):  # known for what it is from the second one on
            result = execute("import shutil; shutil.rmtree('build', ignore_errors=True); print('Hello')")
            assert (result.stdout, result.meta.runtime) == ("Hello\n", "process")


def test_variables_go_in_and_the_result_comes_out() -> None:
    result = execute("result = [n * factor for n in numbers]", context={"numbers": [1, 2], "factor": 3})
    assert result.value == [3, 6]


def test_python_code_sees_the_packages_of_its_caller() -> None:
    """Source document 0: the same virtual environment."""
    assert execute("import pytest, sys\nprint(sys.executable)").stdout == f"{sys.executable}\n"


def test_other_languages() -> None:
    assert execute("console.log(1 + 1)", "javascript").stdout == "2\n"
    assert execute("echo $((1 + 1))", "shell").stdout == "2\n"


def test_an_endless_loop_is_ended() -> None:
    result = execute("while True: pass", timeout=1)
    assert (result.exit_code, result.meta.timed_out, result.outcome) == (-1, True, Outcome.TIMED_OUT)
    assert "timed out" in result.stderr


def test_text_for_agents_never_raises() -> None:
    assert run_python_code("print('Hello')") == "Hello"
    assert "Something went wrong" in run_python_code("raise ValueError('Something went wrong')")
    assert "Error (exit_code=1)" in run_python_code("raise ValueError('x')")
    assert run_python_code("print(1)", timeout=-5).startswith("Error: timeout is -5")
    assert run_python_code("\0").startswith("Error: ")


def test_long_output_is_cut_visibly() -> None:
    text = run_python_code("for i in range(100000):\n    print(f'Line {i}: ' + 'X' * 100)")
    assert len(text) < 12_000
    assert "output truncated" in text
    assert text.startswith("Line 0:")
    assert "Line 99999" in text


def test_dangerous_imports_are_stopped_before_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_BLOCK_DANGEROUS_IMPORTS", "true")
    result = execute("import subprocess\nsubprocess.run(['rm', '-rf', '/'])")
    assert result.meta.blocked_imports == ("subprocess",)
    assert "subprocess" in result.stderr
    assert result.outcome is Outcome.FAILED


def test_the_level_strict_keeps_to_its_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_SECURITY_LEVEL", "strict")
    monkeypatch.setenv("ASSENT_SANDBOX_FALLBACK", "true")
    assert execute("import math, json\nprint(math.pi > 3)").stdout == "True\n"
    assert execute("import os").meta.blocked_imports == ("os",)


def test_a_missing_engine_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_TYPE", "docker")
    text = run_python_code("print(1)")
    assert "Docker daemon not available" in text
    assert "Set SANDBOX_TYPE=local or start the Docker daemon" in text


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("SANDBOX_TYPE", "nonsense", "'nonsense' is none of"),
        ("SANDBOX_BLOCK_DANGEROUS_IMPORTS", "ture", "SANDBOX_BLOCK_DANGEROUS_IMPORTS"),
        ("SANDBOX_SECURITY_LEVEL", "strickt", "'strickt' is none of"),
        ("SANDBOX_TIMEOUT_SEC", "soon", "SANDBOX_TIMEOUT_SEC"),
        ("ASSENT_ENABLED", "false", "switched off in the settings"),
        ("SANDBOX_SECURITY_LEVEL", "strict", "ask for Docker or stronger, and only local works here"),
        ("SANDBOX_TYPE", "e2b", "not available here"),
    ],
)
def test_settings_that_forbid_or_may_forbid_run_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(KnownError, match=said):
        execute("print(1)")
    assert said in run_python_code("print(1)")


def test_a_broken_settings_file_runs_nothing() -> None:
    places = Places.standard()
    places.make()
    places.settings.write_text("security:\n  level: strict\n  level: strict\n")
    with pytest.raises(KnownError, match="Nothing was run"):
        execute("print(1)")


def test_the_fallback_is_allowed_by_the_caller_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_SECURITY_LEVEL", "strict")
    assert execute("print(1)", fall_back=True).stdout == "1\n"


@pytest.mark.parametrize(
    ("policy", "code", "kept"),
    [
        ("always", "print(1)", 1),
        ("on_error", "print(1)", 0),
        ("on_error", "raise ValueError", 1),
        ("never", "raise ValueError", 0),
    ],
)
def test_artifacts_as_the_settings_say(monkeypatch: pytest.MonkeyPatch, policy: str, code: str, kept: int) -> None:
    monkeypatch.setenv("SANDBOX_STORE_CODE", policy)
    execute(code)
    assert len(artifacts()) == kept
    for path in artifacts():
        assert code in json.dumps(json.loads(path.read_text()))
        assert path.stat().st_mode & 0o777 == 0o600


def test_files_stay_out_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert execute("open('test.txt', 'w').write('data')\nprint('ok')").stdout == "ok\n"
    assert not (tmp_path / "test.txt").exists()


def test_within_a_running_loop() -> None:
    async def both() -> tuple[str, str]:
        return execute("print(1)").stdout, (await execute_async("print(2)")).stdout

    assert asyncio.run(both()) == ("1\n", "2\n")


def test_errors_come_out_of_a_running_loop_too() -> None:
    async def wrong() -> None:
        execute("   ")

    with pytest.raises(Refused, match="code is empty"):
        asyncio.run(wrong())


def test_arguments_out_of_bounds_are_refused() -> None:
    with pytest.raises(Refused, match="code is empty"):
        execute("   ")


def test_code_reaches_the_hosts_that_are_named_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts({"good.example": [PUBLIC], "evil.example": [PUBLIC]})
    monkeypatch.setattr("runner.engine.networking.dialer_of_this_machine", lambda _seconds: hosts.dialer())
    code = (
        "import urllib.request as web\n"
        "print(web.urlopen('http://good.example/').read().decode())\n"
        "web.urlopen('http://evil.example/')"
    )

    async def both() -> tuple[Result, Result]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        hosts.ports[80] = server.sockets[0].getsockname()[1]
        async with server:
            online = await execute_async(code, network_enabled=True, allowed_domains=["Good.example:80"])
            return online, await execute_async(code)

    online, offline = asyncio.run(both())
    assert online.stdout == "hello\n" and "Blocked by Assent" in online.stderr
    assert [(one.name, one.allowed) for one in online.contacts] == [
        ("evil.example:80", False),
        ("good.example:80", True),
    ]
    assert offline.stdout == "" and offline.contacts == ()


def test_network_that_cannot_be_given_or_understood_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"allowed_domains": ["a.example"]}, {"network_enabled": True, "allowed_domains": ["a b"]}):
        with pytest.raises(Refused):
            execute("print(1)", **wrong)  # type: ignore[arg-type]
    monkeypatch.setattr(library, "registry_hosts", lambda _settings: ())
    with pytest.raises(Refused, match="this machine names none"):
        execute("print(1)", network_enabled=True, allowed_domains=[])
    with tempfile.TemporaryDirectory(prefix="assent-test-") as root:
        plain = LocalSandbox(Path(root), python="/usr/bin/python3", bubblewrap=False)
        monkeypatch.setattr(library, "_sandboxes", lambda _settings: (plain,))
        monkeypatch.setenv("SANDBOX_TYPE", "local")
        for _ in range(2):
            with pytest.raises(KnownError, match="lain processes"):
                execute("print(1)", network_enabled=True, allowed_domains=["a.example"])


def test_a_run_may_name_its_sandbox_its_limits_and_its_input() -> None:
    result = execute("print(input())", stdin="typed", isolation="local", max_memory_mb=128, max_output_bytes=5000)
    assert result.stdout == "typed\n", result.stderr
    assert (result.meta.limits.memory_mb, result.meta.limits.output_bytes) == (128, 5000)
    with pytest.raises(KnownError, match="not available"):
        execute("print(1)", isolation="e2b")
    with pytest.raises(KnownError, match="no kind of sandbox"):
        execute("print(1)", isolation="none")
    with pytest.raises(Refused, match="max_memory_mb"):
        execute("print(1)", max_memory_mb=10**9)
