"""What a host may rely on, case by case: a program, what it orders, and why, after CUDA's documentation.

A program is written call by call. Streams 1, 2 and 5 don't block, 3 and 4 do, 0 is the legacy default one.

    a@1      launch a on stream 1           w@host   the host writes w by itself
    f=1      record fence f on stream 1     x@nic    an external writer is asked for x
    2<f      stream 2 waits for fence f     x.       the host learns that x is done
    !f       the host waits for fence f     ?f       a query of f says yes      ~f   a query of f says no
    !1       the host waits for stream 1    !*       the host waits for the device

`a<b`: a is done before b starts, whatever the device does. `a|b`: nothing orders the two.
"""

from typing import Any, NamedTuple

from tests.analysis.happens_before.program import Program

WIDTH = 6
BLOCKING = frozenset({3, 4})


class Case(NamedTuple):
    """A program, its verdicts, why; `device` False where the simulated device can't run it or differs."""

    program: str
    verdicts: str
    why: str
    device: bool = True


CASES = (
    Case("a@1 b@1", "a<b", "A stream runs its work in the order in which it was enqueued."),
    Case("a@0 b@0", "a<b", "The legacy default stream is a stream, too."),
    Case("a@1 b@2", "a|b", "Streams run beside each other unless something orders them."),
    Case("a@1 b@2 c@1 d@2", "a<c b<d a|d b|c", "However the host takes turns, only each stream is in order."),
    # Record and wait.
    Case("a@1 f=1 2<f b@2", "a<b", "A wait holds a stream until what the fence stands behind is done."),
    Case("a@1 f=1 b@2", "a|b", "A record marks a place and holds nobody."),
    Case("f=1 a@1 2<f b@2", "a|b", "A fence stands behind what its stream had been given at the record."),
    Case("a@1 f=1 b@2 2<f c@2", "a|b a<c", "A wait holds what is enqueued behind it, not before."),
    Case("a@1 f=1 c@1 f=1 2<f b@2", "a<b c<b", "Recorded again, a fence stands where it was put last."),
    Case("a@1 f=1 2<f c@1 f=1 b@2", "a<b c|b", "A wait is for the record current at the call."),
    Case("a@1 f=1 c@2 f=2 5<f b@5", "a|b c<b", "Recorded on another stream, it has left the first."),
    Case("a@1 2<f b@2", "a|b", "A wait for a fence that was never recorded is no wait."),
    Case("a@1 2<f f=1 b@2", "a|b", "Nor is it one for a record that comes later."),
    Case("a@1 f=1 1<f b@1", "a<b", "A stream may wait for itself, and gains nothing by it."),
    Case("f=2 1<f a@1 b@2", "a|b", "A fence on a stream without work holds nobody."),
    Case("a@1 f=1 2<f g=2 5<g b@5", "a<b", "A later fence of the stream stands behind the wait."),
    Case("a@1 f=1 2<f c@2 g=2 5<g b@5", "a<b c<b", "Order passes on from stream to stream."),
    Case("a@1 f=1 2<f g=2 c@2 5<g b@5", "a<b c|b", "What came behind the second fence isn't."),
    Case("a@1 f=1 b@2 g=2 1<g 2<f c@1 d@2", "a<d b<c c|d", "Two streams that meet go on beside each other."),
    Case("a@1 f=1 2<f 5<f b@2 c@5", "a<b a<c b|c", "Any number of streams may wait for one record."),
    # What the host learned.
    Case("a@1 f=1 !f b@2", "a<b", "The host enqueues b when the wait for the fence has returned."),
    Case("a@1 f=1 c@1 !f b@2", "a<b c|b", "It waited for the fence, not for what came since."),
    Case("a@1 f=1 b@2 !f c@2", "a|b a<c", "What was enqueued before the host waited may be running already."),
    Case("a@1 f=1 ?f b@2", "a<b", "A query that says yes tells as much as a wait."),
    Case("a@1 f=1 ~f b@2", "a|b", "A query that says no tells nothing."),
    Case("a@1 !f b@2", "a|b", "A fence that was never recorded counts as passed."),
    Case("a@1 c@2 g=2 !g b@5", "a|b c<b", "A fence of one stream tells nothing of another."),
    Case("a@1 f=1 2<f g=2 !g b@5", "a<b", "But it does of what its stream had to wait for."),
    Case("a@1 f=1 c@2 f=2 !f b@5", "a|b c<b", "The host waits for the last record of the fence only."),
    Case("f=1 a@1 !f !f b@2", "a|b", "Learning it twice tells nothing of what came since."),
    Case("a@1 !1 b@2", "a<b", "Once a stream is empty, all that it had is done."),
    Case("a@1 c@2 !2 b@5", "a|b c<b", "The wait for one stream is no wait for another."),
    Case("a@1 f=1 2<f !2 b@5", "a<b", "A stream isn't empty before its waits are over."),
    Case("a@1 c@2 !* b@5", "a<b c<b", "The wait for the device is one for all its streams."),
    Case("a@1 b@2 !*", "a|b", "It orders what comes after it, not what it waited for."),
    Case("a@1 !1 b@2 c@5", "a<b a<c b|c", "What the host knows precedes all that it enqueues."),
    # The legacy default stream.
    Case("a@3 b@0", "a<b", "An act in the legacy stream waits for what blocking streams were given."),
    Case("a@0 b@3", "a<b", "And blocking streams wait for it."),
    Case("a@3 b@4", "a|b", "Blocking streams aren't ordered among themselves."),
    Case("a@3 c@0 b@4", "a<b", "Unless an act in the legacy stream stands between them."),
    Case("a@3 b@4 c@0", "a|b a<c b<c", "One that comes later orders nothing that came before it."),
    Case("a@1 b@0", "a|b", "The legacy stream doesn't wait for streams that don't block."),
    Case("a@0 b@1", "a|b", "Nor does it wait for the legacy stream, as in ninfer #210."),
    Case("a@0 b@1 c@3", "a|b a<c", "The exemption is one stream's own."),
    Case("a@3 f=0 1<f b@1", "a<b", "A record in the legacy stream is an act in it."),
    Case("a@3 f=0 b@4", "a<b", "And blocking streams wait for what it waited for."),
    Case("a@1 f=1 0<f b@3", "a<b", "A wait in the legacy stream holds blocking streams, too."),
    Case("a@1 f=1 0<f b@2", "a|b", "And none that doesn't block."),
    Case("a@0 f=3 1<f b@1", "a<b", "A record on a blocking stream comes after the legacy stream's work."),
    Case("a@1 f=1 3<f c@3 d@0 b@4", "a<b", "Fences and the legacy rule pass order on to each other."),
    Case("a@3 !0 b@1", "a<b", "The host that waits for the legacy stream has waited for blocking ones."),
    Case("a@1 !0 b@3", "a|b", "But not for others."),
    Case("a@0 !3 b@1", "a<b", "Idle or not, the blocking stream waits: so the text can be read.", False),
    # The host writes by itself.
    Case("a@1 w@host", "a|w", "The host doesn't wait for what it has enqueued.", False),
    Case("a@1 !1 w@host", "a<w", "It writes after what it has waited for.", False),
    Case("a@1 f=1 2<f w@host", "a|w", "What a stream waits for, the host knows nothing of.", False),
    Case("w@host a@1 b@2", "w<a w<b", "Whatever it enqueues starts after what it has written.", False),
    Case("a@1 b@2 ?f f=1 ?f w@host", "a<w b|w", "A query that says yes counts for the host, too.", False),
    Case("a@0 w@host", "a|w", "The legacy stream makes streams wait, not the host.", False),
    # Writers outside.
    Case("x@nic a@1", "x|a", "A transfer goes on until the host has seen it done.", False),
    Case("x@nic x. a@1", "x<a", "A launch after the completion comes after the transfer.", False),
    Case("x@nic !* a@1", "x|a", "A synchronise of the device knows nothing of a network card.", False),
    Case("x@nic a@1 x.", "x|a", "A completion that is seen after the launch is seen too late.", False),
    Case("a@1 x@nic", "a|x", "Once asked for, a transfer waits for no stream.", False),
    Case("a@1 f=1 !f x@nic", "a<x", "Unless the host waited before it asked.", False),
    Case("x@nic y@nic", "x|y", "Transfers of one writer are done in any order.", False),
    Case("x@nic y@nic y. a@1 x. b@1", "y<a x|a x<b", "And each completion tells of its own.", False),
    Case("x@nic x. y@nic z@nic", "x<y x<z y|z", "Asked for after a completion, it starts after that.", False),
    Case("w@host x@nic v@host", "w<x x|v w<v", "Before a transfer, or at the same time.", False),
    Case("a@1 x@nic !1 x. b@2", "a|x x<b a<b", "The host learned of a after it had asked.", False),
)  # fmt: skip


