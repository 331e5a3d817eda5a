"""Which runs belong together, whatever order they come in."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.catalog.planned import Shard
from sqlitmus.machines.arrange import arrange
from sqlitmus.machines.candidate import Run
from sqlitmus.machines.manifest import MergedMachine, RefusedRun

DAY = "2026-01-0{}T00:00:00+00:00"


def run(name: str, day: int = 1, **changes: Any) -> Run:
    given: dict[str, Any] = {
        "path": name,
        "hash": name,
        "run": name,
        "label": "linux-x64",
        "shard": None,
        "created": DAY.format(day),
        "blocks": 10,
        "complete": True,
        "cpu": "EPYC",
        "kind": "linux-x64",
        "hardware": ("EPYC",),
        "cases": frozenset({"get"}),
        "work": {"scenario get": "1"},
        "settings": {"reference": "node"},
    }
    return Run(**{**given, **changes})


def shard(number: int, of: int = 3, whole: str = "w", **changes: Any) -> Run:
    name = f"{whole}{number}"
    own: dict[str, Any] = {
        "cases": frozenset({name}),
        "shard": Shard(number=number, of=of, whole=whole),
    }
    return run(name, **{**own, **changes})


def told(runs: list[Run]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Hashes by machine, and reasons by path; the same in every order."""
    found = arrange(runs)
    for other in permutations(runs):
        assert arrange(list(other)) == found
    machines, refused = found
    assert len({m.name for m in machines}) == len(machines)
    return (
        {m.name: [source.hash for source in m.sources] for m in machines},
        {r.path: r.reason for r in refused},
    )


def test_shards_are_one_machine_whatever_processor_each_had() -> None:
    runs = [
        shard(3, cpu="Xeon", hardware=("Xeon",)),
        shard(1),
        run("arm", label="linux-arm64", kind="linux-arm64"),
    ]
    machines, refused = arrange(runs)
    assert refused == []
    arm, linux = machines
    assert (arm.name, arm.missing, arm.kind) == ("linux-arm64", [], "linux-arm64")
    assert (linux.name, linux.missing) == ("linux-x64", [2])
    assert linux.cpus == ["EPYC", "Xeon"]
    assert [source.hash for source in linux.sources] == ["w1", "w3"]


def test_a_shard_that_comes_twice_is_taken_as_it_was_first() -> None:
    again = shard(1, path="again", hash="x", created=DAY.format(2), cases=frozenset({"other"}))
    machines, refused = told([again, shard(1), shard(2)])
    assert machines == {"linux-x64": ["w1", "w2"]}
    assert refused == {
        "again": "plan.json: $.shard: shard 1 of 3 is there already, in w1; merge one of the two"
    }


def test_of_two_that_began_at_one_time_the_complete_one_is_taken() -> None:
    machines, refused = told([run("a", complete=False), run("b")])
    assert machines == {"linux-x64": ["b"]}
    assert list(refused) == ["a"]


def test_shards_of_another_whole_are_refused_where_fewer_are_here() -> None:
    machines, refused = told([shard(1, whole="v"), shard(1, 4), shard(2, 4), shard(2, 3)])
    assert machines == {"linux-x64": ["w1", "w2"]}
    assert refused["v1"] == (
        "plan.json: $.shard: shard 1 of 3 of another whole than w1, of which more shards are here; "
        "merge the shards of one command"
    )
    assert len(refused) == 2


def test_of_wholes_with_as_many_shards_the_earlier_one_is_taken() -> None:
    machines, _ = told([shard(1, whole="v", created=DAY.format(2)), shard(1, whole="w")])
    assert machines == {"linux-x64": ["w1"]}


def test_a_case_measured_again_on_the_same_hardware_is_refused() -> None:
    later = run("b", 2, cases=frozenset({"get", "all"}))
    machines, refused = told([later, run("a")])
    assert machines == {"linux-x64": ["a"]}
    assert refused == {
        "b": "plan.json: $.cases: get was measured already, in a; merge one of the two"
    }


def test_other_cases_on_the_same_hardware_are_the_same_machine_s() -> None:
    machines, refused = told([run("a"), run("b", 2, cases=frozenset({"all"}))])
    assert (machines, refused) == ({"linux-x64": ["a", "b"]}, {})


