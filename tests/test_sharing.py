"""Two processes share the tests so that only one of them has those on the container engine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.sharing import SharedByFile, turn

if TYPE_CHECKING:
    from collections.abc import Iterable

TESTS = [
    "tests/test_a.py::test_1",
    "tests/gui/test_b.py::test_1[docker]",
    "tests/gui/test_b.py::test_2[tests/contract/test_c.py::test_1[docker]]",
    "tests/security/test_s.py::test_1",
    "tests/containers/test_c.py::test_1",
    "tests/containers/test_images.py::test_1[docker]",
    "tests/contract/test_c.py::test_1[local]",
    "tests/contract/test_c.py::test_1[docker]",
    "tests/contract/test_c.py::test_2[gvisor-python-print('[local]')]",
    "tests/security/test_s.py::test_2[gvisor-x]",
    "tests/contract/test_engine_lost.py::test_1",
    "tests/gui/parts/test_d.py::test_1",
    "tests/security/test_s.py::test_2[local-x]",
    "tests/security/test_s.py::test_2[gvisor-direct-x]",
]
ENGINE = [4, 7, 8, 9]
OWN = [5, 10]
DIRECT = [13]
OTHERS = [6, 3, 12, 0, 1, 2, 11]


class Process:
    """A process that is given tests by their number."""

    shutting_down = False

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []

    def send_runtest_some(self, numbers: Iterable[int]) -> None:
        self.given += numbers

    def shutdown(self) -> None:
        self.shutting_down = True


def test_each_file_and_the_engine_go_to_one_process_in_the_order_of_their_turn() -> None:
    config: Any = SimpleNamespace(
        option=SimpleNamespace(loadscopereorder=True), getvalue=lambda _name: ["2*popen"], hook=None
    )
    collected = sorted(TESTS, key=turn)
    scheduler, processes = SharedByFile(config), [Process("one"), Process("two")]
    for each in processes:
        scheduler.add_node(each)
        scheduler.add_node_collection(each, collected)
    scheduler.schedule()
    first, second = ([collected[number] for number in each.given] for each in processes)
    assert first == [TESTS[number] for number in ENGINE]
    assert second[:2] == [TESTS[number] for number in OWN]
    assert collected[6:] == [TESTS[number] for number in DIRECT + OTHERS]
    over: set[int] = set()
    for _ in TESTS:
        for each in processes:
            for number in [one for one in each.given if one not in over]:
                over.add(number)
                scheduler.mark_test_complete(each, number)
    assert sorted(number for each in processes for number in each.given) == [*range(len(TESTS))]
