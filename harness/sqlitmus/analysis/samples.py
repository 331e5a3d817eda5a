"""`samples.jsonl` as columns: one place per case, series and block."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import isfinite
from operator import itemgetter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

NONE, OK, FAILED, WRONG = 0, 1, 2, 3
_CODES: dict[object, int] = {"ok": OK, "failed": FAILED, "wrong": WRONG}
_FIGURES = ("wall_ns", "user_ns", "system_ns", "rss_bytes", "steady_ns", "steady_cpu_ns")
_GET_FIGURES = itemgetter(*_FIGURES)
_PLACE = itemgetter("case", "label", "runner", "block", "position", "outcome")
_NUMBERS = {int, float, type(None)}
_MAX = 2**53  # JSON's largest exact integer, and well within the array's
_CHUNK = 4096
_SCHEMA = 2

Array = NDArray[np.float64]
Line = dict[str, Any]


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


@dataclass(frozen=True, slots=True)
class Cells:
    """Where a line belongs.

    `cases` maps an id to (cold, units of work in the primary time of each series). Lines of blocks
    and takes that are `superseded` count for nothing.
    """

    run: str
    cases: Mapping[str, tuple[bool, list[int]]]
    runners: list[str]
    canary: str | None
    blocks: int
    superseded: Collection[tuple[int, int]] = ()

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cases, series, blocks."""
        return len(self.cases), len(self.runners) + 1, self.blocks


def read_samples(lines: Iterable[object], cells: Cells) -> Samples:
    """Columns from parsed lines.

    Raises ValueError when the header is of another run or of an unknown schema.
    """
    reader = _Reader(cells)
    remaining = iter(enumerate(lines, start=1))
    reader.take(list(islice(remaining, 1)))  # the header, unlike all that follow
    while chunk := list(islice(remaining, _CHUNK)):
        reader.take(chunk)
    return reader.samples()


class _Reader:
    """Chunks of lines into flat arrays over places, a place being a case, a series and a block."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        places = cells.shape[0] * cells.shape[1] * cells.shape[2]
        self._case: dict[object, int] = {name: n for n, name in enumerate(cells.cases)}
        self._series: dict[object, int] = {
            (name, name): number for number, name in enumerate(cells.runners)
        }
        if cells.canary is not None:
            self._series["canary", cells.canary] = len(cells.runners)
        self._code = np.full(places, NONE, dtype=np.int8)
        self._position = np.full(places, -1, dtype=np.int64)
        self._figures = np.full((len(_FIGURES), places), np.nan)
        self._reasons: dict[tuple[int, int, int], str] = {}
        self._strays = self._repeats = 0
        self._complete = False

    def take(self, chunk: list[tuple[int, object]]) -> None:
        """A column at a time where the lines are as they should be, else line by line."""
        if self._cells.superseded:
            chunk = [(number, line) for number, line in chunk if not self._superseded(line)]
        if not chunk:
            return
        if not self._whole([line for _, line in chunk]):
            for number, line in chunk:
                self._single(number, line)

    def _superseded(self, line: object) -> bool:
        if not isinstance(line, dict):
            return False
        where = cast("Line", line)
        if where.get("outcome") in ("failed", "wrong"):
            return False  # the cell was given up, so that the next take does not hold it
        block, take = where.get("block"), where.get("take")
        return any((block, take) == gone for gone in self._cells.superseded)

    def _whole(self, lines: list[Any]) -> bool:
        """Take all of `lines`, or nothing of them and say so."""
        try:
            cases, labels, runners, blocks, positions, outcomes = zip(
                *map(_PLACE, lines), strict=True
            )
            case = np.array([self._case[name] for name in cases], dtype=np.int64)
            series = np.array(
                [self._series[pair] for pair in zip(labels, runners, strict=True)], dtype=np.int64
            )
            block, position = _table(blocks, {int}), _table(positions, {int})
            figures = _table(list(map(_GET_FIGURES, lines)), _NUMBERS).T
        except (KeyError, TypeError, ValueError, OverflowError):
            return False
        place = (case * self._cells.shape[1] + series) * self._cells.blocks + block
        sound = (block >= 0) & (block < self._cells.blocks) & (position >= 0) & (position < _MAX)
        if set(outcomes) != {"ok"} or not sound.all() or np.isinf(figures).any():
            return False
        at = place.astype(np.int64)
        if self._code[at].any() or len(np.unique(at)) < len(at):
            return False
        self._code[at] = OK
        self._position[at] = position.astype(np.int64)
        self._figures[:, at] = figures
        return True

    def _single(self, number: int, parsed: object) -> None:
        line = cast("Line", parsed) if isinstance(parsed, dict) else {}
        if "complete" in line or "schema" in line:
            self._complete = self._complete or line.get("complete") is True
            _check_header(line, self._cells.run, number)
            return
        try:
            case, code = self._case[line["case"]], _CODES[line["outcome"]]
            who, block = self._series[line["label"], line["runner"]], line["block"]
        except (KeyError, TypeError):
            self._strays += 1
            return
        if type(block) is not int or not 0 <= block < self._cells.blocks:
            self._strays += 1
            return
        place = (case * self._cells.shape[1] + who) * self._cells.blocks + block
        if self._code[place]:
            self._repeats += 1
            return
        self._code[place] = code
        position = line.get("position")
        if type(position) is int and 0 <= position < _MAX:
            self._position[place] = position
        if code == OK:
            self._figures[:, place] = [_number(line.get(key)) for key in _FIGURES]
        else:
            self._reasons[case, who, block] = str(line.get("reason") or "no reason recorded")

    def samples(self) -> Samples:
        """The arrays, with the primary time and CPU of each case's metric."""
        shape = self._cells.shape
        wall, user, system, rss, steady, cpu = self._figures.reshape(len(_FIGURES), *shape)
        kinds = list(self._cells.cases.values())
        cold = np.array([kind[0] for kind in kinds], dtype=bool).reshape(-1, 1, 1)
        units = np.array([kind[1] for kind in kinds], dtype=np.float64).reshape(*shape[:2], 1)
        return Samples(
            code=self._code.reshape(shape),
            time=np.where(cold, wall, steady / units),
            wall=wall,
            cpu=np.where(cold, user + system, cpu / units),
            # hyperfine writes 0 where it cannot tell
            rss=np.where(rss == 0, np.nan, rss),
            position=self._position.reshape(shape),
            reasons=self._reasons,
            strays=self._strays,
            repeats=self._repeats,
            complete=self._complete,
        )


def _table(values: Sequence[Any], types: set[type]) -> Array:
    """Numbers, or rows of numbers, as an array; None becomes NaN.

    Raises TypeError for a value of another type, since numpy would take a number in quotes, and
    ValueError for a NaN, which must not pass as a value that was not recorded.
    """
    flat = list(chain.from_iterable(values)) if isinstance(values[0], tuple) else values
    if not set(map(type, flat)) <= types:
        raise TypeError
    table = np.array(values, dtype=np.float64)
    if np.isnan(table).sum() != flat.count(None):
        raise ValueError
    return table


def _check_header(line: Line, run: str, number: int) -> None:
    if "schema" in line and line["schema"] != _SCHEMA:
        raise ValueError(
            f"samples.jsonl line {number}: schema {line['schema']!r}, this version reads "
            f"{_SCHEMA}; use the sqlitmus that wrote the run"
        )
    if line.get("run", run) != run:
        raise ValueError(
            f"samples.jsonl line {number}: belongs to run {line['run']!r}, plan.json to {run!r}; "
            "restore the two files of one run"
        )


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
