"""A notice as a sentence."""

from collections.abc import Callable, Mapping

from sqlitmus.results.notices import Notice, NoticeKind
from sqlitmus.vocabulary.nouns import by_value, counted, listed, some


def notice(about: Notice) -> str:
    """One notice as a sentence or more."""
    text = NOTICES[about.kind](about)
    return f"{about.run}: {text}" if about.run else text


def differ(about: Notice) -> str:
    """What is not the same in all runs of a machine; a name in the plural, or a runner's."""
    (what,) = about.names
    verb = "differ" if about.count > 1 else "differs"
    return f"{what} {verb} between the runs of this machine. {by_value(about.values)}."


def _in_brackets(values: Mapping[str, str]) -> str:
    """Names, each with its value in brackets."""
    return listed([f"{name} ({value})" for name, value in values.items()])


def per_name(values: Mapping[str, str]) -> str:
    """`a in x; b in y and z`."""
    return "; ".join(f"{name} in {value}" for name, value in values.items())


NOTICES: dict[NoticeKind, Callable[[Notice], str]] = {
    "unfinished": lambda n: (
        f"The run was not finished: {n.count} of {n.of} blocks are complete. Comparisons use only "
        "blocks in which both runners have a value."
    ),
    "settled": lambda n: (
        f"The run was settled at the planned look after {n.count} of {n.of} blocks; its verdicts "
        f"are given at {100 * n.level:.2g} %, the level for each of {n.looks} looks."
    ),
    "ended": lambda n: (
        f"{counted(n.count, 'case')} had an answer to every comparison at the planned look after "
        f"{listed(n.names)} blocks and ended there; the time saved went to the others, which have "
        f"{n.of}."
    ),
    "shared": lambda n: (
        f"{counted(n.count, 'case')} got {' or '.join(n.names)} blocks and the others {n.of}: the "
        "time went where the pilot foretold that more blocks answer more."
    ),
    "holes": lambda n: (
        f"Only {n.count} of {n.of} blocks hold all cells, although the run was finished."
    ),
    "cut off": lambda _: "The last line of samples.jsonl was cut off and is left out.",
    "strays": lambda n: (
        f"{counted(n.count, 'line')} of samples.jsonl belong to no cell of the plan and are left "
        "out."
    ),
    "repeats": lambda n: (
        f"{counted(n.count, 'line')} of samples.jsonl repeat an invocation; the first of each is "
        "used."
    ),
    "few blocks": lambda n: (
        f"{counted(n.count, 'complete block')}: fewer than {n.of} never give a verdict, and fewer "
        "than 2 no ratio."
    ),
    "flat": lambda n: (
        f"{counted(n.count, 'comparison')} had the same ratio in most blocks, so no interval can "
        "be had: the clock is too coarse for these, or the values were copied."
    ),
    "sqlite": lambda n: f"SQLite versions differ. {by_value(n.values)}.",
    "durability": lambda n: (
        "Durability differs in the profile shipped: synchronous is not the same everywhere, so "
        f"writes there are not like for like. {by_value(n.values)}."
    ),
    "journal": lambda n: f"Journal modes differ in the profile shipped. {by_value(n.values)}.",
    "fewer syncs": lambda n: (
        f"Syncs per transaction in {some(n.names)}: {by_value(n.values)}. Each profile there asks "
        "for one sync at each commit or more; a runner that does fewer than that, or than the "
        "floor, may lose what it committed, and its times there are not those of durable writes."
    ),
    "other syncs": lambda n: (
        f"Durability differs in the profile shipped, as counted in {some(n.names)}. Syncs per "
        f"transaction: {by_value(n.values)}. Writes there are not like for like."
    ),
    "plans": lambda n: (
        f"Query plans differ between runners in {counted(len(n.names), 'case')}: {some(n.names)}."
    ),
    "answers": lambda n: (
        f"Recorded answers disagree in {counted(len(n.names), 'case')} although each was passed as "
        f"equal: {some(n.names)}. verify.jsonl may have been changed."
    ),
    "against oracle": lambda n: (
        f"In {counted(len(n.names), 'case')} all runners that answered agree with each other "
        f"against the oracle: {some(n.names)}. Suspect the oracle, or a scenario whose answer is "
        "not the same everywhere."
    ),
    "cores unknown": lambda _: (
        "The number of cores is not recorded, so oversubscription is not marked."
    ),
    "oversubscribed": lambda n: (
        f"{listed(n.names)} workers on {counted(n.of, 'core')} are oversubscribed: these cases "
        "measure scheduling as well."
    ),
    "not warm": lambda n: (
        f"In {counted(n.count, 'cell')} the warm-up ended before the pilot saw a steady state, so "
        f"their times depend on how long they run: {by_value(n.values)}. A mode with a longer "
        "warm-up gives it more time."
    ),
    "not steady": lambda n: (
        f"In {counted(n.count, 'cell')} the pilot saw no steady state: times still went up and "
        "down once the processes were as fast as they become, because of the runtime or of this "
        f"machine: {by_value(n.values)}."
    ),
    "earlier": lambda _: (
        "An earlier version measured this: its times are medians of iterations, and each bound "
        "the same few parameters again. Measure again: times are now all time over all operations."
    ),
    "restless": lambda n: (
        "These used the processor while they waited for their turns: "
        f"{_in_brackets(n.values)}. What that took from "
        "the turns of the others made them slower."
    ),
    "warming up": lambda n: (
        "Still warming up, so compared with nothing. By how much the second half of what a process "
        f"timed was faster than the first: {_in_brackets(n.values)}. A mode with a longer warm-up "
        "gives it more time."
    ),
    "refused": lambda n: (
        "Compared with nothing, because SQLite refused a part of the work with SQLITE_BUSY, so "
        f"that less was done than elsewhere: {_in_brackets(n.values)}."
    ),
    "below floor": lambda n: (
        f"Faster than {n.names[0]}, which calls SQLite's C API and has no driver: "
        f"{per_name(n.values)}. That can be so, as where SQLite's version or options differ. "
        "Before you believe it, look for work left out, for answers that are remembered, and for "
        "commits that do not reach the disk."
    ),
    "governor": lambda n: (
        f"The CPU governor is {n.names[0]}, not performance: the clock rate may follow the load."
    ),
    "emulated": lambda n: (
        f"Not built for this machine's {n.names[0]}: {by_value(n.values)}. Their times contain an "
        "emulation (or a mode of compatibility), so comparisons with them are not like for like."
    ),
    "runs differ": differ,
}
