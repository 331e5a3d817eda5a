"""A workload's limits on p99 and durability: who is left out, and with which words."""

from collections.abc import Mapping
from typing import Any

import pytest

from sqlitmus.render.document.decision import workload_section, workload_sentences
from sqlitmus.render.document.model import Table
from sqlitmus.results.recommendation import Recommendation
from tests.analysis import runs

NAMES = ("node", "bun")


def run(
    recorded: Mapping[str, float] | None = None,
    verify: list[runs.Json] | None = None,
    **limits: Any,
) -> runs.RunData:
    """A run whose rounds at 2,000 queries a second have these p99, of runners that recorded any."""
    cases = [
        *(runs.case(name, group="queries") for name in ("read", "write")),
        runs.case("mix", group="mix", axes={"workers": "1"}),
        *([runs.case("at-2000", group="keeping up")] if recorded is not None else []),
    ]
    paced = {"at-2000": 2000.0} if recorded is not None else {}
    of = runs.plan(
        NAMES, cases=cases, workload={**runs.WORKLOAD, "paced": paced, "round": 10, **limits}
    )
    lines = runs.samples(of, runs.noisy())
    for name, p99 in (recorded or {}).items():
        lines = runs.change(lines, {"p99_ns": 1e6 * p99}, case="at-2000", runner=name)
    return runs.make(of, verify=verify, lines=lines)


def advice(run: runs.RunData) -> Recommendation:
    (found_advice,) = [s for s in runs.analyse(run).headline if isinstance(s, Recommendation)]
    return found_advice


def test_who_exceeds_a_limit_on_the_p99_is_left_out() -> None:
    said = advice(run({"node": 12, "bun": 3}, p99_ms=5))
    assert said.ranking.front == ["bun"]
    text = " ".join(workload_sentences(said))
    assert (
        "node is left out: its p99 of a round at 2,000 queries a second is 12.0\u202fms, the limit "
        "5.00\u202fms." in text
    )
    (p99,) = said.latencies
    assert runs.sure(p99.p99["bun"]).value == 3e6


def test_a_p99_within_its_limit_or_without_one_leaves_nobody_out() -> None:
    assert advice(run({"node": 12, "bun": 3}, p99_ms=20)).ranking.excluded == []
    said = advice(run({"node": 12, "bun": 3}))
    assert said.ranking.excluded == []
    table, *_ = [block for each in workload_section(said) for block in each.blocks]
    assert isinstance(table, Table)
    assert table.columns[-1].title == "p99 of a round at 2,000 queries a second"


def test_who_has_no_p99_where_one_is_asked_for_is_left_out() -> None:
    said = advice(run({"bun": 3}, p99_ms=5))
    assert said.ranking.front == ["bun"]
    assert (
        "node is left out: its p99 of a round at 2,000 queries a second is not known, because it "
        "gave no right answer there." in " ".join(workload_sentences(said))
    )


def written_checks(**pragmas: runs.Json) -> list[runs.Json]:
    """Verifications in which `write` and the mix read back what they wrote."""
    verify = runs.checks(
        runs.plan(NAMES, cases=[runs.case(name) for name in ("read", "write", "mix")])
    )
    proof = {"rows": 1, "checksum": 1}
    for name, of in pragmas.items():
        for where in ("write", "mix"):
            verify = runs.change(verify, {"readback": proof, **of}, runner=name, case=where)
    return verify


SYNCS: runs.Json = {"transactions": 10, "fdatasync": 0, "bytes": 41_000}


@pytest.mark.parametrize(
    ("limit", "node", "words"),
    [
        ("full", {"pragmas": {"synchronous": 1}}, "synchronous normal, the limit full"),
        ("normal", {"pragmas": {"synchronous": 0}}, "synchronous off, the limit normal"),
        ("normal", {"pragmas": {"synchronous": 1}}, None),
        ("full", {"pragmas": {"synchronous": 3}}, None),
        (
            "full",
            {"pragmas": {"synchronous": 2}, "syncs": {**SYNCS, "fsync": 0}},
            "no sync a transaction, the limit full",
        ),
        ("full", {"pragmas": {"synchronous": 2}, "syncs": {**SYNCS, "fsync": 10}}, None),
    ],
)
def test_a_limit_on_durability(limit: str, node: runs.Json, words: str | None) -> None:
    bun = {"pragmas": {"synchronous": 2}, "syncs": {**SYNCS, "fsync": 10}}
    said = advice(run(verify=written_checks(node=node, bun=bun), durability=limit))
    told_words = [over.shown for over in said.ranking.excluded]
    assert told_words == ([words] if words else [])
    if words:
        assert said.ranking.front == ["bun"]
        assert f"node is left out: its durability is {words}." in " ".join(workload_sentences(said))


def test_what_nobody_syncs_needs_no_sync() -> None:
    """Such as an update that finds no row."""
    idle = {"pragmas": {"synchronous": 2}, "syncs": {**SYNCS, "fsync": 0}}
    said = advice(run(verify=written_checks(node=idle, bun=idle), durability="full"))
    assert said.ranking.excluded == []


def test_a_limit_whose_case_was_left_out_of_the_run_is_told() -> None:
    filtered = advice(run(None, p99_ms=5, start_ms=100))
    assert filtered.ranking.excluded == []
    assert (
        "The limit on p99 of a round and time from start to first answer was not checked, for its "
        "cases were not measured." in " ".join(workload_sentences(filtered))
    )
    assert "was not checked" not in " ".join(
        workload_sentences(advice(run({"node": 1, "bun": 1}, p99_ms=5)))
    )
