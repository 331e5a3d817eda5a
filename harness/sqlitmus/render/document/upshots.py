"""What follows from a run that tried settings, as sentences for the first screen."""

from sqlitmus.render.document.ranking import ratio
from sqlitmus.results.advice import Advice, Counsel, Effect, Setting, Tried
from sqlitmus.vocabulary.nouns import listed

# What is said of the settings of which this is the upshot; no more than one sentence each.
_SAID: dict[Counsel, str] = {
    "set it": "Worth setting: {}.",
    "your decision": "Your decision, because a commit then promises less: {}.",
    "both": "Helps some queries and hurts others: {}.",
    "leave it": "Leave it: {}.",
    "does nothing": "Does nothing here, within {margin}: {}.",
    "is so already": "Is so already: {}.",
    "open": "Not resolved: {}.",
    "no answer": "Without an answer: {}.",
}


def sentences(advice: Advice) -> list[str]:
    """What the first screen says, a sentence for each upshot that a setting has."""
    margin = f"{100 * advice.margin:g} %"
    parts: list[str] = []
    for counsel, text in _SAID.items():
        if settings := advice.counselled(counsel):
            names = listed([_named(setting, counsel) for setting in settings])
            parts.append(text.format(names, margin=margin))
    return parts


def _named(setting: Setting, counsel: Counsel) -> str:
    """The setting, and by how much it helps or hurts where it does so most."""
    wanting = [Effect.HELPS, Effect.HURTS] if counsel in ("both", "leave it") else [Effect.HELPS]
    best = [
        min(such, key=lambda tried: _value(tried, effect))
        for effect in wanting
        if (such := [tried for tried in setting.of(effect) if tried.ratio])
    ]
    if not best:
        return setting.title
    amounts = [f"{_where(each)} take {ratio(each.ratio)}" for each in best if each.ratio]
    return f"{setting.title} ({', '.join(amounts)} as long)"


def _value(tried: Tried, effect: Effect) -> float:
    value = tried.ratio.value if tried.ratio else 1.0
    return value if effect is Effect.HELPS else -value


def _where(tried: Tried) -> str:
    return f"{tried.group} ({tried.database})" if tried.database else tried.group
