"""What the characters of a drawing mean: only of those that it has."""

from collections.abc import Collection, Mapping


def legend(meanings: Mapping[str, str], drawn: Collection[str]) -> str:
    """The signs of `meanings` that are `drawn`, in that order, each with what it means."""
    return ", ".join(f"{sign} {meaning}" for sign, meaning in meanings.items() if sign in drawn)
