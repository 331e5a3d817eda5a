"""What a benchmark gives a runner: a case of the catalogue on a fixture of size m, or a seat."""

from pathlib import Path

from sqlitmus.catalog import fixture, jobs
from sqlitmus.catalog.cases import PlannedCase
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.processes.relay import Entry
from sqlitmus.run.processes.turns import Turns
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job, Share


def job_of(known: Catalog, case: PlannedCase, installed: Installed, scratch: Path) -> Job:
    """`case` to be measured, with its result in `scratch`; one that writes has a fresh database."""
    spec = known.scenarios[case.scenario]
    assert spec.fixture
    definition = known.fixtures[spec.fixture]
    database = fixture.ensure(
        spec.fixture, definition, "m", case.journal_mode, paths.cache("fixtures")
    )
    if spec.writes:
        kept, database = database, scratch / "copy.db"
        fixture.fresh_copy(kept, database)
    return jobs.make_job(
        case,
        known,
        mode="measure",
        cell=f"{case.id}/{installed.spec.name}",
        database=database,
        size=fixture.rows(definition, "m"),
        output=scratch / "result.json",
    )


def entry_of(
    known: Catalog,
    case: PlannedCase,
    installed: Installed,
    folder: Path,
    turns: Turns,
    *,
    command: list[str] | None = None,
    warmup_ms: int = 0,
    turned: bool = True,
) -> Entry:
    """A process of `case` with all of its files in `folder`: behind the barrier where it is
    `turned`, else alone. `command` is another program than the runner's own."""
    folder.mkdir(exist_ok=True)
    counts = {"iterations": turns.iterations, "warmup_iterations": turns.warmup}
    counted = case.model_copy(update={**counts, "warmup_ms": warmup_ms})
    job = job_of(known, counted, installed, folder)
    share = Share(of=job.measure.workers) if turned else None
    measure = job.measure.model_copy(update={"share": share})
    file = folder / "job.json"
    file.write_text(job.model_copy(update={"measure": measure}).text(), encoding="utf-8")
    environment = {**installed.environment, **installed.spec.steady_environment}
    words = [*(command or installed.command), "--job", str(file)]
    output, single = Path(job.output), case.workers == 1
    return Entry(words, environment, turns, output, folder / "log", single)
