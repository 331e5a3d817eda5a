"""What each runner is made of and how its connections were set, as read back from it."""

from collections.abc import Iterable

from sqlitmus.analysis import durability
from sqlitmus.analysis.data import RunData
from sqlitmus.catalog.plan import Plan
from sqlitmus.results.conditions import Fact
from sqlitmus.results.report import Runner
from sqlitmus.vocabulary.contract.description import Description

NOT_SET = "not set"
SHIPPED = "Pragmas, profile shipped"


def runners(plan: Plan) -> list[Runner]:
    """The report's runners, with versions where the runner could be asked."""
    return [
        Runner(
            name=runner.name,
            title=runner.title,
            runtime=runner.runtime,
            driver=runner.driver,
            role=runner.role,
            missing=runner.missing,
            runtime_version=known.identity.runtime.version if known else None,
            driver_version=known.identity.driver.version if known else None,
            sqlite_version=known.sqlite.version if known else None,
        )
        for runner in plan.runners
        for known in (runner.description,)
    ]


def facts(run: RunData) -> list[Fact]:
    """Versions, compile options, engine options and pragmas per profile, one row per fact.

    A runner that could not be asked is left out of a row.
    """
    described = {r.name: r.description for r in run.plan.runners if r.description is not None}
    asked: dict[tuple[str, str], dict[str, str]] = {}
    for runner, description in described.items():
        for group, name, value in _asked(description):
            asked.setdefault((group, name), {})[runner] = value
    return [
        *(_fact(group, name, values) for (group, name), values in asked.items()),
        *_compile_options(described),
        *_engine(run),
        *_pragmas(run),
    ]


def _asked(d: Description) -> Iterable[tuple[str, str, str]]:
    """Group, name and value of each fact that `describe` answers."""
    identity, sqlite = d.identity, d.sqlite
    yield "Runtime", "runtime", f"{identity.runtime.name} {identity.runtime.version}"
    yield "Runtime", "driver", f"{identity.driver.name} {identity.driver.version}"
    yield "Runtime", "architecture", identity.architecture
    yield "Runtime", "flags", " ".join(identity.flags) or "none"
    yield "SQLite", "version", sqlite.version
    yield "SQLite", "source id", sqlite.source_id
    yield "SQLite", "threadsafe", "unknown" if sqlite.threadsafe is None else str(sqlite.threadsafe)


def _compile_options(described: dict[str, Description]) -> Iterable[Fact]:
    options = {
        runner: dict(_option(text) for text in d.sqlite.compile_options)
        for runner, d in described.items()
    }
    for name in sorted({name for values in options.values() for name in values}):
        values = {runner: of.get(name, NOT_SET) for runner, of in options.items()}
        yield _fact("Compile options", name, values)


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    return name, value if equals else "set"


def _pragmas(run: RunData) -> Iterable[Fact]:
    counted = durability.by_profile(run)
    for profile, by_runner in _read_back(run).items():
        group = f"Pragmas, profile {profile}" if profile else "Pragmas"
        names = dict.fromkeys(name for values in by_runner.values() for name in values)
        for name in names:
            values = {runner: of[name] for runner, of in by_runner.items() if name in of}
            yield _fact(group, name, values)
        if profile in counted:
            yield _fact(group, durability.FACT, counted[profile])


def _engine(run: RunData) -> Iterable[Fact]:
    """Options of SQLite itself that a runner tells of, such as its threading mode."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for (_, runner), check in run.checks.items():
        for name, value in check.engine.items():
            found.setdefault(name, {}).setdefault(runner, {})[str(value)] = None
    for name, by_runner in found.items():
        yield _fact("Engine options", name, {r: " / ".join(v) for r, v in by_runner.items()})


def _read_back(run: RunData) -> dict[str | None, dict[str, dict[str, str]]]:
    """Profile → runner → pragma → its values over the cases, several joined by ` / `."""
    found: dict[str | None, dict[str, dict[tuple[tuple[str, object], ...], None]]] = {}
    for case in run.plan.cases:
        profile = case.axes.get("profile")
        key = None if profile is None else str(profile)
        for runner in run.plan.runners:
            check = run.checks.get((case.id, runner.name))
            if check is None or check.outcome != "ok" or not check.pragmas:
                continue
            seen = found.setdefault(key, {}).setdefault(runner.name, {})
            seen[tuple(check.pragmas.items())] = None
    return {
        profile: {runner: _merge(sets) for runner, sets in by_runner.items()}
        for profile, by_runner in found.items()
    }


def _merge(sets: Iterable[tuple[tuple[str, object], ...]]) -> dict[str, str]:
    values: dict[str, dict[str, None]] = {}
    for pragmas in sets:
        for name, value in pragmas:
            values.setdefault(name, {})["none" if value is None else str(value)] = None
    return {name: " / ".join(several) for name, several in values.items()}


def _fact(group: str, name: str, values: dict[str, str]) -> Fact:
    return Fact(group, name, values, differs=len(set(values.values())) > 1)
