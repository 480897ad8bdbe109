"""The request that is made of a call: its limits."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from runner.model.errors import Refused
from runner.model.request import Isolation, Language, Limits, Request, Tool
from runner.model.submission import Submission
from runner.requests import bounds, intake
from runner.settings.loading import Settings

CODE = Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "1")
CONTAINERS = (Isolation.DOCKER, Isolation.GVISOR_DIRECT, Isolation.GVISOR)


@pytest.mark.parametrize("isolation", [Isolation.PROCESS, Isolation.LOCAL, *CONTAINERS])
def test_the_disk_limit_that_is_shown_is_one_that_counts(isolation: Isolation) -> None:
    """Files of a container are held in its memory: of 1024 MB of disk 600 ended a run with 512 MB of memory."""
    shown = intake.limits(CODE, Settings(), isolation)
    assert (shown.memory_mb, shown.disk_mb) == (512, 512 if isolation in CONTAINERS else 1024)
    less = intake.limits(replace(CODE, disk_mb=100), Settings(), isolation)
    assert less.disk_mb == 100


@pytest.mark.parametrize("isolation", CONTAINERS)
def test_a_person_gives_no_more_disk_than_memory_either(isolation: Isolation) -> None:
    limits = Limits(memory_mb=512, disk_mb=512)
    request = Request("1", "claude", Tool.CODE_EXECUTE, time.time(), limits=limits, isolation=isolation)
    assert bounds.checked(request, replace(limits, disk_mb=4096), Settings()).disk_mb == 512
    assert bounds.checked(request, replace(limits, memory_mb=256), Settings()).disk_mb == 256
    more = replace(limits, memory_mb=4096, disk_mb=2048)
    assert bounds.checked(request, more, Settings()) == more


@pytest.mark.parametrize("value", ["x" * intake.LONGEST_VARIABLE, ["é" * 80_000]])
def test_a_variable_that_no_program_can_have_in_its_environment_is_refused(value: object) -> None:
    """It was approved first, and then the run could not be started."""
    long = replace(CODE, context={"rows": [value]})
    assert intake.request(long, Settings(), Isolation.LOCAL).context
    with pytest.raises(Refused, match="'rows' of context is longer"):
        intake.request(replace(long, language=Language.SHELL), Settings(), Isolation.LOCAL)
