"""Databases as services have them: each runner answers for each of them, or lacks what is named."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sqlitmus.catalog import definitions
from sqlitmus.workload.database import snapshot
from sqlitmus.workload.file import read
from sqlitmus.workload.scenarios import MIX, catalogue
from tests import left_out
from tests.faults.stage import Stage

HERE = Path(__file__).parent / "corpora"
CORPORA = sorted(file.stem for file in HERE.glob("*.sql"))
DEADLINE_S = 600.0
NUL = "its driver reads a text up to the first U+0000, which texts of this case hold"
LACKING = {
    "documents": ("dotnet", "its SQLite 3.35.5 does not know the syntax near >>"),
    "values": ("deno", NUL),
}
NOTED = {
    "chat": {"history", "react", "unreact"},
    "documents": {"by-owner", "revisions"},
    "media": {"search"},
    "places": {"box"},
    "series": {"downsample", "moving"},
    "shop": {"invoice", "sales"},
    "timeline": {"fan-out", "unfollow"},
    "values": {"texts", "wide"},
}


def build(folder: Path, name: str) -> Path:
    """The workload's file of a corpus, beside its database."""
    with closing(sqlite3.connect(folder / f"{name}.db", isolation_level=None)) as connection:
        connection.executescript((HERE / f"{name}.sql").read_text("utf-8"))
    file = folder / f"{name}.toml"
    file.write_bytes((HERE / file.name).read_bytes())
    return file


@pytest.mark.parametrize("name", CORPORA)
def test_its_queries_can_be_compared(name: str, tmp_path: Path) -> None:
    source = read(build(tmp_path, name), definitions.load())
    copy = snapshot(source.database, tmp_path)
    scenarios = catalogue(source, copy, definitions.load()).scenarios
    assert len(scenarios) >= 8
    noted = {at for at, spec in scenarios.items() if spec.notes}
    assert noted - {MIX} == NOTED.get(name, set())


@pytest.mark.parametrize("name", CORPORA)
def test_runners_answer_what_the_oracle_does(
    name: str, tmp_path: Path, hyperfine_program: str
) -> None:
    for runner in ("rust", "node"):
        left_out.tool(runner)
    clone = Stage(tmp_path, hyperfine_program).real()
    build(clone.root, name)
    before = (clone.root / f"{name}.db").read_bytes()
    process = clone.start("workload", "verify", f"{name}.toml", "-f", "mix")
    out, err = process.communicate(timeout=DEADLINE_S)
    outcomes = [line.partition(" ") for line in out.splitlines()]
    assert len(outcomes) >= 4, err
    runner, reason = LACKING.get(name, ("", ""))
    lacking = {f"{case}/{runner}: {reason}" for case in ("mix", "mix@workers=2")}
    assert {outcome for outcome, *_ in outcomes} <= {"ok", "unsupported"}, out + err
    assert {rest.strip() for outcome, _, rest in outcomes if outcome != "ok"} <= lacking
    assert (clone.root / f"{name}.db").read_bytes() == before
