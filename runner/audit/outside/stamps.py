"""Time stamps (RFC 3161) of signed heads, by a service that a person configured and the openssl program."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from runner.audit.outside.outside import SignedHead
from runner.model.errors import KnownError
from runner.system.durable import replace_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 20.0
"""Time limit for the service, and for one call of openssl."""
MOST_BYTES = 1 << 20
NEWEST = 100
"""Stamps that are compared; each takes openssl some hundredths of a second, and the newest says all that earlier do."""
HEAD, STAMP = ".head.json", ".tsr"


class TimeStamps:
    """Stamps in a folder beside the ledger: nobody but the service can make one, so that they may lie there."""

    every = 3600.0

    def __init__(self, folder: Path, address: str, authorities: Path | None = None) -> None:
        """`authorities` is the file with the certificates by which stamps are trusted."""
        self._folder = folder
        self._address = address
        self._authorities = authorities

    @property
    def where(self) -> str:
        return f"the time stamps of {self._address}"

    def note(self, head: SignedHead) -> None:
        if not self._address.startswith(("http://", "https://")):
            raise self._failed("its address is neither http nor https")
        with tempfile.TemporaryDirectory() as folder:
            query = Path(folder) / "query.tsq"
            self._openssl("-query", "-digest", _digest(head), "-sha256", "-cert", "-out", str(query))
            stamp = self._ask(query.read_bytes())
        try:
            make_folder(self._folder)
            name = f"{head.ledger[:16]}-{head.seq:012}"
            with tempfile.NamedTemporaryFile(dir=self._folder) as draft:
                draft.write(stamp)
                draft.flush()
                # An answer may be a refusal: only what holds a stamp of this digest is kept.
                self._openssl("-reply", "-in", draft.name, "-token_out", "-out", "/dev/null")
                (self._folder / (name + STAMP)).write_bytes(stamp)
            replace_file(self._folder / (name + HEAD), head.line + "\n")
        except OSError as error:
            raise self._failed(str(error)) from error

    def heads(self) -> Iterator[SignedHead | None]:
        if self._authorities is None:
            raise KnownError(
                f"{self.where.capitalize()} were not checked: no certificates are named to trust.",
                "Set history.anchor.tsa_ca.",
            )
        for path in sorted(self._folder.glob(f"*{HEAD}"), key=lambda one: one.stat().st_mtime)[-NEWEST:]:
            try:
                head = SignedHead.read(path.read_text("ascii", "replace"))
            except OSError as error:
                raise self._failed(str(error)) from error
            stamp = path.with_name(path.name.removesuffix(HEAD) + STAMP)
            yield head if head is not None and self._stamped(head, stamp) else None

    def _stamped(self, head: SignedHead, stamp: Path) -> bool:
        try:
            self._openssl("-verify", "-digest", _digest(head), "-in", str(stamp), "-CAfile", str(self._authorities))
        except KnownError:
            return False
        return True

    def _ask(self, query: bytes) -> bytes:
        request = urllib.request.Request(
            self._address, data=query, headers={"Content-Type": "application/timestamp-query"}, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return bytes(answer.read(MOST_BYTES))
        except (OSError, ValueError, urllib.error.URLError) as error:
            raise self._failed(str(error)) from error

    def _openssl(self, *arguments: str) -> None:
        try:
            done = subprocess.run(
                ["openssl", "ts", *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise self._failed(str(error)) from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise self._failed(said[-1][:300] if said else f"openssl ended with {done.returncode}")

    def _failed(self, why: str) -> KnownError:
        return KnownError(
            f"The end of the history was not stamped by {self._address}: {why.rstrip('.')}.",
            "It is tried again with a later entry; check the address, and that openssl is installed.",
        )


def _digest(head: SignedHead) -> str:
    """Return the SHA-256 (hex) that is stamped: of the line that is kept."""
    return hashlib.sha256(head.line.encode("ascii")).hexdigest()
