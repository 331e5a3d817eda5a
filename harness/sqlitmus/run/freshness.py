"""Whether a runner answers from the database each time: a job whose rows another process changes.

Each step reads rows of its own, in one of the manners in which the cells of a run read. Before
iteration *i* the rows of step *i − 1* are changed, so that a wrong answer names its step. The rows
hold what a careless reader gets wrong, and the digest after the iterations shows it. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlitmus.catalog.cases import steps_of
from sqlitmus.catalog.declared import RunnerSpec
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.run.checksum import Value
from sqlitmus.vocabulary.contract.job import Connection, Database, Job, Measure
from sqlitmus.vocabulary.contract.step import Step

TABLE = (
    "CREATE TABLE changing(id INTEGER PRIMARY KEY, step INTEGER NOT NULL, number INTEGER NOT NULL, "
    "word TEXT NOT NULL, empty BLOB, absent BLOB, wide INTEGER NOT NULL)"
)
REPLACE = "REPLACE INTO changing VALUES (?, ?, ?, ?, ?, ?, ?)"

_READING = ("get", "all", "iterate", "open")
REPEAT = 2  # what a first execution puts into a cache, a second one may take from it
_ROWS = 3
WIDE = 2**53 + 1  # odd, as all of these are: no double holds one
BOUND = "B\0ound é🚀 text"


class Manner(NamedTuple):
    """How a step reads rows."""

    shape: str
    integers: str
    statement: str
    operation: str

    def __str__(self) -> str:
        """In words, such as `all` (prepared, object)."""
        more = [self.statement, self.shape, *["bigint"] * (self.integers == "bigint")]
        return f"`{self.operation}` ({', '.join(more)})"


@dataclass(frozen=True, slots=True)
class Question:
    """A job for one connection, and the manners of its steps, in order.

    `wide` says whether integers have 64 bits there, `nul` whether a text can hold U+0000.
    """

    manners: tuple[Manner, ...]
    wide: bool
    nul: bool
    engine: dict[str, str | int]

    def job(self, database: str, output: str) -> Job:
        """The job for a file of rows."""
        return Job(
            mode="measure",
            cell="freshness",
            database=Database(path=database),
            connection=Connection(engine=self.engine),
            steps=[_step(self, number) for number in range(len(self.manners))],
            inspect=False,
            measure=Measure(
                operations_per_iteration=1,
                iterations=len(self.manners) + 1,
                barrier=True,
                digest=1,
            ),
            output=output,
        )

    def stored(self, step: int, *, changed: bool) -> list[tuple[Value, ...]]:
        """A step's rows, as `REPLACE` takes them, before or after another process changed them."""
        return [
            (
                _ROWS * step + row,
                step,
                10 * step + row + 5 * changed,
                self.text(f"Step {step} \0 é🚀 {'changed' * changed} row {row}."),
                b"",
                None,
                WIDE + 2 * (10 * step + row + 5 * changed),
            )
            for row in range(_ROWS)
        ]

    def text(self, text: str) -> str:
        """`text`, without what a text cannot hold."""
        return text if self.nul else text.replace("\0", "")


def manners_of(cases: Iterable[PlannedCase], catalog: Catalog) -> set[Manner]:
    """The manners in which the operations of these cases read rows."""
    return {
        Manner(
            case.axes.get("shape", "object"),
            case.axes.get("integers", "number"),
            case.axes.get("statement", "prepared"),
            step.operation,
        )
        for case in cases
        for step in steps_of(catalog.scenarios[case.scenario], case.axes)
        if step.operation in _READING
    }


def questions(
    manners: Iterable[Manner], integers: Sequence[str], spec: RunnerSpec
) -> list[Question]:
    """The questions to a runner, a connection for each shape and kind of integers, since some
    drivers have one for all statements of a connection.

    `integers` are those of its features: without `bigint` among them, plain ones have 64 bits.
    """
    groups: dict[tuple[str, str], list[Manner]] = {}
    for manner in sorted(manners):
        groups.setdefault((manner.shape, manner.integers), []).append(manner)
    return [
        Question(
            tuple(group),
            kind == "bigint" or "bigint" not in integers,
            spec.nul_in_text,
            spec.engine,
        )
        for (_, kind), group in groups.items()
    ]


def _step(question: Question, number: int) -> Step:
    columns = {"number": "integer", "word": "text", "empty": "blob?", "absent": "blob?"}
    bound = {"bound_text": ("text", question.text(BOUND))}
    if question.wide:
        columns["wide"] = "integer"
        bound["bound_integer"] = ("integer", str(WIDE))
    names = [*columns, *(f"? AS {name}" for name in bound)]
    columns |= {name: kind for name, (kind, _) in bound.items()}
    return Step.model_validate(
        {
            **question.manners[number]._asdict(),
            "sql": f"SELECT {', '.join(names)} FROM changing WHERE step = ? ORDER BY id",
            "parameters": {
                "types": [*(kind for kind, _ in bound.values()), "integer"],
                "rows": [[*(value for _, value in bound.values()), number]],
            },
            "columns": [
                {"name": name, "type": kind.rstrip("?"), "nullable": kind.endswith("?")}
                for name, kind in columns.items()
            ],
            "repeat": REPEAT,
        }
    )
