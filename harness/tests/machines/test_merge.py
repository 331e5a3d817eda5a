"""Several folders become one; what was whole before is whole in it."""

import shutil
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis import analyse
from sqlitmus.analysis import read as read_run
from sqlitmus.machines.merge import Done, Given, Run, arrange, merge
from sqlitmus.machines.merge import merged as read
from sqlitmus.store.file import samples_of
from sqlitmus.store.folder import latest
from sqlitmus.vocabulary.errors import NotFit, UsageError
from tests.machines.folders import FILE, NOW, ask, change, merged, opened, replan, write


@pytest.fixture
def fleet(tmp_path: Path) -> list[Path]:
    """A run, another one of the same machine, one of another, and one that nobody can read."""
    runs = tmp_path / "runs"
    (runs / "d").mkdir(parents=True)
    (runs / "d" / FILE).write_text("{}")
    return [
        write(runs / "a"),
        write(runs / "b", created="2026-01-02T00:00:00+00:00"),
        write(runs / "c", machine="arm", facts={"architecture": "arm64"}),
        runs / "d",
    ]


def test_what_is_merged_and_where_it_lies(tmp_path: Path, fleet: list[Path]) -> None:
    done = merged(*fleet, out=tmp_path / "out", expect=["arm", "linux-x64", "mars"])
    assert done.directory == tmp_path / "out/2026-02-03T040506Z-merged"
    assert latest(tmp_path / "out") == done.directory
    kept = read(done.directory / FILE)
    assert kept is not None
    assert [(m.number, m.name, m.kind, m.label, m.plan.run) for m in kept.machines] == [
        (1, "arm", "linux-arm64", "arm", "c"),
        (2, "linux-x64", "linux-x64", "linux-x64", "a"),
    ]
    assert kept.made.expected == done.made.expected == ["mars"]
    assert [refused.path for refused in kept.made.refused] == ["b", "d"]
    assert kept.made.created == NOW.isoformat()
    assert {path.name for path in done.directory.iterdir()} == {FILE, "logs"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {done.directory.name, "latest"}


RESULTS = "SELECT case_id, runner, label, block, figure, value FROM result WHERE run = '{}'"


def test_each_run_is_whole_in_the_merged_file(tmp_path: Path, fleet: list[Path]) -> None:
    done = merged(*fleet, out=tmp_path / "out")
    for number, (run, folder) in enumerate(zip("ca", [fleet[2], fleet[0]], strict=True), 1):
        question = RESULTS.format(run) + " ORDER BY 1, 2, 3, 4, 5"
        assert ask(done.directory, question) == ask(folder, question) != []
        with opened(done.directory / FILE) as db, opened(folder / FILE) as own:
            assert samples_of(db, number) == samples_of(own, 1)
            assert analyse(read_run(db, number, {})) == analyse(read_run(own, 1, {}))


def held(done: Done) -> tuple[object, ...]:
    """What was merged, whatever the paths."""
    found = read(done.directory / FILE)
    assert found is not None
    whole = ask(done.directory, "SELECT * FROM result ORDER BY 1, 2, 3, 4, 5, 6, 7")
    return found.machines, found.made.refused, found.made.expected, whole


def test_any_order_gives_the_same_and_merging_again_changes_nothing(
    tmp_path: Path, fleet: list[Path]
) -> None:
    first = merged(*fleet, out=tmp_path / "first", expect=["mars"])
    for number, order in enumerate(permutations(fleet)):
        other = merged(*order, out=tmp_path / str(number), expect=["mars"])
        assert held(other) == held(first)
    again = merged(first.directory, out=tmp_path / "again")
    assert held(again) == held(first)
    both = merged(first.directory, fleet[0], out=tmp_path / "both")
    assert held(both) == held(first)
    assert both.twice == [sorted(["runs/a", f"first/{first.directory.name}/a"])]


def test_of_two_copies_of_a_run_the_fuller_is_taken(tmp_path: Path) -> None:
    write(tmp_path / "x/run")
    shutil.copytree(tmp_path / "x/run", tmp_path / "w/run")
    change(tmp_path / "w/run", "DELETE FROM value WHERE sample = 3")
    change(tmp_path / "w/run", "DELETE FROM sample WHERE id = 3")
    change(tmp_path / "w/run", "UPDATE run SET complete = 0")
    done = merged(tmp_path / "w", tmp_path / "x", out=tmp_path / "out", partial=True)
    assert done.twice == [["w/run", "x/run"]]
    assert ask(done.directory, "SELECT count(*), max(complete) FROM sample, run") == [(6, 1)]


def test_a_name_before_a_folder_renames_its_machine(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, facts={"cpu": name})
    given = [Given(tmp_path / "a", "laptop"), Given(tmp_path / "b", "server")]
    done = merge(given, tmp_path / "out", "", [], NOW, partial=False)
    assert list(done.machines) == ["laptop", "server"]
    plain = merged(tmp_path / "a", tmp_path / "b", out=tmp_path / "out2")
    assert list(plain.machines) == ["linux-x64", "linux-x64 (2)"]


def test_where_nothing_is_left_all_reasons_are_told_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path / "runs/a", complete=False)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as error:
        merged(folder, tmp_path / "empty", out=tmp_path / "out")
    lines = str(error.value).splitlines()
    assert lines[0] == "nothing can be merged:"
    assert [line.partition(": ")[0] for line in lines[1:]] == ["  empty", "  runs/a"]
    assert not (tmp_path / "out").exists()


