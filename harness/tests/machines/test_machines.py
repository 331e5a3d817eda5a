"""Which runs belong together, whatever order they come in."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.machines.merge import Machine, Run, arrange
from sqlitmus.results.machines import Refused

DAY = "2026-01-0{}T00:00:00+00:00"


def run(name: str, day: int = 1, **changes: Any) -> Run:
    given: dict[str, Any] = {
        "path": name,
        "file": Path(name),
        "number": 1,
        "run": name,
        "label": "linux-x64",
        "created": DAY.format(day),
        "complete": True,
        "processes": 10,
        "kind": "linux-x64",
        "hardware": ("EPYC",),
        "cases": frozenset({"get"}),
        "work": {"scenario get": "1"},
        "settings": {"reference": "node"},
        "identity": (name,),
    }
    return Run(**{**given, **changes})


def told(runs: list[Run]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Names of runs by machine, and reasons by path; the same in every order."""
    found = arrange(runs)
    for other in permutations(runs):
        assert arrange(list(other)) == found
    machines, refused = found
    assert len({m.name for m in machines}) == len(machines)
    return (
        {m.name: [run.run for run in m.runs] for m in machines},
        {r.path: r.reason for r in refused},
    )


def test_of_two_that_began_at_one_time_the_complete_one_is_taken() -> None:
    machines, refused = told([run("a", complete=False), run("b")])
    assert machines == {"linux-x64": ["b"]}
    assert list(refused) == ["a"]


def test_a_case_measured_again_on_the_same_hardware_is_refused() -> None:
    later = run("b", 2, cases=frozenset({"get", "all"}))
    machines, refused = told([later, run("a")])
    assert machines == {"linux-x64": ["a"]}
    assert refused == {"b": "plan: $.cases: get was measured already, in a; merge one of the two"}


def test_other_cases_on_the_same_hardware_are_the_same_machine_s() -> None:
    machines, refused = told([run("a"), run("b", 2, cases=frozenset({"all"}))])
    assert (machines, refused) == ({"linux-x64": ["a", "b"]}, {})


def test_other_hardware_under_one_label_is_another_machine() -> None:
    runs = [run("c", 3, hardware=("Xeon",)), run("a"), run("b", 2, hardware=("A",))]
    machines, refused = told(runs)
    assert refused == {}
    assert machines == {"linux-x64": ["a"], "linux-x64 (2)": ["b"], "linux-x64 (3)": ["c"]}


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
    assert (machines, list(refused)) == ({"c": ["c"], "linux-x64": ["a"]}, ["b"])
    machines, refused = told([*apart, run("c", 2, label="c", cases=both)])
    assert (len(machines), refused) == (3, {})


def test_what_a_machine_measured_in_any_of_its_runs_counts_as_common() -> None:
    runs = [run("a"), run("b", cases=frozenset({"all"})), run("c", label="c")]
    assert told(runs) == ({"c": ["c"], "linux-x64": ["a", "b"]}, {})


@pytest.mark.parametrize("odd", ["a", "b", "c"])
def test_the_definition_of_most_runs_holds(odd: str) -> None:
    changed: dict[str, Any] = {"work": {"scenario get": "2", "fixture users": "1"}}
    runs = [run(name, label=name, **(changed if name == odd else {})) for name in ("a", "b", "c")]
    machines, refused = told(runs)
    assert machines == {name: [name] for name in "abc" if name != odd}
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
    assert machines == {"b": ["b"], "c": ["c"]}
    assert refused["a"].startswith("plan: fixture size differs from that of b")


def test_the_runs_of_a_machine_have_one_reference() -> None:
    bun: dict[str, Any] = {"settings": {"reference": "bun"}}
    runs = [run("a"), run("b", 2, cases=frozenset({"all"}), **bun), run("x", label="x", **bun)]
    machines, refused = told(runs)
    assert machines == {"linux-x64": ["a"], "x": ["x"]}
    assert refused == {
        "b": "plan: reference differs from that of a, of the same machine; ratios of a "
        "machine have one base"
    }


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
            settings={"reference": draw(few)},
        )
        for number in range(draw(st.integers(1, 7)))
    ]


@given(run_lists(), st.randoms(use_true_random=False))
def test_any_runs_in_any_order(runs: list[Run], random: Any) -> None:
    machines, refused = arrange(runs)
    shuffled = random.sample(runs, len(runs))
    assert arrange(shuffled) == (machines, refused)
    taken = [one.run for machine in machines for one in machine.runs]
    assert sorted([*taken, *(r.path for r in refused)]) == sorted(r.path for r in runs)
    left = [run for run in runs if run.run in taken]
    assert arrange(left) == (machines, []), "merging again changes nothing"
    check(machines, {run.run: run for run in runs}, refused)


def check(machines: list[Machine], by: dict[str, Run], refused: list[Refused]) -> None:
    """No case twice on a machine, no name twice, each machine has a case in common with another,
    and each refusal names another run or says that there is no such case."""
    assert len({machine.name for machine in machines}) == len(machines)
    left = [one for machine in machines for one in machine.runs]
    for machine in machines:
        members = machine.runs
        cases = [case for run in members for case in run.cases]
        assert len(cases) == len(set(cases))
        assert len({(run.label, run.hardware) for run in members}) == 1
        others = {case for run in left if run not in members for case in run.cases}
        assert len(machines) == 1 or others & set(cases)
    for one in refused:
        names = any(f" {name}" in one.reason for name in by if name != one.path)
        assert names or "no other machine" in one.reason
