"""The figures of what single operations take: latencies, and how late timers come beside them."""

from typing import Literal

from sqlitmus.vocabulary.figure import Figure


def _latency(
    name: str,
    heading: str,
    title: str,
    meaning: str,
    zero: Literal["value", "impossible"] = "value",
) -> Figure:
    """The figure that `Tails` has under this name, in nanoseconds."""
    source = (f"tails.{name}",)
    return Figure(
        *(name, heading, title, meaning, "ns", "iterations", source), smaller="faster", zero=zero
    )


LATENCIES: tuple[Figure, ...] = (
    _latency(
        name="p99",
        heading="p99",
        title="Latency p99",
        meaning="the latency that 99 % of operations have at most, from their planned start where "
        "they have one; with an interval if `metric` is `p99`",
        zero="impossible",
    ),
    _latency(
        name="p50",
        heading="p50",
        title="Latency p50",
        meaning="the latency that half of the operations have at most",
    ),
    _latency(
        name="p999",
        heading="p99.9",
        title="Latency p99.9",
        meaning="the latency that 99.9 % of operations have at most, where a process has 1,000",
    ),
    _latency(
        name="longest",
        heading="Longest",
        title="Longest latency",
        meaning="the longest latency of any operation of a process",
    ),
    _latency(
        name="writer_p99",
        heading="Beside p99",
        title="Latency p99 of the thread beside",
        meaning="the p99 of the writer, or what else works beside the workers",
    ),
    _latency(
        name="timer_p99",
        heading="Timer p99",
        title="Timer delay p99",
        meaning="how late 99 % of the times at which a timer is due come at most, beside "
        "operations that are tasks of an event loop; with an interval if `metric` is `timer_p99`",
        zero="impossible",
    ),
    _latency(
        name="timer_longest",
        heading="Timer longest",
        title="Longest timer delay",
        meaning="how late such a timer came at most",
    ),
)
