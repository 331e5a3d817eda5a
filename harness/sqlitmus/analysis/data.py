"""A run directory as `RunData`: its samples and details as columns, read and refused."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from operator import itemgetter
from statistics import median
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.presets import Preset
from sqlitmus.results.notices import SelfTest
from sqlitmus.run import store
from sqlitmus.run.judge import Verified
from sqlitmus.run.store import (
    LEAST_NUMBER,
    MOST_EXTENDED,
    MOST_NUMBER,
    SCHEMA,
    Block,
    Look,
    RunDataError,
    rows,
)
from sqlitmus.stats.estimate import Array as distributions_Array
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.detail import Detail, Latencies
from sqlitmus.vocabulary.verdicts import CaseMetric, Scheme

PLACE = ("case", "label", "runner", "block", "take", "position", "outcome", "reason")
STEADY = "steady_ns"
_NUMBERS = {int, float, type(None)}
MAX = 2**53  # JSON's largest exact integer, and well within the array's


def column_names(
    header: dict[str, Any], run: str, number: int, metrics: Collection[str]
) -> list[str]:
    """The names of what stands in a row, the primary times of those `metrics` among them."""
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
    primary = (figure.sampled for figure in figures.FIGURES if figure.name in metrics)
    missing = [name for name in (*PLACE, STEADY, *primary) if name not in known]
    if missing:
        raise ValueError(
            f"{where}: no column {', '.join(missing)} in $.columns; restore the file's header"
        )
    return known


def as_numbers(column: Sequence[object]) -> distributions_Array:
    """The values of `_number`, at once where all are numbers or None."""
    if set(map(type, column)) <= _NUMBERS:
        with suppress(OverflowError):
            array = np.array(column, dtype=np.float64)
            if _sound(array).sum() + column.count(None) == len(column):
                return array
    return np.array([_number(value) for value in column])


def _sound(array: distributions_Array | np.float64) -> NDArray[np.bool_] | np.bool_:
    """What is 0 or of ordinary size, with which arithmetic neither overflows nor vanishes."""
    size = np.abs(array)
    return (size < MOST_NUMBER) & ((size >= LEAST_NUMBER) | (size == 0))


def _number(value: object) -> float:
    """NaN if nothing was recorded, -inf if what was recorded is no number of ordinary size."""
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        return -np.inf
    try:
        number = float(value)
    except OverflowError:
        return -np.inf
    return number if _sound(np.float64(number)) else -np.inf


# The part of the last self-test on this machine that a report shows: that of its run's scheme.


# What a self-test says of runs whose scheme it did not measure.
_NOT_OF_THIS: dict[Scheme, str] = {
    "relay": "It did not measure processes that take turns, as those of this run did.",
    "process": "It did not measure processes one after the other, as those of this run were.",
}


class Tested(BaseModel, extra="ignore", frozen=True, defer_build=True):
    """`selftest.json`: `lines` and `passed` of all schemes, then of each, and which is better.

    Before there were several schemes it had only the first three, of processes one after the other.
    """

    created: str
    lines: list[str]
    passed: bool
    schemes: "dict[str, TestedScheme]" = {}
    better: str | None = None


class TestedScheme(BaseModel, extra="ignore", frozen=True, defer_build=True):
    """What was found of one scheme."""

    lines: list[str]
    passed: bool


def of_run(tested: Tested, scheme: Scheme) -> SelfTest:
    """What the self-test says of a run that was measured in `scheme`."""
    schemes = tested.schemes or {"process": tested}
    better = list(filter(None, [tested.better]))
    if scheme not in schemes:
        lines = [*tested.lines, _NOT_OF_THIS[scheme]]
        return SelfTest(tested.created, lines, tested.passed)
    mine = schemes[scheme]
    return SelfTest(tested.created, [*mine.lines, *better], mine.passed)


# `samples.jsonl` as columns: one place per case, series and block.


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


# `details.jsonl` as columns, in the places of the samples.


Read = Callable[[Detail], float | None]


def _of(whose: Callable[[Detail], Latencies | None], name: str) -> Read:
    def read(detail: Detail) -> float | None:
        latencies = whose(detail)
        return None if latencies is None else getattr(latencies, name)

    return read


# Name → how it is read: times in ns per operation, shares of 1, numbers of one invocation.
FIGURES: dict[str, Read] = {
    "loop": lambda d: d.loop_ns / d.operations if d.operations else None,
    "average": _of(lambda d: d.latencies, "mean"),
    "p50": _of(lambda d: d.latencies, "p50"),
    "p99": _of(lambda d: d.latencies, "p99"),
    "p999": _of(lambda d: d.latencies, "p999"),
    "max": _of(lambda d: d.latencies, "max"),
    "writer p50": _of(lambda d: d.writer, "p50"),
    "writer p99": _of(lambda d: d.writer, "p99"),
    "writer p999": _of(lambda d: d.writer, "p999"),
    "busy": lambda d: d.busy,
    "writer busy": lambda d: d.writer_busy,
    "pacing": lambda d: d.pacing_p99_ns,
    "spread": lambda d: d.spread,
    "cpu": lambda d: sum(d.launch.cpus.values()) if d.launch and d.launch.cpus else None,
    "skew": lambda d: median(d.launch.skew_us) * 1e3 if d.launch and d.launch.skew_us else None,
}


Sizes = list[tuple[float, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Details:
    """What invocations told beyond their times.

    `figures` holds an array (cases × series × blocks) for each name of `FIGURES`, NaN = not
    recorded. By (case, series): `histograms` of all blocks' operations together, and `cpus`, the
    median share of each processor in use, and of each block that has them the sizes of the
    write-ahead log, `wal`, and of the process's memory, `resident`, (ms, bytes).
    """

    figures: dict[str, Array]
    histograms: dict[tuple[int, int], Counter[int]]
    cpus: dict[tuple[int, int], dict[str, float]]
    wal: dict[tuple[int, int], list[Sizes]] = field(
        default_factory=dict[tuple[int, int], list[Sizes]]
    )
    resident: dict[tuple[int, int], list[Sizes]] = field(
        default_factory=dict[tuple[int, int], list[Sizes]]
    )


@dataclass(slots=True)
class _Cell:
    buckets: Counter[int] = field(default_factory=Counter[int])
    cpus: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    wal: list[Sizes] = field(default_factory=list[Sizes])
    resident: list[Sizes] = field(default_factory=list[Sizes])


def read_details(
    details: Iterable[Detail], samples: Samples, superseded: Collection[tuple[int, int]]
) -> Details:
    """Columns; a detail belongs to the sample at its position.

    Blocks and takes that are `superseded` count for nothing, nor do details without a sample. Of
    several for one sample the last counts: a killed run leaves a detail whose sample comes later.
    """
    places = {
        int(samples.position[case, series, block]): (case, series, block)
        for case, series, block in np.argwhere(samples.position >= 0).tolist()
    }
    figures = {name: np.full(samples.position.shape, np.nan) for name in FIGURES}
    cells: dict[tuple[int, int], _Cell] = {}
    last: dict[tuple[int, int, int], Detail] = {}
    for detail in details:
        place = places.get(detail.position)
        if place is not None and (place[2], detail.take) not in superseded:
            last[place] = detail
    for place, detail in last.items():
        for name, read in FIGURES.items():
            value = read(detail)
            figures[name][place] = np.nan if value is None else value
        cell = cells.setdefault((place[0], place[1]), _Cell())
        if detail.latencies:
            cell.buckets.update(dict(detail.latencies.buckets))
        for name, share in detail.launch.cpus.items() if detail.launch else ():
            cell.cpus.setdefault(name, []).append(share)
        if detail.wal:
            cell.wal.append(detail.wal)
        if detail.resident:
            cell.resident.append(detail.resident)
    return Details(
        figures,
        {at: cell.buckets for at, cell in cells.items() if cell.buckets},
        {
            at: {name: median(shares) for name, shares in cell.cpus.items()}
            for at, cell in cells.items()
            if cell.cpus
        },
        {at: cell.wal for at, cell in cells.items() if cell.wal},
        {at: cell.resident for at, cell in cells.items() if cell.resident},
    )


def width(name: str) -> float:
    """The width of a histogram's bucket, as a log ratio, if figure `name` is read off one."""
    return 1 / 128 if name in ("p50", "p99", "p999", "max") else 0.0


