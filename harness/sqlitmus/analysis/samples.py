"""`samples.jsonl` as columns: one place per case, series and block."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from operator import itemgetter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sqlitmus.analysis.columns import MAX, PLACE, STEADY, as_numbers, column_names
from sqlitmus.run.lines import rows
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.terms import CaseMetric

NONE, OK, FAILED, WRONG = 0, 1, 2, 3
_CODES: dict[object, int] = {"ok": OK, "failed": FAILED, "wrong": WRONG}

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Arrays of shape (cases, series, blocks); the series are the plan's runners, then the canary.

    `code` says what became of an invocation: NONE, OK, FAILED or WRONG. `time` is the primary time
    in ns per unit of work, `figures` the others by name, per unit of work or per process;
    NaN = not recorded. `position` is the place in the run, -1 = none. `reasons` maps (case, series,
    block) of a bad invocation to what was said of it. `strays` counts lines that belong
    to no cell of the plan, `repeats` lines for an invocation that already had one.
    """

    code: NDArray[np.int8]
    time: Array
    figures: dict[str, Array]
    position: NDArray[np.int64]
    reasons: dict[tuple[int, int, int], str]
    strays: int
    repeats: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Cells:
    """Where a line belongs.

    `cases` maps an id to its metric and the units of work in the primary time of each series. Lines
    of blocks and takes that are `superseded` count for nothing.
    """

    run: str
    cases: Mapping[str, tuple[CaseMetric, list[int]]]
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

    A figure without a column is one that the run does not know. Raises ValueError when the header
    is of another run or of an unknown schema, and when there are rows without one.
    """
    reader = _Reader(cells)
    for number, line in enumerate(lines, start=1):
        if isinstance(line, dict):
            reader.edge(number, cast("dict[str, Any]", line))
        else:
            for row in rows(cast("list[Any]", line) if isinstance(line, list) else []):
                reader.row(number, row)
    return reader.samples()


class _Reader:
    """Lines into flat arrays over places, a place being a case, a series and a block."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._shape = cells.shape
        places = prod(self._shape)
        self._case: dict[object, int] = {name: n for n, name in enumerate(cells.cases)}
        self._series: dict[object, int] = {
            (name, name): number for number, name in enumerate(cells.runners)
        }
        self._series |= {("canary", name): len(cells.runners) for name in cells.canaries}
        self._superseded = set(cells.superseded)
        self._code = [NONE] * places
        self._position = [-1] * places
        self._places: list[int] = []  # those of good invocations, and what these measured
        self._measured: list[tuple[Any, ...]] = []
        self._reasons: dict[tuple[int, int, int], str] = {}
        self._strays = self._repeats = 0
        self._complete = False
        self._width = 0
        self._columns: list[str] = []  # the measured ones that a row has
        # picked out of a row: the values of `PLACE`, and those of `columns`
        self._place: Callable[[list[Any]], tuple[Any, ...]] = tuple
        self._figures: Callable[[list[Any]], tuple[Any, ...]] = tuple

    def edge(self, number: int, line: dict[str, Any]) -> None:
        """The header or the footer."""
        if "schema" in line:
            metrics = {metric for metric, _ in self._cells.cases.values()}
            columns = column_names(line, self._cells.run, number, metrics)
            self._width = len(columns)
            measured = (STEADY, *(figure.sampled for figure in figures.FIGURES))
            self._columns = [name for name in measured if name in columns]
            self._place = itemgetter(*map(columns.index, PLACE))
            self._figures = itemgetter(*map(columns.index, self._columns))
        elif "complete" in line:
            self._complete = self._complete or line["complete"] is True
        else:
            self._strays += 1

    def row(self, number: int, row: list[Any]) -> None:
        """An invocation, or what stands in its place."""
        if not self._width:
            raise ValueError(
                f"samples.jsonl line {number}: stands before the header, which names the columns; "
                "restore the file's first line"
            )
        if len(row) != self._width:
            self._strays += 1
            return
        name, label, runner, block, take, position, outcome, reason = self._place(row)
        try:
            # a cell that was given up is not in the next take
            if outcome not in ("failed", "wrong") and (block, take) in self._superseded:
                return
            case, code, who = self._case[name], _CODES[outcome], self._series[label, runner]
        except (KeyError, TypeError):
            self._strays += 1
            return
        if type(block) is not int or not 0 <= block < self._shape[2]:
            self._strays += 1
            return
        place = (case * self._shape[1] + who) * self._shape[2] + block
        if self._code[place]:
            self._repeats += 1
            return
        self._code[place] = code
        if type(position) is int and 0 <= position < MAX:
            self._position[place] = position
        if code == OK:
            self._places.append(place)
            self._measured.append(self._figures(row))
        else:
            self._reasons[case, who, block] = str(reason or "no reason recorded")

    def samples(self) -> Samples:
        """The arrays, with the primary time of each case's metric."""
        shape = self._shape
        metrics = np.array([metric for metric, _ in self._cells.cases.values()], dtype=np.str_)
        metrics = metrics.reshape(-1, 1, 1)
        units = np.array([units for _, units in self._cells.cases.values()], dtype=np.float64)
        units = units.reshape(*shape[:2], 1)
        columns = dict(zip(self._columns, zip(*self._measured, strict=True), strict=False))
        time = self._array(columns.get(STEADY)) / units
        by_name: dict[str, Array] = {}
        for figure in figures.FIGURES:
            values = self._array(columns.get(figure.sampled))
            if figure.zero == "unknown":
                values = np.where(values == 0, np.nan, values)
            by_name[figure.name] = values / units if figure.per_unit else values
            time = np.where(metrics == figure.name, values, time)
        return Samples(
            code=np.array(self._code, dtype=np.int8).reshape(shape),
            time=time,
            figures=by_name,
            position=np.array(self._position, dtype=np.int64).reshape(shape),
            reasons=self._reasons,
            strays=self._strays,
            repeats=self._repeats,
            complete=self._complete,
        )

    def _array(self, column: Sequence[object] | None) -> Array:
        """What good invocations measured, in the places of the samples; None: not recorded."""
        whole = np.full(len(self._code), np.nan)
        if column is not None:
            whole[self._places] = as_numbers(column)
        return whole.reshape(self._shape)
