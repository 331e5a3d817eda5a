"""Reports made from a seed, in the shape and size of real ones. No figure in them was measured.

What they consist of has its types here, too.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from math import erfc, exp, log, sqrt
from random import Random
from statistics import geometric_mean
from typing import Literal, NamedTuple

from sqlitmus.results.ranking import Comparisons, Contrast, Ranking
from sqlitmus.results.report import (
    VERSION,
    Block,
    Broken,
    CanarySummary,
    Case,
    Cell,
    Fact,
    Group,
    Interval,
    Measure,
    Notice,
    Report,
    Runner,
    SelfTest,
    Standing,
    Taken,
)
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.figures import Figure, Syncs
from sqlitmus.vocabulary.verdicts import CellOutcome, Steadiness, Verdict

REFERENCE = "node"
FLOOR = "rust-ffi"
MARGIN = 0.02
CORES = 2
CANARY = CanarySummary(REFERENCE, 24, 1, Interval(1.043, 0.971, 1.121), many=False)
SELFTEST = SelfTest(
    "2026-01-01T10:00:00Z",
    [
        "Two identical programs differed in 3.9 % of 1000 comparisons.",
        "A slowdown of 3 % was found.",
    ],
    passed=True,
    scheme="process",
)
# What a figure is of about 1, by its name or its unit.
BASES = {
    "cold": 3.9e7,
    "cpu": 5.1e7,
    "peak_rss": 6.4e7,
    "ns": 1e6,
    "bytes": 1e6,
    "count": 0.25,
    "share": 0.01,
}
TAKEN = Taken(median=0.00123, most=0.0234, left_out=0.01)
# Factors on the time of an A/B comparison's new subject.
EFFECTS = (1.0, 1.5, 0.6, 1.12, 0.98, 1.0, 0.9, 1.0)
DETECTABLE = (0.008, 0.021, 0.009, 0.064, 0.007)
STEADY: tuple[Steadiness, ...] = ("flat", "warm-up", "flat", "slowdown", "no steady state")


class Make(NamedTuple):
    """A runner, and its factor on the time of node."""

    name: str
    runtime: str
    driver: str
    role: Literal["runner", "floor", "oracle"]
    factor: float


class Kind(NamedTuple):
    """A scenario: `base` is node's time in ns; `axis` varies over `values` besides the profile."""

    scenario: str
    title: str
    group: str
    bound: str
    unit: str
    base: float
    axis: str = "rows"
    values: str = "1"


RUNNERS = (
    Make("node", "node", "node:sqlite", "runner", 1.0),
    Make("node-better-sqlite3", "node", "better-sqlite3", "runner", 0.83),
    Make("bun", "bun", "bun:sqlite", "runner", 0.78),
    Make("bun-better-sqlite3", "bun", "better-sqlite3", "runner", 1.004),
    Make("deno", "deno", "node:sqlite", "runner", 1.09),
    Make("deno-better-sqlite3", "deno", "better-sqlite3", "runner", 0.99),
    Make("rust", "rust", "rusqlite", "runner", 0.44),
    Make("rust-ffi", "rust", "libsqlite3-sys", "floor", 0.41),
    Make("dotnet", "dotnet", "Microsoft.Data.Sqlite", "runner", 1.62),
    Make("python", "python", "sqlite3", "oracle", 2.3),
)
BASE = Make("node@24.11.0", "node", "node:sqlite", "runner", 1.0)
NEW = Make("node@26.10.0", "node", "node:sqlite", "runner", 1.0)
PARALLEL = "Reads by several workers"
KINDS = (
    Kind("startup-noop", "Start and stop", "start-up", "process", "start", 38e6),
    Kind("startup-first-row", "First row from a cold start", "start-up", "process", "start", 44e6),
    Kind("get-const", "SELECT 1", "reads", "binding", "read", 640.0),
    Kind("get-pk", "One row by primary key", "reads", "binding", "read", 1_950.0),
    Kind("get-index", "One row by unique text key", "reads", "binding", "read", 2_700.0),
    Kind("all", "Many rows at once", "reads", "mapping", "row", 610.0, "rows", "1 10 100 1000"),
    Kind("scan-full", "Scan of a whole table", "controls", "engine", "scan", 7.2e6),
    Kind("insert-transaction", "Rows in one transaction", "writes", "engine", "row", 1_480.0),
    Kind("insert-autocommit", "One row per commit", "writes", "disk", "row", 61_000.0),
    Kind("update-pk", "Update by primary key", "writes", "engine", "row", 2_300.0),
    Kind("parallel-get-pk", PARALLEL, "parallel", "cores", "read", 1_100.0, "workers", "1 2 4 8"),
)


