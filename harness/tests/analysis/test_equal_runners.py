"""Reports of equal runners: how often a sentence tells them apart, by the benchmark's own count."""

import numpy as np
import pytest

from benchmarks.experiments import Shape, replayed, runs
from benchmarks.sentences import GROUPS, false, rates, spoken
from sqlitmus.results.ranking import Contrast, Ranking
from sqlitmus.results.report import Interval
from sqlitmus.vocabulary.verdicts import Verdict

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
    for sentence in report.orders:
        assert "r1 takes 1." in sentence
        assert "as long as r0" in sentence
        assert "r2" in sentence


def line(front: list[str], *contrasts: Contrast) -> Ranking:
    return Ranking(front, False, list(contrasts), margin=0.02, reference="a")


def test_what_counts_as_false_of_equal_runners() -> None:
    small, large = Interval(1.007, 1.003, 1.01), Interval(1.05, 1.02, 1.08)
    assert not false(line(["a", "b"], Contrast("b", "a", large, Verdict.NOT_RESOLVED)))
    assert false(line(["a"], Contrast("b", "a", large, Verdict.SLOWER)))
    # "a is fastest. b is within 2 % of a.": the second is true, the first is not
    assert false(line(["a"], Contrast("b", "a", small, Verdict.SLOWER)))
