"""The settings, rules and grants in force, and the policy that they make."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import TYPE_CHECKING

from runner.policy.decide import Policy
from runner.policy.grantfile import Grants
from runner.policy.rulefile import read
from runner.risk import user_rules
from runner.settings.loading import Loaded, Settings, load
from runner.settings.package_languages import with_languages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.model.request import Isolation
    from runner.system.places import Places


SETTINGS_CHANGED = "settings-changed"
"""Kind of the entry that names the settings which got another value while the console was open."""


def differing(before: Settings, after: Settings) -> list[str]:
    """Return the names of the settings that differ."""
    return [one.name for one in fields(before) if getattr(before, one.name) != getattr(after, one.name)]


class Configuration:
    """The settings, rules and grants of a person, read from files; `reload` reads them again."""

    def __init__(self, places: Places, loaded: Loaded, weaker: Callable[[Isolation], str]) -> None:
        """`weaker` returns in words that a kind of sandbox is weaker than that of last time; '' where it is not."""
        self._places = places
        self._weaker = weaker
        self.loaded = loaded
        self.settings = loaded.settings
        self.rules = read(places, loaded.rules)
        self.dangers = user_rules.read(places.own_rules)
        self.grants = Grants(places)
        self.policy = self._make_policy()

    @property
    def problems(self) -> tuple[str, ...]:
        """Errors in the settings and rules files, one sentence each."""
        return (*self.loaded.problems, *self.rules.problems, *self.dangers.problems)

    def reload(self, environment: Mapping[str, str] = os.environ) -> None:
        """Read settings and rules again. Changes of port and sandbox type take effect at the next start."""
        self.loaded = with_languages(load(self._places, environment))
        self.settings = self.loaded.settings
        self.rules = read(self._places, self.loaded.rules)
        self.dangers = user_rules.read(self._places.own_rules)
        if self.grants.problem:
            self.grants.read()
        self.policy = self._make_policy()

    def _make_policy(self) -> Policy:
        unreadable = bool(self.problems or self.grants.problem)
        return Policy(self.settings, self.rules, ask_everything=unreadable, weaker=self._weaker)