class Played(NamedTuple):
    """A case as a program, and its jobs by name."""

    program: Program
    jobs: dict[str, int]


def played(case: Case) -> Played:
    """The case as the host's calls. An unknown call raises ValueError."""
    program = Program(width=WIDTH, blocking=BLOCKING)
    jobs: dict[str, int] = {}
    fences: dict[str, int] = {}

    def fence(name: str) -> int:
        if name not in fences:
            fences[name] = program.fence()
        return fences[name]

    for call in case.program.split():
        first, sign, rest = call[0], call[1], call[2:]
        match (first, sign):
            case ("!", "*"):
                program.sync_all()
            case ("!", stream) if stream.isdigit():
                program.sync_stream(int(stream))
            case ("!" | "?", name):
                program.sync(fence(name))
            case ("~", _):
                pass
            case (name, "@") if rest == "host":
                jobs[name] = program.host_write()
            case (name, "@") if rest == "nic":
                jobs[name] = program.begin()
            case (name, "@"):
                jobs[name] = program.launch(int(rest))
            case (name, "."):
                program.end(jobs[name])
            case (name, "="):
                program.record(int(rest), fence(name))
            case (stream, "<"):
                program.wait(int(stream), fence(rest))
            case _:
                raise ValueError(f"no such call: {call}")
    return Played(program, jobs)


