"""One line of the bench: a figure, the floor it is held against, and whether the goal is met."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MOST_REASON = 160


@dataclass(frozen=True, slots=True)
class Row:
    """All figures are of the same run on the same machine.

    A goal bounds `ratio`, which is `value / floor`; where a figure does not depend on the machine's speed (a count,
    a size, a percentage) there is no floor, and the goal bounds the figure itself.
    """

    name: str
    value: float = 0.0
    unit: str = ""
    floor: float | None = None
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""
    failed: str = ""
    """Why it was not measured though it should have been."""
    skipped: str = ""
    """What this machine does not have for it."""

    @property
    def ratio(self) -> float | None:
        return None if not self.floor else self.value / self.floor

    @property
    def met(self) -> bool | None:
        """None where there is no goal, or nothing was measured."""
        if self.failed or self.skipped or (self.at_most is None and self.at_least is None):
            return None
        held = self.value if self.ratio is None else self.ratio
        return (self.at_most is None or held <= self.at_most) and (self.at_least is None or held >= self.at_least)

    @property
    def goal(self) -> str:
        unit = "x" if self.floor else f" {self.unit}".rstrip()
        if self.at_most is not None:
            return f"<= {self.at_most:g}{unit}"
        return "" if self.at_least is None else f">= {self.at_least:g}{unit}"


def attempt(name: str, work: Callable[[], Iterable[Row]]) -> Iterator[Row]:
    """Yield the rows of `work`; where it breaks off, those it had, and one that says why."""
    try:
        yield from work()
    except pytest.skip.Exception as reason:
        yield Row(name, skipped=_short(reason))
    except (Exception, pytest.fail.Exception) as error:
        yield Row(name, failed=_short(error))


def skip(reason: str) -> None:
    """End the part of the bench that calls this: what it needs is not on this machine."""
    pytest.skip(reason)


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:MOST_REASON] if not isinstance(error, pytest.skip.Exception) else text


def send(row: Row) -> None:
    """Hand a row to the process that called `received` for this one."""
    print(json.dumps(asdict(row)), flush=True)


def received(command: list[str], environment: Mapping[str, str]) -> Iterator[Row]:
    """The rows that a process of its own sends, each as soon as it is there."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                yield Row(**json.loads(line))
    if process.returncode:
        raise RuntimeError(f"its process ended with {process.returncode}")


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` (0 to 1) of all lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
