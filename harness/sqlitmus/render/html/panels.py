"""Lines on two axes, as one template draws them; no markup."""

from dataclasses import dataclass, field

Tick = tuple[float, str]
Place = tuple[float, float]
LOOKS = 6
SHAPES = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A curve as SVG points in its runner's `hue` and `shape`.

    `marks` are drawn on it, those `beyond` hollow and joined by nothing; `band` is its interval as
    a polygon, `ideal` what it is to be held against.
    """

    label: str
    hue: str
    shape: int
    points: str
    marks: list[Place]
    beyond: list[Place] = field(default_factory=list[Place])
    band: str = ""
    ideal: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines in a `box` (left, top, right, bottom) of a picture of `size` px.

    `said` is for a reader who cannot see it. Ticks are (position, text); `across` says what the
    horizontal axis is. Right of `shade` lies what `shaded` says. `ruled` also across.
    """

    said: str
    size: tuple[int, int]
    box: tuple[int, int, int, int]
    lines: list[Line]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    across: str
    title: str = ""
    shade: float | None = None
    shaded: str = ""
    ruled: bool = False


def numbered(place: int) -> tuple[str, int]:
    """Hue and shape of the line at a place in its table, where it is no runner's."""
    return f"l-{place % LOOKS}", place // LOOKS % SHAPES
