"""What lies in `docs/` is what the command writes, and what the documents say of it holds."""

# pyright: reportUnknownMemberType=false

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sqlitmus.cli.export import reports_of, schemas, text_of
from sqlitmus.export.model import ClaimRow, described, row_model
from tests.export import example
from tests.known import ROOT

DOCS = ROOT / "docs"
FILES = {
    "csv": "export.csv",
    "json": "export.json",
    "markdown": "export.md",
    "bmf": "bmf.json",
    "gha-benchmark": "gha-benchmark.json",
}


@pytest.fixture(scope="module")
def schema() -> Any:
    return schemas()["export"]


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


def test_the_committed_schema_is_what_the_command_prints(schema: Any) -> None:
    printed = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
    told = "run: ./just schema export --out docs/export.schema.json"
    assert (DOCS / "export.schema.json").read_text("utf-8") == printed, told
    Draft202012Validator.check_schema(schema)


def test_the_example_fits_the_schema_which_refuses_what_it_does_not_know(schema: Any) -> None:
    found = json.loads(text_of(example.reports(), "json"))
    validator = Draft202012Validator(schema)
    validator.validate(found)
    for change in ({"outcome": "fine"}, {"ratio": "0.5"}, {"reason": ""}, {"surprise": 1}):
        assert not validator.is_valid({**found, "rows": [{**found["rows"][0], **change}]})
    assert not validator.is_valid({**found, "schema_version": 2})


@pytest.mark.parametrize(
    ("run", "kind"),
    [("report", "recommendations"), ("workload", "recommendations"), ("advise", "settings")],
)
def test_what_a_run_finds_beside_its_cells_fits_the_schema(
    run: str, kind: str, schema: Any
) -> None:
    reports = reports_of(ROOT / "reports/example/runs" / run, None)
    exported = json.loads(text_of(reports, "json"))
    assert exported[kind]
    Draft202012Validator(schema).validate(exported)


def test_the_schema_describes_every_field(schema: Any) -> None:
    """But the ends of an interval, which the column before them stands for."""
    fields = {
        f"{part}.{name}": field
        for part, of in schema["$defs"].items()
        for name, field in of.get("properties", {}).items()
    }
    bare = [name for name, field in fields.items() if "description" not in field]
    assert not [name for name in bare if not re.search(r"_(low|high)$", name)]
    assert {*schema["$defs"]["Row"]["properties"]} == {*row_model().model_fields}


@pytest.mark.parametrize("model", [row_model(), ClaimRow])
def test_every_column_is_explained_once_in_order(model: Any) -> None:
    named: list[str] = []
    for line in described(model).splitlines():
        # `a`, or `a` with its ends (`a, _low, _high`)
        first, *ends = line.partition("  ")[0].split(", ")
        named += [first, *(first + end for end in ends)]
    assert named == [*model.model_fields]
