"""Do sqlitmus's figures say what a user pays? Runs with plain programs in the same sets.

`./just bench-truth [--cases A,B] [--drivers A,B] [--schemes A,B] [-- OPTION…]`, or with
`--workloads A,B` the mixes of these in place of cases, in turns. The plain programs
(`runners/plain`) know nothing of the contract: they walk the whole pool of rows, do not stop for
anything, and count all of their time. For each scheme there is one run, an ordinary one but for
the plain programs that take turns in its sets, or play before and after each lone process
(`plain_turns.py`). Options after `--` are those of the runs.

A mix is that of a workload's file, or of a corpus of `harness/tests/workload/corpora` by its name;
each is a run with tables of its own. A driver that cannot do one of its queries is named.

`product ÷ plain`: a process's time over that of the plain program in the same set, mean of log
ratios over the blocks with its 95 % interval. `ratio to node: product ÷ plain`, node being the
first of the drivers: the ratio that the run publishes over that of the plain programs, with the
interval of the differences block by block. `OUTSIDE` lies beyond 3 % (5 % below 1 µs and of a mix)
with its whole interval, `wide` is an interval that does not lie within.
`turns ÷ lone`: how many of the published ratios to node (with `--suite`, of all
pairs) differ at 5 % by their own intervals, beside runs of the same kind from repetition to
repetition. `ratio ÷ totals` (with `--suite`): what is published of a case that writes over the
quotient of all time of both runners' timed iterations in that run, less what others took of it;
beside it the same of the mean over all blocks, since what is published leaves the farthest out.

Exit 1 when one is OUTSIDE, or when more than 7 % of `turns ÷ lone` differ; else 4 when something
could not be played, and 6 when one is wide.

`--plant` shows that this can fail. `restarts`: the plain programs begin their pool again after 250
rows, so that the runners seem to do too much; `skips`: they leave the first query of a mix out.
"""

import csv
import io
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal

import typer

from benchmarks import plain_turns
from benchmarks.agreement import (
    Bounds,
    Compared,
    Held,
    Plain,
    Published,
    Run,
    between,
    held,
    levels,
    ratios,
    within,
)
from benchmarks.corpora import CORPORA, build
from benchmarks.plain_programs import CASES, COMMANDS
from sqlitmus.run.processes.launch import unsupported
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, NotFit, SqlitmusError, UsageError
from sqlitmus.vocabulary.text import unknown
from sqlitmus.workload.parts import MIX

SCHEMES = {"lone": "process", "turns": "relay"}
WRITES = [case for case, work in CASES.items() if work.startswith(("insert", "update"))]
TOTALS = """
SELECT case_id, runner, sum((SELECT sum(value) FROM json_each(timed))
  - (SELECT total(value) FROM json_each(lost))) / sum(json_array_length(timed)) / units
FROM iteration JOIN sample ON sample.id = iteration.sample JOIN cell ON cell.id = sample.cell
WHERE sample.outcome = 'ok' AND label = runner GROUP BY 1, 2
"""
STEADY = """
SELECT case_id, block, runner, value FROM result WHERE figure = 'steady' AND label = runner
"""


def main(
    options: Annotated[list[str] | None, typer.Argument(metavar="[-- OPTION…]")] = None,
    cases: Annotated[str, typer.Option(help="Ids, with commas between them.")] = ",".join(CASES),
    drivers: Annotated[str, typer.Option(help="Runners, with commas.")] = ",".join(COMMANDS),
    suite: Annotated[
        str | None,
        typer.Option(help="Only compare both schemes, for all ratios of that suite."),
    ] = None,
    workloads: Annotated[
        str | None,
        typer.Option(help="Only the mixes of these, with commas: chat, docs/workload/app.toml."),
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, help="Runs in each scheme.")] = 1,
    schemes: Annotated[str, typer.Option(help="Of the runs, with commas.")] = ",".join(SCHEMES),
    plant: Annotated[
        Literal["restarts", "skips"] | None, typer.Option(help="A fault in plain programs.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(parser=paths.given, help="Keep the run directories here.")
    ] = None,
) -> None:
    """Print what was published over what plain programs take, and one scheme over the other."""
    try:
        names = known("driver", drivers, COMMANDS)
        chosen = known("case", cases, CASES)
        ways = known("scheme", schemes, SCHEMES)
        mixes = workloads.split(",") if workloads else []
        if plant and (plant == "skips") != bool(mixes):
            raise UsageError("--plant: cases restart and mixes skip; take the other one")
        for name in mixes:
            if not name.endswith(".toml"):
                known("corpus", name, dict.fromkeys(CORPORA))
        if reason := unsupported():
            raise NotFit(f"runs in turns are not to be had here: {reason}")
    except SqlitmusError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(error.exit) from None
    words = ["run", *(word for case in chosen for word in ("--case", case))]
    if suite:
        words = ["run", "--suite", suite]
    common = [word for name in names for word in ("-r", name)]
    common += ["--reference", names[0], "--quiet", "--wait", *(options or [])]
    order = [
        way
        for number in range(repetitions)
        for way in random.Random(number).sample(ways, len(ways))
    ]
    playing = _Playing(names, bool(suite), plant or "none", keep)
    codes: list[Exit] = []
    with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
        for mix in mixes or [""]:
            if mix:
                print(f"\n== {mix}")
                file = paths.given(mix) if mix.endswith(".toml") else build(Path(folder), mix)
                words = ["workload", str(file), "-f", f"case:{MIX}"]
            codes.append(playing.reported([*words, *common], order))
            if playing.interrupted:
                break
    worst = (Exit.GATE_FAILED, Exit.CELLS_FAILED, Exit.UNDECIDED, Exit.DONE)
    raise typer.Exit(next(code for code in worst if code in codes))


