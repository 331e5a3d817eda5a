"""Do sqlitmus's figures say what a user pays? Whole runs against plain programs for the same work.

`./just bench-truth [--cases A,B] [--drivers A,B] [--blocks N] [--seconds S] [-- OPTION…]`. The
plain programs (`runners/plain`) know nothing of the contract: they walk the whole pool of rows, do
not stop for anything, and count all of their time. A block plays each case once: all plain
programs, a run whose processes take turns, a run of lone processes, and the plain programs in
reverse; options after `--` are those of both runs, whose figures are read by `export`.

`product ÷ plain`: published time over plain time, mean of log ratios within blocks with its 95 %
interval, and the same of ratios to node. `OUTSIDE` lies beyond 3 % (5 % below 1 µs) with its whole
interval, `wide` is an interval that does not lie within. `turns ÷ lone`: how many of the published
ratios to node (with `--suite`, of all pairs) differ at 5 % by their own intervals, beside runs of
the same kind from block to block. `ratio ÷ totals` (with `--suite`): what is published of a case
that writes over the quotient of all time of both runners' timed iterations in that run, less what
others took of it.

Exit 1 when one is OUTSIDE, or when more than 7 % of `turns ÷ lone` differ; else 4 when something
could not be played, and 6 when one is wide.

`--plant` shows that this can fail: plain programs take the place of the runs, and `restarts` begin
their pool again after 250 rows, `nothing` are as they are.
"""

import csv
import io
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal

import typer

from benchmarks.agreement import (
    Bounds,
    Compared,
    Held,
    Published,
    Repetition,
    between,
    held,
    levels,
    ratios,
    within,
)
from benchmarks.plain_programs import CASES, COMMANDS, Played, Programs, Service, Task
from sqlitmus.catalog import definitions, runners
from sqlitmus.machine import lock
from sqlitmus.run.processes.launch import unsupported
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, NotFit, SqlitmusError, UsageError
from sqlitmus.vocabulary.text import unknown
from sqlitmus.workload.scenarios import MIX

SCHEMES = {"lone": "process", "turns": "relay"}
RESTARTING_ROWS = 250
# Others who use the processor are no part of what is compared: a program that waited for longer is
# played again, and the calmest of its attempts counts.
MOST_WAITED = 0.02
ATTEMPTS = 4
BUSY_PERCENT = 10.0
TOTALS = """
SELECT case_id, runner, sum((SELECT sum(value) FROM json_each(timed))
  - (SELECT total(value) FROM json_each(lost))) / sum(json_array_length(timed)) / units
FROM iteration JOIN sample ON sample.id = iteration.sample JOIN cell ON cell.id = sample.cell
WHERE sample.outcome = 'ok' AND label = runner GROUP BY 1, 2
"""
LEAST_BLOCKS = 2


