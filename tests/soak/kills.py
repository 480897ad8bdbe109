"""`python -m tests.soak.kills [--kills N] [--seed N]`: the console is killed at random moments while agents ask.

After each kill, from outside: the history verifies; what was about to start had been approved and written as running;
nothing was decided, started or running twice; what agents got a result of had run. At the end everything is closed, and
no process, folder or half file is left. Ends with 1 where that is not so.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sqlite3
import sys
import tempfile
from collections import Counter
from pathlib import Path

from runner.audit.ledger.verify import verify
from tests.soak.stage import House, marked, wait_until_gone

KILLS = 40
LATEST = 2.5
"""Seconds after it listens within which the console is killed."""
AT_START = 0.2
"""Share of the kills that come while it starts."""
START_SECONDS = 0.9
DECISIONS = ("approved", "denied", "expired", "withdrawn")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.soak.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="how often; default: %(default)s")
    parser.add_argument("--seed", type=int, help="for the same calls and pauses again; default: others each time")
    wanted = parser.parse_args(arguments)
    seed = random.randrange(1 << 32) if wanted.seed is None else wanted.seed
    with tempfile.TemporaryDirectory(prefix="assent-kills-") as folder:
        Path(folder).chmod(0o755)
        house = House(Path(folder) / "home")
        wrong = asyncio.run(kills(house, wanted.kills, seed))
        many = len(house.starts.read_text("ascii").split()) if house.starts.exists() else 0
        requests = len(_kinds(house.places.ledger, "arrived"))
    for one in wrong:
        print(one)
    print(f"{wanted.kills} kills, {requests} requests, {many} starts, answers {dict(house.answered)}. Seed {seed}.")
    print("Broken." if wrong else "Every promise held.")
    return int(bool(wrong))


async def kills(house: House, many: int, seed: int) -> list[str]:
    """Start and kill the console `many` times; what was wrong after one of them, or at the end."""
    source, killed = random.Random(seed), list[int]()
    try:
        async with house.asking(seed):
            for _ in range(many):
                house.start()
                if source.random() < AT_START:
                    await asyncio.sleep(source.uniform(0, START_SECONDS))
                else:
                    await house.opened()
                    if not killed:  # on a busy machine agents may come too late for every kill
                        await house.worked()
                    await asyncio.sleep(source.uniform(0, LATEST))
                killed.append(house.kill())
                if wrong := await _wrong(house, killed[-1]):
                    return wrong
            house.start()
            await house.opened()
            await house.worked()  # it serves after all the kills, and what those before it left is removed by then
        code = await asyncio.to_thread(house.quit)
        processes = [f"process left: {one}" for pid in killed for one in marked(pid)]
        return [*([f"exit code {code}"] if code else []), *processes, *_left(house)]
    finally:
        house.end()


async def _wrong(house: House, pid: int) -> list[str]:
    """What is wrong after the console `pid` was killed."""
    left = await wait_until_gone(pid)
    ledger = house.places.ledger
    if not ledger.exists():
        return [f"processes left: {left}"] if left else []
    verdict = await asyncio.to_thread(verify, ledger)
    started = Counter(house.starts.read_text("ascii").split()) if house.starts.exists() else Counter[str]()
    approved, running, finished = (_kinds(ledger, kind) for kind in ("approved", "running", "finished"))
    decided = sum((Counter(_kinds(ledger, kind).keys()) for kind in DECISIONS), Counter[str]())
    return [
        *([f"verify: {verdict.what}"] if not verdict.ok else []),
        *(f"process left: {one}" for one in left),
        *(f"started, not written: {one}" for one in started if not approved.get(one, 0) or not running.get(one, 0)),
        *(f"running before it was approved: {o}" for o in running if not 0 < approved.get(o, 0) < running[o]),
        *(f"started twice: {one}" for one, times in started.items() if times > 1),
        *(f"decided twice: {one}" for one, times in decided.items() if times > 1),
        *(f"answered that it ran, not written: {one}" for one in house.ran - finished.keys()),
    ]


def _left(house: House) -> list[str]:
    """What is left after the console was closed in good order."""
    ledger = house.places.ledger
    arrived, closed = _kinds(ledger, "arrived"), _kinds(ledger, "closed")
    home = house.places.config.parent
    files = [path for path in home.rglob("*") if path.name.endswith(".new") or path.is_socket()]
    files += list(house.temporary.rglob("run-*"))
    return [
        *(f"never closed: {one}" for one in arrived.keys() - closed.keys()),
        *(f"left: {path}" for path in files),
        *(["left: the address for agents"] if house.places.door.exists() else []),
        *([f"verify: {verify(ledger).what}"] if not verify(ledger).ok else []),
    ]


def _kinds(ledger: Path, kind: str) -> dict[str, int]:
    """The first entry of `kind` of each request that has one."""
    with contextlib.closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT request_id, seq FROM entries WHERE kind = ? ORDER BY seq DESC", (kind,))
        return dict(rows.fetchall())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
