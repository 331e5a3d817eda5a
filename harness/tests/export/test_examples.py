"""What lies in `docs/` is what the command writes, and what the documents say of it holds."""

# pyright: reportUnknownMemberType=false

import json
import re

import pytest
from jsonschema import Draft202012Validator

from sqlitmus.cli.export import text_of
from sqlitmus.cli.schema import schemas
from sqlitmus.export.model import row_model
from sqlitmus.export.rows import reports_of
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.figures import FIGURES, Figure
from tests.export import example

DOCS = paths.ROOT / "docs"
FILES = {
    "csv": "export.csv",
    "json": "export.json",
    "markdown": "export.md",
    "bmf": "bmf.json",
    "gha-benchmark": "gha-benchmark.json",
}


@pytest.mark.parametrize("format_", FILES)
def test_the_example_is_what_the_command_writes(
    format_: str, request: pytest.FixtureRequest
) -> None:
    file = DOCS / "example-export" / FILES[format_]
    written = text_of(example.reports(), format_)
    if request.config.getoption("update_snapshots"):
        file.write_text(written, encoding="utf-8", newline="\n")
    told = "run: ./just pytest harness/tests/export/test_examples.py --snapshot-update"
    assert file.read_text("utf-8") == written, told


def test_the_committed_schema_is_what_the_command_prints() -> None:
    printed = json.dumps(schemas()["export"], indent=1, ensure_ascii=False) + "\n"
    told = "run: ./just schema export --out docs/export.schema.json"
    assert (DOCS / "export.schema.json").read_text("utf-8") == printed, told
    Draft202012Validator.check_schema(schemas()["export"])


def test_the_example_fits_the_schema_which_refuses_what_it_does_not_know() -> None:
    found = json.loads(text_of(example.reports(), "json"))
    validator = Draft202012Validator(schemas()["export"])
    validator.validate(found)
    for change in ({"outcome": "fine"}, {"ratio": "0.5"}, {"reason": ""}, {"surprise": 1}):
        assert not validator.is_valid({**found, "rows": [{**found["rows"][0], **change}]})
    assert not validator.is_valid({**found, "schema_version": 2})


@pytest.mark.parametrize(
    ("run", "kind"),
    [("report", "recommendations"), ("workload", "recommendations"), ("advise", "settings")],
)
def test_what_a_run_finds_beside_its_cells_fits_the_schema(run: str, kind: str) -> None:
    reports = reports_of(paths.ROOT / "reports/example/runs" / run, None)
    exported = json.loads(text_of(reports, "json"))
    assert exported[kind]
    Draft202012Validator(schemas()["export"]).validate(exported)


def test_the_page_has_the_table_of_figures(request: pytest.FixtureRequest) -> None:
    file = DOCS / "exports.md"
    page = file.read_text("utf-8")
    head, _, rest = parted(page, "| figure | holds |\n|---|---|\n")
    written = head + "\n".join(line for one in FIGURES for line in explained(one)) + rest
    if request.config.getoption("update_snapshots"):
        file.write_text(written, encoding="utf-8", newline="\n")
    told = "run: ./just pytest harness/tests/export/test_examples.py --snapshot-update"
    assert file.read_text("utf-8") == written, told


def explained(figure: Figure) -> list[str]:
    """Lines of the table: what a figure's columns hold."""
    ends = ", `_low`, `_high`"
    lines = [f"| `{figure.column}`{ends if figure.primary else ''} | {figure.meaning} |"]
    if figure.judged:
        words = "" if figure.smaller == "faster" else f"; “faster” means {figure.smaller}"
        lines.append(
            f"| `{figure.name}_ratio`{ends}, `{figure.name}_verdict` | the figure divided by the "
            f"reference's, and the verdict{words} |"
        )
    return lines


def parted(page: str, head: str) -> tuple[str, str, str]:
    """The page up to the head of a table, the table's rows, and the rest."""
    before, found, after = page.partition(head)
    table, gap, rest = after.partition("\n\n")
    return before + found, table, gap + rest


def test_the_page_explains_every_column_in_order() -> None:
    page = (DOCS / "exports.md").read_text("utf-8")
    tables = [parted(page, f"| {what} | holds |\n|---|---|\n")[1] for what in ("column", "figure")]
    named = [
        name
        for cell in re.findall(r"^\| (.+?) \|", "\n".join(tables), re.MULTILINE)
        for name in columns(cell)
    ]
    assert named == [*row_model().model_fields]


def columns(cell: str) -> list[str]:
    """Columns that a cell names: `a`, `b`, or `a` with its ends (`_low`, `_high`)."""
    names: list[str] = []
    for name in re.findall(r"`(\w+)`", cell):
        names.append(names[0] + name if name.startswith("_") else name)
    return names


def test_links_of_the_page_lead_somewhere() -> None:
    page = (DOCS / "exports.md").read_text("utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page):
        assert (DOCS / target).exists(), f"docs/exports.md: {target} is not there"
