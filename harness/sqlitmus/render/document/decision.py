"""Which runner suits a use or a workload: sentences for the first screen, and what each costs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import floor, inf, log10

from sqlitmus.render.document import format as fmt, ranking, symbols
from sqlitmus.render.document.model import RUNNER, Cell, Column, Head, Row, Section, Table
from sqlitmus.render.document.ranking import APART, LIMITS, Amounts, ratio
from sqlitmus.results import recommendation
from sqlitmus.results.ranking import Change, Cost, Interval, Ranking
from sqlitmus.vocabulary.text import counted, listed, normal_pragma, with_keys
from sqlitmus.vocabulary.verdicts import Verdict


def workload_sentences(advice: recommendation.Recommendation) -> list[str]:
    """What the first screen says, a sentence or two each."""
    mix = listed([f"{percent(share)} {query}" for query, share in advice.shares.items()])
    workers = counted(advice.workers, "worker")
    first, *others = _ranked(advice)
    decision = [f"For this workload, {first}", f"Calls: {mix}; {workers}.", *others]
    parts = [decision, list(_left_out(advice)), list(_would(advice))]
    return [" ".join(part) for part in parts if part]


def _left_out(advice: recommendation.Recommendation) -> Iterator[str]:
    for excluded in advice.ranking.excluded:
        timed = [latency for latency in advice.latencies if latency.case in excluded.cases]
        where = at(timed[0]) if timed else listed(excluded.cases)
        yield ranking.left_out(excluded, where)
    if advice.unchecked:
        limits = listed([LIMITS[limit] for limit in advice.unchecked])
        yield f"The limit on {limits} was not checked, for its cases were not measured."


def at(latency: recommendation.Latency) -> str:
    """The rate that a latency was measured at, as part of a sentence."""
    return "" if latency.rate is None else f" at {latency.rate:,g} queries a second"


def _would(advice: recommendation.Recommendation) -> Iterator[str]:
    if advice.ranking.open:
        yield ranking.settled_by(advice.ranking.open, advice.again)
    for change in advice.ranking.changes:
        condition = ""
        if change.calls is not None:  # the other queries keep their proportion
            share = change.calls / (change.calls + 1000 * (1 - advice.shares[change.case]))
            condition = f"If more than about {percent(share)} of the calls were {change.case}"
        yield ranking.changed(change, advice.ranking.front[0], change.case, condition)


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f} %"


PER = "per 1,000 requests"
MOST = 0.5  # of the time is "most of it"


def choice_sentences(choice: recommendation.Choice, weighed: recommendation.Weighed) -> list[str]:
    """The decision by a preset, then what the others spend and on what, who is left out, what would
    settle or change it, and whose SQLite is old."""
    names, order = weighed.names, choice.ranking
    first, *rest = _decision(choice)
    lines = [first, requests(choice, names), *rest, *_spent(choice, names)]
    for excluded in order.excluded:
        lacking = listed([plural(names[case]) for case in excluded.cases])
        lines.append(ranking.left_out(excluded, lacking))
    if order.open:
        lines.append(ranking.settled_by(order.open, weighed.again))
    if order.contrasts or len(order.front) > 1:
        lines += would(order.changes, order.front, names)
    lines += map(catches_up, choice.catching)
    return lines + [aged(engine) for engine in weighed.old if engine.runner in _ordered(order)]


def _ordered(order: Ranking) -> list[str]:
    """All who are ranked, those in front first."""
    return [*order.front, *(each.runner for each in order.contrasts)]


def many(name: str, number: float) -> str:
    """`1 point read`, `2,000 point reads`."""
    return f"{number:,.10g} {name.replace('(s)', '' if number == 1 else 's')}"


def plural(name: str) -> str:
    """`point reads`."""
    return name.replace("(s)", "s")


def requests(choice: recommendation.Choice, names: Mapping[str, str]) -> str:
    """`Per 1,000 requests: 600 point reads and 250 lists of 100 rows.`, the most calls first."""
    ordered = sorted(choice.calls.items(), key=lambda pair: (-pair[1], names[pair[0]]))
    called = listed([many(names[case], number) for case, number in ordered])
    return f"{PER.capitalize()}: {called}."


def _decision(choice: recommendation.Choice) -> list[str]:
    first, *rest = _ranked(choice)
    return [f"For {choice.title}, {first}", *rest]


def _ranked(of: recommendation.Choice | recommendation.Recommendation) -> list[str]:
    if isinstance(of, recommendation.Choice) and of.lacking:
        noun = "case" if len(of.lacking) == 1 else "cases"
        return [f"this run has no {noun} {listed(of.lacking)}, so no runner is ranked."]
    if of.blocks < of.least:
        return [f"too few blocks for a verdict: {of.blocks} of {of.least}."]
    return ranking.say(of.ranking, amounts(of))


def amounts(about: recommendation.Choice | recommendation.Recommendation) -> Amounts:
    """What the runners take, the least first."""
    per = " a query"
    if isinstance(about, recommendation.Choice):
        per = f" of {'start-up and database time' if about.starts else 'database time'} {PER}"
    costs = sorted(about.costs, key=lambda cost: cost.time.value if cost.time else inf)
    return Amounts({c.runner: fmt.duration(c.time and c.time.value) for c in costs}, per)


def _spent(choice: recommendation.Choice, names: Mapping[str, str]) -> Iterator[str]:
    """What most of the time is, or what the time of the first consists of."""
    shown = _ordered(choice.ranking)
    parts = {cost.runner: cost.parts for cost in choice.costs}
    if len(shown) < 2 or len(choice.calls) < 2:
        return
    first = sorted(parts[shown[0]].items(), key=lambda pair: (-pair[1], names[pair[0]]))
    largest = first[0][0]
    shares = [parts[name][largest] for name in shown]
    if min(shares) > MOST:
        low, high = whole(min(shares)), whole(max(shares))
        between = f"{high} %" if low == high else f"{low} to {high} %"
        yield f"Most of this time goes to {plural(names[largest])}: {between}."
    else:
        each = [f"{whole(share)} % to {plural(names[case])}" for case, share in first]
        yield f"{shown[0]}'s time goes {listed(each)}."


def would(changes: Sequence[Change], front: list[str], names: Mapping[str, str]) -> Iterator[str]:
    """What would change a decision; for several in front, what would tell one from the others."""
    telling: dict[str, list[str]] = {}
    for change in changes:
        noun = plural(names[change.case])
        if change.calls is None:
            telling.setdefault(change.runner, []).append(noun)
        else:
            more = f"With more than about {about(change.calls)} {noun} {PER}"
            yield ranking.changed(change, front[0], noun, more)
    for runner, nouns in telling.items():
        each = "each of " if len(nouns) > 1 else ""
        others = [name for name in front if name != runner]
        yield f"For {each}{listed(nouns)} alone, {runner} is ahead of {listed(others)}."


def about(number: float) -> str:
    """A number of two significant digits: `2,400`, `0.35`."""
    step = 10.0 ** (floor(log10(number)) - 1)
    return f"{floor(number / step + 0.5) * step:,.6g}"


def catches_up(of: recommendation.CatchUp) -> str:
    """In which variant of a case a runner is not slower."""
    runner, reference = of.after.runner, of.after.reference
    if of.after.verdict is Verdict.EQUIVALENT:
        then = f"is equivalent to {reference}"
    else:
        then = f"takes {ratio(of.after.ratio)} as long as {reference}"
    return f"In {of.variant}, {runner} {then}; in {of.case} it takes {ratio(of.before.ratio)}."


def aged(engine: recommendation.OldEngine) -> str:
    """Why a runner's figures are not its own alone."""
    return (
        f"{engine.runner} has SQLite {engine.version}, years older than {engine.newest}: what it "
        "takes is its engine's time, too."
    )


