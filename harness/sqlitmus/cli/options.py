"""Options that several commands share, and their parsers."""

import re
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from sqlitmus.run.folder import MOST_BLOCKS
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.suggest import unknown
from sqlitmus.vocabulary.terms import Scheme

_NOT_IN_LABELS = r"[^\w.@+-]"

Filters = Annotated[
    list[str] | None,
    typer.Option(
        "-f",
        "--filter",
        help="Narrow the suite's cells: substring, key:value, -not; all words in one -f match.",
    ),
]
Runners = Annotated[list[str] | None, typer.Option("-r", "--runner", help="Only these runners.")]
Cases = Annotated[list[str] | None, typer.Option("--case", help="These cases, by id.")]
Suite = Annotated[str, typer.Option(help="smoke, quick, service or full.")]
Mode = Annotated[
    str | None,
    typer.Option(help="smoke, quick, standard, rigorous or gate; the suite's own by default."),
]
SchemeName = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        help="relay (the processes of a case take turns) or process (one after the other); the "
        "mode's own by default.",
    ),
]
Size = Annotated[str, typer.Option(help="Fixture size: s, m or l.")]
Timeout = Annotated[
    float | None,
    typer.Option(help="Seconds that one invocation may take; the mode's own by default.", min=0.1),
]
Margin = Annotated[
    float,
    typer.Option(help="Differences below this many percent do not matter.", min=0.1, max=50),
]
Blocks = Annotated[int | None, typer.Option(help="Passes over all cells.", min=1, max=MOST_BLOCKS)]
TimeBudget = Annotated[
    str | None,
    typer.Option(
        help="As many blocks as fit beside verification and pilot, such as 90s, 20m or 1h."
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed of the order.")]
Label = Annotated[str, typer.Option(help="Ends the name of the run directory.")]
Out = Annotated[
    Path | None,
    typer.Option(parser=paths.given, metavar="FOLDER", help="Folder for run directories."),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")]
Format = Annotated[
    str,
    typer.Option("--format", help="What stdout gets: text, md, html, json or node-csv."),
]
Wait = Annotated[bool, typer.Option(help="Wait for another run on this machine to end.")]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="PRESET",
        help="Decide by this preset, or calls per 1,000 requests such as get-pk=600,all=250.",
    ),
]
Fresh = Annotated[bool, typer.Option(help="Forget earlier verifications and timings.")]


def scheme(name: str | None) -> Scheme | None:
    """The scheme of that name; raises UsageError when there is none."""
    if name in (None, *get_args(Scheme)):
        return cast("Scheme | None", name)
    raise UsageError(unknown("scheme", name or "", get_args(Scheme)))


def check_label(label: str, option: str = "--label") -> None:
    """Raise UsageError for a label that cannot be part of a folder's name."""
    if re.search(_NOT_IN_LABELS, label):
        raise UsageError(f"{option} {label!r}: use letters, digits and . _ @ + - only")


def as_label(text: str) -> str:
    """`text` with a dash for what a label may not have."""
    return re.sub(rf"{_NOT_IN_LABELS}+", "-", text)


def seconds(text: str) -> float:
    """Seconds of `90`, `90s`, `20m` or `1h`; raises UsageError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not match or float(match[1]) == 0:
        raise UsageError(
            f"--time-budget {text!r}: expected a number above 0 with s, m or h, such as 20m"
        )
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