def verdicts(case: Case) -> list[tuple[str, str, bool]]:
    """The case's verdicts: is the first done before the second starts?"""
    return [(told[0], told[2], told[1] == "<") for told in case.verdicts.split()]


def ran(case: Case, device: Any, access: Any) -> str | None:
    """The jobs in the order in which the device ran them; None where a query said what the case doesn't."""
    streams = [
        device.legacy,
        *(device.stream(f"s{one}", blocking=one in BLOCKING) for one in range(1, WIDTH)),
    ]
    order: list[str] = []
    fences: dict[str, Any] = {}
    for call in case.program.split():
        first, sign, rest = call[0], call[1], call[2:]
        match (first, sign):
            case ("!", "*"):
                device.sync_all()
            case ("!", stream) if stream.isdigit():
                device.sync_stream(streams[int(stream)])
            case ("!", name) if name in fences:
                device.sync(fences[name])
            case ("?", name):
                while not device.query(fences[name]):
                    pass
            case ("~", name):
                if device.query(fences[name]):
                    return None
            case (name, "@"):
                device.launch(streams[int(rest)], order.append, name, access=access)
            case (name, "="):
                fences[name] = device.record(streams[int(rest)])
            case (stream, "<") if rest in fences:
                device.wait(streams[int(stream)], fences[rest])
    device.sync_all()
    return "".join(order)
