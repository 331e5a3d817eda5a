"""Geometry of the page's charts: numbers in, coordinates and ticks out; no markup and no clock."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, exp, floor, log, log2, log10

from sqlitmus.render.document.format import signed
from sqlitmus.results.report import Interval

FOREST_WIDTH = 180
FOREST_PAD = 16
LABEL_GAP = 34  # between short labels; see `label_gap`
# Bounds and labels of ratio axes; the page's script holds the same list.
RATIO_STEPS = (1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0, 128.0, 1000.0)
# Labels of an axis of changes, the ones to keep first.
PERCENTS = (100, 50, -50, 25, -25, 10, -10, 5, -5, 2, -2, 400, 900, -75, -90)
LINEAR_SPAN = 3.0


@dataclass(frozen=True, slots=True)
class Mark:
    """An interval on a horizontal axis: bounds and centre in px, `over` −1 or 1 when the centre is
    off it."""

    left: float
    right: float
    centre: float
    over: int


@dataclass(frozen=True, slots=True)
class RatioAxis:
    """A log axis of ratios from `low` ≤ 1 to `high` ≥ 1 over `width` px with a pad at both ends;
    its labels are ratios, or what they change in `percent`."""

    low: float
    high: float
    width: int
    percent: bool = False

    def at(self, value: float) -> float:
        """Position of `value` in px, to a tenth, clamped to the axis."""
        inside = min(max(value, self.low), self.high)
        part = log(inside / self.low) / log(self.high / self.low)
        return round(FOREST_PAD + part * (self.width - 2 * FOREST_PAD), 1)

    def mark(self, interval: Interval) -> Mark:
        """Where `interval` goes."""
        value = interval.value
        over = -1 if value < self.low else int(value > self.high)
        centre = self.at(value)
        left = centre if interval.low is None else self.at(interval.low)
        right = centre if interval.high is None else self.at(interval.high)
        return Mark(left, right, centre, over)

    def ticks(self) -> list[tuple[float, str]]:
        """Labelled positions: 1 and the ends first, then what fits between them."""
        steps = (self.low, self.high, *steps_between(self.low, self.high))
        values = {value: ratio_label(value) for value in steps}
        if self.percent:
            inside = [p for p in PERCENTS if self.low <= 1 + p / 100 <= self.high]
            values = {1 + p / 100: f"{signed(p, 0)} %" for p in inside}
        labels = {self.at(1.0): "0 %" if self.percent else "1"}
        for value, label in values.items():
            place = self.at(value)
            if all(abs(place - x) >= label_gap(label, other) for x, other in labels.items()):
                labels[place] = label
        return sorted(labels.items())


def label_gap(label: str, other: str) -> int:
    """Pixels between the centres of two labels: a character is about 6 wide."""
    return LABEL_GAP + 3 * max(0, len(label) + len(other) - 8)


def ratio_label(value: float) -> str:
    """A tick's text: "0.8", "0.063", "1.25", "1,024"."""
    digits = 2 if value < 1 else 4
    # a little more, so that what lies halfway is rounded up in both languages
    rounded = float(f"{value * (1 + 1e-9):.{digits}g}")
    return f"{rounded:,.4f}".rstrip("0").rstrip(".")


def steps_between(low: float, high: float) -> list[float]:
    """Ticks strictly inside the axis, powers of two first because they are the easiest to read."""
    sides = [step for step in RATIO_STEPS if step < high]
    sides += [1 / step for step in RATIO_STEPS if 1 / step > low]
    return sorted(sides, key=lambda value: (log2(value) % 1 != 0, abs(log(value))))


def ratio_axis(intervals: Iterable[Interval], width: int, *, percent: bool = False) -> RatioAxis:
    """The tightest axis from the steps that holds all `intervals`, 1, and a little of both
    sides."""
    low = high = 1.0
    for interval in intervals:
        low = min(low, interval.value, interval.low or interval.value)
        high = max(high, interval.value, interval.high or interval.value)
    return RatioAxis(1 / step_at_least(1 / low), step_at_least(high), width, percent)


