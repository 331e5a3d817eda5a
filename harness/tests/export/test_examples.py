"""What lies in `docs/` is what the command writes, and what the documents say of it holds."""

# pyright: reportUnknownMemberType=false

import json
import re

import pytest
from jsonschema import Draft202012Validator

from sqlitmus.cli.export import reports_of, schemas, text_of
from sqlitmus.export.model import ClaimRow, described, row_model
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Model
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


def test_the_schema_describes_every_field() -> None:
    """But the ends of an interval, which the column before them stands for."""
    parts = schemas()["export"]["$defs"].items()
    assert not [
        f"{part}.{name}"
        for part, schema in parts
        for name, field in schema.get("properties", {}).items()
        if not re.search(r"_(low|high)$", name) and "description" not in field
    ]
    assert set(dict(parts)["Row"]["properties"]) == {*row_model().model_fields}


@pytest.mark.parametrize("model", [row_model(), ClaimRow])
def test_every_column_is_explained_once_in_order(model: type[Model]) -> None:
    named = [
        name
        for line in described(model).splitlines()
        for name in with_ends(line.partition("  ")[0])
    ]
    assert named == [*model.model_fields]


def with_ends(columns: str) -> list[str]:
    """Columns of a line: `a`, or `a` with its ends (`a, _low, _high`)."""
    first, *ends = columns.split(", ")
    return [first, *(first + end for end in ends)]


def test_links_of_the_page_lead_somewhere() -> None:
    page = (DOCS / "exports.md").read_text("utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page):
        assert (DOCS / target).exists(), f"docs/exports.md: {target} is not there"
