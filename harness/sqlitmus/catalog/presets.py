"""Presets of weights: what a service spends its database time on, by groups of scenarios."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from sqlitmus.catalog.tomlfile import parse, place
from sqlitmus.catalog.tomllines import Lines
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.suggest import unknown

OWN = "own weights"
_POSITIVE = Field(gt=0, allow_inf_nan=False)


class Preset(Model):
    """Weights of groups, of which only the proportions count, and limits that a runner keeps to.

    `title` follows "for" in a sentence. `memory_mib` is the most memory of a process in any case of
    the groups, `start_ms` the longest start, `least_rate` the operations a second that a runner has
    to sustain; None for no limit.
    """

    title: str
    summary: str
    weights: Annotated[dict[str, Annotated[float, _POSITIVE]], Field(min_length=1)]
    memory_mib: Annotated[float, _POSITIVE] | None = None
    start_ms: Annotated[float, _POSITIVE] | None = None
    least_rate: Annotated[float, _POSITIVE] | None = None

    @property
    def shares(self) -> dict[str, float]:
        """The weights as shares of 1."""
        whole = sum(self.weights.values())
        return {group: weight / whole for group, weight in self.weights.items()}


def read(file: Path, groups: Collection[str] | None = None) -> dict[str, Preset]:
    """The presets in a file; `groups` are those that may have a weight, None for any.

    Raises UsageError with the file and the line of each fault.
    """
    tables, text = parse(file)
    lines, faults = Lines(text), list[str]()
    presets: dict[str, Preset] = {}
    for name, table in tables.items():
        try:
            presets[name] = Preset.model_validate(table)
        except ValidationError as error:
            for fault in error.errors():
                at = (name, *fault["loc"])
                faults.append(f"{file}:{lines.of(at)}: {place('', at)}: {fault['msg']}")
            continue
        for group in presets[name].weights:
            if groups is not None and group not in groups:
                at = (name, "weights", group)
                words = unknown("group", group, groups)
                faults.append(f"{file}:{lines.of(at)}: {place('', at)}: {words}")
    if faults:
        raise UsageError("\n".join(faults))
    return presets


def load(scenarios: Path | None = None) -> dict[str, Preset]:
    """The presets of a catalogue, or the clone's where it has none."""
    return read(paths.or_clones((scenarios or paths.SCENARIOS) / "presets.toml"))


def chosen(
    text: str | None, presets: Mapping[str, Preset], groups: Collection[str] | None = None
) -> dict[str, Preset]:
    """`presets` with the one of that name first, or with weights such as `reads=3,writes=1` before
    them; as they are for None. Raises UsageError for anything else, and for none of `groups`."""
    if text is None:
        return dict(presets)
    if "=" not in text:
        if text not in presets:
            raise UsageError(
                f"--weights: {unknown('preset', text, presets)}; weights of your own read "
                "reads=3,writes=1"
            )
        return {text: presets[text], **presets}
    weights: dict[str, str] = {}
    for part in text.split(","):
        group, _, weight = part.partition("=")
        if group.strip() in weights:
            raise UsageError(f"--weights {text!r}: {group.strip()} has two weights; keep one")
        weights[group.strip()] = weight.strip()
    try:
        yours = Preset.model_validate(
            {"title": "your weights", "summary": "weights of your own", "weights": weights}
        )
    except ValidationError as error:
        group = str(error.errors()[0]["loc"][-1])
        raise UsageError(
            f"--weights {text!r}: the weight of {group} is {weights.get(group)!r}; each weight "
            "must be a number above 0, as in reads=3,writes=1"
        ) from error
    for group in yours.weights:
        if groups is not None and group not in groups:
            raise UsageError(f"--weights {text!r}: {unknown('group', group, groups)}")
    return {OWN: yours, **presets}
