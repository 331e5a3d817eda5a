"""What a report notices of a run, and which cells it compares with nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.cells import warming
from tests import worded
from tests.analysis import runs

How = runs.Made


def shipped(**synchronous: int) -> How:
    of = runs.plan(cases=[runs.case("insert", axes={"profile": "shipped"})])
    checked = [
        ({"runner": name}, {"pragmas": {"journal_mode": "wal", "synchronous": value}})
        for name, value in synchronous.items()
    ]
    return {"of": of, "checked": checked}


def idle(*, rounds: int = 4, **shares: float) -> How:
    """Some runners worked while they waited, for their turns if there are rounds."""
    of = runs.plan()
    of_each = runs.counts(100, iterations=12, rounds=rounds)
    of["counts"] = {name: dict.fromkeys(who, of_each) for name, who in of["cells"].items()}
    looks = {"before": {"monotonic_ns": 0}, "after": {"monotonic_ns": 1}}
    return {"of": of, "blocks": [{"block": n, **looks, "idle": shares} for n in range(3)]}


def ratios(of: dict[str, float], **changes: Any) -> How:
    return {"of": runs.plan(blocks=30, **changes), "time": runs.noisy(of, spread=0.003)}


def parallel(**machine: str) -> How:
    cases = [runs.case(f"parallel@workers={n}", workers=n) for n in (1, 4, 8)]
    return {"of": runs.plan(cases=cases), "machine": machine}


def described(**machine: str) -> How:
    """Node and bun are built for x64, which say it by different names; a third one is missing."""
    bun = runs.description("bun", sqlite="3.51.0" if machine else "3.50.4")
    bun["identity"]["architecture"] = "AMD64"
    runners = [
        runs.runner("node"),
        runs.runner("bun", description=bun),
        runs.runner("rust-ffi", description=None, missing="no cargo"),
    ]
    of = runs.plan(["node", "bun"], runners=runners)
    named = {name.replace("_", " "): word for name, word in machine.items()}
    return {"of": of, "machine": {"cores": "8", **named}}


def seen(kind: str, steady_from_ms: float | None, warmup_ms: int, **more: Any) -> runs.Json:
    """The counts of a cell that the pilot saw warm up so."""
    told = {"steadiness": kind, "steady_from_ms": steady_from_ms, "warmup_ms": warmup_ms}
    return runs.counts(100, **{"iterations": 3, **told, **more})


def piloted(of: runs.Json) -> How:
    """With the counts `of` its cases and runners."""
    return {"of": runs.plan(cases=[runs.case(name) for name in of], counts=of)}


NEVER = seen("no steady state", None, 60)
TURNS = seen("warm-up", 59.5, 0, warmup_iterations=40, rounds=3)
WARMED: runs.Json = {
    "get-pk": {"node": seen("warm-up", 59.5, 60), "bun": seen("warm-up", 240.0, 60)},
    "all": {"node": seen("flat", 0.0, 60), "bun": NEVER},
    "insert": {"node": seen("slowdown", 61.0, 60), "bun": seen("slowdown", 61.0, 90)},
}
VARIANT = [
    runs.runner("node"),
    runs.runner("bun", role="variant"),
    runs.runner("rust-ffi", role="floor"),
]
BUN: runs.Json = {"runner": "bun", "case": "get-pk"}
AGAINST = {"outcome": "wrong", "against_oracle": True}
RUNS: dict[str, How] = {
    "clean": {},
    "runners agree against the oracle": {"checked": [({"case": "get-pk"}, AGAINST)]},
    "worked between its turns": idle(bun=0.034, node=0.0),
    "few blocks": {"of": runs.plan(blocks=3)},
    "unfinished": {"sampled": [({"block": 11}, None), ({"complete": True}, None)]},
    "a hole": {"sampled": [({"block": 3, **BUN}, None)]},
    "values never vary": {"time": runs.steady()},
    "SQLite versions differ": described(),
    "durability as shipped differs": shipped(node=2),
    "durability as shipped is equal": shipped(),
    "a plan in an older SQLite's words": {
        "checked": [({"runner": "bun"}, {"plans": [["SEARCH TABLE users"]]})]
    },
    "faster than the floor": ratios({"node": 1.5, "canary": 1.5, "bun": 0.8}),
    **{f"{bun} times the floor": ratios({"bun": bun}) for bun in (0.99, 1.0, 1.5)},
    "a variant faster than the floor": ratios({"bun": 0.8}, runners=VARIANT),
    "2 cores": parallel(cores="2"),
    "8 cores": parallel(cores="8"),
    "cores not recorded": parallel(),
    "cores that are no number": parallel(cores="many"),
    **{
        f"governor {name}": {"machine": {"cores": "2", "governor": name}}
        for name in ("powersave", "performance", "unknown")
    },
    "x64 on arm64": described(architecture="arm64"),
    "x64 on arm64, and hyperfine": described(architecture="aarch64", hyperfine_architecture="x64"),
    "hyperfine for arm64 on x64": described(architecture="x64", hyperfine_architecture="arm64"),
    "all for x64": described(architecture="x86_64", hyperfine_architecture="x64"),
    "hyperfine of unknown build": described(
        architecture="x86_64", hyperfine_architecture="unknown"
    ),
    "a machine of unknown kind": described(hyperfine_architecture="arm64"),
    "a warm-up that ends before the pilot's steady state": piloted(WARMED),
    "many of them": piloted({**WARMED, **{f"more-{n}": {"bun": NEVER} for n in range(4)}}),
    # in turns a warm-up lasts as long as its iterations, which an older plan does not tell
    **{
        f"a warm-up of {of.get('warmed_ms')} ms in turns": piloted({"get-pk": {"node": TURNS | of}})
        for of in ({"warmed_ms": 74.4}, {"warmed_ms": 59.0}, {})
    },
    "warm but never steady": piloted(
        {
            name: {"node": NEVER | {"fastest_from_ms": ms, "warmed_ms": 60.0}}
            for name, ms in (("get-pk", 48.0), ("all", 480.0))
        }
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_is_noticed_of_a_run(name: str, snapshot: SnapshotAssertion) -> None:
    assert worded.notices(runs.report(**RUNS[name])) == snapshot


ANSWERS: dict[str, runs.Json] = {
    "another digest": {"digest": "cd" * 32},
    # one language folds texts beyond ASCII in UTF-8, another in UTF-16; the digest is the same
    "another checksum": {"checksum": 1},
    "another query plan": {"plans": [["SCAN users"]]},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_recorded_answers_that_differ(name: str, snapshot: SnapshotAssertion) -> None:
    report = runs.report(checked=[(BUN, ANSWERS[name])])
    of_cases = [(case.checks, case.notes) for case in report.cases]
    assert (worded.notices(report), of_cases) == snapshot


# compared with nothing ---------------------------------------------------------------------------

NAMES = ("node", "bun", "dotnet")
WARMING = [0.89, 0.88, 0.9]
FLAT = [1.0, 0.99, 1.01]
ONE_QUERY = {**runs.WORKLOAD, "shares": {"read": 1.0}, "workers": 4}


def mix(
    sampled: Mapping[str, runs.New] | None = None,
    checked: runs.Json | None = None,
    metric: str = "steady",
    work: runs.Json | None = None,
    **changes: Any,
) -> How:
    """What each runner recorded in the mix, and how dotnet was checked there."""
    cases = [
        runs.case("read", group="queries"),
        runs.case("mix", group="mix", axes={"workers": "4"}, metric=metric, **(work or {})),
    ]
    of = runs.plan(NAMES, cases=cases, **{"floor": None, "canary": None, **changes})
    recorded = [({"case": "mix", "runner": name}, new) for name, new in (sampled or {}).items()]
    proof = [({"case": "mix", "runner": "dotnet"}, checked)] if checked else []
    return {"of": of, "sampled": recorded, "checked": proof}


def drifts(of: Mapping[str, Sequence[float]], **how: Any) -> How:
    """The second half of what a runner times takes so many times as long as the first, in each
    block in turn."""
    return mix({name: runs.by_block(drift=of.get(name, FLAT)) for name in NAMES}, **how)


def run(of: Mapping[str, Sequence[float]]) -> runs.RunData:
    return runs.make(**drifts(of))


def busy(metric: str = "steady", **shares: float) -> How:
    """This share of a runner's writes was refused."""

    def told(share: float) -> runs.New:
        return lambda line: {"busy": share, f"{metric}_ns": line["steady_ns"]}

    return mix({name: told(shares.get(name, 0.0)) for name in NAMES}, metric=metric)


