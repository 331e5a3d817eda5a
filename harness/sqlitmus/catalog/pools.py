"""The pools of parameter rows that a step of a scenario binds."""

from functools import lru_cache

from sqlitmus.catalog import generate
from sqlitmus.catalog.steps import Parameter, ScenarioStep
from sqlitmus.vocabulary.contract.step import Parameters, Step, Value

POOLS = 16  # that are kept: all runners of a case ask for the same, one after the other


def pool_of(step: ScenarioStep, seed: str, size: int, before: list[Step]) -> Parameters | None:
    """The rows that `step` binds where the fixture has `size` rows; "same" values are those of the
    steps `before` it. None for a step without parameters."""
    if not step.parameters:
        return step.given
    parameters = step.parameters * step.tuples
    generated = tuple(p for p in parameters if p.generator != "same")
    # Seeded by scenario and step, not by axes: each case of a scenario asks for the same keys.
    drawn = _drawn(generated, step.pool, size, seed) if generated else None
    if drawn and len(generated) == len(parameters):
        return drawn
    rows: list[list[Value]] = []
    for i in range(len(drawn.rows) if drawn else step.pool):
        values = iter(drawn.rows[i] if drawn else [])
        row: list[Value] = []
        for parameter in parameters:
            if parameter.generator == "same":
                source = before[parameter.step].parameters
                assert source is not None
                row.append(source.rows[i & (len(source.rows) - 1)][parameter.position])
            else:
                row.append(next(values))
        rows.append(row)
    return Parameters(types=[p.type for p in parameters], rows=rows)


@lru_cache(maxsize=POOLS)
def _drawn(parameters: tuple[Parameter, ...], length: int, size: int, seed: str) -> Parameters:
    rows = generate.pool(parameters, length, size, seed)
    return Parameters(
        types=[p.type for p in parameters],
        rows=[[generate.encoded(value) for value in row] for row in rows],
    )