def build(
    *, cases: int = 24, runners: int = 10, blocks: int = 12, seed: int = 1, sessions: int = 1
) -> Report:
    """A report with that many cases, runners and blocks; some cells have no time."""
    chosen = RUNNERS[:runners]
    random = Random(seed)
    built = [
        build_case(i, kind, axes, chosen, blocks, random, sessions)
        for i, (kind, axes) in enumerate(points(cases))
    ]
    groups = list(dict.fromkeys(case.group for case in built))
    return Report(
        version=VERSION,
        kind="suite",
        title="Five runtimes, one SQLite workload",
        run="2026-01-02T03-04-05-synthetic",
        label="synthetic",
        suite="full",
        created="2026-01-02T03:04:05Z",
        sqlitmus_version="0.1.0",
        seed=seed,
        blocks_planned=blocks,
        blocks_complete=blocks,
        sessions=sessions,
        margin=MARGIN,
        correction="bh",
        reference=REFERENCE,
        floor=FLOOR,
        headline=[
            Broken("node-better-sqlite3", "wrong", ["get-const@profile=normalised"], cases),
            reads(
                *("rust", "node"),
                Contrast("rust", "node", Interval(0.441, 0.426, 0.455), Verdict.MATERIALLY_FASTER),
                Contrast("bun", "node", Interval(0.784, 0.755, 0.814), Verdict.MATERIALLY_FASTER),
                Contrast("deno", "node", Interval(1.01, 0.93, 1.09), Verdict.NOT_RESOLVED),
            ),
        ],
        notices=[Notice("sqlite", values={"bun": "3.50.4", "node": "3.51.0", "rust": "3.51.0"})],
        canary=CANARY,
        blocks=machine_blocks(blocks),
        selftest=None,
        runners=[build_runner(make) for make in chosen],
        groups=groups,
        standings=standings(built, groups, [row[0] for row in chosen]),
        cases=built,
        scaling=[],
        provenance=provenance([row[0] for row in chosen]),
        machine={"cpu": "Example CPU 9000", "cores": str(CORES), "os": "Linux 6.1", "disk": "ext4"},
        method=[
            "Each process is one sample; runners are compared within blocks of neighbours in time.",
            "A ratio is a 20 %-trimmed mean of log-ratios with Yuen's 95 % interval.",
        ],
        rerun="sqlitmus run --suite full --seed 1",
        taken=TAKEN,
    )


def build_compare(*, cases: int = 24, blocks: int = 12, seed: int = 1, sessions: int = 3) -> Report:
    """An A/B comparison of two builds: of each verdict something, and one cell goes wrong."""
    whole = build(cases=1, runners=2, blocks=blocks, seed=seed, sessions=sessions)
    random = Random(seed)
    built: list[Case] = []
    for number, (kind, axes) in enumerate(points(cases)):
        factor = EFFECTS[number % len(EFFECTS)]
        subjects = (BASE, NEW._replace(factor=factor))
        case = build_case(number, kind, axes, subjects, blocks, random, sessions)
        if number == 8:
            wrong = Cell(NEW.name, "wrong", "row 3, column score: 0.5 instead of 0.25")
            case = replace(case, cells=[case.cells[0], wrong])
            case = replace(case, comparisons=pairs(case.cells, sessions))
        built.append(case)
    names = [BASE.name, NEW.name]
    groups = list(dict.fromkeys(case.group for case in built))
    return replace(
        whole,
        kind="compare",
        title="node 24.11.0 against node 26.10.0",
        suite="compare",
        correction="holm",
        reference=BASE.name,
        floor=None,
        headline=[
            reads(
                *(BASE.name, BASE.name),
                Contrast(NEW.name, BASE.name, Interval(1.04, 1.01, 1.07), Verdict.SLOWER),
            )
        ],
        notices=[],
        canary=replace(CANARY, runner=BASE.name),
        selftest=SELFTEST,
        runners=[build_runner(make) for make in (BASE, NEW)],
        groups=groups,
        standings=standings(built, groups, names),
        cases=built,
        provenance=provenance(names),
        rerun="sqlitmus compare node@24.11.0 node@26.10.0 --seed 1",
    )


