"""The person's own rules, read from YAML: which requests are asked, denied or allowed, and at which level (spec R5).

A rule names tools and agents, sets conditions on parameters, and says what follows. The first rule that matches
counts; one that allows gives way to any that denies. Rules raise a level and never lower it (spec R4). Where a rule
cannot be read, everything is asked, because nobody knows what it would have forbidden.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, assert_never

from runner import document
from runner.assessment import Level
from runner.document import Node, Unreadable
from runner.policy.pattern import Pattern

if TYPE_CHECKING:
    from pathlib import Path

    from runner.places import Places
    from runner.request import Tool
    from runner.settings import Loaded, Settings