def whole(share: float) -> int:
    """A share in percent; halves go up, as in the page's script."""
    return int(100 * share + 0.5)


# Whom a workload can be given to: what each costs, and whether the mix is the sum of its parts.

_AGREE = 0.10
_KEYS = {"0": "no connection checks them", "1": "each connection checks them"}
Pragmas = Sequence[tuple[str, str]]


def workload_section(
    advice: recommendation.Recommendation | None, pragmas: Pragmas = ()
) -> list[Section]:
    """What each candidate costs, where connections set `pragmas`, and whether the mix is the sum of
    its parts."""
    if advice is None:
        return []
    composed = {each.runner: Cell(*fmt.ratio(each.ratio)) for each in advice.composed}
    p99 = [each.p99 for each in advice.latencies]
    table = _costs(
        "recommendation",
        f"Time of {advice.case} and what it costs",
        advice.ranking,
        sorted(advice.costs, key=lambda each: each.time.value if each.time else 0),
        [
            (Column("time", "time a query"), lambda cost: _time(cost.time)),
            (Column("ratio", "over the first"), lambda cost: over(advice.ranking, cost.runner)),
            (
                Column("cpu", "CPU a million queries"),
                lambda cost: _known(cost.cpu, lambda ns: fmt.duration(ns * 1e6)),
            ),
            (Column("memory", "peak memory"), lambda cost: Cell(fmt.size(cost.memory))),
            (Column("start", "start to first answer"), lambda cost: Cell(fmt.duration(cost.start))),
            (
                Column("parts", "mix over its parts", wide=True),
                lambda cost: composed.get(cost.runner, UNKNOWN),
            ),
            *(
                (
                    Column(each.case, f"p99 of a round{at(each)}"),
                    lambda cost, place=place: _time(p99[place].get(cost.runner)),
                )
                for place, each in enumerate(advice.latencies)
            ),
        ],
    )
    lead = [*_lead(advice, with_keys(pragmas))]
    name, finding = "For this workload", _composed(advice)
    sections = [Section("recommendation", name, lead, [table], finding=finding)]
    if len(advice.shares) > 1 and any(each.parts for each in advice.costs):
        name = "What 1,000 queries of this service take"
        sections.append(Section("workload-requests", name, [], [_requests(advice)], nav=None))
    return sections


