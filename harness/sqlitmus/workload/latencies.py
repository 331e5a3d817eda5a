"""The mix with each round timed by itself: at planned times for each rate, or one after the other.

A round is the shortest sequence in which the queries come as often as their weights say. Its time
is no less than that of any query in it: where 99 % of the rounds take no longer than some time, so
do 99 % of the queries at least.
"""

from math import ceil
from typing import NamedTuple

from sqlitmus.catalog.scenario import Scenario
from sqlitmus.workload.file import Source, Workload

# Their times are no latencies: those at a rate are of the schedule, where it is kept.
KEEPING_UP = "keeping up"
TIMED = "timed rounds"
CLOSED = "latency"
LEAST = 100  # rounds that a process times: a p99 needs no fewer
LONGEST_S = 5.0
MEASURED_S, WARMUP_S, ITERATION_S = 0.5, 0.3, 0.1
MOST = 2048  # rounds of an iteration


class Counts(NamedTuple):
    """Rounds of an iteration, over all workers, and how many of these there are."""

    operations: int
    warmup_iterations: int
    iterations: int


def paced(workload: Workload) -> dict[str, float | None]:
    """The scenarios that time rounds, with their queries a second, None without a schedule."""
    if workload.rates:
        return {f"at-{rate:g}".replace(".", "-"): rate for rate in workload.rates}
    return {CLOSED: None} if workload.limits.p99_ms else {}


def scenarios(source: Source, mix: Scenario) -> dict[str, Scenario]:
    """`mix` with all workers as such scenarios, by name.

    Raises UsageError for a rate at which a p99 takes too long.
    """
    made: dict[str, Scenario] = {}
    workers = source.workload.workers
    for number, (name, rate) in enumerate(paced(source.workload).items()):
        rounds = rate and rate / mix.per_operation
        if rounds and rounds * LONGEST_S < LEAST:
            raise source.wrong(
                ("rates", number),
                f"{rate:g} queries a second are {rounds:.3g} rounds of the mix, which has "
                f"{mix.per_operation} queries, and {LEAST / LONGEST_S:g} are needed; give a higher "
                "rate, or weights that are smaller whole numbers",
            )
        counts = at_rate(rounds, workers, mix.reset_every) if rounds else closed(mix)
        at = f"at {rate:,g} queries a second" if rate else "one round after the other"
        made[name] = mix.model_copy(
            update={
                **counts._asdict(),
                "title": f"The mix {at}",
                "question": f"How long does a round of the mix take, {at}?",
                "group": KEEPING_UP if rate else TIMED,
                "latencies": True,
                "rate": rounds and rounds / workers,
                "fixed": True,
                "reset_every": None,
                "axes": {**mix.axes, "workers": [str(workers)]},
                "notes": [_OPEN_LOOP] if rate else [],
            }
        )
    return made


_OPEN_LOOP = (
    "An open loop: rounds start at planned times, and latency counts from those, so that a stall "
    "shows in all that had to wait. The time per query is that of the schedule where it is kept."
)


def at_rate(rounds: float, workers: int, most: int | None) -> Counts:
    """Counts for so many `rounds` a second; `most` bounds those of an iteration."""
    each = max(round(rounds * ITERATION_S / workers), 1) * workers
    operations = min(each, most or MOST, MOST)
    return Counts(
        operations,
        max(ceil(WARMUP_S * rounds / operations), 1),
        ceil(max(MEASURED_S * rounds, LEAST) / operations),
    )


def closed(mix: Scenario) -> Counts:
    """Counts where nothing is known of how long a round takes but its instructions."""
    return Counts(mix.operations, 2, max(ceil(LEAST / mix.operations), 4))
