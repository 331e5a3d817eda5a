"""The catalogue as a whole: its TOML files, read and checked against each other."""

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from sqlitmus.catalog import presets, toml
from sqlitmus.catalog.presets import Preset
from sqlitmus.catalog.scenario import Fixture, Mode, Profile, Runners, RunnerSpec, Scenario, Suite
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract import Model
from sqlitmus.vocabulary.errors import UsageError


class Catalog(Model):
    """Every definition that a run can use, by name."""

    scenarios: dict[str, Scenario]
    profiles: dict[str, Profile]
    suites: dict[str, Suite]
    modes: dict[str, Mode]
    fixtures: dict[str, Fixture]
    runners: dict[str, RunnerSpec]
    folders: dict[str, Path]
    presets: dict[str, Preset] = {}


@cache
def load() -> Catalog:
    """The catalogue of the clone, or one's own; raises UsageError that names file and place."""
    return read(paths.SCENARIOS, paths.FIXTURES, paths.OWN_RUNNERS, paths.RUNNERS)


_NO_SCENARIOS = {f"{name}.toml" for name in ("profiles", "suites", "modes", "presets", "settings")}


def read(scenarios: Path, fixtures: Path, runners: Path, inherited: Path | None = None) -> Catalog:
    """Read the three folders; raises UsageError that names file and place.

    Runners are added to those of the folder `inherited`, and stand in place of one of their name;
    with an oracle among them they stand alone.
    """
    by_name: dict[str, Scenario] = {}
    for file in sorted(scenarios.glob("*.toml")):
        if file.name not in _NO_SCENARIOS:
            for name, value in toml.parse(file)[0].items():
                if name in by_name:
                    raise UsageError(f"{file}: scenario {name} is defined twice; rename one")
                by_name[name] = toml.model(Scenario, value, file, name)
    profiles = toml.tables(Profile, paths.or_clones(scenarios / "profiles.toml"))
    modes = toml.tables(Mode, paths.or_clones(scenarios / "modes.toml"))
    suites = _suites(scenarios / "suites.toml", by_name)
    sets = {file.stem: _fixture(file) for file in sorted(fixtures.glob("*.toml"))}
    starters = _runners(runners)
    if inherited and all(spec.role != "oracle" for spec, _ in starters.values()):
        starters = _runners(inherited) | starters
    catalog = Catalog(
        scenarios=by_name,
        profiles=profiles,
        suites=suites,
        modes=modes,
        fixtures=sets,
        runners={name: spec for name, (spec, _) in starters.items()},
        folders={name: folder for name, (_, folder) in starters.items()},
    )
    _cross_check(catalog, scenarios)
    calls = scenarios / "presets.toml"
    weights = presets.read(calls, catalog) if calls.exists() else presets.load()
    return catalog.model_copy(update={"presets": weights})


def _runners(root: Path) -> dict[str, tuple[RunnerSpec, Path]]:
    """The runners in the folders of `root` by name, each with its folder."""
    runners: dict[str, tuple[RunnerSpec, Path]] = {}
    for file in sorted(root.glob("*/runner.toml")):
        for runner in toml.whole(Runners, file).runner:
            if runner.name in runners:
                raise UsageError(f"{file}: runner {runner.name} is defined twice; rename one")
            runners[runner.name] = runner, file.parent
    return runners


def _suites(file: Path, scenarios: Mapping[str, Scenario]) -> dict[str, Suite]:
    """The suites in `file`; inherited ones have the cases whose scenarios are there."""
    suites = toml.tables(Suite, paths.or_clones(file))
    if file.exists():
        return suites
    names = {"*", *scenarios}

    def left(suite: Suite) -> dict[str, object]:
        parts = suite.parts.items()
        return {part: [c for c in cases if c["scenario"] in names] for part, cases in parts}

    return {name: suite.model_copy(update=left(suite)) for name, suite in suites.items()}


def _fixture(file: Path) -> Fixture:
    fixture = toml.whole(Fixture, file)
    if fixture.content is not None:
        raise UsageError(
            f"{file}: content: it is of a user's database, and a fixture has tables; for a "
            "database of your own, write a workload"
        )
    return fixture


def _fixtures(scenario: Scenario) -> set[str]:
    """The fixtures that a scenario or one of its variants names."""
    variants = [v.fixture for values in scenario.variants.values() for v in values.values()]
    return set(filter(None, [scenario.fixture, *variants]))


def _cross_check(catalog: Catalog, folder: Path) -> None:
    for name, scenario in catalog.scenarios.items():
        for fixture in sorted(_fixtures(scenario)):
            _check_name("fixture", fixture, catalog.fixtures, f"{folder}: {name}.fixture")
        _check_files(name, scenario, catalog.fixtures, folder)
        for profile in scenario.axes.get("profile", []):
            _check_name("profile", profile, catalog.profiles, f"{folder}: {name}.axes.profile")
    for name, suite in catalog.suites.items():
        at = f"{folder / 'suites.toml'}: {name}"
        _check_name("mode", suite.mode, catalog.modes, f"{at}.mode")
        places = [(part, *each) for part, of in suite.parts.items() for each in enumerate(of)]
        for part, number, case in places:
            where = f"{at}.{part}[{number}]"
            scenario_name = str(case.get("scenario"))
            if scenario_name != "*":
                names = catalog.scenarios
                _check_name("scenario", scenario_name, names, f"{where}.scenario", "* or ")
            axes = catalog.scenarios[scenario_name].axes if scenario_name != "*" else {}
            _check_selection(case, axes, where)


def _check_name(
    kind: str, name: str, names: Collection[str], where: str, or_else: str = ""
) -> None:
    if name not in names:
        raise UsageError(f"{where}: there is no {kind} {name}; expected {or_else}{_any_of(names)}")


def _check_files(name: str, scenario: Scenario, fixtures: dict[str, Fixture], folder: Path) -> None:
    needs = {
        "read-file": ("files", "SELECT name, content FROM ..."),
        "open-file": ("databases", "DELETE FROM ... WHERE id != ?"),
    }
    for step in scenario.steps:
        key, example = needs.get(step.operation, ("", ""))
        for fixture in sorted(_fixtures(scenario)) if key else []:
            if not getattr(fixtures[fixture], key):
                raise UsageError(
                    f"{folder}: {name}: a step is {step.operation}, and fixture {fixture} has no "
                    f'{key}; give it {key} = "{example}"'
                )


def _check_selection(
    case: dict[str, str | list[str]], axes: dict[str, list[str]], where: str
) -> None:
    for axis, values in case.items():
        expected = axes.get(axis, [])
        if axis != "scenario" and (isinstance(values, str) or not set(values) <= set(expected)):
            raise UsageError(
                f"{where}.{axis}: {values}; expected a list of some of {_any_of(expected)}"
            )


def _any_of(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