# What analysis needs of a run, and how it is made from the parsed JSON of a run directory.


M = TypeVar("M", bound=BaseModel)


class Gated(Model):
    """What the gate of a comparison came to, as sentences."""

    lines: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class RunData:
    """A run directory in memory. `checks` is keyed by (case id, runner name); `presets` are by what
    weights it is decided."""

    plan: Plan
    checks: dict[tuple[str, str], Verified]
    samples: Samples
    blocks: list[Block]
    machine: dict[str, str]
    selftest: SelfTest | None = None
    truncated: bool = False
    details: Details | None = None
    gate: Sequence[str] = ()
    presets: Mapping[str, Preset] = field(default_factory=dict[str, Preset])


def from_records(
    plan: object,
    checks: Iterable[object],
    samples: Iterable[object],
    machine: Mapping[str, object],
    *,
    blocks: Iterable[object] = (),
    selftest: object = None,
    truncated: bool = False,
    details: Iterable[object] | None = None,
    gate: object = None,
    looks: Iterable[object] = (),
) -> RunData:
    """A run from the parsed `plan.json`, `verify.jsonl`, `samples.jsonl`, `machine.json` and
    `blocks.jsonl`, and `selftest.json`, `details.jsonl`, `gate.json` and `looks.jsonl` if there are
    any.

    `checks` and `samples` are iterables of parsed lines, header and footer included; `samples` is
    read once and may be a generator. A cell checked twice keeps its last check. `truncated` says
    that a last line was cut off and left out. Raises `RunDataError`.
    """
    parsed = _looked(validated(Plan, plan, "plan.json", extra="ignore"), looks)
    store.check_counts("plan.json", parsed)
    cells: dict[tuple[str, str], Verified] = {}
    for number, line in enumerate(checks, start=1):
        check = validated(Verified, line, f"verify.jsonl line {number}", extra="ignore")
        cells[check.case, check.runner] = check
    passes = [
        validated(Block, line, f"blocks.jsonl line {number}")
        for number, line in enumerate(blocks, start=1)
    ]
    repeated = {(b.block, b.take) for b in passes if b.repeated}
    try:
        columns = read_samples(
            samples,
            Cells(
                run=parsed.run,
                cases={c.id: (c.metric, parsed.units(c)) for c in parsed.cases},
                runners=[runner.name for runner in parsed.runners],
                canaries={*filter(None, [*parsed.canaries.values(), parsed.canary])},
                blocks=parsed.blocks,
                superseded=repeated,
            ),
        )
    except ValueError as error:
        raise RunDataError(str(error)) from error
    facts = {str(name): str(value) for name, value in machine.items()}
    tested = None if selftest is None else validated(Tested, selftest, "selftest.json")
    shown = tested and of_run(tested, parsed.actual_scheme())
    more = None
    if details is not None:
        told = (
            validated(Detail, line, f"details.jsonl line {number}")
            for number, line in enumerate(details, start=1)
        )
        more = read_details(told, columns, repeated)
    said = () if gate is None else validated(Gated, gate, "gate.json", extra="ignore").lines
    return RunData(parsed, cells, columns, passes, facts, shown, truncated, more, said)


def _looked(plan: Plan, looks: Iterable[object]) -> Plan:
    """The plan with the blocks that each case has: as it shared them, and as its looks left it."""
    ended, blocks, most = dict(plan.sets), plan.blocks, MOST_EXTENDED * plan.blocks
    for number, line in enumerate(looks, start=1):
        look = validated(Look, line, f"looks.jsonl line {number}")
        if look.until > most:
            raise RunDataError(f"looks.jsonl line {number}: $.until: more than {most} blocks")
        ended |= {case: look.blocks for case in look.settled if case not in ended}
        blocks = look.until
    return plan.model_copy(update={"ended": ended, "blocks": blocks})


def validated(
    model: type[M], value: object, where: str, extra: Literal["ignore"] | None = None
) -> M:
    """`value` as a model; raises RunDataError with the JSON path below `where`.

    `extra` ignores unknown keys even where the model refuses them: the store may write more than
    analysis reads.
    """
    try:
        return model.model_validate(value, extra=extra)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
        raise RunDataError(f"{where}: {path}: {first['msg']}") from error
