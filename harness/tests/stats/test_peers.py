"""The arithmetic of `bench-peers` on given ratios, and BenchmarkDotNet's rule on given times."""

from collections.abc import Iterator, Sequence
from itertools import chain, cycle, repeat
from math import exp, inf
from random import Random

import pytest

from benchmarks.peer_tools import iterated
from benchmarks.peers import Reading, summed_up, table
from benchmarks.plain_programs import Phase


@pytest.mark.parametrize(("factor", "outside"), [(1.2, True), (1 / 1.2, True), (1.0, False)])
def test_a_driver_that_one_tool_slows_by_a_fifth_shows_in_the_bias_of_that_tool(
    factor: float, outside: bool
) -> None:
    rng = Random(1)
    true = {"plain totals": 0.6, "sqlitmus": 0.6, "mitata, mean": 0.6 * factor}
    readings = [
        Reading("get-pk", figure, number, ratio * exp(rng.gauss(0, 0.01)), None, 1, 1)
        for number in range(10)
        for figure, ratio in true.items()
    ]
    rows = {row.figure: row for row in summed_up(readings)}
    assert rows["mitata, mean"].bias.value == pytest.approx(factor, rel=0.02)
    assert [name for name, row in rows.items() if row.outside] == ["mitata, mean"] * outside


def test_a_table_says_bias_spread_cost_and_who_wins() -> None:
    """By hand: ratios of ±10 % have sd = 0.1·√(10/9); 1.96·sd/√n ≤ 0.02 from n = 107 on."""
    ratios = {"plain totals": (0.5, 0.5), "sqlitmus": (0.5 * exp(0.1), 0.5 * exp(-0.1)),
              "mitata, mean": (0.6, 0.6), "mitata, median": (0.5, 0.5)}  # fmt: skip
    printed = {"sqlitmus": (0.4, 0.55)}
    readings = [
        Reading("all", figure, number, pair[number % 2], printed.get(figure), 20.0, 5.0)
        for number in range(10)
        for figure, pair in ratios.items()
    ]
    lines = table(summed_up([*readings, Reading("lost", "sqlitmus", 0, 1, None, 1, 1)]))
    assert [line[2:].replace(" OUTSIDE", "!") for line in lines.splitlines()[2:]] == [
        "`all` | plain totals | 0.500 | +0.0 [+0.0, +0.0] | 0.0 | 20 | 5 | 20 | – | – |",
        "`all` | sqlitmus | 0.500 | +0.0 [-7.3, +7.8] | 10.5 | 20 | 5 | 2,140 | 10 of 10 | – |",
        "`all` | mitata, mean | 0.600 | +20.0 [+20.0, +20.0]! | 0.0 | 20 | 5 | 20 | – | wins |",
        "`all` | mitata, median | 0.500 | +0.0 [+0.0, +0.0] | 0.0 | 20 | 5 | 20 | – | loses |",
    ]


@pytest.mark.parametrize(
    ("interval", "covers"), [((0.51, 0.7), 0), ((0.3, 0.49), 0), ((0.4, 0.6), 1), (None, None)]
)
def test_one_repetition_covers_the_truth_or_not_and_settles_nothing(
    interval: tuple[float, float] | None, covers: int | None
) -> None:
    plain = Reading("all", "plain totals", 0, 0.5, None, 1, 1)
    rows = summed_up([plain, Reading("all", "sqlitmus", 0, 0.6, interval, 1, 1)])
    assert rows[1].covers == covers
    assert rows[1].bias.high == inf
    assert table(rows).splitlines()[-1].split(" | ")[3:5] == ["+20.0", "–"]


class Timed:
    """Phases that take so many ns an operation, one after the other."""

    def __init__(self, times: Iterator[float]) -> None:
        self._times, self.operations = times, list[int]()

    def __call__(self, operations: int) -> Sequence[Phase]:
        self.operations.append(operations)
        return [Phase(operations, round(next(self._times) * operations), 0)]


def test_benchmarkdotnet_doubles_warms_up_and_measures_no_longer_than_it_must() -> None:
    timed = Timed(repeat(1000))
    assert iterated(timed, 100_000) == (1000, 0)
    assert timed.operations == [16, 32, 64, 128, *[128] * (6 + 15)]
    # it warms up while times fall and measures on while they vary
    timed = Timed(chain([1000], range(2000, 1950, -1), cycle([500, 1500])))
    assert iterated(timed, 1) == (1000, pytest.approx(170.4, abs=0.1))
    assert len(timed.operations) == 1 + 50 + 100
    # what lies far above is left out
    times = chain(repeat(1000, 1 + 6), [9000], cycle([1000, 1002, 1001]))
    mean, error = iterated(Timed(times), 1)
    assert mean == pytest.approx(1001, abs=0.1)
    assert error < 2
