"""What a row of a claim says was published, held against the ratio that it gives. Pure."""

import re
from collections.abc import Iterator

# How far the ratio of two rounded figures may lie from the ratio that a row gives.
ROUNDING = 0.015

_SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_UNIT = r"[\w ]*/s|TPS|ns|[µμu]s|ms|s|min|h|%|×|x|times|[KMG]?i?B|bytes|cycles"
_NUMBER = r"(\d[\d,]*(?:\.\d+)?)(?:\s*±\s*[\d.,]+)?"
_HAS_UNIT = re.compile(rf"\d\s*(?:{_UNIT})(?!\w)")
_TWO = re.compile(
    rf"{_NUMBER}\s*(?P<first>{_UNIT})?\s+against\s+{_NUMBER}\s*(?P<second>{_UNIT})(?!\w)"
)
_PERCENT = re.compile(r"(?P<sign>[+−-])\s*(\d+(?:\.\d+)?)\s*%")
_TIMES = re.compile(rf"{_NUMBER}\s*(?:times|×|x)(?!\w)")


def problems(published: float, words: str) -> Iterator[str]:
    """What is wrong with a published ratio (base / new) and the words that it was taken from."""
    if not words.strip():
        yield "a published ratio needs `said`: the publication's own figures, with their unit"
    elif re.search(r"\d", words) and not _HAS_UNIT.search(words):
        yield f"said = {words!r}: a figure without a unit; add ms, %, times, rows/s …"
    else:
        ratio = _ratio(words)
        if ratio and min(_apart(published, ratio), _apart(published, 1 / ratio)) > ROUNDING:
            yield (
                f"published = {published:g}, but {words!r} gives {ratio:.4g} or {1 / ratio:.4g}; "
                "correct one of them"
            )


def _ratio(words: str) -> float | None:
    """The ratio that the words state; None where they do not begin with one, or with two figures
    of which there is one."""
    if two := _TWO.match(words):
        first, second = _value(two[1]), _value(two[3])
        units = two["first"] or two["second"], two["second"]
        if all(unit in _SECONDS for unit in units):
            first, second = first * _SECONDS[units[0]], second * _SECONDS[units[1]]
        elif units[0] != units[1]:
            return None
        return first / second if first and second else None
    if percent := _PERCENT.match(words):
        return 1 + (1 if percent["sign"] == "+" else -1) * float(percent[2]) / 100
    times = _TIMES.match(words)
    return _value(times[1]) if times else None


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _apart(ratio: float, other: float) -> float:
    return abs(ratio / other - 1)
