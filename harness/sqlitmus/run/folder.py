"""What may stand in a run directory: regular files within limits, and numbers within reason.

A folder can come from anywhere, so every command that takes one asks here before it reads, and
before it writes. The limits are far beyond what a run writes, and a run beyond them is not begun.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from sqlitmus.machine import plainfiles
from sqlitmus.vocabulary.errors import UsageError

MB = plainfiles.MB
MOST_LINE = 4 * MB  # the longest are histograms, of some 100 kB
# Parsed whole, at some ten times the size; a plan of ten thousand cells has 7 MB.
MOST_WHOLE = 32 * MB
# Read in chunks; the samples of a million invocations have 130 MB.
MOST_LINES = 512 * MB
MOST_BLOCKS = 200_000

# What is read of a run, and how many bytes it may have.
SIZES = {
    "plan.json": MOST_WHOLE,
    "machine.json": MOST_WHOLE,
    "verify.jsonl": MOST_WHOLE,
    "samples.jsonl": MOST_LINES,
    "blocks.jsonl": MOST_BLOCKS * 640,  # bytes of a line
    "details.jsonl": MOST_LINES,
    "looks.jsonl": MOST_WHOLE,
    "gate.json": MOST_WHOLE,
    "selftest.json": MOST_WHOLE,
}
WRITTEN = ("iterations.jsonl", "summary.json", "report.html")
APPENDED = ("samples.jsonl", "iterations.jsonl", "details.jsonl", "blocks.jsonl", "looks.jsonl")
LOGS = "logs"

MOST = {"cases": 10_000, "runners": 200, "blocks": MOST_BLOCKS, "sessions": 1000, "looks": 100}
MOST_PLACES = 2_000_000  # invocations; 10,000 cells of 30 blocks are 300,000
MOST_PAIRED = 30_000_000  # blocks of two runners in a case; those cells have 1,350,000

NAME = re.compile(r"(?!\.+$)[\w.@+-]{1,200}")


class Sized(Protocol):
    """A plan, of a run or of its analysis."""

    @property
    def cases(self) -> Sequence[object]:
        """What is measured."""
        ...

    @property
    def runners(self) -> Sequence[object]:
        """Who is measured."""
        ...

    @property
    def blocks(self) -> int:
        """Passes over all."""
        ...

    @property
    def sessions(self) -> int:
        """Sittings."""
        ...

    @property
    def looks(self) -> int:
        """How often a gate may decide."""
        ...


def check(directory: Path) -> None:
    """Raise UsageError unless all that has a name of a run's files is a regular file."""
    for name in (*SIZES, *WRITTEN):
        bytes_ = plainfiles.size(directory / name)
        most = SIZES.get(name)
        if bytes_ is not None and most is not None and bytes_ > most:
            raise UsageError(
                f"{directory / name}: larger than {most // MB} MB, which no run writes"
            )
    plainfiles.check_folder(directory / LOGS)


def check_changeable(directory: Path) -> None:
    """Raise UsageError where going on with the run would change a file elsewhere."""
    for name in APPENDED:
        plainfiles.changeable(directory / name)
    logs = directory / LOGS
    for file in logs.iterdir() if logs.exists() else ():
        plainfiles.changeable(file)


def check_counts(where: str, plan: Sized) -> None:
    """Raise UsageError for numbers beyond reason; `where` is the file."""
    cases, runners = len(plan.cases), len(plan.runners)
    counts = {
        "cases": cases,
        "runners": runners,
        "blocks": plan.blocks,
        "sessions": plan.sessions,
        "looks": plan.looks,
    }
    for name, most in MOST.items():
        if counts[name] > most:
            raise UsageError(
                f"{where}: $.{name}: {counts[name]} is more than {most:,}, the most that is read"
            )
    if cases * (runners + 1) * plan.blocks > MOST_PLACES:
        raise UsageError(
            f"{where}: cases × runners × blocks are more than {MOST_PLACES:,} invocations, the "
            "most that are read"
        )
    if cases * runners * (runners + 1) // 2 * plan.blocks > MOST_PAIRED:
        raise UsageError(
            f"{where}: cases × pairs of runners × blocks are more than {MOST_PAIRED:,}, the most "
            "that are read"
        )


def check_name(where: str, name: str) -> None:
    """Raise UsageError for a name that is none of a folder beside another one."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{where} {name[:200]!r}: only letters, digits and . _ @ + - may be in a name"
        )
