"""Claims in GitHub-flavoured Markdown."""

from sqlitmus.render.document import claims as claimwords
from sqlitmus.render.markdown.gfm import grid, text
from sqlitmus.results.claims import Claim, Group, Row
from sqlitmus.results.report import Report

LEFT = 6


def parts(report: Report, *, all_rows: bool) -> list[str]:
    """Each claim: its head, its groups, its tables."""
    found: list[str] = []
    for claim in report.claims:
        found.append(head(claim))
        found += [group_text(group, all_rows=all_rows) for group in claim.groups]
        for title, summary, table, problems in claimwords.grids(claim):
            lines = [[text(cell) for cell in line] for line in table.lines]
            body = [f"### {text(title)}", text(summary), grid(table.header, lines, table.left)]
            found.append("\n\n".join([*filter(None, body), *map(text, problems)]))
    return found


def head(claim: Claim) -> str:
    """Title and facts."""
    facts = [f"- **{name}:** {text(said)}" for name, said in claimwords.facts(claim)]
    return "\n".join([f"## {text(claim.title)}", "", *facts])


def group_text(group: Group, *, all_rows: bool) -> str:
    """The rows of a group; of many, those that decide nothing are folded."""
    rows, folded = claimwords.shown(group, all_rows=all_rows)
    found = [f"### {text(group.title)}", f"{text(claimwords.measured(group))}"]
    if rows:
        found.append(rows_text(rows))
    if folded:
        body = f"{claimwords.tally(folded)}</summary>\n\n{rows_text(folded)}"
        found.append(f"<details><summary>{body}\n\n</details>")
    return "\n\n".join(found)


def rows_text(rows: list[Row]) -> str:
    """A table of rows."""
    lines: list[list[str]] = []
    for row in rows:
        line = claimwords.line(row)
        look = claimwords.WORDS[row.verdict] if row.verdict else None
        published = " ".join(filter(None, [line.published, row.said and f"({row.said})"]))
        here = f"**{line.ratio}** {line.bounds}".rstrip() if row.ratio else line.ratio
        said = text(f"{look.symbol if look else ''} {line.said}")
        cells = [text(row.name), text(row.runner), text(published), here, line.times, said]
        lines.append([*cells, line.blocks])
    return grid(list(claimwords.HEADER), lines, LEFT)
