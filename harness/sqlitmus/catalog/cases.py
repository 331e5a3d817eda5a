"""Turns scenarios and axis values into cases. Pure."""

import itertools
from collections.abc import Iterable, Iterator
from math import gcd
from typing import TYPE_CHECKING

from sqlitmus.catalog.declared import Mode, Suite
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.scenario import Override, Scenario, Variant
from sqlitmus.catalog.steps import ScenarioStep
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.suggest import unknown

if TYPE_CHECKING:
    from sqlitmus.catalog.definitions import Catalog


def case_id(scenario: str, axes: dict[str, str], spec: Scenario) -> str:
    """A case's id: `scenario`, or `scenario@axis=value,…` with axes not at their default."""
    other = [f"{a}={axes[a]}" for a, values in spec.axes.items() if axes[a] != values[0]]
    return f"{scenario}@{','.join(other)}" if other else scenario


def parse_case(text: str, catalog: "Catalog") -> tuple[str, dict[str, str]]:
    """The scenario and the axes of a case id; raises UsageError with the nearest names."""
    name, _, rest = text.partition("@")
    spec = catalog.scenarios.get(name)
    if spec is None:
        raise UsageError(unknown("scenario", name, catalog.scenarios))
    axes = {axis: values[0] for axis, values in spec.axes.items()}
    for part in filter(None, rest.split(",")):
        axis, _, value = part.partition("=")
        if axis not in spec.axes:
            raise UsageError(unknown(f"axis of {name}", axis, spec.axes))
        if value not in spec.axes[axis]:
            raise UsageError(unknown(f"value of {name}'s {axis}", value, spec.axes[axis]))
        axes[axis] = value
    return name, axes


def make_case(name: str, axes: dict[str, str], catalog: "Catalog", mode: Mode) -> PlannedCase:
    """The case of scenario `name` at `axes`, with the least counts that `mode` allows."""
    spec = catalog.scenarios[name]
    counts = override_of(spec, axes)
    operations = counts.operations
    steps = steps_of(spec, axes)
    profile = catalog.profiles[axes["profile"]] if "profile" in axes else None
    variant = _variant(spec, axes)
    set_by_profile = profile.pragmas if profile else []
    set_by_variant = {name for name, _ in variant.pragmas}
    cold = spec.metric == "cold"
    unwarmed = cold or spec.fixed
    warmup_iterations = spec.warmup_iterations
    if warmup_iterations is None:
        warmup_iterations = mode.warmup_iterations
    return PlannedCase(
        id=case_id(name, axes, spec),
        scenario=name,
        title=spec.title,
        question=spec.question,
        group=spec.group,
        bound_by=spec.bound_by,
        axes=axes,
        metric=spec.metric,
        unit=spec.unit,
        per_operation=spec.per_operation,
        operations=operations,
        walk=walk_of(steps, int(axes.get("texts", "1"))),
        executions=max(sum(step.repeat for step in steps), 1),
        writes=spec.writes,
        warmup_operations=counts.warmup_operations,
        timed_operations=counts.timed_operations,
        reset_every=spec.reset_every or (operations if spec.reset else None),
        iterations=1 if cold else spec.iterations or mode.iterations[0],
        warmup_iterations=0 if cold else warmup_iterations,
        warmup_ms=0 if unwarmed else mode.warmup_ms[0],
        fixed=spec.fixed,
        fixture=variant.fixture or spec.fixture,
        workers=int(axes.get("workers", "1")),
        processes=int(axes["processes"]) if "processes" in axes else None,
        sql=[step.text(axes) for step in steps],
        pragmas=[(n, v) for n, v in set_by_profile if n not in set_by_variant] + variant.pragmas,
        variant=variant,
        notes=spec.notes,
    )


def override_of(spec: Scenario, axes: dict[str, str]) -> Override:
    """How many operations a case does, and at which pace: the first that holds for its `axes`, with
    what it leaves out from the scenario."""
    applies = (o for o in spec.overrides if all(axes[a] == v for a, v in o.when.items()))
    override = next(applies, Override(when={}, operations=spec.operations))
    writer = spec.writer
    return Override(
        when=override.when,
        operations=override.operations,
        warmup_operations=override.warmup_operations or spec.warmup_operations,
        timed_operations=override.timed_operations or spec.timed_operations,
        rate=override.rate or spec.rate,
        writer_operations=override.writer_operations or (writer and writer.operations),
        writer_rate=override.writer_rate or (writer and writer.rate),
    )


def walk_of(steps: Iterable[ScenarioStep], texts: int = 1) -> int:
    """Operations after which all pools and texts of `steps` begin again; lengths are powers of two,
    so the longest is a multiple of all."""
    lengths = ((length, step.repeat) for step in steps for length in (step.rows, texts))
    return max((length // gcd(length, repeat) for length, repeat in lengths), default=1)


def _variant(spec: Scenario, axes: dict[str, str]) -> Variant:
    """Everything that the axis values change, put together."""
    together = Variant()
    for axis, values in spec.variants.items():
        if axes[axis] in values:
            together = together.also(values[axes[axis]])
    return together


def as_answered(case: PlannedCase, spec: Scenario) -> PlannedCase:
    """The case that the oracle is asked: `case` itself, or the same rows in another storage."""
    instead = case.variant.answered_as
    if not instead:
        return case
    axes = {**case.axes, **instead}
    changes = {
        "axes": axes,
        "variant": _variant(spec, axes),
        "sql": [step.text(axes) for step in steps_of(spec, axes)],
    }
    return case.model_copy(update=changes)


def steps_of(spec: Scenario, axes: dict[str, str]) -> list[ScenarioStep]:
    """The scenario's steps that apply to these axis values."""
    return applying(spec.steps, axes)


def applying(steps: Iterable[ScenarioStep], axes: dict[str, str]) -> list[ScenarioStep]:
    """Those of `steps` that apply to these axis values."""
    return [
        step
        for step in steps
        if all(
            axes.get(axis) in ([v] if isinstance(v, str) else v) for axis, v in step.only.items()
        )
    ]


def cases_of(suite: Suite, catalog: "Catalog", mode: Mode) -> list[PlannedCase]:
    """The suite's cases, each once, in the catalogue's order of scenarios."""
    cases: dict[str, PlannedCase] = {}
    for selection in suite.cases:
        scenario = str(selection["scenario"])
        names = list(catalog.scenarios) if scenario == "*" else [scenario]
        for name in names:
            for axes in _combinations(catalog.scenarios[name], selection):
                case = make_case(name, axes, catalog, mode)
                cases.setdefault(case.id, case)
    return list(cases.values())


def _combinations(
    spec: Scenario, selection: dict[str, str | list[str]]
) -> Iterator[dict[str, str]]:
    choices = [
        [(axis, value) for value in selection.get(axis, values[:1])]
        for axis, values in spec.axes.items()
    ]
    for combination in itertools.product(*choices):
        yield dict(combination)