@dataclass(slots=True)
class _Playing:
    """How runs are played: of these drivers, beside plain programs with a `fault`, or of all
    `pairs` without; `interrupted` says that there shall be no more."""

    names: Sequence[str]
    pairs: bool
    fault: str
    keep: Path | None
    interrupted: bool = False

    def reported(self, words: Sequence[str], ways: Sequence[str]) -> Exit:
        """Play a run in each of the schemes, and print what they say; what it comes to."""
        runs: list[Run] = []
        failed = False
        try:
            for way in ways:
                try:
                    runs += self._run(way, words)
                except NotFit as error:
                    failed = True
                    print(error, file=sys.stderr)
        except KeyboardInterrupt:  # what there is by then is printed
            self.interrupted = True
        complete = self.pairs or all(run.complete(self.names) for run in runs)
        code = report(runs, self.names[0])
        failed = failed or not complete
        return Exit.CELLS_FAILED if failed and code != Exit.GATE_FAILED else code

    def _run(self, way: str, words: Sequence[str]) -> list[Run]:
        """What a run in that scheme says of each case, beside plain programs or of all pairs."""
        with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
            out, log = self.keep or Path(folder) / "runs", Path(folder) / "plain.jsonl"
            log.touch()
            beside = [plain_turns.__file__, str(log), ",".join(self.names), self.fault]
            program = ["-m", "sqlitmus"] if self.pairs else beside
            _python(*program, *words, "--scheme", SCHEMES[way], "--out", str(out))
            run = out / "latest"
            if self.pairs:
                return _all_pairs(run, way, self.names)
            return _of_cases(run, way, self.names, log, mix=words[0] == "workload")


def _of_cases(run: Path, way: str, names: Sequence[str], log: Path, *, mix: bool) -> list[Run]:
    """Of each case its processes' times beside those of the plain programs, by driver and block."""
    played: dict[tuple[str, str], dict[int, list[Plain]]] = {}
    for line in log.read_text("utf-8").splitlines():
        told = json.loads(line)
        blocks = played.setdefault((told["case"], told["driver"]), {})
        time = Plain(told["ns"], told["waited"], told["sqlite"])
        blocks.setdefault(told["block"], []).append(time)
    plain = {
        cell: {block: Plain.mean(times) for block, times in blocks.items()}
        for cell, blocks in played.items()
    }
    product = _steady(run)
    runs: dict[str, Run] = {}
    for row in exported(run):
        case, name = row["case"], row["runner"]
        if name not in names or all(case != of_plain for of_plain, _ in plain):
            continue
        mine = runs.setdefault(case, Run(case, way, {}, {}, {}, mix))
        if row["outcome"] != "ok":
            print(f"{case}, {name}: {row['outcome']}: {row['reason']}", file=sys.stderr)
            if row["outcome"] == "unsupported":
                mine.unsupported.append(name)
            continue
        if (case, name) not in plain:
            continue
        of_cell = plain[case, name]
        if theirs := {each.sqlite for each in of_cell.values()} - {row["sqlite_version"]}:
            raise NotFit(f"{name} has SQLite {row['sqlite_version']}, its plain program {theirs}")
        mine.published[name] = published(row)
        mine.product[name], mine.plain[name] = product[case, name], of_cell
    return [*runs.values()]


