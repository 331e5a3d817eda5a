import json
from dataclasses import replace
from itertools import accumulate
from math import exp, inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.render.document import symbols
from sqlitmus.render.html import embed
from sqlitmus.results.report import Cell, Interval, Report
from sqlitmus.vocabulary.verdicts import Verdict

TIME = Interval(100.0, 99.0, 101.0)


def pair_of(
    data: dict[str, Any], case: dict[str, Any], runner: str, reference: str
) -> tuple[str, list[float | None]]:
    """A comparison as the page's script finds it."""
    names = [row[0] for row in data["runners"]]
    one, two = names.index(runner), names.index(reference)
    turned = one < two
    high, low = max(one, two), min(one, two)
    place = high * (high - 1) // 2 + low
    logs = [column[place] for column in case["pairs"]]
    code = case["verdicts"][place]
    if turned:
        logs = [None if x is None else -x for x in (logs[0], logs[2], logs[1])]
        code = data["verdicts"][code][3]
    return data["verdicts"][code][0], [None if x is None else exp(x / 1e6) for x in logs]


def test_every_ordered_pair_can_be_read_back(small: Report) -> None:
    data = json.loads(json.dumps(embed.page_data(small)))
    seen = 0
    for case, stored in zip(small.cases, data["cases"], strict=True):
        for c in case.comparisons:
            verdict, ratio = pair_of(data, stored, c.runner, c.reference)
            assert verdict == c.verdict
            own = (c.ratio.value, c.ratio.low, c.ratio.high)
            # The synthetic intervals are symmetric in logarithms, as the real ones are.
            assert ratio == pytest.approx(own, rel=2e-6)
            seen += 1
    assert seen > 500


def test_a_case_that_compares_other_runners_is_refused(small: Report) -> None:
    first = small.cases[0]
    strangers = replace(first.comparisons, runners=["other", *first.comparisons.runners[1:]])
    broken = replace(small, cases=[replace(first, comparisons=strangers)])
    with pytest.raises(ValueError, match="other runners"):
        embed.page_data(broken)


def test_samples_and_positions_come_back(small: Report) -> None:
    data = embed.page_data(small)
    names = [row[0] for row in data["runners"]]
    for case, stored in zip(small.cases, data["cases"], strict=True):
        for cell in case.cells:
            place = names.index(cell.runner)
            if cell.outcome != "ok":
                assert stored["samples"][place] == []
                continue
            scale = 10 ** stored["exponents"][place]
            values = [x * scale for x in stored["samples"][place]]
            assert values == pytest.approx(cell.samples, rel=1e-4)
            steps = stored["positions"][place]
            assert [sum(steps[: i + 1]) for i in range(len(steps))] == cell.positions


def test_codes_are_unique_and_opposites_mutual() -> None:
    letters = [verdict.letter for verdict in Verdict]
    assert len(set(letters)) == len(letters)
    assert all(verdict.opposite.opposite is verdict for verdict in Verdict)
    outcomes = [word.code for word in (*symbols.OUTCOMES.values(), symbols.ABSENT)]
    assert len(set(outcomes)) == len(outcomes)


def test_a_number_that_is_none_stays_none() -> None:
    assert embed.logarithms([0.0, inf, None, 1.0]) == [[None, None, None, 0]]
    assert [*map(embed.short, [nan, 812.34567, 123456.7, None])] == [None, 812.346, 123457, None]
    assert embed.differences([]) == []


def test_a_number_beyond_all_measure_is_kept_whole() -> None:
    assert embed.short(1e300) == round(1e300)


@given(st.floats(min_value=1e-3, max_value=1e12))
def test_numbers_round_as_their_units_say(value: float) -> None:
    logarithm, short = embed.logarithm(value), embed.short(value)
    assert logarithm is not None
    assert exp(logarithm / embed.LOG_UNIT) == pytest.approx(value, rel=1e-6)
    assert short == pytest.approx(value, abs=0.00051 if value < embed.WHOLE else 0.51)
    assert isinstance(short, int) == (value >= embed.WHOLE)


@given(st.lists(st.integers(0, 10**6)))
def test_positions_come_back_from_their_differences(positions: list[int]) -> None:
    assert [*accumulate(embed.differences(positions))] == positions


def test_a_drift_stays_within_its_bounds_and_ignores_zeros() -> None:
    def drift(*samples: float | None) -> float:
        return embed.drift([None, Cell("node", "ok", time=TIME, samples=[*samples])])

    assert drift(100.0, 110.0, None, 0.0) == pytest.approx(0.1)
    assert drift(80.0, 110.0) == pytest.approx(0.2)
    assert drift(100.0) == embed.drift([]) == embed.DRIFT_FLOOR
    assert drift(900.0) == embed.DRIFT_CEILING
