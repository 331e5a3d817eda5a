"""Presets: how often a service calls what, per 1,000 of its requests."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, ValidationError

from sqlitmus.catalog.cases import case_id, parse_case
from sqlitmus.catalog.toml import Place, at_lines, parse
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import unknown

if TYPE_CHECKING:
    from sqlitmus.catalog.definitions import Catalog

OWN = "own calls"
OPERATIONS = "operations"  # the table of a file that names them
EXAMPLE = "get-pk=600,all=250,insert-autocommit=150"
MOST = 1e6
_POSITIVE = Field(gt=0, allow_inf_nan=False)
_CALLS = Field(gt=0, le=MOST, allow_inf_nan=False)


class Preset(Model):
    """Calls of cases per 1,000 requests, and limits that a runner keeps to.

    A call is one operation of the case's scenario: a statement, a transaction with all of its rows,
    or a start. `names` say in words what is called, with `(s)` where a plural has an s. `title`
    follows "for" in a sentence. `memory_mib` is the most memory of a process in any of the cases,
    `start_ms` the longest start; None for no limit.
    """

    title: str
    summary: str
    calls: Annotated[dict[str, Annotated[float, _CALLS]], Field(min_length=1)]
    memory_mib: Annotated[float, _POSITIVE] | None = None
    start_ms: Annotated[float, _POSITIVE] | None = None
    names: Annotated[dict[str, str], Field(exclude=True)] = {}

    def name(self, case: str) -> str:
        """What a call of `case` is, in words."""
        return self.names.get(case, f"call(s) of {case}")


def read(file: Path, catalog: "Catalog | None" = None) -> dict[str, Preset]:
    """The presets in a file; `catalog` has the cases that may be called, None for any.

    Raises UsageError with the file and the line of each fault.
    """
    tables, text = parse(file)
    faults: list[tuple[Place, str]] = []
    names = tables.pop(OPERATIONS, {})
    presets: dict[str, Preset] = {}
    for name, table in tables.items():
        try:
            presets[name] = Preset.model_validate({**table, "names": names})
        except ValidationError as error:
            for each in error.errors():
                inside = each["loc"]
                at = (OPERATIONS, *inside[1:]) if inside[0] == "names" else (name, *inside)
                faults.append((at, each["msg"]))
    places = [(OPERATIONS, case) for case in names]
    places += [(name, "calls", case) for name, preset in presets.items() for case in preset.calls]
    for at in places:
        try:
            if catalog:
                called(at[-1], catalog)
        except UsageError as error:
            faults.append((at, str(error)))
    if faults:
        raise UsageError("\n".join(at_lines(file, text, faults)))
    return presets


def called(text: str, catalog: "Catalog") -> None:
    """Raises UsageError for what is not the id of a case that has a time of one call."""
    name, axes = parse_case(text, catalog)
    spec = catalog.scenarios[name]
    if spec.metric not in ("steady", "cold") or axes.get("workers", "1") != "1":
        raise UsageError(f"{text} has no time of one call; name a case of one thread")
    if text != (short := case_id(name, axes, spec)):
        raise UsageError(f"{text} is the case {short}; write that")


def load() -> dict[str, Preset]:
    """The presets of the catalogue, or the clone's where it has none."""
    return read(paths.or_clones(paths.SCENARIOS / "presets.toml"))


def chosen(
    text: str | None,
    presets: Mapping[str, Preset],
    catalog: "Catalog | None" = None,
    cases: Collection[str] | None = None,
) -> dict[str, Preset]:
    """`presets` with the one of that name first, or with calls such as `EXAMPLE` before them; as
    they are for None. Raises UsageError for anything else, and for calls of what is no such case of
    the `catalog`, or none of the `cases` of a run."""
    if text is None:
        return dict(presets)
    if "=" not in text:
        if text not in presets:
            raise UsageError(
                f"--weights: {unknown('preset', text, presets)}; calls of your own per 1,000 "
                f"requests read {EXAMPLE}"
            )
        return {text: presets[text], **presets}
    yours = _own(text, presets)
    for case in yours.calls:
        if cases is not None and case not in cases:
            raise UsageError(f"--weights {text!r}: {unknown('case', case, cases)}")
        try:
            if catalog:
                called(case, catalog)
        except UsageError as error:
            raise UsageError(f"--weights {text!r}: {error}") from error
    return {OWN: yours, **presets}


def _own(text: str, presets: Mapping[str, Preset]) -> Preset:
    """Calls such as `EXAMPLE`, by the names that the presets have."""
    calls: dict[str, str] = {}
    for part in text.split(","):
        case, _, number = (word.strip() for word in part.rpartition("="))
        if case in calls:
            raise UsageError(f"--weights {text!r}: {case} has two numbers; keep one")
        calls[case] = number
    names = {case: words for preset in presets.values() for case, words in preset.names.items()}
    try:
        return Preset.model_validate(
            {"title": "your calls", "summary": "calls of your own", "calls": calls, "names": names}
        )
    except ValidationError as error:
        case = str(error.errors()[0]["loc"][-1])
        raise UsageError(
            f"--weights {text!r}: {case or 'a case'} has {calls.get(case, '')!r}; each case needs "
            f"its calls per 1,000 requests, a number above 0 and up to {MOST:,.0f}, as in {EXAMPLE}"
        ) from error
