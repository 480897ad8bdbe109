"""Text that a terminal can show as it is: colours removed, every other character that commands or hides written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression

if TYPE_CHECKING:
    import re

_COLOURS = expression(r"\x1b\[[\d;:]{0,40}m")
_COMMANDS = expression(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # of terminals: all controls but tab and newline
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"  # direction of writing, and marks without width
    "\u2028\u2029\U000e0000-\U000e007f]"  # further ends of lines, and tags: text that only models see
)


def plain(text: str) -> str:
    """Return `text` without colours, and with what terminals obey or nobody sees as escapes like `\\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return _COMMANDS.sub(_written_out, _COLOURS.sub("", text.replace("\r\n", "\n")))


def plain_value(value: object) -> object:
    """Return JSON data with all texts of it, names included, as `plain` has them."""
    match value:
        case str():
            return plain(value)
        case list():
            return [plain_value(item) for item in value]
        case dict():
            return {plain(str(name)): plain_value(item) for name, item in value.items()}
        case _:
            return value


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
