"""The settings that are tried one at a time and together: `scenarios/settings.toml` as a model."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.scenario import AxisValue, Scenario, Variant
from sqlitmus.catalog.tomlfile import whole
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.errors import UsageError
from sqlitmus.vocabulary.suggest import unknown

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
