"""How each kind of chart is drawn: the template, and the view of its data that the template shows.

Kinds that are not here are drawn within a table, by `pictures`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlitmus.render.document.model import Chart, ChartKind, Document, Section
from sqlitmus.render.html import latencies, scaling, strips, summary, tails, threads, view
from sqlitmus.results.report import Runner


@dataclass(frozen=True, slots=True)
class Drawing:
    """`whole` stands in for all of its section: the reader works with it."""

    template: str
    view: Callable[[Any, Sequence[Runner]], object]
    whole: bool = False


DRAWINGS: dict[ChartKind, Drawing] = {
    "summary": Drawing("_summary.html.j2", summary.summary, whole=True),
    "matrix": Drawing("_matrix.html.j2", view.cases_view, whole=True),
    "scatter": Drawing("_scatter.html.j2", view.cases_view, whole=True),
    "cases": Drawing("_cases.html.j2", view.cases_view, whole=True),
    "conditions": Drawing("_strips.html.j2", strips.strips),
    "histogram": Drawing("_histogram.html.j2", latencies.panels),
    "scaling": Drawing("_panels.html.j2", scaling.panels),
    "threads": Drawing("_panels.html.j2", threads.panels),
    "tails": Drawing("_panels.html.j2", tails.panels),
    "wal": Drawing("_panels.html.j2", tails.log_sizes),
    "resident": Drawing("_panels.html.j2", tails.memory_sizes),
}


class Drawn:
    """A document with the views of its charts; charts of the same data share one."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._views: dict[tuple[object, int], object] = {}

    def view(self, chart: Chart) -> object:
        """What the chart's template shows."""
        make = DRAWINGS[chart.kind].view
        key = (make, id(chart.data))
        if key not in self._views:
            self._views[key] = make(chart.data, self.document.runners)
        return self._views[key]

    def template(self, chart: Chart) -> str:
        """The name of the template that draws it; "" for one that is drawn within a table."""
        drawing = DRAWINGS.get(chart.kind)
        return drawing.template if drawing else ""

    def whole(self, section: Section) -> list[Chart]:
        """The charts of a section that stand in for all of it."""
        return [
            chart
            for chart in section.charts
            if chart.kind in DRAWINGS and DRAWINGS[chart.kind].whole
        ]

    @property
    def begins_whole(self) -> bool:
        """Whether the first section is a chart that the reader works with."""
        return any(map(self.whole, self.document.sections[:1]))

    @property
    def worked(self) -> bool:
        """Whether the reader can choose a reference for the figures."""
        kinds = {c.kind for section in self.document.sections for c in section.charts}
        return bool(kinds & {"summary", "matrix"})
