"""Undoes two things in PySide that end a console or keep agents from it. Call `prepare` once PySide6 was imported.

PySide puts a function of its own in the place of `__import__` (for `from __feature__ import ...`, which Assent does not
use). It reads the source of each module that is imported, also of one that another thread has imported only half;
reading an attribute there can import more. On a busy machine that ended the import of pydantic with an error, and a
console came up that no agent could reach. Without the hook the gateway is imported in a fifth less time as well.

Before Python 3.12 an error that C code raises is only made an object where Python code handles it. An error of a method
that Qt calls, such as `paintEvent`, went to PySide as it was, which took its text for an object and crashed (seen with
6.11.3: `len(5)` in a `sizeHint`). Handled once on the way, it becomes a report like any other error.
"""

from __future__ import annotations

import builtins
import functools
import sys
from types import FunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from collections.abc import Callable

GUARDED = "_guarded"


def prepare() -> None:
    """Do without the hook, and guard the methods that Qt calls. Harmless when done twice."""
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
    if sys.version_info < (3, 12):
        QObject.__init_subclass__ = classmethod(_guard)  # type: ignore[assignment, method-assign, arg-type]
        for kind in _below(QObject):
            _guard(kind)


def _below(kind: type) -> list[type]:
    """Return every class of Python that is made of `kind`."""
    found: list[type] = list(type.__subclasses__(kind))
    for one in found:  # grows as it is gone through
        found += type.__subclasses__(one)
    return [one for one in found if one.__module__.partition(".")[0] not in ("PySide6", "Shiboken")]


def _guard(kind: type, **others: Any) -> None:
    """Guard the methods of a class that Qt calls in the place of its own."""
    for name, method in list(vars(kind).items()):
        if not isinstance(method, FunctionType) or hasattr(method, GUARDED):
            continue
        if any(isinstance(vars(base).get(name), MethodDescriptorType) for base in kind.__mro__[1:]):
            setattr(kind, name, _guarded(method))


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def guarded(*args: Any, **named: Any) -> Any:
        try:
            return method(*args, **named)
        except BaseException:  # to handle the error is what makes it an object
            raise

    setattr(guarded, GUARDED, True)
    return guarded