def reads(first: str, reference: str, *contrasts: Contrast) -> Group:
    """Who is ahead in thirteen cases."""
    ranking = Ranking([first], contrasts=[*contrasts], margin=MARGIN, reference=reference)
    return Group("reads", 13, ranking)


def machine_blocks(count: int) -> list[Block]:
    """A quiet machine but for one block, and no throttle counter."""
    found = [
        Block(n, 41_000_000 + 90_000 * (n % 4), 0.001 * (n % 3), 0.01, None, 0.4 + n % 5 / 20, None)
        for n in range(count)
    ]
    if count > 3:
        found[3] = Block(3, 46_270_000, 0.12, 0.2, 0.01, 1.9, None)
    return found


def points(count: int) -> list[tuple[Kind, dict[str, str]]]:
    """`count` scenarios with their axes, cycling through profiles, then sizes."""
    found: list[tuple[Kind, dict[str, str]]] = []
    size = 0
    while len(found) < count:
        for kind, profile in product(KINDS, ("shipped", "normalised")):
            for value in kind.values.split():
                fixed = {"profile": profile, kind.axis: value, "size": "sml"[size % 3]}
                if size >= 3:
                    fixed["variant"] = str(size)
                found.append((kind, fixed))
        size += 1
    return found[:count]


def build_runner(make: Make) -> Runner:
    """A runner; dotnet is the one that is not installed."""
    name, runtime, driver, role, _ = make
    if name == "dotnet":
        hint = "missing: .NET SDK 10 not found; install it"
        return Runner(name, ".NET", runtime, driver, "runner", missing=hint)
    return Runner(
        name,
        f"{runtime.capitalize()} with {driver}",
        runtime,
        driver,
        role,
        runtime_version="1.2.3",
        driver_version="4.5.6",
        sqlite_version="3.50.4" if name == "bun" else "3.51.0",
    )


def build_case(
    number: int,
    kind: Kind,
    axes: dict[str, str],
    chosen: Sequence[Make],
    blocks: int,
    random: Random,
    sessions: int,
) -> Case:
    """One case with its cells and all pairs of those that are ok; the first is the reference."""
    scenario, title, group, bound, unit, base, *_ = kind
    cold = group == "start-up"
    spread = 0.01 + 0.02 * random.random()
    shared = [random.gauss(0, spread) for _ in range(blocks)]
    cells: list[Cell] = []
    for place, (name, *_, factor) in enumerate(chosen):
        bias = factor if bound in {"binding", "mapping"} else factor**0.3
        outcome, reason = outcome_of(number, name)
        cell = Cell(name, outcome, reason, command=f"sqlitmus run -f '{scenario} runner:{name}'")
        if outcome == "ok":
            middle = base * bias * exp(random.gauss(0, 0.03))
            samples = [middle * exp(s + random.gauss(0, spread)) for s in shared]
            positions = [b * 240 + number * 10 + (place * 7 + b) % 10 for b in range(blocks)]
            plan = [["SEARCH users USING INTEGER PRIMARY KEY (rowid=?)"]]
            if name == "bun" and scenario == "get-index":
                plan = [["SCAN users"]]
            cell = replace(
                cell,
                time=interval(samples),
                samples=list(samples),
                positions=positions,
                figures={
                    figure.name: measure(figure, name, factor, spread, first=place == 0)
                    for figure in figures.FIGURES
                    if not (cold and figure.primary) and figure.per != "iterations"
                    if not figure.signed  # of cases under load only
                },
                steadiness=STEADY[(number + place) % len(STEADY)] if number % 4 else None,
                operations=4096,
                iterations=20,
                plans=plan,
            )
        elif outcome in {"failed", "wrong"}:
            cell = replace(cell, log="logs/example.stderr\nline <two> & 'three'")
        cells.append(cell)
    cells = with_overhead(cells)
    return Case(
        id=f"{scenario}@" + ",".join(f"{k}={v}" for k, v in sorted(axes.items())),
        scenario=scenario,
        title=title,
        question=f"What does it cost to do this: {title.lower()}?",
        group=group,
        bound_by=bound,
        axes=axes,
        metric="cold" if cold else "steady",
        unit=unit,
        sql=["SELECT id, email, name, score FROM users WHERE id = ?"],
        pragmas=[("journal_mode", "wal"), ("synchronous", "1"), ("cache_size", "-16000")],
        operations=4096,
        checks="1 row and checksum 0x1b2c3d4e in every runner; pragmas read back",
        cells=cells,
        comparisons=pairs(cells, sessions),
        canary=canary(cells, random),
        notes=["Two workers share two cores here."] if group == "parallel" else [],
        detectable=DETECTABLE[number % len(DETECTABLE)],
    )


