"""What was measured, and what differs between the runners."""

from collections.abc import Iterator

from sqlitmus.render.document.model import Block, Definitions, Section
from sqlitmus.render.document.table import RUNNER, Cell, Column, Head, Row, Table
from sqlitmus.results.conditions import Fact
from sqlitmus.results.report import Report, Runner
from sqlitmus.vocabulary.nouns import counted

LEAD = (
    "What was measured. Where runners differ below, the difference is part of every ratio between "
    "them."
)
# More differences than these, as those of compile options, do not stand open.
OPEN_FACTS = 12
RUNNERS = [
    Column("title", "what it is", "text"),
    Column("runtime", "runtime", "text"),
    Column("driver", "driver", "text"),
    Column("sqlite", "SQLite", "text"),
]


def section(report: Report) -> Iterator[Section]:
    """The runners with their versions, facts that differ by group, then what is alike."""
    groups: dict[str, list[Fact]] = {}
    for fact in report.provenance:
        groups.setdefault(fact.group, []).append(fact)
    names = [r.name for r in report.runners if any(r.name in f.values for f in report.provenance)]
    differing = {group: [fact for fact in facts if fact.differs] for group, facts in groups.items()}
    number = sum(map(len, differing.values()))
    verb = "differs" if number == 1 else "differ"
    title = f"Provenance: {counted(number, 'fact')} {verb} between runners"
    yield Section(
        "provenance",
        title if number else "Provenance",
        [LEAD],
        sections=[
            *_runners(report.runners),
            *(_differ(group, facts, names) for group, facts in differing.items() if facts),
            *_alike(groups),
            *_machine(report.machine),
        ],
        detail=not number,
        folded=True,
        nav="Provenance",
    )


def _runners(runners: list[Runner]) -> Iterator[Section]:
    if runners:
        rows = [Row(Head(runner.name), list(_versions(runner))) for runner in runners]
        table: list[Block] = [Table("runners", RUNNER, RUNNERS, rows)]
        yield Section("runners", "Runners", blocks=table, detail=True)


def _versions(runner: Runner) -> Iterator[Cell]:
    yield Cell(runner.title, note="" if runner.role == "runner" else runner.role)
    if runner.missing:
        yield Cell(runner.missing, style="na x-m", emphasis="aside")
        return
    yield Cell(f"{runner.runtime} {runner.runtime_version or 'unknown'}")
    yield Cell(f"{runner.driver} {runner.driver_version or ''}".strip())
    yield Cell(runner.sqlite_version or "unknown")


def _differ(group: str, facts: list[Fact], names: list[str]) -> Section:
    columns = [Column(name, name, "text") for name in names]
    rows = [
        Row(Head(fact.name), [Cell(fact.values.get(name, "unknown")) for name in names])
        for fact in facts
    ]
    table = Table(f"differing-{group}", Column("fact", "fact", "text"), columns, rows)
    title = f"{group}: {counted(len(facts), 'difference')}"
    return Section(f"differing-{group}", title, blocks=[table], folded=len(facts) > OPEN_FACTS)


def _alike(groups: dict[str, list[Fact]]) -> Iterator[Section]:
    for group, facts in groups.items():
        same = [
            (fact.name, next(iter(fact.values.values()), "unknown"))
            for fact in facts
            if not fact.differs
        ]
        if same:
            title = f"{group}: {counted(len(same), 'fact')} alike in all runners"
            blocks: list[Block] = [Definitions(same)]
            yield Section(f"alike-{group}", title, blocks=blocks, detail=True, folded=True)


def _machine(machine: dict[str, str]) -> Iterator[Section]:
    if machine:
        facts: list[Block] = [Definitions(list(machine.items()))]
        yield Section("machine", "Machine", blocks=facts, detail=True)
