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


def problems(published: float, words: str, *, saves: bool = False) -> Iterator[str]:
    """What is wrong with a published figure and the words that it was taken from: a ratio, base /
    new, or what the new cell `saves`, base - new in ms."""
    if not words.strip():
        yield "a published figure needs `said`: the publication's own figures, with their unit"
    elif re.search(r"\d", words) and not _HAS_UNIT.search(words):
        yield f"said = {words!r}: a figure without a unit; add ms, %, times, rows/s …"
    elif saves:
        saved = _saved_ms(words)
        if saved and _apart(published, saved) > ROUNDING:
            yield f"published = {published:g}, but {words!r} saves {saved:.4g} ms; correct one"
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
        if times := _seconds(two):
            first, second = times
        elif two["first"] in (None, two["second"]):
            first, second = _value(two[1]), _value(two[3])
        else:
            return None
        return first / second if first and second else None
    if percent := _PERCENT.match(words):
        return 1 + (1 if percent["sign"] == "+" else -1) * float(percent[2]) / 100
    times = _TIMES.match(words)
    return _value(times[1]) if times else None


def _saved_ms(words: str) -> float | None:
    """By how much the two times differ that the words begin with; None where they do not."""
    two = _TWO.match(words)
    times = _seconds(two) if two else None
    return abs(times[0] - times[1]) * 1e3 if times else None


def _seconds(two: re.Match[str]) -> tuple[float, float] | None:
    """Both figures in seconds, if they are times."""
    units = two["first"] or two["second"], two["second"]
    if not all(unit in _SECONDS for unit in units):
        return None
    return _value(two[1]) * _SECONDS[units[0]], _value(two[3]) * _SECONDS[units[1]]


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _apart(ratio: float, other: float) -> float:
    return abs(ratio / other - 1)
