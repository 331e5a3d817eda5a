"""The settings that are tried one at a time and together, as cases: `scenarios/settings.toml`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sqlitmus.catalog.cases import case_id
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import AxisValue, Fixture, Scenario, Suite, Variant
from sqlitmus.catalog.toml import whole
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.text import unknown

NONE = "none"  # the value of the axis for the profile alone
FILE = "settings.toml"
Name = Annotated[str, Field(pattern=r"^[a-z][a-z_-]*$")]


class Publication(Model):
    """What somebody published of a setting, and where."""

    says: str
    source: str
    url: str = ""


class Setting(Model):
    """A value of a pragma, or a kind of transaction, that may help.

    It is held against the starting profile with the setting that it is `beside`, which both sides
    have. One that consists `of` others has all of theirs. `groups` are the groups of queries that
    it can concern; `caution` is what a time does not tell.
    """

    name: Name
    title: str
    pragmas: list[tuple[str, str | int]] = []
    transaction: Literal["immediate"] | None = None
    beside: str = ""
    of: list[str] = []
    groups: Annotated[list[str], Field(min_length=1)]
    does: str
    caution: str = ""
    publications: list[Publication] = []


class Group(Model):
    """A kind of query: the scenario that stands for it, and the databases that it is asked of.

    An operation does it `repeat` times, so that an iteration asks for more pages than a cache has.
    `setup` is what each connection does first, off the clock.
    """

    title: str
    scenario: str
    axes: dict[str, AxisValue] = {}
    transaction: Literal["none", "deferred"] | None = None
    operations: int = Field(ge=1)
    warmup_operations: int | None = None
    timed_operations: int | None = None
    warmup_iterations: int | None = None
    setup: list[str] = []
    repeat: int = Field(default=1, ge=1)
    fixed: bool = False
    databases: Annotated[list[str], Field(min_length=1)]


class Database(Model):
    """A database by what it fits into: rows of each fixture, or why it is `unmeasured`."""

    name: Name
    title: str
    rows: dict[str, int] = {}
    unmeasured: str = ""


class Settings(Model):
    """All of the file. `margin` is the share of the time below which a difference is nothing."""

    start: str
    margin: float = Field(gt=0, lt=1)
    database: Annotated[list[Database], Field(min_length=1)]
    group: dict[Name, Group]
    scenario: dict[str, Scenario] = {}
    setting: Annotated[list[Setting], Field(min_length=1)]

    @model_validator(mode="after")
    def _named(self) -> Self:
        above = [NONE]
        databases = {database.name for database in self.database}
        for setting in self.setting:
            for name in filter(None, [*setting.of, setting.beside]):
                if name not in above:
                    raise ValueError(f"setting {setting.name} names {name}, which is not above it")
            if strange := set(setting.groups) - self.group.keys():
                raise ValueError(f"setting {setting.name} names no group: {', '.join(strange)}")
            if setting.name in above:
                raise ValueError(f"setting {setting.name} is there twice; rename one")
            if bool(setting.of) == bool(setting.pragmas or setting.transaction):
                raise ValueError(f"setting {setting.name} needs pragmas, a transaction, or of")
            above.append(setting.name)
        for name, group in self.group.items():
            if strange := set(group.databases) - databases:
                raise ValueError(f"group {name} names no database: {', '.join(strange)}")
        return self

    def scenario_of(self, group: Group, catalog: Catalog) -> Scenario:
        """The file's own scenario for a group, or the catalogue's; raises UsageError for none."""
        spec = self.scenario.get(group.scenario) or catalog.scenarios.get(group.scenario)
        if spec is None:
            raise UsageError(f"{FILE}: {unknown('scenario', group.scenario, catalog.scenarios)}")
        return spec

    def variants(self) -> dict[str, Variant]:
        """What each setting changes, with those that it is beside; `none` changes nothing."""
        made = {NONE: Variant()}
        for setting in self.setting:
            variant = Variant()
            for name in filter(None, [setting.beside, *setting.of]):
                variant = variant.also(made[name])
            alone = Variant(pragmas=setting.pragmas, transaction=setting.transaction)
            made[setting.name] = variant.also(alone).once()
        return made


def read(folder: Path | None = None) -> Settings:
    """The settings in `folder`; raises UsageError with file and place."""
    return whole(Settings, paths.or_clones((folder or paths.SCENARIOS) / FILE))


def only(settings: Settings, names: list[str]) -> Settings:
    """The settings of these names, with those that they are beside or consist of; all for none.

    Raises UsageError for a name that none has.
    """
    if not names:
        return settings
    by_name = {setting.name: setting for setting in settings.setting}
    chosen: set[str] = set()
    while names:
        name = names[-1]
        if name not in by_name:
            raise UsageError(unknown("setting", name, by_name))
        chosen.add(name)
        names = [*names[:-1], *filter(None, [by_name[name].beside, *by_name[name].of])]
    left = [setting for setting in settings.setting if setting.name in chosen]
    return settings.model_copy(update={"setting": left})


class Trial(Model):
    """A setting tried on one group of queries and one database: cases `base` and `new`.

    Where it is not tried, both are "" and `reason` says why.
    """

    setting: str
    group: str
    database: str
    base: str = ""
    new: str = ""
    reason: str = ""


class PlannedAdvice(Model):
    """What the settings advisor tries, on which runner; `workload` is the user's file, if any."""

    settings: Settings
    runner: str
    trials: list[Trial]

    def compared(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Base and new of each trial, as (case id, runner)."""
        return [((t.base, self.runner), (t.new, self.runner)) for t in self.trials if t.base]

    def canaries(self) -> dict[str, str]:
        """The runner for the case of each set that most others are held against, else ""."""
        cases = {case for (base, _), (new, _) in self.compared() for case in (base, new)}
        bases: dict[str, Counter[str]] = {}
        for trial in self.trials:
            if trial.base:
                bases.setdefault(f"{trial.group}-{trial.database}", Counter())[trial.base] += 1
        repeated = {many.most_common(1)[0][0] for many in bases.values()}
        return {case: self.runner if case in repeated else "" for case in sorted(cases)}


SUITE = "advise"
AXIS = "setting"
SIZES = "sml"
# A log that was as long before is overwritten in place; one that grows waits longer for the disk.
GROWN = ["VACUUM"]


@dataclass(frozen=True, slots=True)
class Trying:
    """A catalogue in which settings are an axis, and what a session tries of it."""

    catalog: Catalog
    advice: PlannedAdvice


def trying(settings: Settings, catalog: Catalog, runner: str) -> Trying:
    """All settings on the file's own groups and databases."""
    databases = {database.name: database for database in settings.database}
    fixtures: dict[str, Fixture] = {}
    scenarios: dict[str, Scenario] = {}
    trials: list[Trial] = []
    for name, group in settings.group.items():
        spec = settings.scenario_of(group, catalog)
        concerned = [s for s in settings.setting if name in s.groups]
        for place in group.databases if concerned else ():
            if why := databases[place].unmeasured:
                trials += [
                    Trial(setting=setting.name, group=name, database=place, reason=why)
                    for setting in concerned
                ]
                continue
            at = f"{name}-{place}"
            fixture = _sized(catalog, spec, databases[place])
            fixtures |= fixture
            plain = _plain(spec, group, name, next(iter(fixture)))
            scenarios[at] = _with_settings(plain, settings, concerned)
            trials += _trials(concerned, name, place, at, scenarios[at])
    return _tried(settings, catalog, runner, scenarios, fixtures, trials)


def trying_workload(
    settings: Settings, catalog: Catalog, runner: str, whole: Catalog, queries: str, page_size: int
) -> Trying:
    """All settings on a user's own queries: the scenarios of `whole`, which was made of `catalog`,
    in the group `queries`.

    A query that writes is asked of the settings that concern any group that writes, one that reads
    of the others. The database's own `page_size` is set in all cases, which makes each file anew:
    a VACUUM alone moves pages, and would be taken for the work of another page size.
    """
    as_it_is = Variant(pragmas=[("page_size", page_size)])
    specs = {name: settings.scenario_of(of, catalog) for name, of in settings.group.items()}
    writing = {name for name, spec in specs.items() if spec.writes}
    scenarios: dict[str, Scenario] = {}
    trials: list[Trial] = []
    for name, spec in whole.scenarios.items():
        if spec.group != queries:
            continue
        kinds = writing if spec.writes else settings.group.keys() - writing
        concerned = [
            setting
            for setting in settings.setting
            if kinds & set(setting.groups)
            and (setting.transaction is None or spec.transaction == "deferred")
        ]
        if not concerned:
            continue
        changes = {"axes": {"profile": [settings.start]}, "setup": GROWN if spec.writes else []}
        plain = spec.model_copy(update=changes)
        scenarios[name] = _with_settings(plain, settings, concerned, as_it_is)
        trials += _trials(concerned, name, "", name, scenarios[name])
    return _tried(settings, whole, runner, scenarios, whole.fixtures, trials)


def _sized(catalog: Catalog, spec: Scenario, database: Database) -> dict[str, Fixture]:
    """The scenario's fixture with the database's rows, whatever size is asked for."""
    name = spec.fixture or ""
    sizes = dict.fromkeys(SIZES, database.rows[name])
    changed = catalog.fixtures[name].model_copy(update={"sizes": sizes})
    return {f"{name}-{database.name}": changed}


_AS_GIVEN = {
    *("operations", "fixed", "warmup_operations", "timed_operations", "warmup_iterations", "setup"),
}


def _plain(spec: Scenario, group: Group, name: str, fixture: str) -> Scenario:
    """The scenario at the group's axes, of which each has this one value."""
    axes = {axis: [group.axes.get(axis, values[0])] for axis, values in spec.axes.items()}
    changes = {
        **group.model_dump(include=_AS_GIVEN),
        "group": name,
        "fixture": fixture,
        "axes": axes,
        "variants": {
            axis: {value: variant for value, variant in of.items() if value in axes[axis]}
            for axis, of in spec.variants.items()
        },
        "overrides": [],
        "per_operation": spec.per_operation * group.repeat,
        "steps": [s.model_copy(update={"repeat": s.repeat * group.repeat}) for s in spec.steps],
        "transaction": group.transaction or spec.transaction,
        "notes": [],
    }
    return spec.model_copy(update=changes)


def _with_settings(
    spec: Scenario, settings: Settings, concerned: list[Setting], first: Variant | None = None
) -> Scenario:
    """The scenario with an axis for the settings that concern it, and what they are held against.

    A kind of transaction is for those that begin a deferred one. What `first` changes, all have,
    unless a setting changes it again.
    """
    variants = settings.variants()
    if first:
        variants = {name: first.also(variant).once() for name, variant in variants.items()}
    if spec.transaction != "deferred":
        as_they_are = {"transaction": None}
        variants = {name: v.model_copy(update=as_they_are) for name, v in variants.items()}
    bases = [setting.beside or NONE for setting in concerned]
    values = [n for n in variants if n in (NONE, *bases, *(s.name for s in concerned))]
    changing = {name: variants[name] for name in values}
    return spec.model_copy(
        update={
            "axes": {**spec.axes, "profile": [settings.start], AXIS: values},
            "variants": {**spec.variants, AXIS: changing},
        }
    )


def _trials(
    concerned: list[Setting], group: str, database: str, scenario: str, spec: Scenario
) -> Iterator[Trial]:
    defaults = {axis: values[0] for axis, values in spec.axes.items()}
    for setting in concerned:
        base, new = (
            case_id(scenario, {**defaults, AXIS: value}, spec)
            for value in (setting.beside or NONE, setting.name)
        )
        yield Trial(setting=setting.name, group=group, database=database, base=base, new=new)


def _tried(
    settings: Settings,
    catalog: Catalog,
    runner: str,
    scenarios: Mapping[str, Scenario],
    fixtures: Mapping[str, Fixture],
    trials: list[Trial],
) -> Trying:
    suite = Suite(
        title="Settings",
        summary="each setting alone and all together",
        mode=SUITE,
        oracle=False,
        cases=[{"scenario": name, AXIS: spec.axes[AXIS]} for name, spec in scenarios.items()],
    )
    changes = {"scenarios": dict(scenarios), "fixtures": dict(fixtures), "suites": {SUITE: suite}}
    advice = PlannedAdvice(settings=settings, runner=runner, trials=trials)
    return Trying(catalog.model_copy(update=changes), advice)
