"""The output of a run that is over, in the order in which its lines arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.translation import tr
from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.result import OutputOrder

NOT_KEPT = tr("The order was kept up to here. Below: the rest of standard output, then that of standard error")


@dataclass(frozen=True, slots=True)
class OrderedLines:
    """Lines of one stream that follow one another. `stream` is None for the one line that says `NOT_KEPT`."""

    stream: Stream | None
    first: int
    """Number of the first of them in its stream, from 0."""
    lines: list[bytes]


def in_order(stdout: str, stderr: str, order: OutputOrder | None) -> Iterator[OrderedLines]:
    """Yield all lines of both. What `order` does not say comes last: standard output, then standard error."""
    whole = {Stream.OUT: _lines(stdout), Stream.ERR: _lines(stderr)}
    at = {Stream.OUT: 0, Stream.ERR: 0}
    for number, count in enumerate(order.turns if order is not None else ()):
        stream = Stream.ERR if number % 2 else Stream.OUT
        first = at[stream]
        if lines := whole[stream][first : first + max(0, count)]:
            at[stream] = first + len(lines)
            yield OrderedLines(stream, first, lines)
    rest = [OrderedLines(stream, at[stream], lines[at[stream] :]) for stream, lines in whole.items()]
    if order is not None and not order.whole and all(one.lines for one in rest):
        yield OrderedLines(None, 0, [NOT_KEPT.encode()])
    yield from (one for one in rest if one.lines)


def _lines(text: str) -> list[bytes]:
    lines = text.encode("utf-8", "replace").split(b"\n")
    return lines if lines[-1] else lines[:-1]
