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
from sqlitmus.results.headline import ClaimOutcomes, Statement
from sqlitmus.results.report import Runner
from sqlitmus.vocabulary.claimwords import ClaimWord


def claimed(run: RunData, outcomes: Outcomes, runners: Sequence[Runner]) -> list[Claim]:
    """Every claim of the plan, in its order."""
    series = Series(run, outcomes)
    groups = claim_groups(run, series)
    return [
        _claim(run, series, claim, found, runners)
        for claim, found in zip(run.plan.claims, groups, strict=True)
    ]


def claims_headline(published: Sequence[Claim]) -> list[Statement]:
    """The outcomes of the claims; none for a run without."""
    counts = Counter(claim.word for claim in published)
    ordered = {word: counts[word] for word in ClaimWord if counts[word]}
    return [ClaimOutcomes(ordered)] if published else []


def _claim(
    run: RunData,
    series: Series,
    claim: claims.Claim,
    groups: list[Group],
    runners: Sequence[Runner],
) -> Claim:
    rows = [(row, row.verdict) for row in deciding(groups) if row.verdict]
    words = Counter(word for _, word in rows)
    lessons = {(word, _lesson(claim.lessons, row, word)): None for row, word in rows}
    rankings, threads, histograms = tables(series, claim.tables)
    return Claim(
        name=claim.name,
        title=claim.title,
        source=claim.source,
        published_on=claim.published_on,
        hypothesis=claim.hypothesis,
        counts={word: words[word] for word in ClaimWord if words[word]},
        word=ClaimWord.of_all(words),
        first=next((row for row, _ in rows if row.ratio or row.difference), rows[0][0]),
        lessons=sorted(lessons, key=lambda lesson: list(ClaimWord).index(lesson[0])),
        here=_here(run, claim, runners),
        differences=claim.differences,
        untestable=claim.untestable,
        groups=groups,
        rankings=rankings,
        threads=threads,
        histograms=histograms,
        contradicts=claim.contradicts,
    )


def deciding(groups: Sequence[Group]) -> list[Row]:
    """The rows that a claim's word comes from: its key rows, or without any all that a figure was
    published for, or that cannot be tested; of those that show the same measurement, one."""
    every = [row for group in groups for row in group.rows]
    rows = [r for r in every if r.published is not None] or [r for r in every if r.verdict]
    return [row for row in rows if row.key and not row.repeats] or [
        row for row in rows if not row.repeats
    ]


def _lesson(lessons: claims.Lessons, row: Row, word: ClaimWord) -> str:
    """What a row of this word teaches; an effect where none was published reverses the claim."""
    if word is ClaimWord.LARGER and not (row.expects_effect and lessons.larger):
        return lessons.different if row.expects_effect else lessons.reversed
    return getattr(lessons, word.lesson)


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
