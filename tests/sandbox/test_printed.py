"""What passes of what a contained program prints, however it comes in pieces."""

from __future__ import annotations

import base64
import random
import re

import pytest

from runner.sandbox.local.printed import LONGEST_STRING, PREFIX, PrintedText

WHOLE = re.compile(
    rb"(?:[^\x1b\xc2]|\xc2[\xa0-\xbf]"
    rb"|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]Pk][^\x00-\x1f]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-OQ-WYZ\\`-jl-~])*"
)
"""Text and control sequences, each with its end."""
SECRET = base64.b64encode(b"x" * 40)
HARMLESS = [
    b"plain text\r\n",
    "ä° 日本 🙂\u00a0".encode(),
    b"\x1b[31;1mred\x1b[0m\x1b[38:2:1:2:3m",
    b"\x1b[2J\x1b[H\x1b[3;4H\x1b[K\x1b[1;20r\x1b7\x1b8\x1bM\x1b(0lqk\x1b(B\x0e\x0f",
    b"\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1000;1006h\x1b[?1004h\x1b[?2026h\x1b[?2026l\x1b[?7l",
    b"\x1b[6n\x1b[c\x1b[>c\x1b[>0q\x1b[?u\x1b[?2026$p\x1b[14t\x1b[18t\x1b[5n\x1b[?996n",
    b"\x1b[>1u\x1b[<u\x1b[=1;1u\x1b[>4;2m\x1b[?4m\x1b[2 q\x1b[!p",
    b"\x1b]10;?\x1b\\\x1b]11;?\x07\x1b]4;1;?\x07\x1b]104\x07",
    b"\x1bP+q544e;524742\x1b\\\x1bP$qm\x1b\\\x1bP=1s\x1b\\",
    b"\x1b]8;id=1;https://example.com/?a=b\x1b\\link\x1b]8;;\x1b\\",
    b"\x1b]9;4;1;50\x07",
]
"""Passes as it is."""
DROPPED = [
    b"\x1b]52;c;%s\x07" % SECRET,
    b"\x1b]52;c;%s\x1b\\" % SECRET,
    b"\x1b]52;p;?\x07",
    b"\x1b]1337;Copy=:%s\x07" % SECRET,
    b"\x1b]1337;File=inline=1:AAAA\x07",
    b"\x1b[21t",
    b"\x1b[20t",
    b"\x1b[8;1;1t",
    b"\x1b[1t",
    b"\x1b]2;?\x07",
    b"\x1b]l\x1b\\",
    b"\x1b]50;?\x07",
    b'\x1b]51;["call"]\x07',
    b"\x1b]133;A\x07",
    b"\x1b]633;E;rm\x07",
    b"\x1b]7;file:///etc\x07",
    b"\x1b]8;;file:///etc/passwd\x1b\\",
    b"\x1b]5522;type=read\x1b\\",
    b"\x1b]11;\x01\x07",
    b"\x05",
    b"\x1b[5i",
    b"\x1b[?5i",
    b"\x1b[1;1;1;1;1;1*y",
    b"\x1b[1*z",
    b"\x1b[?2l",
    b"\x1b[?1001h",
    b"\x1b[2h",
    b"\x1b[>0;2t",
    b"\x1b[1'z",
    b'\x1b[62;0"p',
    b"\x1b G",
    b"\x1b%@",
    b"\x1bP|17/726d0d\x1b\\",
    b"\x1bP1;0!z1b5d\x1b\\",
    b"\x1bP$qx$(id)\x1b\\",
    b"\x1bPq#0~~\x1b\\",
    b"\x1b_Ga=T,t=f;L2V0Yw==\x1b\\",
    b"\x1b^pm\x1b\\",
    b"\x1bXsos\x1b\\",
    "\u009b21t".encode()[:2],
    "\u009d".encode(),
]
"""Nothing of it passes."""


def pieces(data: bytes, *sizes: int) -> tuple[PrintedText, bytes]:
    """Return a text that got `data` in pieces of these sizes, in turn, and what passed."""
    text, passed, at = PrintedText(), b"", 0
    while at < len(data):
        for size in sizes:
            passed += text.passed(data[at : at + size])
            at += size
    return text, passed


