"""Ranges of npm, held against the tables of node-semver's documentation."""

from __future__ import annotations

import pytest

from runner.packages.semver import NotARange, range_of, version


@pytest.mark.parametrize(
    ("written", "inside", "outside"),
    [
        ("^1.2.3", "1.2.3 1.9.9", "1.2.2 2.0.0 2.0.0-0 1.3.0-beta"),
        ("^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2"),
        ("^0.0.3", "0.0.3", "0.0.4 0.1.0"),
        ("^0.0", "0.0.0 0.0.9", "0.1.0"),
        ("^0", "0.0.0 0.9.0", "1.0.0"),
        ("^1.2.3-beta.2", "1.2.3-beta.2 1.2.3-beta.10 1.2.3 1.4.0", "1.2.3-beta.1 1.2.4-beta.2 2.0.0"),
        ("~1.2.3", "1.2.3 1.2.9", "1.3.0 1.2.2"),
        ("~1.2", "1.2.0 1.2.9", "1.3.0"),
        ("~1", "1.0.0 1.9.0", "2.0.0"),
        ("1.x", "1.0.0 1.9.9", "2.0.0 0.9.9"),
        ("1.2.*", "1.2.0", "1.3.0"),
        ("", "0.0.1 9.9.9", "1.0.0-a"),
        ("*", "1.0.0", "1.0.0-a"),
        ("1.2 - 2.3.4", "1.2.0 2.3.4", "1.1.9 2.3.5"),
        ("1.2.3 - 2.3", "2.3.9", "2.4.0"),
        ("1.2.3 - 2", "2.9.9", "3.0.0"),
        (">=1.2.7 <1.3.0", "1.2.7 1.2.99", "1.2.6 1.3.0"),
        ("1.2.7 || >=1.2.9 <2", "1.2.7 1.2.9 1.4.6", "1.2.8 2.0.0"),
        (">1.2", "1.3.0", "1.2.9 1.2.0"),
        ("<=1.2", "1.2.9 0.1.0", "1.3.0"),
        ("<1.2", "1.1.9", "1.2.0 1.2.0-beta"),
        ("> 1.2.3", "1.2.4", "1.2.3"),
        ("=1.2.3", "1.2.3 1.2.3+build", "1.2.4"),
        ("v1.2.3", "1.2.3", "1.2.4"),
        ("<*", "", "0.0.0 1.0.0"),
        (">=*", "1.0.0", ""),
    ],
)
def test_a_range_allows_what_npm_allows(written: str, inside: str, outside: str) -> None:
    found = range_of(written)
    for text in inside.split():
        number = version(text)
        assert number is not None and found.allows(number), text
    for text in outside.split():
        number = version(text)
        assert number is not None and not found.allows(number), text


@pytest.mark.parametrize("written", ["latest", "git://x", "file:../x", "1.2.3.4", "npm:a@1", "^" * 300, ">>1", "1 -2x"])
def test_what_is_no_range_is_refused(written: str) -> None:
    with pytest.raises(NotARange):
        range_of(written)


def test_versions_are_ordered_as_semantic_versioning_orders_them() -> None:
    order = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1"
    numbers = [found for text in order.split() if (found := version(text)) is not None]
    assert len(numbers) == 9 and sorted(numbers, key=lambda one: one.key) == numbers
    assert version("1.0") is None and version("01.0.0") is None and version("9" * 300) is None
