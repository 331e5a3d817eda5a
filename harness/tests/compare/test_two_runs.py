"""Two finished runs: controls take out what changed besides the subject, or there is no verdict."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.compare.comparison import compare_runs
from tests.analysis import runs
from tests.refusals import refusal
from tests.worded import headline, notices

Json = dict[str, Any]
Made = Callable[[], runs.RunData]
MACHINE = {"cpu": "x", "cores": "4", "architecture": "x86_64", "memory": "8.0 GiB", "os": "o"}
BASE, NEW = "node in old", "node in new"


def planned(run: str, names: tuple[str, ...] = ("node", "bun", "rust-ffi"), **changes: Any) -> Json:
    """A plan; node is of another version in the run `new`."""
    identity = runs.description("node")
    identity["identity"]["runtime"]["version"] = "2.0" if run == "new" else "1.0"
    runners = [
        runs.runner(n, description=identity) if n == "node" else runs.runner(n) for n in names
    ]
    usual = {"run": run, "blocks": 20, "size": "m", "seed": len(run), "runners": runners}
    return runs.plan(names, **{**usual, **changes})


def run(
    name: str,
    time: runs.Times | None = None,
    *,
    lacks: str = "",
    warms: str = "",
    machine: Json | None = None,
    runner: Json | None = None,
    **changes: Any,
) -> runs.RunData:
    """The run; in its first case the runner `lacks` has no answer and `warms` still warms up. The
    second runner has the changes `runner`."""
    of = planned(name, **changes)
    of["runners"][1:2] = [{**each, **(runner or {})} for each in of["runners"][1:2]]
    shift = 1000 if name == "new" else 2000  # of other blocks: other noise
    times = time or runs.noisy()
    lines = runs.samples(of, lambda c, label, block: times(c, label, block + shift))
    verify, first = runs.checks(of), of["cases"][0]["id"]
    if lacks:
        where = {"runner": lacks, "case": first}
        verify = runs.change(verify, {"outcome": "failed", "reason": "r"}, **where)
        lines = runs.drop(lines, **where)

    def drift(line: Json) -> Json:
        warm = (line["case"], line["runner"]) == (first, warms)
        return {"drift": (0.9 if warm else 1.0) + (0.01, -0.01)[line["block"] % 2]}

    lines = runs.change(lines, drift) if warms else lines
    return runs.make(of, verify=verify, lines=lines, machine={**MACHINE, **(machine or {})})


def old(time: runs.Times | None = None, **changes: Any) -> Made:
    return partial(run, "old", time, **changes)


def new(time: runs.Times | None = None, **changes: Any) -> Made:
    return partial(run, "new", time, **changes)


def slower(factor: float, machine: float = 1.0, canary: float = 1.0) -> runs.Times:
    """Node is slower by a factor, the machine by another, and the control's twin by a third."""
    time = runs.noisy({"node": factor, "canary": factor * canary})
    return lambda c, label, block: machine * time(c, label, block)


def cases(*names: str, **of_last: Any) -> list[Json]:
    return [*map(runs.case, names[:-1]), runs.case(names[-1], **of_last)]


def turns(rounds: int, processor: int | None = None) -> Json:
    """Of a run of a case of so many rounds of turns, and of one on two threads that takes turns."""
    counts = {
        "get-pk": {"node": runs.counts(10, rounds=rounds)},
        "parallel": {"node": runs.counts(10, rounds=5)},
    }
    both = cases("get-pk", "parallel", workers=2)
    return {"cases": both, "counts": counts, "processor": processor}


