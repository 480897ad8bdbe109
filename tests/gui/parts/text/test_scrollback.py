"""The last lines of a run's output, against a list that keeps them all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.parts.text.scrollback import LONGEST, Scrollback
from runner.sandbox.output import Stream

MOST = 7
LONG = b"x" * (LONGEST + 9)


@given(
    st.lists(
        st.tuples(st.sampled_from(Stream), st.lists(st.sampled_from([b"a", b"bc", LONG, *[b"\n"] * 4]), max_size=25)),
        max_size=12,
    ),
    st.integers(0, 60),
    st.integers(0, 20),
)
def test_the_newest_lines_are_there_under_their_numbers(
    writes: list[tuple[Stream, list[bytes]]], first: int, count: int
) -> None:
    scrollback = Scrollback(MOST)
    whole: list[tuple[Stream, bytes]] = []
    begun = dict.fromkeys(Stream, b"")
    for stream, parts in writes:
        scrollback.add(stream, b"".join(parts))
        *ended, begun[stream] = (begun[stream] + b"".join(parts)).split(b"\n")
        whole += [(stream, line) for line in ended]
    left = [(stream, line) for stream, line in begun.items() if line]
    kept = max(0, len(whole) - MOST)
    assert (scrollback.first, scrollback.end) == (kept, len(whole) + len(left))
    wanted = list(enumerate([*whole, *left]))[max(kept, first) : max(kept, first + count)]
    found = scrollback.lines(first, count)
    assert [(one.stream, one.data, one.cut) for one in found] == [
        (stream, line[:LONGEST], max(0, len(line) - LONGEST)) for _, (stream, line) in wanted
    ]
