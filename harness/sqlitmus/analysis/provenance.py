"""How the numbers came about: what each runner is made of, what its writes make durable, the
machine, the method in words.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from sqlitmus.analysis.data import RunData, Samples
from sqlitmus.catalog.plan import Plan
from sqlitmus.machine.conditions import difference
from sqlitmus.results.recommendation import Promise
from sqlitmus.results.report import Block, Case, Fact, Notice, NoticeKind, Runner, Taken
from sqlitmus.stats.verdict import ALPHA, EARLY, MIN_BLOCKS, pocock
from sqlitmus.store.file import Block as Recorded, Verified
from sqlitmus.vocabulary.contract import Description
from sqlitmus.vocabulary.figures import Syncs
from sqlitmus.vocabulary.text import listed, normal_pragma


def block_seconds(blocks: Sequence[Recorded], plan: Plan) -> float | None:
    """How long a block of all cases took, the median; None where nobody looked. Blocks after the
    first case has ended have fewer."""
    whole = min(plan.ended.values(), default=plan.blocks)
    lasted = [block.seconds for block in blocks if plan.place(block.block) < whole]
    return median(lasted) if lasted else None


def passed(block: Recorded) -> Block:
    """One pass over all cells."""
    rates = difference(block.before, block.after)
    probes = [look.probe_ns for look in (block.before, block.after) if look.probe_ns is not None]
    return Block(
        number=block.block,
        probe_ns=max(probes, default=None),
        steal=rates.steal,
        cpu_pressure=rates.cpu_pressure,
        io_pressure=rates.io_pressure,
        load=rates.load_average,
        throttled=rates.throttled,
    )


def taken(samples: Samples) -> Taken | None:
    """What others took from all processes of which that is known."""
    lost, left_out = samples.figures["lost"], samples.figures["left_out"]
    shares, looked = lost[np.isfinite(lost)], np.isfinite(left_out)
    if not shares.size:
        return None
    # all processes of a set have the same
    rounds = np.where(looked, left_out, 0).max(axis=1)[looked.any(axis=1)]
    return Taken(float(np.median(shares)), float(shares.max()), float(rounds.mean()))


Pragmas = Mapping[str, str | int | None]

_LOST = {"off", "memory"}  # journals that a crash of the process takes with it
_KIBI = 1024


def promise(pragmas: Pragmas) -> Promise | None:
    """What a commit survives, by journal_mode and synchronous as they were read back.

    After https://sqlite.org/pragma.html#pragma_synchronous: in WAL mode NORMAL gives up durability
    only, with a rollback journal it may, rarely, cost the file.
    """
    if not {"journal_mode", "synchronous"} <= pragmas.keys():
        return None
    journal = normal_pragma("journal_mode", pragmas["journal_mode"])
    level = normal_pragma("synchronous", pragmas["synchronous"])
    if journal in _LOST or level == "0":
        return Promise.NONE
    if level == "1":
        return Promise.LATE if journal == "wal" else Promise.RISKY
    return Promise.DURABLE


def cache_bytes(pragmas: Pragmas) -> int | None:
    """The page cache of a connection; a negative cache_size is in KiB, a positive one in pages."""
    try:
        size, page = int(pragmas["cache_size"] or 0), int(pragmas["page_size"] or 0)
    except (KeyError, ValueError):
        return None
    return -size * _KIBI if size < 0 else size * page


_AT_EACH_COMMIT = {"2", "3"}  # synchronous FULL and EXTRA
Counted = dict[str, Syncs]


def notices(cases: Sequence[Case], floor: str | None) -> Iterable[Notice]:
    """Cells that sync less often than their profile promises or the floor does with it, and cases
    as shipped in which not all sync equally often."""
    yield from _gathered("fewer syncs", cases, lambda case, counted: _fewer(case, counted, floor))
    yield from _gathered("other syncs", cases, _other)


def _gathered(
    kind: NoticeKind, cases: Sequence[Case], calls_of: Callable[[Case, Counted], Counted]
) -> Iterable[Notice]:
    """One notice for all cases of which `calls_of` gives the same."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for case in cases:
        counted = {cell.runner: cell.syncs for cell in case.cells if cell.syncs}
        values = tuple((name, syncs.calls()) for name, syncs in calls_of(case, counted).items())
        if values:
            alike.setdefault(values, []).append(case.id)
    for values, names in alike.items():
        yield Notice(kind, names=names, values=dict(values))


