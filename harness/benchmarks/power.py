"""How often a comparison of two builds would find a small difference, by runs of self-tests.

`./just bench-power RUN… [--difference 2] [--cases 5]`. A run is one of `./just selftest`, with the
times of equal copies of a runner. To each pair of them the difference is added, in either
direction, and all runs of consecutive blocks are judged at the level that Holm's correction leaves
for the first of so many cases. Per run: the deviation of a log ratio from block to block, and the
share of differences found after so many blocks.
"""

from itertools import combinations
from math import log1p
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from sqlitmus.analysis.data import load
from sqlitmus.stats.estimate import Array, trimmed_means
from sqlitmus.stats.verdict import ALPHA, p_values
from sqlitmus.vocabulary import paths

BLOCKS = (20, 30, 60)
STEP = 2  # between the beginnings of two runs of blocks


def main(
    runs: Annotated[list[Path], typer.Argument(parser=paths.given)],
    difference: Annotated[float, typer.Option(min=0.1, help="Percent.")] = 2.0,
    cases: Annotated[int, typer.Option(min=1)] = 5,
) -> None:
    """Print a line per run."""
    head = "".join(f"{f'{blocks} blocks':>12}" for blocks in BLOCKS)
    print(f"{'run':40}{'scheme':10}{'deviation':>10}{head}")
    for folder in runs:
        run = load(folder)
        pairs = _ratios(np.log(run.samples.time[0, :-1].T))
        found = [power(pairs, blocks, log1p(difference / 100), cases) for blocks in BLOCKS]
        spread, scheme = float(np.median(pairs.std(axis=1))), run.plan.actual_scheme()
        print(f"{folder.name:40}{scheme:10}{spread:>10.2%}" + "".join(f"{x:>12.0%}" for x in found))


def power(pairs: Array, blocks: int, difference: float, cases: int) -> float:
    """The share of runs of `blocks` in `pairs` (pairs x blocks, log ratios of equal things) that
    find the `difference`; NaN where there are too few blocks."""
    starts = range(0, pairs.shape[1] - blocks + 1, STEP)
    rows = [
        sign * pairs[:, start : start + blocks] + difference for start in starts for sign in (1, -1)
    ]
    if not rows:
        return float("nan")
    return float(np.mean(p_values(trimmed_means(np.concatenate(rows))) < ALPHA / cases))


def _ratios(logs: Array) -> Array:
    return np.array([logs[:, a] - logs[:, b] for a, b in combinations(range(logs.shape[1]), 2)])


if __name__ == "__main__":
    typer.run(main)
