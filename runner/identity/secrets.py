"""Stores Assent's secrets: in the keyring, else in a file the person agreed to, else in memory (spec K5)."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from enum import StrEnum
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from runner.identity.keyring_answer import KeyringAnswer, read_answer, write_answer
from runner.model.errors import KnownError
from runner.system.durable import replace_file
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.settings.loading import Settings
    from runner.system.places import Places

SERVICE = "Assent"
SCHEMA = 1
PATIENCE = 30.0
"""Time limit for the keyring in seconds. A locked one asks the person for its password and blocks meanwhile."""
TRUSTED = (
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
    "keyring.backends.Windows",
)
"""Backends in use. Others may store plain text silently: `keyrings.alt` is chosen by default without D-Bus."""
UNLOCK = "Unlock or set up the keyring of your desktop (GNOME Keyring, KWallet, KeePassXC), then start Assent again."
WITHHELD = {
    KeyringAnswer.UNASKED: "Assent has not asked yet whether it may use your keyring.",
    KeyringAnswer.REFUSED: "you chose not to use the keyring.",
}
"""Why a keyring that may be there is not used."""
NEXT_START = "you have allowed the keyring since, which counts from the next start."
ANSWER = "Allow the keyring under First steps in the window."

T = TypeVar("T")


class Vault(StrEnum):
    KEYRING = "keyring"
    FILE = "file"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Where:
    """Where secrets are stored at present, for doctor and the window."""

    kind: Vault
    explanation: str
    remedy: str = ""
    answer: KeyringAnswer = KeyringAnswer.ALLOWED
    """The person's answer about the keyring."""


