"""The same runs in both schemes, in one session: what each resolves, and how long it takes.

`./just bench-schemes [--suite quick] [--times N] [--keep FOLDER] [-- OPTION…]`. Runs whose
processes take turns and runs whose processes go one after the other alternate; options after `--`
are those of `run`, and their directories stay in FOLDER. Per run: minutes of the whole command; the
median half-width of the ratios of steady cases, as ln; how many of the comparisons that truly
differ by so much were resolved, and how many rows were not. How much two cells truly differ is the
mean over all of these runs.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Annotated, get_args

import numpy as np
import typer

from sqlitmus.analysis import analyse, load
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.terms import Scheme
from sqlitmus.vocabulary.verdicts import Verdict

DIFFERENCES = (0.1, 0.05)
Row = tuple[str, str, str]  # case, runner, reference


@dataclass(frozen=True, slots=True)
class Judged:
    """A row of a run: ln of its ratio, half of its interval's width, whether it was resolved."""

    effect: float
    half: float
    resolved: bool


def main(
    options: Annotated[list[str] | None, typer.Argument()] = None,
    suite: str = "quick",
    times: Annotated[int, typer.Option(min=1)] = 1,
    keep: Annotated[
        Path | None, typer.Option(parser=paths.given, help="Keep the run directories here.")
    ] = None,
) -> None:
    """Print a line per run."""
    runs: list[tuple[str, float, dict[Row, Judged]]] = []
    for number in range(times):
        schemes: Sequence[str] = get_args(Scheme)
        for scheme in schemes if number % 2 else schemes[::-1]:
            runs.append((scheme, *_measured(scheme, suite, keep, options or [])))
            print(f"{scheme}: {runs[-1][1] / 60:.1f} min", file=sys.stderr, flush=True)
    common = set[Row].intersection(*(set(rows) for _, _, rows in runs))
    true = {row: float(np.mean([rows[row].effect for _, _, rows in runs])) for row in common}
    head = "".join(f"{f'>= {share:.0%}':>18}" for share in DIFFERENCES)
    print(f"{'scheme':10}{'minutes':>8}{'half-width':>12}{head}{'not resolved':>18}")
    for scheme, seconds, rows in runs:
        half = np.median([rows[row].half for row in common])
        cells = "".join(
            f"{_share([rows[row].resolved for row in common if _differ(true[row], share)]):>18}"
            for share in DIFFERENCES
        )
        unresolved = _share([not rows[row].resolved for row in common])
        print(f"{scheme:10}{seconds / 60:8.1f}{half:12.1%}{cells}{unresolved:>18}", flush=True)


def _measured(
    scheme: str, suite: str, keep: Path | None, options: Sequence[str]
) -> tuple[float, dict[Row, Judged]]:
    """Seconds of a run, and its rows."""
    with tempfile.TemporaryDirectory(dir=paths.cache("work")) as folder:
        out = str(keep or folder)
        command = [sys.executable, "-m", "sqlitmus", "run", "--suite", suite, "--scheme", scheme]
        begin = time.monotonic()
        subprocess.run([*command, "--quiet", "--out", out, *options], check=True, stdout=-3)
        seconds = time.monotonic() - begin
        return seconds, dict(_rows(Path(out) / "latest"))


def _rows(run: Path) -> list[tuple[Row, Judged]]:
    """Every pair of the steady cases that has an interval."""
    rows: list[tuple[Row, Judged]] = []
    for case in analyse(load(run)).cases:
        names = case.comparisons.runners
        pairs = [(b, a) for number, a in enumerate(names) for b in names[number + 1 :]]
        for runner, reference in pairs if case.metric == "steady" else []:
            compared = case.comparisons.of(runner, reference)
            if compared is None or compared.ratio.low is None or compared.ratio.high is None:
                continue
            half = log(compared.ratio.high / compared.ratio.low) / 2
            resolved = compared.verdict != Verdict.NOT_RESOLVED
            row = (case.id, runner, reference)
            rows.append((row, Judged(log(compared.ratio.value), half, resolved)))
    return rows


def _differ(effect: float, share: float) -> bool:
    return abs(effect) >= log(1 + share)


def _share(hits: Sequence[bool]) -> str:
    return f"{sum(hits)} of {len(hits)} {sum(hits) / len(hits):6.1%}" if hits else "-"


if __name__ == "__main__":
    typer.run(main)
