"""Published claims of a run: what was said, what came out here, what that means."""

from collections import Counter
from collections.abc import Sequence

from sqlitmus.analysis.claims.rows import claim_groups
from sqlitmus.analysis.claims.series import Series
from sqlitmus.analysis.claims.tables import tables
from sqlitmus.analysis.data import RunData
from sqlitmus.analysis.outcomes import Outcomes
from sqlitmus.catalog import claims
from sqlitmus.results.claims import Claim, Group, Row
from sqlitmus.results.headline import ClaimOutcome, Statement
from sqlitmus.results.report import Runner
from sqlitmus.vocabulary.terms import ClaimWord

_LESSONS: dict[ClaimWord, str] = {
    "reproduced": "reproduced",
    "same direction, different size": "different",
    "not resolved": "unresolved",
    "reversed": "reversed",
    "not testable here": "untestable",
}


def claimed(run: RunData, outcomes: Outcomes, runners: Sequence[Runner]) -> list[Claim]:
    """Every claim of the plan, in its order."""
    series = Series(run, outcomes)
    groups = claim_groups(run, series)
    return [
        _claim(run, series, claim, found, runners)
        for claim, found in zip(run.plan.claims, groups, strict=True)
    ]


def claims_headline(published: Sequence[Claim]) -> list[Statement]:
    """The outcome of each claim."""
    return [ClaimOutcome(claim.title, claim.counts) for claim in published]


def _claim(
    run: RunData,
    series: Series,
    claim: claims.Claim,
    groups: list[Group],
    runners: Sequence[Runner],
) -> Claim:
    counts = _counts([row for group in groups for row in group.rows])
    rankings, threads, histograms = tables(series, claim.tables)
    return Claim(
        name=claim.name,
        title=claim.title,
        source=claim.source,
        published_on=claim.published_on,
        hypothesis=claim.hypothesis,
        counts=counts,
        lessons=[(word, getattr(claim.lessons, _LESSONS[word])) for word in counts],
        here=_here(run, claim, runners),
        differences=claim.differences,
        untestable=claim.untestable,
        groups=groups,
        rankings=rankings,
        threads=threads,
        histograms=histograms,
        contradicts=claim.contradicts,
    )


def _counts(rows: Sequence[Row]) -> dict[ClaimWord, int]:
    """How many key rows have which word, in the order of the words; of all rows without keys."""
    asked = [row for row in rows if row.published is not None]
    asked = asked or [row for row in rows if row.verdict]
    deciding = [row for row in asked if row.key] or asked
    counts = Counter(row.verdict for row in deciding)
    return {word: counts[word] for word in _LESSONS if counts[word]}


def _here(run: RunData, claim: claims.Claim, runners: Sequence[Runner]) -> list[str]:
    """This machine, and the versions of the runners that the claim is measured with."""
    facts = run.machine
    cores = facts.get("cores", "unknown number of")
    machine = [f"{cores} cores", *(facts[name] for name in ("cpu", "os") if name in facts)]
    named = {name for _, name in claim.cells()}
    pinned = ", ".join(map(str, run.plan.pins))
    return [
        ", ".join(machine),
        *([f"processes pinned to {pinned or 'no processor'}"] if claim.pins else []),
        *(
            f"{runner.name}: {runner.runtime} {runner.runtime_version}, {runner.driver} "
            f"{runner.driver_version}, SQLite {runner.sqlite_version}"
            for runner in runners
            if runner.name in named and runner.sqlite_version
        ),
    ]
