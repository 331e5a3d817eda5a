"""A workload that is ready to be measured: its catalogue, and what its plan remembers."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlitmus.catalog import fixture
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.planned import PlannedWorkload
from sqlitmus.catalog.settings import Settings
from sqlitmus.catalog.trials import Trying, trying, trying_workload
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.workload import latencies, scenarios
from sqlitmus.workload.database import check_room, snapshot
from sqlitmus.workload.file import Workload
from sqlitmus.workload.file import read as read_file
from sqlitmus.workload.trace import with_queries

ALONE = 3  # copies beside one for each runner: its canary's, one for processes alone, the fixture


def _shares(workload: Workload) -> dict[str, float]:
    """Each query's share of the mix, as that is measured: in whole parts."""
    counts = scenarios.shares([query.weight for query in workload.query.values()])
    return {name: n / sum(counts) for name, n in zip(workload.query, counts, strict=True)}


@dataclass(frozen=True, slots=True)
class Ready:
    """What a session needs to measure a workload."""

    catalog: Catalog
    planned: PlannedWorkload
    profile: str
    pragmas: list[tuple[str, str | int]]
    suite: str = scenarios.SUITE


def read(
    file: Path,
    catalog: Catalog,
    say: Callable[[str], None] = lambda _: None,
    sample: float | None = None,
    runners: int = 0,
) -> Ready:
    """The workload in `file`, with a new copy of its database, or of a `sample` of that, for so
    many runners; 0 stands for all.

    Raises UsageError with file and line for what cannot be measured, and NotFit where copies for
    all that write at once do not fit on the disk.
    """
    source = with_queries(read_file(file, catalog), say)
    copy = snapshot(source.database, fixture.snapshots(), say, sample)
    workload = source.workload
    planned = PlannedWorkload(
        file=str(file.relative_to(paths.ROOT) if file.is_relative_to(paths.ROOT) else file),
        database=copy.about.name,
        bytes=copy.about.bytes,
        page_size=copy.about.page_size,
        encoding=copy.about.encoding,
        journal_mode=copy.about.journal_mode,
        user_version=copy.about.user_version,
        tables=copy.about.tables,
        schema_hash=copy.about.schema_hash,
        shares=_shares(workload),
        writing=[],
        workers=workload.workers,
        memory_mib=workload.limits.memory_mib,
        start_ms=workload.limits.start_ms,
        p99_ms=workload.limits.p99_ms,
        durability=workload.limits.durability,
        sample=sample,
        paced=latencies.paced(workload),
        round=sum(scenarios.shares([query.weight for query in workload.query.values()])),
    )
    try:
        whole = scenarios.catalogue(source, copy, catalog)
        writing = [name for name in workload.query if whole.scenarios[name].writes]
        if writing:
            seats = runners or sum(s.role in ("runner", "floor") for s in catalog.runners.values())
            copies = seats + ALONE
            check_room(source.database, copy.about.bytes, fixture.snapshots(), copies)
    except (UsageError, NotFit):
        fixture.forget_snapshots()
        raise
    return Ready(
        whole,
        planned.model_copy(update={"writing": writing}),
        workload.profile,
        catalog.profiles[workload.profile].pragmas,
    )


def tried(
    settings: Settings,
    catalog: Catalog,
    runner: str,
    file: Path | None,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Trying, PlannedWorkload | None]:
    """What a session tries of `settings`: on the catalogue's queries, or on those of a workload's
    `file`, with what its plan remembers of it."""
    if file is None:
        return trying(settings, catalog, runner), None
    ready = read(file, catalog, say)
    of_workload = (ready.catalog, scenarios.QUERIES, ready.planned.page_size)
    return trying_workload(settings, catalog, runner, *of_workload), ready.planned


@contextmanager
def again(
    plan: Plan, catalog: Catalog, say: Callable[[str], None] = lambda _: None
) -> Generator[Catalog]:
    """The catalogue that `plan` was made with: `catalog`, unless it is of a workload, whose file
    and database are read once more, or tries settings."""
    if plan.workload is None and plan.advice is None:
        yield catalog
        return
    file = paths.ROOT / plan.workload.file if plan.workload else None
    try:
        if plan.advice:
            yield tried(plan.advice.settings, catalog, plan.advice.runner, file, say)[0].catalog
        elif file and plan.workload:
            yield read(file, catalog, say, plan.workload.sample, len(plan.runners)).catalog
    finally:
        fixture.forget_snapshots()
