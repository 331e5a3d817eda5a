"""sqlitmus and its peers on the same three questions, in one sitting: bias, spread, time.

`./just bench-peers [--questions A,B] [--tools A,B] [--repetitions N | --quick] [-- OPTION…]`. Every
tool measures better-sqlite3 ÷ node:sqlite N times as `peer_tools.py` says; within a repetition all
come in random order. Options after `--` are added to those of `./just run`. The columns, with r the
ratios of the repetitions:

- `ratio`: geometric mean of r.
- `bias`: geometric mean of r over the plain totals of the same repetition, less 1, with Student's
  95 % interval; of the plain totals their own interval. `OUTSIDE` lies wholly beyond 3 %.
- `sd`: standard deviation of ln r.
- `s`, `CPU s`: mean wall time of a repetition, and CPU time of all processes that it started.
- `s to ±2 %`: `s` times the least n with 1.96 sd/√n ≤ 2 %, as if repetitions were averaged.
- `covers`: in how many repetitions the interval that the tool prints contains the truth, which is
  the geometric mean of all plain totals.
- `sqlitmus`: it `loses` to what is not OUTSIDE and comes to ±2 % sooner, and `wins` against others.

`--plant mitata` or `tinybench` shows that this can fail: there better-sqlite3 is slower by a fifth,
and the bias must say so. Exit 1 when sqlitmus is OUTSIDE, else 4 when a tool failed.
"""

import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, exp, isnan, log, nan
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Literal

import typer
from pydantic_core import to_json

from benchmarks.agreement import LIMIT, Bounds, estimate
from benchmarks.peer_tools import DRIVERS, TOOLS, Effort, Figure, Setting
from benchmarks.plain_programs import Programs, Task
from benchmarks.truth import known
from sqlitmus.catalog import definitions, runners
from sqlitmus.run.processes.launch import unsupported
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, NotFit, SqlitmusError

# A case, and the operations that take its plain programs a quarter of a second or so.
QUESTIONS = {"get-pk": 100_000, "all": 4_000, "insert-transaction": 1_000}
PLAIN, PRODUCT = "plain totals", "sqlitmus"
PRECISE = 0.02
HEADS = ("question", "figure", "ratio", "bias, %", "sd, %", "s", "CPU s", "s to ±2 %", "covers")


@dataclass(frozen=True, slots=True)
class Reading:
    """A figure in a repetition: its ratio, the interval that is printed with it, and its cost in
    seconds of wall and of CPU time."""

    question: str
    figure: str
    repetition: int
    ratio: float
    interval: tuple[float, float] | None
    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Row:
    """A figure over all repetitions; `sd` and `settled_s`, until ±2 %, are NaN after one. `covers`
    counts the intervals that contain the truth; None where none is printed."""

    question: str
    figure: str
    repetitions: int
    ratio: float
    bias: Bounds
    sd: float
    wall_s: float
    cpu_s: float
    settled_s: float
    covers: int | None

    @property
    def outside(self) -> bool:
        """Whether its bias lies wholly beyond the limit."""
        return self.bias.mark(LIMIT) == "OUTSIDE"


def main(
    options: Annotated[list[str] | None, typer.Argument(metavar="[-- OPTION…]")] = None,
    questions: Annotated[str, typer.Option(help="Cases, with commas.")] = ",".join(QUESTIONS),
    tools: Annotated[str, typer.Option(help="With commas; plain is added.")] = ",".join(TOOLS),
    repetitions: Annotated[int, typer.Option(min=1)] = 10,
    quick: Annotated[bool, typer.Option("--quick", help="A try: two repetitions.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Readings and rows as JSON.")] = False,
    plant: Annotated[Literal["mitata", "tinybench"] | None, typer.Option()] = None,
) -> None:
    """Print bias, spread and time of sqlitmus and its peers."""
    try:
        cases, names = known("question", questions, QUESTIONS), known("tool", tools, TOOLS)
        if PRODUCT in names and (reason := unsupported()):
            raise NotFit(f"runs in turns are not to be had here: {reason}")
    except SqlitmusError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(error.exit) from None
    effort = Effort(options=[*Effort().options, *(options or [])])
    readings: list[Reading] = []
    failed = False
    with (
        tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder,
        suppress(KeyboardInterrupt),
    ):
        settings = {case: setting(case, Path(folder), effort, plant) for case in cases}
        every = [(case, name) for case in cases for name in dict.fromkeys(["plain", *names])]
        for number in range(2 if quick else repetitions):
            for case, name in random.sample(every, len(every)):
                print(f"repetition {number + 1}: {case}, {name}", file=sys.stderr)
                try:
                    readings += measured(number, settings[case], TOOLS[name])
                except NotFit as error:
                    failed = True
                    print(error, file=sys.stderr)
    rows = summed_up(readings)
    if as_json:
        everything = {"readings": readings, "rows": rows}
        print(to_json(everything, inf_nan_mode="null").decode())
    else:
        print(table(rows))
    if any(row.figure == PRODUCT and row.outside for row in rows):
        raise typer.Exit(Exit.GATE_FAILED)
    raise typer.Exit(Exit.CELLS_FAILED if failed or not rows else Exit.DONE)


