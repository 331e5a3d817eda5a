"""A report as one self-contained HTML file, printed from its document."""

from collections.abc import Mapping
from dataclasses import replace

from sqlitmus.render.document import format as fmt
from sqlitmus.render.document import symbols as words
from sqlitmus.render.document.build import build
from sqlitmus.render.document.model import Chart, Document, Legend, Section
from sqlitmus.render.html import assets, drawings, embed, entries, pictures, weights
from sqlitmus.render.html.look import looks
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.nouns import counted
from sqlitmus.vocabulary.plain import visible
from sqlitmus.vocabulary.verdicts import Verdict


def render(report: Report) -> str:
    """The page for `report`: its document, with controls over the cases."""
    document = build(report)
    deciding = weights.deciding(report)
    if deciding:
        document = matrix_first(document)
    drawn = drawings.Drawn(document)
    return printed(
        "report.html.j2",
        drawn,
        assets.inlined(embed.page_data(report)),
        [assets.bundle()],
        {"chosen": drawn.view(Chart("cases", report)), "deciding": deciding},
    )


def matrix_first(document: Document) -> Document:
    """The matrix after the decision, which has summed it up."""

    def after(section: Section) -> bool:
        return "matrix" not in {chart.kind for chart in section.charts}

    return replace(document, sections=sorted(document.sections, key=after))


def printed(
    template: str,
    drawn: drawings.Drawn,
    data: str,
    scripts: list[str],
    besides: Mapping[str, object],
) -> str:
    """A document through a template that extends that of documents and asks for what is `besides`.

    The first script is the page's, which reads `data`; the others are of pages that it unpacks.
    """
    document = drawn.document
    legends = [block for block in document.foot if isinstance(block, Legend)]
    theme = assets.script("theme")
    return visible(
        assets.environment()
        .get_template(template)
        .render(
            document=document,
            drawn=drawn,
            # a chart that stands in for its section explains its own marks
            legends=[] if drawn.begins_whole else legends,
            foot=[block for block in document.foot if not isinstance(block, Legend)],
            looks=looks(document.runners),
            grades=words.GRADES,
            words=words,
            verdicts=list(Verdict),
            fmt=fmt,
            pictures=pictures.pictures,
            counted=counted,
            dash=entries.DASH,
            style=assets.styles(),
            data=data,
            first_script=theme,
            main_script=scripts[0],
            policy=assets.policy(theme, *scripts),
            **besides,
        )
    )
