"""The committed JSON Schemas are those of the models, and the vectors and the oracle fit them."""

# pyright: reportUnknownMemberType=false

import json

import pytest
from jsonschema import Draft202012Validator

from sqlitmus.cli.schema import schemas
from sqlitmus.vocabulary import paths

CONTRACT = paths.RUNNERS / "contract"
VECTORS = sorted(folder.name for folder in (CONTRACT / "vectors").iterdir())
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


def test_the_schema_refuses_what_the_contract_does_not_know() -> None:
    job = json.loads((CONTRACT / "vectors" / VECTORS[0] / "job.json").read_text("utf-8"))
    assert not JOB.is_valid({**job, "surprise": 1})
    assert not JOB.is_valid({**job, "mode": "guess"})
    assert not JOB.is_valid({k: v for k, v in job.items() if k != "output"})