@pytest.mark.parametrize("sizes", [(1 << 20,), (1,), (2,), (3, 1)])
@pytest.mark.parametrize("data", HARMLESS)
def test_what_programs_that_fill_the_screen_need_passes(data: bytes, sizes: tuple[int, ...]) -> None:
    assert pieces(b"a" + data + b"z", *sizes)[1] == b"a" + data + b"z"


@pytest.mark.parametrize("sizes", [(1 << 20,), (1,), (2,), (3, 1)])
@pytest.mark.parametrize("data", DROPPED)
def test_what_acts_on_more_than_the_screen_is_dropped(data: bytes, sizes: tuple[int, ...]) -> None:
    assert pieces(b"a" + data + b"z", *sizes)[1] == b"az"


@pytest.mark.parametrize("sizes", [(1 << 20,), (1,)])
def test_titles_and_messages_say_whose_they_are(sizes: tuple[int, ...]) -> None:
    own = PREFIX.encode()
    said = "[root] \u202etxt".encode()
    for number in (b"0", b"1", b"2"):
        assert b"\x1b]%s;%s[root] txt\x1b\\" % (number, own) in pieces(b"\x1b]%s;%s\x07" % (number, said), *sizes)[1]
    assert pieces(b"\x1bktitle\x1b\\", *sizes)[1] == b"\x1bk%stitle\x1b\\" % own
    assert pieces(b"\x1b]9;done\x07", *sizes)[1] == b"\x1b]9;%sdone\x07" % own
    assert pieces(b"\x1b]9;7;run\x07", *sizes)[1] == b"\x1b]9;%s7;run\x07" % own
    assert pieces(b"\x1b]777;notify;a;b\x07", *sizes)[1] == b"\x1b]777;notify;%sa;b\x07" % own
    assert len(pieces(b"\x1b]2;" + b"x" * 10_000 + b"\x07", *sizes)[1]) < 300


@pytest.mark.parametrize("sizes", [(1 << 20,), (1,), (7, 100)])
def test_copies_into_the_clipboard_are_counted(sizes: tuple[int, ...]) -> None:
    text, _ = pieces(b"\x1b]52;c;%s\x07" % SECRET, *sizes)
    assert text.dropped.words == "It tried to copy 40 characters to the clipboard; that was dropped."
    umlauts = base64.b64encode("ä".encode())
    text, _ = pieces(b"\x1b]52;c;%s\x07and\x1b]1337;Copy=:%s\x1b\\\x1b]52;c;?\x07" % (umlauts, umlauts), *sizes)
    assert text.dropped.words == (
        "It tried to copy 2 characters to the clipboard, 2 times; that was dropped."
        " It tried to read the clipboard; that was dropped."
    )
    text, passed = pieces(b"\x1b]52;c;" + b"A" * (4 * LONGEST_STRING) + b"\x07on", *sizes)
    assert passed == b"on" and text.dropped.copies == 1 and text.dropped.characters > 2 * LONGEST_STRING
    assert PrintedText().dropped.words == ""


@pytest.mark.parametrize(
    "begun", [b"\x1b", b"\x1b[3", b"\x1b[?1;", b"\x1b]0;title", b"\x1b]0;t\x1b", b"\x1bP", b"\xc2"]
)
def test_what_is_not_finished_is_never_begun(begun: bytes) -> None:
    text, passed = pieces(b"a" + begun, 1)
    assert passed == b"a" and not (text.end() and not WHOLE.fullmatch(text.end()))


def test_strings_that_are_broken_off_are_dropped_and_what_follows_counts() -> None:
    assert pieces(b"\x1b]0;t\x1b[31mred", 1)[1] == b"\x1b[31mred"
    assert pieces(b"\x1b]0;t\x18text", 1)[1] == b"text"
    assert pieces(b"\x1b\x1b\x1b[31m", 1)[1] == b"\x1b[31m"
    assert pieces(b"\x1b[3\n1m", 1)[1] == b"3\n1m"
    assert pieces(b"\x1b[" + b"1" * 10_000 + b"q", 1)[1].startswith(b"1")


