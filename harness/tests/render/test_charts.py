import itertools
from math import inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.render.html import charts
from sqlitmus.results.report import Interval

ratios = st.floats(min_value=1e-2, max_value=1e2)


@given(st.lists(ratios, min_size=1, max_size=12))
def test_a_ratio_axis_holds_one_and_all_its_intervals(values: list[float]) -> None:
    axis = charts.ratio_axis([Interval(v, v * 0.9, v * 1.1) for v in values], 240, 16)
    assert axis.low < 1 < axis.high
    for value in values:
        assert axis.low <= value * 0.9
        assert axis.high >= value * 1.1
        assert axis.mark(Interval(value, None, None)).over == 0


@given(ratios)
def test_a_ratio_and_its_inverse_lie_alike_on_both_sides(value: float) -> None:
    left, right = charts.GLYPH.at(value), charts.GLYPH.at(1 / value)
    assert left + right == pytest.approx(charts.GLYPH_WIDTH, abs=0.2)


def test_what_is_off_the_glyph_axis_says_so() -> None:
    assert charts.GLYPH.mark(Interval(9.0, 8.0, 10.0)).over == 1
    assert charts.GLYPH.mark(Interval(0.1, 0.09, 0.11)).over == -1
    assert charts.GLYPH.mark(Interval(1.0, 0.5, 2.0)) == charts.Mark(24.0, 64.0, 44.0, 0)


@given(st.lists(ratios, min_size=1, max_size=5))
def test_ticks_hold_one_in_order_and_do_not_touch(values: list[float]) -> None:
    ticks = charts.ratio_axis([Interval(v, v, v) for v in values], 240, 16).ticks()
    places = [place for place, _ in ticks]
    assert "1" in [label for _, label in ticks]
    assert all(b - a >= charts.LABEL_GAP for a, b in itertools.pairwise(places))


@given(st.floats(min_value=1e-2, max_value=1e11), st.floats(min_value=1.005, max_value=1e4))
def test_log_ticks_are_few_and_inside(low: float, factor: float) -> None:
    ticks = charts.log_ticks(low, low * factor)
    assert 1 <= len(ticks) <= 11
    assert all(low * (1 - 1e-9) <= tick <= low * factor * (1 + 1e-9) for tick in ticks)
    assert ticks == sorted(set(ticks))


def test_a_sample_axis_needs_samples() -> None:
    assert charts.sample_axis(inf, 0.0) is None
    axis = charts.sample_axis(100.0, 100.0)
    assert axis is not None
    assert axis[0] < 100 < axis[1]


def test_ratio_axis_positions_are_logarithmic() -> None:
    axis = charts.RatioAxis(0.25, 4.0, 100, 0)
    assert axis.at(2.0) == pytest.approx(100 * log(8) / log(16), abs=0.05)


def test_long_labels_of_a_wide_axis_do_not_touch() -> None:
    axis = charts.ratio_axis([Interval(0.037, 0.016, 2.1)], charts.SUMMARY_WIDTH, 16)
    labels = axis.ticks()
    assert max(len(label) for _, label in labels) >= 5
    for (place, label), (following, other) in itertools.pairwise(labels):
        assert following - place >= 6 * (len(label) + 1 + len(other) + 1) / 2 - 2
