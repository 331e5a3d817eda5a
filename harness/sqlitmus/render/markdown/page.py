"""A report as GitHub-flavoured Markdown, short enough for a job summary (1 MiB)."""

from sqlitmus.render.document import (
    claims as claimwords,
)
from sqlitmus.render.document import (
    comparison as changes,
)
from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import (
    matrix as table,
)
from sqlitmus.render.document import (
    symbols as words,
)
from sqlitmus.render.markdown import claims as claimmarkdown
from sqlitmus.render.markdown.gfm import code, grid, text
from sqlitmus.results.report import Report, Standing
from sqlitmus.vocabulary.nouns import counted

LIMIT = 1024 * 1024
RESERVE = 1024


def render(report: Report, *, all_rows: bool = False) -> str:
    """The report; when it would pass 1 MiB the last parts go, and the text says how many. Of an A/B
    comparison the rows without a difference are named in one line, unless `all_rows`."""
    parts = [head(report)]
    if report.kind == "compare":
        parts += [changed(report, one, all_rows=all_rows) for one in changes.tables(report)]
        parts.append(means(report))
    elif report.kind == "claims":
        parts += claimmarkdown.parts(report, all_rows=all_rows)
    else:
        parts.append(summary(report))
        parts += [group_table(report, name, rows) for name, rows in table.rows(report)]
    parts += [problem_list(report), provenance(report), foot(report)]
    return joined([part for part in parts if part])


def joined(parts: list[str]) -> str:
    """The parts that fit, in order."""
    kept: list[str] = []
    room = LIMIT - RESERVE
    for part in parts:
        size = len(part.encode()) + 2
        if size > room:
            continue
        room -= size
        kept.append(part)
    left_out = len(parts) - len(kept)
    if left_out:
        kept.append(f"_Left out for length: {counted(left_out, 'part')}; the HTML has them._")
    return "\n\n".join(kept) + "\n"


def head(report: Report) -> str:
    """Title, verdict, notices."""
    lines = [f"# {text(report.title)}", ""]
    lines += [f"{text(line)}\n" for line in report.headline]
    lines += [f"> {text(line)}" for line in report.notices]
    blocks = f"{report.blocks_complete} of {report.blocks_planned} blocks"
    facts = f"suite {text(report.suite)} · {blocks} · reference {code(report.reference)}"
    trust = [report.noise.summary, report.noise.consequence, report.canary_summary]
    lines += ["", facts, "", " ".join(text(line) for line in trust if line)]
    return "\n".join(lines)


def changed(report: Report, found: changes.Table, *, all_rows: bool) -> str:
    """One figure of an A/B comparison: what differs as a table, the rest as a line."""
    base, new = changes.subjects(report)
    rows = found.rows + found.folded if all_rows else found.rows
    parts = [f"## {found.title}"]
    if rows:
        head = ["case", code(base), code(new), "Δ [95 %]", "verdict", "blocks"]
        head = head if rows[0].blocks is not None else head[:-1]
        parts.append(grid(head, [change_line(row)[: len(head)] for row in rows]))
    if found.folded and not all_rows:
        names = ", ".join(code(row.name) for row in found.folded)
        parts.append(f"<details><summary>{found.count()}</summary>\n\n{names}\n\n</details>")
    return "\n\n".join(parts)


def change_line(row: changes.Row) -> list[str]:
    """One row: a change in bold when it is decided."""
    if row.verdict is None:
        return [code(row.name), row.base, row.new, row.change, text(row.said), ""]
    change = f"**{row.change}**" if row.verdict.different else row.change
    verdict = f"{row.verdict.symbol} {row.said}"
    blocks = "" if row.blocks is None else str(row.blocks)
    return [code(row.name), row.base, row.new, f"{change} {row.bounds}".rstrip(), verdict, blocks]


