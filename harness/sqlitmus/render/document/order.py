"""Who is fastest in a group, and each of the others over the reference, as a sentence."""

from collections.abc import Iterator, Sequence

from sqlitmus.render.document import format as fmt
from sqlitmus.results.estimate import Interval
from sqlitmus.results.headline import Leads
from sqlitmus.vocabulary.nouns import counted, listed
from sqlitmus.vocabulary.verdicts import Verdict


def leads(group: Leads) -> str:
    """The sentence; each runner of the group is named in it."""
    text = f"{capital(group.group)} ({counted(group.cases, 'case')}): "
    text += "; ".join([*_front(group), *_against(group)])
    out = [f"{rest.runner} ({counted(rest.cases, 'case')} not ok)" for rest in group.left_out]
    return f"{text}.{f' Left out: {listed(out)}.' if out else ''}"


def _front(group: Leads) -> Iterator[str]:
    """Who is fastest; nothing of the reference and one other, of whom the rest says it all."""
    front, tied = group.front, group.open
    share = f"within {100 * group.margin:g} %"
    if len(group.against) == 1:
        return
    if len(front) == 1 and not tied:
        near = f", with {listed(group.close)} {share} of it" if group.close else ""
        yield f"{front[0]} is fastest{near}"
    elif len(front) == 1:
        what = "equivalent to" if group.alike else "not told apart from"
        yield f"no single fastest, {front[0]} is {what} {listed(tied)}"
    elif front:
        what = f"equivalent ({share})" if group.alike else "not told apart"
        yield f"no single fastest, {listed(front)} are {what}"
    else:
        yield "no single fastest"


def _against(group: Leads) -> Iterator[str]:
    """How much time the others take as long as the reference, or what is known in its place."""
    base, margin = group.reference, group.margin
    near = [a for a in group.against if a.ratio.within(margin) and a.verdict in _TOLD]
    apart = [a for a in group.against if a.verdict.different and a not in near]
    covered = _covered(group)
    if apart:
        first, *others = apart
        taken = [f"{first.runner} takes {ratio(first.ratio)}"]
        taken += [f"{other.runner} {ratio(other.ratio)}" for other in others]
        yield f"{listed(taken)} as long as {base}"
    share = f"within {100 * margin:g} % of {base}"
    for words, names in (
        (share, [a.runner for a in near]),
        (f"not told apart from {base}", _having(group, Verdict.NOT_RESOLVED)),
        (f"not testable against {base}", _having(group, Verdict.NOT_TESTABLE)),
    ):
        rest = [name for name in names if (name, words == share) not in covered]
        if rest:
            yield f"{listed(rest)} {'is' if len(rest) == 1 else 'are'} {words}"


_TOLD = [verdict for verdict in Verdict if verdict.side != "undecided"]


def _covered(group: Leads) -> set[tuple[str, bool]]:
    """Of whom the words on the fastest have said already what they are to the reference; True for
    those within the margin."""
    if len(group.against) == 1 or group.reference not in group.front:
        return set()
    return {(name, group.alike) for name in (*group.front, *group.open)} | {
        (name, True) for name in group.close
    }


def _having(group: Leads, verdict: Verdict) -> Sequence[str]:
    return [other.runner for other in group.against if other.verdict is verdict]


def ratio(value: Interval) -> str:
    """`1.04× [0.97, 1.12]`."""
    text, bounds = fmt.ratio(value)
    return f"{text} {bounds or '(no interval)'}"


def capital(text: str) -> str:
    """With a capital letter; the rest keeps its case."""
    return text[:1].upper() + text[1:]
