"""The committed JSON Schemas are those of the models, and the vectors and the oracle fit them."""

# pyright: reportUnknownMemberType=false

import json
import re
from typing import get_args

import pytest
from jsonschema import Draft202012Validator

from sqlitmus.cli.schema import schemas
from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.contract import LEVELS, Job, Level, levels
from tests.contract.performed import VECTORS
from tests.contract.started import CONTRACT, Json

JOB = Draft202012Validator(schemas()["job"])


@pytest.mark.parametrize("name", ["job", "result", "describe"])
def test_the_committed_schema_is_what_the_command_prints(name: str) -> None:
    file = CONTRACT / f"{name}.schema.json"
    printed = json.dumps(schemas()[name], indent=1, ensure_ascii=False) + "\n"
    told = f"run: ./just schema {name} --out runners/contract/{file.name}"
    assert file.read_text("utf-8") == printed, told
    Draft202012Validator.check_schema(schemas()[name])


@pytest.mark.parametrize("name", VECTORS)
def test_the_jobs_of_the_vectors_fit_the_schema(name: str) -> None:
    job = json.loads((CONTRACT / "vectors" / name / "job.json").read_text("utf-8"))
    JOB.validate(job)


NAMES = "Job Database Connection Step Parameters Column Readback Measure Share"
PARTS = [getattr(contract, name) for name in NAMES.split()]
FIELDS = {f"{part.__name__.lower()}.{name}" for part in PARTS for name in part.model_fields}
HAS = FIELDS | {f"operation {name}" for name in get_args(contract.Operation)}
BEYOND_CORE = set[str]().union(*LEVELS.values())
PAGE = (CONTRACT / "CONTRACT.md").read_text("utf-8")


@pytest.mark.parametrize("level", LEVELS)
def test_the_contract_tells_what_a_level_has_in_a_section_of_its_own(level: Level) -> None:
    assert LEVELS[level] <= HAS
    section = PAGE.partition(f"\n## {level.capitalize()}\n")[2].partition("\n## ")[0]
    for part in LEVELS[level] or HAS - BEYOND_CORE:
        name = re.split("[ .]", part, maxsplit=1)[1]
        assert re.search(rf"\b{re.escape(name)}\b", section), part


@pytest.mark.parametrize(
    ("level", "step", "measure"),
    [
        (None, {"shape": "object", "fails": None}, {"workers": 1, "share": {}}),
        ("workers", {}, {"share": {"of": 2}}),
        ("load", {}, {"rate": 1}),
        ("extras", {"operation": "open"}, {}),
    ],
)
def test_only_what_has_not_its_default_needs_a_level(
    level: str | None, step: Json, measure: Json
) -> None:
    job: Json = {"mode": "measure", "cell": "x", "output": "x", "database": {"path": "x"}}
    job["steps"] = [{"operation": "get", "sql": "SELECT 1", **step}]
    job["measure"] = {"operations_per_iteration": 1, **measure}
    assert levels(Job.model_validate(job)) == ["core", *filter(None, [level])]


def test_the_schema_refuses_what_the_contract_does_not_know() -> None:
    job = json.loads((CONTRACT / "vectors" / VECTORS[0] / "job.json").read_text("utf-8"))
    assert not JOB.is_valid({**job, "surprise": 1})
    assert not JOB.is_valid({**job, "mode": "guess"})
    assert not JOB.is_valid({k: v for k, v in job.items() if k != "output"})
