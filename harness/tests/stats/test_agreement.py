"""The yardstick's arithmetic: a fault in what is published is told, honest noise is not."""

import random
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from math import exp, log
from statistics import fmean, median

import numpy as np
import pytest

from benchmarks.agreement import (
    Bounds,
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

POOL = range(4096)
TRANSACTION_NS = {"node": 92_800.0, "rust": 50_500.0, "slow": 180_000.0}
CHECKPOINT_NS, EVERY = 3.0e6, 170
READ_NS = {"node": 3_400.0, "rust": 2_900.0}
MISS_NS, CACHED = 1_800.0, 500


def transactions(driver: str) -> list[float]:
    """What transactions take one after the other, a checkpoint after each 170th."""
    return [TRANSACTION_NS[driver] + CHECKPOINT_NS * (n % EVERY == 0) for n in range(1, 3401)]


def by_medians(driver: str) -> float:
    """Published by medians of laps of 5 ms, each of iterations of 20 transactions."""
    each = [sum(batch) for batch in zip(*[iter(transactions(driver))] * 20, strict=False)]
    lap = max(round(5e6 / median(each)), 1)
    return fmean(median(batch) for batch in zip(*[iter(each)] * lap, strict=False)) / 20


def reading(driver: str, rows: Sequence[int]) -> float:
    """A read's mean time over the rows, over and over, beside a cache that drops the oldest."""
    cache: OrderedDict[int, None] = OrderedDict()
    spent: list[float] = []
    for row in islice(cycle(rows), 3 * len(POOL)):
        spent.append(READ_NS[driver] + MISS_NS * (row not in cache))
        cache[row] = None
        cache.move_to_end(row)
        if len(cache) > CACHED:
            cache.popitem(last=False)
    return fmean(spent[len(POOL) :])


BLOCKS = 8


def run_of(
    case: str, plain: dict[str, float], product: dict[str, float], noise: float = 0.003
) -> list[Run]:
    """A run in turns whose blocks are up to twice as slow as others, for all that is in them."""
    rng = random.Random(case)
    slow = [rng.uniform(1, 2) for _ in range(BLOCKS)]

    def seen(true: float) -> dict[int, float]:
        return {n: true * slow[n] * exp(rng.gauss(0, noise)) for n in range(BLOCKS)}

    of_product = {name: seen(ns) for name, ns in product.items()}
    of_plain = {name: {n: Plain(ns) for n, ns in seen(ns).items()} for name, ns in plain.items()}
    ratios = {name: ns / product["node"] for name, ns in product.items()}
    published = {
        name: Published(ns, Bounds(ratios[name], 0, 9) if name != "node" else None, BLOCKS)
        for name, ns in product.items()
    }
    return [Run(case, "turns", {**of_product}, {**of_plain}, published)]


def marks(runs: Sequence[Run]) -> dict[str, str]:
    rows = [*levels(runs), *ratios(runs, "node")[:1]]
    return {name: row.marks[0] for name, row in zip([*TRANSACTION_NS, "ratio"], rows, strict=True)}


def test_totals_agree_with_totals() -> None:
    true = {name: fmean(transactions(name)) for name in TRANSACTION_NS}
    assert set(marks(run_of("insert", true, true)).values()) == {"within"}


def test_a_median_that_drops_the_checkpoints_is_outside() -> None:
    """Of the slow driver a lap is one iteration, so that it keeps them: the ratio is wrong, too."""
    true = {name: fmean(transactions(name)) for name in TRANSACTION_NS}
    told = {name: by_medians(name) for name in TRANSACTION_NS}
    assert marks(run_of("insert", true, told)) == {
        "node": "OUTSIDE", "rust": "OUTSIDE", "slow": "within", "ratio": "OUTSIDE"
    }  # fmt: skip


@pytest.mark.parametrize(("rows", "word"), [(POOL, "within"), (POOL[:250], "OUTSIDE")])
def test_a_pool_that_begins_again_after_250_rows_is_outside(rows: Sequence[int], word: str) -> None:
    true, told = ({name: reading(name, pool) for name in READ_NS} for pool in (POOL, rows))
    compared = levels(run_of("get", true, told))
    assert [row.marks for row in compared] == [[word]] * 2


def test_what_is_too_noisy_to_tell_is_wide() -> None:
    true = {"node": 2000.0, "rust": 1000.0}
    assert {mark for row in levels(run_of("x", true, true, 0.2)) for mark in row.marks} == {"wide"}


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.99, 1.02, "within"),
        (1.031, 1.2, "OUTSIDE"),
        (0.8, 0.97, "OUTSIDE"),
        (1.02, 1.2, "wide"),
        (0.9, 1.1, "wide"),
        (0.0, float("inf"), "wide"),
    ],
)
def test_an_interval_against_the_limit(low: float, high: float, word: str) -> None:
    assert Bounds(1, low, high).mark(0.03) == word