SOME: Json = {"cases": cases(*"ab")}
GONE: Json = {"missing": "not installed", "description": None}
UPDATED: Json = {"description": runs.description("bun", sqlite="3.52.0")}
USERS: Json = {"cases": [runs.case("get-pk", fixture="users")]}
HASHES = {"scenario get-pk": "1", "fixture users": "1"}
PAIRS: dict[str, tuple[Made, Made, str | None]] = {
    # what changed besides the subject is taken out
    "both node and the machine are slower": (old(), new(slower(1.1, machine=1.3)), None),
    "the machine alone is slower": (old(), new(slower(1, machine=1.3)), "node"),
    "without a control": (old(names=("node",)), new(slower(2), names=("node",)), None),
    "the only control changed as well": (
        old(names=("node", "bun")), new(slower(2), names=("node", "bun"), runner=UPDATED), "node"
    ),
    "old lacks a control": (old(lacks="bun"), new(slower(1.2)), "node"),
    "new lacks a control": (old(), new(slower(1.2), lacks="bun"), "node"),
    "both lack a control": (old(lacks="bun"), new(slower(1.2), lacks="bun"), "node"),
    "new lacks the only control": (
        old(names=("node", "bun")), new(slower(2), names=("node", "bun"), lacks="bun"), "node"
    ),
    "new lacks the subject": (old(), new(slower(1.2), lacks="node"), "node"),
    "the subject still warms up": (old(), new(warms="node"), "node"),
    "a control of neither differs from itself": (old(), new(slower(1.03)), None),
    "the old one's control differs": (old(slower(1, canary=1.2)), new(slower(1.03)), None),
    "the new one's control differs": (old(), new(slower(1.03, canary=1.2)), None),
    "without A/A controls": (old(canary=None), new(slower(1.2), canary=None), None),
    "fewer blocks": (old(blocks=40), new(slower(1.2), blocks=12), None),
    "too few blocks": (old(blocks=40), new(slower(1.2), blocks=9), None),
    "only some cases in common": (old(**SOME), new(cases=cases(*"bc")), None),
    # which runs can be compared, and why not
    **{f"the same run twice, -r {name}": (old(), old(), name) for name in (None, "node")},
    **{
        f"another {fact}": (
            old(machine={"kernel": "6.1"}), new(machine={"kernel": "6.1", fact: "another"}), None
        )
        for fact in ("cpu", "cores", "architecture", "memory", "os", "kernel")
    },
    "a fact of one machine alone": (old(), new(machine={"kernel": "6.1"}), None),
    "other loads": (
        old(machine={"load at start": "1"}), new(machine={"load at start": "2"}), None
    ),
    "fixtures of different sizes": (old(size="s"), new(), None),
    "no case in common": (old(cases=cases("a")), new(cases=cases("b")), None),
    "other sql in a case": (old(**SOME), new(cases=cases(*"ab", sql=["SELECT 2"])), None),
    "other workers in a case": (old(**SOME), new(cases=cases(*"ab", workers=3)), None),
    **{
        f"another {name}": (
            old(definitions=HASHES, **USERS), new(definitions={**HASHES, name: "2"}, **USERS), None
        )
        for name in HASHES
    },
    **{
        f"no common runner, -r {name}": (old(names=("node",)), new(names=("bun",)), name)
        for name in (None, "bun")
    },
    **{f"bun changed, -r {name}": (old(), new(runner=UPDATED), name) for name in (None, "bun")},
    **{f"bun is missing, -r {name}": (old(), new(runner=GONE), name) for name in (None, "bun")},
    "the new one took turns": (old(**turns(0)), new(**turns(5)), None),
    "the old one took turns": (old(**turns(5)), new(**turns(0)), None),
    "both took turns": (old(**turns(5)), new(**turns(5)), None),
    "the new one kept to a processor": (old(**turns(5)), new(**turns(5, 1)), None),
    "the old one kept to a processor": (old(**turns(5, 1)), new(**turns(5)), None),
    "both kept to a processor": (old(**turns(5, 0)), new(**turns(5, 1)), None),
}  # fmt: skip


def compared(old: Made, new: Made, runner: str | None = None) -> runs.Report:
    return compare_runs(old(), new(), runner)


def lines(report: runs.Report) -> Iterator[str]:
    """What the report comes to."""
    blocks = f"{report.blocks_complete} of {report.blocks_planned} blocks"
    yield f"{report.kind} {report.title}, by {report.correction}, {blocks}"
    for case in report.cases:
        outcomes = " and ".join(f"{cell.runner} {cell.outcome}" for cell in case.cells)
        of = case.comparisons.of(report.runners[1].name, report.reference)
        said = f"{of.verdict}, {of.ratio.value:.2f}" if of else "nothing"
        least = f", detects {case.detectable:.4f}" if case.detectable else ""
        yield f"{case.id}: {outcomes}: {said}{least}"
    yield from headline(report)
    yield from notices(report)


@pytest.mark.parametrize("name", PAIRS)
def test_what_can_be_compared_and_what_comes_of_it(name: str, snapshot: SnapshotAssertion) -> None:
    told: list[str] = []
    error = refusal(lambda: told.extend(lines(compared(*PAIRS[name]))))
    assert ([str(error)] if error else told) == snapshot


def test_the_interval_holds_what_node_became_and_only_it_has_verdicts() -> None:
    report = compared(*PAIRS["both node and the machine are slower"])
    low, high = runs.ends(runs.contrast(report, NEW, BASE).ratio)
    assert low < 1.1 < high
    version = next(fact for fact in report.provenance if fact.differs)
    assert {name: value[-3:] for name, value in version.values.items()} == {BASE: "1.0", NEW: "2.0"}
    # bun, since a run's own reference has none anyway
    for cell in compared(old(), new(), "bun").cases[0].cells:
        assert {"cold", "cpu", "peak_rss"} <= set(cell.figures)
        assert all(measure.contrast is None for measure in cell.figures.values())
        assert (cell.overhead, cell.overhead_verdict) == (None, None)
