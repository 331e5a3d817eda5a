"""Suites, axes and filters → cases → a frozen plan. Pure.

A case is a scenario with every axis fixed; a cell is a case × a runner.
"""

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator

from sqlitmus.catalog import Catalog, Runner, Scenario, Step, Suite
from sqlitmus.contract import Description, Model
from sqlitmus.errors import UsageError

Cells = dict[str, list[str]]  # case id → names of runners

SCHEMA = 1
MINIMUM_BLOCKS = 10  # fewer never yield a verdict


class Case(Model):
    """A scenario with every axis fixed, and how often it is done."""

    id: str
    scenario: str
    title: str
    question: str
    group: str
    bound_by: str
    axes: dict[str, str]
    metric: str
    unit: str
    per_operation: int
    operations: int
    iterations: int
    warmup_iterations: int
    warmup_ms: int
    workers: int
    sql: list[str]
    pragmas: list[tuple[str, str | int]]
    notes: list[str]


class PlannedRunner(Model):
    """A runner as it was found, or why it is missing."""

    name: str
    title: str
    runtime: str
    driver: str
    role: str
    missing: str | None = None
    description: Description | None = None


class Plan(Model):
    """What a run will do, frozen before it starts. `cells` holds the runners wanted per case id."""

    schema_version: int = SCHEMA
    run: str
    label: str
    suite: str
    size: str
    created: str
    sqlitmus: str
    seed: int
    blocks: int
    reference: str
    canary: str | None
    floor: str | None
    margin: float
    runners: list[PlannedRunner]
    cases: list[Case]
    cells: Cells
    fingerprint: str
    rerun: str = ""
    forced: bool = False


def case_id(scenario: str, axes: dict[str, str], spec: Scenario) -> str:
    """`scenario`, or `scenario@axis=value,…` with the axes that are not at their default."""
    other = [f"{a}={axes[a]}" for a, values in spec.axes.items() if axes[a] != values[0]]
    return f"{scenario}@{','.join(other)}" if other else scenario


def parse_case(text: str, catalog: Catalog) -> tuple[str, dict[str, str]]:
    """Scenario and axes of a case id; raises UsageError with the nearest names."""
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


def make_case(name: str, axes: dict[str, str], catalog: Catalog, suite: Suite) -> Case:
    """The case of scenario `name` with `axes` fixed."""
    spec = catalog.scenarios[name]
    operations = spec.operations
    for override in spec.overrides:
        if all(axes[axis] == value for axis, value in override.when.items()):
            operations = override.operations
            break
    profile = catalog.profiles[axes["profile"]] if "profile" in axes else None
    cold = spec.metric == "cold"
    return Case(
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
        iterations=1 if cold else spec.iterations or suite.iterations,
        warmup_iterations=0 if cold else suite.warmup_iterations,
        warmup_ms=0 if cold else suite.warmup_ms,
        workers=int(axes.get("workers", "1")),
        sql=[step.sql.format(**axes) for step in steps_of(spec, axes)],
        pragmas=profile.pragmas if profile else [],
        notes=spec.notes,
    )


def steps_of(spec: Scenario, axes: dict[str, str]) -> list[Step]:
    """The scenario's steps that apply to these axis values."""
    return [s for s in spec.steps if all(axes.get(a) == v for a, v in s.only.items())]


def cases_of(suite: Suite, catalog: Catalog) -> list[Case]:
    """The suite's cases, each once, in the catalogue's order of scenarios."""
    found: dict[str, Case] = {}
    for selection in suite.cases:
        wanted = str(selection["scenario"])
        names = list(catalog.scenarios) if wanted == "*" else [wanted]
        for name in names:
            for axes in _combinations(catalog.scenarios[name], selection):
                case = make_case(name, axes, catalog, suite)
                found.setdefault(case.id, case)
    return list(found.values())


def _combinations(
    spec: Scenario, selection: dict[str, str | list[str]]
) -> Iterator[dict[str, str]]:
    choices = [
        [(axis, value) for value in selection.get(axis, values[:1])]
        for axis, values in spec.axes.items()
    ]
    for combination in itertools.product(*choices):
        yield dict(combination)


