"""Signs the head of the chain with Ed25519, so that rewriting everything before it needs the key as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from runner.model.errors import KnownError
from runner.model.request import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_BYTES = 32


def new_key() -> bytes:
    """Return a new private key (32 bytes), for the keyring."""
    return Ed25519PrivateKey.generate().private_bytes_raw()


class Seal:
    """A signer with one private key."""

    def __init__(self, key: bytes) -> None:
        """Raise KnownError unless `key` has 32 bytes."""
        if len(key) != KEY_BYTES:
            raise KnownError(
                f"The key that signs the history has {len(key)} bytes in place of {KEY_BYTES}.",
                "Remove it from the keyring; a new one is made at the next start.",
            )
        self._key = Ed25519PrivateKey.from_private_bytes(key)
        self.public = self._key.public_key().public_bytes_raw().hex()
        """Public key, hex."""

    def sign(self, seq: int, head: str) -> str:
        """Return the signature (hex) over the entry number and hash of the head."""
        return self._key.sign(_message(seq, head)).hex()

    def sign_removal(self, seq: int, prev: str, body: Mapping[str, object]) -> str:
        """Return the signature (hex) over what entry `seq`, which follows `prev`, says was removed."""
        return self._key.sign(_removal(seq, prev, body)).hex()


def genuine(public: str, seq: int, head: str, signature: str) -> bool:
    """Return whether `signature` was made over this head by the owner of `public`. False for anything malformed."""
    return _verified(public, signature, _message(seq, head))


def genuine_removal(public: str, seq: int, prev: str, body: Mapping[str, object], signature: str) -> bool:
    """Return whether the owner of `public` signed that entry `seq`, which follows `prev`, removes what `body` says."""
    return _verified(public, signature, _removal(seq, prev, body))


def _verified(public: str, signature: str, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _message(seq: int, head: str) -> bytes:
    return b"assent ledger head\n" + canonical({"seq": seq, "hash": head})


def _removal(seq: int, prev: str, body: Mapping[str, object]) -> bytes:
    # With the entry before, so that it holds at one place of one ledger only.
    return b"assent ledger removal\n" + canonical({"seq": seq, "prev": prev, "body": body})
