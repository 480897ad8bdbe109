"""The origin and purpose of a call, in the words of the agent and its program.

Nothing here is verified and nothing is decided by it: the token alone says which agent it is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from runner.model.plain import plain
from runner.model.request import Claim

if TYPE_CHECKING:
    from mcp_types import Implementation

LONGEST_NAME, LONGEST_VERSION = 60, 30
"""Characters that are recorded of what a program says of itself."""
LONGEST_REASON, LONGEST_PROJECT, LONGEST_TASK = 300, 80, 160
"""Characters that are recorded of what an agent says about why it asks."""
MOST_SESSIONS = 200
"""Sessions of one agent whose numbers are remembered; one that was unused for longer gets another number."""
UNKNOWN = "unknown"
"""What a session is opened with where the client itself said nothing."""
SESSION_HEADER = b"assent-session"
"""Header by which the stdio bridge names itself: in the modern era the protocol has no sessions."""
LONGEST_SESSION = 128
_QUOTES = re.compile('["\u00ab\u00bb\u201c-\u201f\u2033\u2036\u301d-\u301f\uff02]')
"""What could end the quotes in which the claim is shown."""


def program(info: Implementation | None) -> str:
    """Return what a program says that it is, such as `claude-code 2.1.329`, in one short line; '' for nothing."""
    if info is None or info.name == UNKNOWN:
        return ""
    return f"{_bounded(info.name, LONGEST_NAME)} {_bounded(info.version, LONGEST_VERSION)}".strip()


def claim(reason: str | None, project: str | None, task: str | None) -> Claim:
    """Return what an agent says about why it asks, each in one short line."""
    return Claim(
        _bounded(reason or "", LONGEST_REASON),
        _bounded(project or "", LONGEST_PROJECT),
        _bounded(task or "", LONGEST_TASK),
    )


def _bounded(text: str, most: int) -> str:
    """Return at most `most` characters, with what terminals obey or nobody sees written out."""
    # Cut before and after: an escape is longer than what it stands for.
    clean = text[: most + 1].encode("utf-8", "replace").decode("utf-8")
    line = " ".join(_QUOTES.sub("'", plain(clean)).split())
    return line if len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


class SessionNumbers:
    """The sessions of each agent, counted from 1 in the order of their first request since the start."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
        """The one unused for longest first."""
        self._last: Counter[str] = Counter()

    def number(self, agent: str, session: str) -> int:
        """Return the number of a session; 0 where the call names none."""
        if not session:
            return 0
        mine = self._numbers[agent]
        if session not in mine:
            self._last[agent] += 1
        number = mine[session] = mine.pop(session, self._last[agent])
        if len(mine) > MOST_SESSIONS:
            del mine[next(iter(mine))]
        return number