def main(
    options: Annotated[list[str] | None, typer.Argument(metavar="[-- OPTION…]")] = None,
    cases: Annotated[str, typer.Option(help="Ids, with commas between them.")] = ",".join(CASES),
    drivers: Annotated[str, typer.Option(help="Runners, with commas.")] = ",".join(COMMANDS),
    suite: Annotated[
        str | None,
        typer.Option(
            help="Only compare both schemes, by whole runs of that suite, for all ratios."
        ),
    ] = None,
    workload: Annotated[
        Path | None,
        typer.Option(parser=paths.given, help="Only its mix: docs/workload/app.toml."),
    ] = None,
    blocks: Annotated[int, typer.Option(min=1)] = 5,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Of a plain program in a block, in two halves.")
    ] = 3,
    schemes: Annotated[str, typer.Option(help="Of the runs, with commas.")] = ",".join(SCHEMES),
    without_waits: Annotated[
        bool, typer.Option(help="Deduct what plain programs waited for a processor (Linux).")
    ] = False,
    patience: Annotated[
        float, typer.Option(help="Minutes to wait for idle processors before a case (Linux).")
    ] = 0,
    plant: Annotated[
        Literal["nothing", "restarts"] | None, typer.Option(help="Instead of whole runs.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(parser=paths.given, help="Keep the run directories here.")
    ] = None,
) -> None:
    """Print what was published over what plain programs take, and one scheme over the other."""
    try:
        names = _known("driver", drivers, COMMANDS)
        chosen = _known("case", cases, CASES)
        ways = _known("scheme", schemes, SCHEMES)
        if blocks < LEAST_BLOCKS and not suite:
            raise UsageError(f"--blocks {blocks}: an interval takes {LEAST_BLOCKS} blocks or more")
        if not plant and (reason := unsupported()):
            raise NotFit(f"runs in turns are not to be had here: {reason}")
        repetitions: list[Repetition] = []
        with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
            measuring = Measuring(
                *(names, ways, Path(folder), seconds / 2, plant, keep, options or []),
                workload=workload,
                without_waits=without_waits,
                patience_s=patience * 60,
            )
            with suppress(KeyboardInterrupt):  # what there is by then is printed
                one = measuring.suite if suite else measuring.case
                chosen = [suite] if suite else [MIX] if workload else chosen
                for each in measuring.all(chosen, blocks, one):
                    repetitions += each
    except SqlitmusError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(error.exit) from None
    code = report(repetitions, names[0])
    for way, case, name, quotient in measuring.own:
        print(f"ratio ÷ totals, {way}, {case:24}{name:21}{quotient:.4f}")
    raise typer.Exit(code if code == Exit.GATE_FAILED or not measuring.failed else measuring.failed)