def _fewer(case: Case, counted: Counted, floor: str | None) -> Counted:
    """Runners that sync too seldom, then the floor if it does not.

    Whole syncs are compared: what is beyond comes from checkpoints, which are no part of a commit.
    """
    pragmas = {name: normal_pragma(name, value) for name, value in case.pragmas}
    if pragmas.get("synchronous") not in _AT_EACH_COMMIT:
        return {}
    against = counted.get(floor or "")
    least = max(1, int(against.per_transaction) if against else 1)
    fewer = {name: s for name, s in counted.items() if int(s.per_transaction) < least}
    if fewer and against and floor not in fewer:
        fewer[f"{floor} (the floor)"] = against
    return fewer


def _other(case: Case, counted: Counted) -> Counted:
    if case.axes.get("profile") != "shipped":
        return {}
    return counted if len({s.per_transaction for s in counted.values()}) > 1 else {}


_WORDS = tomllib.loads(Path(__file__).with_name("method.toml").read_text("utf-8"))


def _lead_ins(plan: Plan) -> str:
    """How long lead-ins last, as the pilot found operations to take."""
    lengths = [
        counts.lead_in * case.operations * counts.operation_ns / 1e6
        for case in plan.cases
        for counts in plan.counts.get(case.id, {}).values()
        if counts.rounds and counts.operation_ns
    ]
    if not lengths:
        return ""
    least, most = (
        f"{length:.0f}" if length >= 10 else f"{length:.2g}"
        for length in (min(lengths), max(lengths))
    )
    return (
        f" Lead-ins last {least} ms." if least == most else f" Lead-ins last {least} to {most} ms."
    )


def _looks(plan: Plan) -> str:
    if plan.looks == 1:
        return ""
    if plan.gate is not None:
        return _WORDS["looks"].format(looks=plan.looks, level=100 * pocock(plan.looks))
    early = "an earlier look" if plan.looks == 2 else f"{plan.looks - 1} earlier looks"
    return _WORDS["shares"].format(early=early, spent=100 * EARLY)


def method(plan: Plan) -> list[str]:
    """One paragraph per statistic, with the plan's own figures."""
    rounds = sorted({c.rounds for of in plan.counts.values() for c in of.values() if c.rounds})
    of_turns = {"rounds": listed(list(map(str, rounds))), "lead_in": _lead_ins(plan)}
    text = _WORDS["text"].format(
        blocks=plan.blocks,
        steady=_WORDS["steady"]["turns" if rounds else "alone"],
        turns=_WORDS["turns"].format(**of_turns) if rounds else "",
        planned=_WORDS["planned"] if any(case.metric == "p99" for case in plan.cases) else "",
        seed=plan.seed,
        margin=100 * plan.margin,
        least=MIN_BLOCKS,
        all=100 * (1 - ALPHA),
        correction=_WORDS["corrections"][plan.correction],
        looks=_looks(plan),
        canary=_WORDS["canary"]["claims" if plan.claims else "reference"],
        sessions="" if plan.sessions == 1 else _WORDS["sessions"].format(sessions=plan.sessions),
    )
    return [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]


NOT_SET = "not set"
SHIPPED = "Pragmas, profile shipped"


def runners(plan: Plan) -> list[Runner]:
    """The report's runners, with versions where the runner could be asked."""
    return [
        Runner(
            **runner.model_dump(exclude={"description"}),
            runtime_version=description.identity.runtime.version if description else None,
            driver_version=description.identity.driver.version if description else None,
            sqlite_version=description.sqlite.version if description else None,
        )
        for runner in plan.runners
        for description in (runner.description,)
    ]