def test_nothing_is_put_together_by_what_is_taken_out() -> None:
    """Each half alone is nothing."""
    for between in (b"\x05", b"\x1b[21t", b"\x1b]52;c;AAAA\x07", b"\x1b"):
        for first, second in ((b"\xc2", b"\x9b21t"), (b"\x1b", b"[21t"), (b"\x1b]", b"52;c;AAAA\x07")):
            for size in (1, 100):
                passed = pieces(first + between + second, size)[1]
                assert WHOLE.fullmatch(passed) and b"\x1b[21t" not in passed and b"\x1b]" not in passed, passed


def test_random_bytes_never_leave_a_sequence_open_and_come_out_the_same_in_all_pieces() -> None:
    chance = random.Random(7)
    parts = [
        *HARMLESS,
        *DROPPED,
        b"\x1b",
        b"\x1b[",
        b"\x1b]",
        b"\x1bP",
        b"\x07",
        b"\x1b\\",
        b"\xc2",
        b"\x9b",
        b"52;c;",
        b"?",
    ]
    for _ in range(3_000):
        chosen = [chance.choice(parts) for _ in range(chance.randrange(1, 8))]
        data = b"".join(one[: chance.randrange(1, len(one) + 1)] for one in chosen)
        text, passed = pieces(data, chance.randrange(1, 5), chance.randrange(1, 9))
        assert WHOLE.fullmatch(passed), (data, passed)
        assert WHOLE.fullmatch(text.end())
        other, whole = pieces(data, 1 << 20)
        assert whole == passed and other.dropped == text.dropped, data
        assert b"\x1b]52" not in passed and b"\x1b[21t" not in passed


def test_the_terminal_is_left_as_a_shell_expects_it() -> None:
    changed = {
        b"\x1b[?1049h\x1b[>1u": b"\x1b[<1u\x1b[?1049l",
        b"\x1b[>1u\x1b[?1049h": b"\x1b[?1049l\x1b[<1u",
        b"\x1b[?1000;1006h": b"\x1b[?1000l\x1b[?1006l",
        b"\x1b[?2004h": b"\x1b[?2004l",
        b"\x1b[?7l": b"\x1b[?7h",
        b"\x1b[4h": b"\x1b[4l",
        b"\x1b[?25l": b"\x1b[?25h",
        b"\x1b[?2026h": b"\x1b[?2026l",
        b"\x1b]11;#000\x07": b"\x1b]111\x1b\\",
        b"\x1b]0;t\x07": b"\x1b[23;0t",
        b"\x1b]8;;http://a/\x07": b"\x1b]8;;\x1b\\",
        b"\x1b=": b"\x1b>",
        b"\x1b[>4;2m": b"\x1b[>4m",
        b"\x1b(0": b"\x1b(B",
        b"\x0e": b"\x0f",
        b"\x1b[31m": b"\x1b[0m",
    }
    for printed, back in changed.items():
        text, _ = pieces(printed, 1)
        assert back in text.end() and text.end() == b"", printed
    for printed in (b"\x1b[?2004h\x1b[?2004l", b"\x1b[?1049h\x1b[?1049l"):
        assert b"2004" not in (end := pieces(printed, 1)[0].end()) and b"1049" not in end
    assert pieces(b"plain\r\n", 1)[0].end() == b""


def test_questions_to_the_terminal_are_noticed() -> None:
    for question in (
        b"\x1b[6n",
        b"\x1b[c",
        b"\x1b[>0q",
        b"\x1b]11;?\x07",
        b"\x1b[?2026$p",
        b"\x1bP+q544e\x1b\\",
        b"\x1bZ",
    ):
        assert pieces(question, 1)[0].asked, question
    assert not pieces(b"\x1b[31m\x1b[?25l\x1b]11;#000\x07", 1)[0].asked