UNKNOWN = Cell("\u2013")


def _time(time: Interval | None) -> Cell:
    return Cell(*fmt.time(time)) if time else UNKNOWN


def _costs(
    ident: str,
    title: str,
    order: Ranking,
    costs: Iterable[Cost],
    figures: Sequence[tuple[Column, Callable[[Cost], Cell]]],
) -> Table:
    """A row per runner; those tied in front are a band."""
    rows: list[Row] = []
    for cost in costs:
        contrast = order.contrast(cost.runner)
        style = contrast.verdict.style if contrast else ""
        style = "tie" if cost.runner in order.front and order.ties else style
        cells = [read(cost) for _, read in figures]
        rows.append(Row(Head(cost.runner), cells, key=cost.runner, style=style))
    return Table(ident, RUNNER, [column for column, _ in figures], rows, title=title)


def _composed(advice: recommendation.Recommendation) -> str:
    """What the mix takes over the sum of its parts."""
    ratios = sorted((each.ratio for each in advice.composed), key=lambda ratio: ratio.value)
    ends = dict.fromkeys(fmt.ratio(ratio)[0] for ratio in (*ratios[:1], *ratios[-1:]))
    return f"the mix takes {' to '.join(ends)} its parts" if ends else ""


TOGETHER = "together"  # what is beyond the sum of the parts


