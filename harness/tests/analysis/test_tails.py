"""Latencies under load: intervals over blocks, and machines that were late."""

from typing import Any

import pytest

from sqlitmus.analysis import RunData, analyse
from sqlitmus.results.report import Report, Tail
from sqlitmus.vocabulary.detail import bucket
from tests.analysis.runs import case, checks, from_records, noisy, plan, samples

NAMES = ["node", "bun", "rust"]
MS = 1e6
Json = dict[str, Any]


def of_p99(**changes: Any) -> Json:
    paced = case("mixed", metric="p99", group="latency", **changes)
    return plan(NAMES, cases=[paced], floor=None)


def lines(of: Json, p99: dict[str, float], pacing: dict[str, float]) -> list[Json]:
    """Samples whose p99 is about that of each runner in ms, started so late in ms."""
    ratios = noisy(spread=0.003)
    found: list[Json] = []
    for line in samples(of, ratios):
        if "label" not in line:
            found.append(line)
            continue
        noise = ratios(0, line["label"], line["block"]) / 1000
        name = line["runner"]
        latency = p99.get(name, 1) * MS * noise
        found.append(
            {
                **line,
                "p50_ns": latency / 10,
                "p99_ns": latency,
                "p999_ns": latency * 2,
                "longest_ns": latency * (3 + line["block"]),
                "busy": 0,
                "pacing_ns": pacing.get(name, 0.01) * MS,
            }
        )
    return found


def run(of: Json, of_lines: list[Json], cores: str = "4", **more: Any) -> RunData:
    return from_records(of, checks(of), of_lines, {"cores": cores}, **more)


def report(p99: dict[str, float], pacing: dict[str, float] | None = None) -> Report:
    of = of_p99()
    return analyse(run(of, lines(of, p99, pacing or {})))


def tail(of: Report, runner: str) -> Tail:
    return next(cell for cell in of.tails[0].cells if cell.runner == runner)


def test_the_p99_is_what_is_compared_and_a_smaller_one_is_faster() -> None:
    found = report({"bun": 2.0, "rust": 0.5}).cases[0]
    assert found.metric == "p99"
    verdicts = {name: one.verdict for name, one in found.comparisons.against("node").items()}
    assert verdicts == {"bun": "materially slower", "rust": "materially faster"}
    time = next(cell.time for cell in found.cells if cell.runner == "bun")
    assert time is not None
    assert time.value == pytest.approx(2 * MS, rel=0.1)
    assert time.low is not None
    assert time.low < 2.0 * MS * 1.1


def test_quantiles_have_intervals_over_blocks_and_the_longest_of_all_has_none() -> None:
    found = tail(report({}), "node")
    for value, about in ((found.p50, 0.1), (found.p99, 1), (found.p999, 2)):
        assert value is not None
        assert value.value == pytest.approx(about * MS, rel=0.1)
        assert value.low is not None
        assert value.high is not None
        assert value.low <= value.value <= value.high
    assert found.most == pytest.approx(14 * MS, rel=0.2)  # of the last of 12 blocks
    assert found.longest is not None
    assert found.most is not None
    assert found.longest.value < found.most


def test_a_cell_of_a_late_machine_is_shown_and_in_no_comparison() -> None:
    found = report({"bun": 2.0}, {"bun": 0.51})
    assert [cell.late for cell in found.tails[0].cells] == [False, True, False]
    assert tail(found, "bun").pacing == pytest.approx(0.51 * MS)
    assert tail(found, "bun").p99 is not None
    compared = found.cases[0].comparisons
    assert compared.of("bun", "node") is None
    assert compared.of("rust", "node") is not None
    assert next(c for c in found.cases[0].cells if c.runner == "bun").time is not None


def test_half_a_millisecond_is_in_time() -> None:
    found = report({}, {"bun": 0.5})
    assert not any(cell.late for cell in found.tails[0].cells)
    assert found.cases[0].comparisons.of("bun", "node") is not None


def test_the_machine_is_only_late_where_something_was_planned() -> None:
    of = plan(NAMES, cases=[case("writers", group="writers")], floor=None)
    paced = lines(of, {}, {"bun": 3.0})
    assert not any(cell.late for cell in analyse(run(of, paced)).tails[0].cells)


def test_busy_is_the_mean_over_the_blocks_that_loses_no_rare_one() -> None:
    of = of_p99()
    rare = [
        {**line, "busy": 0.12 if line.get("block") == 3 else 0.0} if "label" in line else line
        for line in lines(of, {}, {})
    ]
    assert tail(analyse(run(of, rare)), "bun").busy == pytest.approx(0.12 / 12)


def test_several_threads_and_the_one_beside_them_are_counted_against_the_cores() -> None:
    of = of_p99(workers=4)
    plain = lines(of, {}, {})
    beside = [{**line, "writer_p99_ns": 5.0} if "label" in line else line for line in plain]
    found = analyse(run(of, beside, cores="2")).tails[0]
    assert (found.threads, found.cores) == (5, 2)


def test_the_log_is_that_of_the_block_whose_largest_is_the_median() -> None:
    of = of_p99()
    all_lines = lines(of, {}, {})
    node = [line for line in all_lines if line.get("label") == "node"]
    details = [
        {
            "position": line["position"],
            "latencies": [(bucket(1000), 100)],
            "wal": [(0.0, 0), (20.0, 4096 * (1 + line["block"]))],
        }
        for line in node
    ]
    found = tail(analyse(run(of, all_lines, details=details)), "node")
    assert found.wal_most is not None
    assert found.wal_most.value == 4096 * 6.5  # of 12 blocks
    assert found.wal == [(0.0, 0), (20.0, 4096 * 7)]
    assert found.buckets == [(1000, 1003, 12 * 100)]


def test_a_run_without_latencies_has_no_such_section() -> None:
    of = plan(NAMES)
    assert analyse(run(of, samples(of, noisy()))).tails == []


def test_the_method_says_what_a_p99_is_where_one_is_compared() -> None:
    with_one, without = report({}).method, analyse(run(plan(NAMES), samples(plan(NAMES), noisy())))
    assert "more than 0.5 ms late" in " ".join(with_one)
    assert "p99" not in " ".join(without.method)
