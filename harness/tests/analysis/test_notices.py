from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.cells import warming
from sqlitmus.render.document.decision import workload_section, workload_sentences
from sqlitmus.render.document.sentences import notice
from sqlitmus.results.recommendation import Recommendation
from tests import worded
from tests.analysis import runs


def notices(run: runs.RunData) -> str:
    return "\n".join(worded.notices(runs.analyse(run)))


def told_of(verify: runs.Json, **where: object) -> runs.RunData:
    """A run in which these cells were verified with `verify`."""
    return runs.make(verify=runs.change(runs.checks(runs.plan()), verify, **where))


def shipped(**synchronous: int) -> runs.RunData:
    planned = runs.plan(cases=[runs.case("insert", axes={"profile": "shipped"})])
    verify = runs.checks(planned)
    for name, value in synchronous.items():
        pragmas = {"journal_mode": "wal", "synchronous": value}
        verify = runs.change(verify, {"pragmas": pragmas}, runner=name)
    return runs.make(planned, verify=verify)


def idle(*, rounds: int = 4, **shares: float) -> runs.RunData:
    """A run of whose runners some worked while they waited, for their turns if there are rounds."""
    of = runs.plan()
    of_each = runs.counts(100, iterations=12, rounds=rounds)
    of["counts"] = {name: dict.fromkeys(who, of_each) for name, who in of["cells"].items()}
    looks = {"before": {"monotonic_ns": 0}, "after": {"monotonic_ns": 1}}
    blocks = [{"block": n, **looks, "idle": shares} for n in range(3)]
    return runs.from_records(of, runs.checks(of), runs.samples(of, runs.noisy()), {}, blocks=blocks)


def engines() -> runs.RunData:
    runners = [
        runs.runner("node"),
        runs.runner("bun", description=runs.description("bun", sqlite="3.50.4")),
    ]
    return runs.make(runs.plan(["node", "bun"], runners=runners))


def ratios(of: dict[str, float], **changes: Any) -> runs.RunData:
    return runs.make(runs.plan(blocks=30, **changes), time=runs.noisy(of, spread=0.003))


def parallel(machine: runs.Json) -> runs.RunData:
    cases = [runs.case(f"parallel@workers={n}", workers=n) for n in (1, 4, 8)]
    return runs.make(runs.plan(cases=cases), machine=machine)


def built_for_x64(machine: runs.Json) -> runs.RunData:
    """Node and bun are, which say it by different names; a third one is missing."""
    told = {"identity": {**runs.description("bun")["identity"], "architecture": "AMD64"}}
    runners = [
        runs.runner("node"),
        runs.runner("bun", description={**runs.description("bun"), **told}),
        runs.runner("rust-ffi", description=None, missing="no cargo"),
    ]
    return runs.make(runs.plan(["node", "bun"], runners=runners), machine={"cores": "8", **machine})


def seen(kind: str, steady_from_ms: float | None, warmup_ms: int, **more: Any) -> runs.Json:
    """The counts of a cell that the pilot saw warm up so."""
    told = {"steadiness": kind, "steady_from_ms": steady_from_ms, "warmup_ms": warmup_ms}
    return runs.counts(100, **{"iterations": 3, **told, **more})


