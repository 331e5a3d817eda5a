"""The database files of a session: each as it was built, and whoever changes one is named."""

from collections.abc import Callable
from pathlib import Path

from sqlitmus.catalog import fixture, seal
from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.vocabulary import paths


class Fixtures:
    """Gives out fixtures, and looks at all that it gave out after each invocation."""

    def __init__(self, catalog: Catalog, size: str, say: Callable[[str], None]) -> None:
        self._catalog = catalog
        self._size = size
        self._say = say
        self._states: dict[Path, seal.State | None] = {}

    def of(self, case: PlannedCase) -> Path | None:
        """The file of `case` in its profile's journal mode; built unless it is there and whole."""
        name = case.fixture
        if name is None:
            return None
        definition = self._catalog.fixtures[name]
        file = fixture.ensure(
            name,
            definition,
            self._size,
            case.journal_mode,
            fixture.snapshots() if definition.content else paths.cache("fixtures"),
            case.variant.encoding,
            self._say,
            case.page_size,
        )
        self._states[file] = seal.state(file)
        return file

    def whole(self, file: Path) -> bool:
        """Whether nothing touched `file` since it was given out."""
        return file in self._states and self._states[file] == seal.state(file)

    def harm(self) -> str | None:
        """What became of the files while a runner ran; None if they hold what they held.

        A file that was harmed is told once; who needs it next has to ask for it with `of`.
        """
        touched = [file for file in self._states if not self.whole(file)]
        harmed: list[str] = []
        for file in touched:
            damage = seal.damage(file)
            if damage is None:
                self._states[file] = seal.state(file)
            else:
                del self._states[file]
                what = "vanished" if damage == "absent" else "changed"
                harmed.append(f"the fixture {file.name} {what} while it ran")
        return f"{', and '.join(harmed)}; a runner must only read it" if harmed else None
