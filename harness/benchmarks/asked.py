"""The job that a benchmark gives a runner: a case of the catalogue on a fixture of size m."""

from pathlib import Path

from sqlitmus.catalog import fixture, jobs
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.plan import Case
from sqlitmus.catalog.runners import Installed
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Job


def job_of(known: Catalog, case: Case, installed: Installed, scratch: Path) -> Job:
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
