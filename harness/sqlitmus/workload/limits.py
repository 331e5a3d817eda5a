"""What a runner has to keep to, and which profiles cannot."""

from pydantic import Field

from sqlitmus.catalog.declared import Profile
from sqlitmus.catalog.planned import Durability
from sqlitmus.vocabulary.contract.model import Model


class Limits(Model):
    """What a runner must keep to to be recommended: memory of a process, start to first row, p99 of
    a round of the mix, and what a commit outlives: a power cut if it is `full`, a crash of the
    process only if it is `normal`."""

    memory_mib: float | None = Field(default=None, gt=0)
    start_ms: float | None = Field(default=None, gt=0)
    p99_ms: float | None = Field(default=None, gt=0)
    durability: Durability | None = None


_TOO_WEAK: dict[Durability, dict[str, tuple[str, ...]]] = {
    "normal": {"synchronous": ("off", "0"), "journal_mode": ("off", "memory")},
    "full": {"synchronous": ("off", "0", "normal", "1"), "journal_mode": ("off", "memory")},
}


def weaker(profile: Profile, limit: Durability) -> str | None:
    """The pragma of `profile` that makes less durable than `limit`, if there is one."""
    for name, value in profile.pragmas:
        if str(value).lower() in _TOO_WEAK[limit].get(name, ()):
            return f"{name} {value}"
    return None
