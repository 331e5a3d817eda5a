"""The rates of the recordings, as sentences and as numbers, and which scheme is better."""

import datetime
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlitmus.run.selftest.keep import Recording
from sqlitmus.run.selftest.passes import LABELS, SPARE
from sqlitmus.run.selftest.record import BLOCKS
from sqlitmus.vocabulary.terms import Scheme

if TYPE_CHECKING:
    from sqlitmus.stats.efficiency import Gain
    from sqlitmus.stats.relabel import Graded

LIMIT = 0.07
TITLES: dict[Scheme, str] = {"process": "one after the other", "relay": "in turns"}


def judge(recordings: dict[Scheme, Recording], runner: str, case_id: str) -> dict[str, Any]:
    """The rates of each scheme, and of two schemes the better; `passed` says if the limit holds."""
    of = {name: judge_scheme(name, each, runner, case_id) for name, each in recordings.items()}
    gain = _gain(recordings)
    better = sentence(gain) if len(recordings) > 1 else None
    lines = [line for rates in of.values() for line in rates["lines"]]
    return {
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "runner": runner,
        "case": case_id,
        "schemes": of,
        "gain": gain and asdict(gain),
        "better": better,
        "lines": [*lines, *filter(None, [better])],
        "passed": all(rates["passed"] for rates in of.values()),
    }


def judge_scheme(name: Scheme, recording: Recording, runner: str, case_id: str) -> dict[str, Any]:
    """The rates of one scheme; the order of recording says something of lone processes only."""
    import numpy as np

    from sqlitmus.stats.equals import false_sentences
    from sqlitmus.stats.relabel import selftest

    logs = np.log(np.array(recording.equal))
    rates = selftest(logs, BLOCKS, LABELS - 1, slow=np.log(np.array(recording.slower)))
    assert rates.slow_runner is not None
    sentences = false_sentences(logs, BLOCKS, LABELS)
    passed = max(rates.false_alarms.value, sentences.value) <= LIMIT
    alarms, sequential = rates.false_alarms, rates.sequential
    assert rates.graded is not None
    seconds = float(np.mean(recording.seconds))
    title = TITLES[name].capitalize()
    lines = (
        f"""
{title}: {len(recording.equal)} blocks of {LABELS + SPARE} equal processes and a slower one,
 {seconds:.2f} s each: {runner}, {case_id}.
False alarms: in {alarms.value:.1%} of experiments with {BLOCKS} blocks and {LABELS - 1} comparisons
 some equal pair was called different (5 % aimed at, at most {LIMIT:.0%} allowed).
Sentences: in {sentences.value:.1%} of experiments a sentence on all {LABELS} told some apart (at
 most {LIMIT:.0%} allowed).
Coverage: {rates.coverage.value:.1%} of the 95 % intervals held the true ratio.
Detection: a runner that really repeats 3 % of its work was found in {rates.slow_runner.value:.0%}
 of experiments, a computed 3 % in {rates.detection.value:.0%}.
{_graded(rates.graded)}
""".strip()
        .replace("\n ", " ")
        .splitlines()
    )
    result = {
        "blocks": len(recording.equal),
        "seconds": seconds,
        "false_alarms": alarms.value,
        "false_sentences": sentences.value,
        "coverage": rates.coverage.value,
        "detection": rates.slow_runner.value,
        "computed_detection": rates.detection.value,
        "graded_a_or_b": rates.graded.share,
        "graded_detection": rates.graded.detection and rates.graded.detection.value,
        "noisy_detection": rates.graded.noisy and rates.graded.noisy.value,
        "lines": lines,
        "passed": passed,
    }
    if name == "process":
        result["sequential_false_alarms"] = sequential.value
        lines.append(
            "All of one label, then all of the next, as hyperfine alone runs them: "
            f"{sequential.value:.0%} false alarms [{sequential.low:.0%}, {sequential.high:.0%}]."
        )
    return result


def sentence(gain: "Gain | None") -> str:
    """Which scheme needs less time for the same precision; `gain` is that of turns."""
    which = "Which scheme is better for this case on this machine"
    if gain is None:
        return f"{which} cannot be told: some times do not vary."
    if not gain.resolved:
        return (
            f"{which} is not resolved: for the same precision, processes one after the other take "
            f"{_times(gain.value, gain.low, gain.high)} as long as those in turns."
        )
    if gain.value > 1:
        first, second, times = "in turns", "one after the other", (gain.value, gain.low, gain.high)
    else:
        first, second = "one after the other", "in turns"
        times = (1 / gain.value, 1 / gain.high, 1 / gain.low)
    return (
        f"Better for this case on this machine: processes {first}; {second} they take "
        f"{_times(*times)} as long for the same precision."
    )


def _times(value: float, low: float, high: float) -> str:
    return f"{value:.2f} times [{low:.2f}, {high:.2f}]"


def _gain(recordings: dict[Scheme, Recording]) -> "Gain | None":
    import numpy as np

    from sqlitmus.stats.efficiency import Passes, gain

    if len(recordings) < 2:
        return None
    lone, turns = (
        Passes(np.log(np.array(each.equal)), np.array(each.seconds))
        for each in (recordings["process"], recordings["relay"])
    )
    return gain(lone, turns)


def _graded(graded: "Graded") -> str:
    """How often the 3 % are detected, by the grade that an experiment's own canary gives it."""
    good, noisy = (
        None if rate is None else f"found in {rate.value:.0%}"
        for rate in (graded.detection, graded.noisy)
    )
    parts = [f"{graded.share:.0%} of experiments are graded A or B by a canary of their own"]
    if good:
        parts.append(f"in these it is {good}")
    if noisy:
        parts.append(f"in those graded C, where a verdict must lie beyond the noise, it is {noisy}")
    return "; ".join(parts) + "."
