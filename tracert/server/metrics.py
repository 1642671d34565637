"""The figures that `/metrics` shows, in a registry of their own.

Tokens and requests are counted here, in the API process, as they pass, so that a client's `usage` and the
metrics agree and an engine's death loses none. Pages and the ring are the engine's: gauges as last reported,
counters carried on over restarts.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from tracert.messages.messages import Stats

_TTFT_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60)


class Metrics:
    """Every metric, by attribute."""

    content_type = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()

        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"tracert_{name}", text, registry=registry)

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(f"tracert_{name}", text, labels, registry=registry)

        self.engine_up = gauge("engine_up", "1 while the engine serves")
        self.free_kv_pages = gauge("free_kv_pages", "KV pages that nobody holds")
        self.cached_kv_pages = gauge("cached_kv_pages", "KV pages that the prefix cache holds, in use or not")
        self.kept_kv_pages = gauge(
            "kept_kv_pages", "KV pages that retained turns and snapshots hold and the prefix cache does not"
        )
        self.free_snapshots = gauge("free_snapshots", "Snapshot slots that nobody holds")
        host = Gauge(
            "tracert_host_kv_pages",
            "Pages of host memory for what the prefix cache evicts",
            ("state",),
            registry=registry,
        )
        self.free_host_pages, self.used_host_pages = host.labels("free"), host.labels("used")
        self.requests_running = gauge("requests_running", "Requests that hold a row")
        self.requests_waiting = gauge("requests_waiting", "Requests that wait for a row or pages")
        self.requests_failed = counter(
            "requests_failed_total", "Requests that the engine failed or lost, one a choice"
        )
        self.requests_finished = counter(
            "requests_finished_total", "Requests that ended, by reason, one a choice", ("reason",)
        )
        self.preemptions = counter("preemptions_total", "Requests that had to give their pages back")
        self.prompt_tokens = counter("prompt_tokens_total", "Prompt tokens of requests that were answered")
        self.generation_tokens = counter("generation_tokens_total", "Tokens that the engine generated")
        self.prefix_hit_tokens = counter(
            "prefix_hit_tokens_total", "Prompt tokens that the prefix cache already had"
        )
        self.time_to_first_token = Histogram(
            "tracert_time_to_first_token_seconds",
            "From the submission of a request to its first token",
            buckets=_TTFT_SECONDS,
            registry=registry,
        )
        self.ring_events = counter("ring_events_total", "Records that the engine put into the ring")
        self.ring_lost = counter("ring_lost_total", "Records that the ring has overwritten")
        self.device_errors = counter("device_errors_total", "Errors that the device reported")
        self.engine_deaths = counter("engine_deaths_total", "Engine processes that died, for any reason")
        self._last: Stats | None = None

    def engine_started(self) -> None:
        """A new engine counts from zero."""
        self._last = None

    def engine_lost(self) -> None:
        """What the dead engine last said about now is no longer so."""
        self.engine_up.set(0)
        for gauge in (
            self.free_kv_pages,
            self.cached_kv_pages,
            self.kept_kv_pages,
            self.free_snapshots,
            self.free_host_pages,
            self.used_host_pages,
            self.requests_running,
            self.requests_waiting,
        ):
            gauge.set(0)

    def report(self, stats: Stats) -> None:
        """Take over an engine's report."""
        self.free_kv_pages.set(stats.free_pages)
        self.cached_kv_pages.set(stats.cached_pages)
        self.free_snapshots.set(stats.free_snapshots)
        self.kept_kv_pages.set(stats.kept_pages)
        self.free_host_pages.set(stats.free_host_slots)
        self.used_host_pages.set(stats.used_host_slots)
        self.requests_running.set(stats.running)
        self.requests_waiting.set(stats.waiting)
        last = self._last
        self.preemptions.inc(stats.preemptions - (last.preemptions if last else 0))
        self.ring_events.inc(stats.ring_events - (last.ring_events if last else 0))
        self.ring_lost.inc(stats.ring_lost - (last.ring_lost if last else 0))
        self._last = stats

    def text(self) -> bytes:
        """The page that Prometheus reads."""
        return generate_latest(self._registry)
