"""The smallest plan of a run: one case, one runner, two blocks."""

from sqlitmus.catalog.cases import PlannedRunner
from sqlitmus.catalog.plan import Plan

RUNNER = PlannedRunner(name="a", title="a", runtime="a", driver="a", role="runner")
PLAN = Plan(
    run="r1",
    label="quick",
    suite="quick",
    size="s",
    created="2026-01-01T00:00:00+00:00",
    sqlitmus="0",
    seed=1,
    blocks=2,
    reference="a",
    canary="a",
    floor=None,
    margin=0.02,
    runners=[RUNNER],
    cases=[],
    cells={"get": ["a"]},
    counts={},
    mode="quick",
    correction="bh",
    fingerprint="f",
)
