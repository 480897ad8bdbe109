"""The transcript: bounded, exact about what it leaves out, never in the middle of a character."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from runner.sandbox.output import Stream, Transcript

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


def test_single_bytes_cost_no_more_than_blocks() -> None:
    tracemalloc.start()
    transcript = Transcript(1 << 18, window=1 << 17)
    for _ in range(1 << 19):
        transcript.append(OUT, b"x")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * ((1 << 18) + (1 << 17))
