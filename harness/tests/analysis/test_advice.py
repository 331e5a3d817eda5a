"""Advice on synthetic runs whose truth is known: what helps, what does nothing, what it costs."""

from dataclasses import replace
from itertools import product

import pytest

from sqlitmus.analysis.assemble import analyse
from sqlitmus.analysis.provenance import cache_bytes, promise
from sqlitmus.analysis.recommendation import counsel
from sqlitmus.render import terminal
from sqlitmus.render.document.build import build
from sqlitmus.render.document.sentences import best, sentences
from sqlitmus.results.recommendation import Advice, Effect, Promise, Setting
from tests.analysis import runs
from tests.analysis.runs import Json, Verdict, ends, sure

EFFECTS: list[Effect] = ["helps", "does nothing here", "hurts", "not resolved", "is so already"]
EMPTY, FASTER, SLOWER, UNSAFE, REFUSED = "empty", "faster", "slower", "unsafe", "refused"
NAMES = [EMPTY, FASTER, SLOWER, UNSAFE, REFUSED]
RATIOS = {EMPTY: 1.0, FASTER: 0.8, SLOWER: 1.3, UNSAFE: 0.1}
BASE = "writes-small"


def case_of(name: str) -> str:
    return f"{BASE}@setting={name}"


def settings(**changes: Json) -> Json:
    return {
        "start": "shipped",
        "margin": 0.05,
        "database": [
            {"name": "small", "title": "fits the cache"},
            {"name": "beyond", "title": "fits neither", "unmeasured": "no limit on memory is set"},
        ],
        "group": {
            "writes": {
                "title": "writes",
                "scenario": "insert",
                "operations": 1,
                "databases": ["small", "beyond"],
            }
        },
        "setting": [
            {
                "name": name,
                "title": f"{name} = 1",
                "pragmas": [["synchronous", "OFF"] if name == UNSAFE else ["cache_size", -1]],
                "groups": ["writes"],
                "does": "It does this.",
                **changes.get(name, {}),
            }
            for name in NAMES
        ],
    }


def trial(name: str) -> Json:
    of = {"setting": name, "group": "writes", "database": "small"}
    return {**of, "base": BASE, "new": case_of(name)}


def plan(**changes: Json) -> Json:
    missing = {"setting": EMPTY, "group": "writes", "database": "beyond", "reason": "no limit"}
    return runs.plan(
        ["node"],
        kind="advise",
        suite="advise",
        margin=0.05,
        correction="bh",
        cases=[runs.case(id_, scenario=BASE) for id_ in (BASE, *map(case_of, NAMES))],
        canaries={BASE: "node", **dict.fromkeys(map(case_of, NAMES), "")},
        advice={
            "settings": settings(**changes),
            "runner": "node",
            "trials": [*map(trial, NAMES), missing],
        },
    )


def verified(of: Json) -> list[Json]:
    """Cells that write; one setting is refused, and one turns syncs off."""
    lines = [{**line, "affected": 100} for line in runs.checks(of)]
    read = {"journal_mode": "wal", "synchronous": 2, "cache_size": -2000, "page_size": 4096}
    lines = [{**line, "pragmas": read} for line in lines]
    off = {"pragmas": {**read, "synchronous": 0}}
    lines = runs.change(lines, off, case=case_of(UNSAFE))
    refusal = {"outcome": "unsupported", "reason": "PRAGMA nothing: no such thing"}
    return runs.change(lines, refusal, case=case_of(REFUSED))


def advised(
    of: Json | None = None,
    verify: list[Json] | None = None,
    truth: dict[str, float] | None = None,
    warming: str = "",
) -> Advice:
    of = of or plan()
    ratios = [1.0, *((truth or RATIOS).get(name, 1.0) for name in NAMES)]
    noise = runs.noisy(spread=0.004)

    def time(case: int, label: str, block: int) -> float:
        # blocks are shared by the cases of a set, which take turns
        return ratios[case] * noise(0, f"{label}{case}", block)

    lines = runs.drop(runs.samples(of, time), case=case_of(REFUSED))
    if warming:
        lines = runs.change(
            lines, lambda line: {"drift": [0.89, 0.88, 0.9][line["block"] % 3]}, case=warming
        )
    report = analyse(runs.make(of, verify=verify or verified(of), lines=lines))
    return next(each for each in report.headline if isinstance(each, Advice))


