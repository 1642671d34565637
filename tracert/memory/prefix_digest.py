"""Keyed names of prefixes for the history, which must tell no token: none is guessed without the secret.

    digest(page) = chained(secret, digest(page before), tokens)      the first one's is below `root_digest`

Prefix caches of all kinds name the same prefix alike under one secret.
"""

from array import array
from collections.abc import Sequence
from hashlib import blake2b

from tracert.memory.prefix import Identity


def chained(secret: bytes, parent: bytes, block: bytes) -> bytes:
    """The keyed digest of a page whose tokens are `block`: 16 bytes."""
    return blake2b(parent + block, digest_size=16, key=secret).digest()


def token_bytes(tokens: Sequence[int]) -> bytes:
    """The tokens as int32, a copy: what is compared and digested."""
    return array("i", tokens).tobytes()


def identity_bytes(identity: Identity) -> bytes:
    """Bytes that differ when any part of the identity does."""
    return repr(tuple(identity)).encode()


def root_digest(secret: bytes, identity: Identity) -> bytes:
    """The parent digest of an identity's first pages."""
    return chained(secret, b"", identity_bytes(identity))


def identity_key(secret: bytes, identity: Identity) -> int:
    """A keyed hash of 53 bits, a whole number to every reader of JSON."""
    named = blake2b(identity_bytes(identity), digest_size=8, key=secret).digest()
    return int.from_bytes(named, "big") >> 11
