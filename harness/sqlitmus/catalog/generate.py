"""Seeded values for fixtures and for the pools of parameter rows. Pure: the same seed gives the
same values.
"""

import random
import re
import uuid
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import ceil

from sqlitmus.catalog.scenario import Bound, Generator, Parameter, ScenarioStep
from sqlitmus.vocabulary.contract import Parameters, Step, Value as step_Value
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import counted

Value = int | float | str | bytes | None

_SIZE = re.compile(r"size\s*(?:([+*-])\s*(\d{1,18}))?$")
MOST_ROWS = 100_000_000
MOST_PERMUTED = 10_000_000  # values, which are all in memory at once
MOST_BYTES = 32 * 2**20  # of a value
MOST_DRAWN = 2**32  # bytes of a column
MOST_BOUND = 64 * 2**20  # bytes of a statement's parameters, which each job holds


def bound(value: Bound | float, size: int) -> int | float:
    """The number that `value` stands for: itself, or `size`, `size+n`, `size-n` or `size*n`."""
    if not isinstance(value, str):
        return value
    match = _SIZE.match(value)
    if not match:
        raise UsageError(
            f"{value!r} is no bound; expected a number, size, size+n, size-n or size*n"
        )
    sign, number = match.groups()
    if sign == "*":
        return size * int(number)
    return size + int(number) * (-1 if sign == "-" else 1) if sign else size


def column(generator: Generator, count: int, size: int, seed: str) -> Sequence[Value]:
    """`count` values of a fixture's column; raises UsageError for what no memory holds."""
    if count > MOST_ROWS:
        raise UsageError(f"{count:,} rows; a fixture has {MOST_ROWS:,} at most")
    if generator.generator == "sequence":
        return [
            generator.offset + generator.scale * (i // generator.every) for i in range(1, count + 1)
        ]
    return _draw(generator, count, size, random.Random(seed), first=0)


def pool(parameters: Sequence[Parameter], length: int, size: int, seed: str) -> list[list[Value]]:
    """`length` rows of parameters; a power of two fewer when a permutation has fewer values.

    Raises UsageError for a reference to a later position.
    """
    for parameter in parameters:
        if parameter.generator == "permutation":
            distinct = int(bound(parameter.max, size)) - int(bound(parameter.min, size)) + 1
            length = min(length, 1 << (distinct.bit_length() - 1))
    columns: list[Sequence[Value]] = []
    for position, parameter in enumerate(parameters):
        if parameter.generator == "relative":
            if parameter.position >= position:
                raise UsageError(f"parameter {position} is relative to a later one")
            source = columns[parameter.position]
            columns.append([_plus(v, parameter.every, parameter.plus) for v in source])
        else:
            rng = random.Random(f"{seed}/{position}")
            first = int(bound(parameter.min, size)) if parameter.generator == "permutation" else 0
            columns.append(_draw(parameter, length, size, rng, first=first))
    return [list(row) for row in zip(*columns, strict=True)]


def _plus(value: Value, every: int, number: float) -> Value:
    assert isinstance(value, int | float)
    return (value if every == 1 else value // every) + number


def _draw(
    spec: Generator | Parameter, count: int, size: int, rng: random.Random, *, first: int
) -> Sequence[Value]:
    low, high = bound(spec.min, size), bound(spec.max, size)
    _check(spec.generator, low, high, count)
    match spec.generator:
        case "permutation":
            order = list(range(int(high) - first + 1 if high else count))
            rng.shuffle(order)
            values: list[Value] = [spec.offset + spec.scale * (first + k) for k in order[:count]]
        case "integer":
            span = int(high) - int(low) + 1
            values = [
                spec.offset + spec.scale * (int(low) + int(rng.random() * span))
                for _ in range(count)
            ]
        case "real":
            values = [low + (high - low) * rng.random() for _ in range(count)]
        case "pattern":
            values = [
                spec.pattern.format(int(low) + int(rng.random() * (int(high) - int(low) + 1)))
                if high
                else spec.pattern.format(spec.offset + i)
                for i in range(1, count + 1)
            ]
        case "text":
            values = _texts(spec.alphabet, int(low), int(high), count, rng)
        case "uuid":
            values = [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(count)]
        case "blob":
            values = [rng.randbytes(rng.randint(int(low), int(high))) for _ in range(count)]
        case _:
            raise UsageError(f"generator {spec.generator} cannot be used here")
    if spec.nulls:
        values = [None if rng.random() < spec.nulls else value for value in values]
    return values


def _check(generator: str, low: float, high: float, count: int) -> None:
    """Raise UsageError for bounds of which nothing can be drawn."""
    if generator == "permutation" and high - low >= MOST_PERMUTED:
        most = f"{MOST_PERMUTED:,} at most; draw integers"
        raise UsageError(f"a permutation of {high - low + 1:,} numbers; it has {most}")
    if generator not in ("text", "blob"):
        return
    if not 0 <= low <= high:
        raise UsageError(f"min is {low:,} and max {high:,}; give a max that is not below min")
    if high > MOST_BYTES:
        raise UsageError(f"values of {high:,} characters; {MOST_BYTES:,} at most are measured")
    if high * count > MOST_DRAWN:
        raise UsageError(
            f"{count:,} values of {high:,} characters do not fit into memory; give a smaller max"
        )


def power_of_two(count: float) -> int:
    """The least that is no less."""
    return 1 << max(ceil(count) - 1, 0).bit_length()


def size(rows: Iterable[Iterable[object]]) -> int:
    """About how many bytes their values have."""
    return sum(len(v) if isinstance(v, str | bytes) else 8 for row in rows for v in row)


def bindable(rows: Iterable[Sequence[Value]]) -> list[Sequence[Value]]:
    """`rows`, if a job can hold their values; raises UsageError as soon as it cannot."""
    taken: list[Sequence[Value]] = []
    held = 0
    for row in rows:
        taken.append(row)
        held += size([row])
        if held > MOST_BOUND:
            raise UsageError(
                f"{counted(len(taken), 'row')} of parameters have more than {MOST_BOUND >> 20} MB, "
                "which is the most that is bound; give fewer rows, or shorter values"
            )
        if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in row):
            raise UsageError(
                "a parameter has more than the 64 bits of SQLite's integers; leave it out"
            )
    return taken


def encoded(value: Value) -> int | float | str | None:
    """`value` as a job has it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)
    return value


_ENDS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _texts(alphabet: str, low: int, high: int, count: int, rng: random.Random) -> list[Value]:
    if low < 2:
        raise UsageError(f"text of {low} characters; its min is at least 2, for its two ends")
    # Slices of one long random text: drawing each character would take most of a fixture's time.
    source = "".join(rng.choices(alphabet, k=high + 65_536))
    ends = rng.choices(_ENDS, k=2 * count)
    lengths = [low + int(rng.random() * (high - low + 1)) for _ in range(count)]
    starts = [int(rng.random() * 65_536) for _ in range(count)]
    return [
        ends[2 * i] + source[starts[i] : starts[i] + lengths[i] - 2] + ends[2 * i + 1]
        for i in range(count)
    ]


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
    rows: list[list[step_Value]] = []
    for i in range(len(drawn.rows) if drawn else step.pool):
        values = iter(drawn.rows[i] if drawn else [])
        row: list[step_Value] = []
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
    rows = pool(parameters, length, size, seed)
    return Parameters(
        types=[p.type for p in parameters],
        rows=[[encoded(value) for value in row] for row in rows],
    )
