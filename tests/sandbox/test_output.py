"""The transcript: bounded, exact about what it leaves out, never in the middle of a character."""

from __future__ import annotations

import threading
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from app.parts.text.output_order import in_order
from runner.model.answer import within
from runner.model.result import Outcome, OutputOrder, Result
from runner.sandbox.output import (
    GRANTED,
    LEAST_TAIL,
    MOST_BLOCKS,
    MOST_TURNS,
    STEP,
    OutputBudget,
    Stream,
    Transcript,
)

OUT, ERR = Stream.OUT, Stream.ERR


def filled(limit: int, *pieces: bytes) -> Transcript:
    transcript = Transcript(limit)
    for piece in pieces:
        transcript.append(OUT, piece)
    return transcript


def test_all_of_what_fits() -> None:
    assert filled(10, b"hello", b"world").text(OUT) == ("helloworld", 0)
    assert filled(10).text(ERR) == ("", 0)


def test_head_and_tail_and_the_number_between() -> None:
    text, dropped = filled(10, b"0123456789" * 10).text(OUT)
    assert text == "01234\n... (output truncated: 90 bytes left out) ...\n56789"
    assert dropped == 90


def test_a_character_is_never_cut() -> None:
    for limit in range(2, 14):
        text, dropped = filled(limit, "ééééééé".encode(), b"x").text(OUT)
        assert "�" not in text
        mark = f"\n... (output truncated: {dropped:,} bytes left out) ...\n"
        assert len(text.encode()) - len(mark) + dropped == 15


def test_split_characters_are_joined() -> None:
    assert filled(100, "é".encode()[:1], "é".encode()[1:]).text(OUT) == ("é", 0)


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert filled(100, b"a\xff\xfe\x00b").text(OUT) == ("a��\x00b", 0)


@given(st.lists(st.binary(max_size=40), max_size=40), st.integers(0, 64))
def test_what_is_kept_and_what_is_dropped_is_the_whole(pieces: list[bytes], limit: int) -> None:
    data = b"".join(pieces)
    ascii_only = [bytes(byte & 0x7F for byte in piece) for piece in pieces]
    text, dropped = filled(limit, *ascii_only).text(OUT)
    mark = f"\n... (output truncated: {dropped:,} bytes left out) ...\n" if dropped else ""
    assert len(text) - len(mark) + dropped == len(data)
    assert (dropped > 0) == (len(data) > limit)
    assert filled(limit, *pieces).text(OUT)[1] >= dropped


@given(st.lists(st.tuples(st.sampled_from(Stream), st.binary(min_size=1, max_size=9)), max_size=60), st.data())
def test_live_reading_misses_and_repeats_nothing(writes: list[tuple[Stream, bytes]], data: st.DataObject) -> None:
    transcript = Transcript(1000, window=1 << 19)
    seen: dict[Stream, bytes] = {OUT: b"", ERR: b""}
    position = 0
    for stream, written in writes:
        transcript.append(stream, written)
        if data.draw(st.booleans()):
            news = transcript.since(position)
            position = news.position
            for piece in news.pieces:
                seen[piece.stream] += piece.data
    for piece in transcript.since(position).pieces:
        seen[piece.stream] += piece.data
    for stream in Stream:
        assert seen[stream] == b"".join(written for one, written in writes if one is stream)


def test_what_came_too_fast_is_counted() -> None:
    transcript = Transcript(100, window=10_000)
    for _ in range(10):
        transcript.append(OUT, b"x" * 5000)
    news = transcript.since(0)
    assert news.skipped + sum(len(piece.data) for piece in news.pieces) == 50_000 == news.position
    assert not news.ended
    transcript.end()
    assert transcript.since(news.position).ended


def test_a_program_that_changes_streams_with_every_byte_has_few_pieces_to_read() -> None:
    """Half a million pieces kept the window from a key for more than a second, with every look at them."""
    transcript = Transcript(100)
    for number in range(5 * MOST_BLOCKS):
        transcript.append((OUT, ERR)[number % 2], b"%d" % (number % 10))
    news = transcript.since(0)
    assert len(news.pieces) == MOST_BLOCKS
    assert news.skipped == 4 * MOST_BLOCKS
    last = b"".join(piece.data for piece in news.pieces)
    assert last == b"".join(b"%d" % (number % 10) for number in range(4 * MOST_BLOCKS, 5 * MOST_BLOCKS))


def test_single_bytes_cost_no_more_than_blocks() -> None:
    tracemalloc.start()
    transcript = Transcript(1 << 16, window=1 << 15)
    for _ in range(1 << 17):
        transcript.append(OUT, b"x")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * ((1 << 16) + (1 << 15))


# ---- memory that runs share ----

CHUNK = b"0123456789abcdef" * (1 << 12)
MIB = 1 << 20


def flooded(budget: OutputBudget, chunks: int, limit: int = 8 * MIB) -> Transcript:
    transcript = Transcript(limit, window=0, budget=budget)
    for _ in range(chunks):
        for stream in Stream:
            transcript.append(stream, CHUNK)
    return transcript


def stored(transcript: Transcript) -> int:
    return sum(len(kept._head) + len(kept._tail) for kept in transcript._kept.values())


def test_all_runs_together_store_no_more_than_the_budget() -> None:
    budget = OutputBudget(4 * MIB)
    runs = [flooded(budget, 160) for _ in range(6)]
    assert sum(map(stored, runs)) <= 4 * MIB + 6 * 2 * (GRANTED + 3 * LEAST_TAIL)
    for run in runs:
        for stream in Stream:
            text, dropped = run.text(stream)
            assert text.startswith("0123456789abcdef" * 1000) and text.endswith("0123456789abcdef" * 1000)
            mark = f"\n... (output truncated: {dropped:,} bytes left out) ...\n"
            assert mark in text and len(text) - len(mark) + dropped == 160 * len(CHUNK)
    for run in runs:
        run.release()
        run.release()
    assert budget.left == 4 * MIB
    assert flooded(budget, 16).text(OUT)[1] == 0