def test_an_earlier_result_is_not_written_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    merged(folder, out=tmp_path / "out")
    with pytest.raises(UsageError, match="exists already; choose another --label or --out"):
        merged(folder, out=tmp_path / "out")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    (tmp_path / "out").touch()
    with pytest.raises(NotFit, match=r"out: cannot be written: .*; free some space"):
        merged(folder, out=tmp_path / "out")


def test_what_a_file_says_cannot_move_the_cursor(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    write(tmp_path / "b", facts={"cpu": "\x1b[2J<b>"}, machine="b")
    replan(folder, run="\x1b[2J" + "x" * 999)
    done = merged(folder, tmp_path / "b", out=tmp_path / "out")
    (refused,) = done.made.refused
    assert refused.reason.isprintable()
    assert len(refused.reason) < 600
    assert done.machines["b"].hardware[0] == "\x1b[2J<b>"


DAY = "2026-01-0{}T00:00:00+00:00"


def run(name: str, day: int = 1, **changes: Any) -> Run:
    given: dict[str, Any] = {
        "path": name,
        "file": Path(name),
        "number": 1,
        "label": "linux-x64",
        "created": DAY.format(day),
        "complete": True,
        "processes": 10,
        "kind": "linux-x64",
        "hardware": ("EPYC",),
        "cases": frozenset({"get"}),
        "work": {"scenario get": "1"},
        "identity": (name,),
    }
    return Run(**{**given, **changes})


def told(runs: list[Run]) -> tuple[dict[str, str], dict[str, str]]:
    """Paths of runs by machine, and reasons by path; the same in every order."""
    found = arrange(runs)
    for other in permutations(runs):
        assert arrange(list(other)) == found
    machines, refused = found
    return (
        {name: run.path for name, run in machines.items()},
        {r.path: r.reason for r in refused},
    )


def test_of_two_that_began_at_one_time_the_complete_one_is_taken() -> None:
    machines, refused = told([run("a", complete=False), run("b")])
    assert machines == {"linux-x64": "b"}
    assert list(refused) == ["a"]


@pytest.mark.parametrize("cases", [{"get", "all"}, {"all"}])
def test_another_run_of_a_machine_is_refused_whatever_it_measured(cases: set[str]) -> None:
    machines, refused = told([run("b", 2, cases=frozenset(cases)), run("a"), run("c", label="c")])
    assert machines == {"c": "c", "linux-x64": "a"}
    assert refused == {
        "b": "of the same machine as a, and a machine counts once, with one run; ./just run "
        "--again RUN adds a sitting to a run, and NAME=DIR names another machine"
    }


def test_other_hardware_under_one_label_is_another_machine() -> None:
    runs = [run("c", 3, hardware=("Xeon",)), run("a"), run("b", 2, hardware=("A",))]
    machines, refused = told(runs)
    assert refused == {}
    assert machines == {"linux-x64": "a", "linux-x64 (2)": "b", "linux-x64 (3)": "c"}

    named = run("d", label="linux-x64 (2)")
    machines, _ = told([*runs, named])
    assert machines["linux-x64 (2) (2)"] == "d"


def test_a_machine_without_a_case_of_another_s_is_refused() -> None:
    get, all_, both = (frozenset(cases) for cases in ({"get"}, {"all"}, {"get", "all"}))
    apart = [run("a", cases=get), run("b", cases=all_, hardware=("Xeon",))]
    machines, refused = told(apart)
    assert machines == {}
    assert refused == dict.fromkeys(
        "ab",
        "plan: $.cases: no other machine measured any of these, so they can be compared with "
        "nothing; measure the same cases on each machine",
    )
    machines, refused = told([*apart, run("c", 2, label="c", cases=get)])
    assert (machines, list(refused)) == ({"c": "c", "linux-x64": "a"}, ["b"])
    machines, refused = told([*apart, run("c", 2, label="c", cases=both)])
    assert (len(machines), refused) == (3, {})


@pytest.mark.parametrize("odd", ["a", "b", "c"])
def test_the_definition_of_most_runs_holds(odd: str) -> None:
    changed: dict[str, Any] = {"work": {"scenario get": "2", "fixture users": "1"}}
    runs = [run(name, label=name, **(changed if name == odd else {})) for name in ("a", "b", "c")]
    machines, refused = told(runs)
    assert machines == {name: name for name in "abc" if name != odd}
    first = min(machines)
    assert refused == {
        odd: f"plan: scenario get differs from that of {first}; measure both with the same "
        "scenarios and fixtures"
    }


def test_of_two_definitions_the_earlier_holds_and_each_is_compared_on_its_own() -> None:
    runs = [
        run("a", 2, label="a", work={"fixture size": "m", "scenario all": "1"}),
        run("b", 1, label="b", work={"fixture size": "s"}),
        run("c", 3, label="c", work={"scenario all": "2"}),
    ]
    machines, refused = told(runs)
    assert machines == {"b": "b", "c": "c"}
    assert refused["a"].startswith("plan: fixture size differs from that of b")


@st.composite
def run_lists(draw: st.DrawFn) -> list[Run]:
    few = st.sampled_from("ab")
    return [
        run(
            f"run{number}",
            draw(st.integers(1, 3)),
            label=draw(few),
            hardware=(draw(few),),
            cases=frozenset(draw(st.sets(st.sampled_from("xyz"), min_size=1))),
            work={"scenario x": draw(few)},
        )
        for number in range(draw(st.integers(1, 7)))
    ]


@given(run_lists(), st.randoms(use_true_random=False))
def test_any_runs_in_any_order(runs: list[Run], random: Any) -> None:
    machines, refused = arrange(runs)
    shuffled = random.sample(runs, len(runs))
    assert arrange(shuffled) == (machines, refused)
    taken = [one.path for one in machines.values()]
    assert sorted([*taken, *(r.path for r in refused)]) == sorted(r.path for r in runs)
    assert arrange(machines.values()) == (machines, []), "merging again changes nothing"
    assert len({(one.label, one.hardware) for one in machines.values()}) == len(machines)
    for one in machines.values():
        others = {case for other in machines.values() if other is not one for case in other.cases}
        assert len(machines) == 1 or others & one.cases
    for one in refused:
        names = any(f" {run.path}" in one.reason for run in runs if run.path != one.path)
        assert names or "no other machine" in one.reason