def _all_pairs(run: Path, way: str, names: Sequence[str]) -> list[Run]:
    """Of each steady case of a suite the published ratios of all pairs, without plain programs."""
    runs: dict[str, Run] = {}
    for position, reference in enumerate(names):
        rows = [row for row in exported(run, "--reference", reference) if row["ratio_low"]]
        rows = [row for row in rows if row["metric"] == "steady"]
        if position == 0:
            _print_over_totals(run, way, reference, rows)
        for row in rows:
            if row["runner"] in names[position + 1 :]:
                mine = runs.setdefault(row["case"], Run(row["case"], way, {}, {}, {}))
                mine.published[f"{row['runner']} ÷ {reference}"] = published(row)
    return [*runs.values()]


def _print_over_totals(
    run: Path, way: str, reference: str, rows: Sequence[Mapping[str, str]]
) -> None:
    """Of each case that writes and each runner, its published ratio to the reference, and the mean
    over all blocks, each over the ratio of all time of the timed iterations in the run, whose
    steady cells are `rows`."""
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        total = {(case, name): ns for case, name, ns in connection.execute(TOTALS)}
    steady = _steady(run)
    for row in rows:
        case, name = row["case"], row["runner"]
        if case in WRITES:
            mine, theirs = steady[case, name], steady[case, reference]
            mean = exp(fmean(log(mine[block] / theirs[block]) for block in mine if block in theirs))
            of_totals = total[case, name] / total[case, reference]
            print(
                f"{way}, {case:24}{name:21} ratio ÷ totals {float(row['ratio']) / of_totals:.4f}"
                f"  mean of blocks ÷ totals {mean / of_totals:.4f}",
                flush=True,
            )


def _steady(run: Path) -> dict[tuple[str, str], dict[int, float]]:
    """The time of each process of a case and runner in ns per unit of work, by block."""
    steady: dict[tuple[str, str], dict[int, float]] = {}
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        for case, block, name, ns in connection.execute(STEADY):
            steady.setdefault((case, name), {})[block] = ns
    return steady


def exported(run: Path, *options: str) -> list[dict[str, str]]:
    """The cells of a run, as its export has them."""
    text = _python("-m", "sqlitmus", "export", str(run), "--format", "csv", *options)
    return [*csv.DictReader(io.StringIO(text))]


def published(row: Mapping[str, str]) -> Published:
    """A row of an export."""
    columns = ("ratio", "ratio_low", "ratio_high")
    ratio = Bounds(*(float(row[name]) for name in columns)) if row["ratio_low"] else None
    return Published(float(row["steady_ns_per_unit"]), ratio, int(row["blocks"]))


def report(runs: Sequence[Run], reference: str) -> Exit:
    """Print the tables; the exit code that they come to."""
    if not runs:
        return Exit.CELLS_FAILED
    compared = levels(runs)
    _print("product ÷ plain", "ns", compared)
    to_reference = ratios(runs, reference)
    _print(f"ratio to {reference}: product ÷ plain", "ratio", to_reference)
    marks = [mark for row in [*compared, *to_reference] for mark in row.marks]
    apart = _schemes(runs)
    if shares := [each.waited for run in runs for of in run.plain.values() for each in of.values()]:
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


def _schemes(runs: Sequence[Run]) -> Held:
    """Print one scheme against the other, by case and over all; what it comes to over all."""
    cases = dict.fromkeys(each.case for each in runs)
    whole = held(within(runs, "turns", "lone"))
    if not whole.count:
        return whole
    print(f"\n{'ratios of runs':33}{'count':>6}{'differ at 5 %':>15}{'mean':>8}  farthest")
    for case in cases:
        mine = [each for each in runs if each.case == case]
        _held(f"turns ÷ lone, {case}", held(within(mine, "turns", "lone")))
    _held("turns ÷ lone", whole)
    for way in SCHEMES:
        _held(f"{way} ÷ {way} of the run before", held(between(runs, way)))
    return whole


def _held(title: str, row: Held) -> None:
    if row.count:
        share = f"{row.differ} {row.share:6.1%}"
        print(
            f"{title:33}{row.count:6}{share:>15}{row.mean:8.3f}  {row.farthest:.3f} {row.name}"
            f"{'  TOO MANY' * row.too_many}"
        )


def known(what: str, words: str, there_are: Mapping[str, object]) -> list[str]:
    named = words.split(",")
    for name in named:
        if name not in there_are:
            raise UsageError(unknown(what, name, there_are))
    return named


def _python(*words: str) -> str:
    """What that program prints; its messages go on to the terminal. Raises NotFit when it fails,
    but not when single cells do."""
    done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (Exit.DONE, Exit.CELLS_FAILED, Exit.WRONG_ANSWERS):
        raise NotFit(f"{' '.join(words)}: exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    typer.run(main)
