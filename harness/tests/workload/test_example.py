"""The worked example of the documents with real runners, on a smaller database of the same kind."""

import shutil
from pathlib import Path

from benchmarks import example_database
from sqlitmus.vocabulary import paths
from tests import left_out
from tests.faults.stage import Stage

BRIEFLY = ("--mode", "smoke", "--blocks", "2")  # without a pilot


def test_the_example_becomes_a_recommendation(tmp_path: Path, hyperfine_program: str) -> None:
    for name in ("rust", "node"):
        left_out.tool(name)
    clone = Stage(tmp_path, hyperfine_program).real()
    shutil.copy(paths.ROOT / "docs/workload/app.toml", clone.root / "app.toml")
    example_database.write(clone.root / "app.db", 400)
    before = (clone.root / "app.db").read_bytes()
    done = clone.sqlitmus("workload", "app.toml", "-r", "rust", "-r", "node", *BRIEFLY)
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "(calls: 80 % document, 10 % recent, 5 % words and 5 % visit; 4 workers): " in text
    assert "rust and node are not told apart" in text or "node and rust are not told apart" in text
    assert clone.outcomes() == {"node": "ok", "rust": "ok"}
    assert (clone.latest().path / "report.html").exists()
    assert (clone.root / "app.db").read_bytes() == before
