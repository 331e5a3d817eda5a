"""The committed JSON Schemas are those of the models, and the vectors and the oracle fit them."""

# pyright: reportUnknownMemberType=false

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from jsonschema import Draft202012Validator

from sqlitmus.vocabulary import contract
from sqlitmus.vocabulary.contract import LEVELS, Job, Level, levels
from tests.cli.calling import sqlitmus
from tests.contract.jobs import CONTRACT, VECTORS, Json, of_vector
from tests.known import KNOWN, ROOT, RUNNERS

JOB = Draft202012Validator(json.loads((CONTRACT / "job.schema.json").read_text("utf-8")))


@pytest.mark.parametrize("name", ["job", "result", "describe"])
def test_the_committed_schema_is_what_the_command_prints(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = CONTRACT / f"{name}.schema.json"
    printed = sqlitmus(capsys, monkeypatch, "schema", name).out
    told = f"run: ./just schema {name} --out runners/contract/{file.name}"
    assert file.read_text("utf-8") == printed, told
    Draft202012Validator.check_schema(json.loads(printed))


def test_the_schema_takes_the_vectors_and_refuses_what_the_contract_does_not_know() -> None:
    jobs = {name: of_vector(name) for name in VECTORS}
    assert [name for name, job in jobs.items() if not JOB.is_valid(job)] == []
    job = jobs[VECTORS[0]]
    assert not JOB.is_valid({**job, "surprise": 1})
    assert not JOB.is_valid({**job, "mode": "guess"})
    assert not JOB.is_valid({k: v for k, v in job.items() if k != "output"})


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


FOLDERS = sorted(
    {
        folder.relative_to(RUNNERS).as_posix()
        for name, spec in KNOWN.runners.items()
        for source in [".", *spec.sources]
        if (folder := (KNOWN.folders[name] / source).resolve()).is_dir()
    }
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_readme_begins_with_where_the_timed_loop_is_and_names_files_that_exist(
    folder: str,
) -> None:
    readme = RUNNERS / folder / "README.md"
    text = readme.read_text("utf-8")
    title, beginning, *more = (line for line in text.splitlines() if line)
    assert len(more) <= 38
    assert title.startswith("# ")
    assert beginning.startswith("The loop that is timed is here: ")
    loops = re.findall(r"`([^` ]+\.\w+)`, `(\w+)`", text)
    assert loops
    for file, function in loops:
        source = (readme.parent / file).read_text("utf-8")
        assert re.search(rf"(function|fn|def|void) {function}\(", source), f"{file}: {function}"
    named = re.findall(r"`([\w./-]+\.(?:js|rs|cs|py|toml|md))`", text)
    files = [readme.parent / file for file in named]
    files += [ROOT / file for file in re.findall(r"(?<= )(runners/\S+)", text)]
    assert [file for file in files if not file.is_file()] == []


def test_the_table_of_concepts_names_files_that_exist() -> None:
    before, *table = PAGE.partition("## Where each concept is")[2].rstrip().split("\n|")
    folders = re.findall(r"`runners/([^`]+)`", before)
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table][2:]
    assert len(rows) > 20
    for concept, *cells in rows:
        assert len(cells) == len(folders) > 3, concept
        for source, cell in zip(folders, cells, strict=True):
            for file in re.findall(r"`([^`]+)`", cell):
                assert (RUNNERS / source / file).is_file(), f"{concept}: {source}/{file}"


def imported(file: Path) -> set[Path]:
    """The files of its own folder and below that a JavaScript file imports, at once or later."""
    text = re.sub(r"/\*.*?\*/", "", file.read_text("utf-8"), flags=re.DOTALL)
    names = re.findall(r"""(?:from|import\()\s*"(\.[^"]+\.js)\"""", text)
    return {(file.parent / name).resolve() for name in names}


def test_no_javascript_file_imports_itself_through_others() -> None:
    folder = RUNNERS / "javascript"
    files = {f.resolve() for f in [*folder.glob("*.js"), *folder.glob("drivers/*.js")]}
    graph = {file: imported(file) & files for file in files}
    assert sum(map(len, graph.values())) > 40
    while leaves := {file for file, targets in graph.items() if not targets & graph.keys()}:
        graph = {file: targets for file, targets in graph.items() if file not in leaves}
    assert not graph, sorted(str(file.relative_to(folder)) for file in graph)