def _requests(advice: recommendation.Recommendation) -> Table:
    """What 1,000 queries of the mix take, of what that consists, and which query makes the most of
    the difference to the first."""
    timed = [each for each in advice.costs if each.time and each.parts]
    timed.sort(key=lambda each: each.time.value if each.time else 0)
    spent = {each.runner: _taken(each) for each in timed}
    lead = next((name for name in advice.ranking.front if name in spent), timed[0].runner)
    first = spent[lead]
    queries = sorted(advice.shares, key=lambda query: -first[query])
    rows = [
        Row(
            Head(name),
            [
                Cell(fmt.duration(sum(each.values()))),
                *(Cell(fmt.duration(each[query])) for query in queries),
                Cell(_signed(each[TOGETHER])),
                Cell("" if each is first else _most_of_difference(each, first)),
            ],
            key=name,
        )
        for name, each in spent.items()
    ]
    columns = [Column(query, f"{query}, {whole(advice.shares[query])} %") for query in queries]
    columns += [
        Column(TOGETHER, f"{TOGETHER}: beyond their sum"),
        Column("most", f"most of the difference to {lead}"),
    ]
    title = "Database time per 1,000 queries of this service, and what each takes of it alone"
    return Table("requests", RUNNER, [Column("time", "time"), *columns], rows, title=title)


def _taken(each: Cost) -> dict[str, float]:
    """Nanoseconds of 1,000 queries by query, as each takes alone, and what they take beyond that
    where they meet."""
    time = 1000 * each.time.value if each.time else 0.0
    alone = {query: time * part for query, part in each.parts.items()}
    return {**alone, TOGETHER: time - sum(alone.values())}


def _most_of_difference(each: Mapping[str, float], first: Mapping[str, float]) -> str:
    differ = {query: time - first[query] for query, time in each.items()}
    most = max(differ, key=lambda query: abs(differ[query]))
    return f"{most}: {_signed(differ[most])}"


def _signed(time: float) -> str:
    return ("+" if time >= 0 else "\u2212") + fmt.duration(abs(time))


def over(order: Ranking, name: str) -> Cell:
    """A runner's time over that of the first, or why there is no ratio."""
    if contrast := order.contrast(name):
        return symbols.compared(contrast)
    if words := _place(order, name):
        tie = next((each.ratio for each in order.ties if each.runner == name), None)
        return Cell(words, emphasis="aside", value=tie)
    return Cell("1", value=Interval(1.0, None, None)) if name in order.front else symbols.NONE


def _place(order: Ranking, name: str) -> str:
    """Where a runner without a ratio is; nothing of the first, nor where no runner is ranked."""
    if name in order.front:
        return "tied" if name in order.front[1:] else ""
    why = [each.why for each in order.excluded if each.runner == name]
    return next((each for each in why if each in APART), "beyond a limit" if why else "")


def _lead(advice: recommendation.Recommendation, pragmas: Mapping[str, str]) -> Iterator[str]:
    yield (
        f"Decided by {advice.case}, over {counted(advice.blocks, 'block')}. 95 % confidence holds "
        "for all of these comparisons together."
    )
    file = advice.database
    yield (
        f"{file.name}: {fmt.size(file.bytes)} in {counted(file.tables, 'table')}, pages of "
        f"{file.page_size} bytes, {file.encoding}, journal mode {file.journal_mode} (each run sets "
        f"its profile's), user_version {file.user_version}, schema {file.schema_hash}."
    )
    keys = pragmas["foreign_keys"]
    yield f"Foreign keys: {_KEYS.get(normal_pragma('foreign_keys', keys), keys)}."
    for latency in advice.latencies[:1]:
        yield (
            f"A round of the mix is {counted(latency.queries, 'query', 'queries')}, one after the "
            "other: where 99 % of the rounds take no longer than the p99, so do 99 % of the "
            "queries at least. It is the median of the processes', one a block, with its interval."
        )
        if latency.rate is not None:
            yield (
                "At a rate, rounds start at planned times, and latency counts from these: a runner "
                "that does not keep up has ever later rounds."
            )
    apart = [c for c in advice.composed if not 1 / (1 + _AGREE) <= c.ratio.value <= 1 + _AGREE]
    if not advice.composed:
        return
    if not apart:
        yield (
            "Measured as one process, the mix takes what its parts add up to, within "
            f"{percent(_AGREE)} for every runner."
        )
    else:
        which = listed([f"{each.runner} {ratio(each.ratio)}" for each in apart])
        yield (
            f"Measured as one process, the mix does not take what its parts add up to: {which}. "
            "Queries then meet another state of the caches and of the compiler than alone; go by "
            "the mix."
        )


