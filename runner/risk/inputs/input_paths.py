"""Tries what is handed to the code as the paths of which the code itself does not say what they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.bounds import CUT
from runner.risk.model.value import HOLE, Value, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.risk.model.acts import Act, Trail
    from runner.risk.rules.targets import Targets

PIECE = expression(r"[^\s\"'`,;|=(){}\[\]<>]++")
"""What may be a path, or a part of one, in a text: in a list, a table, JSON or a line."""
LIKELY = expression(r"[/~\\]|\.(?!\d)|id_")
"""What a whole path that matters has."""
STREAMS = frozenset({"sys.stdin", "sys.__stdin__", "process.stdin", "open()"})
"""Names of what is open already."""
STEPS = 10
"""What trying a path costs, in steps of the budget."""
MOST_OF_A_KIND = 2
"""Paths of the same kinds with which an act is tried."""
FIELDS = ("path", "source")
PLACES = frozenset({"absolute", "relative", "outside"})
"""What every path is, one of them."""


def try_paths(texts: Iterable[str], trail: Trail, targets: Targets) -> None:
    """Repeat each act on a file of unknown path with every path in `texts` that matters. Raises TooMuch."""
    acts = [(act, field) for act in trail.acts for field in FIELDS if _is_open(act, field)]
    if not acts:
        return
    pieces = list(_pieces(texts))
    known: dict[str, list[str]] = {}
    for act, field in acts:
        pattern = act.get(field).text if HOLE in act.get(field).text else HOLE
        if pattern not in known:
            known[pattern] = list(_known(pattern, pieces, trail, targets))
        for path in known[pattern]:
            trail.budget.spend(STEPS)
            fields = {**act.fields, field: text(path, labels=act.get(field).labels)}
            trail.add(act.kind, act.name, fields, act.place, act.labels)


def _is_open(act: Act, field: str) -> bool:
    """Return whether a part of the path is not known."""
    path: Value | None = act.fields.get(field)
    if path is None or path.items is not None or path.number is not None:
        return False  # a list of paths has each of them, a number is of a file that is open
    if path.name.removesuffix(".buffer") in STREAMS:
        return False
    return not path.texts or HOLE in path.text or CUT in path.labels


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for one in texts:
        for piece in (one.strip(), *(match[0] for match in PIECE.finditer(one))):
            if piece not in seen:
                seen.add(piece)
                yield piece


def _known(pattern: str, pieces: Iterable[str], trail: Trail, targets: Targets) -> Iterator[str]:
    """Yield the paths that matter where a piece stands at the holes of `pattern`, a few of each kind."""
    found: Counter[frozenset[str]] = Counter()
    for piece in pieces:
        if pattern == HOLE and not LIKELY.search(piece):
            continue
        trail.budget.spend(STEPS)
        whole = pattern.replace(HOLE, piece)
        kinds = targets.of(whole)
        found[kinds] += 1
        if kinds - PLACES and found[kinds] <= MOST_OF_A_KIND:
            yield whole
