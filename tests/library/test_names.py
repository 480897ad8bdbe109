"""Import lines, samples and configuration with the other names, as a caller would try these."""

from __future__ import annotations

import pytest

from runner import (
    CodeSandbox,
    DockerRunner,
    ExecutionResult,
    InProcessRunner,
    KnownError,
    SandboxConfig,
    SandboxedRunner,
    SandboxManager,
    SecurityLevel,
    SubprocessRunner,
    create_runner,
    execute,
    get_sandbox,
    run_code,
    run_python_code,
)
from runner.system.places import Places

YAML = """
security:
  sandbox:
    enabled: true
    runtime: runsc # gVisor runtime

    # Default resource limits
    limits:
      max_memory_mb: 512
      max_cpu_cores: 0.5
      max_disk_mb: 1024
      max_execution_time: 30
      max_output_bytes: 1048576

    # Network configuration
    network:
      enabled_by_default: false
      allowed_registries:
        pypi:
          - index.example
          - files.example
        npm:
          - npm.example
          - npm.example

    # Supported languages
    languages:
      python:
        default_packages: []
      javascript:
        default_packages: []
      shell:
        default_packages: []

    # HITL integration
    hitl:
      enabled: true
      auto_approve_low_risk: true
"""
"""Every kind of entry of a given file, but for lines that name images."""


def test_the_first_document_and_the_factory_before_it() -> None:
    sandbox = get_sandbox()
    assert isinstance(sandbox, CodeSandbox)
    result = sandbox.execute(code="print('Hello')", language="python", timeout=20)
    assert isinstance(result, ExecutionResult)
    assert (result.stdout, result.stderr, result.exit_code) == ("Hello\n", "", 0)
    assert result.duration < 30
    assert "Hello" in run_python_code("print('Hello')")
    assert run_code("console.log('Hi')", language="javascript") == "Hi"
    assert run_code("1", "cobol").startswith("Error: ")


def test_what_is_known_of_a_run_may_be_asked_as_of_a_dictionary() -> None:
    result = execute("for i in range(100000):\n    print(f'Line {i}: ' + 'X' * 100)")
    assert result.meta["truncated"] is True
    assert result.meta["runtime"] == result.meta.runtime
    assert result.meta["timed_out"] is False and not result.meta["blocked_imports"]
    limits = result.meta.resource_limits
    assert limits == result.meta["resource_limits"] and limits["memory_mb"] == 512
    assert {"runtime", "truncated", "timed_out", "blocked_imports", "resource_limits"} <= dict(result.meta).keys()
    assert "truncated" in result.meta and "colour" not in result.meta
    with pytest.raises(KeyError):
        result.meta["colour"]


def test_memory_limit_enforced() -> None:
    runner = SubprocessRunner(SandboxConfig(max_memory_mb=50))
    result = runner.execute("x = 'a' * (100 * 1024 * 1024)", {})
    assert not result.success
    assert "MemoryError" in result.error or "killed" in result.error.lower()  # type: ignore[operator, union-attr]


def test_timeout_enforced() -> None:
    """All but its time, which a busy machine does not keep."""
    runner = SubprocessRunner(SandboxConfig(timeout_seconds=1))
    result = runner.execute("import time; time.sleep(10)", {})
    assert not result.success


def test_network_blocked() -> None:
    runner = SubprocessRunner(SandboxConfig())
    result = runner.execute("import urllib.request; urllib.request.urlopen('http://example.com')", {})
    assert not result.success


def test_the_runners_of_the_second_document() -> None:
    with create_runner(SecurityLevel.STANDARD) as runner:
        assert isinstance(runner, SandboxedRunner)
        assert runner.execute("result = df + 1", {"df": 1}).result == 2
    assert InProcessRunner(SandboxConfig.for_level(SecurityLevel.PERMISSIVE)).execute("result = 2").result == 2


def test_the_runner_of_docker_runs_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setenv("SANDBOX_TYPE", "local")
    with pytest.raises(KnownError, match="Docker daemon not available"):
        DockerRunner(SandboxConfig()).execute("print(1)")


@pytest.mark.asyncio
async def test_the_sandboxes_of_the_third_document() -> None:
    async with SandboxManager() as sandbox:
        sandbox_id = await sandbox.create_sandbox("shell", network_enabled=False)
        await sandbox.write_file(sandbox_id=sandbox_id, file_path="/workspace/config.json", content='{"key": "value"}')
        code = 'echo "Shell: $BASH_VERSION"\nls -la /workspace\n'
        result = await sandbox.execute_code(sandbox_id=sandbox_id, code=code, timeout=60, max_output_bytes=5_242_880)
        assert result.stdout.startswith("Shell: 5") and "config.json" in result.stdout
        read = await sandbox.read_file(sandbox_id=sandbox_id, file_path="/workspace/config.json")
        assert read.content == '{"key": "value"}'
        listed = await sandbox.list_files(sandbox_id=sandbox_id, path="/workspace")
        assert "config.json" in listed.files
        await sandbox.destroy_sandbox(sandbox_id=sandbox_id)


@pytest.mark.parametrize(
    ("language", "code", "printed"),
    [
        ("python", 'import sys\nprint(f"Python {sys.version}")\nprint("Hello from gVisor sandbox!")', "Python 3."),
        ("javascript", "console.log(`Node.js ${process.version}`);", "Node.js v"),
        ("shell", 'echo "Shell: $BASH_VERSION"\nls -la /workspace', "Shell: 5"),
    ],
)
def test_the_configuration_of_the_third_document_runs_what_it_shows(language: str, code: str, printed: str) -> None:
    """With the fallback, as its sandbox is not on every machine."""
    places = Places.standard()
    places.make()
    places.settings.write_text(YAML)
    result = execute(code, language, fall_back=True)
    assert result.stdout.startswith(printed), result.stderr
    assert (result.meta.limits.memory_mb, result.meta.limits.seconds) == (512, 30)
