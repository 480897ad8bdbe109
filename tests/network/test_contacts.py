"""The book of contacts: bounded, and reported at once and then not too often."""

from __future__ import annotations

from runner.model.network import LONGEST_HOST, NOT_LISTED, Contact
from runner.network.contacts import LONGEST_WHY, MOST_CONTACTS, MOST_REFUSED, ContactBook


def test_a_contact_is_reported_at_once_and_its_changes_with_flush() -> None:
    reports: list[Contact] = []
    book = ContactBook(reports.append)
    key = book.add(Contact("a.example", 443, True))
    assert reports == [Contact("a.example", 443, True)]
    for _ in range(1000):
        book.add(Contact("a.example", 443, True))
        book.count(key, 2, 3)
    assert len(reports) == 1
    book.flush()
    book.flush()
    assert reports[1:] == [Contact("a.example", 443, True, times=1001, sent=2000, received=3000)]
    assert not book.changed


def test_outcomes_are_contacts_of_their_own_and_refused_ones_come_first() -> None:
    book = ContactBook(lambda _: None)
    for allowed in (True, None, False, True):
        book.add(Contact("a.example", 443, allowed, "" if allowed else "why"))
    assert [(one.allowed, one.times) for one in book.contacts] == [(False, 1), (True, 2), (None, 1)]


def test_names_from_inside_are_cut_and_printable() -> None:
    book = ContactBook(lambda _: None)
    book.add(Contact("\x1b[31m\u202eä\n" + "x" * 999, 1, False, "\0" * 999))
    (contact,) = book.contacts
    assert contact.host.startswith("?[31m???x") and len(contact.host) == LONGEST_HOST
    assert contact.why == "?" * LONGEST_WHY


def test_invented_names_are_counted_and_do_not_push_out_what_was_reached() -> None:
    reports: list[Contact] = []
    book = ContactBook(reports.append)
    for number in range(100_000):
        book.add(Contact(f"n{number}.example", 443, False, NOT_LISTED))
    assert len(book.contacts) == MOST_REFUSED
    assert book.left_out == 100_000 - MOST_REFUSED
    book.add(Contact("n0.example", 443, False, NOT_LISTED))
    assert book.left_out == 100_000 - MOST_REFUSED
    key = book.add(Contact("real.example", 443, True))
    book.count(key, 7, 0)
    assert [one.sent for one in book.contacts if one.host == "real.example"] == [7]
    for number in range(1000):
        book.add(Contact(f"n{number}.wild.example", 443, True))
    assert len(book.contacts) == MOST_CONTACTS
    assert len(reports) == MOST_CONTACTS
    for _ in range(3):
        book.add(Contact("all hosts", 0, None, "are gone"), always=True)
    assert reports[MOST_CONTACTS:] == [Contact("all hosts", 0, None, "are gone")]


def test_bytes_without_a_contact_are_left_out() -> None:
    book = ContactBook(lambda _: None)
    book.count(None, 5, 5)
    assert book.contacts == ()
