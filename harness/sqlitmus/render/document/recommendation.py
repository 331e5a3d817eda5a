"""The recommendation of a workload: sentences for the first screen."""

from collections.abc import Iterator

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import ranking as ranks
from sqlitmus.render.document.ranking import LIMITS, Amounts
from sqlitmus.results.ranking import Change, Excluded
from sqlitmus.results.recommendation import Latency, Recommendation
from sqlitmus.vocabulary.nouns import counted, listed


def sentences(advice: Recommendation) -> list[str]:
    """What the first screen says, a sentence or two each."""
    mix = listed([f"{whole(share)} {query}" for query, share in advice.shares.items()])
    workers = counted(advice.workers, "worker")
    times = {cost.runner: fmt.duration(cost.time and cost.time.value) for cost in advice.costs}
    first, *others = ranks.say(advice.ranking, Amounts(times, " a query"))
    decision = [f"For this workload (calls: {mix}; {workers}): {first}", *others]
    parts = [decision, list(_left_out(advice)), list(_would(advice))]
    return [" ".join(part) for part in parts if part]


def _left_out(advice: Recommendation) -> Iterator[str]:
    for excluded in advice.ranking.excluded:
        yield ranks.left_out(excluded, _where(excluded, advice))
    if advice.unchecked:
        limits = listed([LIMITS[limit] for limit in advice.unchecked])
        yield f"The limit on {limits} was not checked, for its cases were not measured."


def _where(excluded: Excluded, advice: Recommendation) -> str:
    timed = [latency for latency in advice.latencies if latency.case in excluded.cases]
    return at(timed[0]) if timed else listed(excluded.cases)


def at(latency: Latency) -> str:
    """The rate that a latency was measured at, as part of a sentence."""
    return "" if latency.rate is None else f" at {latency.rate:,g} queries a second"


def _would(advice: Recommendation) -> Iterator[str]:
    if advice.ranking.open:
        yield ranks.settled_by(advice.ranking.open, advice.again)
    for change in advice.ranking.changes:
        yield ranks.changed(
            change, advice.ranking.front[0], change.case, _condition(change, advice)
        )


def _condition(change: Change, advice: Recommendation) -> str:
    """From which share of the calls on, the other queries keeping their proportion."""
    if change.calls is None:
        return ""
    share = change.calls / (change.calls + 1000 * (1 - advice.shares[change.case]))
    return f"If more than about {whole(share)} of the calls were {change.case}"


def whole(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f} %"
