"""The children of a place against a dict that is searched from end to end."""

from hypothesis import given
from hypothesis import strategies as st

from tracert.memory.children import Children, common_front

keys = st.binary(min_size=1, max_size=4).map(lambda key: bytes(byte % 3 for byte in key))


def fill(found: list[bytes]) -> tuple[Children[bytes], list[bytes]]:
    """Children named after their keys, none of which begins another."""
    children: Children[bytes] = Children()
    kept: list[bytes] = []
    for key in found:
        if not any(key.startswith(other) or other.startswith(key) for other in kept):
            children.put(key, key)
            kept.append(key)
    return children, kept


@given(st.lists(keys, max_size=12), keys)
def test_finds_the_longest_common_front(found: list[bytes], wanted: bytes) -> None:
    """No other key has more bytes in common; nothing is found when none has any."""
    children, kept = fill(found)
    longest = max((common_front(key, wanted) for key in kept), default=0)
    nearest = children.nearest(wanted)
    assert nearest.common == longest
    assert (nearest.child is None) == (longest == 0)
    assert nearest.child is None or common_front(nearest.child, wanted) == longest


@given(st.lists(keys, max_size=12), keys)
def test_finds_by_fronts_both_ways(found: list[bytes], wanted: bytes) -> None:
    """A key that begins with what is wanted, and one that it begins with."""
    children, kept = fill(found)
    longer = children.begun_by(wanted)
    assert (longer is not None) == any(key.startswith(wanted) for key in kept)
    assert longer is None or longer.startswith(wanted)
    (front,) = [key for key in kept if wanted.startswith(key)] or [None]
    assert children.front_of(wanted) == front


@given(st.lists(keys, max_size=12), st.data())
def test_keeps_order_as_children_come_and_go(found: list[bytes], data: st.DataObject) -> None:
    """In order of keys; what was taken is not found any more, and its place can be put again."""
    children, kept = fill(found)
    if kept:
        gone = data.draw(st.sampled_from(kept))
        assert children.take(gone) == gone
        assert children.get(gone) is None
        kept.remove(gone)
    assert list(children) == sorted(kept)
    assert len(children) == len(kept)
    for key in kept:
        children.put(key, key + b"!")
    assert list(children) == [key + b"!" for key in sorted(kept)]


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_common_front(front: bytes, one: bytes, other: bytes) -> None:
    """As if compared byte by byte."""
    expected = 0
    for a, b in zip(front + one, front + other, strict=False):
        if a != b:
            break
        expected += 1
    assert common_front(front + one, front + other) == expected