@pytest.fixture(scope="module")
def advice() -> Advice:
    return advised()


def of(advice: Advice, name: str) -> Setting:
    return next(setting for setting in advice.settings if setting.name == name)


@pytest.mark.parametrize(
    ("name", "effect"),
    [(EMPTY, "does nothing here"), (FASTER, "helps"), (SLOWER, "hurts")],
)
def test_a_planted_effect_gets_its_word_and_its_size(
    advice: Advice, name: str, effect: Effect
) -> None:
    tried = of(advice, name).tried[0]
    assert tried.effect == effect
    assert tried.contrast
    low, high = ends(tried.contrast.ratio)
    assert low < RATIOS[name] < high
    assert tried.contrast.blocks == 12


def test_a_difference_that_is_resolved_and_smaller_than_the_margin_does_nothing() -> None:
    """A page said that a setting hurts, which made reads 2 % slower; 5 % count as nothing."""
    small = of(advised(truth={**RATIOS, SLOWER: 1.02}), SLOWER)
    effect = small.tried[0]
    contrast = sure(effect.contrast)
    assert ends(contrast.ratio)[0] > 1
    assert (effect.effect, contrast.verdict) == ("does nothing here", Verdict.EQUIVALENT)
    assert small.counsel == "does nothing"


def test_what_is_not_shown_to_be_nothing_is_not_called_nothing() -> None:
    of_few = plan() | {"margin": 0.001}
    tried = of(advised(of_few), EMPTY).tried[0]
    assert tried.effect == "not resolved"
    assert sure(sure(tried.contrast).needs_blocks) > 12


def test_a_refused_pragma_is_unsupported_and_the_others_go_on(advice: Advice) -> None:
    (tried,) = of(advice, REFUSED).tried
    told = (tried.effect, tried.reason, tried.contrast)
    assert told == ("unsupported", "PRAGMA nothing: no such thing", None)
    assert of(advice, REFUSED).counsel == "no answer"
    assert of(advice, FASTER).counsel == "set it"
    # nor can a database that is not here show anything
    beyond = of(advice, EMPTY).tried[1]
    assert (beyond.effect, beyond.reason) == ("not measured here", "no limit")


@pytest.mark.parametrize("name", [FASTER, SLOWER, UNSAFE])
def test_what_still_warms_up_carries_no_recommendation(name: str) -> None:
    """A page recommended a setting by sorts that it said were compared with nothing."""
    setting = of(advised(warming=case_of(name)), name)
    tried = setting.tried[0]
    assert (str(tried.effect), tried.contrast) == ("still warming up", None)
    assert tried.reason.startswith("with the setting, its second half took 11.0 % less time than")
    assert tried.new_time
    assert setting.counsel == "no answer"


def test_the_first_sentence_names_what_helps_most_and_how_many_more(advice: Advice) -> None:
    helping = replace(of(advice, FASTER), title="a", counsel="set it")
    also = replace(of(advice, EMPTY), title="b", counsel="set it")
    text = best(replace(advice, settings=[also, helping]))
    assert text.startswith("Worth setting: a (writes small 0.8")
    assert text.endswith("\N{MULTIPLICATION SIGN}) and b.")
    text = best(replace(advice, settings=[helping, also, also, also, also]))
    assert text.endswith(", b, b and 2 more.")
    left = replace(helping, counsel="leave it")
    assert best(replace(advice, settings=[left])).startswith("Leave it: a")
    assert best(replace(advice, settings=[])) == ""


