"""What a run had printed at each of its readings."""

from __future__ import annotations

from runner.engine.shared.output_readings import PrintedCurve
from runner.model.result import Outcome, Result, Usage
from runner.sandbox.output import Stream, Transcript

DONE = Result(Outcome.OK, "", "", 0, 3.0)


def test_the_curve_of_the_result_says_how_much_was_printed_by_then() -> None:
    printed, transcript = PrintedCurve(), Transcript(1 << 10)
    assert printed.reading(Usage(0.1)) == Usage(0.1), "before the run is known"
    printed.transcript = transcript
    for at, stream, data in ((1.0, Stream.OUT, b"four"), (2.0, Stream.ERR, b"no"), (3.0, Stream.OUT, b"x" * 5000)):
        transcript.append(stream, data)
        printed.reading(Usage(at))
    transcript.append(Stream.ERR, b"!")
    transcript.end()
    curve = (Usage(0.1), Usage(1.0), Usage(2.4), Usage(3.0))
    found = printed.finished(Result(Outcome.OK, "", "", 0, 3.0, curve=curve)).curve
    assert [(one.at, one.stdout_bytes, one.stderr_bytes) for one in found] == [
        (0.1, 0, 0),
        (1.0, 4, 0),
        (2.4, 4, 2),
        (3.0, 5004, 3),
    ]


def test_without_readings_the_result_stays_as_it_is() -> None:
    printed = PrintedCurve()
    assert printed.finished(DONE) is DONE
    printed.transcript = Transcript(1 << 10)
    assert printed.finished(DONE) is DONE
