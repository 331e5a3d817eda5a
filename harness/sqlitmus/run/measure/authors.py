"""The programs of claims' authors: copied, set up once, and run in each block beside our cells."""

import os
import random
import shutil
from collections.abc import Mapping
from pathlib import Path

from sqlitmus.catalog import runners
from sqlitmus.catalog.evidence import Evidence, Program
from sqlitmus.catalog.published import Claim
from sqlitmus.run.processes.process import Hyperfine, how_it_ended, output
from sqlitmus.store.file import Authored
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.errors import NotFit, UsageError
from sqlitmus.vocabulary.text import ending

INHERITED = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT")
TIMEOUT_S = 600.0


class Authors:
    """The programs of those `claims` that have a folder in `sources`, in copies below `scratch`.

    Raises NotFit where a folder no longer holds what its claim pins, a tool is missing, or the
    set-up of a copy fails.
    """

    def __init__(
        self,
        claims: list[Claim],
        sources: Mapping[str, str],
        tools: paths.Tools,
        executor: Hyperfine,
        scratch: Path,
    ) -> None:
        self._tools, self._executor, self._scratch = tools, executor, scratch
        self._programs: dict[str, tuple[Program, Path, dict[str, str]]] = {}
        for claim in claims:
            if claim.evidence and claim.name in sources:
                self._prepare(claim.name, claim.evidence, Path(sources[claim.name]))

    def _prepare(self, name: str, evidence: Evidence, source: Path) -> None:
        if wrong := [*evidence.differences(source)]:
            raise NotFit(f"{source}, the source of the claim {name}: {'; '.join(wrong)}")
        here = self._scratch / f"authors-{name}"
        for file in evidence.files:
            (here / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file, here / file)
        modules = paths.RUNNERS / "node_modules"
        for folder, package in evidence.packages.items():
            (here / folder).mkdir(parents=True, exist_ok=True)
            for entry in (modules / package).iterdir():
                if not (here / folder / entry.name).exists():
                    (here / folder / entry.name).symlink_to(entry.resolve())
        found_in = os.pathsep.join(map(str, (source / "node_modules", modules.resolve())))
        inherited = {key: os.environ[key] for key in INHERITED if key in os.environ}
        environment = {**inherited, "LANG": "C.UTF-8", "NODE_PATH": found_in}
        for step in filter(self._has_tools, evidence.setup):
            made = self._run(step, here, environment)
            if made.problem:
                raise NotFit(f"the authors' program for the claim {name}: set-up: {made.problem}")
        for program, each in evidence.programs.items():
            if self._has_tools(each):
                self._programs[f"{name}/{program}"] = each, here, environment

    def block(self, number: int, seed: int) -> dict[str, Authored]:
        """Each program once, in random order, which every second block mirrors; what came of them
        by `claim/program`. One that went wrong is not run again."""
        names = sorted(self._programs)
        order = random.Random(f"{seed}/authors/{number // 2}").sample(names, len(names))
        came = {
            name: self._run(*self._programs[name])
            for name in (order[::-1] if number % 2 else order)
        }
        for name in [name for name, each in came.items() if each.problem]:
            del self._programs[name]
        return came

    def _has_tools(self, program: Program) -> bool:
        """Whether this run has the tools that it needs, such as a build of a user."""
        try:
            runners.expand(program.command, self._tools)
        except UsageError:
            return False
        return True

    def _run(self, program: Program, here: Path, environment: dict[str, str]) -> Authored:
        log = self._scratch / "author.log"
        command = runners.expand(program.command, self._tools)
        try:
            timing = self._executor.execute(
                command, environment, log, TIMEOUT_S, here / program.folder
            )
            text = output(log)
            if timing.exit_code != 0:
                how = f"{how_it_ended(timing.exit_code)}: {ending(text, 'its output')}"
                return Authored(problem=how)
            printed = program.figure(text)
        except (TimeoutError, RuntimeError, ValueError, OSError) as error:
            return Authored(problem=str(error))
        cpu_ns = timing.user_ns + timing.system_ns
        return Authored(wall_ns=timing.wall_ns, cpu_ns=cpu_ns, printed_ns=printed)
