"""What the page needs to decide by other calls, and the first screen's own decision."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlitmus.render.document import weighed as words
from sqlitmus.render.document.ranking import again_command
from sqlitmus.results.report import Report
from sqlitmus.results.weighed import Choice, Weighed, Weighing


@dataclass(frozen=True, slots=True)
class Deciding:
    """The first screen's decision: its sentence, what follows it, the presets to choose from by
    name, title and whether they are ranked, and the operations by case, name and calls."""

    answer: str
    rest: list[str]
    presets: list[tuple[str, str, bool]]
    operations: list[tuple[str, str, str]]


def deciding(report: Report) -> Deciding | None:
    """What stands first; None for a report without presets."""
    weighed, weighing = decision(report), report.weighing
    if weighed is None or weighing is None:
        return None
    first = weighed.choices[0]
    answer, *rest = words.sentences(first, weighed)
    return Deciding(
        answer,
        rest,
        [(choice.preset, choice.title, not choice.lacking) for choice in weighed.choices],
        [(of.case, words.plural(of.name), f"{first.calls.get(of.case, 0):g}")
         for of in weighing.operations],
    )  # fmt: skip


def decision(report: Report) -> Weighed | None:
    """The statement on presets, if there is one."""
    return next((each for each in report.headline if isinstance(each, Weighed)), None)


def weighing_data(report: Report, index: Mapping[str, int]) -> dict[str, Any] | None:
    """The parts of all sums, in the order that `weights.js` reads."""
    weighed, weighing = decision(report), report.weighing
    if weighed is None or weighing is None:
        return None
    return packed(weighed, weighing, index)


def packed(weighed: Weighed, weighing: Weighing, index: Mapping[str, int]) -> dict[str, Any]:
    """The same of its two parts."""
    places = {name: place for place, name in enumerate(weighing.runners)}
    cases = [of.case for of in weighing.operations]
    return {
        "level": weighing.level,
        "z": weighing.z,
        "least": weighing.least,
        "blocks": weighed.choices[0].blocks,
        "runners": [index[name] for name in weighing.runners],
        "operations": [
            [of.case, of.name, of.start, of.canary and list(map(_brief, of.canary)),
             list(map(_brief, of.level)), list(map(_brief, of.cpu)), of.memory]
            for of in weighing.operations
        ],
        "pairs": [
            [places[pair.runner], places[pair.reference],
             *([list(map(_brief, row)) for row in column]
               for column in (pair.difference, pair.middle, pair.square)),
             pair.left, pair.count, "".join(verdict.letter for verdict in pair.single)]
            for pair in weighing.pairs
        ],
        "start": weighing.start,
        "presets": [_preset(choice, weighed) for choice in weighed.choices],
        "catching": [
            [places[c.after.runner], places[c.after.reference], cases.index(c.case),
             words.catches_up(c)]
            for c in weighing.catching
        ],
        "again": [again_command(weighed.again), weighed.again.block_s],
        "old": [[engine.runner, words.aged(engine)] for engine in weighed.old],
    }  # fmt: skip


def _preset(choice: Choice, weighed: Weighed) -> dict[str, Any]:
    return {
        "name": choice.preset,
        "summary": choice.summary,
        "calls": choice.calls,
        "ranked": not choice.lacking,
        "text": words.sentences(choice, weighed),
        "out": [each.runner for each in choice.ranking.excluded if each.why != "cases"],
    }


def _brief(value: float | None) -> float | None:
    """Nine digits: an interval that is recomputed from them differs in none that is shown."""
    return None if value is None else float(f"{value:.9g}")