def measure(figure: Figure, runner: str, factor: float, spread: float, *, first: bool) -> Measure:
    """A secondary figure; the first cell is the reference and has no comparison."""
    base = BASES.get(figure.name, BASES[figure.unit])
    if figure.unit == "bytes":
        factor, spread = factor**0.5, spread / 2
    if first or not figure.judged:
        return Measure(base * factor)
    ratio = Interval(factor, factor * exp(-spread), factor * exp(spread))
    return Measure(base * factor, Contrast(runner, "node", ratio, verdict_of(ratio)))


def outcome_of(number: int, name: str) -> tuple[CellOutcome, str | None]:
    """A few cells of each kind without a time."""
    if name == "dotnet":
        return "missing", "missing: .NET SDK 10 not found; install it"
    if name == "node-better-sqlite3" and number % 11 == 5:
        return "wrong", "row 3, column score: 0.5 instead of 0.25"
    if name == "deno" and number % 13 == 7:
        return "failed", "exit code 1 after 0.2 s"
    if name == "bun" and number % 9 == 4:
        return "unsupported", "bun:sqlite has no such shape"
    return "ok", None


def durable(cell: Cell, **calls: int) -> Cell:
    """`cell` with what its transactions made durable."""
    return replace(cell, syncs=Syncs.model_validate({"fdatasync": 0, **calls}))


def interval(values: list[float]) -> Interval:
    """Geometric mean with a normal interval; plain on purpose."""
    logs = [log(value) for value in values]
    centre = sum(logs) / len(logs)
    if len(logs) < 2:
        return Interval(exp(centre), None, None)
    half = 1.96 * sqrt(sum((x - centre) ** 2 for x in logs) / (len(logs) - 1) / len(logs))
    return Interval(exp(centre), exp(centre - half), exp(centre + half))


def with_overhead(cells: list[Cell]) -> list[Cell]:
    """Time minus the floor's, with the two half-widths added in squares."""
    floor = next((cell.time for cell in cells if cell.runner == FLOOR and cell.time), None)
    if floor is None or floor.high is None or floor.low is None:
        return cells
    found: list[Cell] = []
    for cell in cells:
        if cell.time and cell.runner != FLOOR and cell.time.high and cell.time.low:
            own = (cell.time.high - cell.time.low) / 2
            half = sqrt(own**2 + ((floor.high - floor.low) / 2) ** 2)
            value = cell.time.value - floor.value
            over = Interval(value, value - half, value + half)
            verdict = verdict_of(interval([t / floor.value for t in cell.samples if t]))
            cell = replace(cell, overhead=over, overhead_verdict=verdict)  # noqa: PLW2901
        found.append(cell)
    return found


def pairs(cells: list[Cell], sessions: int) -> Comparisons:
    """Every pair of timed cells, in columns."""
    found: list[Contrast | None] = []
    for j, cell in enumerate(cells):
        for reference in cells[:j]:
            timed = cell.outcome == reference.outcome == "ok"
            one = compare(cell, reference) if timed else None
            found.append(one and replace(one, next=wider(one.ratio) if sessions > 2 else None))
    return Comparisons(
        [cell.runner for cell in cells],
        [c and c.ratio.value for c in found],
        [c and c.ratio.low for c in found],
        [c and c.ratio.high for c in found],
        [c and c.verdict for c in found],
        [c.blocks if c else 0 for c in found],
        [c and c.needs_blocks for c in found],
        [c and c.p for c in found],
        [c and c.adjusted for c in found],
        [c and c.next and c.next.low for c in found],
        [c and c.next and c.next.high for c in found],
    )


