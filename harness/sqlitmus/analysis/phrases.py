"""Small phrases that headline and notices share."""

from collections.abc import Mapping, Sequence
from math import floor, log10

from sqlitmus.results.report import Interval

SHOWN = 3


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some(names: Sequence[str]) -> str:
    """The first few names, and how many there are besides."""
    if len(names) <= SHOWN:
        return listed(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"


def by_value(values: Mapping[str, str]) -> str:
    """`1: a and b; 2: c`, the runners gathered under the value they share."""
    holders: dict[str, list[str]] = {}
    for name, value in values.items():
        holders.setdefault(value, []).append(name)
    return "; ".join(f"{value}: {listed(names)}" for value, names in holders.items())


def times(ratio: Interval) -> str:
    """`1.31 [1.28, 1.35]`, with as many digits as the interval supports, but two at least."""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.2g} (no interval)"
    width = ratio.high - ratio.low
    digits = min(max(-floor(log10(width)), 0), 4) if width > 0 else 4
    # "2 [1, 2]" would hide on which side of 1 the interval lies.
    digits = max(digits, 1) if ratio.value < 10 else digits
    return f"{ratio.value:.{digits}f} [{ratio.low:.{digits}f}, {ratio.high:.{digits}f}]"


def sentence(text: str) -> str:
    """With one full stop; names keep their case."""
    return text.rstrip(".") + "."
