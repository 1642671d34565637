"""A real process that speaks the messages and computes nothing: bytes in, bytes out.

Run as `python -m tests.server.fake_engine [options] ADDRESS`. It answers a prompt with the prompt itself, a
byte a token, then EOS; or with what stands between `!say ` and ` !said` in it. Words in the prompt make it
misbehave (see `misbehave` and `token`). With `--log FILE` it writes every message that it gets as a JSON
line, so that a test sees what the engine saw. Ids: bytes, 256 = EOS, 257 = BOS. Prompt tokens that an earlier
prompt with the same salt had are cached, in pages of 16.
"""

import argparse
import os
import signal
import sys
import time

import msgspec

from tracert.messages.messages import (
    Abort,
    Died,
    Dumped,
    DumpNow,
    Failed,
    FinishReason,
    FromEngine,
    Generate,
    Ready,
    Stats,
    Stop,
    ToEngine,
    TokenLogprobs,
    Tokens,
)
from tracert.messages.transport import ApiLink

EOS = 256
PAGE = 16
KV_PAGES = 100
MAX_MODEL_LEN = 512


class Request:
    """A request and how far its answer has come."""

    def __init__(self, message: Generate, cached: int) -> None:
        self.message = message
        self.cached = cached
        self.text = bytes(token for token in message.tokens if token < 256)
        _, say, told = self.text.rpartition(b"!say ")
        self.answer = told.partition(b" !said")[0] if say else self.text
        self.done = 0


class FakeEngine:
    """One step answers each request with one token."""

    def __init__(self, link: ApiLink, options: argparse.Namespace) -> None:
        self.link = link
        self.options = options
        self.requests: dict[str, Request] = {}
        self.seen: dict[str, list[list[int]]] = {}
        self.events = 0
        self.log = open(options.log, "ab", buffering=0) if options.log else None  # noqa: SIM115

    def run(self) -> int:
        """Serve until Stop; the exit code."""
        while True:
            for message in self.link.poll(0.0 if self.requests else 0.05):
                if self.log is not None:
                    self.log.write(msgspec.json.encode(message) + b"\n")
                if isinstance(message, Stop):
                    if self.options.deaf:
                        continue
                    self.link.close()
                    return 0
                self.take(message)
            if self.requests:
                self.step()

    def take(self, message: ToEngine) -> None:
        """One message but Stop."""
        match message:
            case Generate():
                request = Request(message, self.cached(message))
                self.requests[message.id] = request
                self.misbehave(request)
            case Abort():
                self.requests.pop(message.id, None)
                self.link.send(self.stats())
            case DumpNow():
                nowhere = self.options.no_record or self.options.disk_full
                path = None if nowhere else f"/dumps/{message.token}.jsonl"
                problem = "no room" if self.options.disk_full else None
                self.link.send(Dumped(token=message.token, path=path, problem=problem))

    def step(self) -> None:
        """One token each."""
        time.sleep(self.options.step_seconds)
        speaking = [request for request in self.requests.values() if b"!mute" not in request.text]
        sent: list[FromEngine] = [self.token(request) for request in speaking]
        self.events += 10
        self.link.send(*sent, self.stats())

    def token(self, request: Request) -> Tokens:
        """The next token of a request; drops the request when it was the last."""
        message, sampling = request.message, request.message.sampling
        endless = b"!endless" in request.text
        at_end = request.done >= len(request.answer) and not endless
        token = EOS if at_end else request.answer[request.done % len(request.answer)]
        request.done += 1
        stopped = token == EOS and not sampling.ignore_eos
        reason: FinishReason | None = (
            "stop" if stopped else "length" if request.done >= sampling.max_tokens else None
        )
        if reason is not None:
            del self.requests[message.id]
        logprobs = None
        if sampling.logprobs is not None:
            top = [((token + offset) % 256, -0.5 - offset) for offset in range(sampling.logprobs)]
            logprobs = [TokenLogprobs(token=token, logprob=-0.5, top=top)]
        return Tokens(
            id=message.id,
            tokens=[token],
            logprobs=logprobs,
            finish_reason=reason,
            prompt_tokens=len(message.tokens),
            cached_tokens=request.cached,
        )

    def cached(self, message: Generate) -> int:
        """Tokens of whole pages that an earlier prompt with this salt began with."""
        earlier = self.seen.setdefault(message.cache_salt, [])
        best = 0
        for tokens in earlier:
            same = 0
            for old, new in zip(tokens, message.tokens, strict=False):
                if old != new:
                    break
                same += 1
            best = max(best, min(same, len(message.tokens) - 1) // PAGE * PAGE)
        earlier.append(message.tokens)
        return best

    def misbehave(self, request: Request) -> None:
        """Do at once what a word in the prompt says."""
        text = request.text
        if b"!fail" in text:
            del self.requests[request.message.id]
            failed = Failed(
                id=request.message.id, status=400, code="no_room", message="it needs 9 pages of 4"
            )
            self.link.send(failed)
        if b"!sigkill" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"!segv" in text:
            os.kill(os.getpid(), signal.SIGSEGV)
        if b"!exit3" in text:
            os._exit(3)
        if b"!hang" in text:
            time.sleep(1000)
        if b"!died" in text or b"!raised" in text:
            dump = "/dumps/own.jsonl" if b"!died-dumped" in text else None
            if b"!raised" in text:
                words = Died(code=0, name="ZeroDivisionError", message="division by zero", dump=dump)
            else:
                words = Died(code=719, name="LAUNCH_FAILURE", message="unspecified launch failure", dump=dump)
            self.link.send(words)
            if b"lingers" in text:
                time.sleep(1000)
            self.link.close()
            os._exit(0)

    def stats(self) -> Stats:
        """Gauges and counters now."""
        running = len(self.requests)
        return Stats(
            running=running,
            waiting=0,
            free_pages=KV_PAGES - running,
            cached_pages=3,
            preemptions=0,
            ring_events=self.events,
            ring_lost=1 if self.events else 0,
        )


def main() -> int:
    """Parse, say Ready, serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--log")
    parser.add_argument("--load-seconds", type=float, default=0.0)
    parser.add_argument("--step-seconds", type=float, default=0.001)
    parser.add_argument("--no-record", action="store_true")
    parser.add_argument("--disk-full", action="store_true")
    parser.add_argument("--deaf", action="store_true", help="ignore Stop")
    parser.add_argument(
        "--refuse", action="store_true", help="say why on standard error, exit 1 before Ready"
    )
    parser.add_argument("--die-loading", action="store_true", help="SIGKILL before Ready")
    parser.add_argument("--words-loading", action="store_true", help="Died before Ready")
    options = parser.parse_args()
    link = ApiLink(options.address)
    time.sleep(options.load_seconds)
    if options.refuse:
        sys.stderr.write("fake: no such model\n")
        return 1
    if options.die_loading:
        os.kill(os.getpid(), signal.SIGKILL)
    if options.words_loading:
        link.send(Died(code=2, name="OUT_OF_MEMORY", message="no room for one page", dump=None))
        link.close()
        return 1
    ready = Ready(
        model="fake",
        max_model_len=MAX_MODEL_LEN,
        ring=f"/rings/{os.getpid()}.ring",
        pid=os.getpid(),
    )
    engine = FakeEngine(link, options)
    link.send(ready, engine.stats())
    return engine.run()


if __name__ == "__main__":
    sys.exit(main())
