"""Other names that callers of the Python API may use; each leads to the one thing that does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.library import direct
from runner.library.runners import SandboxedRunner
from runner.model.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.library.runners import SandboxConfig

ExecutionResult = Result
SubprocessRunner = SandboxedRunner
InProcessRunner = SandboxedRunner
"""Nothing runs in the process of its caller: that would be no sandbox."""


class DockerRunner(SandboxedRunner):
    """Runs Python code in a container of Docker, and nowhere where there is none."""

    def __init__(self, config: SandboxConfig) -> None:
        super().__init__(config, isolation="docker")


class CodeSandbox:
    """The sandbox that the settings name."""

    def execute(
        self,
        code: str,
        language: str = "python",
        timeout: float | None = None,
        context: Mapping[str, object] | None = None,
    ) -> Result:
        """Run `code` as the function of that name does."""
        return direct.execute(code, language, timeout, context)


def get_sandbox() -> CodeSandbox:
    """Return the sandbox that `SANDBOX_TYPE` names; it is looked for when something runs."""
    return CodeSandbox()
