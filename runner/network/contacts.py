"""The hosts that a run tried to reach: counted in bounded memory, and reported as they change."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.network import LONGEST_HOST, Contact

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_CONTACTS = 100
MOST_REFUSED = 60
"""Of them: a program that invents names must not push what it did reach out of the record."""
LONGEST_WHY = 300

Key = tuple[str, int, bool | None]


class ContactBook:
    """The contacts of one run, by host, port and outcome. May be read on any thread."""

    def __init__(self, report: Callable[[Contact], None]) -> None:
        """`report` gets each new contact at once, and later changes of it with `flush`."""
        self._report = report
        self._lock = threading.Lock()
        self._contacts: dict[Key, Contact] = {}
        self._changed: set[Key] = set()
        self._refused = 0
        self._left_out = 0

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Refused ones first, then in the order of their first time."""
        with self._lock:
            return tuple(sorted(self._contacts.values(), key=lambda contact: contact.allowed is not False))

    @property
    def left_out(self) -> int:
        return self._left_out

    def add(self, contact: Contact, *, always: bool = False) -> Key | None:
        """Count `contact`, and return its key for `count`; None where there are too many already.

        `always` is for what the code must not be able to push out.
        """
        contact = replace(contact, host=shown(contact.host, LONGEST_HOST), why=shown(contact.why, LONGEST_WHY))
        key = (contact.host, contact.port, contact.allowed)
        with self._lock:
            known = self._contacts.get(key)
            if known is None and not always and self._full(refused=contact.allowed is False):
                self._left_out += 1
                return None
            if known is not None:
                times, sent, received = known.times + 1, known.sent + contact.sent, known.received + contact.received
                contact = replace(contact, times=times, sent=sent, received=received)
                self._changed.add(key)
            elif contact.allowed is False:
                self._refused += 1
            self._contacts[key] = contact
        if known is None:
            self._report(contact)
        return key

    def count(self, key: Key | None, sent: int, received: int) -> None:
        """Add bytes to a contact."""
        if key is not None and (sent or received):
            with self._lock:
                known = self._contacts[key]
                self._contacts[key] = replace(known, sent=known.sent + sent, received=known.received + received)
                self._changed.add(key)

    def flush(self) -> None:
        """Report what changed since the last time."""
        with self._lock:
            changed = [self._contacts[key] for key in self._changed]
            self._changed.clear()
        for contact in changed:
            self._report(contact)

    @property
    def changed(self) -> bool:
        return bool(self._changed)

    def _full(self, *, refused: bool) -> bool:
        return len(self._contacts) >= MOST_CONTACTS or (refused and self._refused >= MOST_REFUSED)


def shown(text: str, longest: int) -> str:
    """Return `text` cut, with everything that is not printable ASCII as `?`."""
    return "".join(letter if " " <= letter <= "~" else "?" for letter in text[:longest])