def test_a_run_on_the_hardware_of_a_shard_is_that_machine_s() -> None:
    other = run("b", 2, cases=frozenset({"w1"}))
    machines, refused = told([shard(1), shard(2), other])
    assert machines == {"linux-x64": ["w1", "w2"]}
    assert list(refused) == ["b"]


def test_other_hardware_under_one_label_is_another_machine() -> None:
    machines, refused = told([run("b", 2, hardware=("Xeon",)), run("a"), shard(1, hardware=("A",))])
    assert refused == {}
    assert machines == {"linux-x64": ["a"], "linux-x64 (2)": ["w1"], "linux-x64 (3)": ["b"]}


def test_another_system_under_one_label_is_another_machine_even_in_shards() -> None:
    machines, refused = told([shard(1), shard(2, kind="macos-arm64")])
    assert refused == {}
    assert machines == {"linux-x64": ["w1"], "linux-x64 (2)": ["w2"]}


@pytest.mark.parametrize("odd", ["a", "b", "c"])
def test_the_definition_of_most_runs_holds(odd: str) -> None:
    changed: dict[str, Any] = {"work": {"scenario get": "2", "fixture users": "1"}}
    runs = [run(name, label=name, **(changed if name == odd else {})) for name in ("a", "b", "c")]
    machines, refused = told(runs)
    assert machines == {name: [name] for name in "abc" if name != odd}
    first = min(machines)
    assert refused == {
        odd: f"plan.json: scenario get differs from that of {first}; measure both with the same "
        "scenarios and fixtures"
    }


def test_of_two_definitions_the_earlier_holds_and_each_is_compared_on_its_own() -> None:
    runs = [
        run("a", 2, label="a", work={"fixture size": "m", "scenario all": "1"}),
        run("b", 1, label="b", work={"fixture size": "s"}),
        run("c", 3, label="c", work={"scenario all": "2"}),
    ]
    machines, refused = told(runs)
    assert machines == {"b": ["b"], "c": ["c"]}
    assert refused["a"].startswith("plan.json: fixture size differs from that of b")


def test_the_runs_of_a_machine_have_one_reference() -> None:
    bun: dict[str, Any] = {"settings": {"reference": "bun"}}
    machines, refused = told([shard(1), shard(2), shard(3, **bun), run("x", label="x", **bun)])
    assert machines == {"linux-x64": ["w1", "w2"], "x": ["x"]}
    assert refused == {
        "w3": "plan.json: reference differs from that of w1, of the same machine; ratios of a "
        "machine have one base"
    }


@st.composite
def run_lists(draw: st.DrawFn) -> list[Run]:
    few = st.sampled_from("ab")
    found: list[Run] = []
    for number in range(draw(st.integers(1, 7))):
        whole = draw(st.sampled_from(["", "v", "w"]))
        place = Shard(number=draw(st.integers(1, 3)), of=3, whole=whole) if whole else None
        found.append(
            run(
                f"run{number}",
                draw(st.integers(1, 3)),
                label=draw(few),
                kind=draw(few),
                shard=place,
                hardware=(draw(few),),
                cases=frozenset(draw(st.sets(st.sampled_from("xyz"), min_size=1))),
                work={"scenario x": draw(few)},
                settings={"reference": draw(few)},
            )
        )
    return found


@given(run_lists(), st.randoms(use_true_random=False))
def test_any_runs_in_any_order(runs: list[Run], random: Any) -> None:
    machines, refused = arrange(runs)
    shuffled = random.sample(runs, len(runs))
    assert arrange(shuffled) == (machines, refused)
    taken = [source.hash for machine in machines for source in machine.sources]
    assert sorted([*taken, *(r.path for r in refused)]) == sorted(r.path for r in runs)
    assert machines
    left = [run for run in runs if run.hash in taken]
    assert arrange(left) == (machines, []), "merging again changes nothing"
    check(machines, {run.hash: run for run in runs}, refused)


def check(machines: list[MergedMachine], by: dict[str, Run], refused: list[RefusedRun]) -> None:
    """No case twice on a machine, no name twice, and each refusal names another run."""
    assert len({machine.name for machine in machines}) == len(machines)
    for machine in machines:
        members = [by[source.hash] for source in machine.sources]
        cases = [case for run in members for case in run.cases]
        assert len(cases) == len(set(cases))
        assert len({(run.label, run.kind) for run in members}) == 1
    for one in refused:
        assert any(f" {name}" in one.reason for name in by if name != one.path)
