"""What analysis needs of a run, and how it is made from the parsed JSON of a run directory.

Keys that analysis does not use are ignored. A run that cannot be understood raises `RunDataError`;
a bad sample never does: it marks its cell instead, so that one cell cannot hide the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from sqlitmus.analysis.claims.details import Details, read_details
from sqlitmus.analysis.samples import Cells as SampleCells
from sqlitmus.analysis.samples import Samples, read_samples
from sqlitmus.analysis.selftest import Tested, of_run
from sqlitmus.catalog.plan import Plan
from sqlitmus.catalog.presets import Preset
from sqlitmus.results.conditions import SelfTest
from sqlitmus.run import folder
from sqlitmus.run.judge import Verified
from sqlitmus.run.lines import Block
from sqlitmus.run.look import MOST_EXTENDED, Look
from sqlitmus.run.records import RunDataError
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.detail import Detail

M = TypeVar("M", bound=BaseModel)


class Gated(Model):
    """What the gate of a comparison came to, as sentences."""

    lines: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class RunData:
    """A run directory in memory. `checks` is keyed by (case id, runner name); `presets` are by what
    weights it is decided."""

    plan: Plan
    checks: dict[tuple[str, str], Verified]
    samples: Samples
    blocks: list[Block]
    machine: dict[str, str]
    selftest: SelfTest | None = None
    truncated: bool = False
    details: Details | None = None
    gate: Sequence[str] = ()
    presets: Mapping[str, Preset] = field(default_factory=dict[str, Preset])


def from_records(
    plan: object,
    checks: Iterable[object],
    samples: Iterable[object],
    machine: Mapping[str, object],
    *,
    blocks: Iterable[object] = (),
    selftest: object = None,
    truncated: bool = False,
    details: Iterable[object] | None = None,
    gate: object = None,
    looks: Iterable[object] = (),
) -> RunData:
    """A run from the parsed `plan.json`, `verify.jsonl`, `samples.jsonl`, `machine.json` and
    `blocks.jsonl`, and `selftest.json`, `details.jsonl`, `gate.json` and `looks.jsonl` if there are
    any.

    `checks` and `samples` are iterables of parsed lines, header and footer included; `samples` is
    read once and may be a generator. A cell checked twice keeps its last check. `truncated` says
    that a last line was cut off and left out. Raises `RunDataError`.
    """
    parsed = _looked(validated(Plan, plan, "plan.json", extra="ignore"), looks)
    folder.check_counts("plan.json", parsed)
    cells: dict[tuple[str, str], Verified] = {}
    for number, line in enumerate(checks, start=1):
        check = validated(Verified, line, f"verify.jsonl line {number}", extra="ignore")
        cells[check.case, check.runner] = check
    passes = [
        validated(Block, line, f"blocks.jsonl line {number}")
        for number, line in enumerate(blocks, start=1)
    ]
    repeated = {(b.block, b.take) for b in passes if b.repeated}
    try:
        columns = read_samples(
            samples,
            SampleCells(
                run=parsed.run,
                cases={c.id: (c.metric, parsed.units(c)) for c in parsed.cases},
                runners=[runner.name for runner in parsed.runners],
                canaries={*filter(None, [*parsed.canaries.values(), parsed.canary])},
                blocks=parsed.blocks,
                superseded=repeated,
            ),
        )
    except ValueError as error:
        raise RunDataError(str(error)) from error
    facts = {str(name): str(value) for name, value in machine.items()}
    tested = None if selftest is None else validated(Tested, selftest, "selftest.json")
    shown = tested and of_run(tested, parsed.actual_scheme())
    more = None
    if details is not None:
        told = (
            validated(Detail, line, f"details.jsonl line {number}")
            for number, line in enumerate(details, start=1)
        )
        more = read_details(told, columns, repeated)
    said = () if gate is None else validated(Gated, gate, "gate.json", extra="ignore").lines
    return RunData(parsed, cells, columns, passes, facts, shown, truncated, more, said)


def _looked(plan: Plan, looks: Iterable[object]) -> Plan:
    """The plan with the blocks that each case has: as it shared them, and as its looks left it."""
    ended, blocks, most = dict(plan.sets), plan.blocks, MOST_EXTENDED * plan.blocks
    for number, line in enumerate(looks, start=1):
        look = validated(Look, line, f"looks.jsonl line {number}")
        if look.until > most:
            raise RunDataError(f"looks.jsonl line {number}: $.until: more than {most} blocks")
        ended |= {case: look.blocks for case in look.settled if case not in ended}
        blocks = look.until
    return plan.model_copy(update={"ended": ended, "blocks": blocks})


def validated(
    model: type[M], value: object, where: str, extra: Literal["ignore"] | None = None
) -> M:
    """`value` as a model; raises RunDataError with the JSON path below `where`.

    `extra` ignores unknown keys even where the model refuses them: the store may write more than
    analysis reads.
    """
    try:
        return model.model_validate(value, extra=extra)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
        raise RunDataError(f"{where}: {path}: {first['msg']}") from error