class Filter:
    """`-f` terms. Within one text all terms must match, of several texts one.

    A term is a substring of `case/runner`, `key:value` over scenario, group, runner, runtime,
    driver, bound and any axis, or either with `-` before it to exclude.
    """

    KEYS = ("scenario", "group", "bound", "runner", "runtime", "driver", "case")

    def __init__(self, texts: Iterable[str], catalog: Catalog) -> None:
        axes = {axis for spec in catalog.scenarios.values() for axis in spec.axes}
        self._known = {*self.KEYS, *axes}
        self._alternatives = [[self._term(t) for t in text.split()] for text in texts]

    def _term(self, text: str) -> tuple[bool, str | None, str]:
        exclude = text.startswith("-") and len(text) > 1
        key, colon, value = text.removeprefix("-").partition(":")
        if colon and re.fullmatch(r"[a-z_]+", key):
            if key not in self._known:
                raise UsageError(unknown("filter key", key, self._known))
            return exclude, key, value
        return exclude, None, text.removeprefix("-")

    def matches(self, case: Case, runner: Runner) -> bool:
        """Whether the cell of `case` and `runner` is wanted."""
        if not self._alternatives:
            return True
        facts = {
            **case.axes,
            "scenario": case.scenario,
            "case": case.id,
            "group": case.group,
            "bound": case.bound_by,
            "runner": runner.name,
            "runtime": runner.runtime.lower(),
            "driver": runner.driver.lower(),
        }
        name = f"{case.id}/{runner.name}"
        return any(
            all(
                (facts.get(key) == value.lower() if key else value in name) != exclude
                for exclude, key, value in terms
            )
            for terms in self._alternatives
        )


def narrow(cases: list[Case], runners: list[Runner], wanted: Filter, texts: list[str]) -> Cells:
    """Runner names per case id that `wanted` leaves; raises UsageError when nothing is left."""
    left = {c.id: [r.name for r in runners if wanted.matches(c, r)] for c in cases}
    left = {case: names for case, names in left.items() if names}
    if not left:
        known = [c.id for c in cases] + [r.name for r in runners]
        words = [t.lstrip("-").partition(":")[2] or t for text in texts for t in text.split()]
        near = nearest(words[-1] if words else "", known)
        raise UsageError(
            f"nothing in this suite matches {' | '.join(texts)!r}."
            + (f" Did you mean {near}?" if near else "")
            + " `sqlitmus list` shows what there is; --suite full has more cases."
        )
    return left


def choose(
    catalog: Catalog,
    suite_name: str,
    case_ids: list[str],
    runner_names: list[str],
    filters: list[str],
    reference: str | None,
) -> tuple[list[Case], Cells]:
    """The cases of a suite (or those named) and the runners wanted in each.

    Raises UsageError with the nearest names for anything that does not exist.
    """
    if suite_name not in catalog.suites:
        raise UsageError(unknown("suite", suite_name, catalog.suites))
    suite = catalog.suites[suite_name]
    for name in [*runner_names, *filter(None, [reference])]:
        if name not in catalog.runners:
            raise UsageError(unknown("runner", name, catalog.runners))
    cases = cases_of(suite, catalog)
    if case_ids:
        asked = [parse_case(text, catalog) for text in case_ids]
        made = [make_case(name, axes, catalog, suite) for name, axes in asked]
        cases = list({case.id: case for case in made}.values())
    specs = [
        spec
        for name, spec in catalog.runners.items()
        if (name in runner_names if runner_names else suite.oracle or spec.role != "oracle")
    ]
    cells = narrow(cases, specs, Filter(filters, catalog), filters)
    chosen = sorted({name for names in cells.values() for name in names})
    if reference and reference not in chosen:
        raise UsageError(
            f"the reference {reference} is not among the runners of this run: {', '.join(chosen)}; "
            f"add -r {reference} or choose another --reference"
        )
    return [case for case in cases if case.id in cells], cells


def nearest(text: str, known: Iterable[str]) -> str:
    """Up to three known names near `text`, as a phrase; empty when none is near."""
    names = sorted(set(known))
    close = difflib.get_close_matches(text, names, n=3, cutoff=0.5)
    close = close or [n for n in names if text and text in n][:3]
    return " or ".join(close)


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that does not exist."""
    names = sorted(known)
    near = nearest(name, names)
    hint = f"did you mean {near}?" if near else f"expected one of {', '.join(names)}"
    return f"there is no {kind} {name!r}; {hint}"
