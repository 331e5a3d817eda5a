"""The yardstick's arithmetic: a fault in what is published is told, honest noise is not."""

import random
from math import exp, log
from statistics import fmean

import numpy as np
import pytest

from benchmarks.agreement import (
    Bounds,
    Held,
    Plain,
    Published,
    Run,
    between,
    estimate,
    held,
    levels,
    p_of,
    ratios,
    within,
)
from benchmarks.truth import published, report
from sqlitmus.stats.estimate import trimmed_means
from tests.stats.oracle import scipy

BLOCKS = 8


def run_of(plain: dict[str, float], product: dict[str, float], noise: float = 0.003) -> list[Run]:
    """A run in turns whose blocks are up to twice as slow as others, for all that is in them."""
    rng = random.Random(1)
    slow = [rng.uniform(1, 2) for _ in range(BLOCKS)]

    def seen(true: float) -> dict[int, float]:
        return {n: true * slow[n] * exp(rng.gauss(0, noise)) for n in range(BLOCKS)}

    of_product = {name: seen(ns) for name, ns in product.items()}
    of_plain = {name: {n: Plain(ns) for n, ns in seen(ns).items()} for name, ns in plain.items()}
    told = {
        name: Published(ns, Bounds(ns / product["node"], 0, 9) if name != "node" else None, BLOCKS)
        for name, ns in product.items()
    }
    return [Run("get-pk", "turns", {**of_product}, {**of_plain}, told)]


@pytest.mark.parametrize(
    ("factors", "noise", "marks", "code"),
    [
        ((1, 1, 1), 0.003, "within within within within within", 0),
        # medians that drop checkpoints; a lap of the slow driver is an iteration, and has them
        ((0.84, 0.74, 1), 0.003, "OUTSIDE OUTSIDE within OUTSIDE OUTSIDE", 1),
        # a pool that begins again after few rows, all of them in the cache
        ((0.65, 0.62, 0.68), 0.003, "OUTSIDE OUTSIDE OUTSIDE OUTSIDE OUTSIDE", 1),
        ((1, 1, 1), 0.2, "wide wide wide wide wide", 6),
    ],
)
def test_each_time_and_ratio_is_marked_and_the_tables_and_the_exit_code_say_it(
    factors: tuple[float, ...],
    noise: float,
    marks: str,
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = {"node": 5200.0, "rust": 4700.0, "slow": 9900.0}
    product = {name: ns * by for (name, ns), by in zip(plain.items(), factors, strict=True)}
    runs = run_of(plain, product, noise)
    rows = [*levels(runs), *ratios(runs, "node")]
    assert [mark for row in rows for mark in row.marks] == marks.split()
    assert report(runs, "node") == code
    text = capsys.readouterr().out
    assert text.count("OUTSIDE") == marks.count("OUTSIDE")
    assert "get-pk                  rust" in text


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.99, 1.02, "within"),
        (1.031, 1.2, "OUTSIDE"),
        (0.8, 0.97, "OUTSIDE"),
        (1.02, 1.2, "wide"),
        (0.9, 1.1, "wide"),
    ],
)
def test_an_interval_against_the_limit(low: float, high: float, word: str) -> None:
    assert Bounds(1, low, high).mark(0.03) == word


def test_a_driver_that_one_run_lacks_is_compared_by_the_others() -> None:
    both = {"node": 1100.0, "rust": 500.0}
    runs = [*run_of(both, both), *run_of({"node": 1100.0}, {"node": 1100.0})]
    rows = [(row.driver, row.limit) for row in (*levels(runs), *ratios(runs, "node"))]
    assert rows == [("node", 0.03), ("rust", 0.05), ("rust", 0.05)]  # 5 % below a microsecond
    assert report([], "node") == 4


def test_the_interval_is_students() -> None:
    logs = [0.01, 0.03, -0.02, 0.05, 0.0]
    low, high = scipy.stats.t.interval(0.95, 4, fmean(logs), scipy.stats.sem(logs))
    bounds = estimate(logs)
    assert [bounds.value, bounds.low, bounds.high] == pytest.approx(
        [exp(fmean(logs)), exp(low), exp(high)]
    )
    assert estimate([0.5]).mark(10) == "wide"


def run(true: float, rng: np.random.Generator, blocks: int = 20) -> Published:
    """A ratio as a run publishes it, of blocks with 2 % of noise."""
    rows = trimmed_means(rng.normal(log(true), 0.02, (1, blocks)))
    low, high = rows.interval()
    value, low, high = (float(np.exp(end[0])) for end in (rows.mean, low, high))
    return Published(1.0, Bounds(value, low, high), blocks)


def test_equal_runs_differ_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(7)
    share = np.mean([p_of(run(1.4, rng), run(1.4, rng, 10)) < 0.05 for _ in range(800)])
    assert 0.035 < share < 0.06


def two_schemes(**turns: float) -> list[Run]:
    """Five runs of two cases in each scheme; those in turns publish ratios changed by `turns`."""
    rng = np.random.default_rng(5)
    drivers = {"rust": 0.6, "bun": 0.8, "slow": 1.5}
    apart = {name: ratio * turns.get(name, 1) for name, ratio in drivers.items()}
    runs: list[Run] = []
    for case in ["get", "insert"] * 5:
        for scheme, of_all in (("lone", drivers), ("turns", apart)):
            told = {name: run(ratio, rng) for name, ratio in of_all.items()}
            runs.append(Run(case, scheme, {}, {}, {"node": Published(1.0, None, 20), **told}))
    return runs


def test_schemes_that_agree_are_told_so_and_one_ratio_that_does_not_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    same = held(within(two_schemes(), "turns", "lone"))
    assert (same.count, same.too_many) == (30, False)
    assert abs(log(same.mean)) < 0.01
    runs = two_schemes(rust=0.8)
    apart = held(within(runs, "turns", "lone"))
    assert apart.too_many
    assert 10 <= apart.differ <= 13
    assert apart.name.endswith(" rust")
    assert apart.farthest == pytest.approx(0.8, abs=0.01)
    assert apart.mean == pytest.approx(0.8 ** (1 / 3), abs=0.01)
    # though no time of theirs is outside
    assert report(runs, "node") == 1
    assert "TOO MANY" in capsys.readouterr().out


def test_the_control_is_a_run_against_the_one_before() -> None:
    halves = two_schemes(rust=0.5, bun=0.5, slow=0.5)
    control = held(between(halves, "turns"))
    assert (control.count, control.too_many) == (24, False)
    changed = held(between([*two_schemes()[:4], *halves[:4]], "turns"))
    assert (changed.count, changed.differ) == (6, 6)
    assert changed.mean == pytest.approx(0.5, abs=0.02)


def test_one_of_nine_that_differs_is_chance() -> None:
    def of_nine(differing: int) -> Held:
        far, near = (
            Published(1.0, Bounds(ratio, 0.95 * ratio, 1.05 * ratio), 20) for ratio in (2.0, 1.0)
        )
        return held([("x", far, near)] * differing + [("x", near, near)] * (9 - differing))

    assert not of_nine(1).too_many
    assert of_nine(3).too_many


def test_a_row_of_an_export_is_read_by_its_columns() -> None:
    row = {"steady_ns_per_unit": "10.5", "blocks": "12", "ratio": "2", "ratio_low": "1.9"}
    assert published({**row, "ratio_high": "2.1"}) == Published(10.5, Bounds(2, 1.9, 2.1), 12)
    reference = {**row, "ratio": "", "ratio_low": "", "ratio_high": ""}
    assert published(reference) == Published(10.5, None, 12)
