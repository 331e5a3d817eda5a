"""The run directory: append-only, synced, readable whenever it was cut off."""

import json
from pathlib import Path
from typing import Any

import pytest

from sqlitmus.run.judge import Verified
from sqlitmus.run.planning import latest, point_latest
from sqlitmus.run.store import Iterations, RunDirectory, Sample, columns
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.errors import NotFit, UsageError
from tests.fakes.small import PLAN

HEADER: dict[str, Any] = {"schema": 4, "run": "r1", "columns": columns()}
RECORDS = [
    Verified(case="get", runner="a", outcome="ok"),
    Verified(case="get", runner="b", outcome="wrong"),
]


NO_FIGURES = {figure.name: None for figure in figures.FIGURES}


def sample(position: int, **changes: Any) -> Sample:
    given = {
        "block": 0,
        "position": position,
        "case": "get",
        "runner": "a",
        "label": "a",
        "outcome": "ok",
        "steady_ns": 1.5,
        "figures": {**NO_FIGURES, "cold": 5},
    }
    return Sample.model_validate({**given, **changes})


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path / "results/r1", PLAN, {"cpu": "ß"}, RECORDS)


def lines(run: RunDirectory) -> list[Any]:
    text = (run.path / "samples.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_new_run_holds_plan_machine_verification_and_a_header(run: RunDirectory) -> None:
    again = RunDirectory.open(run.path)
    assert again.plan() == PLAN
    assert again.machine() == {"cpu": "ß"}
    assert again.verified() == RECORDS
    assert list(again.samples()) == []
    assert lines(run) == [HEADER]
    assert (run.path / "logs").is_dir()


def test_samples_are_read_back_in_order_and_the_footer_ends_them(run: RunDirectory) -> None:
    failed = sample(1, outcome="failed", reason="crash", figures=NO_FIGURES, steady_ns=None)
    made = [sample(0), failed]
    for one in made:
        run.add_sample(one)
        assert not run.complete()
    run.finish()
    assert list(run.samples()) == made
    assert run.complete()
    assert lines(run)[-1] == {"complete": True}
    fixed = [0, 0, 0, "get", "a", "a", "ok", None, None, 1.5]
    unknown = len(figures.FIGURES) - 1
    assert lines(run)[1] == [*fixed, 5, *[None] * unknown]


@pytest.mark.parametrize("change", [{"schema": 3}, {"columns": HEADER["columns"][:-1]}])
def test_nothing_is_appended_to_other_columns(run: RunDirectory, change: dict[str, Any]) -> None:
    (run.path / "samples.jsonl").write_text(json.dumps({**HEADER, **change}) + "\n")
    with pytest.raises(UsageError, match=r"samples\.jsonl:1: begun by another version of sqlitmus"):
        list(run.samples())


def test_iterations_stand_beside_the_samples(run: RunDirectory) -> None:
    run.add_sample(sample(7), Iterations(position=7, warmup_ns=[9], iterations_ns=[1, 2]))
    assert (run.path / "iterations.jsonl").read_text("utf-8") == (
        '{"position":7,"take":0,"warmup_ns":[9],"iterations_ns":[1,2],"lost_ns":[],"counted":[]}\n'
    )
    assert [s.position for s in run.samples()] == [7]


def test_every_cut_of_the_file_reads_as_the_samples_before_it(run: RunDirectory) -> None:
    made = [sample(0), sample(1)]
    for one in made:
        run.add_sample(one)
    file = run.path / "samples.jsonl"
    data = file.read_bytes()
    for length in range(len(data)):
        file.write_bytes(data[:length])
        whole = max(0, data[:length].count(b"\n") - 1)
        assert list(run.samples()) == made[:whole]


@pytest.mark.parametrize("torn", [b"", b"[", b'[0,0,0,"ge'])
def test_repair_cuts_a_torn_line_so_that_appending_goes_on(run: RunDirectory, torn: bytes) -> None:
    run.add_sample(sample(0))
    with (run.path / "samples.jsonl").open("ab") as stream:
        stream.write(torn)
    run.repair()
    run.add_sample(sample(1))
    assert [s.position for s in run.samples()] == [0, 1]
    assert len(lines(run)) == 3


def test_repair_renews_a_header_that_was_never_written_whole(run: RunDirectory) -> None:
    (run.path / "samples.jsonl").write_bytes(b'{"schema"')
    run.repair()
    assert lines(run) == [HEADER]


def test_a_line_that_is_no_json_is_told_with_its_number(run: RunDirectory) -> None:
    run.add_sample(sample(0))
    with (run.path / "samples.jsonl").open("ab") as stream:
        stream.write(b"rubbish\n")
    with pytest.raises(UsageError, match=r"samples\.jsonl:3: not a JSON line"):
        list(run.samples())


def test_a_run_does_not_overwrite_another(run: RunDirectory) -> None:
    with pytest.raises(UsageError, match="exists already; choose another --label or --out"):
        RunDirectory.create(run.path, PLAN, {}, [])


def test_results_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotFit, match="results cannot be written: Not a directory"):
        RunDirectory.create(tmp_path / "file/r1", PLAN, {}, [])


def test_a_folder_without_a_plan_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is no run directory: it holds no plan\.json"):
        RunDirectory.open(tmp_path)


def test_what_a_plan_says_beyond_today_s_is_ignored(run: RunDirectory) -> None:
    of = {**json.loads((run.path / "plan.json").read_text("utf-8")), "shard": None}
    (run.path / "plan.json").write_text(json.dumps(of), "utf-8")
    assert run.plan() == PLAN


def test_a_broken_plan_is_told(run: RunDirectory) -> None:
    (run.path / "plan.json").write_text("{}", "utf-8")
    with pytest.raises(UsageError, match=r"plan\.json: cannot be read as a plan"):
        run.plan()


def test_latest_points_at_the_newest(run: RunDirectory) -> None:
    results = run.path.parent
    with pytest.raises(UsageError, match=r"there is no run in .* yet; start one with ./just"):
        latest(results)
    point_latest(run.path)
    assert latest(results) == run.path.resolve()
    second = RunDirectory.create(results / "r2", PLAN, {}, [])
    point_latest(second.path)
    assert latest(results) == second.path.resolve()


def test_latest_works_where_links_are_barred(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def barred(*_: object, **__: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", barred)
    point_latest(run.path)
    assert (run.path.parent / "latest").read_text("utf-8") == "r1\n"
    assert latest(run.path.parent) == run.path


def test_replacing_a_file_leaves_no_half(run: RunDirectory) -> None:
    run.write("summary.json", "{}")
    run.write("summary.json", '{"a": 1}')
    assert (run.path / "summary.json").read_text("utf-8") == '{"a": 1}'
    assert not list(run.path.glob(".*.part"))


def test_a_set_is_whole_or_not_there(run: RunDirectory) -> None:
    run.add_set([(sample(0), None), (sample(1), None)])
    run.add_set([(sample(2), None), (sample(3), None)])
    file = run.path / "samples.jsonl"
    file.write_bytes(file.read_bytes()[:-10])
    assert [each.position for each in run.samples()] == [0, 1]
    run.repair()
    run.add_set([(sample(2), None)])
    run.add_sample(sample(3))
    assert [each.position for each in run.samples()] == [0, 1, 2, 3]
