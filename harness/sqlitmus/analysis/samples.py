"""`samples.jsonl` as columns: one place per case, series and block."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sqlitmus.run.store import SCHEMA

NONE, OK, FAILED, WRONG = 0, 1, 2, 3
_CODES: dict[object, int] = {"ok": OK, "failed": FAILED, "wrong": WRONG}
_FIGURES = ("wall_ns", "user_ns", "system_ns", "rss_bytes", "steady_ns", "steady_cpu_ns")
_PLACE = ("case", "label", "runner", "block", "take", "position", "outcome", "reason")
_INTEGERS = {int}
_NUMBERS = {int, float, type(None)}
_MAX = 2**53  # JSON's largest exact integer, and well within the array's
_CHUNK = 1024
_FEW = 64

Array = NDArray[np.float64]
Row = list[Any]


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
    canaries: Collection[str]
    blocks: int
    superseded: Collection[tuple[int, int]] = ()

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cases, series, blocks."""
        return len(self.cases), len(self.runners) + 1, self.blocks


def read_samples(lines: Iterable[object], cells: Cells) -> Samples:
    """Columns from parsed lines: a header, a row per invocation, a footer if the run is complete.

    Raises ValueError when the header is of another run or of an unknown schema, and when there are
    rows without one.
    """
    reader = _Reader(cells)
    remaining = iter(lines)
    number = 1
    while chunk := list(islice(remaining, _CHUNK)):
        reader.take(chunk, number)
        number += len(chunk)
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
        self._series |= {("canary", name): len(cells.runners) for name in cells.canaries}
        self._code = np.full(places, NONE, dtype=np.int8)
        self._position = np.full(places, -1, dtype=np.int64)
        self._figures = np.full((len(_FIGURES), places), np.nan)
        self._reasons: dict[tuple[int, int, int], str] = {}
        self._strays = self._repeats = 0
        self._complete = False
        self._width = 0
        self._place: list[int] = []  # where in a row the values of `_PLACE` stand
        self._at: list[int] = []  # the same of `_FIGURES`

    def take(self, lines: list[Any], first: int) -> None:
        """A column at a time where the lines are as they should be, one by one near one that is
        not, such as the header and the footer.

        `first` is the number of the first line.
        """
        if self._whole(lines):
            return
        if len(lines) <= _FEW:
            for number, line in enumerate(lines, start=first):
                self._single(number, line)
            return
        half = len(lines) // 2
        self.take(lines[:half], first)
        self.take(lines[half:], first + half)

    def _whole(self, rows: list[Row]) -> bool:
        """Take all of `rows`, or nothing of them and say so."""
        try:
            columns = list(zip(*rows, strict=True))
            if len(columns) != self._width:
                return False
            cases, labels, runners, blocks, takes, positions, outcomes, _ = (
                columns[at] for at in self._place
            )
            case = np.array([self._case[name] for name in cases])
            series = np.array([self._series[pair] for pair in zip(labels, runners, strict=True)])
            block, take, position = (_array(c, _INTEGERS) for c in (blocks, takes, positions))
            figures = np.array([_array(columns[at], _NUMBERS) for at in self._at])
        except (KeyError, TypeError, ValueError, OverflowError):
            return False
        sound = (block >= 0) & (block < self._cells.blocks) & (position >= 0) & (position < _MAX)
        if outcomes.count("ok") < len(rows) or not sound.all() or np.isinf(figures).any():
            return False
        place = (case * self._cells.shape[1] + series) * self._cells.blocks + block.astype(np.int64)
        if self._cells.superseded:
            gone = np.zeros(len(place), dtype=np.bool_)
            for of_block, of_take in self._cells.superseded:
                gone |= (block == of_block) & (take == of_take)
            place, position, figures = place[~gone], position[~gone], figures[:, ~gone]
        ordered = np.sort(place)
        if self._code[place].any() or (ordered[1:] == ordered[:-1]).any():
            return False
        self._code[place] = OK
        self._position[place] = position.astype(np.int64)
        self._figures[:, place] = figures
        return True

    def _single(self, number: int, line: object) -> None:
        if isinstance(line, dict):
            self._edge(number, cast("dict[str, Any]", line))
            return
        if not self._width:
            raise ValueError(
                f"samples.jsonl line {number}: stands before the header, which names the columns; "
                "restore the file's first line"
            )
        row = cast("Row", line) if isinstance(line, list) else []
        if len(row) != self._width:
            self._strays += 1
            return
        name, label, runner, block, take, position, outcome, reason = (row[n] for n in self._place)
        # a cell that was given up is not in the next take
        if outcome not in ("failed", "wrong") and self._superseded(block, take):
            return
        try:
            case, code, who = self._case[name], _CODES[outcome], self._series[label, runner]
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
        if type(position) is int and 0 <= position < _MAX:
            self._position[place] = position
        if code == OK:
            self._figures[:, place] = [_number(row[at]) for at in self._at]
        else:
            self._reasons[case, who, block] = str(reason or "no reason recorded")

    def _superseded(self, block: object, take: object) -> bool:
        return any((block, take) == gone for gone in self._cells.superseded)

    def _edge(self, number: int, line: dict[str, Any]) -> None:
        """The header or the footer."""
        if "schema" in line:
            columns = _columns(line, self._cells.run, number)
            self._width = len(columns)
            self._place = [columns.index(name) for name in _PLACE]
            self._at = [columns.index(name) for name in _FIGURES]
        elif "complete" in line:
            self._complete = self._complete or line["complete"] is True
        else:
            self._strays += 1

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


def _array(values: Sequence[Any], types: set[type]) -> Array:
    """Numbers as an array; None becomes NaN.

    Raises TypeError for a value of another type, since numpy would take a number in quotes, and
    ValueError for a NaN, which must not pass as a value that was not recorded.
    """
    found = set(map(type, values))
    if not found <= types:
        raise TypeError
    array = np.array(values, dtype=np.float64)
    if found != {int} and np.isnan(array).sum() != values.count(None):
        raise ValueError
    return array


def _columns(header: dict[str, Any], run: str, number: int) -> list[str]:
    """The names of what stands in a row."""
    where = f"samples.jsonl line {number}"
    if header["schema"] != SCHEMA:
        raise ValueError(
            f"{where}: schema {header['schema']!r}, this version reads {SCHEMA}; use the sqlitmus "
            "that wrote the run"
        )
    if header.get("run") != run:
        raise ValueError(
            f"{where}: belongs to run {header.get('run')!r}, plan.json to {run!r}; restore the two "
            "files of one run"
        )
    columns = header.get("columns")
    known = cast("list[str]", columns) if isinstance(columns, list) else []
    missing = [name for name in (*_PLACE, *_FIGURES) if name not in known]
    if missing:
        raise ValueError(
            f"{where}: no column {', '.join(missing)} in $.columns; restore the file's header"
        )
    return known


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
