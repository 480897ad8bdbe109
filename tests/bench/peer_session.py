"""Runs in llm-sandbox, as a script of the environment that `tests.bench.peer` makes: prints seconds as JSON.

Arguments: address of the engine, image, runtime, rounds.
"""

from __future__ import annotations

import json
import sys
import time

from docker import DockerClient
from llm_sandbox import SandboxSession

CODE = "print('hello')"


def main(at: str, image: str, runtime: str, rounds: int) -> list[tuple[float, float, float]]:
    """Of each round: start to the first result, the next result in the same session, and the whole."""
    client = DockerClient(base_url=at)
    told = []
    for _ in range(rounds):
        begun = time.perf_counter()
        with SandboxSession(
            client=client,
            image=image,
            lang="python",
            workdir="/workspace",
            skip_environment_setup=True,  # its own way to start fast
            runtime_configs={"network_mode": "none", "runtime": runtime},
        ) as session:
            session.language_handler.config.execution_commands = ["python3 {file}"]  # the image's name for it
            first = _run(session, begun)
            again = _run(session, time.perf_counter())
        told.append((first, again, time.perf_counter() - begun - again))
    return told


def _run(session: SandboxSession, begun: float) -> float:
    result = session.run(CODE)
    assert result.stdout == "hello\n", result
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))))
