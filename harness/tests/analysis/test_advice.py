"""Advice on synthetic runs whose truth is known: what helps, what does nothing, what it costs."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from sqlitmus.analysis.recommendation import counsel
from sqlitmus.render.document.sentences import best, sentences
from tests.analysis import runs
from tests.render.printing import as_text

EFFECTS: Any = ["helps", "does nothing here", "hurts", "not resolved", "is so already"]
NAMES = ["empty", "faster", "slower", "unsafe", "refused"]
RATIOS = {"faster": 0.8, "slower": 1.3, "unsafe": 0.1}
BASE = "writes-small"
CASES = [BASE, *(f"{BASE}@setting={name}" for name in NAMES)]
READ = {"journal_mode": "wal", "synchronous": 2}


def settings(**changes: runs.Json) -> runs.Json:
    databases = [
        {"name": "small", "title": "fits the cache"},
        {"name": "beyond", "title": "fits neither", "unmeasured": "no limit on memory is set"},
    ]
    writes = {
        "title": "writes",
        "scenario": "insert",
        "operations": 1,
        "databases": [database["name"] for database in databases],
    }
    setting = [
        {
            "name": name,
            "title": f"{name} = 1",
            "pragmas": [["synchronous", "OFF"] if name == "unsafe" else ["cache_size", -1]],
            "groups": ["writes"],
            "does": "It does this.",
            **changes.get(name, {}),
        }
        for name in NAMES
    ]
    of = {"start": "shipped", "margin": 0.05, "database": databases, "setting": setting}
    return {**of, "group": {"writes": writes}}


def report(
    ratios: Mapping[str, float] = RATIOS,
    *,
    margin: float = 0.05,
    read: Mapping[str, runs.Json] | None = None,
    warming: str = "",
    **changes: runs.Json,
) -> runs.Report:
    """The report of a run in which node tried settings with these effects. Cells read back what
    they are told in `read`; one setting is refused, and one turns syncs off."""
    of = {"group": "writes", "database": "small"}
    trials = [
        {"setting": name, **of, "base": BASE, "new": case}
        for name, case in zip(NAMES, CASES[1:], strict=True)
    ]
    trials.append({"setting": "empty", **of, "database": "beyond", "reason": "no limit"})
    advice = {"settings": settings(**changes), "runner": "node", "trials": trials}
    planned = runs.plan(
        ["node"],
        kind="advise",
        suite="advise",
        margin=margin,
        correction="bh",
        cases=[runs.case(name, scenario=BASE) for name in CASES],
        canaries={BASE: "node", **dict.fromkeys(CASES[1:], "")},
        advice=advice,
    )
    places = ["", *NAMES]
    pragmas = {"unsafe": {"synchronous": 0}, **(read or {})}
    checked: list[Any] = [({}, {"affected": 100, "pragmas": READ})]
    checked += [
        ({"case": CASES[places.index(name)]}, {"pragmas": {**READ, **also}})
        for name, also in pragmas.items()
    ]
    refusal = {"outcome": "unsupported", "reason": "PRAGMA nothing: no such thing"}
    checked.append(({"case": CASES[-1]}, refusal))
    sampled: list[Any] = [({"case": CASES[-1]}, None)]
    if warming:
        late = {"case": CASES[places.index(warming)]}
        sampled.append((late, runs.by_block(drift=[0.89, 0.88, 0.9])))
    noise = runs.noisy(spread=0.004)

    def time(case: int, label: str, block: int) -> float:
        # blocks are shared by the cases of a set, which take turns
        return ratios.get(places[case], 1.0) * noise(0, f"{label}{case}", block)

    return runs.report(planned, time=time, checked=checked, sampled=sampled)


def advised(*ratios: Mapping[str, float], **how: Any) -> Any:
    return runs.statement(report(*ratios, **how), "advice")


ADVISED: dict[str, dict[str, Any]] = {
    "planted effects": {},
    # a page said that a setting hurts, which made reads 2 % slower; 5 % count as nothing
    "a difference that is resolved and smaller than the margin": {
        "ratios": {**RATIOS, "slower": 1.02}
    },
    "what is not shown to be nothing": {"margin": 0.001},
    # a page recommended a setting by sorts that it said were compared with nothing
    **{f"{name} still warms up": {"warming": name} for name in ("faster", "slower", "unsafe")},
    "one weakens what it does not name": {"read": {"faster": {"synchronous": 1}}},
    "the driver sets it by itself": {"read": {"": {"cache_size": -1}}},
    "a cache in KiB": {"read": {"": {"cache_size": -2000, "page_size": 4096}}},
    "a cache in pages": {"read": {"": {"cache_size": 500, "page_size": 8192}}},
    "a cache in pages of unknown size": {"read": {"": {"cache_size": 500}}},
}


@pytest.mark.parametrize("name", ADVISED)
def test_what_is_advised(name: str, snapshot: SnapshotAssertion) -> None:
    said = advised(**ADVISED[name])
    lines = [best(said), *sentences(said)]
    lines += [f"{place.name}: a cache of {place.cache_bytes}" for place in said.places]
    for setting in said.settings:
        lines.append(f"{setting.name}: {setting.counsel}; {setting.before} → {setting.after}")
        lines += [f"  {t.effect}, {runs.told(t.contrast)}: {t.reason}" for t in setting.tried]
    assert lines == snapshot


def test_the_first_sentence_names_what_helps_most_and_how_many_more() -> None:
    said = advised()
    of = {setting.name: setting for setting in said.settings}
    helping = replace(of["faster"], title="a", counsel="set it")
    also = replace(of["empty"], title="b", counsel="set it")
    text = best(replace(said, settings=[also, helping]))
    assert text.startswith("Worth setting: a (writes small 0.8")
    assert text.endswith("\N{MULTIPLICATION SIGN}) and b.")
    text = best(replace(said, settings=[helping, also, also, also, also]))
    assert text.endswith(", b, b and 2 more.")
    left = replace(helping, counsel="leave it")
    assert best(replace(said, settings=[left])).startswith("Leave it: a")
    assert best(replace(said, settings=[])) == ""


def test_nothing_that_weakens_is_ever_simply_recommended() -> None:
    for count in range(1, len(EFFECTS) + 1):
        for effects in product(EFFECTS, repeat=count):
            assert counsel(effects, weakens=True) in ("your decision", "leave it")


def test_help_here_and_harm_there_is_told_as_both() -> None:
    assert counsel(["helps", "hurts", "does nothing here"], weakens=False) == "both"
    assert counsel(["hurts", "does nothing here"], weakens=False) == "leave it"
    assert counsel(["does nothing here", "not resolved"], weakens=False) == "open"
    assert counsel(["does nothing here", "not measured here"], weakens=False) == "does nothing"


@pytest.mark.parametrize(
    ("journal", "level", "kept"),
    [
        ("wal", "FULL", "DURABLE"),
        ("wal", "NORMAL", "LATE"),
        ("delete", 2, "DURABLE"),
        ("delete", 1, "RISKY"),
        ("delete", 0, "NONE"),
        ("memory", 2, "NONE"),
        ("off", 3, "NONE"),
    ],
)
def test_what_a_commit_promises(journal: str, level: str | int, kept: str) -> None:
    said = advised(read={"faster": {"journal_mode": journal, "synchronous": level}})
    (faster,) = (setting for setting in said.settings if setting.name == "faster")
    assert (faster.before.name, faster.after.name) == ("DURABLE", kept)


def test_the_page_has_each_setting_with_its_durability_and_its_publications() -> None:
    said = {"says": "10 times as fast", "source": "a post", "url": "https://example.org/post"}
    against = {"says": "earns nothing", "source": "another", "url": "https://example.org/other"}
    printed = as_text(report({}, faster={"publications": [said, against]}), 200)
    text = " ".join(printed.split())
    for url in (said["url"], against["url"]):
        assert url in text
    assert "It changes durability. Without it: each commit is synced" in text
    assert "With it: a power failure or a crash can damage the file." in text
    assert "unsupported" in text
    assert "not measured here" in text
    assert "could not be tested" not in text  # cases without a canary are not said to lack one
    assert "12 blocks" in text
