"""The permissions of one agent, within those that the settings give all of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from runner.model.language_support import OWN
from runner.model.rehearsal import RehearsalMode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.settings.loading import Settings

MOST = {"rate_per_minute": 100_000, "max_pending": 10_000, "seconds": 86_400.0, "memory_mb": 1_000_000}
"""Largest values of the file; what counts is never more than the settings allow."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits of one agent. 0, and no languages, mean what the settings say."""

    rate_per_minute: int = 0
    """Calls in a minute."""
    max_pending: int = 0
    """Requests that wait or run at once."""
    seconds: float = 0.0
    """Longest time that one run may ask for."""
    memory_mb: int = 0
    """Most memory that one run may ask for."""
    languages: tuple[str, ...] = ()
    """Languages that it may use in a sandbox."""
    network: bool = True
    """Whether it may ask for network."""
    packages: bool = True
    """Whether it may ask for packages."""
    rehearse: str = RehearsalMode.OFF.value
    """Where its code runs without network before a person decides; a value of `RehearsalMode`."""

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Allowance:
        """Return the allowance of a file. Raises ValueError and TypeError for anything that is none."""
        known = {one.name for one in fields(cls)}
        if strange := set(data) - known:
            raise ValueError(f"an agent has no setting {sorted(strange)[0][:40]!a}")
        values = dict(data)
        for name, most in MOST.items():
            value = values.get(name, 0)
            whole = name != "seconds"
            # Written so that NaN fails as well.
            if type(value) not in ((int,) if whole else (int, float)) or not 0 <= value <= most:
                raise ValueError(f"{name} of an agent must be 0 to {most:,.0f}")
        for name in ("network", "packages"):
            if type(values.get(name, True)) is not bool:
                raise ValueError(f"{name} of an agent must be true or false")
        if values.get("rehearse", "") not in tuple(RehearsalMode):
            named = ", ".join(repr(mode.value) for mode in RehearsalMode)
            raise ValueError(f"rehearse of an agent must be among {named}")
        languages = values.get("languages", ())
        if not isinstance(languages, (list, tuple)) or not {*languages} <= {*OWN}:
            raise ValueError(f"languages of an agent must be among {', '.join(OWN)}")
        ordered = tuple(language.value for language in OWN if language in languages)
        return cls(**{**values, "languages": () if len(ordered) == len(OWN) else ordered})

    def differing(self, other: Allowance) -> dict[str, object]:
        """Return the values of `other` that are not the same here, by name."""
        mine = asdict(self)
        return {name: value for name, value in asdict(other).items() if value != mine[name]}


def most_of(settings: Settings) -> dict[str, float]:
    """Return the largest values of the limits that mean anything, by name: what the settings allow all agents."""
    return {
        "rate_per_minute": settings.rate_per_minute,
        "max_pending": settings.max_pending,
        "seconds": settings.max_timeout_seconds,
        "memory_mb": settings.max_memory_mb,
    }


def narrowed(settings: Settings, allowance: Allowance) -> Settings:
    """Return the settings with the limits of an agent, within which it may ask."""
    if allowance == Allowance():
        return settings
    seconds = allowance.seconds or settings.max_timeout_seconds
    memory = allowance.memory_mb or settings.max_memory_mb
    return replace(
        settings,
        timeout_seconds=min(settings.timeout_seconds, seconds),
        max_timeout_seconds=min(settings.max_timeout_seconds, seconds),
        memory_mb=min(settings.memory_mb, memory),
        max_memory_mb=min(settings.max_memory_mb, memory),
        docker_memory_mb=min(settings.docker_memory_mb, memory),
        network_by_default=settings.network_by_default and allowance.network,
    )
