"""Claims of a run: rows, verdicts, reasons, what cannot be tested here, the tables."""

from functools import partial
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.render.document.claims import ends, outcome, same_size
from tests import worded
from tests.analysis import runs
from tests.analysis.claims import claim_runs
from tests.analysis.claims.claim_runs import claim, group, make, row

Json = dict[str, Any]
How = tuple[list[Json], Json]  # claims, and how they are run


def report(*claims: Json, **how: Any) -> runs.Report:
    return runs.analyse(make(*claims, **how))


def of(*claims: Json, **how: Any) -> Any:
    return report(*claims, **how).claims[0]


def rows(*claims: Json, **how: Any) -> list[Any]:
    return [one for found in of(*claims, **how).groups for one in found.rows]


def told(of: Any) -> str:
    """A row in words."""
    text = f"{of.name}, {of.runner}: {of.verdict}: {of.reason}"
    if of.figure is None:
        return text
    base, new = of.base_time.value, of.new_time.value
    words = [text, runs.shown(of.figure), f"{base:.4g} → {new:.4g} in {of.blocks} blocks"]
    if of.judged and of.judged[0]:
        words.append("judged {:.3f} to {:.3f}".format(*of.judged))
    if of.against:
        words.append(f"{runs.shown(of.against)} of the published")
    return "; ".join(filter(None, [*words, same_size(of), of.needed and f"{of.needed} needed"]))


# rows --------------------------------------------------------------------------------------------

SAME = group(row("same"))
HALF = 0.0005  # ms that the mode "same" saves
SAVED = group(
    row("same", HALF, name="as published"),
    row("same", 2 * HALF, name="smaller", ends=[1.9 * HALF, 2.1 * HALF]),
    row("same", HALF / 2, name="larger"),
    row("turned", HALF),
    row("noisy", HALF),
    row("huge", 1e6 * HALF, name="far smaller"),
    row("huge", HALF / 1e6, name="far larger"),
    row("same", None, name="not published"),
    compare="difference",
    tolerance=1.1,
)
# the mode "small" makes reads 1.11 times as fast, "same" 2 times, "turned" 0.67 times
PUBLISHED = group(
    row("small", 1.2424, said="+24.24 ± 1.1 %", name="beyond its error"),
    row("small", 1.12, said="+12.0 ± 9.0 %", name="within its error"),
    row("small", 2.0, kind="at least", name="at least 2"),
    row("small", 2.0, kind="at most", name="at most 2"),
    row("same", 1.5, kind="at least", name="at least 1.5"),
    row("same", 1.5, kind="at most", name="at most 1.5"),
    row("same", 2.1, kind="range", ends=[1.5, 3], name="1.5 to 3, twice"),
    row("small", 2.1, kind="range", ends=[1.5, 3], name="1.5 to 3"),
    row("turned", 0.5, kind="at least", name="at least 0.5"),
    row("turned", 0.9, kind="at least", name="at least 0.9"),
)
CONTROL = {"expects": "no effect", "tolerance": 1.03}
ABSENT = claim(
    group(row("same"), cores=16),
    group(row("broken")),
    group(row("unknown")),
    group(row("same"), runners=["other"]),
    group(row("broken"), runners=["slow"]),
    group(row("same"), metric="p99"),
    group(row("same", untestable="there is no such build")),
)
METRICS = ("steady", "wall", "loop", "p50", "p99", "p999", "max")


