"""The merged report as GitHub-flavoured Markdown, short enough for a job summary (1 MiB)."""

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import machines as mergedwords
from sqlitmus.render.document import symbols as words
from sqlitmus.render.markdown.gfm import code, grid, row, text, top
from sqlitmus.render.markdown.page import LIMIT, RESERVE
from sqlitmus.results.machines import Answer, MergedReport, Pooled, Row

# Everything but the rows.
FRAME = 100_000


def render(report: MergedReport, *, room: int = LIMIT - RESERVE - FRAME) -> str:
    """The report; of the rows those that are decided, as far as they fit into `room` bytes."""
    decided = [one for one in report.rows if not mergedwords.folded(one)]
    kept, rest = mergedwords.chosen(decided, room, lambda one: len(_line(one).encode()) + 1)
    parts = [head(report), "## Does it hold?", text(_reading(report))]
    for group in report.groups:
        mine = [one for one in report.rows if one.group == group]
        if mine:
            parts.append(_group(report, group, [one for one in kept if one.group == group], mine))
    parts += [text(mergedwords.left_out(rest, report)), machines(report), foot(report)]
    return "\n\n".join(filter(None, parts)) + "\n"


def head(report: MergedReport) -> str:
    """Title, verdict, what is not there."""
    lines = [f"# {text(report.title)}", *map(text, report.headline)]
    absent = [text(line) for line in mergedwords.absent(report)]
    absent += [f"Not taken: {code(one.path)}: {text(one.reason)}" for one in report.refused]
    if absent:
        lines.append("\n>\n".join(f"> {line}" for line in absent))
    return "\n\n".join(lines)


def _reading(report: MergedReport) -> str:
    return f"{mergedwords.READING.format(reference=report.reference)} {mergedwords.POOLED}"


def _group(report: MergedReport, group: str, kept: list[Row], all_: list[Row]) -> str:
    """A group's decided rows, and how many are not."""
    folded = mergedwords.count(one for one in all_ if mergedwords.folded(one))
    parts = [f"### {text(group)}"]
    if kept:
        header = ["case", "runner", "does it hold?", "mean of a kind"]
        header += [text(machine.name) for machine in report.machines]
        parts.append("\n".join([top(header, left=4), *map(_line, kept)]))
    if folded:
        parts.append(f"Besides: {folded}.")
    return "\n\n".join(parts)


def _line(one: Row) -> str:
    said = f"{mergedwords.WORDS[one.word].symbol} {text(mergedwords.said(one))}"
    if one.beside:
        said += f"; {text(one.beside)}"
    cells = [code(one.case), code(one.runner), said, " ".join(map(_mean, one.pooled))]
    return row([*cells, *map(_answer, one.answers)])


def _mean(one: Pooled) -> str:
    value, bounds = fmt.ratio(one.ratio)
    return f"{value} {bounds} {text(one.kind)} × {one.machines}, next {fmt.ratio(one.next)[1]}"


def _answer(one: Answer) -> str:
    if one.ratio is None or one.verdict is None:
        return f"_{text(one.said)}_"
    value, bounds = fmt.ratio(one.ratio)
    shown = f"**{value}**" if one.verdict.different and not one.emulated else value
    note = " emulated" if one.emulated else ""
    return f"{one.verdict.symbol} {shown} {bounds}{note}".replace("  ", " ")


def machines(report: MergedReport) -> str:
    """What the machines are and what arrived of them."""
    header = ["machine", "kind", "CPU", "cores", "system", "SQLite", "blocks", "noise"]
    header += ["missing shards", "run"]
    lines = [
        [
            code(one.name),
            text(one.kind),
            text(mergedwords.cpus(one)),
            text(one.facts.get("cores", "unknown")),
            text(one.facts.get("os", "unknown")),
            text(mergedwords.sqlite(one)),
            mergedwords.blocks(one),
            one.grade or "unknown",
            mergedwords.shards(one),
            text(one.created),
        ]
        for one in report.machines
    ]
    return f"## Machines\n\n{grid(header, lines, left=len(header))}"


def foot(report: MergedReport) -> str:
    """How to read it."""
    holds = " · ".join(f"{look.symbol} {word}" for word, look in mergedwords.WORDS.items())
    own = f"One machine's own report: `./just report results/{report.run} --machine NAME`"
    return f"{holds}\n\n{words.marks()}\n\n{own}\n\nsqlitmus {text(report.sqlitmus_version)}"
