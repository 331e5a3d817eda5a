"""Cold start, CPU and memory: verdicts of their own beside the primary time."""

from typing import Any

import numpy as np
import pytest

from sqlitmus.analysis import RunData, analyse
from sqlitmus.analysis.assemble import measures
from sqlitmus.analysis.pairs import Question
from sqlitmus.render.document import symbols
from sqlitmus.results.report import Cell, Measure
from sqlitmus.stats.estimate import Array
from sqlitmus.vocabulary import figures
from sqlitmus.vocabulary.figures import Alike
from sqlitmus.vocabulary.verdicts import Correction
from tests.analysis.runs import case, change, checks, make, noisy, plan, samples

NAMES = ["node", "bun", "rust-ffi"]
CPU = figures.named("cpu")
Line = dict[str, Any]


def lines(
    cold: float = 1.0, cpu: float = 1.0, memory: float = 1.0, *, spread: float = 0.003
) -> list[Line]:
    """A run in which all times are alike, and bun's other figures differ by these factors."""
    planned = plan(NAMES, blocks=30)
    found: list[Line] = []
    for number, line in enumerate(samples(planned, noisy(spread=spread))):
        if "label" not in line:
            found.append(line)
            continue
        noise = np.exp(np.random.default_rng(number).normal(0, spread, 3))
        factors = (cold, cpu, memory) if line["label"] == "bun" else (1, 1, 1)
        wall, spent, rss = (noise * factors).tolist()
        figures = {
            "cold_ns": round(5e7 * wall),
            "cpu_ns": 1e5 * spent,
            "peak_rss_bytes": round(4e7 * rss),
        }
        found.append({**line, **figures})
    return found


def run(of: list[Line], **changes: Any) -> RunData:
    return make(plan(NAMES, blocks=30, **changes), lines=of)


def cell(of: RunData, name: str = "bun", reference: str | None = None) -> Cell:
    return next(c for c in analyse(of, reference).cases[0].cells if c.runner == name)


def told(found: Cell) -> list[str | None]:
    measured = map(found.figures.get, ("cold", "cpu", "peak_rss"))
    return [measure and measure.verdict for measure in measured]


def test_each_figure_has_a_ratio_and_a_verdict_of_its_own() -> None:
    found = cell(run(lines(cold=1.5, cpu=0.5, memory=1.0)))
    assert told(found) == ["materially slower", "materially faster", "equivalent"]
    cold = found.figures["cold"]
    assert cold.ratio is not None
    assert cold.ratio.low is not None
    assert cold.ratio.high is not None
    assert cold.ratio.low < 1.5 < cold.ratio.high
    assert cold.value == pytest.approx(7.5e7, rel=0.01)
    time = analyse(run(lines(cold=1.5, cpu=0.5))).cases[0].comparisons.of("bun", "node")
    assert time is not None
    assert time.verdict == "equivalent"


def test_the_reference_shown_is_what_figures_refer_to() -> None:
    of = run(lines(memory=2.0))
    own = cell(of, "node")
    assert told(own) == [None, None, None]
    assert own.figures["peak_rss"].ratio is None
    turned = cell(of, "node", "bun")
    memory = turned.figures["peak_rss"]
    assert memory.ratio is not None
    assert memory.ratio.value == pytest.approx(0.5, rel=0.01)
    assert memory.verdict == "materially faster"
    itself = cell(of, "bun", "bun").figures["peak_rss"]
    assert (itself.value, itself.ratio) == (pytest.approx(8e7, rel=0.01), None)


def test_cpu_of_nothing_is_a_value_without_a_ratio() -> None:
    found = cell(run(change(lines(), {"cpu_ns": 0}, label="bun")))
    assert (found.outcome, found.figures["cpu"]) == ("ok", Measure(0.0))
    assert told(found)[0::2] == ["equivalent", "equivalent"]


def test_blocks_with_cpu_of_nothing_have_no_ratio_and_the_others_do() -> None:
    given = lines(cpu=2.0)
    for block in range(18):
        given = change(given, {"cpu_ns": 0}, label="bun", case="get-pk", block=block)
    found = cell(run(given)).figures["cpu"]
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(2, rel=0.01)
    assert found.verdict == "materially slower"
    for block in range(18, 21):
        given = change(given, {"cpu_ns": 0}, label="bun", case="get-pk", block=block)
    found = cell(run(given)).figures["cpu"]
    assert found.verdict == "not testable"  # nine blocks are left


