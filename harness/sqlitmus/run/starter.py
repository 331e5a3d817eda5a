"""Starts a run of a cell: one process, which may be looked at meanwhile, or several at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlitmus.catalog.scenario import Scenario
from sqlitmus.run import hyperfine, watch
from sqlitmus.run.attempt import Begun
from sqlitmus.run.finished import Invocation
from sqlitmus.run.processes.launch import Launcher
from sqlitmus.vocabulary.contract.job import Job
from sqlitmus.vocabulary.detail import Launch


@dataclass(frozen=True, slots=True)
class Started:
    """What was started and has ended; `wal` are the sizes of its write-ahead log, (ms, bytes)."""

    invocation: Invocation
    launch: Launch | None = None
    wal: Sequence[tuple[float, int]] = ()


class Starter:
    """Starts the runs of one session."""

    def __init__(
        self,
        executor: hyperfine.Executor,
        launcher: Launcher,
        scenarios: Mapping[str, Scenario],
        pins: list[int],
        timeout_s: float,
    ) -> None:
        self._executor = executor
        self._launcher = launcher
        self._scenarios = scenarios
        self._pins = pins
        self._timeout_s = timeout_s

    def start(self, begun: Begun) -> Started:
        """Start what is prepared, and wait until it has ended."""
        case, ready = begun.case, begun.ready
        if ready.required.mode != "measure":
            return Started(self._invoke(begun))
        scenario = self._scenarios[case.scenario]
        if ready.target and scenario.watch_wal:
            looks = watch.of_log(ready.target, self._executor.kill)
            return Started(self._watched(begun, looks), wal=looks.sizes)
        if scenario.memory_limit_mib:
            most = scenario.memory_limit_mib * watch.MIB
            looks = watch.of_memory(self._executor.resident, self._executor.kill, most=most)
            return Started(replace(self._watched(begun, looks), resident=looks.sizes))
        if not case.processes:
            return Started(self._invoke(begun))
        invocation, launch = self._launcher.launch(
            begun.runner.command,
            Job.model_validate_json(ready.file.read_bytes()),
            processes=case.processes,
            pins=self._pins,
            environment=begun.environment,
            log=begun.log,
            timeout_s=self._timeout_s,
        )
        return Started(invocation, launch)

    def _invoke(self, begun: Begun) -> Invocation:
        output = begun.ready.output
        return hyperfine.invoke(
            self._executor, begun.command, begun.environment, output, begun.log, self._timeout_s
        )

    def _watched(self, begun: Begun, looks: watch.Watch) -> Invocation:
        """A run that is looked at meanwhile, and bounded."""
        with looks:
            invocation = self._invoke(begun)
        return Invocation(None, None, looks.problem) if looks.exceeded else invocation
