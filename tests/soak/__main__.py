"""`python -m tests.soak [--seconds N] [--seed N]`: a real console, four agents that never stop, and what it holds.

Agents call over MCP: runs, errors, time-outs, denials, calls that are broken off. Memory, descriptors and threads of
the console must not grow, nor the history by more than its entries. Ends with 1 where something does.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

from runner.audit.ledger.verify import verify
from tests.soak.judge import LEAST_SAMPLES, Judged, Sample, judged, ledger
from tests.soak.stage import House, wait_until_gone

SECONDS = 600.0
MOST_SAMPLES = 400


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long agents ask; default: %(default)s")
    parser.add_argument("--seed", type=int, help="for the same calls again; default: others each time")
    wanted = parser.parse_args(arguments)
    seed = random.randrange(1 << 32) if wanted.seed is None else wanted.seed
    with tempfile.TemporaryDirectory(prefix="assent-soak-") as folder:
        Path(folder).chmod(0o755)
        found = asyncio.run(soak(House(Path(folder) / "home"), wanted.seconds, seed))
    for one in found:
        print(one)
    broken = [one for one in found if not one.held]
    print(f"Seed {seed}. {'Something grows or is wrong.' if broken else 'Nothing grows.'}")
    return int(bool(broken))


async def soak(house: House, seconds: float, seed: int) -> list[Judged]:
    """Let agents ask for `seconds`, and judge what the console held meanwhile and left behind."""
    samples: list[Sample] = []
    try:
        house.start()
        await house.opened()
        assert house.process is not None
        pid, begun = house.process.pid, time.monotonic()
        async with house.asking(seed):
            while (now := time.monotonic() - begun) < seconds or len(samples) < LEAST_SAMPLES:
                samples.append(Sample.of(pid, now, house.answered.total()))
                await asyncio.sleep(max(seconds / MOST_SAMPLES, min(1.0, seconds / LEAST_SAMPLES / 2)))
            if not house.ran:  # a busy machine may have taken all of that for the first answer
                await house.worked()
            samples.append(Sample.of(pid, now, house.answered.total()))
        code = await asyncio.to_thread(house.quit)
    finally:
        house.end()
    print(f"{house.answered.total()} calls in {seconds:.0f} s: {dict(house.answered)}")
    for surprise in house.surprises[:5]:
        print(f"  {surprise}")
    verdict = await asyncio.to_thread(verify, house.places.ledger)
    left = [*await wait_until_gone(pid), *(str(path) for path in house.temporary.rglob("run-*"))]
    return [
        *judged(samples),
        ledger(house.places.ledger, house.answered.total()),
        Judged("answers that are wrong", len(house.surprises), 0, ""),
        Judged("exit code of the console", code, 0, ""),
        Judged("history that does not verify", not verdict.ok, 0, "", verdict.what),
        Judged("processes and folders left", len(left), 0, "", " ".join(left[:3])),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
