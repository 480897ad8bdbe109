"""The amount printed at each reading of what a run uses, so that output can be placed in time afterwards."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.sandbox.usage import Curve

if TYPE_CHECKING:
    from runner.model.result import Result, Usage
    from runner.sandbox.output import Transcript


class PrintedCurve:
    """The bytes of one run, noted with its readings; `transcript` is set as soon as the run has started."""

    def __init__(self) -> None:
        self.transcript: Transcript | None = None
        self._curve = Curve()

    def reading(self, usage: Usage) -> Usage:
        """Return `usage` with what was printed so far. Called in the thread that takes the readings."""
        if self.transcript is None:
            return usage
        out, err = self.transcript.totals
        usage = replace(usage, stdout_bytes=out, stderr_bytes=err)
        self._curve.add(usage)
        return usage

    def finished(self, result: Result) -> Result:
        """Return `result` with what was printed in each reading of its curve; the last one has all of it."""
        if self.transcript is None or not result.curve:
            return result
        noted = self._curve.thinned
        times = [one.at for one in noted]
        curve = []
        for one in result.curve:
            place = bisect_right(times, one.at)
            out, err = (noted[place - 1].stdout_bytes, noted[place - 1].stderr_bytes) if place else (0, 0)
            curve.append(replace(one, stdout_bytes=out, stderr_bytes=err))
        out, err = self.transcript.totals
        curve[-1] = replace(curve[-1], stdout_bytes=out, stderr_bytes=err)
        return replace(result, curve=tuple(curve))
