"""Numbers as text: rounded to what their interval supports, with units. The page's script mirrors
this module.

All times are nanoseconds. A number never shows more digits than its 95 % interval allows, nor more
than four significant ones; the exact value stays in the data behind the page.
"""

from decimal import ROUND_HALF_UP, Context, Decimal
from math import floor, isfinite, log10

from sqlitmus.results.ranking import Interval
from sqlitmus.vocabulary.figures import Unit

THIN = "\u202f"
MINUS = "\u2212"
EXACT = Context(prec=400, rounding=ROUND_HALF_UP)  # a float has 309 digits before the point
# Largest first.
Units = tuple[tuple[str, float], ...]
UNITS: Units = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
RATES: Units = (("G/s", 1e9), ("M/s", 1e6), ("k/s", 1e3), ("/s", 1.0))
SIZES: Units = (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0))
# 0.9995 of a unit would print as 1000 of the smaller one.
NEARLY = 0.9995
MAX_DIGITS = 4
MIN_DIGITS = 2
PLAIN_DIGITS = 3


def decimals(value: float, low: float | None, high: float | None) -> int:
    """Digits after the point: down to the first significant digit of the interval's half-width."""
    lead = _lead(value)
    if lead is None:
        return 0
    if low is None or high is None or not high > low:
        places = PLAIN_DIGITS - 1 - lead
    else:
        places = -floor(log10((high - low) / 2))
        places = max(min(places, MAX_DIGITS - 1 - lead), MIN_DIGITS - 1 - lead)
    return max(0, places)


def fixed(value: float, places: int) -> str:
    """`value` with `places` decimals and a true minus sign; never "-0".

    A tie is rounded away from 0, as JavaScript's `toFixed` does.
    """
    text = f"{EXACT.quantize(Decimal(value), Decimal(1).scaleb(-places)):f}"
    if not text.startswith("-"):
        return text
    return MINUS + text[1:] if text.strip("-0.") else text[1:]


def _end(value: float, places: int) -> str:
    """An end of an interval: fewer decimals where it has more digits than that."""
    lead = _lead(value)
    return fixed(value, places if lead is None else max(0, min(places, MAX_DIGITS - 1 - lead)))


def _lead(value: float) -> int | None:
    """The power of ten of the first digit; None for 0 and for what is not finite."""
    return floor(log10(abs(value))) if value and isfinite(value) else None


def unit_of(value: float, units: Units) -> tuple[str, float]:
    """The largest unit in which `value` is at least 1 (the smallest one for less)."""
    size = abs(value)
    for unit in units:
        if size >= unit[1] * NEARLY:
            return unit
    return units[-1]


def rounded(value: float, low: float | None, high: float | None) -> tuple[str, str]:
    """A number, and its bounds as "[low, high]" or "" where there are none."""
    places = decimals(value, low, high)
    if low is None or high is None:
        return fixed(value, places), ""
    return fixed(value, places), f"[{_end(low, places)}, {_end(high, places)}]"


def scaled(interval: Interval, units: Units) -> tuple[str, str]:
    """A number with its unit, and bounds in the same."""
    unit, scale = unit_of(interval.value, units)
    low, high = (end if end is None else end / scale for end in (interval.low, interval.high))
    number, bounds = rounded(interval.value / scale, low, high)
    return f"{number}{THIN}{unit}", bounds


def time(interval: Interval) -> tuple[str, str]:
    """A time in ns as `("812 ns", "[803, 821]")`."""
    return scaled(interval, UNITS)


def difference(interval: Interval, units: Units = UNITS) -> tuple[str, str]:
    """One of times, or in other `units`, with its sign."""
    text, bounds = scaled(interval, units)
    return (text if interval.value < 0 else f"+{text}"), bounds


def duration(ns: float | None) -> str:
    """A time in ns without an interval; "unknown" for None."""
    return "unknown" if ns is None else time(Interval(ns, None, None))[0]


def rate(interval: Interval) -> tuple[str, str]:
    """Operations per second as `("1.23 M/s", "[1.21, 1.25]")`."""
    return scaled(interval, RATES)


def ratio(interval: Interval) -> tuple[str, str]:
    """A ratio of times as `("0.76×", "[0.74, 0.79]")`."""
    number, bounds = rounded(interval.value, interval.low, interval.high)
    return f"{number}×", bounds


def change(ratio: Interval) -> tuple[str, str]:
    """A ratio as the difference in percent that it is, `("+4.2 %", "[+3.1, +5.3]")`, with no more
    digits than its interval supports."""
    value, low, high = (
        None if end is None else (end - 1) * 100 for end in (ratio.value, ratio.low, ratio.high)
    )
    assert value is not None
    if low is None or high is None:
        return f"{signed(value, decimals(value, None, None))} %", ""
    places = min(max(-floor(log10((high - low) / 2)), 0), 3) if high > low else 3
    bounds = f"[{signed(low, places)}, {signed(high, places)}]"
    return f"{signed(value, places)} %", bounds


def percent(share: float) -> str:
    """A share as `5.7 %`."""
    return f"{100 * share:.1f} %"


def signed(value: float, places: int) -> str:
    """`value` with `places` decimals and its sign; what rounds to 0 has none."""
    text = fixed(value, places)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def size(number: float | None) -> str:
    """Bytes in binary units; "unknown" for None."""
    if number is None:
        return "unknown"
    unit, scale = next((each for each in SIZES if abs(number) >= each[1]), SIZES[-1])
    return f"{count(number / scale)}{THIN}{unit}"


def rate_label(value: float) -> str:
    """A tick of a rate axis: "200 k", "1.5 M"."""
    unit, scale = unit_of(value, RATES)
    return f"{value / scale:.3g}{THIN}{unit.removesuffix('/s')}".rstrip(THIN)


def count(value: float) -> str:
    """How often something happened; an average need not be whole."""
    return rounded(value, None, None)[0]


def share(value: float) -> str:
    """A share in percent, with as many digits as a count."""
    return f"{count(100 * value)} %"


def figure(value: float, unit: Unit) -> str:
    """A figure as text, in its unit."""
    return {"ns": duration, "bytes": size, "count": count, "share": share}[unit](value)