def sitting(sessions: int, *ratios: float) -> How:
    """36 blocks, whose ratio is another in each third."""
    usual = claim_runs.times(0.005)

    def time(case: int, label: str, block: int) -> float:
        own = usual(case, label, block)
        return own / ratios[block // 12] if case == 1 else own

    return [claim(SAME)], {"blocks": 36, "of": {"sessions": sessions}, "time": time}


def other_counts(**of_one: int) -> How:
    """One of two processes did other work."""
    few = {"read": {"fast": runs.counts(50, **{"warmup_iterations": 0, **of_one})}}
    return [claim(group(row("same"), metric="wall"))], {"of": {"counts": few}}


def iterating(base: int, new: int, case: str = "read@mode=same", *, writes: bool = True) -> How:
    """Two cells with those operations in an iteration."""
    asked = [
        group({"name": metric, "published": 2.0}, new={"case": case}, metric=metric)
        for metric in ("steady", "loop", "p99", "max")
    ]
    counts = {name: {"fast": runs.counts(n)} for name, n in (("read", base), (case, new))}
    return [claim(*asked)], {"of": {"counts": counts}, "cases": {"writes": writes}}


def warms(line: Json) -> Json:
    late = (line["case"], line["label"]) == ("read@mode=same", "fast")
    return {"drift": (0.9 if late else 1.0) + line["block"] % 3 / 1000}


STILL = [({"position": position}, {"iteration_median_ns": 0}) for position in (0, 3)]
SIZES = {"read": 2_048_000, "read@mode=same": 1_024_000, "read@mode=small": 2_048_000}
FILES = [
    {**claim_runs.case(name), "database_bytes": SIZES.get(name, 4096)}
    for name in (*claim_runs.TIMES, "read@mode=broken")
]
ROWS: dict[str, How] = {
    "every verdict": ([], {}),
    "a wide interval": ([claim(group(row("same", ends=[1.7, 2.3])))], {"spread": 0.35}),
    "differences": ([claim(SAVED)], {}),
    "figures as certain as they were published": ([claim(PUBLISHED)], {}),
    # what another machine may change is apart from the word
    "another machine": (
        [claim(group(row("small", 1.16, said="+16.0 ± 0.5 %"), tolerance=2.0))], {}
    ),
    # no effect reaches as far as the publication could tell
    "no effect": (
        [claim(group(row("small", 0.993, said=said), **CONTROL))
         for said in ("−0.69 %", "−0.69 ± 16.17 %")],
        {},
    ),
    "files to within a page": (
        [claim(group(row("same"), row("small"), metric="file"))], {"of": {"cases": FILES}}
    ),
    "each of the runners": (
        [claim(group(row("same"), row("small"), runners=["fast", "slow"]))], {}
    ),
    "each metric": ([claim(*(group(row("same"), metric=metric) for metric in METRICS))], {}),
    # of the rows that were verified
    "per row": (
        [claim(group(row("same"), per="row"))],
        {"checked": [({"case": "read"}, {"rows": 5000})]},
    ),
    # a quantile is never told more finely than a bucket
    "a quantile": ([claim(group(row("same"), metric="p99"))], {"spread": 0}),
    "sessions that disagree, which one does not show": sitting(1, 0.45, 1.0, 1.4),
    "sessions that disagree": sitting(3, 0.45, 1.0, 1.4),
    "sessions that agree": sitting(3, 1.0, 1.0, 1.0),
    "nine blocks": ([claim(SAME)], {"blocks": 9}),
    "what cannot be tested here": ([ABSENT], {"told": False}),
    "blocks in which a clock stood still": (
        [claim(group(row("same"), metric="loop"))], {"sampled": STILL}
    ),
    "other numbers of operations": other_counts(iterations=1),
    "other numbers of them in warm-up and iterations": other_counts(
        iterations=2, warmup_iterations=1
    ),
    "a warm-up by time": other_counts(iterations=2, warmup_ms=60),
    "a side that still became faster": (
        [claim(SAME, group(row("same"), metric="cpu time"))], {"sampled": [({}, warms)]}
    ),
    "other numbers in an iteration": iterating(8000, 4000),
    "equal numbers in an iteration": iterating(4000, 4000),
    # what only reads leaves nothing behind
    "other numbers of what only reads": iterating(8000, 4000, writes=False),
    "threads that each do the same": iterating(100, 200, "read@workers=2"),
    "threads that do not": iterating(100, 300, "read@workers=2"),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_each_row_has_its_verdict_and_why(name: str, snapshot: SnapshotAssertion) -> None:
    claims, how = ROWS[name]
    groups = [group for one in report(*claims, **how).claims for group in one.groups]
    assert [
        f"{group.metric} per {group.unit}: {told(row)}" for group in groups for row in group.rows
    ] == snapshot


def test_rows_of_all_claims_are_corrected_together() -> None:
    first = partial(rows, of={"canary": None}, time=claim_runs.times(0.12))
    weak = claim(group(row("same", ends=[1.6, 2.4])), name="weak")
    noisy = [
        group(row("noisy", 1.2), metric=metric, runners=["fast", "slow"])
        for metric in METRICS
        if metric != "wall"
    ]
    again = group(*[row("noisy", 1.2, name=f"again {n}") for n in range(40)])
    alone, *_ = first(weak)
    beside, *_ = first(weak, claim(*noisy, name="crowd"))
    assert (alone.verdict, alone.reason, beside.verdict) == ("reproduced", "", "compatible")
    drawn = "; reproduced by its own interval, which the correction draws out to ["
    assert drawn in beside.reason
    # one measurement more, however many rows show it
    many, *_ = first(weak, claim(again, name="again"))
    once, *_ = first(weak, claim(group(row("noisy", 1.2)), name="once"))
    assert many.judged == pytest.approx(once.judged)


@pytest.mark.parametrize("whose", ["fast", "the runner that a case's figures are about"])
def test_the_control_of_a_case_repeats_the_runner_that_its_figures_are_about(whose: str) -> None:
    """The canary of "fast" takes three times its time, that of "slow" does not."""
    canaries = {} if whose == "fast" else dict.fromkeys(claim_runs.TIMES, "slow")
    usual = claim_runs.times()

    def time(case: int, label: str, block: int) -> float:
        times = 1.0 if label != "canary" else 2 if canaries else 3 + block % 3 / 100
        return usual(case, label, block) * times

    asked = claim(group(row("same"), runners=["slow"]))
    found = report(asked, of={"canaries": canaries}, time=time, told=False)
    # it says how the intervals are, and takes no word away
    assert found.claims[0].groups[0].rows[0].verdict == "reproduced"
    assert worded.canary(found).partition(" against")[0] == f"A/A control: {whose}"


# the whole of a claim ----------------------------------------------------------------------------

NONE = group(row("huge", 1.0), expects="no effect", tolerance=1.05)
LARGER = {"lessons": {**claim_runs.LESSONS, "larger": "Take it at once."}}
BESIDE = [row("small", None), row("small", None, untestable="nobody has the hardware")]
TWICE = [row("same"), row("same", name="again"), row("same", name="key", key=True)]
CLAIMS: dict[str, list[Json]] = {
    "key rows decide": [claim(group(row("same", key=True), row("turned")))],
    "without key rows all decide, and each word has its lesson": [
        claim(group(row("same"), row("noisy", 1.2), row("turned"), *BESIDE))
    ],
    "an effect has its lesson by its size": [
        claim(group(row("huge"))), claim(group(row("huge")), **LARGER), claim(NONE, **LARGER),
        claim(group(row("equal", 1.5))),
    ],
    "a measurement that two rows show decides once": [
        claim(group(*TWICE), group(row("same", name="there"), title="Elsewhere"))
    ],
    "by another metric it is another measurement": [claim(SAME, group(row("same"), metric="p99"))],
    "a row that refutes decides before those that agree": [
        claim(group(*map(row, modes)))
        for modes in (
            ("same", "small"), ("small", "same"), ("small", "huge", "turned"), ("broken", "same")
        )
    ],
    "what cannot be tested": [
        claim(group(row("same"), cores=16)),
        claim(group(row("small"), row("same")), group(row("huge"), cores=16, title="More")),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_what_decides_a_claim_and_what_it_teaches(name: str, snapshot: SnapshotAssertion) -> None:
    named = [{**one, "name": f"claim {n}"} for n, one in enumerate(CLAIMS[name])]
    found = report(*named)
    lines = worded.headline(found)
    for one in found.claims:
        lines += [outcome(one), *(f"  {word}: {lesson}" for word, lesson in one.lessons)]
        repeats = [each.repeats for part in one.groups for each in part.rows]
        lines.append(f"  {one.decisive.name} decides; rows repeat {repeats}; {one.here}")
    assert found.kind == "claims"
    assert lines == snapshot


# tables ------------------------------------------------------------------------------------------


def in_words(of: Any) -> str:
    """What an operation costs beside its time."""
    return f"{of.cpu:.4g} ns of CPU, {of.voluntary:.3g} and {of.involuntary:.3g} switches"


def beside(line: Json) -> Json:
    busy = 0.3 if line["block"] == 3 else 0.0
    return {"writer_p99_ns": 7, "busy": busy, "pacing_ns": 900}


SCALING = claim_runs.table("T", "p99", "read", "read@workers=2", kind="scaling")
TABLES: dict[str, How] = {
    "of every kind": ([], {}),
    "without latencies": ([], {"told": False}),
    # of an iteration, and of each of 100 operations
    "of 4 iterations": (
        [],
        {
            "of": {"counts": {
                name: {"fast": runs.counts(100, iterations=4)} for name in claim_runs.TIMES
            }},
            "sampled": [({}, {"switches_voluntary": 200, "switches_involuntary": 5})],
        },
    ),
    # what befell few blocks is not lost in a median
    "a writer and its pace": ([], {"sampled": [({}, beside)]}),
    "threads of two processes": (
        [claim(SAME, tables=[SCALING])],
        {"cases": {"processes": 2}, "cores": "2"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_rankings_threads_and_histograms(name: str, snapshot: SnapshotAssertion) -> None:
    claims, how = TABLES[name]
    found = of(*claims, **how)
    lines: list[str] = []
    for ranked in found.rankings:
        lines += [ends(ranked), *ranked.problems]
        for p in ranked.places:
            lines += [
                f"{p.label} {p.runner}: {p.wall.value:.4g}; {in_words(p.load)}",
                f"  {p.cpus}, {p.spread}, {p.skew}, {p.writer_p99}, {p.busy or 0:.3g}, {p.pacing}",
            ]
    for scaled in found.threads:
        for line in scaled.lines:
            points = [f"{p.threads}{' over' * p.over}: {p.value.value:.4g}" for p in line.points]
            lines.append(
                f"{line.label}, rates {scaled.rates}: {points}; {in_words(line.points[-1].load)}"
            )
    for drawn in found.histograms:
        lines += drawn.problems
        for cell in drawn.cells:
            count = sum(n for *_, n in cell.buckets)
            lines.append(f"{cell.label} by {drawn.step}: {count} from {cell.buckets[0]}")
    assert lines == snapshot