def test_a_driver_that_one_run_lacks_is_compared_by_the_others() -> None:
    runs = [*run_of("x", READ_NS, READ_NS), *run_of("x", {"node": 2.0}, {"node": 2.0})]
    drivers = [row.driver for row in (*levels(runs), *ratios(runs, "node"))]
    assert drivers == ["node", "rust", "rust"]
    assert report([], "node") == 4


def test_below_a_microsecond_the_limit_is_5_percent() -> None:
    rows = levels(run_of("x", {"node": 1100.0, "rust": 500.0}, {"node": 1.0, "rust": 1.0}))
    assert [row.limit for row in rows] == [0.03, 0.05]


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
    share = np.mean([p_of(run(1.4, rng), run(1.4, rng, 10)) < 0.05 for _ in range(2000)])
    assert 0.035 < share < 0.06


def two_schemes(turns: Callable[[str], float]) -> list[Run]:
    rng = np.random.default_rng(5)
    drivers = {"rust": 0.6, "bun": 0.8, "slow": 1.5}
    node = {"node": Published(1.0, None, 20)}
    lone = lambda: {name: run(ratio, rng) for name, ratio in drivers.items()}  # noqa: E731
    apart = lambda: {name: run(r * turns(name), rng) for name, r in drivers.items()}  # noqa: E731
    return [
        Run(case, scheme, {}, {}, node | make())
        for _ in range(5)
        for case in ("get", "insert")
        for scheme, make in (("lone", lone), ("turns", apart))
    ]


def test_schemes_that_agree_are_told_so_and_one_ratio_that_does_not_is_named() -> None:
    same = held(within(two_schemes(lambda _: 1.0), "turns", "lone"))
    assert (same.count, same.too_many) == (30, False)
    assert abs(log(same.mean)) < 0.01
    apart = held(within(two_schemes(lambda name: 0.8 if name == "rust" else 1), "turns", "lone"))
    assert apart.too_many
    assert 10 <= apart.differ <= 13
    assert apart.name.endswith(" rust")
    assert apart.farthest == pytest.approx(0.8, abs=0.01)
    assert apart.mean == pytest.approx(0.8 ** (1 / 3), abs=0.01)


def test_the_control_is_a_run_against_the_one_before() -> None:
    control = held(between(two_schemes(lambda _: 0.5), "turns"))
    assert (control.count, control.too_many) == (24, False)
    changed = [*two_schemes(lambda _: 1.0)[:4], *two_schemes(lambda _: 0.5)[:4]]
    control = held(between(changed, "turns"))
    assert (control.count, control.differ) == (6, 6)
    assert control.mean == pytest.approx(0.5, abs=0.02)


def test_one_of_nine_that_differs_is_chance() -> None:
    far = Published(1.0, Bounds(2.0, 1.9, 2.1), 20)
    near = Published(1.0, Bounds(1.0, 0.95, 1.05), 20)
    assert not held([("x", far, near), *[("x", near, near)] * 8]).too_many
    assert held([*[("x", far, near)] * 3, *[("x", near, near)] * 6]).too_many


@pytest.mark.parametrize(
    ("product", "noise", "code"),
    [(2000.0, 0.003, 0), (1500.0, 0.003, 1), (2000.0, 0.2, 6)],
)
def test_the_tables_name_what_is_amiss_and_the_exit_code_says_it(
    product: float, noise: float, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = {"node": 2000.0, "rust": 1000.0}
    made = run_of("get-pk", plain, {"node": product, "rust": product / 2}, noise)
    assert report(made, "node") == code
    text = capsys.readouterr().out
    assert ("OUTSIDE" in text) == (code == 1)
    assert "get-pk                  rust" in text


def test_schemes_that_disagree_fail_though_all_times_are_within(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = two_schemes(lambda name: 0.8 if name == "rust" else 1)
    assert report(made, "node") == 1
    text = capsys.readouterr().out
    assert "OUTSIDE" not in text
    assert "TOO MANY" in text


def test_a_row_of_an_export_is_read_by_its_columns() -> None:
    row = {"steady_ns_per_unit": "10.5", "blocks": "12", "ratio": "2", "ratio_low": "1.9"}
    assert published({**row, "ratio_high": "2.1"}) == Published(10.5, Bounds(2, 1.9, 2.1), 12)
    reference = {**row, "ratio": "", "ratio_low": "", "ratio_high": ""}
    assert published(reference) == Published(10.5, None, 12)
