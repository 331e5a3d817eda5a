"""Reports made from a seed, in the shape and size of real ones. No figure in them was measured."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from math import exp, log, sqrt
from random import Random
from typing import Literal, NamedTuple

from sqlitmus.report.model import (
    Case,
    Cell,
    Comparison,
    Comparisons,
    Curve,
    Fact,
    Interval,
    Outcome,
    Point,
    Report,
    Runner,
    Scaling,
    Standing,
    Verdict,
)

REFERENCE = "node"
FLOOR = "rust-ffi"
MARGIN = 0.02
CORES = 2


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
    Kind(
        "parallel-get-pk",
        "Reads by several workers",
        "parallel",
        "cores",
        "read",
        1_100.0,
        "workers",
        "1 2 4 8",
    ),
)


def build(*, cases: int = 24, runners: int = 10, blocks: int = 12, seed: int = 1) -> Report:
    """A report with that many cases, runners and blocks; some cells have no time."""
    chosen = RUNNERS[:runners]
    random = Random(seed)
    built = [
        build_case(i, kind, axes, chosen, blocks, random)
        for i, (kind, axes) in enumerate(points(cases))
    ]
    groups = list(dict.fromkeys(case.group for case in built))
    return Report(
        version=1,
        title="Five runtimes, one SQLite workload",
        run="2026-01-02T03-04-05-synthetic",
        label="synthetic",
        suite="full",
        created="2026-01-02T03:04:05Z",
        sqlitmus_version="0.1.0",
        seed=seed,
        blocks_planned=blocks,
        blocks_complete=blocks,
        margin=MARGIN,
        reference=REFERENCE,
        floor=FLOOR,
        headline=[
            "Reads: rust is fastest of the drivers, at 0.44× the time of node [0.43, 0.46].",
            "Writes: bun and node-better-sqlite3 are not resolved from one another.",
            "node-better-sqlite3 answered wrongly in 1 case; its time there is not kept.",
        ],
        notices=["SQLite differs between runners: 3.50.4 in bun, 3.51.0 in the others."],
        canary_summary="node against itself: not resolved in 23 of 24 cases.",
        runners=[build_runner(make) for make in chosen],
        groups=groups,
        standings=standings(built, groups, [row[0] for row in chosen]),
        cases=built,
        scaling=[scaling(chosen)],
        provenance=provenance([row[0] for row in chosen]),
        machine={"cpu": "Example CPU 9000", "cores": str(CORES), "os": "Linux 6.1", "disk": "ext4"},
        method=[
            "Each process is one sample; runners are compared within blocks of neighbours in time.",
            "A ratio is a 20 %-trimmed mean of log-ratios with Yuen's 95 % interval.",
        ],
        rerun="sqlitmus run --suite full --seed 1",
    )


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
) -> Case:
    """One case with its cells and all ordered pairs of those that are ok."""
    scenario, title, group, bound, unit, base, *_ = kind
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
                cold_ns=3.9e7 * factor,
                cpu_ns=5.1e7 * factor,
                peak_rss_bytes=6.4e7 * factor,
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
        metric="cold" if group == "start-up" else "steady",
        unit=unit,
        sql=["SELECT id, email, name, score FROM users WHERE id = ?"],
        pragmas=[("journal_mode", "wal"), ("synchronous", "1"), ("cache_size", "-16000")],
        operations=4096,
        checks="1 row and checksum 0x1b2c3d4e in every runner; pragmas read back",
        cells=cells,
        comparisons=pairs(cells),
        canary=canary(cells, random),
        notes=["Two workers share two cores here."] if group == "parallel" else [],
    )


def outcome_of(number: int, name: str) -> tuple[Outcome, str | None]:
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
            cell = replace(cell, overhead=Interval(value, value - half, value + half))  # noqa: PLW2901
        found.append(cell)
    return found


def pairs(cells: list[Cell]) -> Comparisons:
    """Every pair of timed cells, in columns."""
    found: list[Comparison | None] = []
    for j, cell in enumerate(cells):
        for reference in cells[:j]:
            timed = cell.outcome == reference.outcome == "ok"
            found.append(compare(cell, reference) if timed else None)
    return Comparisons(
        [cell.runner for cell in cells],
        [c and c.ratio.value for c in found],
        [c and c.ratio.low for c in found],
        [c and c.ratio.high for c in found],
        [c and c.verdict for c in found],
        [c.blocks if c else 0 for c in found],
        [c and c.needs_blocks for c in found],
    )


def compare(cell: Cell, reference: Cell) -> Comparison:
    """One runner against another from their paired samples."""
    both = zip(cell.samples, reference.samples, strict=True)
    ratio = interval([a / b for a, b in both if a and b])
    verdict = verdict_of(ratio)
    needs = 40 if verdict == "not resolved" else None
    return Comparison(cell.runner, reference.runner, ratio, verdict, len(cell.samples), needs)


def verdict_of(ratio: Interval) -> Verdict:
    """Verdict by interval and margin; equivalence by the 95 % interval, which is enough here."""
    if ratio.low is None or ratio.high is None:
        return "not testable"
    if ratio.low > 1 + MARGIN:
        return "materially slower"
    if ratio.high < 1 / (1 + MARGIN):
        return "materially faster"
    if ratio.low > 1:
        return "slower"
    if ratio.high < 1:
        return "faster"
    inside = ratio.low > 1 / (1 + MARGIN) and ratio.high < 1 + MARGIN
    return "equivalent" if inside else "not resolved"


def canary(cells: list[Cell], random: Random) -> Comparison | None:
    """The reference against a jittered copy of itself."""
    own = next((cell for cell in cells if cell.runner == REFERENCE and cell.time), None)
    if own is None:
        return None
    again = [value * exp(random.gauss(0, 0.01)) if value else None for value in own.samples]
    return replace(compare(replace(own, samples=again), own), runner="canary")


def standings(cases: list[Case], groups: list[str], names: list[str]) -> list[Standing]:
    """Geometric means over the cases that both can do."""
    found: list[Standing] = []
    by_pair: dict[tuple[str, str, str], list[Comparison]] = {}
    sizes = dict.fromkeys(groups, 0)
    for case in cases:
        sizes[case.group] += 1
        for c in case.comparisons:
            by_pair.setdefault((case.group, c.runner, c.reference), []).append(c)
    for group in groups:
        for runner, reference in permutations(names, 2):
            mine = by_pair.get((group, runner, reference), [])
            ratio = mean_ratio([c.ratio for c in mine]) if mine else None
            kinds = [c.verdict.removeprefix("materially ") for c in mine]
            found.append(
                Standing(
                    runner,
                    reference,
                    group,
                    ratio,
                    len(mine),
                    kinds.count("faster"),
                    kinds.count("slower"),
                    kinds.count("equivalent"),
                    kinds.count("not resolved") + kinds.count("not testable"),
                    sizes[group] - len(mine),
                )
            )
    return found


def mean_ratio(ratios: list[Interval]) -> Interval:
    """Geometric mean; the bounds are geometric means too, wider than an honest interval."""

    def mean(values: list[float]) -> float:
        return exp(sum(map(log, values)) / len(values))

    low, high = ([getattr(r, end) or r.value for r in ratios] for end in ("low", "high"))
    return Interval(mean([r.value for r in ratios]), mean(low), mean(high))


def scaling(chosen: Sequence[Make]) -> Scaling:
    """Curves that bend once the cores are used up."""
    curves: list[Curve] = []
    for name, *_, factor in chosen:
        if name == "dotnet":
            continue
        rates = [1e9 / (1_100 * factor) * min(n, CORES) ** 0.93 * n**-0.02 for n in (1, 2, 4, 8)]
        marks = [
            Point(n, Interval(r, r * 0.97, r * 1.03))
            for n, r in zip((1, 2, 4, 8), rates, strict=True)
        ]
        curves.append(Curve(name, marks))
    title = "Reads by several workers"
    return Scaling("parallel-get-pk", title, {"profile": "normalised"}, CORES, curves)


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
