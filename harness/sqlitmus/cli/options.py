"""What commands share: options and their parsers, and where their output goes."""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import MISSING, asdict, fields, replace
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, get_type_hints

import typer

from sqlitmus.machine import plainfiles
from sqlitmus.run.plan.options import NOT_IN_NAMES, Options
from sqlitmus.run.processes.progress import Progress
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import Exit, NotFit, SqlitmusError, UsageError
from sqlitmus.vocabulary.text import json_text, one_line, visible

if TYPE_CHECKING:
    from sqlitmus.catalog.definitions import Catalog
    from sqlitmus.results.machines import MergedReport
    from sqlitmus.results.report import Report
    from sqlitmus.run.measure.blocks import Ended

Format = Annotated[
    str,
    typer.Option("--format", help="What stdout gets: text, md, comment, html, json or node-csv."),
]
Explain = Annotated[
    bool,
    typer.Option("--explain", help="Print all of the report, not only the answer and the figures."),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="PRESET",
        help="Decide by this preset, or calls per 1,000 requests such as get-pk=600,all=250.",
    ),
]

Value = str | int | None | list[str] | Mapping[str, str | list[str]]
Rows = Sequence[Mapping[str, Value]]
Command = Callable[..., None]


def with_options(names: str, **defaults: object) -> Callable[[Command], Command]:
    """Let a command offer the fields `names` of Options, some with other `defaults`, and take them
    as its parameter `options`, in whose place they stand in its help."""
    hints = get_type_hints(Options, include_extras=True)
    by_name = {each.name: each for each in fields(Options)}

    def option(name: str) -> Parameter:
        default = by_name[name].default
        if default is MISSING:
            default = list[str]()
        default = defaults.get(name, default)
        return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])

    offered = [option(name) for name in names.split()]

    def offering(command: Command) -> Command:
        parameters = [
            parameter.replace(kind=Parameter.KEYWORD_ONLY)
            for declared in signature(command, eval_str=True).parameters.values()
            for parameter in (offered if declared.name == "options" else [declared])
        ]

        @wraps(command)
        def called(**words: Any) -> None:  # noqa: ANN401 — typer gives what the parameters say
            chosen = {each.name: words.pop(each.name) for each in offered}
            command(options=Options(**chosen, rerun=_rerun()), **words)

        called.__signature__ = Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        called.__annotations__ = {each.name: each.annotation for each in parameters}
        return called

    return offering


def _rerun() -> str:
    """The command as it was given, without the folder of its results."""
    words = sys.argv[1:]
    lasting = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if "--out" not in (before, word) and not word.startswith("--out=")
    ]
    return f"./just {shlex.join(lasting)}"


def as_label(text: str) -> str:
    """`text` with a dash for what a label may not have."""
    return re.sub(rf"{NOT_IN_NAMES}+", "-", text)


# Writes a command's output: a file, stdout, stderr.

FORMATS = ("html", "md", "comment", "json", "text", "node-csv")


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


def show(rows: Rows, *, as_json: bool) -> None:
    """Print rows as a table, or that there are none; or as JSON."""
    if as_json:
        tell(json_text(json.dumps(rows, indent=1, ensure_ascii=False)))
        return
    if not rows:
        tell("there are none")
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in rows[0]:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(_text(value))) for value in row.values()))
    Console().print(table)


def _text(value: Value) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return " | ".join(value)
    return str(value or "")


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


def watched(options: Options, weights: str | None = None) -> Progress:
    """A session's progress, which between blocks makes the page of the run so far."""
    progress = Progress(quiet=options.quiet)
    progress.so_far = partial(_so_far, progress, weights, under_way=True)
    return progress


def _so_far(progress: Progress, weights: str | None, run: Path, *, under_way: bool) -> None:
    """Make the page of the unfinished `run`, and tell where it stands."""
    from sqlitmus.analysis.assemble import analyse
    from sqlitmus.analysis.data import load
    from sqlitmus.render.document import sentences

    try:
        if (data := replace(load(run), under_way=under_way)).plan.confirms:
            return  # it is read with the run that it confirms
        save(text_of(report := analyse(data, None, weights), "html"), run / "report.html")
    except SqlitmusError as error:
        progress.say(f"no page of the run so far: {error}")
        return
    if report.blocks_complete == 1 or not under_way:
        progress.say(f"report so far: {run / 'report.html'}")
    progress.say(sentences.so_far(report))


def measured(ended: "Ended", progress: Progress, weights: str | None = None) -> Path:
    """The run's directory; where it was interrupted, make its page, say how to resume, and end."""
    if ended.exit != Exit.INTERRUPTED and ended.directory:
        return ended.directory
    where = "nothing was measured yet"
    if ended.directory:
        from sqlitmus.store.folder import RunDirectory

        command = f"go on with: ./just run --resume {shlex.quote(str(ended.directory))}"
        where = f"{where}; {command}"
        if RunDirectory(ended.directory).samples():
            where = command
            with suppress(KeyboardInterrupt):  # the page before is whole
                _so_far(progress, weights, ended.directory, under_way=False)
    progress.insist(f"interrupted; {where}")
    raise typer.Exit(ended.exit)


