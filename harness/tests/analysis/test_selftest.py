"""The self-test: what a run of equal copies says, with each effect that it must find planted."""

from collections.abc import Callable
from math import sin

import numpy as np
import pytest

from benchmarks.experiments import Shape, replayed, runs
from benchmarks.sentences import GROUPS, false, rates, spoken
from sqlitmus.analysis.selftest import self_test, tells_apart
from sqlitmus.results.ranking import Contrast, Ranking
from sqlitmus.results.report import Interval, SelfTest
from tests.analysis.runs import (
    Json,
    RunData,
    Verdict,
    analyse,
    case,
    counts,
    drawn,
    make,
    plan,
    runner,
    sure,
)

NAMES = [f"node-{number}" for number in range(1, 6)]
Effect = Callable[[int, int], float]  # copy and block → how many times as long it takes


def recorded(effect: Effect, *, blocks: int = 120, seed: int = 3, spread: float = 0.01) -> RunData:
    """A run of five equal copies with 1 % of noise of their own, and `effect` on it."""

    def time(_case: int, label: str, block: int) -> float:
        copy = NAMES.index(label)
        noise = 0.05 * drawn(seed, block) + spread * drawn(seed, block, 1 + copy)
        return 1000 * effect(copy, block) * float(np.exp(noise))

    of = {"kind": "selftest", "cases": [case("get-pk")], "correction": "bh", "subjects": ["node"]}
    runners = [runner(name) for name in NAMES]
    return make(plan(NAMES, blocks=blocks, canary=None, runners=runners, **of), time=time)


def equal(_copy: int, _block: int) -> float:
    return 1.0


def result_of(effect: Effect, **how: float) -> SelfTest:
    return sure(self_test(recorded(effect, **how)))  # pyright: ignore[reportArgumentType]


def line(result: SelfTest, begin: str) -> str:
    (found,) = (text for text in result.lines if text.startswith(begin))
    return found


def test_equal_copies_pass_and_its_lines_say_what_was_counted() -> None:
    result = result_of(equal)
    assert result.passed
    assert result.scheme == "process"
    assert result.lines[0] == "120 blocks of 5 equal copies of node, one after the other: get-pk."
    alarms = line(result, "False alarms")
    assert "of 12 reports of 10 blocks find a difference between copies" in alarms
    assert "the furthest pair: 1.00" in line(result, "All blocks together")
    assert "% of the 95 % intervals hold 1." in line(result, "Coverage")
    assert " are found in 12 of 12 reports, 100.0% [75.8%, 100.0%]." in line(result, "Detection")


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 7])
def test_few_recordings_of_equal_copies_fail(seed: int) -> None:
    """Each by 2 % of chance at most; these are fixed, and the test above has number 3."""
    assert result_of(equal, seed=seed).passed


EFFECTS: dict[str, Effect] = {
    "place": lambda copy, _block: 1.03 if copy == 0 else 1.0,  # or path, or counts of its own
    "core": lambda copy, _block: 1.04 if copy > 2 else 1.0,  # half of them on a slow one
    "age": lambda copy, block: 1 + 0.0006 * block * (copy == 2),  # it slows down
    "drift": lambda copy, block: 1 + 0.03 * sin(copy + block / 15),  # of each on its own
    "warm-up": lambda copy, block: 1.05 if copy == 1 and block < 60 else 1.0,
}


@pytest.mark.parametrize("effect", EFFECTS)
def test_what_favours_a_copy_is_found(effect: str) -> None:
    result = result_of(EFFECTS[effect])
    assert not result.passed, result.lines


def test_a_bias_that_single_reports_cannot_see_is_found_by_all_blocks_together() -> None:
    blunt = result_of(lambda copy, _block: 1.03 if copy == 4 else 1.0, spread=0.05, blocks=400)
    assert not blunt.passed
    assert "node-5 slower than" in line(blunt, "All blocks together")


def test_a_bias_within_the_margin_does_not_matter() -> None:
    small = result_of(lambda copy, _block: 1.01 if copy == 4 else 1.0, spread=0.03, blocks=400)
    assert small.passed
    assert " over " in line(small, "All blocks together")


def test_too_few_blocks_give_no_rate() -> None:
    assert self_test(recorded(equal, blocks=49)) is None
    assert self_test(recorded(equal, blocks=50))


def test_noise_hides_a_slowdown_and_the_line_says_so() -> None:
    assert " are found in 0 of 12 reports" in line(result_of(equal, spread=0.3), "Detection")


def test_a_report_without_a_different_pair_tells_nobody_apart() -> None:
    assert not tells_apart(analyse(recorded(equal, blocks=10, spread=0.05)))
    assert tells_apart(analyse(recorded(lambda c, _b: 1.5 if c else 1.0, blocks=10)))


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
    of = plan(["node", "bun"])
    of_each = counts(100, iterations=12, rounds=rounds)
    of["counts"] = {id_: dict.fromkeys(names, of_each) for id_, names in of["cells"].items()}
    last: Json = {"created": "2026-01-01T00:00:00Z", "lines": ["all"], "passed": True}
    shown = make(of, verify=[], lines=[], selftest=last | {"scheme": scheme}).selftest
    assert sure(shown).lines == ["all", *(f"It did not measure {words}" for words in more)]


NOISE = np.random.default_rng(11).normal(0, 0.02, 300_000)  # reports share little of it


@pytest.mark.parametrize(
    ("runners", "blocks", "count"),
    [(2, 30, 80), (9, 10, 200), (9, 30, 40)],
)
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
    (logs,) = runs(replayed(NOISE.reshape(-1)), Shape(len(groups), 3, 30), 1, 1)
    times = np.exp(logs)
    times[:, 1] *= 1.2
    report = spoken(times, groups, "bh")
    assert all(report.errs[place] for place in ("headline", "summary", "table", "any", "calls"))
    assert not report.errs["canary"]
    assert len(report.orders) == len(GROUPS)
    words = ("r1 takes 1.", "as long as r0", "r2")
    assert all(word in sentence for sentence in report.orders for word in words)


def order_of(front: list[str], *contrasts: Contrast) -> Ranking:
    return Ranking(front, False, list(contrasts), margin=0.02, reference="a")


def test_what_counts_as_false_of_equal_runners() -> None:
    small, large = Interval(1.007, 1.003, 1.01), Interval(1.05, 1.02, 1.08)
    assert not false(order_of(["a", "b"], Contrast("b", "a", large, Verdict.NOT_RESOLVED)))
    assert false(order_of(["a"], Contrast("b", "a", large, Verdict.SLOWER)))
    # "a is fastest. b is within 2 % of a.": the second is true, the first is not
    assert false(order_of(["a"], Contrast("b", "a", small, Verdict.SLOWER)))
