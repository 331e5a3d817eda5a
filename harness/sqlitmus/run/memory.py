"""Remembers earlier runs on this machine: verified answers and pilots' observations.

Keys cover everything that could change the answer (job, fixture, runner's files), so an entry is
valid exactly as long as its key is the same.
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from sqlitmus.catalog.definitions import Catalog
from sqlitmus.catalog.planned import PlannedCase
from sqlitmus.catalog.runners import Installed
from sqlitmus.run.judge import OracleAnswer, Verified
from sqlitmus.run.observed import Observed
from sqlitmus.run.relay.settling import Settling
from sqlitmus.vocabulary import paths
from sqlitmus.vocabulary.contract.model import Model
from sqlitmus.vocabulary.syncs import Syncs

# Raise it when answers are judged by other rules: what was verified by earlier ones is then checked
# again, whatever the runner.
JUDGED_BY = 3

_TIMING = {"iterations", "warmup_iterations", "warmup_ms", "database_bytes"}
M = TypeVar("M", bound=Model)
_Entries = TypeAdapter(dict[str, dict[str, Any]])


def key(
    case: PlannedCase, catalog: Catalog, size: str, runner: Installed, oracle: Installed
) -> str:
    """A hash of the case, its scenario and fixture, both runners' fingerprints, and the rules.

    Counts that do not affect the answer are left out.
    """
    scenario = catalog.scenarios[case.scenario]
    fixture = catalog.fixtures[case.fixture].model_dump_json() if case.fixture else ""
    parts = [case.model_dump_json(exclude=_TIMING), scenario.model_dump_json(), fixture, size]
    parts += [runner.spec.model_dump_json(), runner.fingerprint, oracle.fingerprint]
    parts.append(str(JUDGED_BY))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


class Memory:
    """One JSON file in the set-up's folder; a broken or foreign file counts as empty."""

    def __init__(self, file: Path | None = None, *, fresh: bool = False) -> None:
        self._file = file or paths.cache("memory") / "cells.json"
        self._entries: dict[str, dict[str, Any]] = {}
        if not fresh:
            with suppress(OSError, ValueError):
                self._entries = _Entries.validate_json(self._file.read_bytes())

    def verified(self, key: str) -> Verified | None:
        """The verification kept under `key`."""
        return self._kept(key, "verified", Verified)

    def expected(self, key: str) -> OracleAnswer | None:
        """The remembered answer of the oracle."""
        return self._kept(key, "answer", OracleAnswer)

    def observed(self, key: str) -> Observed | None:
        """The remembered observation of a pilot."""
        return self._kept(key, "observed", Observed)

    def syncs(self, key: str) -> Syncs | None:
        """The remembered count of syncs."""
        return self._kept(key, "syncs", Syncs)

    def settling(self, key: str) -> Settling | None:
        """How a process of the cell was seen to settle after a switch."""
        return self._kept(key, "settling", Settling)

    def fresh(self, key: str) -> bool:
        """Whether a runner was found to answer from the database."""
        return "fresh" in self._entries.get(key, {})

    def keep_fresh(self, key: str) -> None:
        """Remember that it does; what went wrong is tried again."""
        self._entries.setdefault(key, {})["fresh"] = True

    def keep_verified(self, key: str, record: Verified) -> None:
        """Remember a verification that is ok or unsupported; other outcomes are tried again."""
        if record.outcome in ("ok", "unsupported"):
            self._entries.setdefault(key, {})["verified"] = record.model_dump(mode="json")

    def keep_expected(self, key: str, answer: OracleAnswer) -> None:
        """Remember the oracle's answer."""
        self._entries.setdefault(key, {})["answer"] = answer.model_dump(mode="json")

    def keep_observed(self, key: str, observed: Observed) -> None:
        """Remember a pilot's observation."""
        self._entries.setdefault(key, {})["observed"] = observed.model_dump(mode="json")

    def keep_settling(self, key: str, seen: Settling) -> None:
        """Remember how a process of the cell settles."""
        self._entries.setdefault(key, {})["settling"] = seen.model_dump(mode="json")

    def keep_syncs(self, key: str, counted: Syncs) -> None:
        """Remember a count of syncs."""
        self._entries.setdefault(key, {})["syncs"] = counted.model_dump(mode="json")

    def _kept(self, key: str, name: str, model: type[M]) -> M | None:
        try:
            return model.model_validate(self._entries[key][name])
        except (KeyError, ValidationError):
            return None

    def save(self) -> None:
        """Write the file; on a full disk only the memory is lost."""
        partial = self._file.with_suffix(f".{os.getpid()}.part")
        try:
            partial.write_bytes(json.dumps(self._entries).encode())
            partial.replace(self._file)
        except OSError:
            partial.unlink(missing_ok=True)
