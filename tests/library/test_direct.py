"""The sandbox as a library: the scenarios (spec S1 to S10) about running Python locally."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from runner import KnownError, Outcome, Refused, Result, execute, execute_async, run_python_code
from runner.library import direct as library
from runner.model.request import Isolation, Tool
from runner.model.submission import Submission
from runner.requests import intake
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.declared import Settings
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
    ("isolation", "said"),
    [
        ("cloud", "E2B is not available here: the settings do not choose it"),
        ("E2B", "E2B is not available here: the settings do not choose it"),
        ("podman", "is no kind of sandbox. Set SANDBOX_TYPE to auto, local, docker, gvisor-direct, gvisor, e2b"),
    ],
)
def test_a_run_may_name_its_sandbox_in_every_word_of_the_settings(isolation: str, said: str) -> None:
    with pytest.raises(KnownError, match=said):
        execute("print(1)", isolation=isolation)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("SANDBOX_TYPE", "nonsense", "'nonsense' is none of"),
        ("SANDBOX_BLOCK_DANGEROUS_IMPORTS", "ture", "SANDBOX_BLOCK_DANGEROUS_IMPORTS"),
        ("SANDBOX_SECURITY_LEVEL", "strickt", "'strickt' is none of"),
        ("SANDBOX_TIMEOUT_SEC", "soon", "SANDBOX_TIMEOUT_SEC"),
        ("ASSENT_ENABLED", "false", "switched off in the settings"),
        ("SANDBOX_SECURITY_LEVEL", "strict", "ask for Docker or stronger, and only local works here"),
        ("SANDBOX_TYPE", "e2b", "no key for E2B"),
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
    with pytest.raises(Refused, match=r"max_output_bytes is 20,000,001; it must be above 0 and at most 8,388,608\."):
        execute("print(1)", max_output_bytes=20_000_001)
    with pytest.raises(Refused, match=r"timeout is 0\.5; it must be above 0 and at most 0\.1\."):
        raise_for_timeout(0.5, 0.1)


def raise_for_timeout(asked: float, highest: float) -> None:
    settings = Settings(timeout_seconds=highest, max_timeout_seconds=highest)
    intake.limits(Submission(library.CALLER, Tool.CODE_EXECUTE, timeout=asked), settings, Isolation.LOCAL)


def test_as_much_output_is_kept_as_the_third_source_document_asks_for() -> None:
    result = execute("print('x' * 5_000_000)", max_output_bytes=5_242_880)
    assert len(result.stdout) == 5_000_001 and not result.meta.truncated


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"code": None}, "code is of type NoneType; it must be a text"),
        ({"code": b"print(1)"}, "code is of type bytes"),
        ({"timeout": "5"}, "timeout is of type str; it must be a number"),
        ({"timeout": True}, "timeout is of type bool"),
        ({"timeout": 10**400}, "timeout is not a usable number"),
        ({"timeout": float("nan")}, "timeout is not a usable number"),
        ({"max_memory_mb": 128.5}, "max_memory_mb is 128.5; it must be a whole number"),
        ({"context": {1: 2}}, "context has 1 for a name"),
        ({"context": [("x", 1)]}, "context is of type list; it must be a dictionary"),
        ({"context": {"x": object()}}, "context is not JSON data"),
        ({"stdin": None}, "stdin is of type NoneType"),
        ({"language": None}, "language is of type NoneType"),
        ({"language": "cobol"}, "'cobol' is not a language Assent runs"),
        ({"isolation": 5}, "isolation is of type int"),
        ({"network_enabled": "no"}, "network_enabled is of type str; it must be True or False"),
        ({"network_enabled": True, "allowed_domains": "a.example"}, "allowed_domains is of type str"),
        ({"network_enabled": True, "allowed_domains": [5]}, "An entry of allowed_domains is of type int"),
    ],
)
def test_values_of_other_types_are_refused_in_words(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        execute(**{"code": "print(1)", **given})


@pytest.mark.parametrize("code", [None, b"print(1)", 5, object()])
def test_text_for_agents_says_that_the_code_is_no_text(code: Any) -> None:
    assert run_python_code(code).startswith("Error: code is of type ")


@pytest.mark.parametrize("name", ["bash", "sh", " Shell "])
def test_languages_have_the_names_that_calls_and_settings_take(name: str) -> None:
    assert execute("echo $((1 + 1))", name).stdout == "2\n"


def test_code_reaches_the_hosts_that_are_named_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts({"good.example": [PUBLIC], "evil.example": [PUBLIC]})
    monkeypatch.setattr("runner.engine.supply.networking.dialer_of_this_machine", lambda _seconds: hosts.dialer())
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


def test_settings_take_the_same_names_of_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_SUPPORTED_LANGUAGES", "py, sh")
    assert execute("print(1)", "python3").stdout == "1\n"
    with pytest.raises(Refused, match="javascript is switched off"):
        execute("1", "nodejs")
