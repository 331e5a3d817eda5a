"""`samples.jsonl` as columns: one place per case, series and block."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

NONE, OK, FAILED, WRONG = 0, 1, 2, 3
_CODES: dict[object, int] = {"ok": OK, "failed": FAILED, "wrong": WRONG}
_NO_FIGURES = (np.nan, np.nan, np.nan, np.nan)
_MAX = 2**53  # JSON's largest exact integer, and well within the array's

Array = NDArray[np.float64]
Line = dict[str, object]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Arrays of shape (cases, series, blocks); the series are the plan's runners, then the canary.

    `code` says what became of an invocation: NONE, OK, FAILED or WRONG. `time` is the primary
    figure in ns per unit of work, `wall` ns of the process, `cpu` ns per unit, `rss` bytes;
    NaN = not recorded. `position` is the place in the run, -1 = none. `reasons` maps (case, series,
    block) of a bad invocation to what was said of it. `strays` counts lines that belong
    to no cell of the plan, `repeats` lines for an invocation that already had one.
    """

    code: NDArray[np.int8]
    time: Array
    wall: Array
    cpu: Array
    rss: Array
    position: NDArray[np.int64]
    reasons: dict[tuple[int, int, int], str]
    strays: int
    repeats: int
    complete: bool


def read_samples(
    lines: Iterable[object],
    *,
    run: str,
    cases: Mapping[str, tuple[bool, int]],
    runners: list[str],
    canary: str | None,
    blocks: int,
) -> Samples:
    """Columns from parsed lines; `cases` maps an id to (cold, units of work in the primary time).

    Raises ValueError when the header is of another run or of an unknown schema.
    """
    series: dict[object, int] = {name: number for number, name in enumerate(runners)}
    shape = (len(cases), len(runners) + 1, blocks)
    case_of: dict[object, tuple[int, bool, int]] = {
        name: (number, *kind) for number, (name, kind) in enumerate(cases.items())
    }
    in_range: dict[object, int] = {block: block for block in range(blocks)}
    canary_label, canary_of = ("canary", canary), len(runners)
    seen = bytearray(shape[0] * shape[1] * shape[2])
    places: list[int] = []
    codes: list[int] = []
    figures: list[tuple[float, float, float, float]] = []
    positions: list[int] = []
    reasons: dict[tuple[int, int, int], str] = {}
    strays = repeats = 0
    complete = False

    for number, parsed in enumerate(lines, start=1):
        line = cast("Line", parsed) if isinstance(parsed, dict) else {}
        if "complete" in line or "schema" in line:
            complete = complete or line.get("complete") is True
            _check_header(line, run, number)
            continue
        try:
            case, cold, units = case_of[line["case"]]
            label = line["label"]
            who = canary_of if (label, line["runner"]) == canary_label else series[label]
            block = in_range[line["block"]]
            code = _CODES[line["outcome"]]
        except (KeyError, TypeError):
            strays += 1
            continue
        place = (case * shape[1] + who) * blocks + block
        if seen[place]:
            repeats += 1
            continue
        seen[place] = 1
        places.append(place)
        codes.append(code)
        position = line.get("position")
        positions.append(position if isinstance(position, int) and 0 <= position < _MAX else -1)
        if code == OK:
            figures.append(_figures(line, cold, units))
        else:
            figures.append(_NO_FIGURES)
            reasons[case, who, block] = str(line.get("reason") or "no reason recorded")

    where = np.array(places, dtype=np.int64)
    table = np.array(figures, dtype=np.float64).reshape(-1, 4)

    def spread(values: NDArray[T], empty: T) -> NDArray[T]:
        column = np.full(len(seen), empty, dtype=values.dtype)
        column[where] = values
        return column.reshape(shape)

    time, wall, cpu, rss = (spread(table[:, i], np.float64(np.nan)) for i in range(4))
    return Samples(
        code=spread(np.array(codes, dtype=np.int8), np.int8(NONE)),
        time=time,
        wall=wall,
        cpu=cpu,
        rss=rss,
        position=spread(np.array(positions, dtype=np.int64), np.int64(-1)),
        reasons=reasons,
        strays=strays,
        repeats=repeats,
        complete=complete,
    )


def _check_header(line: Line, run: str, number: int) -> None:
    if "schema" in line and line["schema"] != 1:
        raise ValueError(
            f"samples.jsonl line {number}: schema {line['schema']!r}, this version reads 1; "
            "use the sqlitmus that wrote the run"
        )
    if line.get("run", run) != run:
        raise ValueError(
            f"samples.jsonl line {number}: belongs to run {line['run']!r}, plan.json to {run!r}; "
            "restore the two files of one run"
        )


def _figures(line: Line, cold: bool, units: int) -> tuple[float, float, float, float]:
    """Primary time, wall time, CPU, memory. What is not a number becomes -inf, which is bad."""
    wall = _number(line.get("wall_ns"))
    rss = _number(line.get("rss_bytes")) or np.nan  # hyperfine writes 0 where it cannot tell
    if cold:
        return wall, wall, _number(line.get("user_ns")) + _number(line.get("system_ns")), rss
    found = line.get("iterations_ns")
    iterations = cast("list[object]", found) if isinstance(found, list) else []
    steady = line.get("steady_ns")
    time = _number(steady) if steady is not None else _median(iterations)
    spent = line.get("cpu_ns")
    cpu = np.nan
    if isinstance(spent, dict) and iterations:
        times = cast("Line", spent)
        cpu = (_number(times.get("user")) + _number(times.get("system"))) / len(iterations)
    return time / units, wall, cpu / units, rss


def _number(value: object) -> float:
    """NaN if nothing was recorded, -inf if what was recorded is no finite number."""
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        return -np.inf
    try:
        number = float(value)
    except OverflowError:
        return -np.inf
    return number if isfinite(number) else -np.inf


def _median(iterations: list[object]) -> float:
    if not iterations:
        return np.nan
    numbers = [_number(value) for value in iterations]
    # one impossible iteration means a broken clock or file, whatever the middle one says
    return median(numbers) if all(n > 0 for n in numbers) else -np.inf