def facts(run: RunData) -> list[Fact]:
    """Versions, compile options, engine options and pragmas per profile, one row per fact.

    A runner that could not be asked is left out of a row.
    """
    described = {r.name: r.description for r in run.plan.runners if r.description is not None}
    by_runner: dict[tuple[str, str], dict[str, str]] = {}
    for runner, description in described.items():
        for group, name, value in _asked(description):
            by_runner.setdefault((group, name), {})[runner] = value
    return [
        *(_fact(group, name, values) for (group, name), values in by_runner.items()),
        *_compile_options(described),
        *_engine(run),
        *_pragmas(run),
    ]


def _asked(d: Description) -> Iterable[tuple[str, str, str]]:
    """Group, name and value of each fact that `describe` answers."""
    identity, sqlite = d.identity, d.sqlite
    yield "Runtime", "runtime", f"{identity.runtime.name} {identity.runtime.version}"
    yield "Runtime", "driver", f"{identity.driver.name} {identity.driver.version}"
    yield "Runtime", "architecture", identity.architecture
    yield "Runtime", "flags", " ".join(identity.flags) or "none"
    yield "SQLite", "version", sqlite.version
    yield "SQLite", "source id", sqlite.source_id
    yield "SQLite", "threadsafe", "unknown" if sqlite.threadsafe is None else str(sqlite.threadsafe)


def _compile_options(described: dict[str, Description]) -> Iterable[Fact]:
    options = {
        runner: {
            name: value if equals else "set"
            for name, equals, value in (text.partition("=") for text in d.sqlite.compile_options)
        }
        for runner, d in described.items()
    }
    for name in sorted({name for values in options.values() for name in values}):
        values = {runner: of.get(name, NOT_SET) for runner, of in options.items()}
        yield _fact("Compile options", name, values)


def _pragmas(run: RunData) -> Iterable[Fact]:
    counted = _by_profile(run, _syncs)
    for profile, by_runner in _by_profile(run, _pragmas_of).items():
        group = f"Pragmas, profile {profile}" if profile else "Pragmas"
        names = dict.fromkeys(name for values in by_runner.values() for name in values)
        for name in names:
            values = {runner: of[name] for runner, of in by_runner.items() if name in of}
            yield _fact(group, name, values)
        if profile in counted:
            syncs = {runner: of[FACT] for runner, of in counted[profile].items()}
            yield _fact(group, FACT, syncs)


def _engine(run: RunData) -> Iterable[Fact]:
    """Options of SQLite itself that a runner tells of, such as its threading mode."""
    by_option: dict[str, dict[str, dict[str, None]]] = {}
    for (_, runner), check in run.checks.items():
        for name, value in check.engine.items():
            by_option.setdefault(name, {}).setdefault(runner, {})[str(value)] = None
    for name, by_runner in by_option.items():
        yield _fact("Engine options", name, {r: " / ".join(v) for r, v in by_runner.items()})


FACT = "syncs per transaction"


def _syncs(check: Verified) -> dict[str, str]:
    if check.syncs or check.uncounted:
        return {FACT: check.syncs.calls() if check.syncs else "not counted"}
    return {}


def _pragmas_of(check: Verified) -> dict[str, str]:
    values = check.pragmas if check.outcome == "ok" else {}
    return {name: "none" if value is None else str(value) for name, value in values.items()}


def _by_profile(
    run: RunData, facts_of: Callable[[Verified], dict[str, str]]
) -> dict[str | None, dict[str, dict[str, str]]]:
    """Profile → runner → fact → its values over the cases, several joined by ` / `."""
    values: dict[str | None, dict[str, dict[str, dict[str, None]]]] = {}
    for case in run.plan.cases:
        for runner in run.plan.names:
            check = run.checks.get((case.id, runner))
            for name, value in facts_of(check).items() if check else ():
                of_runner = values.setdefault(case.axes.get("profile"), {}).setdefault(runner, {})
                of_runner.setdefault(name, {})[value] = None
    return {
        profile: {
            runner: {name: " / ".join(several) for name, several in of_runner.items()}
            for runner, of_runner in by_runner.items()
        }
        for profile, by_runner in values.items()
    }


def _fact(group: str, name: str, values: dict[str, str]) -> Fact:
    return Fact(group, name, values, differs=len(set(values.values())) > 1)
