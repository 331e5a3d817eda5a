"""What commands share: options and their parsers, and where their output goes."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypedDict, cast, get_args

import typer

from sqlitmus.catalog.plan import MOST_BLOCKS
from sqlitmus.machine import plainfiles
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, NotFit, UsageError
from sqlitmus.vocabulary.text import unknown, visible
from sqlitmus.vocabulary.verdicts import Scheme

if TYPE_CHECKING:
    from sqlitmus.results.machines import MergedReport
    from sqlitmus.results.report import Report
    from sqlitmus.run.blocks import Ended
    from sqlitmus.run.progress import Progress


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


# Writes a command's output: a file, stdout, stderr.


FORMATS = ("html", "md", "json", "text", "node-csv")


def write(text: str, output: Path | None) -> None:
    """Write a command's output to the file that the user named, or to stdout for `-` and None.

    Here a link is followed, and a device or a pipe is written to: the user chose it.
    """
    if output is None or str(output) == "-":
        sys.stdout.write(text)
        return
    target = Path(os.path.realpath(output))
    with _written(output):
        if target.is_file() or not target.exists():
            _replace(target, text)
        else:
            target.write_bytes(text.encode())
    warn(f"{output}")


def save(text: str, output: Path) -> None:
    """Write a file whole, through no link; raises NotFit when it cannot be written, and UsageError
    where something else than a file has its name."""
    with _written(output):
        _replace(output, text)


def tell(text: str) -> None:
    """Print lines on stdout, without what drives a terminal."""
    print(visible(text))


def warn(text: str) -> None:
    """Print lines on stderr, without what drives a terminal."""
    print(visible(text), file=sys.stderr)


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    plainfiles.replace(file, text.encode())


@contextmanager
def _written(output: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise NotFit(
            f"{output}: cannot be written: {error.strerror}; free some space or choose another file"
        ) from error


def check_format(
    name: str, formats: Sequence[str] = FORMATS, lead: str = "there is no format"
) -> None:
    """Raise UsageError for a name that is not among `formats`, by default those of a report."""
    if name not in formats:
        raise UsageError(f"{lead} {name!r}; expected one of {', '.join(formats)}")


def interrupted(directory: Path | None, progress: "Progress") -> None:
    """Print how to resume; `directory` is None when there is nothing to resume."""
    command = f"./just run --resume {shlex.quote(str(directory))}"
    where = f"go on with: {command}" if directory else "nothing was measured yet"
    progress.insist(f"interrupted; {where}")


def finish(
    ended: "Ended",
    progress: "Progress",
    format_: str = "text",
    *,
    all_rows: bool = False,
    weights: str | None = None,
) -> NoReturn:
    """End a command that measured: its page, its report in `format_` on stdout, its exit code."""
    if ended.exit == Exit.INTERRUPTED or ended.directory is None:
        interrupted(ended.directory, progress)
        raise typer.Exit(ended.exit)
    with reporting(ended.directory):
        from sqlitmus.analysis import analyse, load

        save_reports(report := analyse(load(ended.directory), None, weights), ended.directory)
        write(text_of(report, format_, all_rows=all_rows), None)
    for line in ended.findings:
        progress.insist(line)
    progress.say(f"report: {ended.directory / 'report.html'}")
    raise typer.Exit(ended.exit)


def save_reports(report: "Report", directory: Path) -> None:
    """Write report.html and summary.json into the run directory."""
    save(text_of(report, "json"), directory / "summary.json")
    save(text_of(report, "html"), directory / "report.html")


@contextmanager
def reporting(directory: Path) -> Generator[None]:
    """Where the report of a whole run is made: after a Ctrl-C inside the block, says how to."""
    try:
        yield
    except KeyboardInterrupt:
        command = f"./just report {shlex.quote(str(directory))}"
        print(f"interrupted; all is measured, and this renders it: {command}", file=sys.stderr)
        raise typer.Exit(Exit.INTERRUPTED) from None


# A report in the format that was asked for.


def text_of(
    report: "Report | MergedReport",
    format_: str,
    pages: Sequence[bytes | None] = (),
    *,
    all_rows: bool = False,
) -> str:
    """`report` in one of the formats; `all_rows` of its tables, not only those of interest. `pages`
    are the packed ones of a merged report's machines."""
    from sqlitmus.render.document.build import build
    from sqlitmus.results import machines
    from sqlitmus.results.machines import MergedReport

    if format_ == "json":
        return machines.render(report)
    if format_ == "html":
        from sqlitmus.render.html import page

        if isinstance(report, MergedReport):
            return page.render_merged(report, [made or b"" for made in pages])
        return page.render(report)
    if format_ == "node-csv" and not isinstance(report, MergedReport):
        from sqlitmus.export import formats

        return formats.render_node_csv(report)
    if format_ == "md":
        from sqlitmus.render import markdown

        return markdown.render(build(report), all_rows=all_rows)
    from sqlitmus.render import terminal

    return terminal.render(build(report), **terminal_look(), all_rows=all_rows)


class Look(TypedDict):
    """How a terminal wants its text."""

    width: int
    color: bool
    plain: bool


def terminal_look() -> Look:
    """Width of the terminal, whether it shows colours, and whether it has ASCII only."""
    encoding = sys.stdout.encoding or "ascii"
    return Look(
        width=shutil.get_terminal_size((100, 24)).columns,
        color=sys.stdout.isatty() and "NO_COLOR" not in os.environ,
        plain=not encoding.lower().startswith("utf"),
    )
