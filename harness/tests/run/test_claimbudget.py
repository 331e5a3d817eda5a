"""What each claim costs: each cell once, with its canary."""

from sqlitmus.catalog.cases import Counts
from sqlitmus.catalog.claims import Claim
from sqlitmus.run.plan.budget import line_of, shares

LESSONS = dict.fromkeys(("reproduced", "different", "unresolved", "reversed", "untestable"), "x")


def claim(name: str, *cases: str) -> Claim:
    """A claim that compares node with bun in each of these cases."""
    groups = [
        {
            "title": case,
            "metric": "steady",
            "base": {"case": case, "runner": "node"},
            "new": {"case": case, "runner": "bun"},
            "rows": [{"name": case, "published": 2.0, "said": "2 times"}],
        }
        for case in cases
    ]
    texts = dict.fromkeys(("title", "source", "published_on", "hypothesis"), "x")
    return Claim.model_validate({"name": name, **texts, "lessons": LESSONS, "groups": groups})


def test_a_cell_counts_for_the_first_claim_that_needs_it() -> None:
    each = Counts(operations=1, iterations=1, warmup_iterations=0, warmup_ms=0, seconds=0.5)
    counts = {case: {"node": each, "bun": each} for case in ("a", "b")}
    cells = {"a": ["node", "bun"], "b": ["node"]}  # bun has no answer in b
    claims = [claim("first", "a"), claim("second", "a", "b"), claim("third", "b")]
    parts = shares(claims, counts, cells, {"a": "bun", "b": "node"})
    assert [tuple(part) for part in parts] == [
        ("first", 2, 1.5),  # two cells and a canary
        ("second", 1, 1.0),
        ("third", 0, 0.0),
    ]
    assert line_of(parts[0], 10, "0:15") == "  first: 2 cells, about 0:15 in 10 blocks"
    assert line_of(parts[2], 10, "0:00") == "  third: nothing of its own to measure"
