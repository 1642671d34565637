"""Keyed names of prefixes for the history, which must tell no token: none is guessed without the secret.

    digest(page) = chained(secret, digest(page before), tokens)      the first one's is below `root_digest`

There is one chain for all: caches of every kind, the host tier, and the digest of a match, which is made
of the request's own tokens.
"""

from array import array
from collections.abc import Callable, Sequence
from hashlib import blake2b

from tracert.memory.prefix import Identity

Digest = Callable[[bytes, bytes, bytes], bytes]
"""(secret, parent digest, tokens as int32) -> digest."""


def chained(secret: bytes, parent: bytes, block: bytes) -> bytes:
    """The keyed digest of a page whose tokens are `block`: 16 bytes."""
    return blake2b(parent + block, digest_size=16, key=secret).digest()


def token_bytes(tokens: Sequence[int]) -> bytes:
    """The tokens as int32, a copy: what is compared and digested."""
    return array("i", tokens).tobytes()


def identity_bytes(identity: Identity) -> bytes:
    """Bytes that differ when any part of the identity does."""
    return repr(tuple(identity)).encode()


def root_digest(secret: bytes, identity: Identity, digest: Digest = chained) -> bytes:
    """The parent digest of an identity's first pages."""
    return digest(secret, b"", identity_bytes(identity))


def page_digests(
    secret: bytes, identity: Identity, tokens: Sequence[int], page_size: int, digest: Digest = chained
) -> list[bytes]:
    """The digest of each page that `tokens` fill, in order."""
    full = len(tokens) // page_size
    data = token_bytes(tokens[: full * page_size])
    width = len(data) // full if full else 0
    names = [root_digest(secret, identity, digest)]
    for index in range(full):
        names.append(digest(secret, names[-1], data[index * width : (index + 1) * width]))
    return names[1:]


def identity_key(secret: bytes, identity: Identity) -> int:
    """A keyed hash of 53 bits, a whole number to every reader of JSON."""
    named = blake2b(identity_bytes(identity), digest_size=8, key=secret).digest()
    return int.from_bytes(named, "big") >> 11