def commits(commits: int | None, canary: str | None = None) -> How:
    """Dotnet made so many commits in 100 transactions."""
    syncs = {"transactions": 100, "fsync": 0, "fdatasync": 0, "bytes": 9, "commits": commits}
    return mix(checked={"syncs": syncs}, canary=canary)


STATED = {"writes": True, "warmup_operations": 4, "timed_operations": 2}


def stated(*each: float, workload: runs.Json | None = ONE_QUERY) -> How:
    """The drifts of runners whose halves of a stated work have other rows."""
    of = {name: [by, by * 1.001] for name, by in zip(NAMES, each, strict=True)}
    return drifts(of, work=STATED, workload=workload)


MIXES = [
    runs.case(f"mix{n}", group="mix", scenario="mix", axes={"workers": str(n)}, workers=n)
    for n in (1, 4)
]
APART: dict[str, How] = {
    "still warms up": drifts({"dotnet": WARMING}),
    "has no place on a curve of throughput": {
        "of": runs.plan(NAMES, cases=MIXES, floor=None),
        "sampled": [({"case": "mix4", "label": "dotnet"}, runs.by_block(drift=WARMING))],
    },
    "warms up by less than the margin": drifts({"dotnet": [0.99, 0.985, 0.995]}),
    "is faster by chance": drifts({"dotnet": [0.6, 1.3, 1.1]}),
    "fills a table": drifts({"dotnet": [1.11, 1.1, 1.12]}),
    "was recorded beside a busy shell": drifts(
        {"dotnet": [1.0, 0.92, 1.03, 0.91, 0.99, 0.83, 0.95, 0.83, 0.77, 1.01]}
    ),
    # of a stated work what the rows of both halves explain is no warm-up
    "falls more than the others": stated(0.9, 0.9, 0.8),
    "falls as the others": stated(0.9, 0.9, 0.9),
    "is beside one that grows slower": stated(1.4, 0.99, 1.3),
    "falls beside those that grow slower": stated(1.4, 0.8, 1.3),
    "has rows that are all alike": stated(0.9, 0.9, 0.9, workload=None),
    "works for 20 % of its wait": idle(bun=0.2, node=0.1),
    "works for 20 % of its wait, and has no turns": idle(rounds=0, bun=0.2, node=0.1),
    "works for 15 % of its wait": idle(bun=0.15, node=0.1),
    "was refused a part of its work": busy(dotnet=0.4, bun=0.1),
    "was refused one in a hundred": busy(dotnet=0.009),
    "counts refusals in its latencies": busy("p99", dotnet=0.4),
    "did other work": commits(3),
    "did other work, which the control repeats": commits(3, "dotnet"),
    "commits as asked": commits(100),
    "commits more": commits(300),
    "has commits that nobody counted": commits(None),
}


