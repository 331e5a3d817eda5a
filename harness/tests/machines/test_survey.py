"""A merged run directory as one report: what counts, what is flagged, what is left out."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlitmus.analysis import read
from sqlitmus.analysis.notices import emulated
from sqlitmus.machines import report as machines
from sqlitmus.results.machines import Answer, MergedReport, Row
from sqlitmus.results.ranking import Contrast, Interval
from sqlitmus.store.file import opened
from sqlitmus.vocabulary.verdicts import Verdict
from tests.analysis.runs import plan
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


def test_each_pair_has_a_row_with_an_answer_per_machine(made: Directory) -> None:
    made.add("one", ratios={"bun": 0.8})
    made.add("two", ratios={"bun": 0.7})
    report = reported(made)
    assert [(r.case, r.runner) for r in report.rows] == [
        ("get-pk", "bun"),
        ("get-pk", "rust-ffi"),
        ("get-index", "bun"),
        ("get-index", "rust-ffi"),
    ]
    found = row(report, "bun")
    assert found.text == "holds on all 2"
    assert found.verdict == "materially faster"
    values = [answer.contrast.ratio.value for answer in found.answers if answer.contrast]
    assert values == pytest.approx([0.8, 0.7], rel=0.02)
    # rust-ffi is the floor: no runtime to choose
    assert headline(report)[0] == (
        "Of 2 comparisons with node, 2 hold on every machine that has an answer."
    )


def test_an_answer_is_that_of_the_machines_own_report(made: Directory) -> None:
    made.add("one", ratios={"bun": 0.8})
    made.add("two", ratios={"bun": 1.02}, spread=0.05)
    report = reported(made)
    merged = made.write()
    for number, machine in enumerate(merged.machines):
        _, own = machines.machine_report(merged.file, machine, "node")
        for found in report.rows:
            (of,) = (c for c in own.cases if c.id == found.case)
            theirs = of.comparisons.of(found.runner, "node")
            assert theirs is not None
            assert found.answers[number].contrast == theirs


def test_an_emulated_runner_is_flagged_and_counts_for_nothing(made: Directory) -> None:
    for number in range(3):
        made.add(f"native {number}", ratios={"bun": 0.8})
    made.add("odd", ratios={"bun": 3.0}, architecture="aarch64", emulated=["bun"])
    found = row(reported(made), "bun")
    assert [answer.emulated for answer in found.answers] == [False, False, False, True]
    assert found.text == "holds on all 3"
    assert found.beside == "emulated, not counted on: odd"
    (mean,) = found.pooled
    assert mean.machines == 3
    assert mean.ratio.value == pytest.approx(0.8, rel=0.02)


def test_an_emulated_reference_taints_every_pair_of_its_machine(made: Directory) -> None:
    made.add("one")
    made.add("odd", architecture="arm64", emulated=["node"])
    report = reported(made)
    assert all(found.answers[1].emulated for found in report.rows)
    assert report.machines[1].emulated == ["node"]


@pytest.mark.parametrize(
    ("machine", "runners", "found"),
    [
        ("x86_64", "x86_64", []),
        ("AMD64", "x86_64", []),
        ("aarch64", "x86_64", list(RUNNERS)),
        ("unknown", "x86_64", []),
    ],
)
def test_architectures_have_several_names(
    machine: str, runners: str, found: list[str], made: Directory
) -> None:
    made.add("one", architecture=machine, emulated=RUNNERS if runners == "x86_64" else ())
    with opened(made.write().file) as db:
        assert list(emulated(read(db, 1, {}))) == found


def test_three_machines_of_a_kind_are_pooled_and_other_kinds_are_not(made: Directory) -> None:
    for number in range(3):
        made.add(f"linux {number}", ratios={"bun": 0.8})
    for number in range(2):
        made.add(f"mac {number}", kind="macos-arm64", ratios={"bun": 0.5})
    (mean,) = row(reported(made), "bun").pooled
    assert (mean.kind, mean.machines) == ("linux-x64", 3)
    assert mean.ratio.value == pytest.approx(0.8, rel=0.02)


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
    made.add("one", plan(("bun", "node", "rust-ffi")))
    made.add("two", ratios={"bun": 0.8})
    made.add("three", ratios={"bun": 0.8})
    assert reported(made).reference == "node"
    report = reported(made, "bun")
    assert report.reference == "bun"
    found = row(report, "node")
    assert found.answers[1].contrast is not None
    assert found.answers[1].contrast.ratio.value == pytest.approx(1.25, rel=0.02)
    with refused(r"'deno' cannot be the reference.*bun, node, rust-ffi"):
        reported(made, "deno")


def test_a_machine_without_the_reference_has_no_answer_but_a_report(made: Directory) -> None:
    made.add("one", plan(("bun", "rust-ffi")))
    made.add("two")
    made.add("three")
    report = reported(made)
    found = row(report, "bun")
    assert (found.answers[0].contrast, found.answers[0].said) == (None, "no node")
    assert found.beside == "no answer on: one (no node)"
    assert report.machines[0].headline


SHORT: dict[str, Verdict] = {
    "F": Verdict.MATERIALLY_FASTER,
    "f": Verdict.FASTER,
    "e": Verdict.EQUIVALENT,
    "s": Verdict.SLOWER,
    "S": Verdict.MATERIALLY_SLOWER,
    "n": Verdict.NOT_RESOLVED,
    "t": Verdict.NOT_TESTABLE,
}


def contrast(verdict: Verdict, p: float | None = None) -> Contrast:
    return Contrast("bun", "node", Interval(0.9, 0.8, 1.0), verdict, adjusted=p)


def answers(text: str) -> list[Answer]:
    """A letter per machine: x has no answer, a star marks the one before it as emulated."""
    found: list[Answer] = []
    for letter in text:
        if letter == "*":
            found[-1] = replace(found[-1], emulated=True)
        elif letter == "x":
            found.append(Answer(said="failed"))
        else:
            verdict = SHORT[letter]
            found.append(Answer(contrast(verdict, 1e-6 if verdict.different else 0.5)))
    return found


def names(of: Sequence[Answer]) -> list[str]:
    return [f"m{number}" for number in range(1, len(of) + 1)]


@pytest.mark.parametrize(
    ("text", "word", "verdict", "said", "beside"),
    [
        ("FFF", "holds on all", "materially faster", "holds on all 3", ""),
        ("FfF", "holds on all", "faster", "holds on all 3", ""),
        ("ee", "holds on all", "equivalent", "holds on all 2", ""),
        ("SSx", "holds on all", "materially slower", "holds on all 2", "no answer on: m3 (failed)"),
        ("FFn", "holds on most", "materially faster", "holds on 2 of 3 (not: m3)", ""),
        ("ffe", "holds on most", "faster", "holds on 2 of 3 (not: m3)", ""),
        ("sstn", "not resolved", None, "not resolved", ""),
        ("ff", "holds on all", "faster", "holds on all 2", ""),
        ("fnn", "not resolved", None, "not resolved", ""),
        ("fe", "not resolved", None, "not resolved", ""),
        ("fs", "depends on the machine", None, "", "faster on: m1; slower on: m2"),
        ("FFFFS", "depends on the machine", None, "", "faster on: m1, m2, m3, m4; slower on: m5"),
        ("Fe", "depends on the machine", None, "", "faster on: m1; equivalent on: m2"),
        ("eS", "depends on the machine", None, "", "equivalent on: m1; slower on: m2"),
        ("FxS*", "on one machine only", "materially faster", "on m1 only", None),
        ("F", "on one machine only", "materially faster", "on this machine only", ""),
        ("n", "not resolved", None, "not resolved", ""),
        ("xx", "no answer", None, "no answer", "no answer on: m1 (failed), m2 (failed)"),
        ("F*S*", "no answer", None, "no answer", "emulated, not counted on: m1, m2"),
        ("FFS*", "holds on all", "materially faster", "holds on all 2", None),
        (
            *("FFxS*", "holds on all", "materially faster", "holds on all 2"),
            "no answer on: m3 (failed); emulated, not counted on: m4",
        ),
    ],
)
def test_words(
    text: str, word: str, verdict: Verdict | None, said: str, beside: str | None
) -> None:
    of = answers(text)
    found = machines.judge(of, names(of))
    assert (found.word, found.verdict) == (word, verdict)
    assert found.text == (said or word)
    if beside is not None:
        assert found.beside == beside


def answer(letter: str, *, emulated: bool) -> Answer:
    verdict = SHORT.get(letter)
    return Answer(contrast(verdict) if verdict else None, emulated=emulated)


ANSWERS = st.lists(
    st.builds(answer, st.sampled_from([*SHORT, "x"]), emulated=st.booleans()),
    min_size=1,
    max_size=7,
)


@given(ANSWERS, st.integers(0, 1000))
def test_the_order_of_machines_does_not_matter(of: list[Answer], seed: int) -> None:
    found = machines.judge(of, names(of))
    paired = list(zip(of, names(of), strict=True))
    Random(seed).shuffle(paired)
    again = machines.judge([a for a, _ in paired], [n for _, n in paired])
    assert (again.word, again.verdict) == (found.word, found.verdict)
    assert sorted(again.text) == sorted(found.text)


@given(ANSWERS)
def test_exchanging_the_two_runners_mirrors_the_word(of: list[Answer]) -> None:
    turned = [replace(a, contrast=a.contrast and contrast(a.contrast.verdict.opposite)) for a in of]
    one, other = machines.judge(of, names(of)), machines.judge(turned, names(of))
    assert (one.word, one.text) == (other.word, other.text)
    assert one.verdict == (None if other.verdict is None else other.verdict.opposite)


@given(ANSWERS)
def test_emulated_answers_and_none_change_no_word(of: list[Answer]) -> None:
    found = machines.judge(of, names(of))
    more = [*of, Answer(contrast(Verdict.SLOWER), emulated=True), Answer(said="failed")]
    if len(of) > 1:
        again = machines.judge(more, names(more))
        assert (again.word, again.verdict, again.text) == (found.word, found.verdict, found.text)


def test_means_are_of_three_or_more_machines_of_one_kind() -> None:
    mean = np.log(np.array([[0.80, 0.82, 0.78, 2.0, 2.0], [0.5, 0.5, np.nan, 1.0, 1.0]]))
    error, freedom = np.full_like(mean, 0.01), np.full_like(mean, 9.0)
    error[np.isnan(mean)] = np.nan
    first, second = machines.pool(["a", "a", "a", "b", "b"], mean, error, freedom)
    (one,) = first
    assert (one.kind, one.machines) == ("a", 3)
    assert one.ratio.value == pytest.approx(0.80, abs=0.002)
    assert one.next.low is not None
    assert one.next.high is not None
    assert one.ratio.low is not None
    assert one.next.low < one.ratio.low < 0.8 < one.next.high
    assert second == []


def test_another_kind_changes_no_mean() -> None:
    mean = np.log(np.array([[0.80, 0.82, 0.78]]))
    error, freedom = np.full_like(mean, 0.01), np.full_like(mean, 9.0)
    alone = machines.pool(["a"] * 3, mean, error, freedom)
    wide = [np.hstack([column, column[:, :1] + 3.0]) for column in (mean, error, freedom)]
    assert machines.pool(["a", "a", "a", "b"], *wide) == alone


@pytest.mark.parametrize(
    ("verdicts", "p", "word"),
    [
        ("fs", 0.02, "depends on the machine"),
        ("fsn", 0.02, "not resolved"),  # 5 % over three machines is less than that
        ("fffs", 0.02, "holds on most"),
        ("fffs", 0.01, "depends on the machine"),
        ("Fe", 0.03, "not resolved"),
    ],
)
def test_one_of_many_machines_contradicts_only_if_its_answer_stands_a_correction_for_them(
    verdicts: str, p: float, word: str
) -> None:
    given_ = [
        Answer(contrast(verdict, p if verdict.different else 0.5))
        for verdict in map(SHORT.__getitem__, verdicts)
    ]
    assert machines.judge(given_, names(given_)).word == word


def test_on_twenty_machines_equal_programs_seldom_depend_on_the_machine() -> None:
    # each machine errs with 5 %, to either side; without the correction 15 % of rows contradicted
    rng = np.random.default_rng(3)
    words: list[str] = []
    for _ in range(1000):
        p, faster = rng.random(20), rng.random(20) < 0.5
        said = [
            Answer(contrast(SHORT["n" if x > 0.05 else "f" if less else "s"], float(x)))
            for x, less in zip(p, faster, strict=True)
        ]
        words.append(machines.judge(said, names(said)).word)
    assert words.count("depends on the machine") < 50
