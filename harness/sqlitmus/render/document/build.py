"""The builder of each kind of report: the only place that chooses by kind."""

from collections.abc import Callable

from sqlitmus.render.document import advice, claims, comparison, machines, suite
from sqlitmus.render.document.model import Document
from sqlitmus.results.machines import MergedReport
from sqlitmus.results.report import Report
from sqlitmus.vocabulary.verdicts import RunKind

BUILDERS: dict[RunKind, Callable[[Report], Document]] = {
    "suite": suite.build,
    "compare": comparison.build,
    "claims": claims.build,
    "advise": advice.build,
    "selftest": suite.build,
}


def build(report: Report | MergedReport) -> Document:
    """The document of a run's report, or of several machines'."""
    if isinstance(report, MergedReport):
        return machines.build(report)
    return BUILDERS[report.kind](report)
