"""Times, use, identities and files of results that cannot be."""

import os
from functools import partial

from tests.faults.fault import Fault, Seen, Where
from tests.faults.planted import (
    Change,
    Play,
    dotnet_verified,
    fake_measured,
    fake_verified,
    node_measured,
    node_verified,
    rust_verified,
)
from tests.faults.stage import Stage
from tests.faults.verdict import measured, of_run

CLOCK = "finish: (start, end) => Math.round(end - start),"
NOW = "now: () => performance.now() * 1e6,\n    unix: unixFrom("
SPENT = "spend(outcome, before, { cpu_ns: meeting.latest(cpu), ...usage.events() });"


def beside(behaviour: str) -> Play:
    """What becomes of an honest runner after a fake of that behaviour."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        clone.runner("honest")
        return measured(clone, "honest", "planted", case="insert", size="s")

    return play


def clock(old: str, new: str, file: str = "meeting.js", case: str = "get-pk") -> Play:
    """JavaScript in which `old` is `new`."""
    return node_measured(case, (f"runners/javascript/{file}", old, new), size="m")


def clock_in_turns(old: str, new: str) -> Play:
    """Node with another clock, which takes turns with an honest runner."""
    return node_measured("get-pk", ("runners/javascript/meeting.js", old, new), beside=["python"])


def beside_honest(behaviour: str, scheme: str) -> Play:
    """A fake of that behaviour and an honest one, measured in this scheme, in iterations of many
    ms."""

    def play(stage: Stage) -> Seen:
        clone = stage.fakes()
        clone.runner("planted", behaviour)
        clone.runner("honest")
        clone.replace("scenarios/tiny.toml", "operations = 4", "operations = 10_000")
        given = ("--mode", "relayed", "--size", "s", "--case", "get", "--suite", "quick")
        told = clone.sqlitmus("run", *given, "--scheme", scheme)
        assert of_run(clone, "honest", "").fate == "ok"
        return of_run(clone, "planted", told.out + told.err)

    return play


RECORDING = "runners/javascript/recording.js"
LATENCY = "record(recording.latencies, clock.now() - planned);"
PACING = "clock.waitUntil(planned) - planned);`;"
# Coordinated omission, and latencies that stop at 20 us; in each runtime's own words.
ACTUAL_START = [
    (RECORDING, LATENCY, LATENCY.replace("planned", "begun")),
    (RECORDING, PACING, PACING.replace("`;", " const begun = clock.now();`;")),
]
CAPPED = (RECORDING, LATENCY, LATENCY.replace("clock.now() - planned", "0.02"))


RUST = partial(rust_verified, "service-mixed")
DOTNET = partial(dotnet_verified, "service-mixed")
RUST_RECORDING = "runners/rust/src/recording.rs"
RUST_ACTUAL = (RUST_RECORDING, "        planned\n    }", "        clock.now()\n    }")
RUST_CAPPED = (RUST_RECORDING, "saturating_sub(begun))", "saturating_sub(begun).min(20_000))")
DOTNET_RECORDING = "runners/dotnet/src/Recording.cs"
DOTNET_LATENCY = "Clock.Nanoseconds(last - from)"
DOTNET_ACTUAL = (DOTNET_RECORDING, "return planned;", "return clock.Now();")
DOTNET_CAPPED = (DOTNET_RECORDING, DOTNET_LATENCY, f"Math.Min({DOTNET_LATENCY}, 20_000)")
START, CAP = "latency counted from the actual start", "latencies capped at 20 us"
STOPPED = "is latency counted from the actual start?"


def late_in(name: Where, title: str, planted: partial[Play], *changes: Change) -> list[Fault]:
    """Both faults in another language, whose runner is built with each of the `changes`."""
    return [
        Fault(f"{what} in {title}", name, planted(change), "failed", STOPPED, slow=True, needs=name)
        for what, change in zip((START, CAP), changes, strict=True)
    ]


DOTNET_USED = "after.Cpu - before.Cpu"
DOTNET_QUARTER = ("runners/dotnet/src/Usage.cs", DOTNET_USED, f"({DOTNET_USED}) / 4")
THIRD = ("runners/javascript/peak.js", "Number(kib) * 1024", "Math.round(Number(kib) * 341)")
DOTNET_THIRD = (
    "runners/dotnet/src/Facts.cs",
    "CultureInfo.InvariantCulture) * 1024",
    "CultureInfo.InvariantCulture) * 341",
)
HYPERFINES = "; hyperfine saw "
TIMES = "but its process lived "
# Windows has no such pipes and signals; whether hyperfine sees memory there is not known.
POSIX = [
    Fault("a FIFO as result", "fake", fake_verified("leaves-fifo"), "failed", "is no regular file"),
    Fault("/dev/zero as result", "fake", fake_verified("leaves-zero"), "failed", "is a link"),
    Fault(
        "a peak memory of 1 GB",
        "fake",
        fake_measured(f"holds={2**30}"),
        "failed",
        "hyperfine saw ",
        slow=True,
    ),
    Fault(
        "a runtime that gets no memory",
        "fake",
        fake_verified("traps"),
        "failed",
        "killed by SIGTRAP (exit code 133; runtimes end so, too, when they get no memory)",
    ),
]
FAULTS: list[Fault] = [
    Fault("iterations of 1 ns", "fake", fake_measured("takes=1"), "failed", "take 1 ns on average"),
    Fault("iterations of 95 years", "fake", fake_measured(f"takes={3 * 10**18}"), "failed", TIMES),
    Fault(
        "iterations of 10^30 ns",
        "fake",
        fake_measured(f"takes={10**30}"),
        "failed",
        "of 31 digits",
        slow=True,
    ),
    Fault(
        "a clock 10 times too slow",
        "javascript",
        clock(CLOCK, "finish: (start, end) => Math.round((end - start) * 10),"),
        "failed",
        TIMES,
        slow=True,
    ),
    Fault(
        "a clock 2 times too slow",
        "javascript",
        clock(CLOCK, "finish: (start, end) => Math.round((end - start) * 2),"),
        "failed",
        TIMES,
        slow=True,
    ),
    Fault(
        "every iteration takes 1 ms",
        "javascript",
        clock(CLOCK, "finish: () => 1e6,"),
        "failed",
        "took exactly 1000000 ns",
        slow=True,
    ),
    Fault(
        "31 years of CPU time",
        "fake",
        fake_measured(f"uses={10**18}"),
        "failed",
        "whole process used",
        slow=True,
    ),
    Fault(
        "no CPU time",
        "javascript",
        clock(SPENT, ";", "iterations.js", "all-table"),
        "failed",
        "it reports 0 ns of CPU time in iterations of ",
        slow=True,
    ),
    Fault(
        "a peak memory of 4 EB",
        "fake",
        fake_measured(f"holds={2**62}"),
        "failed",
        "this machine has ",
        slow=True,
    ),
    Fault(
        "10^18 page faults",
        "fake",
        fake_measured(f"faults={10**18}"),
        "failed",
        "page faults, but its ",
        slow=True,
    ),
    Fault(
        "the result of another cell",
        "fake",
        fake_measured("is=cell"),
        "failed",
        "its result is of get/honest; it was asked for all/planted",
    ),
    Fault(
        "the result of another runner",
        "fake",
        fake_measured("is=runner"),
        "failed",
        "its result is of the runner node; its `describe` says planted",
    ),
    Fault(
        "the result of another driver",
        "fake",
        fake_measured("is=driver"),
        "failed",
        "its result is of the driver faster 9.9; its `describe` says sqlite3 ",
        slow=True,
    ),
    Fault(
        "the result of another SQLite",
        "fake",
        fake_measured("is=sqlite"),
        "failed",
        "its result is of the SQLite version 9.9.9; its `describe` says ",
        slow=True,
    ),
    Fault(
        "a key twice in one object",
        "fake",
        fake_verified("writes-keys-twice"),
        "failed",
        "its result has the key rows twice",
    ),
    Fault(
        "a folder as result", "fake", fake_verified("leaves-folder"), "failed", "is no regular file"
    ),
    Fault(
        "10^8 numbers as result",
        "fake",
        fake_verified("leaves-numbers"),
        "failed",
        "190.7 MB; 32 MB are room",
        slow=True,
    ),
    Fault(
        "the scratch folder removed",
        "fake",
        fake_measured("removes-scratch"),
        "failed",
        "its process removed the folder of the harness's jobs and databases",
        slow=True,
    ),
    Fault(
        "the scratch folder removed beside an honest runner",
        "fake",
        beside("removes-scratch"),
        "ok",
        "insert/planted: failed: its process removed the folder",
    ),
    Fault(
        "unsupported after an ok verification",
        "fake",
        fake_measured("unsupported-when-measured"),
        "failed",
        "it was verified, and says unsupported only now: ",
    ),
    Fault(
        "times halved in turns",
        "javascript",
        clock_in_turns(CLOCK, "finish: (start, end) => Math.round((end - start) / 2),"),
        "failed",
        "its times are not those of its clock",
    ),
    Fault(
        "a clock at 0.92 of its speed in turns",
        "javascript",
        clock_in_turns(NOW, "now: () => performance.now() * 0.92e6,\n    unix: unixFrom("),
        "failed",
        "its stamps and the harness's drift apart by ",
    ),
    *(
        Fault(
            f"half of the CPU time is missing {word}",
            "fake",
            beside_honest("uses-share=0.5", scheme),
            "failed",
            "of CPU time; its thread used ",
        )
        for word, scheme in (("in turns", "relay"), ("alone", "process"))
    ),
    Fault(START, "javascript", node_verified("service-mixed", *ACTUAL_START), "failed", STOPPED),
    Fault(CAP, "javascript", node_verified("service-mixed", CAPPED), "failed", STOPPED, slow=True),
    *late_in("rust", "Rust", RUST, RUST_ACTUAL, RUST_CAPPED),
    *late_in("dotnet", ".NET", DOTNET, DOTNET_ACTUAL, DOTNET_CAPPED),
    Fault(
        "times halved where no turns are taken",
        "javascript",
        node_verified(
            "service-writers",
            ("runners/javascript/meeting.js", "(last(1) - earliest)", "((last(1) - earliest) / 2)"),
        ),
        "failed",
        "for operations that were planned over ",
    ),
    Fault(
        "a third of the memory in turns",
        "javascript",
        node_measured("get-pk", THIRD, beside=["python"]),
        "failed",
        HYPERFINES,
    ),
    *(POSIX if hasattr(os, "mkfifo") else []),
]