def test_what_was_never_recorded_is_none() -> None:
    found = cell(run(change(lines(), {"peak_rss_bytes": None}, label="bun")))
    assert (found.outcome, found.figures.get("peak_rss")) == ("ok", None)
    found = cell(run(change(lines(), {"peak_rss_bytes": None}, runner="node")))
    memory = found.figures["peak_rss"]
    assert (memory.ratio, memory.verdict) == (None, None)


@pytest.mark.parametrize("outcome", ["wrong", "failed", "unsupported"])
def test_a_cell_that_is_not_ok_has_no_figures(outcome: str) -> None:
    verify = change(checks(plan(NAMES)), {"outcome": outcome, "reason": "r"}, runner="bun")
    found = cell(make(plan(NAMES, blocks=30), verify=verify, lines=lines()))
    assert (found.figures, found.overhead_verdict) == ({}, None)


def values(cases: int) -> Array:
    """Node, bun and a canary over 30 blocks; bun differs a little in the first case only."""
    draws = np.random.default_rng(1).normal(0, 0.01, (cases, 3, 30))
    draws[0, 1] += 0.008 - (draws[0, 1] - draws[0, 0]).mean()
    return np.exp(draws)


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_verdicts_of_a_figure_are_corrected_together(correction: Correction) -> None:
    def first(cases: int, how: Correction) -> str | None:
        question = Question(0.02, how)
        work: list[Alike] = ["processes"] * cases
        found = measures(CPU, values(cases), work, ["node", "bun"], "node", question)[0][1]
        return found and found.verdict

    assert first(1, correction) == "slower"
    assert first(60, correction) != "slower"
    assert first(60, "none") == "slower"


# against the floor ------------------------------------------------------------------------------


def over_floor(ratios: dict[str, float], **changes: Any) -> dict[str, str | None]:
    planned = plan(NAMES, blocks=30, **changes)
    report = analyse(make(planned, lines=samples(planned, noisy(ratios, spread=0.003))))
    return {c.runner: c.overhead_verdict for c in report.cases[0].cells}


def test_overhead_has_the_verdict_of_the_time_against_the_floor() -> None:
    found = over_floor({"node": 1.5, "canary": 1.5})
    assert found == {"node": "materially slower", "bun": "equivalent", "rust-ffi": None}
    assert over_floor({"bun": 0.8})["bun"] == "materially faster"


def test_no_floor_no_verdict_of_overhead() -> None:
    assert over_floor({}, floor=None) == dict.fromkeys(NAMES)


# what is said of it -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("correction", "told", "method"),
    [
        (
            "none",
            "Verdicts are not corrected for the number of comparisons: each difference has a ",
            "of 20 comparisons between equal things expect one false difference",
        ),
        (
            "holm",
            "Verdicts are corrected for 6 comparisons by Holm (5 % any false alarm).",
            "by Holm's procedure: the chance of any false difference among all of them",
        ),
        (
            "bh",
            "Verdicts are corrected for 6 comparisons by Benjamini\u2013Hochberg (5 % false among ",
            "by Benjamini and Hochberg's procedure: of the differences that are claimed",
        ),
    ],
)
def test_the_correction_is_told(correction: str, told: str, method: str) -> None:
    report = analyse(run(lines(), correction=correction))
    assert symbols.correction(report).startswith(told)
    assert method in "\n".join(report.method)


def test_a_corrected_report_calls_fewer_things_different() -> None:
    planned = plan(["node", "bun"], blocks=12, cases=[case(f"c{n}") for n in range(200)])
    given = samples(planned, noisy(spread=0.01))

    def alarms(correction: str) -> int:
        report = analyse(make({**planned, "correction": correction}, lines=given))
        verdicts = [v for c in report.cases for v in c.comparisons.verdict]
        return sum(v is not None and ("faster" in v or "slower" in v) for v in verdicts)

    assert 2 < alarms("none") < 25  # 5 % of 200
    assert (alarms("holm"), alarms("bh")) == (0, 0)


def test_a_canary_whose_cpu_time_is_too_short_for_the_clock_has_no_ratio_and_no_warning() -> None:
    coarse = [{**x, "cpu_ns": 0} if x.get("label") == "canary" else x for x in lines(cpu=1.5)]
    assert told(cell(run(coarse)))[1] == "materially slower"