class Measuring:
    """Plain programs and runs of the drivers `names`, the first of which is the reference."""

    def __init__(
        self,
        names: Sequence[str],
        ways: Sequence[str],
        folder: Path,
        seconds: float,
        plant: str | None,
        keep: Path | None,
        options: Sequence[str],
        *,
        workload: Path | None,
        without_waits: bool,
        patience_s: float,
    ) -> None:
        self._catalog, tools = definitions.load(), paths.tools()
        self._installed = runners.discover(self._catalog, [*names], tools)
        for each in self._installed:
            if each.missing:
                raise NotFit(f"{each.spec.name}: {each.missing}")
        self._names, self._ways, self._folder, self._seconds = names, ways, folder, seconds
        self._programs = Programs(self._catalog, names, tools, folder)
        self._plant, self._runs, self._options = plant, keep or folder / "runs", options
        self._without_waits, self._patience_s = without_waits, patience_s
        self._workload = workload
        self.failed: Exit | None = None
        self.own: list[tuple[str, str, str, float]] = []

    def all(
        self,
        names: Sequence[str],
        blocks: int,
        one: Callable[[str, random.Random], list[Repetition]],
    ) -> Iterator[list[Repetition]]:
        """Each of `names`, played by `one`, once in each block, in random order; `failed` says that
        one is left out."""
        for block in range(blocks):
            order = random.Random(block)
            for name in order.sample(names, len(names)):
                idle(self._patience_s)
                begin = time.monotonic()
                try:
                    yield one(name, order)
                except NotFit as error:
                    self.failed = Exit.CELLS_FAILED
                    _say(str(error))
                _say(f"block {block + 1}: {name}, {time.monotonic() - begin:.0f} s")

    def suite(self, suite: str, order: random.Random) -> list[Repetition]:
        """All steady cases of a suite, by a run in each scheme, without plain programs."""
        tables: dict[str, dict[str, dict[str, Published]]] = {}
        for way in order.sample(self._ways, len(self._ways)):
            self._run(way, "--suite", suite)
            for position, reference in enumerate(self._names):
                rows = [row for row in self._exported("--reference", reference) if row["ratio_low"]]
                rows = [row for row in rows if row["metric"] == "steady"]
                if position == 0:
                    self.own += self._over_totals(way, rows)
                for row in rows:
                    if row["runner"] in self._names[position + 1 :]:
                        pairs = tables.setdefault(row["case"], {}).setdefault(way, {})
                        pairs[f"{row['runner']} ÷ {reference}"] = published(row)
        return [Repetition(case, {}, {}, ways) for case, ways in tables.items()]

    def case(self, case: str, order: random.Random) -> list[Repetition]:
        """A case beside its plain programs."""
        if self._workload:
            task = Service.of(self._catalog, self._workload)
        else:
            task = Task.of(self._catalog, case, self._installed[0], self._folder)
        names = order.sample(self._names, len(self._names))
        before = self._played(task, names)
        if self._plant:
            planted = task
            if self._plant == "restarts" and isinstance(task, Task):
                planted = task.restarting(RESTARTING_ROWS)
            instead = self._played(planted, names)
            published = {
                "planted": {name: Published(self._ns(instead[name]), None, 0) for name in names}
            }
        else:
            ways = order.sample(self._ways, len(self._ways))
            published = {way: self._run_of(case, way, before) for way in ways}
        after = self._played(task, names[::-1])
        plain = {
            name: (self._ns(before[name]) * self._ns(after[name])) ** 0.5 for name in self._names
        }
        waited = {name: (before[name].waited + after[name].waited) / 2 for name in self._names}
        return [Repetition(case, plain, waited, {way: published[way] for way in sorted(published)})]

    def _played(self, task: Task | Service, names: Sequence[str]) -> dict[str, Played]:
        """The plain programs one after the other, while nobody else measures here."""
        with lock.hold("bench-truth", wait=True, say=_say):
            return {
                name: calmest(lambda name=name: self._programs.play(name, task, self._seconds))
                for name in names
            }

    def _ns(self, played: Played) -> float:
        return played.ns * (1 - played.waited * self._without_waits)

    def _run(self, way: str, *what: str) -> None:
        """A whole run of that case or suite, or of the workload."""
        named = [word for name in self._names for word in ("-r", name)]
        begin = ("workload", str(self._workload)) if self._workload else ("run",)
        _sqlitmus(
            *(*begin, *what, *named, "--scheme", SCHEMES[way], "--out", str(self._runs)),
            *("--reference", self._names[0], "--quiet", "--wait", *self._options),
        )

    def _exported(self, *options: str) -> list[dict[str, str]]:
        """The cells of the last run, as its export has them."""
        exported = _sqlitmus("export", str(self._runs / "latest"), "--format", "csv", *options)
        return [*csv.DictReader(io.StringIO(exported))]

    def _over_totals(
        self, way: str, rows: Sequence[Mapping[str, str]]
    ) -> list[tuple[str, str, str, float]]:
        """Of each case that writes and each runner, its published ratio to the reference over that
        of all time of the timed iterations in the last run, whose steady cells are `rows`."""
        with closing(sqlite3.connect(self._runs / "latest" / "run.sqlite")) as connection:
            mean_ns = {(case, name): ns for case, name, ns in connection.execute(TOTALS)}
        first = self._names[0]
        return [
            (way, case, name, float(row["ratio"]) * mean_ns[case, first] / mean_ns[case, name])
            for row in rows
            for case, name in [(row["case"], row["runner"])]
            if CASES.get(case, ("", 0))[1]
        ]

    def _run_of(self, case: str, way: str, plain: Mapping[str, Played]) -> dict[str, Published]:
        """A whole run of that case."""
        self._run(way, *(("-f", MIX) if self._workload else ("--case", case)))
        cells = {row["runner"]: row for row in self._exported() if row["case"] == case}
        for name in self._names:
            if cells[name]["outcome"] != "ok":
                raise NotFit(f"{case}, {name}: {cells[name]['outcome']}: {cells[name]['reason']}")
            theirs, ours = cells[name]["sqlite_version"], plain[name].sqlite
            if theirs != ours:
                raise NotFit(f"{name} has SQLite {theirs}, its plain program {ours}")
        return {name: published(cells[name]) for name in self._names}


def calmest(play: Callable[[], Played]) -> Played:
    """The first attempt that hardly waited for a processor, or of several the best."""
    attempts: list[Played] = []
    while len(attempts) < ATTEMPTS and all(each.waited > MOST_WAITED for each in attempts):
        attempts.append(play())
    return min(attempts, key=lambda each: each.waited)


