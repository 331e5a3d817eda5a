"""A suite measured in shards, merged and reported, as a user would."""

from pathlib import Path

import pytest

from tests.fakes.clone import Clone, Done
from tests.fakes.instant import Desk, even

OPTIONS = ("--size", "s", "--blocks", "12", "--seed", "1", "-q")


@pytest.fixture
def desk(catalogue: Clone, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in ("a", "b"):
        catalogue.runner(name)
    suites = catalogue.root / "scenarios/suites.toml"
    text = suites.read_text("utf-8")
    cases = '[{ scenario = "get" }, { scenario = "all" }, { scenario = "insert" }]'
    head, _, _ = text.partition("cases = ")
    suites.write_text(f"{head}cases = {cases}\n", "utf-8")
    made = Desk.make(catalogue, monkeypatch)
    # no processes for machines as small as these
    monkeypatch.setattr("sqlitmus.machine.affinity.usable", lambda: 1)
    made.instant.paces["a"] = even(1000, "a")
    made.instant.paces["b"] = even(500, "b")
    return made


def test_shards_of_two_machines_become_one_report(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    def call(*arguments: str) -> Done:
        return desk.sqlitmus(capsys, *arguments)

    runs: list[Path] = []
    for machine, shard in (("here", "1/2"), ("here", "2/2"), ("there", "1/2")):
        label = f"{machine}-{shard[0]}"
        done = call("run", "--shard", shard, "--machine", machine, "--label", label, *OPTIONS)
        assert done.code == 0, done.err
        runs.append(desk.clone.latest().path)
    plans = [desk.clone.latest().open(run).plan() for run in runs]
    cases = [{case.id for case in plan.cases} for plan in plans]
    assert cases[0] | cases[1] == {"get", "all", "insert"}
    assert not cases[0] & cases[1]
    assert plans[0].rerun.endswith("--shard 1/2 --machine here")
    assert {"scenario get", "fixture tiny", "profile normalised"} <= {
        name for plan in plans for name in plan.definitions
    }

    merged = call("merge", *map(str, runs))
    assert merged.code == 0, merged.err
    assert "here: shard 1, 2 of 2" in merged.err
    assert "there: shard 1 of 2, missing 2" in merged.err

    path = str((desk.clone.root / "results/latest").resolve())
    told = call("report", path, "--format", "text").out
    assert "SQLite across runtimes on 2 machines" in told
    assert "holds on all 2" in told
    own = call("report", path, "--machine", "here", "--format", "md").out
    assert all(case in own for case in ("get", "all", "insert"))
    assert len(call("export", path).out.splitlines()) == 1 + 2 * (3 + len(cases[2]))
