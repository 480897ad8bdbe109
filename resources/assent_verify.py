"""Checks a history that `assent export --entries` wrote, without Assent.

Usage: python3 -I assent_verify.py FILE [--key KEY] [--head HEAD]

Every entry carries the SHA-256 of what it says and of the entry before it, and signed entries a signature (Ed25519)
of the last one. KEY is the public key that must have signed, HEAD the last entry as it was noted apart from the file:
NUMBER:HASH, or a file that holds a line with the signed head. Only what was noted elsewhere shows that the end was cut
off at a place that was signed, or that everything was written again.

Where the content of a request was removed, the SHA-256 of what its entries said is left, and a later entry with a
signature of its own names the request. A body that is missing without such an entry is an error.

Exits with 0 when all is as it was written, 1 when it is not, 2 when it fits together but nobody can vouch for it.
Needs the standard library of Python 3.8 or later; signatures need the package `cryptography` as well.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import stat
import sys
from bisect import bisect_left

FORMATS = (1, 2)
LONGEST_LINE = 1 << 28
ENTRY = {"seq": int, "at": int, "kind": str, "request_id": str, "body_sha256": str, "prev": str, "hash": str}
HEAD = {"seq": int, "hash": str, "key": str, "signature": str}
HEX = re.compile("[0-9a-f]{64}")
NO_CRYPTOGRAPHY = (
    "Signatures were not checked: the Python package `cryptography` is not installed. Whoever wrote every entry again"
    " would not be noticed, unless --head names the last one."
)
NO_KEY = "No --key was given: that the keys in the file are yours is not checked."


class Broken(Exception):
    """The first thing that is not as it was written; the message is a sentence."""


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def has_fields(value, fields):
    """Return whether `value` is an object of just these types."""
    return all(type(value.get(name)) is kind for name, kind in fields.items())


class Signatures:
    """Checks signatures, as far as this Python can."""

    def __init__(self):
        try:
            from cryptography.exceptions import InvalidSignature
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        except ImportError:
            self.available = False
        else:
            self.available = True
            self._invalid, self._key = InvalidSignature, Ed25519PublicKey

    def good(self, key, seq, head, signature):
        """Return whether the owner of `key` signed this head; True where that cannot be checked."""
        if not self.available:
            return True
        return self._good(
            key, b"assent ledger head\n" + canonical({"seq": seq, "hash": head}).encode("ascii"), signature
        )

    def good_removal(self, key, seq, prev, body, signature):
        """Return whether the owner of `key` signed that entry `seq` removes this; True where that cannot be checked."""
        message = canonical({"seq": seq, "prev": prev, "body": body}).encode("ascii")
        return not self.available or self._good(key, b"assent ledger removal\n" + message, signature)

    def _good(self, key, message, signature):
        try:
            self._key.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), message)
        except (self._invalid, ValueError):
            return False
        return True


class Walk:
    """The state of a check, from the first line to the last."""

    def __init__(self, key, wanted):
        self.key = key
        self.wanted = wanted
        """Number and hash of an entry that was noted elsewhere, or None."""
        self.signatures = Signatures()
        self.seq, self.hash = 0, "0" * 64
        self.keys = []
        self.vouched = 0
        self.signed = 0
        self.missing = {}
        """Requests whose bodies are not there and which no entry has named so far, with the entry of their arrival."""
        self.arrivals = []
        """The same entries in rising order, with each request; also of those that were named since."""
        self.removed = 0
        self.removed_by_others = 0

    def entry(self, found):
        """Check that `found` is whole, and follows from the entry before."""
        wanted = self.seq + 1
        body = found.pop("body", None)
        if not has_fields(found, ENTRY) or len(found) != len(ENTRY):
            raise Broken(f"Entry {wanted} is damaged: it does not have the fields of an entry.")
        if found["seq"] != wanted:
            raise Broken(f"Entry {wanted} is missing or out of order: entry {found['seq']} is in its place.")
        own = found.pop("hash")
        if hashlib.sha256(canonical(found).encode("ascii")).hexdigest() != own:
            raise Broken(f"Entry {wanted} was changed: its hash does not fit what it says.")
        if found["prev"] != self.hash:
            if wanted == 1:
                raise Broken("Entry 1 is not the first: it names another before it.")
            raise Broken(f"Entry {self.seq} was replaced: entry {wanted} follows from another one.")
        if body is None:
            self.gap(wanted, found["kind"], found["request_id"])
        elif type(body) is not str:
            raise Broken(f"The body of entry {wanted} is damaged.")
        elif hashlib.sha256(body.encode("utf-8", "replace")).hexdigest() != found["body_sha256"]:
            raise Broken(f"The body of entry {wanted} was changed.")
        else:
            self.own(wanted, found["kind"], body)
        if self.wanted and wanted == self.wanted[0] and own != self.wanted[1]:
            raise Broken(f"Entry {wanted} is not the one that was noted: the history was written again.")
        self.seq, self.hash = wanted, own

    def gap(self, seq, kind, request):
        """Take note of a body that is not there. Only what belongs to a request may be removed, and all of it."""
        if not request or (kind != "arrived" and request not in self.missing):
            raise Broken(f"The body of entry {seq} is missing.")
        if request not in self.missing:
            self.missing[request] = seq
            self.arrivals.append((seq, request))

    def removal(self, seq, body):
        """Check an entry that says whose content was removed."""
        fields = parsed(body, f"The body of entry {seq}")
        key = str(fields.get("key", ""))
        said = {name: value for name, value in fields.items() if name != "signature"}
        if not self.keys or key != self.keys[-1]:
            raise Broken(f"Entry {seq} removed content under a key that was not recorded before.")
        if not self.signatures.good_removal(key, seq, self.hash, said, str(fields.get("signature", ""))):
            raise Broken(f"Entry {seq} removed content, with a signature that does not fit.")
        ranges = fields.get("requests")
        if not isinstance(ranges, list) or not all(is_range(one) for one in ranges):
            raise Broken(f"Entry {seq} removed content and does not say of which requests.")
        named = 0
        for first, last in ranges:
            begin, end = bisect_left(self.arrivals, (first,)), bisect_left(self.arrivals, (last + 1,))
            for at, name in self.arrivals[begin:end]:
                named += self.missing.get(name) == at
                self.missing.pop(name, None)
        if named != fields.get("requests_removed"):
            raise Broken(f"Entry {seq} says that content was removed which is there, or was removed before.")
        self.removed += named
        self.removed_by_others += named if key != self.key else 0

    def own(self, seq, kind, body):
        """Check what an entry says about the history itself. `self.seq` is still the entry before."""
        if (kind == "genesis") != (seq == 1):
            raise Broken(f"Entry {seq} is not where a {kind!a} entry belongs.")
        if kind == "removed":
            self.removal(seq, body)
        if kind not in ("key", "sealed"):
            return
        fields = parsed(body, f"The body of entry {seq}")
        if kind == "key":
            self.keys.append(str(fields.get("public", "")))
            return
        key = str(fields.get("key", ""))
        if not self.keys or key != self.keys[-1]:
            raise Broken(f"Entry {seq} is signed by a key that was not recorded before.")
        if not self.signatures.good(key, self.seq, self.hash, str(fields.get("signature", ""))):
            raise Broken(f"Entry {seq} has a signature that does not fit the entries before it.")
        self.sign(key, self.seq)

    def sign(self, key, seq):
        """Take note that `key` signed all entries up to `seq`."""
        if self.signatures.available:
            self.signed = seq
            if self.key and key == self.key:
                self.vouched = seq

    def end(self, head):
        """Check the last line, which names the last entry."""
        if not isinstance(head, dict) or not has_fields(head, HEAD):
            raise Broken(f"The line after entry {self.seq} is damaged: it does not name the last entry.")
        seq, key = head["seq"], head["key"]
        if seq != self.seq:
            raise Broken(
                f"Entry {self.seq + 1} is missing: {seq} were written."
                if seq > self.seq
                else f"Entry {seq + 1} was not written by Assent."
            )
        if head["hash"] != self.hash:
            raise Broken(f"Entry {seq} was replaced: its hash is not the one that was noted.")
        if key:
            if key not in self.keys:
                raise Broken(f"Entry {seq}, the last, is signed by a key that was not recorded.")
            if not self.signatures.good(key, seq, self.hash, head["signature"]):
                raise Broken(f"Entry {seq}, the last, has a signature that does not fit.")
            self.sign(key, seq)

    def outside(self):
        """Compare with what was noted apart from the file, and say what nobody accounts for."""
        if self.missing:
            raise Broken(
                f"The body of entry {min(self.missing.values())} is missing: no entry says that it was removed."
            )
        if self.wanted and self.seq < self.wanted[0]:
            raise Broken(f"Entry {self.seq + 1} is missing: entries up to {self.wanted[0]} were noted.")
        if self.key and (not self.keys or self.keys[-1] != self.key):
            raise Broken(f"Entry {self.vouched + 1} is the first that --key did not sign: another key did.")


def is_range(value):
    return isinstance(value, list) and [type(one) for one in value] == [int, int] and value[0] <= value[1]


def parsed(text, what):
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Broken(f"{what} is no JSON object.")
    return value


def lines(path):
    """Yield the lines of a plain file. Raises OSError, Broken."""
    # Not blocking: a pipe without another end would wait for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a plain file")
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if not line.endswith(b"\n"):
                raise Broken(f"Line {number} is not complete: the end of the file is missing.")
            yield number, line.rstrip(b"\r\n").decode("ascii", "replace")


def check(path, walk):
    """Check the whole file. Raises OSError, Broken."""
    ended = False
    begun = False
    for number, line in lines(path):
        what = f"Line {number} (after entry {walk.seq})"
        if ended:
            raise Broken(f"{what} was added after the end.")
        found = parsed(line, what)
        if canonical(found) != line:
            # Two programs could read it in two ways.
            raise Broken(f"{what} is not in the form in which it was written.")
        if not begun:
            if found.get("assent") != "entries":
                raise Broken("This is no export of entries: write one with `assent export --entries`.")
            if found.get("format") not in FORMATS:
                raise Broken("A newer Assent wrote this file: take the verifier of that one.")
            begun = True
        elif "head" in found:
            walk.end(found["head"])
            ended = True
        else:
            walk.entry(found)
    if not ended:
        raise Broken(f"Entry {walk.seq + 1} or the line after the last entry is missing: the end was cut off.")
    walk.outside()


def noted(text):
    """Return number and hash of `--head`: as such, or from a file. Raises ValueError, OSError, Broken."""
    number, _, hash_ = text.partition(":")
    if not (number.isascii() and number.isdigit() and len(number) < 19 and HEX.fullmatch(hash_)):
        head = None
        for _, line in lines(text):
            found = parsed(line, "A line of the file that --head names")
            head = found.get("head", found if has_fields(found, HEAD) else head)
        if not isinstance(head, dict) or not has_fields(head, HEAD) or not HEX.fullmatch(head["hash"]):
            raise ValueError("the file that --head names holds no signed head")
        return head["seq"], head["hash"]
    return int(number), hash_


def say(words):
    sys.stdout.write(words.encode("ascii", "backslashreplace").decode() + "\n")


def main(arguments):
    """Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what `assent export --entries` wrote")
    parser.add_argument("--key", default="", help="the public key that must have signed, 64 hexadecimal digits")
    parser.add_argument("--head", default="", help="the last entry as it was noted: NUMBER:HASH, or a file")
    given = parser.parse_args(arguments)
    if given.key and not HEX.fullmatch(given.key):
        parser.error("--key has to be 64 hexadecimal digits")
    try:
        wanted = noted(given.head) if given.head else None
    except (OSError, ValueError, Broken) as error:
        parser.error(f"--head is neither NUMBER:HASH nor a file with a head: {error}")
    walk = Walk(given.key, wanted)
    try:
        check(given.file, walk)
    except OSError as error:
        say(f"{given.file} cannot be read: {error.strerror or error}.")
        return 1
    except Broken as broken:
        say(str(broken))
        return 1
    return report(walk)


def report(walk):
    """Say what was found in a file that is whole; return the exit code."""
    vouched = max(walk.vouched, walk.wanted[0] if walk.wanted else 0)
    # Whoever had another key could have removed it, and have had the whole signed later.
    others = walk.removed_by_others if walk.key else 0
    sure = vouched >= walk.seq and not others
    say(f"All {walk.seq} entries {'are as they were written' if sure else 'fit together'}.")
    if walk.removed:
        say(
            f"The content of {walk.removed} requests was removed, as entries with a signature say; its hashes are left."
        )
    if walk.signed:
        say(f"Entries up to {walk.signed} are signed by {walk.keys[-1]!a}.")
    if sure:
        return 0
    if walk.keys and not walk.signatures.available:
        say(NO_CRYPTOGRAPHY)
    elif not walk.key:
        say(NO_KEY)
    if others:
        say(f"The content of {others} requests was removed under another key than --key.")
    if vouched < walk.seq:
        say(f"Entry {vouched + 1} is the first that nobody vouches for.")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
