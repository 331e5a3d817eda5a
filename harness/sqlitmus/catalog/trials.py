"""Settings as cases: a scenario for each group of queries and database, an axis for the setting.
Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlitmus.catalog.advised import PlannedAdvice, Trial
from sqlitmus.catalog.cases import case_id
from sqlitmus.catalog.declared import Fixture, Suite
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import Scenario, Variant
from sqlitmus.catalog.settings import NONE, Database, Group, Setting, Settings

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


def _plain(spec: Scenario, group: Group, name: str, fixture: str) -> Scenario:
    """The scenario at the group's axes, of which each has this one value."""
    axes = {axis: [group.axes.get(axis, values[0])] for axis, values in spec.axes.items()}
    changes = {
        "group": name,
        "fixture": fixture,
        "axes": axes,
        "variants": {
            axis: {value: variant for value, variant in of.items() if value in axes[axis]}
            for axis, of in spec.variants.items()
        },
        "overrides": [],
        "operations": group.operations,
        "per_operation": spec.per_operation * group.repeat,
        "steps": [s.model_copy(update={"repeat": s.repeat * group.repeat}) for s in spec.steps],
        "transaction": group.transaction or spec.transaction,
        "fixed": group.fixed,
        "warmup_operations": group.warmup_operations,
        "timed_operations": group.timed_operations,
        "warmup_iterations": group.warmup_iterations,
        "setup": group.setup,
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