# All uses beside each other, and what the runners spend on the first.


def presets_section(weighed: recommendation.Weighed | None) -> list[Section]:
    """All presets beside each other, and what the runners spend by the one in front."""
    if weighed is None:
        return []
    first, *rest = weighed.choices
    order, ranked = first.ranking, [choice for choice in weighed.choices if not choice.lacking]
    columns = [Column(choice.preset, choice.preset) for choice in ranked]
    names = dict.fromkeys(c.runner for choice in weighed.choices for c in choice.costs)
    rows = [Row(Head(name), [_presets_spent(choice, name) for choice in ranked], key=name)
            for name in names]  # fmt: skip
    table = Table("presets", RUNNER, columns, rows, title="Time of 1,000 requests, by preset")
    costs = _costs(
        "costs",
        f"Database time per 1,000 requests of {first.preset}",
        order,
        sorted(first.costs, key=lambda cost: [*_ordered(order), cost.runner].index(cost.runner)),
        [
            (
                Column("time", "time"),
                lambda cost: Cell(fmt.duration(cost.time and cost.time.value)),
            ),
            (
                Column("ratio", f"over {order.front[0]}" if order.front else "over the first"),
                lambda cost: over(order, cost.runner),
            ),
            *(
                (
                    Column(case, plural(weighed.names[case]), wide=True),
                    lambda cost, case=case: _part(cost, case),
                )
                for case in first.calls
            ),
            (Column("cpu", "CPU time"), lambda cost: _known(cost.cpu, fmt.duration)),
            (Column("memory", "peak memory"), lambda cost: _known(cost.memory, fmt.size)),
            (Column("start", "start to first answer"), lambda c: _known(c.start, fmt.duration)),
        ],
    )
    parts = Section("costs", f"What 1,000 requests of {first.preset} consist of", blocks=[costs])
    fronts = Counter(name for choice in weighed.choices for name in choice.ranking.front)
    most = [f"{name} fastest or tied in {number} of {counted(len(weighed.choices), 'use')}"
            for name, number in fronts.most_common(1)]  # fmt: skip
    return [
        Section(
            "presets",
            "For which use",
            [*_presets_lead(weighed, rest)],
            [table],
            [parts] if costs.rows else [],
            finding="".join(most),
        )
    ]


def _known(value: float | None, write: Callable[[float], str]) -> Cell:
    return UNKNOWN if value is None else Cell(write(value))


def _part(of: Cost, case: str) -> Cell:
    if of.time is None or case not in of.parts:
        return symbols.NONE
    share = of.parts[case]
    return Cell(fmt.duration(of.time.value * share), note=f"{whole(share)} %")


def _presets_lead(
    weighed: recommendation.Weighed, rest: list[recommendation.Choice]
) -> Iterator[str]:
    yield symbols.LEADS["calls"]
    yield (
        "95 % confidence holds for all of these comparisons together, for every preset and one "
        "further set of calls."
    )
    for choice in rest:
        yield f"{_decision(choice)[0]} {requests(choice, weighed.names)}"


def _presets_spent(choice: recommendation.Choice, name: str) -> Cell:
    """A runner's time of 1,000 requests, with its ratio to the first one's."""
    cost = next((cost for cost in choice.costs if cost.runner == name), None)
    if cost is None or cost.time is None:
        return symbols.NONE
    time = fmt.duration(cost.time.value)
    order = choice.ranking
    if contrast := order.contrast(name):
        compared = symbols.compared(contrast)
        return replace(compared, text=time, bounds=ratio(contrast.ratio))
    words = _place(order, name)
    return Cell(time, note=words, emphasis="aside" if words and name not in order.front else "")
