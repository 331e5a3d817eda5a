"""The self-test: what a run of equal copies says, with each effect that it must find planted."""

from collections.abc import Callable
from math import sin

import numpy as np
import pytest

from benchmarks.experiments import Shape, replayed, runs as on_noise
from benchmarks.sentences import GROUPS, false, rates, spoken
from sqlitmus.analysis.selftest import self_test, tells_apart
from sqlitmus.results.ranking import Ranking
from tests.analysis import runs

NAMES = [f"node-{number}" for number in range(1, 6)]
Effect = Callable[[int, int], float]  # copy and block → how many times as long it takes


def recorded(
    effect: Effect, *, blocks: int = 120, seed: int = 3, spread: float = 0.01
) -> runs.RunData:
    """A run of five equal copies with 1 % of noise of their own, and `effect` on it."""

    def time(_case: int, label: str, block: int) -> float:
        copy = NAMES.index(label)
        noise = 0.05 * runs.drawn(seed, block) + spread * runs.drawn(seed, block, 1 + copy)
        return 1000 * effect(copy, block) * float(np.exp(noise))

    cases = [runs.case("get-pk")]
    of = {"kind": "selftest", "cases": cases, "correction": "bh", "subjects": ["node"]}
    planned = runs.plan(NAMES, blocks=blocks, canary=None, **of)
    return runs.make(planned, time=time)


def equal(_copy: int, _block: int) -> float:
    return 1.0


def last(bias: float) -> Effect:
    """The last copy takes so many times as long."""
    return lambda copy, _block: bias if copy == 4 else 1.0


WELL = {
    "": "120 blocks of 5 equal copies of node, one after the other: get-pk.",
    "False alarms": "of 12 reports of 10 blocks find a difference between copies",
    "All blocks together": "the furthest pair: 1.00",
    "Coverage": "% of the 95 % intervals hold 1.",
    "Detection": " are found in 12 of 12 reports, 100.0% [75.8%, 100.0%].",
}
Told = dict[str, str]
EFFECTS: dict[str, tuple[Effect, dict[str, float], bool, Told]] = {
    "none": (equal, {}, True, WELL),
    # few recordings of equal copies fail, each by 2 % of chance at most; these are fixed
    **{f"none, {seed}": (equal, {"seed": seed}, True, {}) for seed in (0, 1, 2, 4)},
    # or path, or counts of its own
    "place": (lambda copy, _block: 1.03 if copy == 0 else 1.0, {}, False, {}),
    # half of them on a slow one
    "core": (lambda copy, _block: 1.04 if copy > 2 else 1.0, {}, False, {}),
    "slows down": (lambda copy, block: 1 + 0.0006 * block * (copy == 2), {}, False, {}),
    "drift of each": (lambda copy, block: 1 + 0.03 * sin(copy + block / 15), {}, False, {}),
    "warm-up": (lambda copy, b: 1.05 if copy == 1 and b < 60 else 1.0, {}, False, {}),
    "a bias that single reports cannot see": (
        *(last(1.03), {"spread": 0.05, "blocks": 400}, False),
        {"All blocks together": "node-5 slower than"},
    ),
    "a bias within the margin": (
        *(last(1.01), {"spread": 0.03, "blocks": 400}, True),
        {"All blocks together": " over "},
    ),
    "noise that hides a slowdown": (
        *(equal, {"spread": 0.3}, True),
        {"Detection": " are found in 0 of 12 reports"},
    ),
}


@pytest.mark.simulation
@pytest.mark.parametrize("name", EFFECTS)
def test_equal_copies_pass_and_what_favours_one_is_found(name: str) -> None:
    effect, how, passed, told = EFFECTS[name]
    result = runs.sure(self_test(recorded(effect, **how)))  # pyright: ignore[reportArgumentType]
    assert (result.passed, result.scheme) == (passed, "process"), result.lines
    for begin, text in told.items():
        assert text in next(line for line in result.lines if line.startswith(begin))


def test_too_few_blocks_give_no_rate() -> None:
    assert self_test(recorded(equal, blocks=49)) is None
    assert self_test(recorded(equal, blocks=50))


def test_a_report_without_a_different_pair_tells_nobody_apart() -> None:
    assert not tells_apart(runs.analyse(recorded(equal, blocks=10, spread=0.05)))
    assert tells_apart(runs.analyse(recorded(lambda c, _b: 1.5 if c else 1.0, blocks=10)))


@pytest.mark.parametrize(
    ("scheme", "rounds", "more"),
    [
        ("relay", 8, []),
        ("process", 0, []),
        ("process", 8, ["processes that take turns, as those of this run did."]),
        ("relay", 0, ["processes one after the other, as those of this run were."]),
    ],
)
def test_a_report_says_whether_the_last_self_test_was_of_its_scheme(
    scheme: str, rounds: int, more: list[str]
) -> None:
    of = runs.plan(["node", "bun"])
    of_each = runs.counts(100, iterations=12, rounds=rounds)
    of["counts"] = {id_: dict.fromkeys(names, of_each) for id_, names in of["cells"].items()}
    before = {"created": "2026-01-01T00:00:00Z", "lines": ["all"], "passed": True}
    shown = runs.report(of, verify=[], lines=[], selftest={**before, "scheme": scheme}).selftest
    told = [f"It did not measure {words}" for words in more]
    assert runs.sure(shown).lines == ["all", *told]


NOISE = np.random.default_rng(11).normal(0, 0.02, 300_000)  # reports share little of it


@pytest.mark.parametrize(("runners", "blocks", "count"), [(2, 30, 80), (9, 10, 80), (9, 30, 40)])
@pytest.mark.simulation
def test_at_most_5_percent_of_reports_tell_equal_runners_apart(
    runners: int, blocks: int, count: int
) -> None:
    shares = rates(NOISE, runners, blocks, count)
    assert shares["headline"] <= shares["summary"] <= shares["any"] <= 0.05
    assert shares["calls"] <= 0.05
    # plain intervals against the runner that happens to come out first
    assert shares["plain"] > (0.1 if runners == 2 else 0.3)


def test_a_real_difference_is_told_and_counted() -> None:
    groups = [f"g{number}" for number, size in enumerate(GROUPS) for _ in range(size)]
    (logs,) = on_noise(replayed(NOISE.reshape(-1)), Shape(len(groups), 3, 30), 1, 1)
    times = np.exp(logs)
    times[:, 1] *= 1.2
    report = spoken(times, groups, "bh")
    assert all(report.errs[place] for place in ("headline", "summary", "table", "any", "calls"))
    assert not report.errs["canary"]
    assert len(report.orders) == len(GROUPS)
    words = ("r1 takes 1.", "as long as r0", "r2")
    assert all(word in sentence for sentence in report.orders for word in words)


def test_what_counts_as_false_of_equal_runners() -> None:
    small, large = runs.Interval(1.007, 1.003, 1.01), runs.Interval(1.05, 1.02, 1.08)

    def order_of(front: list[str], ratio: runs.Interval, verdict: runs.Verdict) -> Ranking:
        contrasts = [runs.Contrast("b", "a", ratio, verdict)]
        return Ranking(front, False, contrasts, margin=0.02, reference="a")

    assert not false(order_of(["a", "b"], large, runs.Verdict.NOT_RESOLVED))
    assert false(order_of(["a"], large, runs.Verdict.SLOWER))
    # "a is fastest. b is within 2 % of a.": the second is true, the first is not
    assert false(order_of(["a"], small, runs.Verdict.SLOWER))
