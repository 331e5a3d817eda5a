"""What the gate of a comparison came to, in words and as an exit code. Pure."""

from collections.abc import Iterable, Sequence

from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.planned import MINIMUM_BLOCKS
from sqlitmus.compare.gate import Gate
from sqlitmus.results.estimate import Interval
from sqlitmus.vocabulary.errors import Exit
from sqlitmus.vocabulary.nouns import counted

# If several apply, the first is the exit code.
_WEIGHT = (
    Exit.WRONG_ANSWERS,
    Exit.GATE_FAILED,
    Exit.CELLS_FAILED,
    Exit.UNDECIDED,
    Exit.DONE,
)


def worst(exits: Iterable[Exit]) -> Exit:
    """The exit code of a comparison to which all of `exits` apply."""
    return min(exits, key=_WEIGHT.index)


def findings(plan: Plan, first: Gate, second: Gate | None) -> tuple[list[str], Exit]:
    """A line for each outcome that cases have, and the exit code.

    `second` is the gate of the run that measured the alarmed cases of `first` again, None if there
    were none. A case counts as slower only if both runs say so. If the second run clears it, the
    alarm was a false one; if that run cannot tell either, so is the case undecided.
    """
    again = second or Gate([], [], [])
    both = (first.ratios, again.ratios)
    confirmed, withdrawn, unsure = (
        [case for case in first.alarmed if case in cases]
        for cases in (again.alarmed, again.cleared, again.open)
    )
    few = plan.blocks < MINIMUM_BLOCKS
    unclear = f"too few blocks to tell, {MINIMUM_BLOCKS} are needed" if few else "too noisy to tell"
    lines = [
        _line("slower by more in both runs", confirmed, both),
        _line("slower by more in the first run, not in the second", withdrawn, both),
        _line("slower by more in the first run, too noisy to confirm in the second", unsure, both),
        _line("no answer in the second run", again.unmeasured, why=again.unmeasured),
        _line("no answer", first.unmeasured, why=first.unmeasured),
        _line(unclear, first.open, (first.ratios,)),
        _cleared(first),
    ]
    exits = {
        Exit.GATE_FAILED: confirmed,
        Exit.CELLS_FAILED: [*first.unmeasured, *again.unmeasured],
        Exit.UNDECIDED: [*first.open, *unsure] if plan.strict else [],
    }
    prefix = f"gate {100 * (plan.gate or 0):g} %"
    worst_of = worst([Exit.DONE, *(code for code, cases in exits.items() if cases)])
    return [f"{prefix}: {line}" for line in lines if line], worst_of


def uncompared(without: dict[str, str], of: int) -> list[str]:
    """The line for a comparison without a gate in which none of the `of` cases has both sides."""
    return [_line("no case was compared", without, why=without)] if len(without) == of else []


def _cleared(first: Gate) -> str:
    of = len([*first.alarmed, *first.cleared, *first.open, *first.unmeasured])
    if len(first.cleared) == of:
        return "no case is slower by more"
    some = f"{len(first.cleared)} of {counted(of, 'case')} not slower by more"
    return some if first.cleared else ""


def _line(
    what: str,
    cases: Iterable[str],
    ratios: Sequence[dict[str, Interval]] = (),
    why: dict[str, str] | None = None,
) -> str:
    """The outcome and its cases, each with its change in each run, or with why it has none."""

    def shown(case: str) -> str:
        changes = [_change(run[case]) for run in ratios if case in run]
        about = (why or {}).get(case) or ", then ".join(changes)
        return f"{case} ({about})" if about else case

    text = ", ".join(map(shown, cases))
    return f"{what}: {text}" if text else ""


def _change(ratio: Interval) -> str:
    def percent(value: float) -> str:
        return f"{100 * (value - 1):+z.1f}"

    if ratio.low is None or ratio.high is None:
        return f"{percent(ratio.value)} %"
    return f"{percent(ratio.value)} % [{percent(ratio.low)}, {percent(ratio.high)}]"