def setting(case: str, folder: Path, effort: Effort, slow: str | None = None) -> Setting:
    """A question with all of its files below `folder`."""
    catalog, tools, place = definitions.load(), paths.tools(), folder / case
    place.mkdir()
    (oracle,) = runners.discover(catalog, ["python"], tools)
    task = Task.of(catalog, case, oracle, place)
    programs = Programs(catalog, [*DRIVERS], tools, place)
    return Setting(case, task, QUESTIONS[case], programs, tools, place, effort, slow)


def measured(
    repetition: int, question: Setting, tool: Callable[[Setting], list[Figure]]
) -> list[Reading]:
    """The figures of a tool, with what it cost; the CPU time of a part of it is NaN."""
    begin, before = time.monotonic(), os.times()
    figures = tool(question)
    wall, after = time.monotonic() - begin, os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])  # of all children that have ended
    costs = [(wall, cpu) if each.seconds is None else (each.seconds, nan) for each in figures]
    return [
        Reading(question.case, each.name, repetition, each.ratio, each.interval, *cost)
        for each, cost in zip(figures, costs, strict=True)
    ]


def summed_up(readings: Sequence[Reading]) -> list[Row]:
    """A row for each figure of each question that has plain totals, these first."""
    rows: list[Row] = []
    for question in dict.fromkeys(each.question for each in readings):
        mine = [each for each in readings if each.question == question]
        plain = {each.repetition: each.ratio for each in mine if each.figure == PLAIN}
        figures = sorted({each.figure for each in mine} if plain else (), key=_place)
        rows += (_row([each for each in mine if each.figure == name], plain) for name in figures)
    return rows


def _place(figure: str) -> tuple[bool, bool, str]:
    """Plain totals come first, then sqlitmus, then its peers."""
    return figure != PLAIN, not figure.startswith(PRODUCT), figure


def _row(mine: Sequence[Reading], plain: Mapping[int, float]) -> Row:
    """A figure of a question beside the plain totals, by repetition."""
    first, count = mine[0], len(mine)
    truth = exp(fmean(map(log, plain.values())))
    beside: Mapping[int, float] = {} if first.figure == PLAIN else plain
    bias = estimate([log(each.ratio / beside.get(each.repetition, truth)) for each in mine])
    sd = stdev([log(each.ratio) for each in mine]) if count > 1 else nan
    wall, cpu = fmean(each.wall_s for each in mine), fmean(each.cpu_s for each in mine)
    settled = wall * (nan if isnan(sd) else max(1, ceil((1.96 * sd / PRECISE) ** 2)))
    intervals = [each.interval for each in mine if each.interval]
    covers = sum(low <= truth <= high for low, high in intervals) if intervals else None
    ratio = exp(fmean(log(each.ratio) for each in mine))
    return Row(first.question, first.figure, count, ratio, bias, sd, wall, cpu, settled, covers)


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    product = {row.question: row.settled_s for row in rows if row.figure == PRODUCT}
    lines = [(*HEADS, PRODUCT), ("---", "---", *["--:"] * (len(HEADS) - 2), "---")]
    for row in rows:
        bias, low, high = (100 * (end - 1) for end in (row.bias.value, row.bias.low, row.bias.high))
        ends = f" [{low:+.1f}, {high:+.1f}]" if row.repetitions > 1 else ""
        lines.append(
            (
                f"`{row.question}`",
                row.figure,
                f"{row.ratio:.3f}",
                f"{bias:+.1f}{ends}{' OUTSIDE' * row.outside}",
                _number(100 * row.sd, ".1f"),
                *(_number(each, ",.0f") for each in (row.wall_s, row.cpu_s, row.settled_s)),
                "–" if row.covers is None else f"{row.covers} of {row.repetitions}",
                _verdict(row, product.get(row.question, nan)),
            )
        )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _number(value: float, form: str) -> str:
    return "–" if isnan(value) else f"{value:{form}}"


def _verdict(row: Row, settled_s: float) -> str:
    """Whether sqlitmus, which takes so many seconds to ±2 %, wins against a peer or loses to it."""
    if row.figure == PLAIN or row.figure.startswith(PRODUCT) or isnan(settled_s + row.settled_s):
        return "–"
    return "loses" if row.settled_s < settled_s and not row.outside else "wins"


if __name__ == "__main__":
    # as on Ctrl-C, what there is is printed, and gigabytes of rows go
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    typer.run(main)
