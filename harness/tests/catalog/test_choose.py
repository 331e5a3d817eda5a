"""Which runners a run has without being told, and with."""

from sqlitmus.catalog import definitions
from sqlitmus.catalog.choose import choose


def chosen(suite: str, *names: str) -> set[str]:
    known = definitions.load()
    mode = known.modes[known.suites[suite].mode]
    _, cells = choose(known, suite, mode, ["get-pk"], list(names), [], None)
    return {name for of_case in cells.values() for name in of_case}


def test_variants_take_part_only_by_name() -> None:
    runners = definitions.load().runners
    variants = {name for name, spec in runners.items() if spec.role == "variant"}
    assert {"rust-threadsafe2", "rust-ffi-system"} <= variants
    for suite in ("quick", "full"):
        assert not chosen(suite) & variants
        assert chosen(suite) >= {"rust", "rust-ffi"}
    assert chosen("quick", "rust", "rust-threadsafe2") == {"rust", "rust-threadsafe2"}