def step_at_least(value: float) -> float:
    """The first ratio step that reaches `value`; the last one when none does."""
    return next((step for step in RATIO_STEPS if step >= value), RATIO_STEPS[-1])


def log_ticks(low: float, high: float) -> list[float]:
    """Between three and ten round values within [low, high] for a log axis; needs 0 < low <
    high."""
    if high / low < LINEAR_SPAN:
        return linear_ticks(low, high)
    values: list[float] = []
    for exponent in range(floor(log10(low)), ceil(log10(high)) + 1):
        values += [digit * 10.0**exponent for digit in (1, 2, 5)]
    inside = [value for value in values if low <= value <= high]
    decades = [value for value in inside if round(log10(value), 9) % 1 == 0]
    return decades if len(inside) > 10 and len(decades) > 1 else inside


def linear_ticks(low: float, high: float, count: int = 4) -> list[float]:
    """About `count` multiples of 1, 2, 2.5 or 5 times a power of ten within [low, high]."""
    if high <= low:
        return [low]
    raw = (high - low) / count
    scale = 10.0 ** floor(log10(raw))
    step = next(m * scale for m in (1, 2, 2.5, 5, 10) if m * scale >= raw)
    first, last = ceil(low / step), floor(high / step)
    return [round(index * step, 12) for index in range(first, last + 1)]


def sample_axis(low: float, high: float) -> tuple[float, float, list[float]] | None:
    """`(low, high, ticks)` in ns of a log axis that holds samples from `low` to `high`; None where
    `high` is 0: there are none."""
    if high <= 0:
        return None
    margin = max(0.005, log(high / low) * 0.02)
    low, high = low * exp(-margin), high * exp(margin)
    return low, high, log_ticks(low, high)


def rate_ticks(low: float, high: float) -> list[float]:
    """At most five ticks of a log axis."""
    ticks = log_ticks(low, high)
    return ticks[:: ceil(len(ticks) / 5)]


Scale = Callable[[float], float]  # values to px, to a tenth


def log_scale(low: float, high: float, start: float, end: float) -> Scale:
    """From `low` to `high` to px from `start` to `end`, logarithmic."""
    span = log(high / low) or 1.0
    return lambda value: round(start + log(value / low) / span * (end - start), 1)


def linear(top: float, start: float, end: float) -> Scale:
    """From 0 to `top` to px from `start` to `end`."""
    return lambda value: round(start + value / top * (end - start), 1)


def joined(points: Sequence[tuple[float, float]]) -> str:
    """Points in the notation of SVG's `points` attribute."""
    return " ".join(f"{x:g},{y:g}" for x, y in points)


# Lines on two axes, as one template draws them; no markup.

Tick = tuple[float, str]
Place = tuple[float, float]
Box = tuple[int, int, int, int]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Line:
    """A curve as SVG points in its runner's `hue` and `shape`.

    `marks` are drawn on it, those `beyond` hollow and joined by nothing; `band` is its interval as
    a polygon, `whiskers` are those of its marks as a path, `ideal` what it is to be held against.
    Its label stands at `named`, where it has one at its end.
    """

    label: str
    hue: str
    shape: int
    points: str = ""
    marks: list[Place] = field(default_factory=list[Place])
    beyond: list[Place] = field(default_factory=list[Place])
    band: str = ""
    whiskers: str = ""
    ideal: str = ""
    named: Place | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines in a `box` of a picture of `size` px.

    `said` is for a reader who cannot see it. Ticks are (position, text); `across` says what the
    horizontal axis is. Right of `shade` lies what `shaded` says, above `lost` what has no place on
    the vertical axis. `heads` stand over their ticks. `ruled` also across. `look` is a style class.
    """

    said: str
    size: tuple[int, int]
    box: Box
    lines: list[Line]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    across: str
    title: str = ""
    shade: float | None = None
    shaded: str = ""
    lost: float | None = None
    heads: list[Tick] = field(default_factory=list[Tick])
    look: str = ""
    ruled: bool = False
