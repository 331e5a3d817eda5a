"""The evidence of a claim: which files of which commit the published figures come from, how the
authors' own programs are run here, and what a publication without programs states of its work.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import UsageError

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Program(Model):
    """A program of the authors, started as a process of its own in `folder`.

    Words of `command` may name tools, such as {node}. Its output must match `prints`, which tells
    whether it did its work; a group `figure` in it is the program's own figure: ns of a unit of
    work, or units in a second if it is a `rate`. Rows that compare times of processes need none.
    """

    command: Annotated[list[str], Field(min_length=1)]
    prints: str
    rate: bool = False
    folder: str = "."

    def figure(self, output: str) -> float | None:
        """What the program printed, in ns; None without a figure. Raises ValueError for an output
        that is not as it should be."""
        match = re.search(self.prints, output)
        if match is None:
            last = (output.strip().splitlines() or ["nothing"])[-1]
            raise ValueError(f"it printed {last[:120]!r}, not what matches {self.prints!r}")
        if (text := match.groupdict().get("figure")) is None:
            return None
        value = float(text.replace(",", ""))
        if not 0 < value < float("inf"):
            raise ValueError(f"it printed the figure {text}, which is no time")
        return 1e9 / value if self.rate else value


class Evidence(Model):
    """What the publication's figures were measured with: `files` of `commit` in `repository` with
    the SHA-256 of each, under `licence`.

    The `programs` run in a copy of these files, never in the user's folder, after the commands
    `setup`. The copy has links to `packages` that the runners use, by the folder that they are
    put into, and scripts find modules in the folder that the user gave, which must hold `needs`.
    Commands may also name tools of `versions`, such as `node22 = "node@22.14.0"`; without the tool
    they are left out.
    """

    repository: str
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    licence: str
    files: Annotated[dict[str, Hash], Field(min_length=1)]
    packages: dict[str, str] = {}
    needs: list[str] = []
    versions: dict[str, str] = {}
    hint: str = ""
    setup: list[Program] = []
    programs: dict[str, Program] = {}

    def differences(self, folder: Path) -> Iterator[str]:
        """Which files in `folder` are not those that the claim pins, and what is missing."""
        for name, pinned in self.files.items():
            try:
                actual = hashlib.sha256((folder / name).read_bytes()).hexdigest()
            except OSError as error:
                yield f"{name}: {error.strerror}"
            else:
                if actual != pinned:
                    yield f"{name} is another than that of {self.commit[:7]}"
        for name in self.needs:
            if not (folder / name).exists():
                yield f"{name} is missing: {self.hint}"


def matching(evidence: dict[str, Evidence], sources: list[Path]) -> dict[str, Path]:
    """The folder of `sources` for each claim whose `evidence` it holds.

    Raises UsageError for a folder that holds nobody's, with what differs from the nearest.
    """
    of: dict[str, Path] = {}
    for source in sources:
        differing = {name: [*each.differences(source)] for name, each in evidence.items()}
        fitting = [name for name, differences in differing.items() if not differences]
        of |= dict.fromkeys(fitting, source)
        if fitting:
            continue
        if not differing:
            raise UsageError(f"--source {source}: no claim of these names programs of its authors")
        nearest = min(differing, key=lambda name: len(differing[name]))
        pinned = evidence[nearest]
        raise UsageError(
            f"--source {source} is not what the claim {nearest} was published with: "
            f"{'; '.join(differing[nearest][:3])}. Expected {pinned.repository} at "
            f"{pinned.commit[:7]}"
        )
    return of


Stated = dict[str, int | str]
ABOUT = 0.05  # of a length, which publications round


class Fact(Model):
    """What a publication states of its experiment, in its own words, and what `case` then has:
    names and values of its `jobs.work`."""

    said: Annotated[str, Field(min_length=1)]
    case: str
    holds: Annotated[Stated, Field(min_length=1)]

    def differences(self, here: Stated) -> Iterator[tuple[str, str]]:
        """(name, what differs) of all that the case has otherwise `here` than stated."""
        for name, value in self.holds.items():
            if name not in here:
                yield name, f"{self.case} has no such thing; expected {', '.join(sorted(here))}"
            elif not _agree(name, value, here[name]):
                yield name, f"published: {value}, but {self.case} has {here[name]}; mend the case"


def _agree(name: str, stated: int | str, here: int | str) -> bool:
    if name.startswith("length of ") and isinstance(stated, int) and isinstance(here, int):
        return abs(here - stated) <= ABOUT * stated
    return here == stated
