"""The answer to `RUNNER describe`; the source of `runners/contract/describe.schema.json`."""

from typing import Literal

from sqlitmus.vocabulary.contract.model import Model


class Versioned(Model):
    """A named thing with a version."""

    name: str
    version: str


class Identity(Model):
    """Who ran: runner name, runtime, driver, processor architecture and flags."""

    runner: str
    runtime: Versioned
    driver: Versioned
    architecture: str
    flags: list[str] = []


class Sqlite(Model):
    """The SQLite inside the driver; `threadsafe` is the value of `sqlite3_threadsafe()`."""

    version: str
    source_id: str
    compile_options: list[str]
    threadsafe: int | None = None


class Features(Model):
    """What the runner can be asked for; anything else is answered `unsupported`.

    `lacks` has what the other lists do not tell, in words of the contract; those of one entry are
    lacking together. `figures` of a result are told always, `digest_figures` beside a digest.
    """

    operations: list[str]
    shapes: list[str]
    integers: list[str]
    statements: list[str]
    transactions: list[str]
    engine: list[str] = []
    flags: list[str] = []
    event_loop: bool = False
    lacks: list[str] = []
    figures: list[str] = []
    digest_figures: list[str] = []


class Description(Model):
    """The answer to `RUNNER describe`."""

    contract: Literal[1, 2]  # plans of earlier versions keep the first
    identity: Identity
    sqlite: Sqlite
    features: Features
    limits: dict[str, int] = {}
