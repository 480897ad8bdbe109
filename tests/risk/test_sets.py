"""Every set of programs in its table: what is dangerous in it is found, what only looks like it is not raised."""

from __future__ import annotations

import pytest

from tests.risk.sets import FOLDER, SETS, ProgramSet

EACH = pytest.mark.parametrize("one", SETS, ids=lambda one: one.name)


@EACH
def test_its_danger_is_found(one: ProgramSet) -> None:
    missed = {case.name for case in one.cases("danger") if not one.bar.finds(case)}
    assert allowed(missed, one.missed, one.danger)


@EACH
def test_what_looks_like_it_is_not_raised(one: ProgramSet) -> None:
    raised = {case.name for case in one.cases("harmless") if one.bar.raises(case)}
    assert allowed(raised, one.raised, one.harmless)


def allowed(names: set[str], known: frozenset[str] | float, number: int) -> bool:
    """Return whether these are the known ones and no others, or no larger a share of `number`."""
    return len(names) <= known * number if isinstance(known, float) else names == known


def test_the_table_names_every_file_and_counts_what_is_in_it() -> None:
    counted = {f"{one.name}-{kind}.txt": getattr(one, kind) for one in SETS for kind in ("danger", "harmless")}
    assert counted == {
        f"{one.name}-{kind}.txt": len(one.cases(kind)) for one in SETS for kind in ("danger", "harmless")
    }
    assert sorted(counted) == sorted(file.name for file in FOLDER.iterdir())