def compare(cell: Cell, reference: Cell) -> Contrast:
    """One runner against another from their paired samples."""
    both = zip(cell.samples, reference.samples, strict=True)
    ratio = interval([a / b for a, b in both if a and b])
    verdict = verdict_of(ratio)
    needs = 40 if verdict == Verdict.NOT_RESOLVED else None
    p = None
    if ratio.low is not None:
        p = erfc(abs(log(ratio.value)) / log(ratio.value / ratio.low) * 1.96 / sqrt(2))
    names, tested = (cell.runner, reference.runner), (p, p and min(1.0, p * 4))
    return Contrast(*names, ratio, verdict, len(cell.samples), needs, *tested)


def wider(ratio: Interval) -> Interval | None:
    """Where another session would lie; twice as wide as the interval."""
    if ratio.low is None or ratio.high is None:
        return None
    return Interval(ratio.value, ratio.low**2 / ratio.value, ratio.high**2 / ratio.value)


def verdict_of(ratio: Interval) -> Verdict:
    """Verdict by interval and margin; equivalence by the 95 % interval, which is enough here."""
    if ratio.low is None or ratio.high is None:
        return Verdict.NOT_TESTABLE
    if ratio.low > 1 + MARGIN:
        return Verdict.MATERIALLY_SLOWER
    if ratio.high < 1 / (1 + MARGIN):
        return Verdict.MATERIALLY_FASTER
    if ratio.low > 1:
        return Verdict.SLOWER
    if ratio.high < 1:
        return Verdict.FASTER
    inside = ratio.low > 1 / (1 + MARGIN) and ratio.high < 1 + MARGIN
    return Verdict.EQUIVALENT if inside else Verdict.NOT_RESOLVED


def canary(cells: list[Cell], random: Random) -> Contrast | None:
    """The reference against a jittered copy of itself."""
    own = cells[0]
    if own.time is None:
        return None
    again = [value * exp(random.gauss(0, 0.01)) if value else None for value in own.samples]
    return replace(compare(replace(own, samples=again), own), runner="canary")


def standings(cases: list[Case], groups: list[str], names: list[str]) -> list[Standing]:
    """Geometric means over the cases that both can do."""
    found: list[Standing] = []
    for group, (runner, reference) in product(groups, permutations(names, 2)):
        pairs = [case.comparisons.of(runner, reference) for case in cases if case.group == group]
        mine = [pair for pair in pairs if pair]
        kinds = Counter(pair.verdict.side for pair in mine)
        found.append(
            Standing(
                *(runner, reference, group),
                mean_of(mine, runner, reference) if mine else None,
                len(mine),
                *(kinds[side] for side in ("faster", "slower", "equivalent", "undecided")),
                not_ok=len(pairs) - len(mine),
            )
        )
    return found


def mean_of(pairs: list[Contrast], runner: str, reference: str) -> Contrast:
    """Geometric mean; the bounds are geometric means too, wider than an honest interval."""
    ratios = [pair.ratio for pair in pairs]
    ends = [(r.value, r.low or r.value, r.high or r.value) for r in ratios]
    ratio = Interval(*map(geometric_mean, zip(*ends, strict=True)))
    return Contrast(runner, reference, ratio, verdict_of(ratio))


def provenance(names: list[str]) -> list[Fact]:
    """Facts that differ and facts that do not."""
    there = [name for name in names if name != "dotnet"]
    versions = {name: "3.50.4" if name == "bun" else "3.51.0" for name in there}
    same = dict.fromkeys(there, "wal")
    return [
        Fact("SQLite", "version", versions, differs=True),
        Fact("SQLite", "threading mode", dict.fromkeys(there, "1"), differs=False),
        Fact(
            "compile options", "MAX_MMAP_SIZE", dict(zip(there, "0102030405", strict=False)), True
        ),
        *[Fact("compile options", f"OPTION_{i}", same, differs=False) for i in range(30)],
        Fact("pragmas, profile normalised", "journal_mode", same, differs=False),
    ]
