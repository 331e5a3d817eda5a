"""Databases as services have them, and what an answer on each costs its owner.

`./just bench-corpora [--only chat,shop] [--time-budget 5m] [-- OPTION…]` does for each what its
owner would: `workload init` on the database, and `workload` on the file that this writes, without a
change. Options after `--` are those of `./just workload`. The columns:

- `MiB`: size of the database.
- `init s`: seconds of `workload init`.
- `edits`: 0, or `refused` where the file could not be measured as it is: then the reason follows.
- `minutes`: from the start of `workload` to its report.
- `blocks`: those that were measured.
- `verdicts`: pairs of runners that are told apart, or are equivalent, of all pairs in all cases.
- `of the mix`: those in the mix with all workers, which decides.

Exit 1 where a file is refused, else 4 where a run measured nothing of a case.
"""

import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from subprocess import run
from typing import Annotated

import typer

from sqlitmus.analysis.assemble import OPEN, analyse
from sqlitmus.analysis.data import load
from sqlitmus.results.report import Case
from sqlitmus.store.folder import latest
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.text import listed

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs/workload"
FOLDERS = (ROOT / "harness/tests/workload/corpora", EXAMPLES)
CORPORA = {file.stem: file for folder in FOLDERS for file in sorted(folder.glob("*.sql"))}
SIZES = {"chat": 480}  # of what can be large: about 90 MiB, as the database of a service
HEADS = ("corpus", "MiB", "init s", "edits", "minutes", "blocks", "verdicts", "of the mix")


def database(folder: Path, name: str, size: int = 1) -> Path:
    """Make the database of a corpus in `folder`, with the same content each time; those of `SIZES`
    are so many times as large."""
    file = folder / f"{name}.db"
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if name in SIZES:  # before other scripts choose the encoding
            connection.execute("CREATE TEMP TABLE scale AS SELECT ? AS size", [size])
            connection.execute("BEGIN")
        connection.executescript(CORPORA[name].read_text("utf-8"))
        if connection.in_transaction:
            connection.execute("COMMIT")
    return file


def build(folder: Path, name: str) -> Path:
    """The workload's own file of a corpus in `folder`, beside its small database."""
    database(folder, name)
    file = folder / f"{name}.toml"
    file.write_bytes(CORPORA[name].with_suffix(".toml").read_bytes())
    return file


def tried(name: str, folder: Path, size: int, options: Sequence[str]) -> tuple[list[str], Exit]:
    """The row of a corpus, with the exit code that it asks for."""
    file, db = folder / f"{name}.toml", database(folder, name, size)
    begin = time.monotonic()
    code, words = _sqlitmus("workload", "init", str(file), "--database", str(db))
    row = [name, f"{db.stat().st_size / 2**20:.1f}", f"{time.monotonic() - begin:.1f}"]
    if code:
        return [*row, f"refused: {words}"], Exit.GATE_FAILED
    begin = time.monotonic()
    code, words = _sqlitmus("workload", str(file), "--out", str(folder), "-q", *options)
    minutes = (time.monotonic() - begin) / 60
    if code in (Exit.USAGE, Exit.NOT_FIT):
        return [*row, f"refused: {words}"], Exit.GATE_FAILED
    report = analyse(load(latest(folder)))
    mix = [case for case in report.cases if case.group == "mix"]
    shares = (_settled(cases) for cases in (report.cases, mix[-1:] or report.cases))
    row += ["0", f"{minutes:.1f}", str(report.blocks_complete), *shares]
    return row, Exit.CELLS_FAILED if code in (Exit.CELLS_FAILED, Exit.WRONG_ANSWERS) else Exit.DONE


def _settled(cases: Iterable[Case]) -> str:
    """How many pairs have an answer, of all."""
    pairs = [pair for case in cases for pair in case.comparisons]
    return f"{sum(pair.verdict not in OPEN for pair in pairs)} of {len(pairs)}"


def _sqlitmus(*words: str) -> tuple[int, str]:
    """A command's exit code, and the last line that it printed as an error."""
    command = [sys.executable, "-m", "sqlitmus", *words]
    done = run(command, capture_output=True, text=True, check=False)
    return done.returncode, "".join(done.stderr.strip().splitlines()[-1:])


def main(
    only: Annotated[str, typer.Option(help="These corpora, with commas between them.")] = "",
    time_budget: Annotated[str, typer.Option(help="Of each run.")] = "5m",
    small: Annotated[
        bool, typer.Option("--small", help="All of them small, as in the tests.")
    ] = False,
    options: Annotated[list[str] | None, typer.Argument(help="Of ./just workload.")] = None,
) -> None:
    """Print the table, a row as soon as it is there."""
    names = only.split(",") if only else list(CORPORA)
    if unknown := [name for name in names if name not in CORPORA]:
        raise typer.BadParameter(f"no corpus {listed(unknown)}; there are {listed([*CORPORA])}")
    given = ["--time-budget", time_budget, *(options or [])]
    worst = Exit.DONE
    print(f"| {' | '.join(HEADS)} |\n|{'|'.join('---' for _ in HEADS)}|", flush=True)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            size = 1 if small else SIZES.get(name, 1)
            row, code = tried(name, Path(folder), size, given)
        print(f"| {' | '.join(row)} |", flush=True)
        worst = min(filter(None, (worst, code)), default=Exit.DONE)
    raise typer.Exit(worst)


if __name__ == "__main__":
    typer.run(main)
