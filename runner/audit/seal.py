"""Signs the head of the chain with Ed25519, so that rewriting everything before it needs the key as well."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from runner.model.errors import KnownError
from runner.model.request import canonical

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


def genuine(public: str, seq: int, head: str, signature: str) -> bool:
    """Return whether `signature` was made over this head by the owner of `public`. False for anything malformed."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), _message(seq, head))
    except (InvalidSignature, ValueError):
        return False
    return True


def _message(seq: int, head: str) -> bytes:
    return b"assent ledger head\n" + canonical({"seq": seq, "hash": head})