def published(row: Mapping[str, str]) -> Published:
    """A row of an export."""
    columns = ("ratio", "ratio_low", "ratio_high")
    ratio = Bounds(*(float(row[name]) for name in columns)) if row["ratio_low"] else None
    return Published(float(row["steady_ns_per_unit"]), ratio, int(row["blocks"]))


def report(repetitions: Sequence[Repetition], reference: str) -> Exit:
    """Print the tables; the exit code that they come to."""
    if not repetitions:
        return Exit.CELLS_FAILED
    compared = levels(repetitions)
    _print("product ÷ plain", "ns", compared)
    to_reference = ratios(repetitions, reference)
    _print(f"ratio to {reference}: product ÷ plain", "ratio", to_reference)
    marks = [mark for row in [*compared, *to_reference] for mark in row.marks]
    apart = _schemes(repetitions)
    if shares := [share for each in repetitions for share in each.waited.values()]:
        print(
            f"\nplain programs waited for a processor: {fmean(shares):.1%} of their time, "
            f"{max(shares):.1%} at most"
        )
        print(f"{len(marks)} figures: {marks.count('OUTSIDE')} outside, {marks.count('wide')} wide")
    if "OUTSIDE" in marks or apart.too_many:
        return Exit.GATE_FAILED
    return Exit.UNDECIDED if "wide" in marks else Exit.DONE


def _print(title: str, unit: str, rows: Sequence[Compared]) -> None:
    """A line for each row, with a column for each way of measuring."""
    if not rows:
        return
    heads = "".join(f"{f'{way} ÷ plain':34}" for way in rows[0].over_plain)
    print(f"\n{title}\n{'case':24}{'driver':21}{f'plain {unit}':>12}  {heads}limit")
    for row in rows:
        cells = "".join(
            f"{b.value:.3f} [{b.low:.3f}, {b.high:.3f}] {b.mark(row.limit)}".ljust(34)
            for b in row.over_plain.values()
        )
        plain = f"{row.plain:12,.0f}" if unit == "ns" else f"{row.plain:12.3f}"
        print(f"{row.case:24}{row.driver:21}{plain}  {cells}{row.limit:.0%}")


def _schemes(repetitions: Sequence[Repetition]) -> Held:
    """Print one scheme against the other, by case and over all; what it comes to over all."""
    cases = dict.fromkeys(each.case for each in repetitions)
    whole = held(within(repetitions, "turns", "lone"))
    if not whole.count:
        return whole
    print(f"\n{'ratios of runs':33}{'count':>6}{'differ at 5 %':>15}{'mean':>8}  farthest")
    for case in cases:
        mine = [each for each in repetitions if each.case == case]
        _held(f"turns ÷ lone, {case}", held(within(mine, "turns", "lone")))
    _held("turns ÷ lone", whole)
    for way in SCHEMES:
        _held(f"{way} ÷ {way} of the block before", held(between(repetitions, way)))
    return whole


def _held(title: str, row: Held) -> None:
    if row.count:
        share = f"{row.differ} {row.share:6.1%}"
        print(
            f"{title:33}{row.count:6}{share:>15}{row.mean:8.3f}  {row.farthest:.3f} {row.name}"
            f"{'  TOO MANY' * row.too_many}"
        )


def _known(what: str, words: str, there_are: Mapping[str, object]) -> list[str]:
    named = words.split(",")
    for name in named:
        if name not in there_are:
            raise UsageError(unknown(what, name, there_are))
    return named


def idle(patience_s: float, file: Path = Path("/proc/pressure/cpu")) -> None:
    """Wait for so long at most until hardly anybody has waited for a processor for 10 s."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end and file.exists():
        average = float(file.read_text("utf-8").split("avg10=")[1].split()[0])
        if average < BUSY_PERCENT:
            return
        time.sleep(2)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _sqlitmus(*words: str) -> str:
    """What the command prints. Raises NotFit when it fails."""
    command = [sys.executable, "-m", "sqlitmus", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotFit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    typer.run(main)
