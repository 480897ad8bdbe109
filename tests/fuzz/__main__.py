"""`python -m tests.fuzz [--seconds N] [--seed N] [--list] [target ...]`: random input for all that reads others' bytes.

A target is a module of this folder with `run(seconds, seed) -> int`: it tries inputs for about so long, returns how
many, and raises where a promise is broken. Each runs in a process of its own, so one that hangs or dies is a failure
and not the end.
"""

from __future__ import annotations

import argparse
import ast
import random
import subprocess
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = 240.0
"""For all targets together."""
LATE_SECONDS = 120.0
"""How much longer than its time a target may take: to load, and for its last input."""


def targets() -> tuple[str, ...]:
    """The modules of this folder that have `run`."""
    return tuple(path.stem for path in sorted(HERE.glob("*.py")) if path.stem != "__main__" and "run" in _made(path))


def _made(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}


def main(arguments: list[str]) -> int:
    """Try each target; 1 where one failed."""
    there = targets()
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all targets together; default: %(default)s")
    parser.add_argument("--seed", type=int, help="for the same inputs again; default: another one each time")
    parser.add_argument("--list", action="store_true", help="list the targets")
    parser.add_argument("--in-process", metavar="TARGET", help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*", metavar="target", help="what to try; everything without")
    wanted = parser.parse_args(arguments)
    if unknown := {*wanted.targets, wanted.in_process or there[0]} - set(there):
        parser.error(f"there is no {', '.join(sorted(unknown))}; --list tells what there is")
    seed = random.randrange(1 << 32) if wanted.seed is None else wanted.seed
    if wanted.list:
        for name in there:
            about = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text("utf-8"))) or ""
            print(f"{name:16} {about.partition(chr(10))[0]}")
        return 0
    if wanted.in_process:
        print(import_module(f"tests.fuzz.{wanted.in_process}").run(wanted.seconds, seed))
        return 0
    chosen = wanted.targets or there
    failed = [name for name in chosen if not tried(name, wanted.seconds / len(chosen), seed)]
    print(f"Failed: {', '.join(failed)}" if failed else "None failed.")
    return int(bool(failed))


def tried(name: str, seconds: float, seed: int) -> bool:
    """Run one target in a process of its own and print how it went; False where it failed."""
    command = [sys.executable, "-m", "tests.fuzz", "--in-process", name, f"--seconds={seconds}", f"--seed={seed}"]
    try:
        done = subprocess.run(
            command, cwd=HERE.parent.parent, capture_output=True, text=True, timeout=seconds + LATE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"{name:16} FAILED: it does not end. Seed {seed}.", flush=True)
        return False
    if done.returncode:
        print(f"{name:16} FAILED with seed {seed}:\n{done.stderr[-6000:]}", flush=True)
        return False
    print(f"{name:16} {done.stdout.split()[-1]:>8} inputs in {seconds:.0f} s, seed {seed}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
