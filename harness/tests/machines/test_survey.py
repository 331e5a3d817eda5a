"""A merged run directory as one report: what counts, what is flagged, what is left out."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sqlitmus.machines import report as machines
from sqlitmus.results.machines import Answer, MergedReport, Row
from tests.analysis.runs import Contrast, Interval, Verdict, plan
from tests.machines.merged_runs import RUNNERS, Directory
from tests.refusals import refused
from tests.worded import headline


@pytest.fixture
def made(tmp_path: Path) -> Directory:
    return Directory(tmp_path / "merged")


def reported(directory: Directory, reference: str | None = None) -> MergedReport:
    merged = directory.write()
    against = machines.reference_of(merged, reference)
    found = [machines.survey(merged.file, one, against, None) for one in merged.machines]
    return machines.merged_report(merged, found, against)


def row(report: MergedReport, runner: str, case: str = "get-pk") -> Row:
    (found,) = (one for one in report.rows if (one.case, one.runner) == (case, runner))
    return found


def test_each_pair_has_a_row_with_the_answer_of_each_machines_own_report(made: Directory) -> None:
    made.add("one", ratios={"bun": 0.8})
    made.add("two", ratios={"bun": 0.7})
    report = reported(made)
    assert [(r.case, r.runner, r.text, r.verdict) for r in report.rows] == [
        ("get-pk", "bun", "holds on all 2", "materially faster"),
        ("get-pk", "rust-ffi", "holds on all 2", "equivalent"),
        ("get-index", "bun", "holds on all 2", "materially faster"),
        ("get-index", "rust-ffi", "holds on all 2", "equivalent"),
    ]
    # rust-ffi is the floor: no runtime to choose
    assert headline(report)[0] == (
        "Of 2 comparisons with node, 2 hold on every machine that has an answer."
    )
    answers = row(report, "bun").answers
    values = [answer.contrast.ratio.value for answer in answers if answer.contrast]
    assert values == pytest.approx([0.8, 0.7], rel=0.02)
    merged = made.write()
    for number, machine in enumerate(merged.machines):
        _, own = machines.machine_report(merged.file, machine, "node")
        theirs = {(c.id, r): c.comparisons.of(r, "node") for c in own.cases for r in RUNNERS[1:]}
        found = {(r.case, r.runner): r.answers[number].contrast for r in report.rows}
        assert found == theirs


def test_native_machines_count_and_three_of_a_kind_are_pooled(made: Directory) -> None:
    for number in range(3):
        made.add(f"linux {number}", ratios={"bun": 0.8})
    for number in range(2):
        made.add(f"mac {number}", kind="macos-arm64", ratios={"bun": 0.5})
    made.add("odd", ratios={"bun": 3.0}, architecture="aarch64", emulated=["bun"])
    found = row(reported(made), "bun")
    assert [answer.emulated for answer in found.answers] == [False] * 5 + [True]
    assert (found.text, found.beside) == ("holds on all 5", "emulated, not counted on: odd")
    (mean,) = found.pooled
    assert (mean.kind, mean.machines) == ("linux-x64", 3)
    assert mean.ratio.value == pytest.approx(0.8, rel=0.02)


def test_emulation_is_told_by_any_name_of_an_architecture(made: Directory) -> None:
    for architecture in ("x86_64", "AMD64", "aarch64", "unknown"):
        made.add(architecture, architecture=architecture, emulated=RUNNERS)
    made.add("arm64", architecture="arm64", emulated=["node"])
    report = reported(made)
    assert [m.emulated for m in report.machines] == [[], [], list(RUNNERS), [], ["node"]]
    # an emulated reference taints every pair of its machine
    marks = [[answer.emulated for answer in found.answers] for found in report.rows]
    assert marks == [[False, False, True, False, True]] * len(report.rows)


def test_where_a_runner_still_warmed_up_the_machine_says_so_and_counts_for_nothing(
    made: Directory,
) -> None:
    for name in "abc":
        made.add(name, ratios={"bun": 0.8}, warming="" if name == "a" else "bun")
    bun = row(reported(made), "bun")
    assert [answer.said for answer in bun.answers] == ["", *["still warming up"] * 2]
    assert bun.text == "on a only"
    assert not bun.pooled


def test_the_reference_is_what_most_runs_have_or_what_is_asked(made: Directory) -> None:
    made.add("one", plan(("bun", "rust-ffi")))
    made.add("two", ratios={"bun": 0.8})
    made.add("three", ratios={"bun": 0.8})
    report = reported(made)
    assert report.reference == "node"
    found = row(report, "bun")
    assert (found.answers[0].contrast, found.answers[0].said) == (None, "no node")
    assert found.beside == "no answer on: one (no node)"
    assert report.machines[0].headline
    asked = reported(made, "bun")
    assert asked.reference == "bun"
    contrast_ = row(asked, "node").answers[1].contrast
    assert contrast_ is not None
    assert contrast_.ratio.value == pytest.approx(1.25, rel=0.02)
    with refused(r"'deno' cannot be the reference.*bun, rust-ffi, node"):
        reported(made, "deno")


SHORT: dict[str, Verdict] = {
    "F": Verdict.MATERIALLY_FASTER,
    "f": Verdict.FASTER,
    "e": Verdict.EQUIVALENT,
    "s": Verdict.SLOWER,
    "S": Verdict.MATERIALLY_SLOWER,
    "n": Verdict.NOT_RESOLVED,
    "t": Verdict.NOT_TESTABLE,
}


def answer(letter: str, p: float = 1e-6, *, emulated: bool = False) -> Answer:
    """That of a machine: x has none, and what is no difference has a p of its own."""
    if letter == "x":
        return Answer(said="failed", emulated=emulated)
    verdict = SHORT[letter]
    adjusted = p if verdict.different else 0.5
    contrast = Contrast("bun", "node", Interval(0.9, 0.8, 1.0), verdict, adjusted=adjusted)
    return Answer(contrast, emulated=emulated)


def judged(of: Sequence[Answer]) -> machines.Judged:
    return machines.judge(of, [f"m{number}" for number in range(1, len(of) + 1)])


@pytest.mark.parametrize(
    ("text", "word", "verdict", "said", "beside"),
    [
        ("FFF", "holds on all", "materially faster", "holds on all 3", ""),
        ("FfF", "holds on all", "faster", "holds on all 3", ""),
        ("ee", "holds on all", "equivalent", "holds on all 2", ""),
        ("SSx", "holds on all", "materially slower", "holds on all 2", "no answer on: m3 (failed)"),
        ("FFn", "holds on most", "materially faster", "holds on 2 of 3 (not: m3)", ""),
        ("ffe", "holds on most", "faster", "holds on 2 of 3 (not: m3)", ""),
        ("sstn", "not resolved", None, "", ""),
        ("fnn", "not resolved", None, "", ""),
        ("fe", "not resolved", None, "", ""),
        ("fs", "depends on the machine", None, "", "faster on: m1; slower on: m2"),
        ("FFFFS", "depends on the machine", None, "", "faster on: m1, m2, m3, m4; slower on: m5"),
        ("Fe", "depends on the machine", None, "", "faster on: m1; equivalent on: m2"),
        ("eS", "depends on the machine", None, "", "equivalent on: m1; slower on: m2"),
        (
            *("FxS*", "on one machine only", "materially faster", "on m1 only"),
            "no answer on: m2 (failed); emulated, not counted on: m3",
        ),
        ("F", "on one machine only", "materially faster", "on this machine only", ""),
        ("n", "not resolved", None, "", ""),
        ("xx", "no answer", None, "", "no answer on: m1 (failed), m2 (failed)"),
        ("F*S*", "no answer", None, "", "emulated, not counted on: m1, m2"),
    ],
)
def test_words(text: str, word: str, verdict: Verdict | None, said: str, beside: str) -> None:
    """A letter per machine; a star marks the one before it as emulated."""
    starred = [(letter, text[n + 1 : n + 2] == "*") for n, letter in enumerate(text)]
    of = [answer(letter, emulated=star) for letter, star in starred if letter != "*"]
    assert judged(of) == (word, verdict, said or word, beside)


def test_one_of_many_machines_contradicts_only_if_its_answer_stands_a_correction_for_them() -> None:
    words = {
        ("fs", 0.02): "depends on the machine",
        ("fsn", 0.02): "not resolved",  # 5 % over three machines is less than that
        ("fffs", 0.02): "holds on most",
        ("fffs", 0.01): "depends on the machine",
        ("Fe", 0.03): "not resolved",
    }
    for (verdicts, p), word in words.items():
        assert judged([answer(verdict, p) for verdict in verdicts]).word == word


ANSWERS = st.lists(
    st.builds(answer, st.sampled_from([*SHORT, "x"]), emulated=st.booleans()),
    min_size=1,
    max_size=7,
)


@given(ANSWERS, st.integers(0, 1000))
def test_neither_order_nor_sides_nor_what_does_not_count_change_a_word(
    of: list[Answer], seed: int
) -> None:
    found = judged(of)
    paired = [(one, f"m{number}") for number, one in enumerate(of, 1)]
    Random(seed).shuffle(paired)
    again = machines.judge([a for a, _ in paired], [n for _, n in paired])
    assert (again.word, again.verdict) == (found.word, found.verdict)
    assert sorted(again.text) == sorted(found.text)
    turned = judged(
        [
            replace(a, contrast=replace(a.contrast, verdict=a.contrast.verdict.opposite))
            if a.contrast
            else a
            for a in of
        ]
    )
    assert (turned.word, turned.text) == (found.word, found.text)
    assert turned.verdict == (found.verdict and found.verdict.opposite)
    if len(of) > 1:
        more = judged([*of, answer("s", emulated=True), answer("x")])
        assert (more.word, more.verdict, more.text) == (found.word, found.verdict, found.text)


def test_means_are_of_three_or_more_machines_of_one_kind_whatever_others_say() -> None:
    mean = np.log(np.array([[0.80, 0.82, 0.78, 2.0, 2.0], [0.5, 0.5, np.nan, 1.0, 1.0]]))
    error, freedom = np.full_like(mean, 0.01), np.full_like(mean, 9.0)
    error[np.isnan(mean)] = np.nan
    first, second = machines.pool(["a", "a", "a", "b", "b"], mean, error, freedom)
    (one,) = first
    assert (one.kind, one.machines) == ("a", 3)
    assert one.ratio.value == pytest.approx(0.80, abs=0.002)
    assert (one.next.low or 0) < (one.ratio.low or 0) < 0.8 < (one.next.high or 0)
    assert second == []
    alone = machines.pool(["a"] * 3, *(column[:1, :3] for column in (mean, error, freedom)))
    assert alone == [first]
