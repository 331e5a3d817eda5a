"""A report as one self-contained HTML file, printed from its document.

The document comes first; what only a page has room for follows: each case with its samples, the
machine over the run, and where everything came from.
"""

from dataclasses import replace
from typing import Any

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols as words
from sqlitmus.render.document.build import build
from sqlitmus.render.document.model import Chart, Document, Legend, Section
from sqlitmus.render.html import (
    assets,
    charts,
    embed,
    entries,
    latencies,
    noise,
    pictures,
    sections,
    tails,
    threads,
    view,
    weights,
)
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.figure import Figure
from sqlitmus.vocabulary.figures import FIGURES
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.plain import visible
from sqlitmus.vocabulary.verdicts import Verdict

# Charts that the reader works with: they stand in for all of their section.
WORKED = ("summary", "matrix")
# Charts that stand before the table with the same figures.
DRAWN = ("threads", "histogram", "tails", "wal", "resident")
# With more cells the body of a case becomes elements when it is opened: a browser takes seconds for
# all of them.
RESERVED = 1_000
# Sections that the page has in more detail.
OWN = ("provenance",)


def render(report: Report) -> str:
    """The page for `report`."""
    document = matrix_first(build(report)) if report.weighing else build(report)
    runners = view.runner_views(report)
    first, main = assets.script("theme"), assets.bundle()
    return visible(
        assets.environment()
        .get_template("report.html.j2")
        .render(
            **shared(document),
            report=report,
            label=report.label,
            grade=report.noise.grade,
            machine=list(report.machine.items())[:6],
            runners=runners,
            looks={runner.name: look for runner, look, _ in runners},
            groups=view.group_views(report),
            profiles=sorted({c.axes["profile"] for c in report.cases if "profile" in c.axes}),
            summary=sections.summary(report),
            deciding=weights.deciding(report),
            figures=[(of.name, of.title) for of in FIGURES if measured(report, of)],
            noise=noise.noise(report),
            correction=words.correction(report),
            together=words.TOGETHER,
            steadiness=words.STEADINESS,
            scaling=sections.scaling(report),
            overhead=sections.overhead(report),
            provenance=sections.provenance(report),
            outcomes=words.OUTCOMES,
            data=assets.inlined(embed.page_data(report)),
            first_script=first,
            main_script=main,
            policy=assets.policy(first, main),
            left_out="",
            reserved=sum(len(case.cells) for case in report.cases) > RESERVED,
        )
    )


def matrix_first(document: Document) -> Document:
    """The matrix after the decision, which has summed it up."""
    charts = {section.id: [c.kind for c in charts_of(section)] for section in document.sections}
    ordered = sorted(document.sections, key=lambda section: "matrix" not in charts[section.id])
    return replace(document, sections=ordered)


def measured(report: Report, figure: Figure) -> bool:
    """Whether a cell of the report has the figure."""
    return any(figure.name in cell.figures for case in report.cases for cell in case.cells)


def shared(document: Document) -> dict[str, Any]:
    """What the templates of a document ask for, whatever it is of."""
    legends = [block for block in document.foot if isinstance(block, Legend)]
    first = document.sections[:1]
    return {
        "document": document,
        # a matrix explains its own marks
        "legends": [] if any(map(is_worked, first)) else legends,
        "foot": [block for block in document.foot if not isinstance(block, Legend)],
        "worked": any(map(is_worked, document.sections)),
        "WORKED": WORKED,
        "DRAWN": DRAWN,
        "OWN": OWN,
        "style": assets.styles(),
        "grades": words.GRADES,
        "verdicts": list(Verdict),
        "pictures": pictures.pictures,
        "charts_of": charts_of,
        "counted": counted,
        "threads": threads,
        "latencies": latencies,
        "tails": tails,
        "charts": charts,
        "fmt": fmt,
        "dash": entries.DASH,
    }


def charts_of(section: Section) -> list[Chart]:
    """The charts of a section itself."""
    return [block for block in section.blocks if isinstance(block, Chart)]


def is_worked(section: Section) -> bool:
    """Whether the reader works with the section's chart."""
    return any(chart.kind in WORKED for chart in charts_of(section))
