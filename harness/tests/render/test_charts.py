"""Numbers as text, and the axes of charts."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given, strategies as st

from sqlitmus.render.document import format as fmt, symbols
from sqlitmus.render.html import charts
from tests.render import synthetic
from tests.render.synthetic import Contrast, Interval, Standing, Verdict

ratios = st.floats(min_value=1e-2, max_value=1e2)


@given(st.lists(ratios, min_size=1, max_size=12), st.sampled_from([charts.FOREST_WIDTH, 240]))
@example([0.037, 0.016, 2.1], charts.FOREST_WIDTH)
def test_a_ratio_axis_holds_one_and_all_its_intervals_and_labels_do_not_touch(
    values: list[float], width: int
) -> None:
    axis = charts.ratio_axis([Interval(v, v * 0.9, v * 1.1) for v in values], width)
    assert axis.low < 1 < axis.high
    for value in values:
        assert axis.low <= value * 0.9
        assert axis.high >= value * 1.1
        assert axis.mark(Interval(value, None, None)).over == 0
    labels = axis.ticks()
    assert "1" in [label for _, label in labels]
    for (place, label), (following, other) in itertools.pairwise(labels):
        gap = 6 * (len(label) + 1 + len(other) + 1) / 2 - 2
        assert following - place >= max(gap, charts.LABEL_GAP)


def test_what_is_off_the_axis_says_so() -> None:
    axis = charts.RatioAxis(1 / 4, 4, 112)
    assert [axis.mark(Interval(v, v - 0.1, v + 1)).over for v in (9.0, 0.2)] == [1, -1]
    # a ratio and its inverse lie alike on both sides
    assert axis.mark(Interval(1.0, 0.5, 2.0)) == charts.Mark(36.0, 76.0, 56.0, 0)


@given(st.floats(min_value=1e-2, max_value=1e11), st.floats(min_value=1.005, max_value=1e4))
def test_log_ticks_are_few_and_inside(low: float, factor: float) -> None:
    ticks = charts.log_ticks(low, low * factor)
    assert 1 <= len(ticks) <= 11
    assert all(low * (1 - 1e-9) <= tick <= low * factor * (1 + 1e-9) for tick in ticks)
    assert ticks == sorted(set(ticks))


def test_one_value_still_has_an_axis_and_none_has_none() -> None:
    low, high, _ = charts.sample_axis(100.0, 100.0) or (0, 0, [])
    assert low < 100 < high
    assert charts.sample_axis(math.inf, 0.0) is None
    assert charts.log_scale(1.0, 1.0, 10, 20)(1.0) == 10


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.94, 1.02, ["−5 %", "−2 %", "0 %", "+2 %", "+5 %"]),
        (0.5, 3.0, ["−50 %", "−25 %", "0 %", "+50 %", "+100 %"]),
    ],
)
def test_changes_have_ticks_at_round_percents(low: float, high: float, labels: list[str]) -> None:
    axis = charts.ratio_axis([Interval(1.0, low, high)], 300, percent=True)
    ticks = axis.ticks()
    assert [label for _, label in ticks] == labels
    assert ticks[-1][0] == axis.at(1 + float(labels[-1].split()[0]) / 100)


@pytest.mark.parametrize(
    ("write", "value", "low", "high", "text"),
    [
        (fmt.time, 812.3, 803.0, 821.0, "812 ns [803, 821]"),
        (fmt.time, 1_953.0, 1_940.0, 1_966.0, "1.95 µs [1.94, 1.97]"),
        (fmt.time, 38_040_000.0, 37_700_000.0, 38_400_000.0, "38.0 ms [37.7, 38.4]"),
        (fmt.time, 2.5e9, None, None, "2.50 s "),
        (fmt.time, 999.7, 999.6, 999.8, "0.9997 µs [0.9996, 0.9998]"),
        (fmt.time, 2_400.0, 900.0, 3_900.0, "2.4 µs [0.9, 3.9]"),
        (fmt.ratio, 0.7612, 0.74, 0.79, "0.76× [0.74, 0.79]"),
        (fmt.ratio, 1.0041, 1.0011, 1.0071, "1.004× [1.001, 1.007]"),
        (fmt.ratio, 12.31, 9.0, 15.0, "12× [9, 15]"),
        (fmt.ratio, 1.3, None, None, "1.30× "),
        (fmt.ratio, 0.37, 0.0, 3810.12, "0.37× [0.00, 3810]"),
        (fmt.change, 1.042, 1.031, 1.053, "+4 % [+3, +5]"),
        (fmt.change, 1.0421, 1.0391, 1.0451, "+4.2 % [+3.9, +4.5]"),
        (fmt.change, 0.5, 0.4991, 0.5009, "−50.00 % [−50.09, −49.91]"),
        (fmt.change, 1.003, 0.953, 1.053, "0 % [−5, +5]"),
        (fmt.change, 3.0, 1.0, 5.0, "+200 % [0, +400]"),
        (fmt.change, 1.5, None, None, "+50.0 % "),
        (fmt.difference, 412.0, 400.0, 424.0, "+412 ns [400, 424]"),
        (fmt.difference, -12.0, -20.0, -4.0, "−12 ns [−20, −4]"),
        (fmt.rate, 1.23e6, 1.21e6, 1.25e6, "1.23 M/s [1.21, 1.25]"),
    ],
)
def test_a_number_shows_what_its_interval_supports(
    write: Callable[[Interval], tuple[str, str]],
    value: float,
    low: float | None,
    high: float | None,
    text: str,
) -> None:
    assert " ".join(write(Interval(value, low, high))).replace(fmt.THIN, " ") == text


def test_rates_and_sizes() -> None:
    assert fmt.fixed(-0.001, 1) == "0.0"
    assert fmt.rate_label(200_000.0) == "200\u202fk"
    assert fmt.share(0) == "0 %"
    assert fmt.size(None) == fmt.duration(None) == "unknown"


@given(st.floats(min_value=1e-3, max_value=1e12), st.floats(min_value=0, max_value=0.9))
def test_a_time_has_at_most_four_significant_digits_and_is_near_the_exact_one(
    value: float, half: float
) -> None:
    text, _ = fmt.time(Interval(value, value * (1 - half), value * (1 + half)))
    number = text.split(fmt.THIN)[0]
    digits = number.replace(".", "").lstrip("0")
    assert 1 <= len(digits) <= 4 or len(number.split(".")[0]) == len(digits)
    exact, unit = fmt.time(Interval(value, None, None))[0].split(fmt.THIN)
    assert float(exact) * dict(fmt.UNITS)[unit] == pytest.approx(value, rel=0.006)


def test_a_groups_mean_is_coloured_by_its_verdict_and_not_by_its_interval() -> None:
    beyond = Interval(1.2, 1.1, 1.3)  # of a noisy group, or of a case that says less
    words = Verdict.MATERIALLY_FASTER, Verdict.SLOWER, Verdict.EQUIVALENT, Verdict.NOT_RESOLVED
    means = [
        Standing("bun", "node", "reads", Contrast("bun", "node", beyond, word), 1, 0, 1, 0, 0, 0)
        for word in words
    ]
    assert [symbols.mean(mean).style for mean in means] == ["f", "s", "un", "un"]
    assert symbols.mean(replace(means[0], contrast=None)) == symbols.mean(None) == symbols.NONE


def test_the_ratio_of_the_times_shown_is_told_where_the_interval_excludes_it() -> None:
    report = synthetic.build_compare(cases=1)
    old, new = report.cases[0].cells
    old = replace(old, time=Interval(46_000.0, None, None))
    new = replace(new, time=Interval(70_000.0, None, None))
    quotient = symbols.of_medians(new, old, Interval(1.31, 1.22, 1.41))
    assert quotient is not None
    assert quotient.value == pytest.approx(70 / 46)
    assert symbols.of_medians(new, old, Interval(1.5, 1.4, 1.6)) is None
    assert symbols.of_medians(None, old, Interval(1.31, 1.22, 1.41)) is None