def finish(
    ended: "Ended",
    progress: Progress,
    format_: str = "text",
    *,
    all_rows: bool = False,
    weights: str | None = None,
    explain: bool = False,
) -> NoReturn:
    """End a command that measured: its page, its report in `format_` on stdout, its exit code.

    Unless it is to `explain` or has `all_rows`, the text is brief.
    """
    directory = measured(ended, progress, weights)
    with reporting(directory):
        from sqlitmus.analysis.assemble import analyse
        from sqlitmus.analysis.data import load

        save_reports(report := analyse(load(directory), None, weights), directory)
        write(text_of(report, format_, all_rows=all_rows, brief=not (explain or all_rows)), None)
    for line in ended.findings:
        progress.insist(line)
    if format_ == "text" and not (explain or all_rows):
        progress.say(f"in words: ./just report {shlex.quote(str(directory))} --format text")
    progress.say(f"report: {directory / 'report.html'}")
    raise typer.Exit(ended.exit)


def finish_selftest(ended: "Ended", progress: Progress, *, json_: bool = False) -> NoReturn:
    """End a self-test: its lines on stdout and in its report, its result for later reports."""
    from sqlitmus.analysis.assemble import analyse
    from sqlitmus.analysis.data import load
    from sqlitmus.analysis.selftest import BLOCKS_NEEDED, self_test
    from sqlitmus.store.folder import RunDirectory, selftest_file

    directory = measured(ended, progress)
    with reporting(directory):
        run = load(directory)
        result = None if ended.exit else self_test(run)
        text = json.dumps(result and asdict(result), indent=1, ensure_ascii=False)
        if result:
            selftest_file().write_bytes(text.encode())
            RunDirectory.open(directory).conclude(result.lines)
            run = replace(run, gate=result.lines)
        save_reports(analyse(run), directory)
    progress.say(f"report: {directory / 'report.html'}")
    if ended.exit:
        raise typer.Exit(ended.exit)
    if result is None:
        progress.insist(
            f"{run.plan.blocks} blocks are too few for a rate: {BLOCKS_NEEDED} are needed; "
            "give more --time-budget or --blocks"
        )
        raise typer.Exit(Exit.UNDECIDED)
    if json_:
        tell(json_text(text))
    else:
        word = "passed" if result.passed else "FAILED: verdicts on this machine need care"
        tell("\n".join([*result.lines, word]))
    raise typer.Exit(Exit.DONE if result.passed else Exit.GATE_FAILED)


def compare_answers(
    options: Options,
    catalog: "Catalog",
    tools: paths.Tools,
    *,
    json_: bool = False,
    keep_jobs: bool = True,
) -> Exit:
    """Verify cells of a suite and tell what came of each; jobs of what goes wrong are kept if
    `keep_jobs`."""
    from sqlitmus.run.measure.blocks import exit_of
    from sqlitmus.run.plan import planning
    from sqlitmus.run.verify.answers import verify_at_once, verify_cells
    from sqlitmus.run.verify.context import opened
    from sqlitmus.vocabulary.figures import durability

    _, mode = options.mode_in(catalog)
    chosen, cells = planning.chosen(options, catalog, mode)
    session = opened(
        *(catalog, tools, Progress(), cells),
        size=options.size,
        timeout_s=options.timeout_s or mode.timeout_s,
        fresh=True,
        remember=False,
        keep_jobs=keep_jobs,
    )
    with session as context:
        present = context.present(cells)
        answers = verify_cells(context, chosen, present)
        if not context.stop.requested:
            verify_at_once(context, chosen, present, answers)
        stopped = bool(context.stop.requested)
        context.progress.clear()
        evidence = paths.cache("evidence")
        shutil.rmtree(evidence)
        evidence.mkdir()
        context.invocations.keep_logs(evidence)
    records = list(answers.records.values())
    if json_:
        tell(json.dumps([r.model_dump(mode="json") for r in records], indent=1))
    else:
        for record in records:
            words = record.reason or durability(record.syncs, record.uncounted)
            reason = f": {words}" if words else ""
            tell(one_line(f"{record.outcome:12} {record.case}/{record.runner}{reason}"))
        if any(record.log for record in records):
            warn(f"jobs, results and logs of what went wrong: {evidence}")
    return Exit.INTERRUPTED if stopped else exit_of({record.outcome for record in records})


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
    pages: Sequence[bytes] = (),
    *,
    all_rows: bool = False,
    brief: bool = False,
) -> str:
    """`report` in one of the formats; `all_rows` of its tables, not only those of interest, or as a
    `brief` text. `pages` are the packed ones of a merged report's machines."""
    from sqlitmus.render.document.build import build
    from sqlitmus.results import machines
    from sqlitmus.results.machines import MergedReport

    if format_ == "json":
        return machines.render(report)
    if format_ == "html":
        from sqlitmus.render.html import page

        merged = isinstance(report, MergedReport)
        return page.render_merged(report, pages) if merged else page.render(report)
    if format_ == "node-csv" and not isinstance(report, MergedReport):
        from sqlitmus.export import formats

        return formats.render_node_csv(report)
    from sqlitmus.render import markdown, terminal

    document = build(report)
    if format_ == "comment":
        return markdown.comment(document)
    if format_ == "md":
        return markdown.render(document, all_rows=all_rows)
    return terminal.render(
        document,
        width=shutil.get_terminal_size((100, 24)).columns,
        color=sys.stdout.isatty() and "NO_COLOR" not in os.environ,
        plain=not (sys.stdout.encoding or "ascii").lower().startswith("utf"),
        all_rows=all_rows,
        brief=brief,
    )
