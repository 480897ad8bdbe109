"""`python -m tests.breaks [--list] [finding ...]`: take each mend out of a copy, and see its tests fail.

The files of this folder hold for each finding what was possible, the text of the mend, and the tests of it. In a copy
of the checkout all these tests pass first; then each mend is taken out by itself, at least one of its tests has to
fail, and it is put back. Ends with 1 where a test stayed green, or where nothing could be seen.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.breaks.book import Break, read
from tests.breaks.stage import Copy, Fault, not_green


def main(arguments: list[str]) -> int:
    """Take out each mend that is asked for; 1 where one is not missed."""
    breaks, reasons = read()
    parser = argparse.ArgumentParser("python -m tests.breaks", description=__doc__)
    parser.add_argument("--list", action="store_true", help="list what was possible, and which findings have no break")
    parser.add_argument("--output", action="store_true", help="print what the tests print as they fail")
    parser.add_argument("findings", nargs="*", metavar="finding", help="as “7” or “F3”; all without")
    wanted = parser.parse_args(arguments)
    if unknown := {*wanted.findings} - {one.finding for one in breaks} - {one.finding for one in reasons}:
        parser.error(f"there is no {', '.join(sorted(unknown))}; --list names them")
    chosen = [one for one in breaks if not wanted.findings or one.finding in wanted.findings]
    if wanted.list:
        for one in chosen:
            print(f"{one.finding:5} {one.says}")
        for reason in reasons:
            print(f"{reason.finding:5} No break: {reason.why}")
        return 0
    with tempfile.TemporaryDirectory(prefix="assent-breaks-") as folder:
        Path(folder).chmod(0o755)  # code in sandboxes reads the program there
        return tried(Copy(Path(folder)), chosen, output=wanted.output)


def tried(copy: Copy, breaks: list[Break], *, output: bool) -> int:
    """See the tests pass, then see them fail without each mend."""
    tests = list(dict.fromkeys(test for one in breaks for test in one.tests))
    if not tests:
        print("No break of these.")
        return 0
    begun = time.monotonic()
    whole = copy.run(tests)
    if whole.code not in (0, 1):
        print(whole.said)
        return 1
    wrong = not_green(whole, tests)
    for test in wrong:
        print(f"Not green with all mends in place: {test}")
    if wrong:
        print(whole.said[-6000:])
    print(f"{len(tests)} tests with all mends in place: {time.monotonic() - begun:.1f} s", flush=True)
    lost = 0
    for one in breaks:
        begun = time.monotonic()
        if bad := [test for test in one.tests if test in wrong]:
            result, seen = f"NOT TRIED: {bad[0]} does not pass before", False
        else:
            result, seen = outcome(copy, one, output=output)
        lost += not seen
        print(f"{one.finding:4} | {one.says} | {result} | {time.monotonic() - begun:.1f} s", flush=True)
    print(f"{len(breaks) - lost} of {len(breaks)} mends are missed by a test when they are taken out.")
    return int(bool(lost or wrong))


def outcome(copy: Copy, one: Break, *, output: bool) -> tuple[str, bool]:
    """The tests that fail without the mend of `one`, and whether there are any."""
    try:
        run = copy.run_broken(one)
    except Fault as fault:
        return f"FAULT: {fault}", False
    if output:
        print(run.said)
    names = dict.fromkeys(name.partition("::")[2].partition("[")[0] for name in run.red)
    return (", ".join(names), True) if names else (f"STAYED GREEN: {', '.join(one.tests)}", False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