@pytest.mark.parametrize("name", APART)
def test_who_is_compared_with_nothing_and_what_is_said_of_it(
    name: str, snapshot: SnapshotAssertion
) -> None:
    how = APART[name]
    of = runs.sure(how.get("of"))
    weights = ",".join(f"{case['id']}=1" for case in of["cases"])
    report = runs.analyse(runs.make(**how), None, None if of.get("workload") else weights)
    told = [*worded.notices(report), *worded.headline(report)]
    for case in report.cases:
        told += [f"{case.id}: {c.runner} {c.reason}" for c in case.cells if c.apart and c.time]
        pairs = [c for c in case.comparisons if c.verdict != "not testable"]
        control = " and the control" if case.canary else ""
        told.append(f"{case.id}: {', '.join(c.runner + '/' + c.reference for c in pairs)}{control}")
    told += [f"curve of {curve.runner}" for of in report.scaling for curve in of.curves]
    assert told == snapshot


def named(how: How, times: int, cases: int, series: int) -> int:
    """How many of `times` runs, whose halves differ by noise alone, have a cell that warms up; all
    cases are the last one's."""
    of = runs.make(**how)
    rng = np.random.default_rng(1)
    plan = of.plan.model_copy(update={"cases": of.plan.cases[1:] * cases})
    count = 0
    for _ in range(times):
        noise = np.exp(rng.normal(0, 0.06, (cases, series, 10)))
        samples = replace(of.samples, figures={**of.samples.figures, "drift": noise})
        count += bool(warming(replace(of, plan=plan, samples=samples)))
    return count


def test_noise_is_no_warm_up() -> None:
    """Each of many cells alone would look so in two or three of a hundred."""
    assert named(drifts({}), times=40, cases=72, series=1) <= 4
    assert named(stated(1, 1, 1), times=200, cases=1, series=9) <= 10