class Secrets:
    """The secrets, for any thread but the window's: the first call may take up to `patience` seconds.

    A keyring that the person has not allowed is not touched, so no desktop asks for its password.
    """

    def __init__(self, places: Places, settings: Settings, patience: float = PATIENCE) -> None:
        self._places = places
        self._file = places.secrets
        self._answer = read_answer(places)
        self._suffix = f" {places.data}"
        self._agreed = settings.secrets_file
        self._keyring = _Keyring(patience, WITHHELD.get(self._answer, ""))
        self._memory: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def where(self) -> Where:
        with self._lock:
            if self._keyring.works():
                return Where(Vault.KEYRING, f"Secrets are kept in the keyring ({self._keyring.name}).")
            why = self._keyring.problem
            remedy = self._keyring.remedy
            if self._agreed:
                problem = f"Secrets are kept in {self._file}, which only you can read: {why}"
                return Where(Vault.FILE, problem, remedy, self._answer)
            problem = f"The history cannot be verified after a restart, and a PIN is forgotten: {why}"
            remedy = f"{remedy} Or agree in Settings to a file that only you can read."
            return Where(Vault.MEMORY, problem, remedy, self._answer)

    @property
    def undecided(self) -> bool:
        """Whether it is not decided where secrets go: a key that is made now would be lost. Never waits."""
        return self._answer is KeyringAnswer.UNASKED and not self._agreed

    def take_answer(self, answer: KeyringAnswer) -> Where:
        """Keep what the person says about the keyring and return where secrets go now.

        A first answer counts at once; one that takes back an earlier one counts from the next start, as what was
        signed since then is signed with the key in use. Raises KnownError where the answer cannot be written.
        """
        with self._lock:
            write_answer(self._places, answer)
            first, self._answer = self._answer is KeyringAnswer.UNASKED, answer
            if first and answer is KeyringAnswer.ALLOWED:
                self._open_keyring()
            elif first:
                self._keyring.withhold(WITHHELD[answer], ANSWER)
            elif answer is KeyringAnswer.ALLOWED and self._keyring.withheld:
                self._keyring.withhold(NEXT_START, "Start Assent again.")
        return self.where

    def _open_keyring(self) -> None:
        """Use the keyring from now on, and bring what is in memory there."""
        self._keyring.withhold("", UNLOCK)
        for name, value in tuple(self._memory.items()):
            if self._keyring.works() and self._keyring.set(name + self._suffix, value):
                del self._memory[name]

    def get(self, name: str) -> str | None:
        """Return the secret called `name`, None where there is none. Raises KnownError where the file is broken."""
        with self._lock:
            stored: str | None = None
            if self._keyring.works():
                stored = self._keyring.get(name + self._suffix)
            if stored is None:
                stored = self._memory.get(name)
            # The file is read although a keyring works now: it may hold earlier secrets.
            return stored if stored is not None else self._read().get(name)

    def find(self, name: str) -> str | None:
        """Return the secret called `name`; None where it is certain that there is none.

        Raises KnownError where that cannot be known: a keyring that is locked or failed may hold it.
        """
        stored = self.get(name)
        with self._lock:
            if stored is None and self._keyring.problem and not self._keyring.absent:
                raise KnownError(f"It cannot be read: {self._keyring.problem}", self._keyring.remedy)
        return stored

    def set(self, name: str, value: str) -> Where:
        """Store `value` and return where. Raises KnownError where the file cannot be written."""
        with self._lock:
            kept = self._keyring.works() and self._keyring.set(name + self._suffix, value)
            if not kept and self._agreed:
                self._write({**self._read(), name: value})
            elif not kept:
                self._memory[name] = value
        return self.where

    def delete(self, name: str) -> None:
        """Delete a secret everywhere; unknown names are ignored. Raises KnownError where the file cannot be written."""
        with self._lock:
            if self._keyring.works():
                self._keyring.delete(name + self._suffix)
            self._memory.pop(name, None)
            kept = self._read()
            if name in kept:
                del kept[name]
                self._write(kept)

    def agree_to_file(self) -> None:
        """Write the secrets in memory to the file, as the person agreed. Raises KnownError where it cannot be
        written; the agreement is in force only once it could.
        """
        with self._lock:
            if self._memory and not self._keyring.works():
                self._write({**self._read(), **self._memory})
                self._memory.clear()
            self._agreed = True

    def withdraw_agreement(self) -> None:
        """Write no further secrets to the file; those in it remain readable."""
        with self._lock:
            self._agreed = False

    def _read(self) -> dict[str, str]:
        try:
            data = json.loads(read_file(self._file).decode("utf-8"))
            if data["schema"] != SCHEMA:
                raise ValueError(f"schema {data['schema']}")
            return {str(name): str(value) for name, value in data["secrets"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise KnownError(
                f"The file with the secrets, {self._file}, cannot be read ({type(error).__name__}).",
                "Move it away; its contents are created again.",
            ) from error

    def _write(self, kept: dict[str, str]) -> None:
        try:
            replace_file(self._file, json.dumps({"schema": SCHEMA, "secrets": kept}, indent=2) + "\n")
        except OSError as error:
            raise KnownError(
                f"Secrets could not be written to {self._file}: {error.strerror or error}.",
                "Free disk space or give yourself the right to write there.",
            ) from error


class _Keyring:
    """The system's keyring with a time limit. After its first failure it is not used until the next start."""

    def __init__(self, patience: float, withheld: str = "") -> None:
        """`withheld` is why it may not be used, as the second half of a sentence."""
        self._patience = patience
        self._backend: Any = None
        self.name = ""
        self.withhold(withheld, ANSWER if withheld else UNLOCK)
        self.absent = False
        """Whether there is none to use, so that no secret can be in it."""

    def withhold(self, why: str, remedy: str) -> None:
        """Leave it alone from now on because of `why`; use it where that is empty."""
        self.withheld = bool(why)
        self.problem = why
        """Why it is not used: one sentence."""
        self.remedy = remedy

    def works(self) -> bool:
        """Return whether the keyring answers; tried once."""
        if self._backend is None and not self.problem:
            backend = self._ask(_trusted_backend)
            if backend is not None:
                self._backend = backend
                self.name = type(backend).__module__.rpartition(".")[2]
                self.get("probe")
        return not self.problem

    def get(self, account: str) -> str | None:
        stored = self._ask(lambda: self._backend.get_password(SERVICE, account))
        return stored if isinstance(stored, str) else None

    def set(self, account: str, value: str) -> bool:
        """Store a secret; return whether that worked."""
        self._ask(lambda: self._backend.set_password(SERVICE, account, value))
        return not self.problem

    def delete(self, account: str) -> None:
        def work() -> None:
            from keyring.errors import PasswordDeleteError

            try:
                self._backend.delete_password(SERVICE, account)
            except PasswordDeleteError:
                # There was none.
                return

        self._ask(work)

    def _ask(self, work: Callable[[], T]) -> T | None:
        """Return the result of `work`, run on a thread; None after a failure or timeout, with `problem` set."""
        answers: SimpleQueue[T | Exception] = SimpleQueue()

        def run() -> None:
            try:
                answers.put(work())
            except Exception as error:  # backends raise what their libraries raise
                answers.put(error)

        threading.Thread(target=run, name="assent-keyring", daemon=True).start()
        try:
            answer = answers.get(timeout=self._patience)
        except Empty:
            self.problem = f"the keyring did not answer within {self._patience:g} s."
            return None
        if isinstance(answer, Exception):
            # Only finding out which one there is raises this.
            self.absent = isinstance(answer, KnownError)
            self.problem = _why(answer).rstrip(".!") + "."
            return None
        return answer


def _why(error: Exception) -> str:
    """Return why a keyring is not used, as the second half of a sentence."""
    from keyring.errors import KeyringLocked

    match error:
        case KnownError():
            return str(error)
        case KeyringLocked():
            return "the keyring is locked, and it was not unlocked"
        case _:
            return f"the keyring failed ({type(error).__name__}: {error})"


def _trusted_backend() -> Any:
    """Return the keyring that this system offers. Raises KnownError unless it is one of `TRUSTED`."""
    import keyring.core
    from keyring.backends.chainer import ChainerBackend

    keyring.core.init_backend(_is_trusted)
    backend = keyring.get_keyring()
    if isinstance(backend, ChainerBackend):
        # The chainer asks one keyring after the other; the strongest one is enough.
        backend = next(iter(ChainerBackend.backends), backend)
    if _is_trusted(backend):
        return backend
    kind = type(backend).__module__
    if kind == "keyring.backends.fail":
        raise KnownError("there is no keyring here")
    raise KnownError(f"the keyring set up here, {kind}, is not one that Assent trusts")


def _is_trusted(backend: Any) -> bool:
    return type(backend).__module__ in TRUSTED
