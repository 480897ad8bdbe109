"""What the classifier says of deeds in disguise: `python -m tests.risk.disguises.measure [--seeds N] [--misses]`.

Danger is kept where the program is still CRITICAL. A harmless program is raised where it becomes CRITICAL, also for
hiding what it does: all that these steps hide can be read. Only where the text itself looks different from what it is
(letters of other scripts, characters that cannot be seen) that is counted apart, as `tricked`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.request import Request, Tool
from runner.risk.assess import assess
from tests.risk.disguises.disguise import STEPS, Disguised, deeds, disguised, single

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


DEPTHS = (1, 2, 3, 4)
TRICKS = "text."
"""Begins the names of findings about texts that look different from what they are."""


@dataclass(slots=True)
class Share:
    """How many of how many."""

    part: int = 0
    whole: int = 0

    def add(self, hit: bool) -> None:
        self.part += hit
        self.whole += 1

    @property
    def percent(self) -> float:
        return 100 * self.part / self.whole if self.whole else 0.0


Shares = defaultdict[tuple[str, int], Share]
"""By language and depth."""


def _shares() -> Shares:
    return defaultdict(Share)


@dataclass(slots=True)
class Result:
    """What became of programs in disguise."""

    kept: Shares = field(default_factory=_shares)
    raised: Shares = field(default_factory=_shares)
    tricked: Shares = field(default_factory=_shares)
    wrong: list[Disguised] = field(default_factory=list)
    """Danger that is not kept, and harmless programs that are raised."""

    def add(self, program: Disguised, depth: int) -> None:
        """Assess a program and count what becomes of it."""
        deed = program.deed
        request = Request("id", "agent", Tool.CODE_EXECUTE, 0.0, deed.language, program.code)
        found = [one for one in assess(request).findings if one.level is Level.CRITICAL]
        if deed.kind == "danger":
            self.kept[deed.language, depth].add(bool(found))
            right = bool(found)
        else:
            # Beside such a text nothing else is spared, and the alarm is right.
            tricked = any(one.id.startswith(TRICKS) for one in found)
            right = tricked or not found
            self.raised[deed.language, depth].add(not right)
            self.tricked[deed.language, depth].add(tricked)
        if not right:
            self.wrong.append(program)


def over_all(shares: Mapping[tuple[str, int], Share], depth: int) -> Share:
    """Return the share over all languages at one depth."""
    found = [share for (_, one), share in shares.items() if one == depth]
    return Share(sum(share.part for share in found), sum(share.whole for share in found))


def singles(kind: str) -> Iterator[Disguised]:
    """Yield each deed of a kind rewritten by each step alone."""
    for deed in deeds(kind):
        for step in STEPS[deed.language]:
            if (kind == "danger" or not step.hides) and (code := single(deed, step)) is not None:
                yield Disguised(deed, (step.name,), code)


def chains(seeds: Iterable[int], depths: Iterable[int]) -> Result:
    """Assess each deed, dangerous and harmless, with chains of steps chosen by each seed."""
    result = Result()
    numbers = list(seeds)
    for depth in depths:
        for deed in (*deeds("danger"), *deeds("harmless")):
            for seed in numbers:
                result.add(disguised(deed, depth, seed), depth)
    return result


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.risk.disguises.measure", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="chains for each deed and depth (20)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--misses", action="store_true", help="show the programs that are judged wrongly")
    parser.add_argument("--singles", action="store_true", help="only each step alone on each deed")
    arguments = parser.parse_args(argv)
    if arguments.singles:
        result = Result()
        for kind in ("danger", "harmless"):
            for program in singles(kind):
                result.add(program, 1)
    else:
        result = chains(range(arguments.first, arguments.first + arguments.seeds), DEPTHS)
    _report(result, arguments.misses)
    return 0


def _report(result: Result, misses: bool) -> None:
    for what, shares in (("kept", result.kept), ("raised", result.raised), ("tricked", result.tricked)):
        for (language, depth), share in sorted(shares.items()):
            print(f"{what:7} {language:11} depth {depth}: {share.part}/{share.whole} = {share.percent:.2f} %")
        for depth in DEPTHS:
            if (share := over_all(shares, depth)).whole:
                print(f"{what:7} {'all':11} depth {depth}: {share.part}/{share.whole} = {share.percent:.2f} %")
    for program in result.wrong if misses else ():
        deed = program.deed
        print(f"\n=== {deed.kind}, {deed.language}: {deed.name}: {' > '.join(program.steps)}\n{program.code}")
    counts = Counter((one.deed.language, step) for one in result.wrong for step in one.steps)
    for (language, step), count in counts.most_common(30):
        print(f"{count:5} {language} {step}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
