"""The queue of leaves: the one used longest ago comes first, whatever happened since it was queued."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from tracert.memory.leaves import SLACK, Leaves


@dataclass(eq=False)
class Leaf:
    """A node with as many children as its list has."""

    number: int
    used: int = 0
    children: list[int] = field(default_factory=list)


acts = st.sampled_from(["use", "push", "pop", "forget", "grow", "bare"])


@given(st.lists(st.tuples(acts, st.integers(0, 4)), max_size=40))
def test_pops_the_oldest_without_children(work: list[tuple[str, int]]) -> None:
    """Each leaf comes once, in order of use; only leaves come, and what has children may be let go."""
    leaves: Leaves[Leaf] = Leaves()
    nodes = [Leaf(number) for number in range(5)]
    queued: set[int] = set()
    for node in nodes:
        leaves.use(node)
    for act, number in work:
        node = nodes[number]
        if act == "use":
            leaves.use(node)
        elif act == "grow":
            node.children.append(1)
        elif act == "forget":
            leaves.forget(node)
            queued.discard(number)
        elif act == "pop":
            bare = [nodes[other] for other in queued if not nodes[other].children]
            expected = min(bare, key=lambda leaf: leaf.used, default=None)
            assert leaves.pop() is expected
            gone = {other for other in queued if other not in leaves}
            assert {nodes[other] is expected or bool(nodes[other].children) for other in gone} <= {True}
            queued -= gone
        else:
            if act == "bare":
                node.children.clear()
            leaves.push(node)
            queued.add(number)
        assert {other for other in range(5) if other in leaves} == queued


def test_nodes_that_came_and_went_leave_nothing_behind() -> None:
    """Without an eviction that would meet them, entries of nodes that are gone do not add up."""
    leaves: Leaves[Leaf] = Leaves()
    kept = [Leaf(number) for number in range(10)]
    for node in kept:
        leaves.use(node)
        leaves.push(node)
    for number in range(10, 5000):
        node = Leaf(number)
        leaves.use(node)
        leaves.push(node)
        leaves.forget(node)
    assert len(leaves._heap) < 10 + 2 * SLACK
    assert [leaves.pop() for _ in range(11)] == [*kept, None]
