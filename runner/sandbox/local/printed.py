"""The output of a contained program on a terminal, held to what acts on the screen alone.

A terminal obeys what is printed on it. Some of that outlives the program: text in the clipboard, keys that type a
command, a mode in which the mouse types into the shell. Some is typed by the terminal itself, as an answer that the
program has chosen. So only control sequences that are known to be harmless pass, each whole and in one way of writing
it; what is not finished is never begun. Answers made of numbers pass (position of the cursor, colors, kind of terminal,
keyboard): programs that fill the screen need them.

The terminal is taken to be one for UTF-8: another one would take parts of letters for control characters.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from runner.model.expression import expression

PREFIX = "[assent] "
"""Begins what the program writes outside of its screen: titles and messages of the desktop."""
LONGEST_TITLE = 200
LONGEST_STRING = 1 << 16
"""Bytes of a control string that are kept until its end; a longer one is dropped."""
LONGEST_SEQUENCE = 128
"""Bytes of another control sequence that has not come to its end."""

ESCAPE, ENQUIRY, SHIFT_OUT, TWO_BYTES = b"\x1b", b"\x05", b"\x0e", b"\xc2"
"""Where none of these stands, nothing needs to be looked at. The last one begins the letters that some terminals take
for control characters (U+0080 to U+009F)."""
LOOKED_AT = expression(
    rb"[\x05\x0e]|\xc2(?![\xa0-\xbf])|\x1b(?!\[(?:[0-9;:]*+[@ABCDEFGHIJKLMPSTXZ^`abdefgmsu]|\?(?:25|2026)[hl]))"
)
"""Where the quick way ends: all but letters and the sequences of which nothing needs to be known."""
CONTROL = expression(rb"\[([<=>?]?)([0-9;:]*+)([ -/]*+)([@-~])")
BEGUN = expression(rb"(?:\[[0-?]*+[ -/]*+|[ -/]*+)\Z")
SHORT = expression(rb"[ -/]*+[0-~]")
STRINGS = b"]P_^Xk"
"""Second bytes of those that take text: OSC, DCS, APC, PM, SOS, and the title of screen and tmux."""
STRING_ENDS = expression(rb"[\x07\x18\x1a\x1b]")
PASSED_SHORT = expression(rb"[78=>cDEHMNOZno|}~\\]|[()*+\-./][ -/]?[0-~]|#[3-8]|%G")
PASSED = {
    b"": b"@ABCDEFGHIJKLMPSTXZ^`abcdefghlmnrstux",
    b"?": b"JKSWchlmnu",
    b">": b"cmnqu",
    b"<": b"u",
    b"=": b"cu",
    b" ": b"@Aq",
    b"!": b"p",
    b'"': b"q",
    b"#": b"pq{}",
    b"$": b"prtvxz{",
    b"?$": b"p",
    b"'": b"}~",
    b"*": b"x",
}
"""Prefix and intermediate bytes of control sequences -> their last bytes.

