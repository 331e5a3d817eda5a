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
UNITS: tuple[tuple[str, float], ...] = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
RATES: tuple[tuple[str, float], ...] = (("G/s", 1e9), ("M/s", 1e6), ("k/s", 1e3), ("/s", 1.0))
SIZES: tuple[tuple[str, float], ...] = (
    ("GiB", 2.0**30),
    ("MiB", 2.0**20),
    ("KiB", 2.0**10),
    ("B", 1.0),
)
# 0.9995 of a unit would print as 1000 of the smaller one.
NEARLY = 0.9995
MAX_DIGITS = 4
MIN_DIGITS = 2
PLAIN_DIGITS = 3
KIBI = 1024.0


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


def bounded(low: float, high: float, places: int) -> str:
    """ "[low, high]" with `places` decimals, fewer where an end has more digits than that."""
    return f"[{_end(low, places)}, {_end(high, places)}]"


def _end(value: float, places: int) -> str:
    lead = _lead(value)
    return fixed(value, places if lead is None else max(0, min(places, MAX_DIGITS - 1 - lead)))


def _lead(value: float) -> int | None:
    """The power of ten of the first digit; None for 0 and for what is not finite."""
    return floor(log10(abs(value))) if value and isfinite(value) else None


def unit_of(value: float, units: tuple[tuple[str, float], ...]) -> tuple[str, float]:
    """The largest unit in which `value` is at least 1 (the smallest one for less)."""
    size = abs(value)
    for unit in units:
        if size >= unit[1] * NEARLY:
            return unit
    return units[-1]


def scaled(interval: Interval, units: tuple[tuple[str, float], ...]) -> tuple[str, str, str]:
    """`(number, bounds, unit)`; bounds are "[low, high]" or "" when there are none."""
    unit, scale = unit_of(interval.value, units)
    value, low, high = interval.value / scale, interval.low, interval.high
    if low is None or high is None:
        return fixed(value, decimals(value, None, None)), "", unit
    low, high = low / scale, high / scale
    places = decimals(value, low, high)
    return fixed(value, places), bounded(low, high, places), unit


def time(interval: Interval) -> tuple[str, str]:
    """A time in ns as `("812 ns", "[803, 821]")`."""
    number, bounds, unit = scaled(interval, UNITS)
    return f"{number}{THIN}{unit}", bounds


def signed_time(interval: Interval) -> tuple[str, str]:
    """A difference of times, with its sign."""
    text, bounds = time(interval)
    return (text if interval.value < 0 else f"+{text}"), bounds


def duration(ns: float | None) -> str:
    """A time in ns without an interval; "unknown" for None."""
    if ns is None:
        return "unknown"
    unit, scale = unit_of(ns, UNITS)
    return f"{fixed(ns / scale, decimals(ns / scale, None, None))}{THIN}{unit}"


def rate(interval: Interval) -> tuple[str, str]:
    """Operations per second as `("1.23 M/s", "[1.21, 1.25]")`."""
    number, bounds, unit = scaled(interval, RATES)
    return f"{number}{THIN}{unit}", bounds


def ratio(interval: Interval) -> tuple[str, str]:
    """A ratio of times as `("0.76×", "[0.74, 0.79]")`."""
    value, low, high = interval.value, interval.low, interval.high
    places = decimals(value, low, high)
    if low is None or high is None:
        return f"{fixed(value, places)}×", ""
    return f"{fixed(value, places)}×", bounded(low, high, places)


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


def size(count: float | None) -> str:
    """Bytes in binary units; "unknown" for None."""
    if count is None:
        return "unknown"
    value = count
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < KIBI or unit == "GiB":
            return f"{fixed(value, decimals(value, None, None))}{THIN}{unit}"
        value /= KIBI
    raise AssertionError


def growth(interval: Interval) -> tuple[str, str]:
    """More bytes, with their sign."""
    number, bounds, unit = scaled(interval, SIZES)
    return f"{'' if interval.value < 0 else '+'}{number}{THIN}{unit}", bounds


def rate_label(value: float) -> str:
    """A tick of a rate axis: "200 k", "1.5 M"."""
    unit, scale = unit_of(value, RATES)
    return f"{value / scale:.3g}{THIN}{unit.removesuffix('/s')}".rstrip(THIN)


def count(value: float) -> str:
    """How often something happened; an average need not be whole."""
    return fixed(value, decimals(value, None, None))


def share(value: float) -> str:
    """A share in percent, with as many digits as a count."""
    return f"{count(100 * value)} %"


def figure(value: float, unit: Unit) -> str:
    """A figure as text, in its unit."""
    return {"ns": duration, "bytes": size, "count": count, "share": share}[unit](value)
