"""Whether two plans measure the same work; resume, merge and compare all ask here. Pure."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.fixture import LAYOUT
from sqlitmus.catalog.scenario import Variant
from sqlitmus.vocabulary.contract.model import Model


class PlannedWork(Protocol):
    """The part of a planned case that decides what is done."""

    @property
    def id(self) -> str: ...
    @property
    def scenario(self) -> str: ...
    @property
    def axes(self) -> Mapping[str, str | int | float | bool]: ...
    @property
    def sql(self) -> list[str]: ...
    @property
    def pragmas(self) -> list[tuple[str, str | int]]: ...
    @property
    def metric(self) -> str: ...
    @property
    def per_operation(self) -> int: ...
    @property
    def workers(self) -> int: ...
    @property
    def processes(self) -> int | None: ...
    @property
    def fixture(self) -> str | None: ...
    @property
    def variant(self) -> Variant: ...


class Planned(Protocol):
    """The part of a plan that decides what is done; see `catalog.plan.Plan`."""

    @property
    def size(self) -> str: ...
    @property
    def definitions(self) -> dict[str, str]: ...
    @property
    def level(self) -> str: ...
    @property
    def cases(self) -> Sequence[PlannedWork]: ...


ASPECTS = (
    *("sql", "pragmas", "metric", "per_operation", "workers", "processes", "fixture", "variant"),
)


def facts(plan: Planned, ids: Collection[str] | None = None) -> dict[str, str]:
    """What `plan` measures in the cases `ids`, by name; in all of its cases by default.

    The size of the fixtures, a hash of each scenario, profile and fixture, and the aspects of each
    case: two plans measure the same work as far as the facts that both have are equal.
    """
    cases = [case for case in plan.cases if ids is None or case.id in ids]
    named = {f"scenario {case.scenario}" for case in cases}
    named |= {f"fixture {case.fixture}" for case in cases if case.fixture}
    named |= {f"profile {case.axes['profile']}" for case in cases if "profile" in case.axes}
    return {
        "fixture size": plan.size,
        "level of a process": plan.level,
        **{name: value for name, value in plan.definitions.items() if name in named},
        **{f"{aspect} of {c.id}": str(getattr(c, aspect)) for c in cases for aspect in ASPECTS},
    }


def definitions(catalog: Catalog, cases: Sequence[PlannedWork]) -> dict[str, str]:
    """A hash of each scenario, profile and fixture of `cases`, by kind and name.

    It is "gone" for a definition that is no longer in the catalogue.
    """
    models: dict[str, Model | None] = {}
    for case in cases:
        models[f"scenario {case.scenario}"] = catalog.scenarios.get(case.scenario)
        if case.fixture:
            models[f"fixture {case.fixture}"] = catalog.fixtures.get(case.fixture)
        if profile := case.axes.get("profile"):
            models[f"profile {profile}"] = catalog.profiles.get(str(profile))
    return {name: _hash(model) if model else "gone" for name, model in sorted(models.items())}


def _hash(model: Model) -> str:
    # without defaults, so that a new field leaves the hashes of what does not use it
    text = f"{LAYOUT}/{model.model_dump_json(exclude_defaults=True)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(base: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Names of the facts that both have with different values, in the order of `base`."""
    return [name for name, value in base.items() if other.get(name, value) != value]