def means(report: Report) -> str:
    """The geometric means at the foot of an A/B comparison."""
    found = changes.means(report)
    if not found:
        return ""
    lines = [[text(m.group), str(m.cases), f"{m.change} {m.bounds}".rstrip()] for m in found]
    return f"## Geometric means\n\n{grid(['group', 'cases', 'Δ [95 %]'], lines)}"


def summary(report: Report) -> str:
    """Geometric means, one row per runner and one column per group."""
    found = {(s.runner, s.group): s for s in report.standings if s.reference == report.reference}
    if not found:
        return ""
    names = [r.name for r in report.runners if any((r.name, g) in found for g in report.groups)]
    lines = [[code(n), *[standing(found.get((n, g))) for g in report.groups]] for n in names]
    table_text = grid(["runner", *map(text, report.groups)], lines)
    return (
        f"## Summary\n\nGeometric mean of time relative to {code(report.reference)} with its 95 % "
        f"interval; below 1 is faster.\n\n{table_text}"
    )


def standing(found: Standing | None) -> str:
    """One geometric mean."""
    if found is None or found.ratio is None:
        return "–"
    return " ".join(fmt.ratio(found.ratio))


def group_table(report: Report, name: str, rows: list[table.Row]) -> str:
    """All cases of a group: the reference's time, then each other runner's ratio and verdict."""
    place = next((i for i, r in enumerate(report.runners) if r.name == report.reference), None)
    others = [i for i in range(len(report.runners)) if i != place]
    header = ["case", "" if place is None else code(report.reference)]
    header += [code(report.runners[i].name) for i in others]
    lines: list[list[str]] = []
    for row in rows:
        own = "" if place is None else cell(row.entries[place])
        lines.append([code(row.name), own, *[cell(row.entries[i]) for i in others]])
    return f"## {text(name)}\n\n{grid(header, lines)}"


def cell(entry: table.Entry) -> str:
    """A ratio in bold when it is decided, with its interval and symbol."""
    if entry.comparison is None:
        return entry.text if entry.outcome == "ok" else f"_{entry.text}_"
    verdict = entry.comparison.verdict
    value = f"**{entry.text}**" if verdict.different else entry.text
    return f"{verdict.symbol} {value} {entry.bounds}".rstrip()


def problem_list(report: Report) -> str:
    """Cells that answered wrongly or failed."""
    lines = [
        [code(case), code(runner), what, text(reason)]
        for case, runner, what, reason in table.problems(report)
    ]
    if not lines:
        return ""
    return f"## Wrong or failed\n\n{grid(['case', 'runner', 'outcome', 'reason'], lines, left=4)}"


def provenance(report: Report) -> str:
    """Facts that differ between runners, folded away."""
    facts = [fact for fact in report.provenance if fact.differs]
    if not facts:
        return ""
    names = [r.name for r in report.runners if any(r.name in fact.values for fact in facts)]
    lines = [
        [text(f"{fact.group}: {fact.name}"), *[text(fact.values.get(n, "unknown")) for n in names]]
        for fact in facts
    ]
    count = counted(len(facts), "fact")
    body = grid(["fact", *map(code, names)], lines, left=len(names) + 1)
    return (
        f"<details><summary>{count} that differ between runners</summary>\n\n{body}\n\n</details>"
    )


def foot(report: Report) -> str:
    """How to read it, what the self-test said, and how to run it again."""
    what = "Numbers are time over the reference's time"
    if report.kind == "compare":
        what = "Δ is the change from the base"
    reading = f"{words.marks()}. {what}; brackets are 95 % intervals. {words.correction(report)}"
    if report.kind == "claims":
        reading = text(f"{claimwords.reading()} {claimwords.correction(report)}")
    selftest = " ".join(text(line) for line in words.selftest(report))
    named = (
        f"sqlitmus {text(report.sqlitmus_version)} · run {code(report.run)} · seed {report.seed}"
    )
    return "\n\n".join([reading, f"Run again: {code(report.rerun)}", selftest, named])
