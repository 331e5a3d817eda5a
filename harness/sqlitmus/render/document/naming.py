"""Short names of cases: their scenario and the axes that tell them apart."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from sqlitmus.render.document.table import Head
from sqlitmus.results.report import Case


class Placed(Protocol):
    """What a scenario's axes fix: a case, or a row on one."""

    @property
    def scenario(self) -> str: ...
    @property
    def axes(self) -> Mapping[str, str]: ...


def varying_axes(cases: Iterable[Placed]) -> dict[str, list[str]]:
    """Per scenario, the axes with more than one value among `cases`."""
    values: dict[str, dict[str, set[str]]] = {}
    for case in cases:
        axes = values.setdefault(case.scenario, {})
        for name, value in case.axes.items():
            axes.setdefault(name, set()).add(value)
    return {
        scenario: [name for name, different in axes.items() if len(different) > 1]
        for scenario, axes in values.items()
    }


def heads(cases: Sequence[Case]) -> list[Head]:
    """One per case, in order."""
    varying = varying_axes(cases)
    return [
        Head(
            case.scenario,
            tuple(f"{a}={case.axes[a]}" for a in varying[case.scenario] if a in case.axes),
            case.title,
            f"c-{number}",
            case.grade or "",
        )
        for number, case in enumerate(cases)
    ]


def with_axes(title: str, axes: Mapping[str, str]) -> str:
    """ "Parallel readers rows=10": a title and what tells it from its like."""
    return " ".join((title, *(f"{axis}={value}" for axis, value in axes.items())))
