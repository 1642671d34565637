"""Options the engine ran with that bear on the verdict: a fix that is on already, or a safeguard that is off.

Only what the header's configuration says; the planted fault is never read.
"""

from typing import Any

from tracert_analysis.report.stories.content import WrongRange


def bearing(
    code: str | None,
    config: dict[str, Any],
    clears: int | None = None,
    wrong_range: WrongRange | None = None,
) -> tuple[str, ...]:
    """A sentence an option, the most telling first; none when the configuration says nothing.

    `clears`: how many launches had cleared granted pages, where that was asked. `wrong_range`: a clear of
    other positions than it should have cleared.
    """
    policy = config.get("stale_pages")
    if code in ("TR301", "TR302"):
        if policy in ("zero", "clear-tail"):
            what = "pages before they are used again" if policy == "zero" else "the tails of last pages"
            others = f": {clears} launch{'es' * (clears != 1)} did" if clears is not None else ""
            if wrong_range is not None:
                return (f"--stale-pages {policy} was on, which clears {what}{others}; {wrong_range}",)
            return (
                f"--stale-pages {policy} was on, which clears {what}{others}; none cleared these bytes, "
                "so a path leaves it out",
            )
        if policy == "inert":
            return ("--stale-pages inert was on: kernels leave out what is not valid, and this one does not",)
    if code == "TR104" and policy in ("zero", "clear-tail"):
        if wrong_range is not None:
            return (f"--stale-pages {policy} was on: {wrong_range}",)
        return (f"--stale-pages {policy} was on: the page is cleared, but not where and when that helps",)
    if code == "TR701" and config.get("preflight") is False:
        return (
            "--no-preflight was given: with the preflight on, a launch that does not fit is refused before "
            "it starts, and fails at once; the preflight frees nothing",
        )
    if code in ("TR102", "TR402") and "poison_rows" in config:
        if config["poison_rows"]:
            return (
                "--poison-rows was on: a row that was given back names no page until it is published anew; "
                "without, its next reader follows the former tenant's pages, and no error tells",
            )
        return ("--poison-rows was off: a row that is read too early follows its former tenant's pages",)
    return ()
