"""Every planted fault and what became of it: `./just bench-faults [TEXT]…`.

Plays the faults whose titles contain one of the texts, or all. Exit 1 when one met another fate
than the table gives.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from sqlitmus.vocabulary import paths
from tests.fakes import clone as clones
from tests.faults.fault import Fault, Seen
from tests.faults.stage import Stage
from tests.faults.table import FAULTS

ROW = "{:60} {:11} {:7} {:11} {:>8}  {}"


def main(texts: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Print a line per fault, below what it is about."""
    clones.DEADLINE_S = 600.0  # some runs list a whole table
    hyperfine = paths.tools().need("hyperfine")
    played = amiss = 0
    honest: dict[tuple[str, ...], float] = {}
    for about, faults in FAULTS.items():
        chosen = [f for f in faults if not texts or any(text in f.title for text in texts)]
        if chosen:
            head = ROW.format("fault", "planted in", "scheme", "outcome", "looks", "message")
            print(f"\n{about}\n{head}")
        for fault in chosen:
            if hint := lacking(fault):
                print(f"{fault.title:60} left out: {hint}")
                continue
            started = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                seen = fault.play(Stage(Path(folder), hyperfine, honest=honest))
            problem = fault.problem(seen)
            played, amiss = played + 1, amiss + bool(problem)
            print(line(fault, seen), flush=True)
            if problem:
                print(f"    EXPECTED {fault.fate}: {fault.message}")
            print(f"  {time.monotonic() - started:.1f} s", file=sys.stderr)
    print(f"\n{played} faults, {amiss} with another fate than expected")
    raise typer.Exit(1 if amiss or not played else 0)


def line(fault: Fault, seen: Seen) -> str:
    """What became of a fault; `looks` is its figure by the honest runner's of the same language."""
    words = " ".join(seen.message.split())
    words = words if len(words) <= 120 else f"{words[:119]}…"
    looks = "-" if seen.looks is None else f"{seen.looks:.2g} x"
    return ROW.format(fault.title, fault.planted_in, fault.scheme, seen.fate, looks, words)


def lacking(fault: Fault) -> str | None:
    """Why the tool is missing that a fault is seen with; None where it is there."""
    tools = paths.tools()
    return None if fault.needs in tools.paths else tools.missing.get(fault.needs, "not set up")


if __name__ == "__main__":
    typer.run(main)