def piloted(of: runs.Json) -> runs.RunData:
    """A run with the counts `of` its cases and runners."""
    return runs.make(runs.plan(cases=[runs.case(name) for name in of], counts=of))


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
LINES = runs.samples(runs.plan(), runs.noisy())
RUNS: dict[str, Callable[[], runs.RunData]] = {
    "clean": runs.make,
    "runners agree against the oracle": partial(
        told_of, {"outcome": "wrong", "against_oracle": True}, case="get-pk"
    ),
    "worked between its turns": partial(idle, bun=0.034, node=0.0),
    "few blocks": partial(runs.make, runs.plan(blocks=3)),
    "unfinished": partial(runs.make, lines=runs.drop(LINES[:-1], block=11)),
    "a hole": partial(runs.make, lines=runs.drop(LINES, block=3, label="bun", case="get-pk")),
    "values never vary": partial(runs.make, lines=runs.samples(runs.plan(), runs.steady())),
    "SQLite versions differ": engines,
    "durability as shipped differs": partial(shipped, node=2),
    "durability as shipped is equal": shipped,
    "a plan in an older SQLite's words": partial(
        told_of, {"plans": [["SEARCH TABLE users"]]}, runner="bun"
    ),
    "faster than the floor": partial(ratios, {"node": 1.5, "canary": 1.5, "bun": 0.8}),
    **{f"{bun} times the floor": partial(ratios, {"bun": bun}) for bun in (0.99, 1.0, 1.5)},
    "a variant faster than the floor": partial(ratios, {"bun": 0.8}, runners=VARIANT),
    "2 cores": partial(parallel, {"cores": "2"}),
    "8 cores": partial(parallel, {"cores": "8"}),
    "cores not recorded": partial(parallel, {}),
    "cores that are no number": partial(parallel, {"cores": "many"}),
    **{
        f"governor {name}": partial(runs.make, machine={"cores": "2", "governor": name})
        for name in ("powersave", "performance", "unknown")
    },
    "x64 on arm64": partial(built_for_x64, {"architecture": "arm64"}),
    "x64 on arm64, and hyperfine": partial(
        built_for_x64, {"architecture": "aarch64", "hyperfine architecture": "x64"}
    ),
    "hyperfine for arm64 on x64": partial(
        built_for_x64, {"architecture": "x64", "hyperfine architecture": "arm64"}
    ),
    "all for x64": partial(
        built_for_x64, {"architecture": "x86_64", "hyperfine architecture": "x64"}
    ),
    "hyperfine of unknown build": partial(
        built_for_x64, {"architecture": "x86_64", "hyperfine architecture": "unknown"}
    ),
    "a warm-up that ends before the pilot's steady state": partial(piloted, WARMED),
    "many of them": partial(piloted, {**WARMED, **{f"more-{n}": {"bun": NEVER} for n in range(4)}}),
    # in turns a warm-up lasts as long as its iterations, which an older plan does not tell
    **{
        f"a warm-up of {of.get('warmed_ms')} ms in turns": partial(
            piloted, {"get-pk": {"node": TURNS | of}}
        )
        for of in ({"warmed_ms": 74.4}, {"warmed_ms": 59.0}, {})
    },
    "warm but never steady": partial(
        piloted,
        {
            name: {"node": NEVER | {"fastest_from_ms": ms, "warmed_ms": 60.0}}
            for name, ms in (("get-pk", 48.0), ("all", 480.0))
        },
    ),
    "a machine of unknown kind": partial(built_for_x64, {"hyperfine architecture": "arm64"}),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_is_noticed_of_a_run(name: str, snapshot: SnapshotAssertion) -> None:
    assert worded.notices(runs.analyse(RUNS[name]())) == snapshot


@pytest.mark.parametrize(
    ("verify", "disagree", "checksum"),
    [
        ({"digest": "cd" * 32}, True, False),
        # one language folds texts beyond ASCII in UTF-8, another in UTF-16; the digest is the same
        ({"checksum": 1}, False, False),
        ({}, False, True),
    ],
)
def test_recorded_answers(verify: runs.Json, *, disagree: bool, checksum: bool) -> None:
    report = runs.analyse(told_of(verify, **BUN) if verify else runs.make())
    told = "Recorded answers disagree in 1 case" in "\n".join(worded.notices(report))
    checked = report.cases[0].checks
    assert (told, "disagree" in checked) == (disagree, disagree)
    assert ("checksum" in checked, "SHA-256" in checked) == (checksum, not disagree)


def test_query_plans_that_differ() -> None:
    report = runs.analyse(told_of({"plans": [["SCAN users"]]}, **BUN))
    assert worded.notices(report) == ["Query plans differ between runners in 1 case: get-pk."]
    assert report.cases[0].notes == [
        "Query plans differ. SEARCH users: node and rust-ffi; SCAN users: bun."
    ]
    assert report.cases[1].notes == []


NAMES = ("node", "bun", "dotnet")
WARMING = [0.89, 0.88, 0.9]
FLAT = [1.0, 0.99, 1.01]


def run(drifts: Mapping[str, list[float]], workload: runs.Json | None = None) -> runs.RunData:
    """A run in which the second half of what a runner times takes so many times as long as the
    first, in each block in turn."""
    cases = [
        runs.case("read", group="queries"),
        runs.case("mix", group="mix", axes={"workers": "4"}),
    ]
    of = runs.plan(NAMES, cases=cases, workload=workload, floor=None)

    def drift(line: runs.Json) -> runs.Json:
        blocks = drifts.get(line["runner"], FLAT)
        return {"drift": blocks[line["block"] % len(blocks)]}

    return runs.make(of, lines=runs.change(runs.samples(of, runs.noisy()), drift, case="mix"))


def compared(of: runs.RunData, name: str, case: str = "mix") -> set[str]:
    """Those that a runner is compared with there."""
    contrasts = runs.of_case(runs.analyse(of), case).comparisons.against(name).items()
    return {other for other, one in contrasts if one.verdict is not runs.Verdict.NOT_TESTABLE}


def test_who_still_warms_up_is_compared_with_nothing_there() -> None:
    warms = run({"dotnet": WARMING})
    assert "dotnet" not in compared(warms, "node")
    assert "bun" in compared(warms, "node")
    assert "dotnet" in compared(run({}), "node")


def test_it_has_no_place_on_a_curve_of_throughput() -> None:
    mix = {"group": "mix", "scenario": "mix"}
    cases = [runs.case(f"mix{n}", axes={"workers": n}, workers=int(n), **mix) for n in ("1", "4")]
    of = runs.plan(NAMES, cases=cases, floor=None)

    def drift(line: runs.Json) -> runs.Json:
        warms_up = (line["case"], line["runner"]) == ("mix4", "dotnet")
        return {"drift": (WARMING if warms_up else FLAT)[line["block"] % 3]}

    (curves,) = runs.analyse(
        runs.make(of, lines=runs.change(runs.samples(of, runs.noisy()), drift))
    ).scaling
    assert {curve.runner for curve in curves.curves} == {"node", "bun"}


def test_the_reader_is_told_where_and_by_how_much() -> None:
    (told,) = [n for n in runs.analyse(run({"dotnet": WARMING})).notices if n.kind == "warming up"]
    assert "mix/dotnet (11.0 %)" in notice(told)
    assert not [n for n in runs.analyse(run({})).notices if n.kind == "warming up"]


@pytest.mark.parametrize(
    "blocks",
    [
        [0.99, 0.985, 0.995],  # surely faster, and by less than the margin of 2 %
        [0.6, 1.3, 1.1],  # by chance
        [1.11, 1.1, 1.12],  # a table that grows
        [1.0, 0.92, 1.03, 0.91, 0.99, 0.83, 0.95, 0.83, 0.77, 1.01],  # recorded beside a busy shell
    ],
)
def test_what_is_flat_within_the_margin_noisy_or_slower_is_compared(blocks: list[float]) -> None:
    assert "dotnet" in compared(run({"dotnet": blocks}), "node")


def named(of: runs.RunData, times: int, cases: int, series: int) -> int:
    """How many of `times` runs, whose halves differ by noise alone, have a cell that warms up; all
    cases are the first one's."""
    rng = np.random.default_rng(1)
    plan_ = of.plan.model_copy(update={"cases": of.plan.cases[:1] * cases})
    count = 0
    for _ in range(times):
        noise = np.exp(rng.normal(0, 0.06, (cases, series, 10)))
        figures = {**of.samples.figures, "drift": noise}
        count += bool(
            warming(replace(of, plan=plan_, samples=replace(of.samples, figures=figures)))
        )
    return count


def test_among_many_noisy_cells_none_is_still_warming_up() -> None:
    """Each alone would look so in two or three of a hundred, so most reports would name one."""
    assert named(run({}), times=40, cases=72, series=1) <= 4


def stated(of: runs.RunData) -> runs.RunData:
    """The same, of cases that state their work."""
    update = {"writes": True, "warmup_operations": 4, "timed_operations": 2}
    cases = [each.model_copy(update=update) for each in of.plan.cases]
    return replace(of, plan=of.plan.model_copy(update={"cases": cases}))


ONE_QUERY = {**runs.WORKLOAD, "shares": {"read": 1.0}, "workers": 4}


@pytest.mark.parametrize(
    ("drifts", "found"),
    [
        ((0.9, 0.9, 0.8), {(1, 2): 0.8 / 0.9}),
        ((0.9, 0.9, 0.9), {}),
        ((1.4, 0.99, 1.3), {}),  # who grows slower is no measure of the others
        ((1.4, 0.8, 1.3), {(1, 1): 0.8}),
    ],
)
def test_of_a_stated_work_what_the_rows_of_both_halves_explain_is_no_warm_up(
    drifts: tuple[float, ...], found: dict[tuple[int, int], float]
) -> None:
    of_runners = {name: [each, each * 1.001] for name, each in zip(NAMES, drifts, strict=True)}
    assert warming(stated(run(of_runners, ONE_QUERY))) == pytest.approx(found, rel=1e-3)


def test_a_scenario_whose_rows_are_all_alike_explains_no_fall() -> None:
    cells = warming(stated(run({name: [0.9, 0.901] for name in NAMES})))
    assert cells.keys() >= {(1, 0), (1, 1), (1, 2)}


def test_of_a_stated_work_no_noise_is_a_warm_up() -> None:
    assert named(stated(run({}, ONE_QUERY)), times=200, cases=1, series=9) <= 10


@pytest.mark.parametrize("left_out", [True, False])
def test_a_recommendation_leaves_it_out_and_says_why(*, left_out: bool) -> None:
    drifts = {"dotnet": WARMING} if left_out else {}
    of = run(drifts, ONE_QUERY)
    (advice,) = [s for s in runs.analyse(of).headline if isinstance(s, Recommendation)]
    assert ("dotnet" in advice.ranking.front) is not left_out
    said = " ".join(workload_sentences(advice))
    told = "dotnet is left out, for it was still warming up: its second half took 11.0 % less time"
    assert (told in said) is left_out
    (section, *_) = workload_section(advice)
    shown = {row.head.text: row.cells[1].text for table in section.tables() for row in table.rows}
    assert (shown["dotnet"] == "still warming up") is left_out


@pytest.mark.parametrize(("weights", "told"), [(None, "mix"), ("mix=1,read=1", "calls of mix")])
def test_a_group_and_a_preset_leave_it_out_and_say_why(weights: str | None, told: str) -> None:
    said = " ".join(worded.headline(runs.analyse(run({"dotnet": WARMING}), weights=weights)))
    assert f" dotnet is left out, for it was still warming up in {told}." in said


@pytest.mark.parametrize("rounds", [4, 0])
@pytest.mark.parametrize(("share", "left_out"), [(0.15, False), (0.2, True)])
def test_who_works_while_it_waits_is_compared_with_nothing(
    share: float, left_out: bool, rounds: int
) -> None:
    report = runs.analyse(idle(rounds=rounds, bun=share, node=0.1))
    assert any(notice.kind == "restless" for notice in report.notices) == bool(rounds)
    apart = {cell.runner: cell.reason for cell in report.cases[0].cells if cell.apart}
    why = "did not rest: it used the processor for 20% of the time that it waited"
    assert apart == ({"bun": why} if left_out else {})


REFUSING = ("node", "bun", "rust")


def busy(shares: Mapping[str, float], metric: str = "steady") -> runs.RunData:
    """A run in which this share of a runner's writes was refused."""
    cases = [runs.case("read"), runs.case("write", metric=metric)]
    of = runs.plan(REFUSING, cases=cases, floor=None)

    def told(line: runs.Json) -> runs.Json:
        return {"busy": shares.get(line["runner"], 0.0), f"{metric}_ns": line["steady_ns"]}

    return runs.make(of, lines=runs.change(runs.samples(of, runs.noisy()), told, case="write"))


def test_who_did_less_is_compared_with_nothing_there() -> None:
    refused = busy({"rust": 0.4})
    assert compared(refused, "node", "write") == {"bun"}
    assert compared(refused, "rust", "write") == set()
    assert "rust" in compared(refused, "node", "read")


@pytest.mark.parametrize("shares", [{}, {"rust": 0.009}])
def test_a_refusal_in_a_hundred_leaves_all_in(shares: dict[str, float]) -> None:
    assert compared(busy(shares), "node", "write") == {"bun", "rust"}
    assert not [n for n in runs.analyse(busy(shares)).notices if n.kind == "refused"]


def test_the_reader_is_told_where_and_how_much() -> None:
    (told,) = [
        n for n in runs.analyse(busy({"rust": 0.4, "bun": 0.1})).notices if n.kind == "refused"
    ]
    assert notice(told) == (
        "Compared with nothing, because SQLite refused a part of the work with SQLITE_BUSY, so "
        "that less was done than elsewhere: write/bun (10.0 %) and write/rust (40.0 %)."
    )


def test_latencies_count_refused_operations_too() -> None:
    assert compared(busy({"rust": 0.4}, metric="p99"), "node", "write") == {"bun", "rust"}


OTHER = "0.03 commits per transaction, 1 asked"


def committing(commits: int | None, canary: str | None = None) -> runs.RunData:
    """A run in which a runner made so many commits in 100 transactions."""
    of = runs.plan(
        REFUSING, cases=[runs.case("read"), runs.case("write")], floor=None, canary=canary
    )
    syncs = {"transactions": 100, "fsync": 0, "fdatasync": 0, "bytes": 9, "commits": commits}
    verify = runs.change(runs.checks(of), {"syncs": syncs}, case="write", runner="rust")
    return runs.make(of, verify=verify)


def test_who_did_other_work_is_shown_and_compared_with_nothing() -> None:
    of = committing(3)
    assert compared(of, "node", "write") == {"bun"}
    report = runs.analyse(of)
    cell = runs.cell_of(report, "rust", "write")
    assert cell.time
    assert (cell.outcome, cell.reason) == ("ok", f"did other work: {OTHER}")
    assert f"than was asked, as counted from outside: write/rust ({OTHER})." in notices(of)
    said = " ".join(worded.headline(runs.analyse(of, weights="write=1")))
    assert " rust is left out, for it did other work in calls of write." in said


@pytest.mark.parametrize("commits", [None, 100, 300])
def test_a_commit_per_transaction_or_more_and_what_is_not_known_leave_it_in(
    commits: int | None,
) -> None:
    assert compared(committing(commits), "node", "write") == {"bun", "rust"}
    assert "other work" not in notices(committing(commits))


def test_the_control_of_who_did_other_work_controls_nothing() -> None:
    assert runs.of_case(runs.analyse(committing(3, "rust")), "write").canary is None