Not among them: reports of the title, moves and sizes of the window, the printer, macros, checksums of what is on the
screen, 8-bit answers.
"""
QUESTIONS = {b"c", b"n", b"x", b"?c", b"?n", b">c", b"=c", b">q", b"?u", b"?m", b"?S", b"t", b"$p", b"?$p"}
"""What the terminal answers."""
PASSED_WINDOW = (14, 16, 18, 22, 23)
"""Of CSI t: sizes in pixels and letters, and titles kept and taken back."""
PASSED_ANSI_MODES = (4, 20)
"""Not that which locks the keyboard, nor local echo."""
REFUSED_MODES = (2, 3, 40, 46, 1001)
"""VT52, where all sequences mean something else; 132 columns; a log on the disk; a mouse that waits for a program."""
ON_BY_ITSELF = (7, 8)
"""Modes that a terminal has on, besides the cursor: lines that wrap, keys that repeat."""
SCREENS = (47, 1047, 1049)
AT_THE_END = b"\x1b[?2026l\x1b[?25h\x1b[0m"
"""Taken back in any case: a screen that waits for its picture, no cursor, colors."""
COLORS = (4, 5, *range(10, 20), 104, 105, *range(110, 120))
TAKES_BACK = 100
"""What is added to the number that sets a color, to have it as it was."""
COLOR_TEXT = expression(rb"[0-9A-Za-z;?:/#.,% -]*+")
LINK = expression(rb"[0-9A-Za-z_=:.-]*+;(?:https?://[!-~]{1,2000})?")
PROGRESS = expression(rb"4(?:;[0-9]{0,3}){0,2}")
QUESTION_STRING = expression(rb'\+q[0-9A-Fa-f;]{0,1000}|\$q(?: q|"[pq]|[mrst])|=[12]s')
"""DCS that pass: names of capabilities, state of a setting, synchronized output."""
MOST_PUSHED = 16


@dataclass(frozen=True, slots=True)
class Dropped:
    """What the program tried with the clipboard."""

    copies: int = 0
    characters: int = 0
    looks: int = 0
    """Times that it asked what is in it."""

    @property
    def words(self) -> str:
        """What a person is told, as sentences; '' where there is nothing to say."""
        said = []
        if self.copies:
            what = "1 character" if self.characters == 1 else f"{self.characters:,} characters"
            times = "" if self.copies == 1 else f", {self.copies} times"
            said.append(f"It tried to copy {what} to the clipboard{times}; that was dropped.")
        if self.looks:
            said.append("It tried to read the clipboard; that was dropped.")
        return " ".join(said)


NOTHING = Dropped()


class PrintedText:
    """What one program prints, piece by piece."""

    def __init__(self) -> None:
        self._held = b""
        """The beginning of a sequence whose end has not come."""
        self._string: bytearray | None = None
        """What has come of a control string; its first byte is its kind."""
        self._length = 0
        """Bytes of it, also where they are not kept any more."""
        self._copies, self._characters, self._looks = 0, 0, 0
        self._modes: dict[tuple[bytes, int], bool] = {}
        self._pushed = {False: 0, True: 0}
        """Modes of the keyboard that the program has not taken back, on the main screen and on the other one."""
        self._left: dict[str, bytes] = {}
        """What it has changed besides -> what takes that back."""
        self._colored, self._used = False, False
        """Whether there was any control sequence, and one that is more than a color or a place."""
        self.asked = False
        """Whether the terminal has been asked something; set back by who reads it."""

    @property
    def dropped(self) -> Dropped:
        return Dropped(self._copies, self._characters, self._looks)

    def passed(self, data: bytes) -> bytes:
        """Return what the terminal gets of a further piece, and of what was held of those before."""
        if not self._held and self._string is None:
            if not (ESCAPE in data or TWO_BYTES in data or SHIFT_OUT in data or ENQUIRY in data):
                return data
        else:
            data, self._held = self._held + data, b""
        self._colored = self._colored or ESCAPE in data
        out: list[bytes] = []
        at = 0
        while at < len(data):
            if self._string is not None:
                at = self._in_string(data, at, out)
            elif found := LOOKED_AT.search(data, at):
                out.append(data[at : found.start()])
                at = self._at_control(data, found.start(), out)
            else:
                out.append(data[at:])
                break
        return b"".join(out)

    def end(self) -> bytes:
        """Return what takes back what the program has left behind in the terminal. What it began is never finished."""
        self._held, self._string = b"", None
        said = self._taken_back(on_other_screen=True)
        changed = [number for (kind, number) in self._modes if kind == b"?" and self._is_changed(number)]
        said += [self._mode(number) for number in sorted(changed, key=lambda one: (one in SCREENS, one))]
        said += [b"\x1b[%dl" % number for (kind, number), on in self._modes.items() if not kind and on]
        self._modes.clear()
        said += self._taken_back(on_other_screen=False)
        said += self._left.values()
        said += [b"\x1b[!p\x1b(B\x0f"] if self._used else []
        said += [AT_THE_END] if self._used or self._colored else []
        self._left.clear()
        self._colored, self._used = False, False
        return b"".join(said)

    def _taken_back(self, *, on_other_screen: bool) -> list[bytes]:
        times, self._pushed[on_other_screen] = self._pushed[on_other_screen], 0
        return [b"\x1b[<%du" % times] if times and on_other_screen in (False, self._is_other_screen) else []

    @property
    def _is_other_screen(self) -> bool:
        return any(self._modes.get((b"?", number)) for number in SCREENS)

    def _is_changed(self, number: int) -> bool:
        is_on = number in ON_BY_ITSELF
        return self._modes.get((b"?", number), is_on) is not is_on

    def _mode(self, number: int) -> bytes:
        return b"\x1b[?%d%c" % (number, b"h" if number in ON_BY_ITSELF else b"l")

    # ---- control characters and sequences ----

    def _at_control(self, data: bytes, at: int, out: list[bytes]) -> int:
        """Treat what begins at `at`; return where it ends."""
        if data[at : at + 1] == ESCAPE:
            return self._at_escape(data, at, out)
        if data[at : at + 1] == SHIFT_OUT:
            self._used = True
            out.append(SHIFT_OUT)
        elif data[at : at + 1] == TWO_BYTES:
            self._held = data[at : at + 1] if at + 1 == len(data) else b""
            return at + (2 if b"\x80" <= data[at + 1 : at + 2] < b"\xa0" else 1)
        return at + 1

    def _at_escape(self, data: bytes, at: int, out: list[bytes]) -> int:
        after = at + 1
        if BEGUN.match(data, after):
            # One that is too long is dropped, and what comes of it later is text.
            self._held = data[at:] if len(data) - at <= LONGEST_SEQUENCE else b""
            return len(data)
        if data[after] in STRINGS:
            self._string, self._length = bytearray(data[after : after + 1]), 0
            return after + 1
        if found := CONTROL.match(data, after):
            if self._passes(*found.groups()):
                out.append(data[at : found.end()])
            return found.end()
        if found := SHORT.match(data, after):
            if PASSED_SHORT.fullmatch(data, after, found.end()):
                self._short(found.group())
                out.append(data[at : found.end()])
            # The second byte of a control sequence that cannot be read has no meaning without it.
            return found.end()
        return after

    def _short(self, text: bytes) -> None:
        self._used = True
        if text == b"=":
            self._left["keypad"] = b"\x1b>"
        self.asked = self.asked or text == b"Z"

    def _passes(self, prefix: bytes, numbers: bytes, between: bytes, last: bytes) -> bool:
        """Return whether a control sequence passes; note what it changes."""
        kind = prefix + between
        if last not in PASSED.get(kind, b"") or len(numbers) > LONGEST_SEQUENCE:
            return False
        self._used = True
        values = [int(one) for one in re.split(rb"[;:]", numbers) if one.isdigit()]
        if last in (b"h", b"l"):
            return self._sets(kind, values, last == b"h")
        if kind + last == b"t" and (not values or values[0] not in PASSED_WINDOW):
            return False
        if kind + last == b">u":
            self._push(1)
        elif kind + last == b"<u":
            self._push(-max(values[0] if values else 1, 1))
        elif kind + last == b"=u":
            self._left["keyboard"] = b"\x1b[=0u"
        elif kind + last == b">m":
            self._left["keys"] = b"\x1b[>4m"
        elif kind + last == b" q":
            self._left["cursor"] = b"\x1b[0 q"
        self.asked = self.asked or kind + last in QUESTIONS
        return True

    def _push(self, times: int) -> None:
        here = self._is_other_screen
        self._pushed[here] = min(max(self._pushed[here] + times, 0), MOST_PUSHED)

    def _sets(self, kind: bytes, values: list[int], on: bool) -> bool:
        if any(one in REFUSED_MODES if kind else one not in PASSED_ANSI_MODES for one in values):
            return False
        for one in values:
            self._modes[kind, one] = on
        return True

    # ---- control strings ----

    def _in_string(self, data: bytes, at: int, out: list[bytes]) -> int:
        """Take what belongs to the string; return where it ends."""
        assert self._string is not None
        found = STRING_ENDS.search(data, at)
        end = found.start() if found else len(data)
        self._length += end - at
        room = LONGEST_STRING - len(self._string)
        self._string += data[at : min(end, at + room)]
        if not found:
            return end
        byte = found.group()
        if byte == ESCAPE and end + 1 == len(data):
            self._held = ESCAPE
            return len(data)
        kind, text = bytes(self._string[:1]), bytes(self._string[1:])
        is_whole = byte == b"\x07" or data[end : end + 2] == b"\x1b\\"
        self._string = None
        if is_whole:
            ending = byte if byte == b"\x07" and kind == b"]" else b"\x1b\\"
            if passed := self._string_passed(kind, text):
                out.append(passed if passed.startswith(ESCAPE) else ESCAPE + kind + passed + ending)
        # Anything else breaks it off, and an escape then begins something new.
        return end + (0 if byte == ESCAPE and not is_whole else 2 if byte == ESCAPE else 1)

    def _string_passed(self, kind: bytes, text: bytes) -> bytes:
        """Return what passes of a control string, without its ends; b'' for nothing."""
        if kind == b"P" and QUESTION_STRING.fullmatch(text):
            self.asked = self.asked or text[1:2] == b"q"
            return text
        if kind == b"k":
            return _own(text)
        if kind != b"]":
            return b""
        number, _, rest = text.partition(b";")
        if number == b"52" or rest.startswith(b"Copy="):
            self._of_clipboard(rest)
        if self._length >= LONGEST_STRING or not number.isdigit() or len(number) > len("1337"):
            return b""
        if int(number) in COLORS:
            return self._colors(int(number), text, rest)
        return self._message(int(number), text, rest)

    def _message(self, number: int, text: bytes, rest: bytes) -> bytes:
        match number:
            case 0 | 1 | 2 if rest != b"?":
                # Before the first title a terminal keeps its own, where it can, to be taken back.
                first = b"" if "title" in self._left else b"\x1b[22;0t"
                self._left["title"] = b"\x1b[23;0t"
                return b"%s\x1b]%d;%s\x1b\\" % (first, number, _own(rest))
            case 8 if LINK.fullmatch(rest):
                self._left["link"] = b"\x1b]8;;\x1b\\"
                return text
            case 9 if PROGRESS.fullmatch(rest):
                self._left["progress"] = b"\x1b]9;4;0;\x1b\\"
                return text
            case 9:
                return b"9;" + _own(rest)
            case 777 if rest.startswith(b"notify;"):
                return b"777;notify;" + _own(rest.removeprefix(b"notify;"))
        return b""

    def _colors(self, number: int, text: bytes, rest: bytes) -> bytes:
        if not COLOR_TEXT.fullmatch(rest):
            return b""
        if b"?" in rest:
            self.asked = True
        elif number < TAKES_BACK:
            self._left[f"color {number}"] = b"\x1b]%d\x1b\\" % (number + TAKES_BACK)
        return text

    def _of_clipboard(self, rest: bytes) -> None:
        _, _, content = rest.rpartition(b";") if not rest.startswith(b"Copy=") else rest.rpartition(b":")
        if content == b"?":
            self._looks += 1
            return
        self._copies += 1
        try:
            whole = base64.b64decode(content, validate=True) if self._length < LONGEST_STRING else b""
        except binascii.Error:
            whole = b""
        self._characters += len(whole.decode("utf-8", "replace")) if whole else self._length * 3 // 4


def _own(text: bytes) -> bytes:
    """Return a text for outside of the screen, with what says whose it is."""
    said = "".join(one for one in text[: 4 * LONGEST_TITLE].decode("utf-8", "replace") if one.isprintable())
    return (PREFIX + said[:LONGEST_TITLE]).encode()