def test_what_weakens_commits_is_a_decision_however_much_it_helps(advice: Advice) -> None:
    unsafe = of(advice, UNSAFE)
    assert unsafe.tried[0].effect == "helps"
    assert (unsafe.before, unsafe.after) == (Promise.DURABLE, Promise.NONE)
    assert unsafe.counsel == "your decision"
    by_upshot = {text.partition(": ")[0]: text for text in sentences(advice)}
    assert "unsafe" not in by_upshot["Worth setting"]
    assert "unsafe = 1" in by_upshot["Your decision, because a commit then promises less"]


def test_a_setting_that_weakens_what_it_does_not_name_is_noticed() -> None:
    of_run = plan()
    silent = runs.change(
        verified(of_run), {"pragmas": {"journal_mode": "wal", "synchronous": 1}},
        case=case_of(FASTER),
    )  # fmt: skip
    assert of(advised(of_run, silent), FASTER).counsel == "your decision"


def test_nothing_that_weakens_is_ever_simply_recommended() -> None:
    for count in range(1, len(EFFECTS) + 1):
        for effects in product(EFFECTS, repeat=count):
            assert counsel(effects, weakens=True) in ("your decision", "leave it")


def test_what_the_driver_sets_by_itself_is_no_finding() -> None:
    of_run = plan()
    cached = {"pragmas": {"journal_mode": "wal", "synchronous": 2, "cache_size": -1}}
    advice = advised(of_run, runs.change(verified(of_run), cached, case=BASE))
    assert of(advice, FASTER).tried[0].effect == "is so already"
    assert of(advice, FASTER).counsel == "is so already"


def test_help_here_and_harm_there_is_told_as_both() -> None:
    assert counsel(["helps", "hurts", "does nothing here"], weakens=False) == "both"
    assert counsel(["hurts", "does nothing here"], weakens=False) == "leave it"
    assert counsel(["does nothing here", "not resolved"], weakens=False) == "open"
    assert counsel(["does nothing here", "not measured here"], weakens=False) == "does nothing"


@pytest.mark.parametrize(
    ("journal", "level", "kept"),
    [
        ("wal", 2, Promise.DURABLE),
        ("wal", "NORMAL", Promise.LATE),
        ("delete", "FULL", Promise.DURABLE),
        ("delete", 1, Promise.RISKY),
        ("delete", 0, Promise.NONE),
        ("memory", 2, Promise.NONE),
        ("off", 3, Promise.NONE),
    ],
)
def test_what_a_commit_promises(journal: str, level: str | int, kept: Promise) -> None:
    assert promise({"journal_mode": journal, "synchronous": level}) is kept


def test_a_cache_is_in_kib_or_in_pages() -> None:
    assert cache_bytes({"cache_size": -2000, "page_size": 4096}) == 2_048_000
    assert cache_bytes({"cache_size": 500, "page_size": 8192}) == 4_096_000
    assert cache_bytes({"cache_size": 500}) is None


def test_the_page_has_each_setting_with_its_durability_and_its_publications() -> None:
    said = {"says": "10 times as fast", "source": "a post", "url": "https://example.org/post"}
    against = {"says": "earns nothing", "source": "another", "url": "https://example.org/other"}
    of_run = plan(**{FASTER: {"publications": [said, against]}})
    ratios = runs.noisy(spread=0.004)
    lines = runs.samples(of_run, lambda _c, label, block: ratios(0, label, block))
    lines = runs.drop(lines, case=case_of(REFUSED))
    report = analyse(runs.make(of_run, verify=verified(of_run), lines=lines))
    text = " ".join(terminal.render(build(report), 200, color=False).split())
    for url in (said["url"], against["url"]):
        assert url in text
    assert "It changes durability. Without it: each commit is synced" in text
    assert "With it: a power failure or a crash can damage the file." in text
    assert "unsupported" in text
    assert "not measured here" in text
    assert "could not be tested" not in text  # cases without a canary are not said to lack one
    assert "12 blocks" in text