def test_a_run_that_writes_little_is_not_affected_by_others() -> None:
    budget = OutputBudget(0)
    flooded(budget, 160)
    quiet = flooded(budget, GRANTED // len(CHUNK))
    assert quiet.text(OUT) == (CHUNK.decode() * (GRANTED // len(CHUNK)), 0)


def test_what_is_taken_at_once_is_given_back_also_by_threads() -> None:
    budget = OutputBudget(40 * STEP)
    threads = [threading.Thread(target=lambda: flooded(budget, 40).release()) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.left == 40 * STEP


@given(st.lists(st.integers(0, 3 * STEP), max_size=12), st.integers(0, 4), st.integers(0, 4 * MIB))
def test_with_any_budget_what_is_kept_and_dropped_is_the_whole(sizes: list[int], steps: int, limit: int) -> None:
    budget = OutputBudget(steps * STEP)
    transcript = Transcript(limit, window=0, budget=budget)
    for size in sizes:
        transcript.append(OUT, b"x" * size)
    text, dropped = transcript.text(OUT)
    mark = f"\n... (output truncated: {dropped:,} bytes left out) ...\n" if dropped else ""
    assert len(text) - len(mark) + dropped == sum(sizes)
    assert len(text) - len(mark) <= limit
    transcript.release()
    assert budget.left == steps * STEP


def in_turn(limit: int, *pieces: tuple[Stream, bytes]) -> Result:
    transcript = Transcript(limit)
    for stream, piece in pieces:
        transcript.append(stream, piece)
    (out, _), (err, _) = transcript.text(OUT), transcript.text(ERR)
    return Result(Outcome.OK, out, err, 0, 0.0, order=transcript.order())


def shown(result: Result) -> list[str]:
    """The lines as the window shows them, each with the letter of its stream."""
    letters = {OUT: "o", ERR: "e", None: "-"}
    pieces = in_order(result.stdout, result.stderr, result.order)
    return [f"{letters[one.stream]} {line.decode()}" for one in pieces for line in one.lines]


def test_lines_are_kept_in_the_order_in_which_they_came() -> None:
    result = in_turn(1000, (OUT, b"one\ntw"), (ERR, b"bad\n"), (OUT, b"o\n"), (ERR, b"worse\nend"), (OUT, b"last"))
    assert result.order == OutputOrder((1, 1, 1, 1), whole=True)
    assert shown(result) == ["o one", "e bad", "o two", "e worse", "o last", "e end"]


def test_one_stream_alone_has_no_order_to_keep() -> None:
    assert in_turn(1000, (OUT, b"one\n"), (OUT, b"two\n")).order is None
    assert in_turn(1000, (ERR, b"one\n")).order is None


def test_the_order_is_bounded_and_says_where_it_ends() -> None:
    pieces = [((OUT, ERR)[number % 2], b"%d\n" % number) for number in range(4 * MOST_TURNS)]
    result = in_turn(1 << 20, *pieces)
    assert result.order is not None and len(result.order.turns) == MOST_TURNS and not result.order.whole
    lines = shown(result)
    assert [line[2:] for line in lines[:MOST_TURNS]] == [str(number) for number in range(MOST_TURNS)]
    assert lines[MOST_TURNS].startswith("- ")
    assert len(lines) == len(pieces) + 1


def test_where_output_is_left_out_the_order_ends() -> None:
    long = (OUT, b"0123456789" * 9)
    result = in_turn(20, (OUT, b"a\n"), (ERR, b"b\n"), long, (ERR, b"c\n"), (OUT, b"\nd\n"), (ERR, b"e\n"))
    assert result.order == OutputOrder((1, 2, 0), whole=False)
    lines = shown(result)
    assert lines[:3] == ["o a", "e b", "e c"] and lines[3].startswith("- ")
    assert lines[-2:] == ["o d", "e e"]


@given(
    st.lists(
        st.tuples(st.sampled_from(Stream), st.lists(st.sampled_from([b"\n", b"x", b"\xff"]), max_size=6)), max_size=30
    ),
    st.integers(4, 60),
    st.integers(4, 60),
)
def test_no_line_is_lost_or_shown_twice(writes: list[tuple[Stream, list[bytes]]], kept: int, recorded: int) -> None:
    result = within(in_turn(kept, *((stream, b"".join(parts)) for stream, parts in writes)), recorded)
    for letter, text in (("o", result.stdout), ("e", result.stderr)):
        lines = text.split("\n") if text else []
        assert [line[2:] for line in shown(result) if line[0] == letter] == (lines if text[-1:] != "\n" else lines[:-1])


def test_a_record_in_part_keeps_the_order_of_its_beginning() -> None:
    pieces = [((OUT, ERR)[number % 2], b"line %d\n" % number) for number in range(100)]
    result = within(in_turn(1 << 16, *pieces), 80)
    assert result.order is not None and not result.order.whole
    lines = shown(result)
    assert [line[2:] for line in lines[:8]] == [f"line {number}" for number in range(8)]


def test_an_order_that_is_not_that_of_the_text_loses_nothing() -> None:
    for turns in ((-3, 5), (9, 9, 9), ()):
        result = Result(Outcome.OK, "a\nb\n", "c\n", 0, 0.0, order=OutputOrder(turns, whole=True))
        assert sorted(shown(result)) == ["e c", "o a", "o b"]
