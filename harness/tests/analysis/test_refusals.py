"""Runners whose writes were refused in part: their time is that of less work."""

from collections.abc import Mapping

import pytest

from sqlitmus.analysis import RunData, analyse
from sqlitmus.render.document.sentences import notice
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.runs import case, checks, from_records, noisy, plan, samples

NAMES = ("node", "bun", "rust")


def run(shares: Mapping[str, float], metric: str = "steady") -> RunData:
    """A run in which this share of a runner's writes was refused."""
    cases = [case("read"), case("write", metric=metric)]
    of = plan(NAMES, cases=cases, floor=None)
    lines = samples(of, noisy())
    for line in lines:
        if line.get("case") == "write":
            line["busy"] = shares.get(line.get("runner", ""), 0.0)
            if metric != "steady":
                line[f"{metric}_ns"] = line["steady_ns"]
    return from_records(of, checks(of), lines, {"cores": "4"})


def compared(of: RunData, name: str) -> set[str]:
    """Those that a runner is compared with where it writes."""
    write = next(each for each in analyse(of).cases if each.id == "write")
    return {
        other
        for other, one in write.comparisons.against(name).items()
        if one.verdict is not Verdict.NOT_TESTABLE
    }


def test_who_did_less_is_compared_with_nothing_there() -> None:
    refused = run({"rust": 0.4})
    assert compared(refused, "node") == {"bun"}
    assert compared(refused, "rust") == set()
    read = next(each for each in analyse(refused).cases if each.id == "read")
    assert read.comparisons.of("rust", "node") is not None


@pytest.mark.parametrize("shares", [{}, {"rust": 0.009}])
def test_a_refusal_in_a_hundred_leaves_all_in(shares: dict[str, float]) -> None:
    assert compared(run(shares), "node") == {"bun", "rust"}
    assert not [n for n in analyse(run(shares)).notices if n.kind == "refused"]


def test_the_reader_is_told_where_and_how_much() -> None:
    (told,) = [n for n in analyse(run({"rust": 0.4, "bun": 0.1})).notices if n.kind == "refused"]
    assert notice(told) == (
        "Compared with nothing, because SQLite refused a part of the work with SQLITE_BUSY, so "
        "that less was done than elsewhere: write/bun (10.0 %) and write/rust (40.0 %)."
    )


def test_latencies_count_refused_operations_too() -> None:
    assert compared(run({"rust": 0.4}, metric="p99"), "node") == {"bun", "rust"}
